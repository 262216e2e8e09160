/* Renders a prompt and splits it: everything before the user's last message becomes turns of the
 * session; the last message is sent to it. */
#include "service/prompts/prompt_run.h"

#include "agent/context/ask_how.h"
#include "format/convert.h"
#include "json/edit/edit.h"
#include "json/text.h"
#include "model/model.h"
#include "prompt/asks.h"
#include "service/blobs/content_parts.h"
#include "service/blobs/media_keep.h"
#include "service/prompts/prompt_json.h"

/* --- the turns before it --------------------------------------------------------------------- */

static enum pl_status read_rows(struct pl_arena *arena, struct pl_str turns, int64_t now_ms,
                                struct pl_turn_row **ret_turns, size_t *ret_n, struct pl_error *err)
{
    struct pl_json_doc doc;
    size_t n = 0;
    enum pl_status status = pl_json_parse(arena, turns, &pl_json_own, &doc, err);
    if (status != PL_OK)
        return status;
    struct pl_turn_row *rows = pl_arena_zalloc(arena, pl_json_count(doc.root) + 1, sizeof *rows);
    if (!rows)
        return PL_NOMEM;
    for (const struct pl_json_node *turn = pl_json_first(doc.root);
         turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn))
        status = pl_turn_row_read(arena, &doc, turn, &(struct pl_turn_origin){.created_ms = now_ms},
                                  &rows[n++], err);
    *ret_turns = rows;
    *ret_n = n;
    return status;
}

/* Replaces media in the turns by blobs. */
static enum pl_status keep_media(const struct pl_prompt_keeper *keeper, struct pl_arena *arena,
                                 struct pl_str turns, struct pl_str *ret_turns,
                                 struct pl_error *err)
{
    struct pl_json_doc doc;
    *ret_turns = turns;
    enum pl_status status = pl_json_parse(arena, turns, &pl_json_own, &doc, err);
    if (status != PL_OK || !pl_media_keep_is_needed(&doc, doc.root))
        return status;
    return pl_media_keep_here(keeper->server, arena, keeper->user_id, turns, false, ret_turns, err);
}

enum pl_status pl_prompt_turns_read(const struct pl_prompt_keeper *keeper, struct pl_arena *arena,
                                    struct pl_str chat, int64_t now_ms,
                                    struct pl_turn_row **ret_turns, size_t *ret_n,
                                    struct pl_error *err)
{
    struct pl_convert_opts opts = {.from = &pl_format_structured_chat, .to = &pl_format_turns};
    struct pl_converted made;
    struct pl_str turns = {0};
    pl_converted_init(&made);
    enum pl_status status = pl_convert(chat, &opts, &made, err);
    if (status == PL_OK)
        turns = pl_arena_dup(arena, pl_buf_str(&made.out));
    pl_converted_deinit(&made);
    if (status == PL_OK)
        status = turns.ptr ? keep_media(keeper, arena, turns, &turns, err) : PL_NOMEM;
    return status == PL_OK ? read_rows(arena, turns, now_ms, ret_turns, ret_n, err) : status;
}

/* Makes turns of everything except the last message and the prefill of its answer. */
static enum pl_status make_turns(const struct pl_prompt_keeper *keeper, struct pl_arena *arena,
                                 const struct pl_json_doc *doc, const struct pl_prompt_asks *asks,
                                 int64_t now_ms, struct pl_prompt_run *run, struct pl_error *err)
{
    size_t n_left = pl_json_count(asks->messages) - 1 - (asks->begun != NULL);
    const struct pl_json_node *system = pl_json_get(doc, doc->root, PL_STR("system_prompt"));
    bool has_system = system && pl_json_kind(system) == PL_JSON_STRING && system->len > 2;
    if (!has_system && !n_left)
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf rest;
    struct pl_json_edit edit;
    pl_buf_init(&rest, 0);
    pl_json_edit_init(&edit, arena, doc);
    enum pl_status status = pl_json_edit_remove_node(&edit, asks->messages, asks->last, err);
    if (status == PL_OK && asks->begun)
        status = pl_json_edit_remove_node(&edit, asks->messages, asks->begun, err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &rest);
    pl_json_edit_deinit(&edit);
    return status == PL_OK ? pl_prompt_turns_read(keeper, arena, pl_buf_str(&rest), now_ms,
                                                  &run->turns, &run->n_turns, err)
                           : status;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* config.model, if this server has it and everyone may use it. */
static enum pl_status find_model(const struct pl_models *models, struct pl_arena *arena,
                                 struct pl_str name, struct pl_str *ret_model)
{
    const struct pl_model_info *info = name.len ? pl_model_find(models, name) : NULL;
    if (!info || pl_model_replayed(name).len)
        return PL_OK;
    /* It may outlive the models that it was found in. */
    *ret_model = pl_arena_dup(arena, pl_model_name(info, name));
    return ret_model->ptr ? PL_OK : PL_NOMEM;
}

enum pl_status pl_prompt_check_asks(const struct pl_prompt_keeper *keeper, struct pl_arena *arena,
                                    const struct pl_prompt_asks *asks, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_json_out out = pl_json_out(&text);
    pl_buf_init(&text, 0);
    pl_json_out_open(&out, '{');
    if (asks->settings.len) {
        pl_json_out_key(&out, "settings");
        pl_json_out_raw(&out, asks->settings);
    }
    if (asks->tools.len) {
        pl_json_out_key(&out, "tools");
        pl_json_out_raw(&out, asks->tools);
    }
    pl_json_out_close(&out, '}');
    struct pl_str kept = pl_arena_dup(arena, pl_buf_str(&text));
    if (text.status != PL_OK || !kept.ptr)
        return PL_NOMEM;
    return pl_ask_how_check(arena, kept, keeper->server->ext, keeper->user_id, err);
}

/* The message, with blobs for its media. */
static enum pl_status keep_message(const struct pl_prompt_keeper *keeper, struct pl_arena *arena,
                                   struct pl_str message, struct pl_str *ret_message,
                                   struct pl_error *err)
{
    struct pl_json_doc doc;
    *ret_message = message;
    enum pl_status status = pl_json_parse(arena, message, &pl_json_own, &doc, err);
    if (status != PL_OK || !pl_content_parts_has_media(&doc, doc.root))
        return status;
    return pl_media_keep_here(keeper->server, arena, keeper->user_id, message, true, ret_message,
                              err);
}

static enum pl_status read_chat(const struct pl_prompt_keeper *keeper,
                                const struct pl_models *models, struct pl_arena *arena,
                                struct pl_str chat, int64_t now_ms, struct pl_prompt_run *run,
                                struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_prompt_asks asks;
    struct pl_json_opts opts = pl_json_own;
    opts.refuses_nul = true;
    enum pl_status status = pl_json_parse(arena, chat, &opts, &doc, err);
    if (status != PL_OK)
        return status;
    status = pl_prompt_asks_read(arena, &doc, &asks, err);
    if (status == PL_OK)
        status = make_turns(keeper, arena, &doc, &asks, now_ms, run, err);
    if (status == PL_OK)
        status = find_model(models, arena, asks.model, &run->model);
    if (status == PL_OK)
        status = pl_prompt_check_asks(keeper, arena, &asks, err);
    if (status != PL_OK)
        return status;
    run->settings = asks.settings;
    run->tools = asks.tools;
    run->prefill = asks.prefill;
    if (asks.message.len <= 2)
        return pl_fail(err, PL_INVALID, "The last message of this prompt is empty.");
    return keep_message(keeper, arena, asks.message, &run->message, err);
}

enum pl_status pl_prompt_run_make(const struct pl_prompt_keeper *keeper,
                                  const struct pl_models *models, struct pl_arena *arena,
                                  const struct pl_prompt_text *text,
                                  const struct pl_render_opts *opts, int64_t now_ms,
                                  struct pl_rendered *rendered, struct pl_prompt_run *ret_run,
                                  struct pl_error *err)
{
    struct pl_prompt_run run = {0};
    struct pl_str chat;
    enum pl_status status = pl_prompt_chat(arena, text, &chat);
    struct pl_render_opts remembering = *opts;
    remembering.keeps_places = true;
    if (status == PL_OK)
        status = pl_render(chat, &remembering, rendered, err);
    if (status != PL_OK)
        return status;
    struct pl_str filled = pl_arena_dup(arena, pl_buf_str(&rendered->out));
    status = filled.ptr ? read_chat(keeper, models, arena, filled, now_ms, &run, err) : PL_NOMEM;
    if (status == PL_OK)
        *ret_run = run;
    return status;
}

/* Reports the first problem, which is more specific. */
static void tell_first(const struct pl_rendered *rendered, struct pl_error *err)
{
    struct pl_str problems = pl_buf_str(&rendered->problems);
    const char *end = problems.len ? memchr(problems.ptr, '\n', problems.len) : NULL;
    if (end)
        (void)pl_fail(err, PL_INVALID, "%.*s", (int)(end - problems.ptr), problems.ptr);
}

enum pl_status pl_prompt_check_vars(struct pl_arena *arena, const struct pl_prompt_text *text,
                                    const struct pl_render_opts *opts, struct pl_error *err)
{
    struct pl_str chat;
    struct pl_rendered rendered;
    pl_rendered_init(&rendered);
    enum pl_status status = pl_prompt_chat(arena, text, &chat);
    if (status == PL_OK)
        status = pl_render(chat, opts, &rendered, err);
    if (status == PL_INVALID)
        tell_first(&rendered, err);
    pl_rendered_deinit(&rendered);
    return status;
}

enum pl_status pl_prompt_run_load(const struct pl_models *models, struct pl_server *server,
                                  struct pl_arena *arena, struct pl_str user_id, struct pl_str id,
                                  struct pl_str version, const struct pl_render_opts *opts,
                                  int64_t now_ms, struct pl_prompt_run *ret_run,
                                  struct pl_error *err)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row row;
    int64_t number = 0;
    enum pl_status status = pl_store_prompt_get(server->store, arena, user_id, id, &prompt, err);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_NOT_FOUND, "There is no prompt %.*s.",
                       (int)(id.len < 80 ? id.len : 80), id.ptr);
    if (status == PL_OK)
        status = pl_prompt_version_number(arena, &prompt, version, &number);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_NOT_FOUND, "The prompt has no version or label %.*s.",
                       (int)(version.len < 80 ? version.len : 80), version.ptr);
    if (status == PL_OK)
        status = pl_store_prompt_version_get(server->store, arena, user_id, id, number, &row, err);
    if (status != PL_OK)
        return status;
    struct pl_prompt_text text = pl_prompt_text_of(&row);
    struct pl_rendered rendered;
    pl_rendered_init(&rendered);
    const struct pl_prompt_keeper keeper = {server, user_id};
    status =
        pl_prompt_run_make(&keeper, models, arena, &text, opts, now_ms, &rendered, ret_run, err);
    if (status == PL_INVALID)
        tell_first(&rendered, err);
    pl_rendered_deinit(&rendered);
    if (status == PL_OK) {
        ret_run->name = prompt.name;
        ret_run->version = number;
    }
    return status;
}

#include "server/prompt_run.h"

#include "format/convert.h"
#include "json/edit.h"
#include "json/text.h"
#include "model/model.h"
#include "server/prompt_json.h"

/* --- the last message ------------------------------------------------------------------------ */

static bool is_role(const struct pl_json_doc *doc, const struct pl_json_node *message,
                    const char *role)
{
    const struct pl_json_node *node = pl_json_get(doc, message, PL_STR("role"));
    return node && pl_json_kind(node) == PL_JSON_STRING &&
           pl_json_text_is(doc, node, pl_str_of(role));
}

static enum pl_status find_last(const struct pl_json_doc *doc, const struct pl_json_node *messages,
                                const struct pl_json_node **ret_last, struct pl_error *err)
{
    const struct pl_json_node *last = NULL;
    for (const struct pl_json_node *message = pl_json_first(messages);
         message < pl_json_end(messages); message = pl_json_next(message))
        last = message;
    if (!last)
        return pl_fail(err, PL_INVALID, "This prompt has no message: there is nothing to say.");
    if (is_role(doc, last, "assistant"))
        return pl_fail(err, PL_INVALID,
                       "The last message of this prompt is the assistant's, the beginning of an "
                       "answer. A session cannot go on from there; end with the user's message.");
    if (!is_role(doc, last, "user"))
        return pl_fail(err, PL_INVALID, "The last message of a prompt that is run is the user's.");
    *ret_last = last;
    return PL_OK;
}

/* --- the turns before it --------------------------------------------------------------------- */

static enum pl_status read_turns(struct pl_arena *arena, struct pl_str document, int64_t now_ms,
                                 struct pl_prompt_run *run, struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str kept = pl_arena_dup(arena, document);
    enum pl_status status =
        kept.ptr ? pl_json_parse(arena, kept, &pl_json_own, &doc, err) : PL_NOMEM;
    if (status != PL_OK)
        return status;
    run->turns = pl_arena_zalloc(arena, pl_json_count(doc.root) + 1, sizeof *run->turns);
    if (!run->turns)
        return PL_NOMEM;
    for (const struct pl_json_node *turn = pl_json_first(doc.root);
         turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn))
        status = pl_turn_row_read(arena, &doc, turn, now_ms, &run->turns[run->n_turns++], err);
    return status;
}

static enum pl_status convert_turns(struct pl_arena *arena, struct pl_str chat, int64_t now_ms,
                                    struct pl_prompt_run *run, struct pl_error *err)
{
    struct pl_convert_opts opts = {.from = &pl_format_structured_chat, .to = &pl_format_turns};
    struct pl_converted made;
    pl_converted_init(&made);
    enum pl_status status = pl_convert(chat, &opts, &made, err);
    if (status == PL_OK)
        status = read_turns(arena, pl_buf_str(&made.out), now_ms, run, err);
    pl_converted_deinit(&made);
    return status;
}

/* Everything but the last message. */
static enum pl_status make_turns(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 const struct pl_json_node *messages,
                                 const struct pl_json_node *last, int64_t now_ms,
                                 struct pl_prompt_run *run, struct pl_error *err)
{
    const struct pl_json_node *system = pl_json_get(doc, doc->root, PL_STR("system_prompt"));
    bool has_system = system && pl_json_kind(system) == PL_JSON_STRING && system->len > 2;
    if (!has_system && pl_json_count(messages) == 1)
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf rest;
    struct pl_json_edit edit;
    pl_buf_init(&rest, 0);
    pl_json_edit_init(&edit, arena, doc);
    enum pl_status status = pl_json_edit_remove_node(&edit, messages, last, err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &rest);
    pl_json_edit_deinit(&edit);
    return status == PL_OK ? convert_turns(arena, pl_buf_str(&rest), now_ms, run, err) : status;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* config.model, where it is a model of ours that anybody may use. */
static enum pl_status find_model(const struct pl_models *models, struct pl_arena *arena,
                                 const struct pl_json_doc *doc, struct pl_str *ret_model)
{
    struct pl_str name;
    const struct pl_json_node *config = pl_json_get(doc, doc->root, PL_STR("config"));
    const struct pl_json_node *node = config ? pl_json_get(doc, config, PL_STR("model")) : NULL;
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_OK;
    enum pl_status status = pl_json_text(arena, doc, node, &name);
    const struct pl_model_info *info = status == PL_OK ? pl_model_find(models, name) : NULL;
    if (!info || pl_model_replayed(name).len)
        return status;
    /* It may outlive the models it was found in. */
    *ret_model = pl_arena_dup(arena, pl_model_name(info, name));
    return ret_model->ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status read_chat(const struct pl_models *models, struct pl_arena *arena,
                                struct pl_str chat, int64_t now_ms, struct pl_prompt_run *run,
                                struct pl_error *err)
{
    struct pl_json_doc doc;
    const struct pl_json_node *last = NULL;
    struct pl_json_opts opts = pl_json_own;
    opts.refuses_nul = true;
    enum pl_status status = pl_json_parse(arena, chat, &opts, &doc, err);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *messages = pl_json_get(&doc, doc.root, PL_STR("messages"));
    if (!messages || pl_json_kind(messages) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID, "This prompt has no messages.");
    status = find_last(&doc, messages, &last, err);
    if (status == PL_OK)
        status = make_turns(arena, &doc, messages, last, now_ms, run, err);
    if (status == PL_OK)
        status = find_model(models, arena, &doc, &run->model);
    const struct pl_json_node *content =
        status == PL_OK ? pl_json_get(&doc, last, PL_STR("content")) : NULL;
    if (content)
        run->message = pl_json_span(&doc, content);
    if (status == PL_OK && run->message.len <= 2)
        return pl_fail(err, PL_INVALID, "The last message of this prompt is empty.");
    return status;
}

enum pl_status pl_prompt_run_make(const struct pl_models *models, struct pl_arena *arena,
                                  const struct pl_prompt_text *text,
                                  const struct pl_render_opts *opts, int64_t now_ms,
                                  struct pl_rendered *rendered, struct pl_prompt_run *ret_run,
                                  struct pl_error *err)
{
    struct pl_prompt_run run = {0};
    struct pl_str chat;
    enum pl_status status = pl_prompt_chat(arena, text, &chat);
    if (status == PL_OK)
        status = pl_render(chat, opts, rendered, err);
    if (status != PL_OK)
        return status;
    struct pl_str filled = pl_arena_dup(arena, pl_buf_str(&rendered->out));
    status = filled.ptr ? read_chat(models, arena, filled, now_ms, &run, err) : PL_NOMEM;
    if (status == PL_OK)
        *ret_run = run;
    return status;
}

enum pl_status pl_prompt_run_load(const struct pl_models *models, struct pl_store *store,
                                  struct pl_arena *arena, struct pl_str user_id, struct pl_str id,
                                  struct pl_str version, const struct pl_render_opts *opts,
                                  int64_t now_ms, struct pl_prompt_run *ret_run,
                                  struct pl_error *err)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row row;
    int64_t number = 0;
    enum pl_status status = pl_store_prompt_get(store, arena, user_id, id, &prompt, err);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_NOT_FOUND, "There is no prompt %.*s.",
                       (int)(id.len < 80 ? id.len : 80), id.ptr);
    if (status == PL_OK)
        status = pl_prompt_version_number(arena, &prompt, version, &number);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_NOT_FOUND, "The prompt has no version and no label %.*s.",
                       (int)(version.len < 80 ? version.len : 80), version.ptr);
    if (status == PL_OK)
        status = pl_store_prompt_version_get(store, arena, user_id, id, number, &row, err);
    if (status != PL_OK)
        return status;
    struct pl_prompt_text text = pl_prompt_text_of(&row);
    struct pl_rendered rendered;
    pl_rendered_init(&rendered);
    status = pl_prompt_run_make(models, arena, &text, opts, now_ms, &rendered, ret_run, err);
    pl_rendered_deinit(&rendered);
    if (status == PL_OK) {
        ret_run->name = prompt.name;
        ret_run->version = number;
    }
    return status;
}

/* The library prompt that a session starts from, and the one that is its role. */
#include "service/sessions/solution.h"

#include "json/edit/edit.h"
#include "json/text.h"
#include "json/write.h"
#include "model/model.h"
#include "prompt/asks.h"
#include "prompt/render.h"
#include "service/prompts/prompt_json.h"
#include "service/prompts/prompt_run.h"
#include "shard/shard.h"
#include "store/library.h"

struct reading {
    struct pl_server *server;
    const struct pl_models *models;
    struct pl_arena *arena;
    struct pl_str user_id;
    const char *member;
    int64_t now_ms;
    struct pl_error *err;
};

static enum pl_status refuse(const struct reading *r, struct pl_str name, const char *why)
{
    enum pl_status status = pl_fail(r->err, PL_INVALID, "The prompt %.*s %s",
                                    (int)(name.len < 80 ? name.len : 80), name.ptr, why);
    pl_error_point(r->err, "/%s", r->member);
    return status;
}

/* --- finding --------------------------------------------------------------------------------- */

static enum pl_status find_by_name(const struct reading *r, struct pl_str name,
                                   struct pl_prompt_row *ret_prompt)
{
    struct pl_prompt_query query = {.user_id = r->user_id, .limit = 100};
    struct pl_prompt_page page;
    size_t n_found = 0;
    do {
        enum pl_status status =
            pl_store_prompt_list(r->server->store, r->arena, &query, &page, r->err);
        if (status != PL_OK)
            return status;
        for (size_t i = 0; i < page.n_items; i++)
            if (pl_str_eq(page.items[i].name, name) && !n_found++)
                *ret_prompt = page.items[i];
        query.offset += (int64_t)page.n_items;
    } while (page.has_more && page.n_items);
    if (n_found > 1)
        return refuse(r, name, "is not the only one with this name; say which by its id.");
    return n_found ? PL_OK : PL_NOT_FOUND;
}

/* "name@label": the label follows the last @. A prompt with the whole name has precedence. */
static enum pl_status find_prompt(const struct reading *r, struct pl_str name,
                                  struct pl_prompt_row *ret_prompt, struct pl_str *ret_version)
{
    size_t at = name.len;
    while (at && name.ptr[at - 1] != '@')
        at--;
    struct pl_str names[] = {name, at ? pl_str_slice(name, 0, at - 1) : (struct pl_str){0}};
    enum pl_status status = PL_NOT_FOUND;
    for (size_t i = 0; i < 2 && status == PL_NOT_FOUND && names[i].len; i++) {
        *ret_version = i ? pl_str_slice(name, at, name.len) : (struct pl_str){0};
        status = pl_str_starts(names[i], PL_STR("prompt_"))
                     ? pl_store_prompt_get(r->server->store, r->arena, r->user_id, names[i],
                                           ret_prompt, r->err)
                     : PL_NOT_FOUND;
        if (status == PL_NOT_FOUND)
            status = find_by_name(r, names[i], ret_prompt);
    }
    return status == PL_NOT_FOUND
               ? refuse(r, name, "is not in your library; give the id or the name of one that is.")
               : status;
}

static bool is_role(const struct pl_json_doc *chat, const struct pl_json_node *message,
                    const char *role)
{
    const struct pl_json_node *node =
        pl_json_is(message, PL_JSON_OBJECT) ? pl_json_get(chat, message, PL_STR("role")) : NULL;
    return pl_json_is(node, PL_JSON_STRING) && pl_json_text_is(chat, node, pl_str_of(role));
}

/* Removes the task after the last answer, with its variables: a person will write it. A prompt
 * that is one text stays that text. */
static enum pl_status leave_out_task(const struct reading *r, struct pl_str chat,
                                     struct pl_str *ret_chat)
{
    struct pl_json_doc doc;
    struct pl_json_edit edit;
    enum pl_status status = pl_json_parse(r->arena, chat, &pl_json_own, &doc, r->err);
    *ret_chat = chat;
    if (status != PL_OK)
        return status;
    const struct pl_json_node *messages = pl_json_member(&doc, doc.root, "messages", PL_JSON_ARRAY);
    const struct pl_json_node *system =
        pl_json_member(&doc, doc.root, "system_prompt", PL_JSON_STRING);
    bool has_system = system && system->len > 2;
    if (!messages || (!has_system && pl_json_count(messages) == 1))
        return PL_OK;
    const struct pl_json_node *task = pl_json_first(messages);
    for (const struct pl_json_node *n = task; n < pl_json_end(messages); n = pl_json_next(n))
        if (is_role(&doc, n, "assistant"))
            task = pl_json_next(n);
    PL_CLEANUP_BUF struct pl_buf rest;
    pl_buf_init(&rest, 0);
    pl_json_edit_init(&edit, r->arena, &doc);
    for (; task < pl_json_end(messages) && status == PL_OK; task = pl_json_next(task))
        status = pl_json_edit_remove_node(&edit, messages, task, r->err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &rest);
    pl_json_edit_deinit(&edit);
    *ret_chat = pl_arena_dup(r->arena, pl_buf_str(&rest));
    return status == PL_OK && !ret_chat->ptr ? PL_NOMEM : status;
}

/* The prompt as a structured chat with all variables filled in. */
static enum pl_status read_chat(const struct reading *r, struct pl_str name,
                                struct pl_json_doc *ret_chat)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row row;
    struct pl_str version, chat;
    int64_t number = 0;
    enum pl_status status = find_prompt(r, name, &prompt, &version);
    if (status == PL_OK)
        status = pl_prompt_version_number(r->arena, &prompt, version, &number);
    if (status == PL_NOT_FOUND)
        return refuse(r, name, "has no version or label of this name.");
    if (status == PL_OK)
        status = pl_store_prompt_version_get(r->server->store, r->arena, r->user_id, prompt.id,
                                             number, &row, r->err);
    if (status != PL_OK)
        return status;
    struct pl_prompt_text text = pl_prompt_text_of(&row);
    struct pl_rendered rendered;
    pl_rendered_init(&rendered);
    status = pl_prompt_chat(r->arena, &text, &chat);
    if (status == PL_OK)
        status = leave_out_task(r, chat, &chat);
    if (status == PL_OK)
        status = pl_render(chat, &(struct pl_render_opts){0}, &rendered, r->err);
    if (status == PL_INVALID)
        status = refuse(r, name,
                        "has variables without a value; a session starts from one without, or with "
                        "defaults.");
    struct pl_str filled =
        status == PL_OK ? pl_arena_dup(r->arena, pl_buf_str(&rendered.out)) : (struct pl_str){0};
    pl_rendered_deinit(&rendered);
    if (status == PL_OK)
        status =
            filled.ptr ? pl_json_parse(r->arena, filled, &pl_json_own, ret_chat, r->err) : PL_NOMEM;
    return status;
}

/* --- what it says ---------------------------------------------------------------------------- */

static enum pl_status read_text(const struct reading *r, const struct pl_json_doc *chat,
                                const struct pl_json_node *object, const char *key,
                                struct pl_str *ret_text)
{
    const struct pl_json_node *node = pl_json_member(chat, object, key, PL_JSON_STRING);
    return node ? pl_json_text(r->arena, chat, node, ret_text) : PL_OK;
}

static enum pl_status read_messages(const struct reading *r, struct pl_str name,
                                    const struct pl_json_doc *chat, struct pl_solution *solution)
{
    const struct pl_json_node *messages =
        pl_json_member(chat, chat->root, "messages", PL_JSON_ARRAY);
    enum pl_status status =
        read_text(r, chat, chat->root, "system_prompt", &solution->system_prompt);
    if (status != PL_OK || !messages || !pl_json_count(messages))
        return status;
    if (!solution->system_prompt.len && pl_json_count(messages) == 1) {
        if (pl_json_get(chat, pl_json_first(messages), PL_STR("media")))
            return refuse(r, name,
                          "has media in its only message, which becomes the system prompt: that is "
                          "a text.");
        return read_text(r, chat, pl_json_first(messages), "content", &solution->system_prompt);
    }
    PL_CLEANUP_BUF struct pl_buf examples;
    pl_buf_init(&examples, 0);
    pl_buf_adds(&examples, "{\"protocol\":\"structured-chat\",\"messages\":");
    pl_buf_add(&examples, pl_json_span(chat, messages));
    pl_buf_addc(&examples, '}');
    const struct pl_prompt_keeper keeper = {r->server, r->user_id};
    return examples.status == PL_OK
               ? pl_prompt_turns_read(&keeper, r->arena, pl_buf_str(&examples), r->now_ms,
                                      &solution->turns, &solution->n_turns, r->err)
               : examples.status;
}

enum pl_status pl_solution_read(struct pl_server *server, const struct pl_models *models,
                                struct pl_arena *arena, struct pl_str user_id, const char *member,
                                struct pl_str name, int64_t now_ms,
                                struct pl_solution *ret_solution, struct pl_error *err)
{
    struct reading r = {server, models, arena, user_id, member, now_ms, err};
    struct pl_solution solution = {0};
    struct pl_prompt_asks asks = {0};
    struct pl_json_doc chat;
    *ret_solution = solution;
    if (!name.len)
        return PL_OK;
    enum pl_status status = read_chat(&r, name, &chat);
    if (status == PL_OK)
        status = read_messages(&r, name, &chat, &solution);
    if (status == PL_OK)
        status = pl_prompt_asks_config(arena, &chat, &asks, err);
    const struct pl_model_info *info =
        status == PL_OK && asks.model.len && !pl_model_replayed(asks.model).len
            ? pl_model_find(models, asks.model)
            : NULL;
    if (info)
        solution.model = pl_arena_dup(arena, pl_model_name(info, asks.model));
    solution.settings = asks.settings;
    solution.tools = asks.tools;
    if (status == PL_OK)
        *ret_solution = solution;
    return status;
}

enum pl_status pl_solution_join(struct pl_arena *arena, struct pl_str system_prompt,
                                struct pl_str role, struct pl_str *ret_text)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_add(&text, system_prompt);
    if (system_prompt.len && role.len)
        pl_buf_adds(&text, "\n\n");
    pl_buf_add(&text, role);
    *ret_text = text.len ? pl_arena_dup(arena, pl_buf_str(&text)) : (struct pl_str){0};
    return text.status == PL_OK && (ret_text->ptr || !text.len) ? PL_OK : PL_NOMEM;
}

/* Converts a draft to a structured chat, renders it, and splits it into its last message and the
 * messages before; then adds the options of the command line. */
#include "app/run/asked.h"

#include "app/frame/attachment.h"
#include "app/frame/input.h"
#include "app/frame/variable.h"
#include "json/edit/edit.h"
#include "json/text.h"
#include "prompt/asks.h"

enum pl_exit pl_asked_vars(struct pl_deed *deed, struct pl_render_var *vars, size_t *ret_n)
{
    size_t n = 0;
    for (size_t i = 0; i < deed->args->uses.len; i++) {
        const struct pl_option_use *use = &deed->args->uses.ptr[i];
        if (use->option->id != PL_OPT_VAR)
            continue;
        if (n == PL_RUN_MAX_VARS)
            return pl_deed_usage(deed, "at most %d variables can be given", PL_RUN_MAX_VARS);
        enum pl_exit code = pl_deed_read_variable(deed, use->values[0], &vars[n++]);
        if (code != PL_EXIT_OK)
            return code;
    }
    *ret_n = n;
    return PL_EXIT_OK;
}

/* --- the prompt ------------------------------------------------------------------------------ */

/* Reads a version of the library from the "content" of the answer. */
static enum pl_exit read_version(struct pl_deed *deed, struct pl_draft *ret_draft)
{
    const char *id, *version = pl_deed_option(deed, PL_OPT_VERSION);
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET",
                           pl_api_path(&deed->api, "/api/prompts/%/versions/%", id,
                                       version ? version : "latest", NULL));
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *content =
        pl_json_get(&deed->answer, deed->answer.root, PL_STR("content"));
    *ret_draft = (struct pl_draft){.is_structured = pl_json_is(content, PL_JSON_OBJECT)};
    ret_draft->content = ret_draft->is_structured
                             ? pl_json_span(&deed->answer, content)
                             : pl_deed_text(deed, deed->answer.root, "content");
    return PL_EXIT_OK;
}

/* Reads the files of --attach as parts, each after a comma. */
static enum pl_exit read_attached(struct pl_deed *deed, struct pl_str *ret_parts)
{
    PL_CLEANUP_BUF struct pl_buf parts;
    pl_buf_init(&parts, 0);
    for (size_t i = 0; i < deed->args->uses.len; i++) {
        if (deed->args->uses.ptr[i].option->id != PL_OPT_ATTACH)
            continue;
        pl_buf_addc(&parts, ',');
        enum pl_exit code = pl_attachment_add(deed, deed->args->uses.ptr[i].values[0], &parts);
        if (code != PL_EXIT_OK)
            return code;
    }
    *ret_parts = parts.status == PL_OK && parts.len
                     ? pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&parts))
                     : (struct pl_str){0};
    return parts.status != PL_OK || (parts.len && !ret_parts->ptr) ? pl_deed_stop(deed, PL_NOMEM)
                                                                   : PL_EXIT_OK;
}

static enum pl_exit read_draft(struct pl_deed *deed, enum pl_asked_from from,
                               struct pl_draft *ret_draft)
{
    if (from == PL_ASKED_FILE)
        return pl_draft_read_file(deed, deed->words[0], PL_DRAFT_ANY, ret_draft);
    if (from == PL_ASKED_LIBRARY)
        return read_version(deed, ret_draft);
    *ret_draft = (struct pl_draft){.content = pl_str_of(deed->words[0])};
    return PL_EXIT_OK;
}

enum pl_exit pl_asked_source_read(struct pl_deed *deed, enum pl_asked_from from,
                                  struct pl_asked_source *ret_source)
{
    static const char text[] = "the text";
    struct pl_error err = {0};
    struct pl_asked_source source = {.name = from == PL_ASKED_FILE   ? pl_input_name(deed->words[0])
                                             : from == PL_ASKED_TEXT ? text
                                                                     : deed->words[0]};
    enum pl_exit code = read_draft(deed, from, &source.draft);
    if (code != PL_EXIT_OK)
        return code;
    if (source.draft.content.len &&
        memchr(source.draft.content.ptr, '\0', source.draft.content.len)) {
        (void)pl_fail(&err, PL_INVALID, "it has a NUL character, which no model takes");
        return pl_console_fail(deed->console, source.name, &err);
    }
    code = read_attached(deed, &source.parts);
    if (code == PL_EXIT_OK)
        *ret_source = source;
    return code;
}

/* --- filling it in --------------------------------------------------------------------------- */

/* Makes a structured chat of one message from a text. */
static enum pl_status wrap(const struct pl_draft *draft, struct pl_buf *to)
{
    if (draft->is_structured) {
        pl_buf_add(to, draft->content);
        return to->status;
    }
    pl_buf_adds(to, "{\"messages\":[{\"role\":\"user\",\"content\":");
    pl_json_quote(to, draft->content);
    pl_buf_adds(to, "}]}");
    return to->status;
}

/* Separates the last message, the user's, from those before it. */
static enum pl_status split(struct pl_deed *deed, struct pl_str chat, struct pl_asked *ret_asked,
                            struct pl_error *err)
{
    struct pl_arena *arena = &deed->api.texts.arena;
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, chat, &pl_json_own, &doc, err);
    if (status != PL_OK)
        return status;
    struct pl_prompt_asks asks;
    status = pl_prompt_asks_read(arena, &doc, &asks, err);
    if (status != PL_OK)
        return status;
    if (!asks.message.len || pl_str_eq(asks.message, PL_STR("\"\"")))
        return pl_fail(err, PL_INVALID,
                       "the last message is empty; give the model something to answer");
    ret_asked->message = asks.message;
    ret_asked->prefill = asks.prefill;
    ret_asked->settings = asks.settings;
    ret_asked->tools = asks.tools;
    ret_asked->model = asks.model.len ? pl_deed_keep(deed, asks.model) : NULL;
    if (asks.model.len && !ret_asked->model)
        return PL_NOMEM;
    bool has_system = pl_api_text(&deed->api.texts, &doc, doc.root, "system_prompt").len;
    if (pl_json_count(asks.messages) == (asks.begun ? 2u : 1u) && !has_system)
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf rest;
    struct pl_json_edit edit;
    pl_buf_init(&rest, 0);
    pl_json_edit_init(&edit, arena, &doc);
    status = pl_json_edit_remove_node(&edit, asks.messages, asks.last, err);
    if (status == PL_OK && asks.begun)
        status = pl_json_edit_remove_node(&edit, asks.messages, asks.begun, err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &rest);
    pl_json_edit_deinit(&edit);
    if (status != PL_OK)
        return status;
    ret_asked->document = pl_arena_dup(arena, pl_buf_str(&rest));
    return ret_asked->document.ptr ? PL_OK : PL_NOMEM;
}

/* Cuts " (at /messages/0/content)" off the end of each line: the source is a text, so the pointer
 * would be into the chat made from it here. */
static void cut_places(struct pl_buf *lines)
{
    static const char before[] = " (at /";
    size_t n = 0;
    for (size_t i = 0; i < lines->len;) {
        const char *end = memchr(lines->ptr + i, '\n', lines->len - i);
        size_t len = end ? (size_t)(end - lines->ptr) - i : lines->len - i, kept = len;
        for (size_t k = 0; k + sizeof before - 1 <= len && lines->ptr[i + len - 1] == ')'; k++)
            if (memcmp(lines->ptr + i + k, before, sizeof before - 1) == 0)
                kept = k;
        memmove(lines->ptr + n, lines->ptr + i, kept);
        n += kept;
        if (end)
            lines->ptr[n++] = '\n';
        i += len + 1;
    }
    lines->len = n;
}

static enum pl_exit render(struct pl_deed *deed, const struct pl_draft *draft,
                           const struct pl_render_opts *opts, const char *place,
                           struct pl_asked *ret_asked)
{
    struct pl_error err = {0};
    struct pl_rendered rendered;
    PL_CLEANUP_BUF struct pl_buf chat;
    pl_buf_init(&chat, 0);
    pl_rendered_init(&rendered);
    enum pl_status status = wrap(draft, &chat);
    if (status == PL_OK)
        status = pl_render(pl_buf_str(&chat), opts, &rendered, &err);
    struct pl_str filled = status == PL_OK
                               ? pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&rendered.out))
                               : (struct pl_str){0};
    if (status == PL_OK && !filled.ptr)
        status = PL_NOMEM;
    if (status == PL_OK)
        status = split(deed, filled, ret_asked, &err);
    enum pl_exit code = PL_EXIT_OK;
    err.status = status;
    if (!draft->is_structured)
        cut_places(&rendered.problems);
    if (rendered.problems.len)
        pl_variables_say(deed->console, place, "", &rendered.problems);
    else if (status != PL_OK)
        code = pl_console_fail(deed->console, place, &err);
    else
        pl_variables_say(deed->console, place, "warning: ", &rendered.notes);
    code = rendered.problems.len ? PL_EXIT_NO : code;
    pl_rendered_deinit(&rendered);
    return code;
}

/* --- options of the command line ------------------------------------------------------------- */

/* Copies the text to the memory of the deed. */
static enum pl_exit keep(struct pl_deed *deed, const struct pl_buf *built, struct pl_str *ret_text)
{
    struct pl_str text = built->status == PL_OK
                             ? pl_arena_dup(&deed->api.texts.arena, pl_buf_str(built))
                             : (struct pl_str){0};
    if (!text.ptr)
        return pl_deed_stop(deed, PL_NOMEM);
    *ret_text = text;
    return PL_EXIT_OK;
}

/* Adds the files of --attach after the text of the message. */
static enum pl_exit attach(struct pl_deed *deed, struct pl_str parts, struct pl_asked *asked)
{
    PL_CLEANUP_BUF struct pl_buf message;
    pl_buf_init(&message, 0);
    if (!parts.len)
        return PL_EXIT_OK;
    bool is_list = pl_str_begins(asked->message, "[");
    pl_buf_adds(&message, is_list ? "" : "[{\"type\":\"text\",\"text\":");
    pl_buf_add(&message,
               is_list ? pl_str_slice(asked->message, 0, asked->message.len - 1) : asked->message);
    pl_buf_adds(&message, is_list ? "" : "}");
    pl_buf_add(&message, parts);
    pl_buf_addc(&message, ']');
    return keep(deed, &message, &asked->message);
}

/* --schema: asks the model for JSON of that schema. */
static enum pl_exit ask_for_form(struct pl_deed *deed, struct pl_asked *asked, struct pl_str schema)
{
    PL_CLEANUP_BUF struct pl_buf settings;
    pl_buf_init(&settings, 0);
    if (!schema.len)
        return PL_EXIT_OK;
    if (pl_str_find(asked->settings, PL_STR("\"response_format\"")) != SIZE_MAX)
        return pl_deed_usage(deed,
                             "the prompt has a response_format of its own; leave --schema out, "
                             "or remove it from the prompt");
    pl_buf_adds(&settings, "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
                           "{\"name\":\"answer\",\"schema\":");
    pl_buf_add(&settings, schema);
    pl_buf_adds(&settings, "}}");
    bool has_more = asked->settings.len > 2;
    pl_buf_adds(&settings, has_more ? "," : "}");
    if (has_more)
        pl_buf_add(&settings, pl_str_slice(asked->settings, 1, asked->settings.len));
    return keep(deed, &settings, &asked->settings);
}

enum pl_exit pl_asked_fill(struct pl_deed *deed, const struct pl_asked_source *source,
                           const struct pl_render_var *vars, size_t n_vars, const char *place,
                           struct pl_asked *ret_asked)
{
    struct pl_render_opts opts = {
        .vars = vars, .n_vars = n_vars, .is_command = true, .refuses_unknown = true};
    struct pl_asked asked = {.system = pl_deed_option(deed, PL_OPT_SYSTEM)};
    enum pl_exit code = render(deed, &source->draft, &opts, place, &asked);
    if (code == PL_EXIT_OK)
        code = ask_for_form(deed, &asked, source->schema);
    if (code == PL_EXIT_OK)
        code = attach(deed, source->parts, &asked);
    if (code == PL_EXIT_OK)
        *ret_asked = asked;
    return code;
}

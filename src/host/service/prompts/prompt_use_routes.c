/* Uses of a prompt: render it, check it for a target, write it in any format. A text prompt is
 * equivalent to a structured chat with one message of the user. */
#include "format/convert.h"
#include "promptfile/export.h"
#include "http/exchange.h"
#include "io/clock.h"
#include "json/parse/lenient.h"
#include "json/text.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/routes.h"
#include "service/request_options.h"

/* --- render ---------------------------------------------------------------------------------- */

/* Writes the rendered message of a text prompt. */
static enum pl_status write_rendered_text(struct pl_exchange *x, struct pl_json_out *out,
                                          struct pl_str chat)
{
    struct pl_json_doc doc;
    struct pl_str text;
    enum pl_status status = pl_json_parse(&x->arena, chat, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *message =
        pl_json_first(pl_json_get(&doc, doc.root, PL_STR("messages")));
    status = pl_json_text(&x->arena, &doc, pl_json_get(&doc, message, PL_STR("content")), &text);
    if (status == PL_OK)
        pl_json_out_text(out, text);
    return status;
}

static enum pl_status write_rendered(struct pl_exchange *x, bool is_structured,
                                     const struct pl_rendered *made)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    enum pl_status status = PL_OK;
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "document");
    if (is_structured)
        pl_json_out_raw(&out, pl_buf_str(&made->out));
    else
        status = write_rendered_text(x, &out, pl_buf_str(&made->out));
    pl_json_out_key(&out, "notes");
    pl_lines_write(&out, pl_buf_str(&made->notes));
    pl_json_out_close(&out, '}');
    return status;
}

static void render_work(struct pl_exchange *x)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    struct pl_render_opts opts = {.is_preview = pl_body_bool(x, "preview", false)};
    if (!pl_prompt_find_named(x, &prompt, &version) || !pl_body_vars(x, &opts))
        return;
    struct pl_prompt_text text = pl_prompt_text_of(&version);
    struct pl_rendered made;
    struct pl_error err = {0};
    struct pl_str chat;
    pl_rendered_init(&made);
    enum pl_status status = pl_prompt_chat(&x->arena, &text, &chat);
    if (status == PL_OK)
        status = pl_render(chat, &opts, &made, &err);
    if (status == PL_OK)
        status = write_rendered(x, text.is_structured, &made);
    if (status != PL_OK && !pl_exchange_fail_vars(x, status, &made))
        pl_exchange_fail(x, status, &err);
    pl_rendered_deinit(&made);
}

/* --- lint ------------------------------------------------------------------------------------ */

static void lint_work(struct pl_exchange *x)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    struct pl_lint_request request = {
        .as = &pl_format_structured_chat,
        .now_s = pl_clock_unix_s(),
        .wants_edits = true,
        .lang = pl_exchange_wants_chinese(x) ? PL_SCHEMA_ZH : PL_SCHEMA_EN,
    };
    if (!pl_prompt_find_named(x, &prompt, &version) || !pl_body_lint_target(x, &request))
        return;
    struct pl_prompt_text text = pl_prompt_text_of(&version);
    struct pl_linted linted = {0};
    struct pl_error err = {0};
    struct pl_str chat;
    enum pl_status status = pl_prompt_chat(&x->arena, &text, &chat);
    if (status == PL_OK)
        status = pl_lint_document(&x->arena, chat, &request, &linted, &err);
    if (status == PL_OK)
        pl_linted_write(&x->reply, &linted);
    else
        pl_exchange_fail(x, status, &err);
    pl_linted_deinit(&linted);
}

/* --- export ---------------------------------------------------------------------------------- */

static const char plain_text[] = "text/plain; charset=utf-8";

static enum pl_status write_format(struct pl_exchange *x, const struct pl_format *format,
                                   struct pl_str chat, struct pl_error *err)
{
    if (format == &pl_format_structured_chat) {
        pl_buf_add(&x->reply, chat);
        return PL_OK;
    }
    struct pl_convert_opts opts = {.from = &pl_format_structured_chat, .to = format};
    struct pl_converted made;
    pl_converted_init(&made);
    enum pl_status status = pl_convert(chat, &opts, &made, err);
    if (status == PL_OK)
        pl_buf_add(&x->reply, pl_buf_str(&made.out));
    pl_converted_deinit(&made);
    return status;
}

/* The parameter "append", valid for some exports only; false after making a problem. */
static bool read_append(struct pl_exchange *x, const struct pl_export *export, bool *ret_appends)
{
    struct pl_str text = pl_target_param(&x->target, "append");
    *ret_appends = pl_str_eq(text, PL_STR("true"));
    if (*ret_appends && (!export || !export->may_append))
        pl_option_refuse(x, "This goes with claude, a command with a system prompt.", "/append");
    return !x->is_problem;
}

/* Whether an exported request lacks the model that it requires. */
static bool lacks_model(struct pl_exchange *x, const struct pl_export *export,
                        const struct pl_format *format, struct pl_str chat)
{
    struct pl_json_doc doc;
    struct pl_json_notes notes;
    if (export != &pl_export_curl && format != &pl_format_anthropic)
        return false;
    /* An unreadable chat is refused when it is written. */
    if (pl_json_parse_lenient(&x->arena, chat, &pl_json_any, &doc, &notes, NULL) != PL_OK)
        return false;
    const struct pl_json_node *config = pl_json_member(&doc, doc.root, "config", PL_JSON_OBJECT);
    const struct pl_json_node *model =
        config ? pl_json_member(&doc, config, "model", PL_JSON_STRING) : NULL;
    return !model || !pl_json_raw(&doc, model).len;
}

/* Puts the model of the query into the chat, if there is one; false after making a problem. */
static bool put_model(struct pl_exchange *x, struct pl_str *chat)
{
    struct pl_str model = pl_target_param(&x->target, "model");
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf made;
    pl_buf_init(&made, 0);
    if (!model.len)
        return true;
    enum pl_status status = pl_export_set_model(*chat, model, &made, &err);
    if (status == PL_OK) {
        *chat = pl_arena_dup(&x->arena, pl_buf_str(&made));
        status = chat->ptr ? PL_OK : PL_NOMEM;
    }
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

static void export_as(struct pl_exchange *x, struct pl_str name, const struct pl_prompt_row *prompt,
                      const struct pl_prompt_text *text)
{
    const struct pl_export *export = pl_export_find(name);
    struct pl_export_how how = {.name = prompt->name, .description = prompt->description};
    const struct pl_format *format = pl_format_find(name);
    struct pl_error err = {0};
    struct pl_str chat;
    enum pl_status status = pl_prompt_chat(&x->arena, text, &chat);
    if (!export && !format) {
        pl_exchange_fail_name(x, "format", name);
        return;
    }
    if (!read_append(x, export, &how.appends_system) || (status == PL_OK && !put_model(x, &chat)))
        return;
    if (status == PL_OK && lacks_model(x, export, format, chat)) {
        pl_option_refuse(x, "The prompt names no model, and such a request needs one.", "/model");
        return;
    }
    if (status == PL_OK && export)
        status = export->write(&x->reply, chat, &how, &err);
    else if (status == PL_OK)
        status = write_format(x, format, chat, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (export || strcmp(format->name, "gpt-oss") == 0)
        x->content_type = plain_text;
}

static void export_work(struct pl_exchange *x)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    struct pl_str name = pl_target_param(&x->target, "format");
    if (!pl_prompt_find(x, &prompt) ||
        !pl_prompt_find_version(x, &prompt, pl_target_param(&x->target, "version"), &version))
        return;
    struct pl_prompt_text text = pl_prompt_text_of(&version);
    if (!name.len)
        name = text.is_structured ? pl_str_of(pl_format_structured_chat.name) : PL_STR("text");
    if (!pl_str_eq(name, PL_STR("text"))) {
        export_as(x, name, &prompt, &text);
    } else if (text.is_structured) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "A structured prompt cannot be written as text; use markdown or "
                            "another format.");
    } else {
        pl_buf_add(&x->reply, text.content);
        x->content_type = plain_text;
    }
}

#define RUN(name)                                                                                  \
    static void name##_run(struct pl_exchange *x)                                                  \
    {                                                                                              \
        pl_exchange_compute(x, name##_work, NULL);                                                 \
    }
RUN(render)
RUN(lint)
RUN(export)
#undef RUN

static const struct pl_route_param export_params[] = {
    {"format", "{\"type\":\"string\"}",
     "Name of a format, or yaml, markdown, curl, claude, claude-command, claude-skill, text; by "
     "default the prompt's own"},
    {"model", "{\"type\":\"string\"}",
     "The model of the export, in place of the prompt's; curl and anthropic need one"},
    {"append", "{\"enum\":[\"true\",\"false\"]}",
     "With claude: add the system prompt to the command's own instead of replacing it"},
    {"version", "{\"type\":\"string\"}", "A number, a label or \"latest\" (default)"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_prompt_use[] = {
    {PL_METHOD_POST, "/api/prompts/{id}/render", PL_ROUTE_IDEMPOTENT, PL_FOR_READ, render_run,
     "prompt_render", "Fill in the variables of a prompt", "prompts", "PromptRender", "Rendered",
     200, NULL},
    {PL_METHOD_POST, "/api/prompts/{id}/lint", PL_ROUTE_IDEMPOTENT, PL_FOR_READ, lint_run,
     "prompt_lint", "Find mistakes in a prompt", "prompts", "PromptLint", "Linted", 200, NULL},
    {PL_METHOD_GET, "/api/prompts/{id}/export", PL_ROUTE_ANY_REPLY, PL_FOR_READ, export_run,
     "prompt_export", "Write a prompt in any format", "prompts", NULL, "Exported", 200,
     export_params},
    {0},
};

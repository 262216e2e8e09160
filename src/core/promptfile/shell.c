/* A prompt as a command line for bash, dash and zsh: pasted or run, the program gets exactly the
 * bytes of the prompt.
 *
 * Words are in single quotes, where no shell expands anything; a quote itself is \'. A terminal
 * would interpret a pasted control character, so printf makes each one. Only a line feed is
 * literal, since a command substitution would strip it at the end. */
#include "format/convert.h"
#include "format/loss_report.h"
#include "format/model_name.h"
#include "promptfile/export_int.h"
#include "json/parse/lenient.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"

static void add_word(struct pl_buf *to, struct pl_str text)
{
    bool is_open = false;
    if (!text.len)
        pl_buf_adds(to, "''");
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_control = (c < 0x20 && c != '\n') || c == 0x7f;
        bool is_plain = c != '\'' && !is_control;
        if (is_open != is_plain)
            pl_buf_addc(to, '\'');
        is_open = is_plain;
        if (is_control)
            pl_buf_addf(to, "\"$(printf '\\%03o')\"", c);
        else if (c == '\'')
            pl_buf_adds(to, "\\'");
        else
            pl_buf_addc(to, (char)c);
    }
    if (is_open)
        pl_buf_addc(to, '\'');
}

/* An argument cannot contain NUL. */
static enum pl_status refuse_nul(struct pl_str text, struct pl_error *err)
{
    if (text.len && memchr(text.ptr, '\0', text.len))
        return pl_fail(err, PL_INVALID, "a text contains U+0000, which a command line cannot hold");
    return PL_OK;
}

/* The endpoint of a model. */
static const struct endpoint {
    const char *model; /* prefix of its name; "": any */
    const struct pl_format *format;
    const char *url; /* %s is the name of the model */
    const char *headers;
} endpoints[] = {
    {"claude", &pl_format_anthropic, "https://api.anthropic.com/v1/messages",
     " \\\n  -H 'anthropic-version: 2023-06-01' -H \"x-api-key: $ANTHROPIC_API_KEY\""},
    {"gemini", &pl_format_gemini,
     "https://generativelanguage.googleapis.com/v1beta/models/%s:generateContent",
     " \\\n  -H \"x-goog-api-key: $GEMINI_API_KEY\""},
    {"", &pl_format_openai_chat, "https://api.openai.com/v1/chat/completions",
     " \\\n  -H \"authorization: Bearer $OPENAI_API_KEY\""},
};

static enum pl_status text_at(struct pl_exported_chat *c, const struct pl_json_node *object,
                              const char *key, struct pl_str *ret_text)
{
    const struct pl_json_node *n = pl_json_member(&c->doc, object, key, PL_JSON_STRING);
    *ret_text = (struct pl_str){0};
    return n ? pl_json_text(&c->arena, &c->doc, n, ret_text) : PL_OK;
}

enum pl_status pl_exported_chat_read(struct pl_exported_chat *c, struct pl_str text,
                                     struct pl_error *err)
{
    struct pl_json_notes notes;
    enum pl_status status =
        pl_json_parse_lenient(&c->arena, text, &pl_json_any, &c->doc, &notes, err);
    if (status != PL_OK)
        return status;
    c->messages = pl_json_member(&c->doc, c->doc.root, "messages", PL_JSON_ARRAY);
    status = text_at(c, c->doc.root, "system_prompt", &c->system);
    if (status == PL_OK)
        status = text_at(c, pl_json_member(&c->doc, c->doc.root, "config", PL_JSON_OBJECT), "model",
                         &c->model);
    c->provider = pl_model_name_format(c->model);
    c->model = pl_model_bare_name(c->model);
    return status;
}

/* Finds it by the provider prefix of the model, or by the start of its name. */
static const struct endpoint *find_endpoint(const struct pl_exported_chat *c)
{
    const struct endpoint *e = endpoints;
    if (c->provider && c->provider != &pl_format_openai_responses) {
        while (e->format != c->provider)
            e++;
        return e;
    }
    while (!pl_str_starts(c->model, pl_str_of(e->model)) || (c->provider && e->model[0]))
        e++;
    return e;
}

/* A name is put into a URL path only if it has no unusual characters. */
static bool is_plain_name(struct pl_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
                    name.ptr[i]) ||
            !name.ptr[i])
            return false;
    return name.len > 0;
}

static void add_url(struct pl_buf *to, const struct endpoint *e, struct pl_str model)
{
    const char *gap = strstr(e->url, "%s");
    if (!gap) {
        pl_buf_adds(to, e->url);
        return;
    }
    pl_buf_add(to, (struct pl_str){e->url, (size_t)(gap - e->url)});
    pl_buf_add(to, model);
    pl_buf_adds(to, gap + 2);
}

/* --- losses ---------------------------------------------------------------------------------- */

void pl_export_lose(const struct pl_export_how *how, const struct pl_exported_chat *c,
                    enum pl_loss_code code, const struct pl_json_node *at, const char *detail)
{
    if (!how->losses)
        return;
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    pl_json_pointer_of(&pointer, &c->doc, at);
    pl_buf_addf(how->losses, "%s{\"code\":\"%s\",\"pointer\":", how->losses->len ? "," : "",
                pl_loss_name(code));
    pl_json_quote(how->losses, pl_buf_str(&pointer));
    pl_buf_adds(how->losses, ",\"detail\":");
    pl_json_quote(how->losses, pl_str_of(detail));
    pl_buf_addc(how->losses, '}');
    if (pointer.status != PL_OK && how->losses->status == PL_OK)
        how->losses->status = pointer.status;
}

static bool is_one_of(struct pl_str name, const char *const *names)
{
    for (; *names; names++)
        if (pl_str_eq(name, pl_str_of(*names)))
            return true;
    return false;
}

/* Reports members of an object that are not in `said`. null and an empty list are no loss. */
void pl_export_lose_others(const struct pl_export_how *how, const struct pl_exported_chat *c,
                           const struct pl_json_node *object, const char *const *said,
                           const char *detail)
{
    if (!object || pl_json_kind(object) != PL_JSON_OBJECT)
        return;
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k)) {
        const struct pl_json_node *value = k + 1;
        bool is_empty = pl_json_kind(value) == PL_JSON_NULL ||
                        (pl_json_kind(value) == PL_JSON_ARRAY && !pl_json_count(value));
        if (!is_empty && !is_one_of(pl_json_raw(&c->doc, k), said))
            pl_export_lose(how, c, PL_LOSS_DROPPED, value, detail);
    }
}

/* The ids of messages and the list of variables belong to the prompt: they mean nothing to a
 * model. */
static bool is_own(struct pl_str pointer)
{
    if (pl_str_starts(pointer, PL_STR("/variables")))
        return true;
    return pl_str_starts(pointer, PL_STR("/messages/")) && pointer.len > 3 &&
           pl_str_eq(pl_str_slice(pointer, pointer.len - 3, pointer.len), PL_STR("/id"));
}

/* A curl command loses what the vendor's format cannot express. */
static enum pl_status pass_losses(const struct pl_export_how *how, struct pl_str report)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    if (!how->losses)
        return PL_OK;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, report, &pl_json_made, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *list = pl_json_get(&doc, doc.root, PL_STR("losses"));
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        if (is_own(pl_json_raw(&doc, pl_json_get(&doc, n, PL_STR("pointer")))))
            continue;
        if (how->losses->len)
            pl_buf_addc(how->losses, ',');
        pl_buf_add(how->losses, pl_json_span(&doc, n));
    }
    return how->losses->status;
}

/* --- curl ------------------------------------------------------------------------------------ */

static enum pl_status put_curl(struct pl_buf *to, struct pl_exported_chat *c, struct pl_str text,
                               const struct pl_export_how *how, struct pl_error *err)
{
    const struct endpoint *e = find_endpoint(c);
    if (!c->model.len)
        return pl_fail(err, PL_INVALID, "the prompt names no model, which a request needs; give %s",
                       how->model_option ? how->model_option : "one in its config");
    if (strstr(e->url, "%s") && !is_plain_name(c->model))
        return pl_fail(err, PL_INVALID, "the name of the model cannot be part of a URL");
    struct pl_convert_opts opts = {.from = &pl_format_structured_chat, .to = e->format};
    struct pl_converted body;
    pl_converted_init(&body);
    enum pl_status status = pl_convert(text, &opts, &body, err);
    if (status == PL_OK) {
        pl_buf_adds(to, "curl ");
        add_url(to, e, c->model);
        pl_buf_adds(to, e->headers);
        pl_buf_adds(to, " \\\n  -H 'content-type: application/json' \\\n  --data-raw ");
        add_word(to, pl_buf_str(&body.out));
        pl_buf_addc(to, '\n');
        status = to->status;
    }
    if (status == PL_OK)
        status = pass_losses(how, pl_buf_str(&body.report));
    pl_converted_deinit(&body);
    return status;
}

static enum pl_status write_curl(struct pl_buf *to, struct pl_str text,
                                 const struct pl_export_how *how, struct pl_error *err)
{
    struct pl_exported_chat c = {0};
    pl_arena_init(&c.arena, 0);
    enum pl_status status = pl_exported_chat_read(&c, text, err);
    if (status == PL_OK)
        status = put_curl(to, &c, text, how, err);
    pl_arena_deinit(&c.arena);
    return status;
}

/* --- claude ---------------------------------------------------------------------------------- */

/* A single message is copied; several are each put between tags with their role. */
enum pl_status pl_exported_prompt_make(struct pl_exported_chat *c, struct pl_buf *to)
{
    bool is_alone = pl_json_count(c->messages) == 1;
    size_t from = to->len;
    for (const struct pl_json_node *n = pl_json_first(c->messages); n < pl_json_end(c->messages);
         n = pl_json_next(n)) {
        struct pl_str role, content;
        enum pl_status status = text_at(c, n, "role", &role);
        if (status == PL_OK)
            status = text_at(c, n, "content", &content);
        if (status != PL_OK)
            return status;
        if (is_alone) {
            pl_buf_add(to, content);
            continue;
        }
        pl_buf_addf(to, "%s<%.*s>\n%.*s\n</%.*s>", to->len > from ? "\n\n" : "", PL_STR_ARG(role),
                    PL_STR_ARG(content), PL_STR_ARG(role));
    }
    return to->status;
}

/* A model of another vendor means nothing to this command, so it uses its default. */
bool pl_export_is_claude_model(struct pl_str model)
{
    static const char *const names[] = {"claude", "opus", "sonnet", "haiku"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_str_starts(model, pl_str_of(names[i])))
            return true;
    return false;
}

/* The command accepts only a model, a system prompt and one prompt. */
static void lose_for_claude(const struct pl_export_how *how, const struct pl_exported_chat *c)
{
    static const char *const chat_says[] = {"protocol", "system_prompt", "messages",
                                            "config",   "variables",     NULL};
    static const char *const message_says[] = {"id", "role", "content", NULL};
    static const char *const config_says[] = {"model", NULL};
    const struct pl_json_node *config =
        pl_json_member(&c->doc, c->doc.root, "config", PL_JSON_OBJECT);
    const struct pl_json_node *system =
        pl_json_member(&c->doc, c->doc.root, "system_prompt", PL_JSON_STRING);
    const struct pl_json_node *first = pl_json_first(c->messages);
    if (c->system.len && how->appends_system)
        pl_export_lose(how, c, PL_LOSS_MOVED, system,
                       "it is added after the command's own system prompt");
    if (pl_json_count(c->messages) > 1)
        pl_export_lose(
            how, c, PL_LOSS_APPROXIMATED, c->messages,
            "the command takes one prompt; the messages stand in it between tags with their roles");
    else if (!pl_str_eq(pl_json_raw(&c->doc, pl_json_get(&c->doc, first, PL_STR("role"))),
                        PL_STR("user")))
        pl_export_lose(how, c, PL_LOSS_APPROXIMATED, first,
                       "the command sends it as a message of the user");
    for (const struct pl_json_node *n = first; n < pl_json_end(c->messages); n = pl_json_next(n))
        pl_export_lose_others(how, c, n, message_says, "the prompt of the command is a text");
    if (c->model.len && !pl_export_is_claude_model(c->model))
        pl_export_lose(how, c, PL_LOSS_DROPPED,
                       pl_json_member(&c->doc, config, "model", PL_JSON_STRING),
                       "the command has models of its own vendor only");
    pl_export_lose_others(how, c, config, config_says, "the command has no option for it");
    pl_export_lose_others(how, c, c->doc.root, chat_says, "the command has no option for it");
}

static void put_claude(struct pl_buf *to, const struct pl_exported_chat *c,
                       const struct pl_export_how *how, struct pl_str prompt)
{
    pl_buf_adds(to, "claude -p");
    if (pl_export_is_claude_model(c->model)) {
        pl_buf_adds(to, " --model=");
        add_word(to, c->model);
    }
    if (c->system.len) {
        pl_buf_adds(to, how->appends_system ? " --append-system-prompt=" : " --system-prompt=");
        add_word(to, c->system);
    }
    pl_buf_adds(to, " -- ");
    add_word(to, prompt);
    pl_buf_addc(to, '\n');
}

static enum pl_status write_claude(struct pl_buf *to, struct pl_str text,
                                   const struct pl_export_how *how, struct pl_error *err)
{
    struct pl_exported_chat c = {0};
    PL_CLEANUP_BUF struct pl_buf prompt;
    pl_buf_init(&prompt, 0);
    pl_arena_init(&c.arena, 0);
    enum pl_status status = pl_exported_chat_read(&c, text, err);
    if (status == PL_OK && (!c.messages || !pl_json_count(c.messages)))
        status = pl_fail(err, PL_INVALID, "there is no message to send");
    if (status == PL_OK)
        status = pl_exported_prompt_make(&c, &prompt);
    if (status == PL_OK)
        status = refuse_nul(pl_buf_str(&prompt), err);
    if (status == PL_OK)
        status = refuse_nul(c.system, err);
    if (status == PL_OK)
        status = refuse_nul(c.model, err);
    if (status == PL_OK)
        put_claude(to, &c, how, pl_buf_str(&prompt));
    if (status == PL_OK)
        lose_for_claude(how, &c);
    pl_arena_deinit(&c.arena);
    return status == PL_OK ? to->status : status;
}

const struct pl_export pl_export_curl = {
    .name = "curl",
    .title = "a curl command that calls the model's vendor",
    .write = write_curl,
};

const struct pl_export pl_export_claude = {
    .name = "claude",
    .title = "a claude -p command line",
    .may_append = true,
    .write = write_claude,
};

/* parley ext test and run: runs an extension against the scripted host. test checks everything an
 * extension registered and reports faults; run calls one tool. */
#include "app/extension/scripted_host.h"

#include "extproto/registration.h"
#include "io/file/file.h"
#include "json/text.h"

#include <stdio.h>

enum { REGISTER_MS = 10000, CALL_MS = 30000, HOOK_MS = 5000, END_MS = 3000 };

static void print_complaint(struct pl_scripted *host, const char *what)
{
    pl_console_put_styled(host->deed->console, PL_STYLE_BAD, "wrong");
    pl_console_puts(host->deed->console, "  ");
    pl_console_put_safe(host->deed->console, pl_str_of(what));
    pl_console_puts(host->deed->console, "\n");
}

static void say_ok(struct pl_scripted *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say_ok(struct pl_scripted *host, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pl_console_put_styled(host->deed->console, PL_STYLE_GOOD, "ok");
    pl_console_puts(host->deed->console, "     ");
    pl_console_put_safe(host->deed->console, pl_str_of(text));
    pl_console_puts(host->deed->console, "\n");
}

static const char *why_not(enum pl_status status)
{
    return status == PL_NOT_FOUND  ? "no answer came in time"
           : status == PL_IO       ? "the extension has ended"
           : status == PL_CONFLICT ? "the answer was an error frame"
                                   : "out of memory";
}

/* --- the register ----------------------------------------------------------------------------- */

/* *ret_frame must outlive the registration: schemas of tools are nodes of its document. */
static bool await_register(struct pl_scripted *host, struct pl_ext_frame *ret_frame,
                           struct pl_ext_registration *ret_registration)
{
    struct pl_ext_frame frame;
    struct pl_error err = {0};
    enum pl_status status =
        pl_scripted_await(host, PL_EXT_TYPE_REGISTER, PL_STR(""), REGISTER_MS, &frame);
    if (status != PL_OK) {
        pl_scripted_complain(host, "it does not register: %s", why_not(status));
        return false;
    }
    status =
        pl_ext_registration_read(&host->arena, &frame.doc, frame.payload, ret_registration, &err);
    if (status != PL_OK) {
        pl_scripted_complain(host, "its register is refused: %s (%s)", err.message, err.pointer);
        return false;
    }
    pl_buf_clear(&host->line);
    struct pl_json_out out = pl_ext_frame_begin(&host->line, PL_EXT_TYPE_LOG, frame.id);
    pl_json_out_key(&out, "schema");
    pl_json_out_raw(&out, PL_STR("\"pi.ext.log.v1\",\"ts\":\"2000-01-01T00:00:00Z\",\"level\":"
                                 "\"info\",\"event\":\"extension.ready\",\"message\":\"ready\","
                                 "\"correlation\":{\"extension_id\":\"x\",\"scenario_id\":"
                                 "\"test\"},\"data\":{}"));
    pl_ext_frame_end(&out);
    if (host->line.len && host->line.ptr[host->line.len - 1] != '\n')
        pl_buf_addc(&host->line, '\n');
    (void)pl_fd_write(host->in, pl_buf_str(&host->line), NULL);
    *ret_frame = frame;
    return true;
}

static void check_register(struct pl_scripted *host, const struct pl_ext_registration *registered)
{
    if (!pl_ext_manifest_covers(&host->package.manifest, &registered->manifest))
        pl_scripted_complain(host, "it registers more than its extension.json declares");
    if (!pl_str_eq(registered->version, host->package.version))
        pl_scripted_complain(host, "it registers version \"%.*s\"; extension.json says \"%.*s\"",
                             PL_STR_ARG(registered->version), PL_STR_ARG(host->package.version));
    for (size_t i = 0; i < registered->n_tools; i++)
        if (registered->tools[i].refusal)
            pl_scripted_complain(host, "the tool \"%.*s\" is refused: %s",
                                 PL_STR_ARG(pl_str_slice(registered->tools[i].name, 0, 80)),
                                 registered->tools[i].refusal);
    for (size_t i = 0; i < registered->n_unknown_hooks; i++)
        pl_scripted_complain(host, "there is no event \"%.*s\" to hook",
                             PL_STR_ARG(pl_str_slice(registered->unknown_hooks[i], 0, 80)));
    say_ok(host, "it registers: %zu tools, %zu commands, %zu hooks", registered->n_tools,
           registered->n_commands, registered->n_subscriptions);
}

/* --- inputs for tools ------------------------------------------------------------------------- */

static void sample(struct pl_json_out *out, const struct pl_json_doc *doc,
                   const struct pl_json_node *schema, int depth);

static void sample_object(struct pl_json_out *out, const struct pl_json_doc *doc,
                          const struct pl_json_node *schema, int depth)
{
    const struct pl_json_node *properties =
        pl_json_member(doc, schema, "properties", PL_JSON_OBJECT);
    const struct pl_json_node *required = pl_json_member(doc, schema, "required", PL_JSON_ARRAY);
    pl_json_out_open(out, '{');
    for (const struct pl_json_node *n = required ? pl_json_first(required) : NULL;
         n && n < pl_json_end(required); n = pl_json_next(n)) {
        const struct pl_json_node *of = NULL;
        for (const struct pl_json_node *key = properties ? pl_json_first_member(properties) : NULL;
             key && key < pl_json_end(properties); key = pl_json_next_member(key))
            if (pl_json_text_same(doc, key, doc, n))
                of = key + 1;
        pl_json_out_key_str(out, pl_json_raw(doc, n));
        sample(out, doc, of, depth + 1);
    }
    pl_json_out_close(out, '}');
}

static bool is_type(const struct pl_json_doc *doc, const struct pl_json_node *schema,
                    const char *type)
{
    const struct pl_json_node *n = pl_json_get(doc, schema, PL_STR("type"));
    return n && pl_json_text_is(doc, n, pl_str_of(type));
}

/* Writes a small value that matches the schema, as far as its type, default, enum and minimum
 * tell. */
static void sample(struct pl_json_out *out, const struct pl_json_doc *doc,
                   const struct pl_json_node *schema, int depth)
{
    static const char *const given[] = {"default", "const", "minimum"};
    bool is_object = pl_json_is(schema, PL_JSON_OBJECT);
    const struct pl_json_node *words =
        is_object ? pl_json_member(doc, schema, "enum", PL_JSON_ARRAY) : NULL;
    for (size_t i = 0; is_object && i < sizeof given / sizeof *given; i++) {
        const struct pl_json_node *n = pl_json_get(doc, schema, pl_str_of(given[i]));
        if (n) {
            pl_json_out_raw(out, pl_json_span(doc, n));
            return;
        }
    }
    if (words && pl_json_count(words))
        pl_json_out_raw(out, pl_json_span(doc, pl_json_first(words)));
    else if (!is_object || depth > 20)
        pl_json_out_text(out, PL_STR("text"));
    else if (is_type(doc, schema, "object"))
        sample_object(out, doc, schema, depth);
    else if (is_type(doc, schema, "array"))
        pl_json_out_raw(out, PL_STR("[]"));
    else if (is_type(doc, schema, "boolean"))
        pl_json_out_bool(out, false);
    else if (is_type(doc, schema, "integer") || is_type(doc, schema, "number"))
        pl_json_out_int(out, 1);
    else
        pl_json_out_text(out, PL_STR("text"));
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Calls a tool and returns the frame of the result; the caller checks its output. */
static enum pl_status call_tool(struct pl_scripted *host, struct pl_str name, struct pl_str input,
                                int64_t limit_ms, struct pl_ext_frame *ret_frame)
{
    PL_CLEANUP_BUF struct pl_buf payload;
    char call_id[32];
    pl_buf_init(&payload, 0);
    snprintf(call_id, sizeof call_id, "call-%u", host->n_said);
    pl_buf_addf(&payload, "\"call_id\":\"%s\",\"name\":", call_id);
    pl_json_quote(&payload, name);
    pl_buf_adds(&payload, ",\"input\":");
    pl_buf_add(&payload, input);
    pl_buf_adds(&payload, ",\"context\":{\"session_id\":\"test\",\"has_person\":false}");
    pl_buf_addc(&payload, '\0');
    if (payload.status != PL_OK)
        return PL_NOMEM;
    struct pl_str id = pl_scripted_say(host, PL_EXT_TYPE_TOOL_CALL, payload.ptr);
    enum pl_status status =
        pl_scripted_await(host, PL_EXT_TYPE_TOOL_RESULT, id, limit_ms, ret_frame);
    struct pl_str echoed = PL_STR("");
    if (status == PL_OK)
        status = pl_ext_frame_text(&host->arena, ret_frame, "call_id", &echoed);
    if (status == PL_OK && !pl_str_eq(echoed, pl_str_of(call_id)))
        pl_scripted_complain(
            host, "the result of \"%.*s\" has the call_id \"%.*s\", not that of its call",
            PL_STR_ARG(name), PL_STR_ARG(pl_str_slice(echoed, 0, 60)));
    return status;
}

static bool is_error(const struct pl_ext_frame *frame)
{
    return pl_json_member(&frame->doc, frame->payload, "is_error", PL_JSON_TRUE);
}

/* The text of an output that the model would get. */
static struct pl_str text_of(struct pl_scripted *host, const struct pl_ext_frame *frame)
{
    const struct pl_json_doc *doc = &frame->doc;
    const struct pl_json_node *output =
        pl_json_member(doc, frame->payload, "output", PL_JSON_OBJECT);
    const struct pl_json_node *content = pl_json_member(doc, output, "content", PL_JSON_ARRAY);
    const struct pl_json_node *text = pl_json_member(doc, output, "text", PL_JSON_STRING);
    struct pl_str said = PL_STR("");
    if (content && pl_json_count(content) && !text)
        text = pl_json_member(doc, pl_json_first(content), "text", PL_JSON_STRING);
    if (!text)
        return pl_json_span(doc, output);
    return pl_json_text(&host->arena, doc, text, &said) == PL_OK ? said : PL_STR("");
}

static void check_blocks(struct pl_scripted *host, struct pl_str name,
                         const struct pl_ext_frame *frame)
{
    const struct pl_json_doc *doc = &frame->doc;
    const struct pl_json_node *output =
        pl_json_member(doc, frame->payload, "output", PL_JSON_OBJECT);
    const struct pl_json_node *content = pl_json_get(doc, output, PL_STR("content"));
    if (content && pl_json_kind(content) != PL_JSON_ARRAY)
        pl_scripted_complain(host, "output.content of \"%.*s\" is no list of blocks",
                             PL_STR_ARG(name));
    for (const struct pl_json_node *n = pl_json_is(content, PL_JSON_ARRAY) ? pl_json_first(content)
                                                                           : NULL;
         n && n < pl_json_end(content); n = pl_json_next(n))
        if (!pl_json_member(doc, n, "type", PL_JSON_STRING))
            pl_scripted_complain(host, "a block in output.content of \"%.*s\" has no type",
                                 PL_STR_ARG(name));
}

static bool check_tool(struct pl_scripted *host, const struct pl_json_doc *doc,
                       const struct pl_ext_tool *tool)
{
    PL_CLEANUP_BUF struct pl_buf input;
    struct pl_ext_frame frame;
    pl_buf_init(&input, 0);
    struct pl_json_out out = pl_json_out(&input);
    if (tool->parameters)
        sample_object(&out, doc, tool->parameters, 0);
    else
        pl_json_out_raw(&out, PL_STR("{}"));
    if (!tool->description.len)
        pl_scripted_complain(
            host, "the tool \"%.*s\" has no description, so no model knows what it is for",
            PL_STR_ARG(tool->name));
    int64_t limit_ms = tool->timeout_ms && tool->timeout_ms < CALL_MS ? tool->timeout_ms : CALL_MS;
    enum pl_status status = call_tool(host, tool->name, pl_buf_str(&input), limit_ms, &frame);
    if (status == PL_OK) {
        check_blocks(host, tool->name, &frame);
        say_ok(host, "tool %.*s %.*s: %s%.*s", PL_STR_ARG(tool->name),
               PL_STR_ARG(pl_str_slice(pl_buf_str(&input), 0, 100)),
               is_error(&frame) ? "error: " : "",
               PL_STR_ARG(pl_str_slice(text_of(host, &frame), 0, 100)));
    } else {
        pl_scripted_complain(host, "tool \"%.*s\": %s", PL_STR_ARG(tool->name), why_not(status));
    }
    return status != PL_IO && status != PL_NOMEM;
}

static bool check_command(struct pl_scripted *host, const struct pl_ext_command *command)
{
    PL_CLEANUP_BUF struct pl_buf payload;
    struct pl_ext_frame frame;
    pl_buf_init(&payload, 0);
    pl_buf_adds(&payload, "\"name\":");
    pl_json_quote(&payload, command->name);
    pl_buf_adds(&payload, ",\"args\":[],\"input\":{\"text\":\"\",\"session_id\":\"test\"}");
    pl_buf_addc(&payload, '\0');
    struct pl_str id = pl_scripted_say(host, PL_EXT_TYPE_SLASH_COMMAND, payload.ptr);
    enum pl_status status = pl_scripted_await(host, PL_EXT_TYPE_SLASH_RESULT, id, CALL_MS, &frame);
    if (status == PL_OK)
        say_ok(host, "command /%.*s: %s%.*s", PL_STR_ARG(command->name),
               is_error(&frame) ? "error: " : "",
               PL_STR_ARG(pl_str_slice(text_of(host, &frame), 0, 100)));
    else
        pl_scripted_complain(host, "command \"/%.*s\": %s", PL_STR_ARG(command->name),
                             why_not(status));
    return status != PL_IO && status != PL_NOMEM;
}

/* Sends the same data to every hook: enough for hooks that look at tools, inputs and results. */
static bool check_hook(struct pl_scripted *host, const struct pl_ext_subscription *subscription)
{
    PL_CLEANUP_BUF struct pl_buf payload;
    struct pl_ext_frame frame;
    if (subscription->hook == PL_EXT_HOOK_COUNT)
        return true; /* a topic of the bus: no reply */
    const char *event = pl_ext_hook_text(subscription->hook);
    bool is_plain =
        subscription->glob.len && !memchr(subscription->glob.ptr, '*', subscription->glob.len);
    struct pl_str tool = is_plain ? subscription->glob : PL_STR("bash");
    pl_buf_init(&payload, 0);
    pl_buf_addf(&payload,
                "\"event\":\"%s\",\"data\":{\"session_id\":\"test\",\"tool_name\":", event);
    pl_json_quote(&payload, tool);
    pl_buf_addf(&payload,
                ",\"tool_call_id\":\"t\",\"input\":{\"command\":\"ls\"},\"text\":\"hello\","
                "\"source\":\"user\",\"content\":[],\"details\":{},\"is_error\":false,"
                "\"messages\":[],\"payload\":{},\"reason\":\"test\"}");
    pl_buf_addc(&payload, '\0');
    struct pl_str id = pl_scripted_say(host, PL_EXT_TYPE_EVENT_HOOK, payload.ptr);
    if (!(pl_ext_hook_flags(subscription->hook) & PL_EXT_HOOK_DECIDES))
        return true;
    enum pl_status status = pl_scripted_await(host, PL_EXT_TYPE_EVENT_HOOK, id, HOOK_MS, &frame);
    if (status == PL_OK)
        say_ok(host, "hook %s answers", event);
    else
        pl_scripted_complain(host, "hook %s: %s", event, why_not(status));
    return status != PL_IO && status != PL_NOMEM;
}

/* Cancels an unknown call, then calls a tool that does not exist: the answer shows that the
 * extension has survived both. */
static bool check_manners(struct pl_scripted *host)
{
    struct pl_ext_frame frame;
    pl_scripted_say(host, PL_EXT_TYPE_EVENT_HOOK,
                    "\"event\":\"cancel\",\"data\":{\"call_id\":\"none\"}");
    enum pl_status status = call_tool(host, PL_STR("no_such_tool"), PL_STR("{}"), CALL_MS, &frame);
    if (status == PL_OK && !is_error(&frame))
        pl_scripted_complain(host, "a tool that does not exist gives a result that is no error");
    else if (status != PL_OK)
        pl_scripted_complain(host,
                             "after the cancel of an unknown call, a call of a tool that does "
                             "not exist: %s",
                             why_not(status));
    return status != PL_IO && status != PL_NOMEM;
}

static void check_end(struct pl_scripted *host)
{
    pl_scripted_say(host, PL_EXT_TYPE_EVENT_HOOK,
                    "\"event\":\"shutdown\",\"data\":{\"reason\":\"test\",\"deadline_ms\":2000}");
    if (pl_scripted_close(host, END_MS))
        say_ok(host, "it ends when its input is closed");
    else
        pl_scripted_complain(host, "it does not end within %d s after its input was closed",
                             END_MS / 1000);
}

static void check_all(struct pl_scripted *host)
{
    struct pl_ext_registration registered;
    struct pl_ext_frame frame;
    bool is_alive = await_register(host, &frame, &registered);
    if (!is_alive)
        return;
    check_register(host, &registered);
    for (size_t i = 0; i < registered.n_tools && is_alive; i++)
        if (!registered.tools[i].refusal)
            is_alive = check_tool(host, &frame.doc, &registered.tools[i]);
    for (size_t i = 0; i < registered.n_commands && is_alive; i++)
        is_alive = check_command(host, &registered.commands[i]);
    for (size_t i = 0; i < registered.n_subscriptions && is_alive; i++)
        is_alive = check_hook(host, &registered.subscriptions[i]);
    if (is_alive)
        is_alive = check_manners(host);
    if (is_alive)
        check_end(host);
}

enum pl_exit pl_ext_run_test(struct pl_deed *deed)
{
    struct pl_ext_source source;
    struct pl_scripted host = {.complain = print_complaint};
    enum pl_exit code = pl_ext_source_read(deed, deed->words[0], &source);
    if (code == PL_EXIT_OK)
        code = pl_scripted_start(&host, deed, &source);
    if (code == PL_EXIT_OK) {
        check_all(&host);
        code = host.n_complaints ? PL_EXIT_NO : PL_EXIT_OK;
    }
    pl_scripted_stop(&host);
    pl_ext_source_drop(&source);
    return code;
}

/* --- run -------------------------------------------------------------------------------------- */

static enum pl_exit print_result(struct pl_deed *deed, struct pl_scripted *host,
                                 const struct pl_ext_frame *frame)
{
    if (pl_args_has(deed->args, PL_OPT_JSON))
        pl_console_put(deed->console, pl_json_span(&frame->doc, frame->payload));
    else
        pl_console_put_safe(deed->console, text_of(host, frame));
    pl_console_puts(deed->console, "\n");
    return is_error(frame) ? PL_EXIT_NO : PL_EXIT_OK;
}

static enum pl_exit run_one(struct pl_deed *deed, struct pl_scripted *host)
{
    struct pl_ext_registration registered;
    struct pl_ext_frame frame;
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct pl_str input = pl_str_of(deed->n_words > 2 ? deed->words[2] : "{}");
    enum pl_status status = pl_json_parse(&host->arena, input, NULL, &doc, &err);
    if (status != PL_OK || pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return pl_deed_usage(deed, "INPUT is a JSON object, as in '{\"text\":\"a b\"}'");
    if (!await_register(host, &frame, &registered))
        return PL_EXIT_NO;
    status = call_tool(host, pl_str_of(deed->words[1]), input, 600000, &frame);
    if (status == PL_OK)
        return print_result(deed, host, &frame);
    pl_scripted_complain(host, "tool \"%s\": %s", deed->words[1], why_not(status));
    return PL_EXIT_NO;
}

enum pl_exit pl_ext_run_run(struct pl_deed *deed)
{
    struct pl_ext_source source;
    struct pl_scripted host = {.complain = print_complaint};
    enum pl_exit code = pl_ext_source_read(deed, deed->words[0], &source);
    if (code == PL_EXIT_OK)
        code = pl_scripted_start(&host, deed, &source);
    if (code == PL_EXIT_OK)
        code = run_one(deed, &host);
    pl_scripted_stop(&host);
    pl_ext_source_drop(&source);
    return code;
}

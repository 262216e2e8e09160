/* Finds the server and its key, sends requests, and converts answers and problems to results and
 * messages. */
#include "app/frame/api.h"

#include "app/server/serve_config.h"
#include "base/ascii.h"
#include "base/text/utf8.h"
#include "io/file/file.h"
#include "io/system/machine.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

enum { MAX_KEY_FILE = 4096, MAX_ANSWER = 1 << 30, CALL_MS = 120000, MAX_NODES = 16000000 };

/* --- the server and the key ------------------------------------------------------------------ */

/* The whole command line goes into JSON or a path, so it must be UTF-8. */
static enum pl_exit check_utf8(const struct pl_api *api, const struct pl_args *args)
{
    for (size_t i = 0; i < args->operands.len; i++)
        if (!pl_utf8_is_valid(pl_str_of(args->operands.ptr[i])))
            return pl_usage_fail(api->console, api->command, "\"%s\" is not UTF-8",
                                 args->operands.ptr[i]);
    for (size_t i = 0; i < args->uses.len; i++) {
        const struct pl_option_use *use = &args->uses.ptr[i];
        if (use->values[0] && !pl_utf8_is_valid(pl_str_of(use->values[0])))
            return pl_usage_fail(api->console, api->command, "the value of --%s is not UTF-8",
                                 use->option->name);
    }
    return PL_EXIT_OK;
}

static const char *keep(struct pl_api *api, struct pl_str text)
{
    char *copy = pl_arena_alloc(&api->texts.arena, text.len + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

static enum pl_exit fail_memory(struct pl_api *api)
{
    struct pl_error err = {.status = PL_NOMEM};
    return pl_console_fail(api->console, NULL, &err);
}

static enum pl_exit read_key_file(struct pl_api *api, const char *path)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    if (pl_file_read(path, MAX_KEY_FILE, NULL, &file, &err) != PL_OK)
        return pl_console_fail(api->console, path, &err);
    struct pl_path_info info = pl_path_look(path);
    if (info.is_there && !info.is_private && !info.is_socket && strcmp(path, "-") != 0)
        pl_console_say(api->console,
                       "other users can read the key in %s; protect it with \"chmod "
                       "600\"",
                       path);
    struct pl_str text = file.bytes;
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = pl_str_slice(text, 1, text.len);
    if (!text.len)
        return pl_usage_fail(api->console, api->command, "%s contains no key", path);
    api->key = keep(api, text);
    return api->key ? PL_EXIT_OK : fail_memory(api);
}

/* Whether requests to the URL are encrypted or stay on this machine. */
static bool is_private(const char *url)
{
    static const char *const prefixes[] = {"https://", "http://localhost", "http://127.",
                                           "http://[::1]"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncasecmp(url, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static enum pl_exit use_url(struct pl_api *api, const char *url)
{
    struct pl_str text = pl_str_of(url);
    if (pl_str_starts(text, PL_STR("unix:"))) {
        api->unix_path = url + sizeof "unix:" - 1;
        api->url = "http://localhost";
    } else if (strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0) {
        while (text.len && text.ptr[text.len - 1] == '/')
            text.len--;
        api->url = keep(api, text);
    } else {
        return pl_usage_fail(api->console, api->command,
                             "the server must be http://HOST:PORT, https://HOST or unix:PATH, not "
                             "\"%s\"",
                             url);
    }
    if (!api->url)
        return fail_memory(api);
    if (api->key && !api->unix_path && !is_private(api->url))
        pl_console_say(api->console, "the key is sent to %s unencrypted; use https if possible",
                       api->url);
    return PL_EXIT_OK;
}

static enum pl_exit use_control_socket(struct pl_api *api, const struct pl_args *args)
{
    struct pl_error err = {0};
    enum pl_status status = pl_serve_config_find(&api->texts.arena, args, &api->config, &err);
    if (status == PL_USAGE)
        return pl_usage_fail(api->console, api->command, "%s", err.message);
    if (status != PL_OK)
        return pl_api_fail(api, status, &err);
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/parley.sock", api->config.data_dir);
    api->unix_path = path.status == PL_OK ? keep(api, pl_buf_str(&path)) : NULL;
    api->url = "http://localhost";
    api->is_local = true;
    return api->unix_path ? PL_EXIT_OK : fail_memory(api);
}

static enum pl_exit begin(struct pl_api *api, struct pl_console *console,
                          const struct pl_args *args, const char *command)
{
    *api = (struct pl_api){
        .console = console, .command = command, .is_json = pl_args_has(args, PL_OPT_JSON)};
    pl_arena_init(&api->texts.arena, 0);
    return check_utf8(api, args);
}

enum pl_exit pl_api_open(struct pl_api *api, struct pl_console *console, const struct pl_args *args,
                         const char *command)
{
    enum pl_exit code = begin(api, console, args, command);
    const char *url = pl_args_value(args, PL_OPT_SERVER);
    const char *key_file = pl_args_value(args, PL_OPT_KEY_FILE);
    /* --data overrides PARLEY_SERVER. */
    if (!url && !pl_args_has(args, PL_OPT_DATA))
        url = getenv("PARLEY_SERVER");
    if (code != PL_EXIT_OK)
        return code;
    if (!url || !*url)
        return use_control_socket(api, args);
    const char *key = getenv("PARLEY_KEY");
    api->key = key && *key ? key : NULL;
    if (key_file)
        code = read_key_file(api, key_file);
    return code == PL_EXIT_OK ? use_url(api, url) : code;
}

enum pl_exit pl_api_open_local(struct pl_api *api, struct pl_console *console,
                               const struct pl_args *args, const char *command)
{
    enum pl_exit code = begin(api, console, args, command);
    return code == PL_EXIT_OK ? use_control_socket(api, args) : code;
}

void pl_api_close(struct pl_api *api)
{
    pl_arena_deinit(&api->texts.arena);
}

/* --- paths ----------------------------------------------------------------------------------- */

void pl_api_escape(struct pl_buf *to, struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_plain = pl_ascii_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
        if (is_plain)
            pl_buf_addc(to, (char)c);
        else
            pl_buf_addf(to, "%%%02X", c);
    }
}

const char *pl_api_path(struct pl_api *api, const char *shape, ...)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    va_list args;
    va_start(args, shape);
    for (const char *at = shape; *at; at++) {
        if (*at == '%')
            pl_api_escape(&path, pl_str_of(va_arg(args, const char *)));
        else
            pl_buf_addc(&path, *at);
    }
    va_end(args);
    return path.status == PL_OK ? keep(api, pl_buf_str(&path)) : NULL;
}

/* --- asking ---------------------------------------------------------------------------------- */

/* A chat request carries the user's language, in which the server names tools. Other answers are
 * requested in English: refusal.c rewrites their errors by options, and the console translates
 * them. */
static bool is_chat(const char *path)
{
    static const char end[] = "/chat";
    size_t n = strlen(path);
    return n >= sizeof end - 1 && strcmp(path + n - (sizeof end - 1), end) == 0;
}

enum pl_status pl_api_try(struct pl_api *api, struct pl_http_call *call, const char *path,
                          int *ret_status, struct pl_buf *reply, struct pl_error *err)
{
    static const char *const in_chinese[] = {"Accept-Language: zh-CN", NULL};
    PL_CLEANUP_BUF struct pl_buf url;
    pl_buf_init(&url, 0);
    pl_buf_adds(&url, api->url);
    pl_buf_adds(&url, path ? path : "");
    pl_buf_addc(&url, '\0');
    if (!path || url.status != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    call->url = url.ptr;
    call->unix_path = api->unix_path;
    call->bearer = api->key;
    if (api->console->is_chinese && !call->headers && is_chat(path))
        call->headers = in_chinese;
    if (!call->timeout_ms)
        call->timeout_ms = CALL_MS;
    if (!call->max_bytes)
        call->max_bytes = MAX_ANSWER;
    return pl_http_call(call, ret_status, reply, err);
}

enum pl_status pl_api_is_running(struct pl_api *api, bool *ret_is_running, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {.method = "GET"};
    int http_status = 0;
    if (!pl_path_look(api->unix_path).is_socket) {
        *ret_is_running = false;
        return PL_OK;
    }
    enum pl_status status = pl_api_try(api, &call, "/healthz", &http_status, &reply, err);
    if (status != PL_OK && status != PL_NOT_FOUND)
        return status;
    *ret_is_running = status == PL_OK;
    return PL_OK;
}

enum pl_exit pl_api_fail(struct pl_api *api, enum pl_status status, struct pl_error *err)
{
    bool is_nobody = status == PL_NOT_FOUND;
    if (is_nobody && api->is_local)
        (void)pl_fail(err, PL_IO, "no server is running with the data in %s", api->config.data_dir);
    err->status = is_nobody ? PL_IO : status;
    enum pl_exit code = pl_console_fail(api->console, NULL, err);
    if (is_nobody && api->is_local)
        pl_console_hint(api->console, "Start one with \"parley serve\". If it uses another data "
                                      "directory or runs elsewhere, give --data DIR or --server "
                                      "URL.");
    else if (is_nobody)
        pl_console_hint(api->console, "Check the address, and that \"parley serve\" runs there.");
    return code;
}

/* Prints what to do, if the answer does not say so. */
static void hint(struct pl_api *api, int http_status)
{
    if (http_status == 401 && !api->key)
        pl_console_hint(api->console,
                        "Give the key in PARLEY_KEY or with --key-file FILE. On the server's "
                        "machine, \"parley key create --name NAME\" creates a key.");
    else if (http_status == 401)
        pl_console_hint(api->console, "The key is wrong or revoked. On the server's machine, "
                                      "\"parley key create --name NAME\" creates another.");
}

enum pl_exit pl_api_refused(struct pl_api *api, int http_status, struct pl_str reply)
{
    struct pl_error err = {0};
    pl_api_problem_read(&api->texts, http_status, reply, &err);
    pl_api_speak_of_options(api, &err);
    if (api->is_json && reply.len) {
        pl_console_put(api->console, reply);
        pl_console_puts(api->console, "\n");
    }
    enum pl_exit code = pl_console_fail(api->console, NULL, &err);
    hint(api, http_status);
    return code;
}

enum pl_exit pl_api_call(struct pl_api *api, struct pl_http_call *call, const char *path,
                         struct pl_buf *reply)
{
    struct pl_error err = {0};
    int http_status = 0;
    enum pl_status status = pl_api_try(api, call, path, &http_status, reply, &err);
    if (status != PL_OK)
        return pl_api_fail(api, status, &err);
    if (http_status >= 200 && http_status < 300)
        return PL_EXIT_OK;
    return pl_api_refused(api, http_status, pl_buf_str(reply));
}

enum pl_exit pl_api_ask(struct pl_api *api, const char *method, const char *path,
                        struct pl_str body, struct pl_json_doc *ret_doc)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {.method = method, .body = body, .has_body = body.ptr != NULL};
    enum pl_exit code = pl_api_call(api, &call, path, &reply);
    struct pl_json_doc doc = {0};
    if (code != PL_EXIT_OK)
        return code;
    if (reply.len) {
        struct pl_error err = {0};
        struct pl_json_opts opts = {.max_nodes = MAX_NODES, .max_depth = 256};
        struct pl_str text = pl_arena_dup(&api->texts.arena, pl_buf_str(&reply));
        enum pl_status status =
            text.ptr ? pl_json_parse(&api->texts.arena, text, &opts, &doc, &err) : PL_NOMEM;
        if (status == PL_SYNTAX)
            status = pl_fail(&err, PL_IO, "the answer is not JSON; is %s a Parley server?",
                             api->unix_path ? api->unix_path : api->url);
        if (status != PL_OK)
            return pl_api_fail(api, status, &err);
    }
    *ret_doc = doc;
    return PL_EXIT_OK;
}

/* --- reading an answer ----------------------------------------------------------------------- */

void pl_api_problem_read(struct pl_texts *texts, int http_status, struct pl_str body,
                         struct pl_error *ret_err)
{
    enum { TIMEOUT = 408, RATE_LIMITED = 429 };
    bool is_refused = http_status < 500 && http_status != TIMEOUT && http_status != RATE_LIMITED;
    enum pl_status status = is_refused ? PL_INVALID : PL_IO;
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct pl_str detail = {0}, pointer = {0};
    if (pl_json_parse(&texts->arena, body, NULL, &doc, NULL) == PL_OK) {
        detail = pl_api_text(texts, &doc, doc.root, "detail");
        const struct pl_json_node *errors = pl_json_member(&doc, doc.root, "errors", PL_JSON_ARRAY);
        if (errors && pl_json_count(errors))
            pointer = pl_api_text(texts, &doc, pl_json_first(errors), "pointer");
    }
    if (detail.len)
        (void)pl_fail(&err, status, "%.*s", PL_STR_ARG(detail));
    else
        (void)pl_fail(&err, status,
                      "the server answered with status %d and no reason; is it a Parley server?",
                      http_status);
    if (pointer.len < sizeof err.pointer)
        memcpy(err.pointer, pointer.ptr ? pointer.ptr : "", pointer.len);
    *ret_err = err;
}

struct pl_str pl_api_text(struct pl_texts *texts, const struct pl_json_doc *doc,
                          const struct pl_json_node *object, const char *name)
{
    const struct pl_json_node *value = pl_json_member(doc, object, name, PL_JSON_STRING);
    struct pl_str text = {0};
    if (value && pl_json_text(&texts->arena, doc, value, &text) != PL_OK) {
        texts->is_cut = true;
        return (struct pl_str){0};
    }
    return text;
}

int64_t pl_api_int(const struct pl_json_doc *doc, const struct pl_json_node *object,
                   const char *name, int64_t otherwise)
{
    const struct pl_json_node *value = pl_json_member(doc, object, name, PL_JSON_NUMBER);
    int64_t number = 0;
    return value && pl_json_number_int64(pl_json_span(doc, value), &number) ? number : otherwise;
}

void pl_api_out_option(struct pl_json_out *out, const struct pl_args *args, enum pl_option_id id,
                       const char *name)
{
    const char *value = pl_args_value(args, id);
    if (!value)
        return;
    pl_json_out_key(out, name);
    pl_json_out_text(out, pl_str_of(value));
}

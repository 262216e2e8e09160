/* The method http: a request through the outbound guard (io/fetch). Each URL, including
 * redirects, must be within the scopes. A placeholder of a secret is replaced only in a request
 * to a host that the secret is bound to. */
#include "ext/run/method/method.h"

#include "base/ascii.h"
#include "io/fetch/fetch.h"
#include "json/text.h"
#include "shard/setup.h"

#include <stdio.h>

enum { MAX_ANSWER = 4 << 20, MAX_STREAM = 64 << 20, MAX_HEADERS = 50 };

struct http {
    struct pl_ext_hostcall *call; /* NULL: the call is over */
    struct pl_fetch *fetch;       /* owned */
    struct pl_fetch_rules rules;
    struct pl_fetch_how how;
    const char *headers[MAX_HEADERS + 1];
    struct pl_buf bytes;
    int64_t n_bytes;
    bool is_denied, has_head, is_ended;
    int status;
    struct pl_str head, url;  /* arena */
    struct pl_loop_hook pump; /* sends chunks at the end of a turn of the loop */
};

static void clean(struct pl_ext_hostcall *call)
{
    struct http *http = call->own;
    pl_fetch_cancel(PL_TAKE(http->fetch));
    pl_loop_hook_remove(call->exts->loop, &http->pump);
    pl_buf_deinit(&http->bytes);
}

void pl_ext_http_cancel(struct pl_ext_hostcall *call)
{
    struct http *http = call->own;
    if (!http)
        return;
    pl_fetch_cancel(PL_TAKE(http->fetch));
    pl_loop_hook_remove(call->exts->loop, &http->pump);
}

/* --- the answer ------------------------------------------------------------------------------- */

/* {"name": "value"}, names in lower case; repeated headers are joined by a comma. */
static void put_headers(struct pl_json_out *out, struct pl_str head)
{
    pl_json_out_key(out, "headers");
    pl_json_out_open(out, '{');
    for (size_t from = 0; from < head.len;) {
        const char *end = memchr(head.ptr + from, '\n', head.len - from);
        size_t n = end ? (size_t)(end - head.ptr) - from : head.len - from;
        struct pl_str line = {head.ptr + from, n};
        from += n + 1;
        while (line.len && pl_ascii_is_space(line.ptr[line.len - 1]))
            line.len--;
        const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
        char name[128];
        size_t n_name = colon ? (size_t)(colon - line.ptr) : 0;
        if (!n_name || n_name >= sizeof name)
            continue;
        for (size_t i = 0; i < n_name; i++)
            name[i] = pl_ascii_lower(line.ptr[i]);
        struct pl_str value = pl_str_slice(line, n_name + 1, line.len);
        while (value.len && pl_ascii_is_space(value.ptr[0]))
            value = pl_str_slice(value, 1, value.len);
        pl_json_out_key_str(out, (struct pl_str){name, n_name});
        pl_json_out_text(out, value);
    }
    pl_json_out_close(out, '}');
}

static void put_head(struct http *http, struct pl_json_out *out)
{
    pl_json_out_key(out, "status");
    pl_json_out_int(out, http->status);
    if (http->url.len) {
        pl_json_out_key(out, "url");
        pl_json_out_text(out, http->url);
    }
    put_headers(out, http->head);
}

static void put_size(struct http *http, struct pl_json_out *out)
{
    struct pl_loop *loop = http->call->exts->loop;
    pl_json_out_key(out, "size_bytes");
    pl_json_out_int(out, http->n_bytes);
    pl_json_out_key(out, "duration_ms");
    pl_json_out_int(out, pl_loop_now_ms(loop) - http->call->started_ms);
}

/* Sends {status, headers}, then {body}…, then {size_bytes}. */
static void send_pieces(struct pl_ext_hostcall *call)
{
    struct http *http = call->own;
    while (call->instance && pl_hostcall_may_send(call)) {
        struct pl_json_out out = pl_json_out(&call->output);
        struct pl_str rest = pl_buf_str(&http->bytes);
        bool is_text;
        size_t n =
            http->has_head && rest.len ? pl_ext_chunk_cut(rest, http->is_ended, &is_text) : 0;
        bool is_head = !http->has_head && http->status;
        if (!is_head && !n && !http->is_ended)
            break;
        bool is_last = !is_head && !n;
        pl_json_out_open(&out, '{');
        if (is_head)
            put_head(http, &out);
        else if (n)
            pl_ext_put_content(&out, "body", "body_bytes", pl_str_slice(rest, 0, n));
        else
            put_size(http, &out);
        pl_json_out_close(&out, '}');
        http->has_head = true;
        if (n) {
            memmove(http->bytes.ptr, http->bytes.ptr + n, rest.len - n);
            http->bytes.len -= n;
        }
        pl_hostcall_send_chunk(call, is_last);
        if (is_last)
            return;
    }
    if (call->instance && http->fetch)
        pl_fetch_pause(http->fetch, http->bytes.len > PL_EXT_FREE_BYTES);
}

static void meet_head(struct http *http)
{
    if (http->status)
        return;
    http->status = pl_fetch_status(http->fetch);
    http->head = pl_arena_dup(&http->call->arena, pl_fetch_headers(http->fetch));
}

static void on_bytes(void *ctx, struct pl_str bytes)
{
    struct http *http = ctx;
    meet_head(http);
    pl_buf_add(&http->bytes, bytes);
    http->n_bytes += (int64_t)bytes.len;
    /* Chunks are sent at the end of this turn of the loop: the fetch must not end within its own
     * callback. */
    if (!http->call->is_streamed)
        return;
    pl_fetch_pause(http->fetch, http->bytes.len > PL_EXT_FREE_BYTES);
    pl_loop_hook_add(http->call->exts->loop, &http->pump);
}

static void on_pump(struct pl_loop_hook *hook)
{
    struct http *http = PL_CONTAINER_OF(hook, struct http, pump);
    if (http->call->state == PL_HOSTCALL_RUNNING)
        send_pieces(http->call);
}

static void fail(struct pl_ext_hostcall *call, struct http *http, enum pl_status status,
                 bool is_late, const struct pl_error *err)
{
    if (http->is_denied)
        pl_hostcall_deny(call, PL_EXT_REASON_SCOPE);
    else if (status == PL_INVALID)
        pl_hostcall_deny(call, PL_EXT_REASON_PRIVATE_ADDRESS);
    else
        pl_hostcall_fail(call,
                         is_late              ? "timeout"
                         : status == PL_LIMIT ? "invalid_request"
                                              : "io",
                         status == PL_LIMIT && !is_late ? "too_large" : NULL, "%s", err->message);
}

static bool takes_quota(struct pl_ext_hostcall *call, int64_t n)
{
    struct pl_ext_instance *instance = call->instance;
    if (pl_ext_bucket_take(&instance->buckets[PL_EXT_QUOTA_HTTP_BYTES], PL_EXT_QUOTA_HTTP_BYTES, n,
                           pl_loop_now_ms(call->exts->loop)))
        return true;
    pl_hostcall_fail(call, "io", "quota", "at most 64 MiB a minute");
    (void)pl_ext_instance_strike(instance, "http bytes");
    return false;
}

static void on_end(void *ctx, enum pl_status status, const struct pl_fetched *fetched,
                   const struct pl_error *err)
{
    struct http *http = ctx;
    struct pl_ext_hostcall *call = http->call;
    http->fetch = NULL;
    if (status != PL_OK) {
        fail(call, http, status, fetched->is_late, err);
        return;
    }
    if (!http->status)
        http->head = pl_arena_dup(&call->arena, fetched->headers);
    http->status = fetched->status;
    http->url = pl_arena_dup(&call->arena, fetched->url);
    http->is_ended = true;
    if (!takes_quota(call, http->n_bytes))
        return;
    if (call->is_streamed) {
        send_pieces(call);
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    put_head(http, &out);
    pl_ext_put_content(&out, "body", "body_bytes", pl_buf_str(&http->bytes));
    put_size(http, &out);
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

/* --- the request ------------------------------------------------------------------------------ */

static bool may_ask(void *ctx, struct pl_str url)
{
    struct http *http = ctx;
    struct pl_ext_wish wish = {
        .capability = PL_EXT_CAP_HTTP, .method = http->call->method_name, .url = &url};
    bool may =
        pl_hostcall_judge_scope(http->call, &http->call->arena, &wish) == PL_EXT_REASON_COUNT;
    http->is_denied |= !may;
    return may;
}

/* The value with its secrets, if they may be sent to this host. */
static bool put_secrets(struct pl_ext_hostcall *call, struct pl_str value, struct pl_buf *to)
{
    struct pl_str mark = PL_STR(PL_EXT_SECRET_MARK), end = PL_STR("}}");
    for (;;) {
        size_t at = pl_str_find(value, mark);
        size_t stop = at == SIZE_MAX
                          ? SIZE_MAX
                          : pl_str_find(pl_str_slice(value, at + mark.len, value.len), end);
        if (stop == SIZE_MAX)
            break;
        struct pl_str name = pl_str_slice(value, at + mark.len, at + mark.len + stop);
        struct pl_ext_wish wish = {
            .capability = PL_EXT_CAP_ENV, .method = PL_STR("env"), .env = &name};
        if (!pl_ext_env_binds(call->exts->shard, name, call->target) ||
            pl_hostcall_judge_scope(call, &call->arena, &wish) != PL_EXT_REASON_COUNT)
            return false;
        pl_buf_add(to, pl_str_slice(value, 0, at));
        pl_buf_add(to, pl_ext_env_find(call->exts->shard, name));
        value = pl_str_slice(value, at + mark.len + stop + end.len, value.len);
    }
    pl_buf_add(to, value);
    return true;
}

static bool is_plain(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return true;
}

static bool read_headers(struct pl_ext_hostcall *call, struct http *http)
{
    const struct pl_json_node *list = pl_json_get(&call->doc, call->params, PL_STR("headers"));
    size_t n = 0;
    if (list && !pl_json_is(list, PL_JSON_OBJECT)) {
        pl_hostcall_fail(call, "invalid_request", NULL, "headers is an object of texts");
        return false;
    }
    for (const struct pl_json_node *key = list ? pl_json_first_member(list) : NULL;
         key && key < pl_json_end(list); key = pl_json_next_member(key)) {
        PL_CLEANUP_BUF struct pl_buf line;
        struct pl_str name, value;
        pl_buf_init(&line, 0);
        bool is_good = n < MAX_HEADERS && pl_json_is(key + 1, PL_JSON_STRING) &&
                       pl_json_text(&call->arena, &call->doc, key, &name) == PL_OK &&
                       pl_json_text(&call->arena, &call->doc, key + 1, &value) == PL_OK &&
                       name.len && is_plain(name) && is_plain(value) &&
                       !memchr(name.ptr, ':', name.len) && !memchr(name.ptr, ' ', name.len);
        if (!is_good) {
            pl_hostcall_fail(call, "invalid_request", NULL,
                             "headers are at most 50 names with texts, without control characters");
            return false;
        }
        pl_buf_addf(&line, "%.*s: ", PL_STR_ARG(name));
        if (!put_secrets(call, value, &line)) {
            pl_hostcall_deny(call, PL_EXT_REASON_SCOPE);
            return false;
        }
        pl_buf_addc(&line, '\0');
        struct pl_str kept = pl_arena_dup(&call->arena, pl_buf_str(&line));
        if (!kept.ptr || line.status != PL_OK) {
            pl_hostcall_fail(call, "internal", NULL, "out of memory");
            return false;
        }
        http->headers[n++] = kept.ptr;
    }
    http->how.headers = http->headers;
    return true;
}

static bool read_method(struct pl_ext_hostcall *call, struct http *http)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", NULL};
    struct pl_str method;
    if (!pl_hostcall_text(call, call->params, "method", &method))
        return false;
    for (size_t i = 0; methods[i]; i++)
        if (!method.ptr || pl_str_eq(method, pl_str_of(methods[i]))) {
            http->how.method = methods[i];
            return true;
        }
    pl_hostcall_fail(call, "invalid_request", NULL,
                     "method is GET, HEAD, POST, PUT, PATCH or DELETE");
    return false;
}

void pl_ext_http_start(struct pl_ext_hostcall *call)
{
    static const struct pl_fetch_ops ops = {on_bytes, on_end};
    static const char *const members[] = {"url",        "method", "headers",    "body",
                                          "body_bytes", "stream", "timeout_ms", NULL};
    struct pl_str url;
    struct http *http = pl_arena_zalloc(&call->arena, 1, sizeof *http);
    if (!http) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    http->call = call;
    http->pump.fn = on_pump;
    pl_buf_init(&http->bytes, 0);
    if (!pl_hostcall_members(call, call->params, members) ||
        !pl_hostcall_text(call, call->params, "url", &url) || !read_method(call, http) ||
        !pl_ext_get_content(call, call->params, "body", "body_bytes", &http->how.body) ||
        !read_headers(call, http))
        return;
    const struct pl_server_config *config = &call->exts->shard->setup->config;
    size_t n_allowed = 0;
    while (config->fetch_hosts && config->fetch_hosts[n_allowed])
        n_allowed++;
    http->how.may = may_ask;
    http->how.takes_any = true;
    http->rules = (struct pl_fetch_rules){
        .allowed = config->fetch_hosts,
        .n_allowed = n_allowed,
        .max_bytes = call->is_streamed ? MAX_STREAM : MAX_ANSWER,
        .total_ms = call->timeout_ms,
        .how = &http->how,
    };
    struct pl_fetch_from from = {call->exts->loop, call->exts->shard->server->workers,
                                 pl_owner_of(call->user_id)};
    call->own = http;
    call->clean = clean;
    call->go_on = send_pieces;
    http->fetch = pl_fetch_start(&from, url, &http->rules, &ops, http);
    if (!http->fetch)
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
}

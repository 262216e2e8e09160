#include "io/upstream_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "wire/http1.h"

#include <stdlib.h>

enum { CONNECT_MS = 10000, FIRST_BYTE_MS = 120000, IDLE_MS = 90000, MAX_LINE = 4096 };

/* --- those of a loop ------------------------------------------------------------------------- */

/* The names libcurl reads; HTTP_PROXY is not one of them, because a server may have set it from a
 * request's header. */
static bool has_proxy(void)
{
    static const char *const names[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return true;
    }
    return false;
}

enum pl_status pl_upstreams_create(struct pl_loop *loop, struct pl_upstreams **ret_upstreams,
                                   struct pl_error *err)
{
    struct pl_upstreams *upstreams = pl_mem_alloc(1, sizeof *upstreams);
    if (!upstreams)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *upstreams = (struct pl_upstreams){.loop = loop, .has_proxy = has_proxy()};
    *ret_upstreams = upstreams;
    return PL_OK;
}

void pl_upstreams_destroy(struct pl_upstreams *upstreams)
{
    if (!upstreams)
        return;
    pl_plain_destroy(upstreams);
    pl_curl_destroy(upstreams);
    pl_mem_free(upstreams);
}

struct pl_loop *pl_upstreams_loop(const struct pl_upstreams *upstreams)
{
    return upstreams->loop;
}

/* --- times ----------------------------------------------------------------------------------- */

static const char *why_late(const struct pl_upstream_call *call)
{
    if (!call->is_connected)
        return PL_UPSTREAM_SAY_LATE;
    return call->is_headed ? "The model's server fell silent in mid-answer."
                           : "The model's server did not begin to answer in time.";
}

static void on_silence(struct pl_timer *timer)
{
    struct pl_upstream_call *call = PL_CONTAINER_OF(timer, struct pl_upstream_call, timer);
    struct pl_loop *loop = call->upstreams->loop;
    int64_t left_ms = call->idle_ms - (pl_loop_now_ms(loop) - call->last_ms);
    if (call->is_paused)
        left_ms = call->idle_ms;
    if (call->is_headed && left_ms > 0)
        pl_timer_start(loop, timer, left_ms, on_silence);
    else
        pl_upstream_tell_failure(call, PL_UPSTREAM_TIMEOUT, why_late(call));
}

void pl_upstream_is_connecting(struct pl_upstream_call *call)
{
    call->is_connected = false;
    pl_timer_start(call->upstreams->loop, &call->timer, call->connect_ms, on_silence);
}

void pl_upstream_is_connected(struct pl_upstream_call *call)
{
    call->is_connected = true;
    pl_timer_start(call->upstreams->loop, &call->timer, call->first_byte_ms, on_silence);
}

/* --- the answer ------------------------------------------------------------------------------ */

void pl_upstream_tell_head(struct pl_upstream_call *call, int status, struct pl_str fields)
{
    call->fields = fields;
    call->is_headed = true;
    call->last_ms = pl_loop_now_ms(call->upstreams->loop);
    call->ops->on_head(call->ctx, status);
}

void pl_upstream_tell_body(struct pl_upstream_call *call, struct pl_str piece)
{
    call->last_ms = pl_loop_now_ms(call->upstreams->loop);
    call->ops->on_body(call->ctx, piece);
}

void pl_upstream_tell_end(struct pl_upstream_call *call)
{
    const struct pl_upstream_ops *ops = call->ops;
    void *ctx = call->ctx;
    call->road->stop(call);
    ops->on_end(ctx);
}

void pl_upstream_tell_failure(struct pl_upstream_call *call, enum pl_upstream_failure why,
                              const char *sentence)
{
    const struct pl_upstream_ops *ops = call->ops;
    void *ctx = call->ctx;
    call->road->stop(call);
    ops->on_failed(ctx, why, sentence);
}

struct pl_str pl_upstream_headers(const struct pl_upstream_call *call)
{
    return call->fields;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct pl_str pl_upstream_header(const struct pl_upstream_call *call, const char *name)
{
    struct pl_str rest = call->fields;
    size_t n_name = strlen(name);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct pl_str line = {rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        rest = pl_str_slice(rest, line.len + (end != NULL), rest.len);
        if (line.len <= n_name || line.ptr[n_name] != ':' ||
            !pl_http_name_is(pl_str_slice(line, 0, n_name), name))
            continue;
        struct pl_str value = pl_str_slice(line, n_name + 1, line.len);
        while (value.len && is_blank(value.ptr[0]))
            value = pl_str_slice(value, 1, value.len);
        while (value.len && is_blank(value.ptr[value.len - 1]))
            value.len--;
        return value;
    }
    return (struct pl_str){NULL, 0};
}

/* --- life of a call -------------------------------------------------------------------------- */

void pl_upstream_init(struct pl_upstream_call *call, struct pl_upstreams *upstreams,
                      const struct pl_road *road, const struct pl_upstream_request *request,
                      const struct pl_upstream_ops *ops, void *ctx)
{
    *call = (struct pl_upstream_call){
        .upstreams = upstreams,
        .road = road,
        .ops = ops,
        .ctx = ctx,
        .connect_ms = request->connect_ms ? request->connect_ms : CONNECT_MS,
        .first_byte_ms = request->first_byte_ms ? request->first_byte_ms : FIRST_BYTE_MS,
        .idle_ms = request->idle_ms ? request->idle_ms : IDLE_MS,
    };
    pl_buf_init(&call->body, 0);
    if (!request->body)
        return;
    call->body = *request->body;
    pl_buf_init(request->body, 0);
    call->body_back = request->body_back;
}

void pl_upstream_deinit(struct pl_upstream_call *call)
{
    pl_timer_stop(call->upstreams->loop, &call->timer);
    if (call->body_back && !call->is_cancelled) {
        pl_buf_deinit(call->body_back);
        *call->body_back = call->body;
    } else {
        pl_buf_deinit(&call->body);
    }
}

static bool has_scheme(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

/* A line break in a value would begin another header. */
static bool is_sound(const char *line)
{
    size_t n = 0;
    while ((unsigned char)line[n] >= ' ' && line[n] != 0x7F)
        n++;
    return !line[n] && n <= MAX_LINE;
}

enum pl_status pl_upstream_start(struct pl_upstreams *upstreams,
                                 const struct pl_upstream_request *request,
                                 const struct pl_upstream_ops *ops, void *ctx,
                                 struct pl_upstream_call **ret_call, struct pl_error *err)
{
    if (!has_scheme(request->url))
        return pl_fail(err, PL_INVALID,
                       "the address of a model's server begins with http:// or https://");
    for (size_t i = 0; request->headers && request->headers[i]; i++)
        if (!is_sound(request->headers[i]))
            return pl_fail(err, PL_INVALID,
                           "a header for the model's server is too long or has control characters");
    enum pl_status status = pl_plain_start(upstreams, request, ops, ctx, ret_call, err);
    return status == PL_NOT_FOUND ? pl_curl_start(upstreams, request, ops, ctx, ret_call, err)
                                  : status;
}

void pl_upstream_cancel(struct pl_upstream_call *call)
{
    if (!call)
        return;
    call->is_cancelled = true;
    call->road->cancel(call);
}

static void set_pause(struct pl_upstream_call *call, bool is_paused)
{
    if (call->is_paused == is_paused || call->is_cancelled)
        return;
    call->is_paused = is_paused;
    call->last_ms = pl_loop_now_ms(call->upstreams->loop);
    call->road->set_pause(call, is_paused);
}

void pl_upstream_pause(struct pl_upstream_call *call)
{
    set_pause(call, true);
}

void pl_upstream_resume(struct pl_upstream_call *call)
{
    set_pause(call, false);
}

/* The common part of calls to other servers: their road, their timeouts and their end.
 *
 *     machine upstream
 *
 *     START -> CONNECTING -> ASKED -> ANSWERING -> OVER
 *     START -> ASKED                      a kept connection, or libcurl, which connects by itself
 *     CONNECTING -> ANSWERING             the answer comes before the request is sent
 *     ANSWERING -> PAUSED -> ANSWERING
 *     PAUSED -> OVER                      the whole answer was already read
 *     CONNECTING, ASKED, ANSWERING, PAUSED -> LOST
 *     LOST -> CONNECTING                  another address, or a new connection for a kept one
 *     CONNECTING, ASKED, ANSWERING, PAUSED, LOST -> CANCELLED -> OVER
 *     START, CONNECTING, ASKED, LOST -> OVER      a failure
 */
#include "io/upstream/upstream_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"
#include "wire/http1/http1.h"

#include <assert.h>
#include <stdlib.h>

enum { CONNECT_MS = 10000, FIRST_BYTE_MS = 120000, IDLE_MS = 90000, MAX_LINE = 4096 };

#define TO(name) PL_TO(PL_UP_##name)
#define TURN_END "the end of this turn of the loop"
static const struct pl_state states[] = {
    [PL_UP_START] = {"start", TO(CONNECTING) | TO(ASKED) | TO(OVER)},
    [PL_UP_CONNECTING] = {"connecting",
                          TO(ASKED) | TO(ANSWERING) | TO(LOST) | TO(CANCELLED) | TO(OVER),
                          PL_WAIT_SET, PL_CANCEL_ENDS, .why = "connect_ms"},
    [PL_UP_ASKED] = {"asked", TO(ANSWERING) | TO(LOST) | TO(CANCELLED) | TO(OVER), PL_WAIT_SET,
                     PL_CANCEL_ENDS, .why = "first_byte_ms"},
    [PL_UP_ANSWERING] = {"answering", TO(PAUSED) | TO(LOST) | TO(CANCELLED) | TO(OVER), PL_WAIT_SET,
                         PL_CANCEL_ENDS, .why = "idle_ms, from the last byte on"},
    [PL_UP_PAUSED] = {"paused", TO(ANSWERING) | TO(LOST) | TO(CANCELLED) | TO(OVER), PL_WAIT_OPEN,
                      PL_CANCEL_ENDS, .why = "its starter paused it, and resumes or cancels it"},
    [PL_UP_LOST] = {"lost", TO(CONNECTING) | TO(CANCELLED) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                    .why = TURN_END},
    [PL_UP_CANCELLED] = {"cancelled", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = TURN_END},
    [PL_UP_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("upstream", states);

static void become(struct pl_upstream_call *call, enum pl_up_state to)
{
    call->state = (enum pl_up_state)pl_move(&machine, call, call->state, to);
}

/* --- those of a loop ------------------------------------------------------------------------- */

/* The variables that libcurl reads. HTTP_PROXY is not one of them, because a server may have set it
 * from a request's header. */
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
    if (call->state == PL_UP_CONNECTING)
        return PL_UPSTREAM_SAY_LATE;
    return call->state == PL_UP_ASKED
               ? "The model's server did not begin to answer in time."
               : "The model's server stopped sending in the middle of its answer.";
}

/* Silence is measured from the last byte; the timer is not restarted for each byte. */
static void on_silence(struct pl_timer *timer)
{
    struct pl_upstream_call *call = PL_CONTAINER_OF(timer, struct pl_upstream_call, timer);
    struct pl_loop *loop = call->upstreams->loop;
    int64_t left_ms = 0;
    if (call->state == PL_UP_PAUSED)
        left_ms = call->idle_ms;
    else if (call->state == PL_UP_ANSWERING)
        left_ms = call->idle_ms - (pl_loop_now_ms(loop) - call->last_ms);
    if (left_ms > 0)
        pl_timer_start(loop, timer, left_ms, on_silence);
    else
        pl_upstream_tell_failure(call, PL_UPSTREAM_TIMEOUT, why_late(call));
}

void pl_upstream_is_connecting(struct pl_upstream_call *call)
{
    become(call, PL_UP_CONNECTING);
    pl_timer_start(call->upstreams->loop, &call->timer, call->connect_ms, on_silence);
}

void pl_upstream_is_connected(struct pl_upstream_call *call)
{
    become(call, PL_UP_ASKED);
    pl_timer_start(call->upstreams->loop, &call->timer, call->first_byte_ms, on_silence);
}

void pl_upstream_is_lost(struct pl_upstream_call *call)
{
    become(call, PL_UP_LOST);
    pl_timer_stop(call->upstreams->loop, &call->timer);
}

void pl_upstream_is_cancelled(struct pl_upstream_call *call)
{
    become(call, PL_UP_CANCELLED);
}

/* --- the answer ------------------------------------------------------------------------------ */

void pl_upstream_tell_sent(struct pl_upstream_call *call)
{
    call->is_sent = true;
    call->n_pieces = 0;
    if (!call->body_back)
        pl_buf_deinit(&call->body);
    if (call->is_started && call->ops->on_sent)
        call->ops->on_sent(call->ctx);
}

void pl_upstream_tell_head(struct pl_upstream_call *call, int status, struct pl_str fields)
{
    struct pl_loop *loop = call->upstreams->loop;
    become(call, PL_UP_ANSWERING);
    call->fields = fields;
    call->last_ms = pl_loop_now_ms(loop);
    /* Replaces the timer for the first byte, which may fire much later. */
    pl_timer_start(loop, &call->timer, call->idle_ms, on_silence);
    call->ops->on_head(call->ctx, status);
}

void pl_upstream_tell_body(struct pl_upstream_call *call, struct pl_str piece)
{
    assert(pl_upstream_is_headed(call));
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
    assert(request->n_pieces <= PL_UPSTREAM_PIECES && !(request->body && request->n_pieces));
    for (size_t i = 0; i < request->n_pieces; i++)
        call->pieces[call->n_pieces++] = request->pieces[i];
    if (request->body) {
        call->body = *request->body;
        pl_buf_init(request->body, 0);
        call->body_back = request->body_back;
        call->pieces[call->n_pieces++] = pl_buf_str(&call->body);
    }
    for (size_t i = 0; i < call->n_pieces; i++)
        call->n_body += call->pieces[i].len;
}

void pl_upstream_deinit(struct pl_upstream_call *call)
{
    bool is_wanted = call->body_back && call->state != PL_UP_CANCELLED;
    become(call, PL_UP_OVER);
    pl_timer_stop(call->upstreams->loop, &call->timer);
    if (is_wanted) {
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
                       "the address of a model's server must begin with http:// or https://");
    for (size_t i = 0; request->headers && request->headers[i]; i++)
        if (!is_sound(request->headers[i]))
            return pl_fail(err, PL_INVALID,
                           "a header for the model's server is too long or has control characters");
    enum pl_status status = pl_plain_start(upstreams, request, ops, ctx, ret_call, err);
    if (status == PL_NOT_FOUND)
        status = pl_curl_start(upstreams, request, ops, ctx, ret_call, err);
    if (status == PL_OK)
        (*ret_call)->is_started = true;
    return status;
}

bool pl_upstream_is_sent(const struct pl_upstream_call *call)
{
    return call->is_sent;
}

void pl_upstream_cancel(struct pl_upstream_call *call)
{
    if (!call)
        return;
    become(call, PL_UP_CANCELLED);
    call->road->cancel(call);
}

void pl_upstream_pause(struct pl_upstream_call *call)
{
    if (call->state != PL_UP_ANSWERING)
        return;
    become(call, PL_UP_PAUSED);
    call->road->set_pause(call, true);
}

void pl_upstream_resume(struct pl_upstream_call *call)
{
    if (call->state != PL_UP_PAUSED)
        return;
    become(call, PL_UP_ANSWERING);
    call->last_ms = pl_loop_now_ms(call->upstreams->loop);
    call->road->set_pause(call, false);
}

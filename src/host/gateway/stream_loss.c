/* The losses of a translated stream. They are known only at the end of the stream, after the head
 * with its Parley-Loss was sent, so they are sent in a trailer of that name, and logged. Until then
 * the bytes of both streams are kept, up to a limit; for a longer stream the trailer says
 * "unknown". If neither the client nor the log would get the losses, nothing is kept. */
#include "gateway/call.h"

#include "service/loss_header.h"
#include "shard/log.h"
#include "stream/account.h"
#include "stream/sum.h"

enum { MAX_KEPT = 1 << 20 }; /* for each of both */

static bool is_heard(const struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    return pl_http_list_has(pl_http_header_get(x->head, "te"), "trailers") ||
           pl_log_wants(x->shard->server->log, PL_LOG_INFO);
}

void pl_gateway_call_begin_loss(struct pl_gateway_call *call)
{
    pl_buf_deinit(&call->heard);
    pl_buf_deinit(&call->told);
    pl_buf_init(&call->heard, MAX_KEPT);
    pl_buf_init(&call->told, MAX_KEPT);
    call->is_looked_at = !call->stream->passes_through && is_heard(call);
}

void pl_gateway_call_keep_bytes(struct pl_gateway_call *call, struct pl_str piece, size_t before)
{
    struct pl_str out = pl_buf_str(&call->stream->out);
    if (!call->is_looked_at || call->heard.status != PL_OK || call->told.status != PL_OK)
        return;
    pl_buf_add(&call->heard, piece);
    pl_buf_add(&call->told, pl_str_slice(out, before, out.len));
}

/* Writes the answer that the stream adds up to: the report points into it. Nothing when out of
 * memory. */
static void sum_up(struct pl_gateway_call *call, struct pl_buf *to)
{
    struct pl_sum sum;
    enum pl_status status = pl_sum_init(&sum, pl_gateway_call_target(call)->dialect);
    if (status == PL_OK)
        status = pl_sum_add(&sum, pl_buf_str(&call->heard), NULL);
    if (status == PL_OK)
        pl_sum_write(&sum, to);
    pl_sum_deinit(&sum);
}

static void look(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    PL_CLEANUP_BUF struct pl_buf report, answer;
    pl_buf_init(&report, 0);
    pl_buf_init(&answer, 0);
    bool is_lossless = false;
    pl_buf_clear(&call->loss);
    enum pl_status status = call->heard.status != PL_OK ? call->heard.status : call->told.status;
    if (status == PL_OK)
        status = pl_stream_report(&report, pl_gateway_call_target(call)->dialect,
                                  call->options.speech->dialect, pl_buf_str(&call->heard),
                                  pl_buf_str(&call->told), &is_lossless, NULL);
    if (status == PL_OK && !is_lossless)
        sum_up(call, &answer);
    if (status == PL_OK)
        pl_loss_header_add_answer(&call->loss, &x->arena, pl_gateway_call_target(call)->format,
                                  pl_buf_str(&answer), pl_buf_str(&report));
    else
        pl_buf_add(&call->loss, PL_STR("unknown answer#/"));
}

static void looked(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    bool is_gone = pl_gateway_call_is_back(call);
    if (call->loss.len && call->loss.status == PL_OK) {
        if (!is_gone)
            pl_exchange_trailer(x, "Parley-Loss", pl_buf_str(&call->loss));
        pl_gateway_call_log_losses(call);
    }
    pl_gateway_call_finish(call);
}

void pl_gateway_call_end_loss(struct pl_gateway_call *call)
{
    if (!call->is_looked_at || !pl_exchange_is_flowing(call->x)) {
        pl_gateway_call_finish(call);
        return;
    }
    pl_gateway_call_work(call, call->heard.len + call->told.len, look, looked);
}

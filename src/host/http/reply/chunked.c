/* An answer that is sent while it is made. The handler fills x->reply. At the end of the turn of
 * the loop, or when the client has taken the previous chunk, x->reply becomes one chunk (RFC 9112
 * 7.1) and is empty again. An HTTP/1.0 client gets the bare bytes, then the end of the
 * connection.
 *
 *     x->reply ──end of the turn──> chunk ──> kernel ──all of it gone──> room(x)
 *
 *     machine flow
 *
 *     NONE -> OPEN -> ENDED -> LAST
 *
 * The exchange stays until pl_exchange_flow_end, with or without a client. */
#include "http/exchange_int.h"

#include "base/table.h"
#include "io/move.h"

void pl_exchange_watch(struct pl_exchange *x, void (*gone)(struct pl_exchange *x))
{
    pl_exchange_own(x)->gone = gone;
}

#define TO(name) PL_TO(PL_FLOW_##name)
static const struct pl_state states[] = {
    [PL_FLOW_NONE] = {"none", TO(OPEN), PL_WAIT_OPEN, PL_CANCEL_NONE,
                      .why = "most answers stay here: they do not flow"},
    [PL_FLOW_OPEN] = {"open", TO(ENDED), PL_WAIT_OPEN, PL_CANCEL_NONE,
                      .why = "the producer of the answer ends it"},
    [PL_FLOW_ENDED] = {"ended", TO(LAST), PL_WAIT_SET, PL_CANCEL_NONE,
                       .why = "the connection notices a client that takes nothing"},
    [PL_FLOW_LAST] = {"last", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("flow", states);

static void become(struct pl_sending *sending, enum pl_flow to)
{
    sending->flow = (enum pl_flow)pl_move(&machine, sending, sending->flow, to);
}

static void on_turn_end(struct pl_loop_hook *end)
{
    struct pl_sending *sending = PL_CONTAINER_OF(end, struct pl_sending, due);
    struct pl_exchange_own *own = PL_CONTAINER_OF(sending, struct pl_exchange_own, sending);
    pl_exchange_wake(own);
}

void pl_exchange_flow(struct pl_exchange *x, void (*room)(struct pl_exchange *x))
{
    struct pl_sending *sending = &pl_exchange_own(x)->sending;
    become(sending, PL_FLOW_OPEN);
    sending->room = room;
    sending->due.fn = on_turn_end;
    pl_buf_init(&sending->chunk, 0);
    pl_buf_init(&sending->trailers, 0);
    if (x->head->is_http10)
        pl_exchange_own(x)->must_close = true;
    pl_exchange_become(pl_exchange_own(x), PL_X_SETTLE);
    pl_exchange_flow_more(x);
}

bool pl_exchange_is_flowing(const struct pl_exchange *x)
{
    return ((const struct pl_exchange_own *)x)->sending.flow != PL_FLOW_NONE;
}

void pl_exchange_flow_more(struct pl_exchange *x)
{
    pl_loop_hook_add(x->shard->loop, &pl_exchange_own(x)->sending.due);
}

void pl_exchange_flow_end(struct pl_exchange *x)
{
    struct pl_exchange_own *own = pl_exchange_own(x);
    own->gone = NULL;
    become(&own->sending, PL_FLOW_ENDED);
    if (x->conn)
        pl_exchange_flow_more(x);
    else
        pl_exchange_wake(own);
}

void pl_exchange_trailer(struct pl_exchange *x, const char *name, struct pl_str value)
{
    struct pl_buf *to = &pl_exchange_own(x)->sending.trailers;
    pl_buf_adds(to, name);
    pl_buf_add(to, PL_STR(": "));
    pl_buf_add(to, value);
    pl_buf_add(to, PL_STR("\r\n"));
    if (to->status != PL_OK)
        pl_buf_clear(to);
}

bool pl_flow_is_idle(const struct pl_exchange_own *own)
{
    return own->sending.flow != PL_FLOW_NONE && !own->sending.body.len;
}

bool pl_flow_next(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    struct pl_sending *sending = &own->sending;
    bool is_end = sending->flow == PL_FLOW_ENDED;
    if (sending->flow == PL_FLOW_NONE || (!x->reply.len && !is_end))
        return false;
    pl_buf_clear(&sending->chunk);
    if (x->head->is_http10) {
        pl_buf_add(&sending->chunk, pl_buf_str(&x->reply));
    } else {
        if (x->reply.len) {
            pl_buf_addf(&sending->chunk, "%zx\r\n", x->reply.len);
            pl_buf_add(&sending->chunk, pl_buf_str(&x->reply));
            pl_buf_add(&sending->chunk, PL_STR("\r\n"));
        }
        if (is_end) {
            pl_buf_add(&sending->chunk, PL_STR("0\r\n"));
            pl_buf_add(&sending->chunk, pl_buf_str(&sending->trailers));
            pl_buf_add(&sending->chunk, PL_STR("\r\n"));
        }
    }
    if (x->reply.status != PL_OK)
        sending->chunk.status = x->reply.status;
    if (is_end)
        become(sending, PL_FLOW_LAST);
    sending->body = pl_buf_str(&sending->chunk);
    pl_buf_clear(&x->reply);
    return sending->body.len > 0;
}

void pl_flow_reset(struct pl_exchange_own *own)
{
    pl_loop_hook_remove(own->x.shard->loop, &own->sending.due);
    pl_buf_deinit(&own->sending.chunk);
    pl_buf_deinit(&own->sending.trailers);
}

/* An answer that goes out while it is made. The handler fills x->reply; at the end of the turn, or
 * when the client has taken what came before, that becomes one chunk (RFC 9112 7.1) and x->reply is
 * empty again. A client of HTTP/1.0 gets the bytes alone, and the end of the connection behind
 * them.
 *
 *     x->reply ──end of the turn──> chunk ──> kernel ──all of it gone──> room(x)
 *
 * The exchange stays until pl_exchange_flow_end, with or without a client. */
#include "server/exchange_int.h"

#include "base/table.h"
#include "server/shard_int.h"

void pl_exchange_watch(struct pl_exchange *x, void (*gone)(struct pl_exchange *x))
{
    pl_exchange_own(x)->gone = gone;
}

static void on_turn_end(struct pl_turn_end *end)
{
    struct pl_sending *sending = PL_CONTAINER_OF(end, struct pl_sending, due);
    struct pl_exchange_own *own = PL_CONTAINER_OF(sending, struct pl_exchange_own, sending);
    pl_task_wake(&own->x.task);
}

void pl_exchange_flow(struct pl_exchange *x, void (*room)(struct pl_exchange *x))
{
    struct pl_sending *sending = &pl_exchange_own(x)->sending;
    sending->is_flowing = true;
    sending->room = room;
    sending->due.fn = on_turn_end;
    pl_buf_init(&sending->chunk, 0);
    if (x->head->is_http10)
        pl_exchange_own(x)->must_close = true;
    x->is_answered = true;
    pl_exchange_flow_more(x);
}

void pl_exchange_flow_more(struct pl_exchange *x)
{
    pl_loop_at_turn_end(x->shard->loop, &pl_exchange_own(x)->sending.due);
}

void pl_exchange_flow_end(struct pl_exchange *x)
{
    struct pl_exchange_own *own = pl_exchange_own(x);
    own->gone = NULL;
    own->sending.is_flow_over = true;
    if (x->conn)
        pl_exchange_flow_more(x);
    else
        pl_task_wake(&x->task);
}

bool pl_flow_is_idle(const struct pl_exchange_own *own)
{
    return own->sending.is_flowing && !own->sending.body.len;
}

bool pl_flow_next(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    struct pl_sending *sending = &own->sending;
    bool is_end = sending->is_flow_over && !sending->is_last_chunk;
    if (!sending->is_flowing || (!x->reply.len && !is_end))
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
        if (is_end)
            pl_buf_add(&sending->chunk, PL_STR("0\r\n\r\n"));
    }
    if (x->reply.status != PL_OK)
        sending->chunk.status = x->reply.status;
    sending->is_last_chunk = is_end;
    sending->body = pl_buf_str(&sending->chunk);
    pl_buf_clear(&x->reply);
    return sending->body.len > 0;
}

void pl_flow_reset(struct pl_exchange_own *own)
{
    pl_loop_forget_turn_end(own->x.shard->loop, &own->sending.due);
    pl_buf_deinit(&own->sending.chunk);
}

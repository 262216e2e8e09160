/* The states of a channel, and its output queue. Lines of one turn of the loop are sent together.
 * The timer for a reader that does not read runs while something waits, and restarts when some of
 * it was taken.
 *
 *     machine ext-channel
 *
 *     OPEN -> FINISHING -> FAULTY -> CLOSED
 *     OPEN -> FAULTY
 *     OPEN, FINISHING -> CLOSED         its owner needs it no more */
#include "ext/run/channel/channel_int.h"

#include "io/move.h"

#define TO(name) PL_TO(PL_EXT_CHANNEL_STATE_##name)
static const struct pl_state states[] = {
    [PL_EXT_CHANNEL_STATE_OPEN] = {"open", TO(FINISHING) | TO(FAULTY) | TO(CLOSED), PL_WAIT_OPEN,
                                   PL_CANCEL_ENDS, .why = "the instance that owns it closes it"},
    [PL_EXT_CHANNEL_STATE_FINISHING] =
        {"finishing", TO(FAULTY) | TO(CLOSED), PL_WAIT_SET, PL_CANCEL_ENDS,
         .why = "the instance, which is ending, closes it after STOP_MS"},
    [PL_EXT_CHANNEL_STATE_FAULTY] = {"faulty", TO(CLOSED), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                                     .why = "on_fault ends the instance, which closes it"},
    [PL_EXT_CHANNEL_STATE_CLOSED] = {"closed", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("ext-channel", states);

static void become(struct pl_ext_channel *channel, enum pl_ext_channel_state to)
{
    channel->state = (enum pl_ext_channel_state)pl_move(&machine, channel, channel->state, to);
}

static void on_flush(struct pl_loop_hook *hook)
{
    pl_ext_channel_flush(PL_CONTAINER_OF(hook, struct pl_ext_channel, flush));
}

static void on_again(struct pl_loop_hook *hook)
{
    struct pl_ext_channel *channel = PL_CONTAINER_OF(hook, struct pl_ext_channel, again);
    if (!channel->is_paused && pl_ext_channel_is_live(channel))
        channel->kind->hand_out(channel);
}

void pl_ext_channel_init(struct pl_ext_channel *channel, const struct pl_ext_channel_kind *kind,
                         struct pl_loop *loop, const struct pl_ext_channel_ops *ops, void *ctx)
{
    *channel = (struct pl_ext_channel){.kind = kind, .loop = loop, .ops = ops, .ctx = ctx};
    channel->flush.fn = on_flush;
    channel->again.fn = on_again;
    pl_buf_init(&channel->out, 0);
}

void pl_ext_channel_deinit(struct pl_ext_channel *channel)
{
    pl_timer_stop(channel->loop, &channel->stuck);
    pl_loop_hook_remove(channel->loop, &channel->flush);
    pl_loop_hook_remove(channel->loop, &channel->again);
    pl_buf_deinit(&channel->out);
}

void pl_ext_channel_fault(struct pl_ext_channel *channel, enum pl_ext_channel_fault fault)
{
    if (!pl_ext_channel_is_live(channel))
        return;
    become(channel, PL_EXT_CHANNEL_STATE_FAULTY);
    pl_timer_stop(channel->loop, &channel->stuck);
    channel->kind->want_input(channel, false);
    channel->kind->want_room(channel, false);
    channel->ops->on_fault(channel->ctx, fault);
}

static void on_stuck(struct pl_timer *timer)
{
    pl_ext_channel_fault(PL_CONTAINER_OF(timer, struct pl_ext_channel, stuck),
                         PL_EXT_CHANNEL_STUCK);
}

static size_t n_waiting(const struct pl_ext_channel *channel)
{
    return channel->out.len - channel->n_sent;
}

/* Removes sent bytes when they are most of the buffer, so that bytes are moved at most once. */
static void tidy(struct pl_ext_channel *channel)
{
    if (channel->n_sent < channel->out.len / 2)
        return;
    size_t n = n_waiting(channel);
    memmove(channel->out.ptr, channel->out.ptr + channel->n_sent, n);
    channel->out.len = n;
    channel->n_sent = 0;
    if (!n && channel->out.cap > PL_EXT_READ_BYTES)
        pl_buf_deinit(&channel->out);
}

void pl_ext_channel_flush(struct pl_ext_channel *channel)
{
    if (!pl_ext_channel_is_live(channel))
        return;
    uint64_t before = channel->n_taken;
    while (n_waiting(channel)) {
        struct pl_str rest = {channel->out.ptr + channel->n_sent, n_waiting(channel)};
        ptrdiff_t n = channel->kind->send(channel, rest);
        if (n < 0) {
            pl_ext_channel_fault(channel, PL_EXT_CHANNEL_ENDED);
            return;
        }
        if (n == 0)
            break;
        channel->n_sent += (size_t)n;
        channel->n_taken += (uint64_t)n;
    }
    tidy(channel);
    bool waits = n_waiting(channel);
    channel->kind->want_room(channel, waits);
    if (!waits)
        pl_timer_stop(channel->loop, &channel->stuck);
    else if (channel->n_taken != before || !pl_timer_is_on(&channel->stuck))
        pl_timer_start(channel->loop, &channel->stuck, PL_EXT_STUCK_MS, on_stuck);
    if (!waits && channel->state == PL_EXT_CHANNEL_STATE_FINISHING)
        channel->kind->finish(channel);
    if (channel->n_taken != before && channel->ops->on_taken)
        channel->ops->on_taken(channel->ctx);
}

/* Whole lines were added to the queue, which had `n_before` bytes. */
static void added(struct pl_ext_channel *channel, size_t n_before)
{
    channel->n_written += channel->out.len - n_before;
    if (channel->out.status != PL_OK)
        pl_ext_channel_fault(channel, PL_EXT_CHANNEL_MEMORY);
    else if (n_waiting(channel) > PL_EXT_UNREAD_BYTES + PL_EXT_LINE_BYTES)
        pl_ext_channel_fault(channel, PL_EXT_CHANNEL_STUCK);
    else
        pl_loop_hook_add(channel->loop, &channel->flush);
}

void pl_ext_channel_write(struct pl_ext_channel *channel, struct pl_str lines)
{
    size_t n_before = channel->out.len;
    if (channel->state != PL_EXT_CHANNEL_STATE_OPEN)
        return;
    pl_buf_add(&channel->out, lines);
    added(channel, n_before);
}

void pl_ext_channel_write_result(struct pl_ext_channel *channel, const struct pl_ext_result *result)
{
    size_t n_before = channel->out.len;
    if (channel->state != PL_EXT_CHANNEL_STATE_OPEN)
        return;
    pl_ext_frame_write_result(&channel->out, result);
    added(channel, n_before);
}

uint64_t pl_ext_channel_n_written(const struct pl_ext_channel *channel)
{
    return channel->n_written;
}

uint64_t pl_ext_channel_n_taken(const struct pl_ext_channel *channel)
{
    return channel->n_taken;
}

void pl_ext_channel_pause(struct pl_ext_channel *channel)
{
    channel->is_paused = true;
    channel->kind->want_input(channel, false);
}

void pl_ext_channel_resume(struct pl_ext_channel *channel)
{
    if (!pl_ext_channel_is_live(channel) || !channel->is_paused)
        return;
    channel->is_paused = false;
    channel->kind->want_input(channel, true);
    pl_loop_hook_add(channel->loop, &channel->again);
}

void pl_ext_channel_finish(struct pl_ext_channel *channel)
{
    if (channel->state != PL_EXT_CHANNEL_STATE_OPEN)
        return;
    pl_loop_hook_add(channel->loop, &channel->flush);
    become(channel, PL_EXT_CHANNEL_STATE_FINISHING);
}

void pl_ext_channel_close(struct pl_ext_channel *channel)
{
    if (!channel || channel->state == PL_EXT_CHANNEL_STATE_CLOSED)
        return;
    /* Sends the last message, such as why a registration was refused, as far as possible now. */
    if (pl_ext_channel_is_live(channel) && n_waiting(channel))
        (void)channel->kind->send(
            channel, (struct pl_str){channel->out.ptr + channel->n_sent, n_waiting(channel)});
    become(channel, PL_EXT_CHANNEL_STATE_CLOSED);
    pl_ext_channel_deinit(channel);
    channel->kind->close(channel);
}

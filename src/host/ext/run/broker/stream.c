/* Results in chunks (core/extproto/stream.c has the numbers). A chunk is under way until the
 * pipe has taken it. A stream without progress for 30 seconds ends. */
#include "ext/run/broker/broker.h"

enum { STALL_MS = 30000 };

static void on_stalled(struct pl_timer *timer)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(timer, struct pl_ext_hostcall, stalled);
    if (call->method->cancel)
        call->method->cancel(call);
    pl_hostcall_fail(call, "timeout", "stalled", "nothing was taken for 30 seconds");
}

void pl_hostcall_stream_begin(struct pl_ext_hostcall *call)
{
    pl_timer_start(call->exts->loop, &call->stalled, STALL_MS, on_stalled);
}

bool pl_hostcall_may_send(struct pl_ext_hostcall *call)
{
    return call->n_marks < PL_EXT_FREE_CHUNKS && pl_ext_stream_may_send(&call->stream);
}

void pl_hostcall_send_chunk(struct pl_ext_hostcall *call, bool is_last)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_instance *instance = call->instance;
    int64_t n = (int64_t)call->output.len;
    pl_buf_init(&line, 0);
    if (call->output.status != PL_OK) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    struct pl_ext_result result = {
        .id = call->id,
        .call_id = call->call_id,
        .output = pl_buf_str(&call->output),
        .is_chunk = true,
        .is_last = is_last,
        .index = pl_ext_stream_send(&call->stream, n, is_last),
    };
    result.credits = call->stream.has_credits ? call->stream.credits : -1;
    if (is_last) {
        pl_hostcall_end_streamed(call, &result);
        return;
    }
    pl_ext_frame_write_result(&line, &result);
    pl_buf_clear(&call->output);
    pl_ext_instance_send(instance, &line);
    if (!instance->channel)
        return;
    call->marks[call->n_marks] = pl_ext_channel_n_written(instance->channel);
    call->mark_bytes[call->n_marks++] = n;
    pl_timer_start(call->exts->loop, &call->stalled, STALL_MS, on_stalled);
}

static void go_on(struct pl_ext_hostcall *call)
{
    if (call->go_on && pl_hostcall_may_send(call))
        call->go_on(call);
}

/* Marks the bytes that the pipe has taken as sent. */
static void take(struct pl_ext_hostcall *call, uint64_t n_taken)
{
    size_t n = 0;
    while (n < call->n_marks && call->marks[n] <= n_taken)
        pl_ext_stream_taken(&call->stream, call->mark_bytes[n++]);
    if (!n)
        return;
    call->n_marks -= n;
    memmove(call->marks, call->marks + n, call->n_marks * sizeof *call->marks);
    memmove(call->mark_bytes, call->mark_bytes + n, call->n_marks * sizeof *call->mark_bytes);
    go_on(call);
}

void pl_ext_hostcalls_taken(struct pl_ext_instance *instance)
{
    if (!instance->channel)
        return;
    uint64_t n_taken = pl_ext_channel_n_taken(instance->channel);
    for (struct pl_ext_hostcall *call = instance->hostcalls, *next; call; call = next) {
        next = call->next;
        if (call->is_streamed && call->state == PL_HOSTCALL_RUNNING)
            take(call, n_taken);
        if (instance->is_over)
            return;
    }
}

void pl_ext_hostcall_credit(struct pl_ext_instance *instance, struct pl_str call_id, int64_t n)
{
    for (struct pl_ext_hostcall *call = instance->hostcalls; call; call = call->next) {
        if (!pl_str_eq(call->call_id, call_id))
            continue;
        if (call->is_streamed && pl_ext_stream_credit(&call->stream, n)) {
            pl_timer_start(call->exts->loop, &call->stalled, STALL_MS, on_stalled);
            if (call->state == PL_HOSTCALL_RUNNING)
                go_on(call);
        }
        return;
    }
}

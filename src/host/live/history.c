/* A list of events, one allocation each. Beyond the cap the oldest are dropped. */
#include "live/history.h"

#include "base/mem.h"
#include "live/wire/frames_wire.h"

void pl_history_deinit(struct pl_history *history)
{
    while (history->first) {
        struct pl_held_frame *next = history->first->next;
        pl_mem_free(history->first);
        history->first = next;
    }
    *history = (struct pl_history){0};
}

static size_t size_of(const struct pl_held_frame *frame)
{
    return sizeof *frame + frame->n_data + frame->n_whole;
}

static void drop_first(struct pl_history *history)
{
    struct pl_held_frame *frame = history->first;
    history->first = frame->next;
    if (!history->first)
        history->last = NULL;
    history->n_bytes -= size_of(frame);
    pl_mem_free(frame);
}

size_t pl_history_share(size_t n_sessions)
{
    size_t share = PL_HISTORY_SHARD_BYTES / (n_sessions ? n_sessions : 1);
    return share > PL_HISTORY_MAX_BYTES   ? PL_HISTORY_MAX_BYTES
           : share < PL_HISTORY_MIN_BYTES ? PL_HISTORY_MIN_BYTES
                                          : share;
}

const struct pl_held_frame *pl_history_add(struct pl_history *history,
                                           const struct pl_session_frame *frame, size_t max_bytes)
{
    size_t n = frame->data.len + frame->whole.len;
    struct pl_held_frame *held = n < UINT32_MAX ? pl_mem_alloc(1, sizeof *held + n) : NULL;
    if (!held) {
        pl_history_deinit(history);
        return NULL;
    }
    *held = (struct pl_held_frame){
        .sequence = frame->sequence,
        .kind = frame->kind,
        .is_durable = frame->is_durable,
        .n_data = (uint32_t)frame->data.len,
        .n_whole = (uint32_t)frame->whole.len,
    };
    memcpy(held->bytes, frame->data.ptr, frame->data.len);
    if (frame->whole.len)
        memcpy(held->bytes + frame->data.len, frame->whole.ptr, frame->whole.len);
    if (history->last)
        history->last->next = held;
    else
        history->first = held;
    history->last = held;
    history->n_bytes += size_of(held);
    while (history->n_bytes > max_bytes && history->first != held)
        drop_first(history);
    return held;
}

/* A client that always wants the content cannot use a patch without it. */
static bool fits(const struct pl_held_frame *frame, enum pl_lane lane)
{
    return !pl_lane_is_whole(lane) || frame->kind != PL_FRAME_TURN_PATCH || frame->n_whole;
}

bool pl_history_covers(const struct pl_history *history, enum pl_lane lane, int64_t since,
                       int64_t last)
{
    if (since >= last)
        return since == last;
    if (!history->first || history->first->sequence > since + 1)
        return false;
    for (const struct pl_held_frame *frame = history->first; frame; frame = frame->next)
        if (frame->sequence > since && !fits(frame, lane))
            return false;
    return history->last->sequence >= last;
}

static struct pl_session_frame view_of(const struct pl_held_frame *held)
{
    struct pl_session_frame frame = {
        .kind = held->kind,
        .is_durable = held->is_durable,
        .sequence = held->sequence,
        .data = {held->bytes, held->n_data},
    };
    if (held->n_whole)
        frame.whole = (struct pl_str){held->bytes + held->n_data, held->n_whole};
    return frame;
}

uint32_t pl_history_spell(const struct pl_history *history, enum pl_lane lane, int64_t epoch,
                          int64_t since, struct pl_buf *to)
{
    uint32_t n = 0;
    for (const struct pl_held_frame *held = history->first; held; held = held->next) {
        struct pl_session_frame frame = view_of(held);
        if (held->sequence <= since)
            continue;
        pl_frames_spell(&frame, 1, lane, epoch, to);
        n++;
    }
    return n;
}

uint32_t pl_history_collect(const struct pl_history *history, int64_t since, struct pl_buf *to)
{
    uint32_t n = 0;
    for (const struct pl_held_frame *held = history->first; held; held = held->next) {
        struct pl_session_frame frame = view_of(held);
        if (held->sequence <= since)
            continue;
        pl_frames_wire_add(to, &frame);
        n++;
    }
    return n;
}

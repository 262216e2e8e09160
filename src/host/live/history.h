/* The last events of a session, kept for clients that were disconnected for a moment. Beyond a cap
 * of bytes the oldest are dropped. Sequences have no gap. */
#ifndef PL_LIVE_HISTORY_H
#define PL_LIVE_HISTORY_H

#include "live/encode.h"
#include "session/session.h"

#define PL_HISTORY_MAX_BYTES (1u << 20) /* for one session */
/* … and for all on a shard together, as long as each has the minimum. */
#define PL_HISTORY_SHARD_BYTES (2u << 20)
#define PL_HISTORY_MIN_BYTES   (4u << 10)

struct pl_held_frame {
    struct pl_held_frame *next;
    int64_t sequence;
    enum pl_frame_kind kind;
    bool is_durable;
    uint32_t n_data, n_whole; /* bytes of `data`, and of `whole` after it (0: none) */
    char bytes[];
};

struct pl_history {
    struct pl_held_frame *first, *last; /* owned */
    size_t n_bytes;
};

void pl_history_deinit(struct pl_history *history);
/* The share of one session among this many. */
size_t pl_history_share(size_t n_sessions);
/* Appends a copy of the frame and drops the oldest ones beyond max_bytes. The result is valid until
 * it is dropped. NULL when out of memory; then everything is dropped, because a gap must not be
 * replayed. */
const struct pl_held_frame *pl_history_add(struct pl_history *history,
                                           const struct pl_session_frame *frame, size_t max_bytes);

/* Whether it has all events after `since` up to `last`, in the form of the lane. */
bool pl_history_covers(const struct pl_history *history, enum pl_lane lane, int64_t since,
                       int64_t last);
/* Appends them, encoded for the lane; returns their number. */
uint32_t pl_history_spell(const struct pl_history *history, enum pl_lane lane, int64_t epoch,
                          int64_t since, struct pl_buf *to);
/* Appends them for another server (wire/frames_wire.h); returns their number. */
uint32_t pl_history_collect(const struct pl_history *history, int64_t since, struct pl_buf *to);

#endif

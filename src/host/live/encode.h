/* Encodes an event of a session for each lane. */
#ifndef PL_LIVE_ENCODE_H
#define PL_LIVE_ENCODE_H

#include "base/buf.h"
#include "live/hub.h"

static inline bool pl_lane_is_sse(enum pl_lane lane)
{
    return lane == PL_LANE_SSE || lane == PL_LANE_SSE_WHOLE;
}

static inline bool pl_lane_is_whole(enum pl_lane lane)
{
    return lane == PL_LANE_WS_WHOLE || lane == PL_LANE_SSE_WHOLE;
}

/* Appends one frame to `to`. A position (epoch >= 0) becomes the id of a server-sent event; a
 * WebSocket frame has it in its data. */
void pl_encode_event(struct pl_buf *to, enum pl_lane lane, const char *event, struct pl_str data,
                     int64_t epoch, int64_t sequence);

#endif

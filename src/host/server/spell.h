/* How an event of a session is spelled on each lane. */
#ifndef PL_SERVER_SPELL_H
#define PL_SERVER_SPELL_H

#include "base/buf.h"
#include "server/hub.h"

static inline bool pl_lane_is_sse(enum pl_lane lane)
{
    return lane == PL_LANE_SSE || lane == PL_LANE_SSE_WHOLE;
}

static inline bool pl_lane_is_whole(enum pl_lane lane)
{
    return lane == PL_LANE_WS_WHOLE || lane == PL_LANE_SSE_WHOLE;
}

/* One frame behind `to`. A position (epoch >= 0) becomes the id of a server-sent event; a WebSocket
 * frame has it in its data already. */
void pl_spell_event(struct pl_buf *to, enum pl_lane lane, const char *event, struct pl_str data,
                    int64_t epoch, int64_t sequence);

#endif

/* Events of a session for another server, in no lane's encoding: the receiver encodes them for the
 * lanes of its listeners. They are sent as one letter per session and loop iteration, and as the
 * replay for a node that subscribes. */
#ifndef PL_LIVE_WIRE_FRAMES_WIRE_H
#define PL_LIVE_WIRE_FRAMES_WIRE_H

#include "cluster/node_letter.h"
#include "live/encode.h"
#include "live/wire/wire_fields.h"
#include "session/session.h"

/* The limit of the body of a letter. */
#define PL_FRAMES_WIRE_MAX (PL_NODE_LETTER_MAX - PL_NODE_LETTER_HEAD - PL_NODE_LETTER_SEAL)

struct pl_frames_letter {
    struct pl_str session_id;
    int64_t epoch;
    int64_t first;  /* sequence of the first frame; in a resync, of the first one left out */
    bool is_resync; /* there are no frames: listeners ask again with `since` */
    bool is_gone;   /* in a resync: the session is deleted */
    struct pl_session_frame *frames; /* sequences without a gap: first, first + 1 … */
    size_t n_frames;
};

/* Appends the letter's body. If this would exceed PL_FRAMES_WIRE_MAX, appends a resync instead.
 * PL_INVALID: the sequences have a gap, or there are neither frames nor a resync; PL_LIMIT: the
 * session's id alone is too long; PL_NOMEM. On failure nothing is appended. */
enum pl_status pl_frames_wire_write(const struct pl_frames_letter *letter, struct pl_buf *to,
                                    struct pl_error *err);
/* The frames are in the arena; all texts are views of `bytes`. */
enum pl_status pl_frames_wire_read(struct pl_str bytes, struct pl_arena *arena,
                                   struct pl_frames_letter *ret_letter, struct pl_error *err);

/* --- lists of frames: the reply of a replay --- */

/* Appends one frame; a list is a sequence of these. */
void pl_frames_wire_add(struct pl_buf *to, const struct pl_session_frame *frame);
/* Views of `list`; the array is in the arena. */
enum pl_status pl_frames_wire_read_list(struct pl_str list, struct pl_arena *arena,
                                        struct pl_session_frame **ret_frames, size_t *ret_n,
                                        struct pl_error *err);
/* Whether every frame has the form that the lane needs: a listener that always wants the content
 * cannot use a patch without it. */
bool pl_frames_fit(const struct pl_session_frame *frames, size_t n, enum pl_lane lane);
/* Appends them encoded for the lane, as the feed of a session does for listeners of its own
 * server. */
void pl_frames_spell(const struct pl_session_frame *frames, size_t n, enum pl_lane lane,
                     int64_t epoch, struct pl_buf *to);

#endif

/* Events of a session on their way to another server, unspelled: the receiver spells them for the
 * lanes that its listeners are on. One letter per session and turn of the loop, and the reply of a
 * node's subscription that is answered with what it missed. */
#ifndef PL_LIVE_WIRE_FRAMES_WIRE_H
#define PL_LIVE_WIRE_FRAMES_WIRE_H

#include "cluster/node_letter.h"
#include "live/encode.h"
#include "live/wire/wire_fields.h"
#include "session/session.h"

/* What the body of a letter has room for. */
#define PL_FRAMES_WIRE_MAX (PL_NODE_LETTER_MAX - PL_NODE_LETTER_HEAD - PL_NODE_LETTER_SEAL)

struct pl_frames_letter {
    struct pl_str session_id;
    int64_t epoch;
    int64_t first;  /* sequence of the first frame; of a resync: of the first that is not there */
    bool is_resync; /* there are no frames: who listens asks again with `since` */
    bool is_gone;   /* of a resync: the session is deleted */
    struct pl_session_frame *frames; /* sequences have no gap: first, first + 1 … */
    size_t n_frames;
};

/* Appends the letter's body. Where it has more than PL_FRAMES_WIRE_MAX it is said as a resync.
 * PL_INVALID: the sequences have a gap, or there are neither frames nor a resync; PL_LIMIT: the
 * session's id alone is too long; PL_NOMEM. Nothing is appended then. */
enum pl_status pl_frames_wire_write(const struct pl_frames_letter *letter, struct pl_buf *to,
                                    struct pl_error *err);
/* The frames are in the arena; all texts are views of `bytes`. */
enum pl_status pl_frames_wire_read(struct pl_str bytes, struct pl_arena *arena,
                                   struct pl_frames_letter *ret_letter, struct pl_error *err);

/* --- lists of frames: the reply of a replay --- */

/* Appends one frame; a list is these one after the other. */
void pl_frames_wire_add(struct pl_buf *to, const struct pl_session_frame *frame);
/* Views of `list`; the array is in the arena. */
enum pl_status pl_frames_wire_read_list(struct pl_str list, struct pl_arena *arena,
                                        struct pl_session_frame **ret_frames, size_t *ret_n,
                                        struct pl_error *err);
/* Whether every frame is there in the form of the lane: a patch without its content is of no use to a
 * listener that asked for it always. */
bool pl_frames_fit(const struct pl_session_frame *frames, size_t n, enum pl_lane lane);
/* Appends them as the lane spells them, as the feed of a session does for listeners of its own server. */
void pl_frames_spell(const struct pl_session_frame *frames, size_t n, enum pl_lane lane,
                     int64_t epoch, struct pl_buf *to);

#endif

/* Listening to a session that another node owns. This node is one listener there, and has its own
 * feed for its readers: frames arrive unencoded, and are encoded here for every lane.
 *
 * The owner answers SUBSCRIBE in order: all frames up to the position of the answer come before it.
 * So the next frame has the next sequence. If not, frames were lost, and all readers subscribe
 * again, as after any gap. */
#include "live/listener.h"
#include "live/wire/frames_wire.h"
#include "node/node_int.h"

/* Does nothing while a reader's SUBSCRIBE is unanswered: the owner already counts this node for it,
 * and frames that come before its answer belong to it. */
static void leave(struct pl_node_seats *seats, const struct pl_node_id *owner,
                  struct pl_str session_id)
{
    if (pl_ask_is_listening(seats, owner, session_id))
        return;
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_node_fields_put_bytes(&body, session_id);
    pl_node_fields_put_number(&body, pl_ask_before_listening(seats, session_id));
    if (body.status == PL_OK)
        pl_post_send(seats->node, owner, PL_NODE_LETTER_LEAVE, pl_buf_str(&body), false);
}

/* Encodes the missed frames for the reader's lane. */
static bool spell_missed(struct pl_session_command *command, enum pl_lane lane)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_session_frame *frames = NULL;
    size_t n = 0;
    struct pl_buf spelled;
    pl_buf_init(&spelled, 0);
    if (pl_frames_wire_read_list(pl_buf_str(&command->reply), &arena, &frames, &n, NULL) == PL_OK &&
        pl_frames_fit(frames, n, lane))
        pl_frames_spell(frames, n, lane, command->epoch, &spelled);
    else
        spelled.status = PL_INVALID;
    if (spelled.status != PL_OK) {
        pl_buf_deinit(&spelled);
        return false;
    }
    pl_buf_deinit(&command->reply);
    command->reply = spelled;
    command->n_frames = (uint32_t)n;
    return true;
}

bool pl_mirror_enter(struct pl_seat *seat, struct pl_session_command *command)
{
    struct pl_subscription *sub = command->subscription;
    bool continues = seat->feed.n_listeners && seat->epoch == command->epoch &&
                     seat->next_sequence == command->position + 1;
    if (seat->feed.n_listeners && !continues)
        pl_feed_resync(&seat->feed, false);
    if (!pl_feed_enter(&seat->feed, sub))
        return false;
    seat->epoch = command->epoch;
    seat->next_sequence = command->position + 1;
    if (command->resume != PL_RESUME_REPLAY)
        return true;
    if (spell_missed(command, sub->lane))
        return true;
    (void)pl_feed_leave(&seat->feed, sub);
    sub->generation = 0;
    return false;
}

bool pl_mirror_leave(struct pl_node_seats *seats, struct pl_subscription *sub)
{
    struct pl_seat *seat = pl_seat_find(seats, (struct pl_str){sub->id, sub->n_id});
    if (!seat || !pl_feed_leave(&seat->feed, sub))
        return false;
    if (!seat->feed.n_listeners && seat->state == PL_SEAT_AWAY)
        leave(seats, &seat->owner, seat->link.key);
    return true;
}

void pl_mirror_frames(struct pl_node_seats *seats, const struct pl_node_id *sender,
                      struct pl_str session_id, struct pl_str frames)
{
    struct pl_seat *seat = pl_seat_find(seats, session_id);
    bool is_owners = seat && seat->state == PL_SEAT_AWAY && pl_node_id_eq(&seat->owner, sender);
    if (!is_owners || !seat->feed.n_listeners) {
        leave(seats, sender, session_id); /* an earlier LEAVE was lost */
        return;
    }
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_frames_letter letter = {0};
    if (pl_frames_wire_read(frames, &arena, &letter, NULL) != PL_OK || letter.is_resync ||
        letter.epoch != seat->epoch || letter.first != seat->next_sequence) {
        pl_feed_resync(&seat->feed, letter.is_resync && letter.is_gone);
        return;
    }
    struct pl_session_out out = {.frames = {.ptr = letter.frames, .len = letter.n_frames}};
    struct pl_published published = {0};
    seat->next_sequence = letter.frames[letter.n_frames - 1].sequence + 1;
    if (pl_feed_encode(&seat->feed, &out, letter.epoch, seats->by_id.n_links, &published) == PL_OK)
        pl_feed_deliver(&seat->feed, &published);
    else
        pl_feed_resync(&seat->feed, false);
    pl_published_deinit(&published);
}

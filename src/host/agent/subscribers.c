/* Subscribers of a session, in its driver: how they catch up, and how they leave. */
#include "agent/driver_int.h"
#include "base/mem.h"
#include "live/listener.h"

static bool enter(struct pl_feed *feed, const struct pl_session_command *command)
{
    return command->subscription
               ? pl_feed_enter(feed, command->subscription)
               : pl_feed_enter_node(feed, &command->asker, command->wants_whole, command->ask);
}

/* Writes the missed frames; for another node, not encoded. */
static bool replay(const struct pl_feed *feed, struct pl_session_command *command, int64_t epoch,
                   int64_t position)
{
    int64_t since = command->since_sequence;
    return command->subscription
               ? pl_feed_replay(feed, command->subscription->lane, epoch, since, position,
                                &command->reply, &command->n_frames)
               : pl_feed_replay_unspelled(feed, command->wants_whole, since, position,
                                          &command->reply, &command->n_frames);
}

/* The driver decides how to resume, because it makes the events: so no event is lost between the
 * replay and the next one. The reply is the replay as bytes, or empty: then the sender makes a
 * snapshot from `look` and the store (command->next_entry, command->position). */
void pl_driver_subscribe(struct pl_driver *driver, struct pl_session_command *command)
{
    int64_t epoch = pl_session_record(driver->session)->epoch;
    int64_t position = pl_session_position(driver->session);
    if (!enter(&driver->feed, command)) {
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    bool is_known = command->has_since && command->since_epoch == epoch &&
                    command->since_sequence >= 0 && command->since_sequence <= position;
    if (is_known && replay(&driver->feed, command, epoch, position)) {
        command->resume = PL_RESUME_REPLAY;
        pl_driver_answer_in_line(driver, command);
        return;
    }
    command->resume = is_known ? PL_RESUME_COMPACTED : PL_RESUME_SNAPSHOT;
    pl_driver_look(driver, command);
}

static void open_unlisten(struct pl_letter *letter)
{
    struct pl_subscription *sub = PL_CONTAINER_OF(letter, struct pl_subscription, letter);
    struct pl_str id = {sub->id, sub->n_id};
    struct pl_shard *shard = pl_shard_of_session(sub->server, id);
    struct pl_driver *driver = shard->drivers ? pl_driver_find(shard->drivers, id) : NULL;
    if (driver && pl_feed_leave(&driver->feed, sub))
        pl_driver_settle(driver);
    pl_mem_free(sub);
}

const struct pl_session_owner pl_driver_owner = {
    .open_command = pl_driver_open_command,
    .open_unlisten = open_unlisten,
    .carry_out = pl_driver_readmit,
    .let_go = pl_driver_let_go,
    .node_left = pl_driver_node_left,
    .drop_all = pl_driver_drop_all,
    .hush = pl_driver_hush,
    .look_stored = pl_driver_look_stored,
};

/* Subscribing: the session's shard decides how the listener catches up (publish.c). This shard then
 * sends the replay, or reads a snapshot from the store and holds the events that arrive meanwhile.
 *
 *     machine subscription
 *
 *     NEW -> ASKING -> HOLDING -> LIVE -> LAGGING -> ASKING
 *     ASKING -> LIVE                      a replay has the missed events
 *     HOLDING -> STALE -> LAGGING         the session was reloaded, or too much came meanwhile
 *     NEW, ASKING, HOLDING -> LAGGING     not available now
 *     ASKING, HOLDING, STALE -> LEFT -> BACK
 *     LIVE, LAGGING -> BACK
 *
 * The session's shard removes the listener and frees the memory. */
#include "base/mem.h"
#include "io/move.h"
#include "json/text.h"
#include "json/write.h"
#include "live/encode.h"
#include "live/listener.h"
#include "live/turn_page.h"
#include "shard/setup.h"

#define TO(name)  PL_TO(PL_SUBSCRIPTION_##name)
#define A_SESSION "a session answers what it is asked, also when it breaks"
#define A_WORKER  "a worker always comes back; it waits for queue_wait_ms at most"
static const struct pl_state states[] = {
    [PL_SUBSCRIPTION_NEW] = {"new", TO(ASKING) | TO(LAGGING)},
    [PL_SUBSCRIPTION_ASKING] = {"asking", TO(HOLDING) | TO(LIVE) | TO(LAGGING) | TO(LEFT),
                                PL_WAIT_OPEN, PL_CANCEL_LATER, .why = A_SESSION},
    [PL_SUBSCRIPTION_HOLDING] = {"holding", TO(LIVE) | TO(STALE) | TO(LAGGING) | TO(LEFT),
                                 PL_WAIT_OPEN, PL_CANCEL_LATER, .why = A_WORKER},
    [PL_SUBSCRIPTION_STALE] = {"stale", TO(LAGGING) | TO(LEFT), PL_WAIT_OPEN, PL_CANCEL_LATER,
                               .why = A_WORKER},
    [PL_SUBSCRIPTION_LIVE] = {"live", TO(LAGGING) | TO(BACK), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                              .why = "as long as its connection listens"},
    [PL_SUBSCRIPTION_LAGGING] =
        {"lagging", TO(ASKING) | TO(BACK), PL_WAIT_SET, PL_CANCEL_ENDS,
         .why = "250 ms or 5 s; or until the queue is empty, or its reader stuck"},
    [PL_SUBSCRIPTION_LEFT] = {"left", TO(BACK), PL_WAIT_OPEN, PL_CANCEL_LATER,
                              .why = "its answer, or the worker, comes back"},
    [PL_SUBSCRIPTION_BACK] = {"back", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("subscription", states);

void pl_subscription_become(struct pl_subscription *sub, enum pl_subscription_state to)
{
    sub->state = (enum pl_subscription_state)pl_move(&machine, sub, sub->state, to);
}

bool pl_subscription_is_away(const struct pl_subscription *sub)
{
    return pl_machine_is_away(&machine, sub->state);
}

struct asking {
    struct pl_session_command command;
    struct pl_subscription *sub; /* stays until this is done */
    struct pl_job job;
    struct pl_arena arena;
    struct pl_buf frame; /* the snapshot, encoded */
    enum pl_status status;
    struct pl_error err;
};

static void destroy(struct asking *asking)
{
    pl_session_command_deinit(&asking->command);
    pl_buf_deinit(&asking->frame);
    pl_arena_deinit(&asking->arena);
    pl_mem_free(asking);
}

void pl_subscription_give_back(struct pl_subscription *sub)
{
    struct pl_str id = {sub->id, sub->n_id};
    pl_subscription_become(sub, PL_SUBSCRIPTION_BACK);
    if (!sub->generation) {
        pl_mem_free(sub);
        return;
    }
    sub->letter.open = sub->server->session_owner->open_unlisten;
    pl_loop_post(pl_shard_of_session(sub->server, id)->loop, &sub->letter);
}

static void on_again(struct pl_timer *timer)
{
    pl_subscription_ask(PL_CONTAINER_OF(timer, struct pl_subscription, again),
                        (struct pl_since){0});
}

void pl_subscription_ask_later(struct pl_subscription *sub, int64_t delay_ms)
{
    if (sub->state != PL_SUBSCRIPTION_LAGGING)
        pl_subscription_become(sub, PL_SUBSCRIPTION_LAGGING);
    pl_timer_start(sub->live->shard->loop, &sub->again, delay_ms, on_again);
}

/* --- the snapshot ---------------------------------------------------------------------------- */

static const char *const modes[] = {
    [PL_RESUME_REPLAY] = "replay",
    [PL_RESUME_COMPACTED] = "compacted",
    [PL_RESUME_SNAPSHOT] = "snapshot",
};

static enum pl_status write_turns(struct asking *asking, const struct pl_session_snapshot *look,
                                  struct pl_buf *to, struct pl_turn_page_end *ret_end)
{
    const struct pl_subscription *sub = asking->sub;
    bool is_compacted = asking->command.resume == PL_RESUME_COMPACTED;
    struct pl_turn_query query = {
        .session_id = {sub->id, sub->n_id},
        .before = INT64_MAX,
        .after = -1,
        .changed_after = is_compacted ? asking->command.since_sequence : -1,
        .limit = PL_SNAPSHOT_TURNS,
        .max_bytes = PL_SNAPSHOT_BYTES,
        .is_newest_first = true,
    };
    return pl_turn_page_write(sub->server->store, &asking->arena, &query, look, to, ret_end,
                              &asking->err);
}

static enum pl_status write_snapshot(struct asking *asking, struct pl_buf *data)
{
    struct pl_session_command *command = &asking->command;
    struct pl_session_snapshot look;
    enum pl_status status = pl_session_snapshot_read(&asking->arena, pl_buf_str(&command->reply),
                                                     command->position, &look, &asking->err);
    if (status != PL_OK)
        return status;
    struct pl_buf turns PL_CLEANUP_BUF;
    pl_buf_init(&turns, 0);
    struct pl_turn_page_end end = {0};
    status = write_turns(asking, &look, &turns, &end);
    /* Too many turns have changed: send everything. */
    if (status == PL_OK && end.has_more && command->resume == PL_RESUME_COMPACTED) {
        command->resume = PL_RESUME_SNAPSHOT;
        pl_buf_clear(&turns);
        status = write_turns(asking, &look, &turns, &end);
    }
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, (struct pl_str){asking->sub->id, asking->sub->n_id});
    pl_json_out_key(&out, "epoch");
    pl_json_out_int(&out, command->epoch);
    pl_json_out_key(&out, "sequence");
    pl_json_out_int(&out, command->position);
    pl_json_out_key(&out, "mode");
    pl_json_out_text(&out, pl_str_of(modes[command->resume]));
    pl_json_out_key(&out, "session");
    pl_json_out_raw(&out, pl_session_snapshot_member(&look, "session"));
    pl_json_out_key(&out, "turns");
    pl_json_out_open(&out, '[');
    if (turns.len)
        pl_json_out_raw(&out, pl_buf_str(&turns));
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "has_more");
    pl_json_out_bool(&out, end.has_more);
    pl_json_out_key(&out, "questions");
    pl_json_out_raw(&out, pl_session_snapshot_member(&look, "questions"));
    pl_json_out_key(&out, "queue");
    pl_json_out_raw(&out, pl_session_snapshot_member(&look, "queue"));
    pl_json_out_close(&out, '}');
    return data->status;
}

static void snapshot_run(struct pl_job *job)
{
    struct asking *asking = PL_CONTAINER_OF(job, struct asking, job);
    struct pl_buf data PL_CLEANUP_BUF;
    pl_buf_init(&data, 0);
    asking->status = write_snapshot(asking, &data);
    if (asking->status != PL_OK)
        return;
    pl_encode_event(&asking->frame, asking->sub->lane, "session:snapshot", pl_buf_str(&data),
                    asking->command.epoch, asking->command.position);
    asking->status = asking->frame.status;
}

static void say_subscribed(struct asking *asking)
{
    struct pl_subscription *sub = asking->sub;
    sub->live->kind->on_subscribed(sub->live, sub, &asking->command, modes[asking->command.resume]);
}

static void snapshot_done(struct pl_job *job)
{
    struct asking *asking = PL_CONTAINER_OF(job, struct asking, job);
    struct pl_subscription *sub = asking->sub;
    struct pl_live *live = sub->live;
    if (sub->state == PL_SUBSCRIPTION_LEFT) {
        pl_subscription_give_back(sub);
    } else if (job->is_refused || asking->status != PL_OK ||
               sub->state != PL_SUBSCRIPTION_HOLDING) {
        /* The store could not be read in time, or the session was reloaded meanwhile. */
        pl_outbox_deinit(&sub->held);
        pl_subscription_ask_later(sub, PL_SUBSCRIPTION_AGAIN_MS);
    } else {
        pl_subscription_become(sub, PL_SUBSCRIPTION_LIVE);
        say_subscribed(asking);
        if (live->kind->choose)
            (void)live->kind->choose(live, pl_buf_str(&asking->frame));
        if (!pl_live_push_snapshot(live, pl_buf_str(&asking->frame))) {
            /* Other slow readers of this user hold all the memory that the user may have. */
            pl_outbox_deinit(&sub->held);
            pl_subscription_ask_later(sub, PL_SUBSCRIPTION_AGAIN_FULL_MS);
        } else if (sub->state != PL_SUBSCRIPTION_LIVE) {
            /* The queue was full: the subscription begins again when it is empty. */
            pl_outbox_deinit(&sub->held);
        } else if (!pl_live_push_held(live, &sub->held)) {
            pl_outbox_deinit(&sub->held);
            pl_subscription_ask_later(sub, PL_SUBSCRIPTION_AGAIN_MS);
        }
    }
    destroy(asking);
}

static void start_snapshot(struct asking *asking)
{
    struct pl_subscription *sub = asking->sub;
    pl_subscription_become(sub, PL_SUBSCRIPTION_HOLDING);
    asking->job = (struct pl_job){
        .owner = pl_owner_of(asking->command.user_id),
        .wait_ms = sub->live->shard->setup->config.queue_wait_ms,
        .run = snapshot_run,
        .done = snapshot_done,
    };
    pl_workers_submit(sub->server->workers, sub->live->shard->loop, &asking->job);
}

/* --- the answer ------------------------------------------------------------------------------ */

void pl_subscription_write_refusal(const struct pl_subscription *sub,
                                   const struct pl_session_command *command, struct pl_buf *to)
{
    pl_problem_write(command->problem, NULL, &command->err, "", sub->live->is_chinese, to);
    if (to->status != PL_OK)
        return;
    to->len--; /* the closing brace */
    pl_buf_adds(to, ",\"session_id\":");
    pl_json_quote(to, (struct pl_str){sub->id, sub->n_id});
    pl_buf_addc(to, '}');
}

static void refused(struct asking *asking)
{
    struct pl_subscription *sub = asking->sub;
    struct pl_live *live = sub->live;
    const struct pl_problem_info *info = pl_problem_info(asking->command.problem);
    if (sub->is_acknowledged && info->is_retryable) {
        pl_subscription_ask_later(sub, PL_SUBSCRIPTION_AGAIN_MS);
        return;
    }
    live->kind->on_refused(live, sub, &asking->command);
    pl_live_unsubscribe(live, sub);
}

static void on_answer(struct pl_session_command *command)
{
    struct asking *asking = PL_CONTAINER_OF(command, struct asking, command);
    struct pl_subscription *sub = asking->sub;
    bool is_left = sub->state == PL_SUBSCRIPTION_LEFT;
    if (!is_left && command->problem == PL_PROBLEM_COUNT && command->resume != PL_RESUME_REPLAY) {
        start_snapshot(asking);
        return;
    }
    if (is_left) {
        pl_subscription_give_back(sub);
    } else if (command->problem != PL_PROBLEM_COUNT) {
        pl_subscription_become(sub, PL_SUBSCRIPTION_LAGGING);
        refused(asking);
    } else {
        pl_subscription_become(sub, PL_SUBSCRIPTION_LIVE);
        say_subscribed(asking);
        struct pl_str missed = pl_buf_str(&command->reply);
        if (missed.len && sub->live->kind->choose)
            missed = sub->live->kind->choose(sub->live, missed);
        if (missed.len)
            pl_live_push_bytes(sub->live, missed);
    }
    destroy(asking);
}

void pl_subscription_ask(struct pl_subscription *sub, struct pl_since since)
{
    struct pl_live *live = sub->live;
    /* The timer or the empty queue, whichever came first, may have asked already. */
    if (sub->state != PL_SUBSCRIPTION_NEW && sub->state != PL_SUBSCRIPTION_LAGGING)
        return;
    pl_timer_stop(live->shard->loop, &sub->again);
    struct asking *asking = pl_mem_alloc(1, sizeof *asking);
    if (!asking) {
        pl_subscription_ask_later(sub, PL_SUBSCRIPTION_AGAIN_MS);
        return;
    }
    *asking = (struct asking){.sub = sub};
    pl_arena_init(&asking->arena, 0);
    pl_buf_init(&asking->frame, 0);
    struct pl_str user = pl_arena_dup(&asking->arena, pl_live_user(live));
    pl_session_command_init(&asking->command, PL_COMMAND_SUBSCRIBE, live->shard, user,
                            (struct pl_str){sub->id, sub->n_id});
    if (!user.ptr) {
        destroy(asking);
        pl_subscription_ask_later(sub, PL_SUBSCRIPTION_AGAIN_MS);
        return;
    }
    asking->command.has_since = since.is_given;
    asking->command.since_epoch = since.epoch;
    asking->command.since_sequence = since.sequence;
    asking->command.subscription = sub;
    asking->command.done = on_answer;
    pl_subscription_become(sub, PL_SUBSCRIPTION_ASKING);
    pl_session_command_send(&asking->command);
}

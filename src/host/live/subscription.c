/* Subscribing: the session's shard decides how the listener catches up (publish.c); this shard then
 * sends the replay, or reads the store for a snapshot while what comes meanwhile is held. */
#include "base/mem.h"
#include "json/text.h"
#include "json/write.h"
#include "server/live.h"
#include "server/setup.h"
#include "server/spell.h"
#include "server/turn_page.h"

struct asking {
    struct pl_ask ask;
    struct pl_subscription *sub; /* stays until this is done */
    struct pl_job job;
    struct pl_arena arena;
    struct pl_buf frame; /* the snapshot, spelled */
    enum pl_status status;
    struct pl_error err;
};

static void destroy(struct asking *asking)
{
    pl_ask_deinit(&asking->ask);
    pl_buf_deinit(&asking->frame);
    pl_arena_deinit(&asking->arena);
    pl_mem_free(asking);
}

void pl_sub_give_back(struct pl_subscription *sub)
{
    struct pl_str id = {sub->id, sub->n_id};
    if (!sub->generation) {
        pl_mem_free(sub);
        return;
    }
    sub->letter.open = pl_driver_open_unlisten;
    pl_loop_post(pl_shard_of_session(sub->server, id)->loop, &sub->letter);
}

static void on_again(struct pl_timer *timer)
{
    pl_sub_ask(PL_CONTAINER_OF(timer, struct pl_subscription, again), (struct pl_since){0});
}

void pl_sub_ask_later(struct pl_subscription *sub, int64_t delay_ms)
{
    sub->state = PL_SUB_LAGGING;
    pl_timer_start(sub->live->shard->loop, &sub->again, delay_ms, on_again);
}

/* --- the snapshot ---------------------------------------------------------------------------- */

static const char *const modes[] = {
    [PL_RESUME_REPLAY] = "replay",
    [PL_RESUME_COMPACTED] = "compacted",
    [PL_RESUME_SNAPSHOT] = "snapshot",
};

static enum pl_status write_turns(struct asking *asking, const struct pl_look *look,
                                  struct pl_buf *to, struct pl_turn_page_end *ret_end)
{
    const struct pl_subscription *sub = asking->sub;
    bool is_compacted = asking->ask.resume == PL_RESUME_COMPACTED;
    struct pl_turn_query query = {
        .session_id = {sub->id, sub->n_id},
        .before = INT64_MAX,
        .after = -1,
        .changed_after = is_compacted ? asking->ask.since_sequence : -1,
        .limit = PL_SNAPSHOT_TURNS,
        .max_bytes = PL_SNAPSHOT_BYTES,
        .is_newest_first = true,
    };
    return pl_turn_page_write(sub->server->store, &asking->arena, &query, look, to, ret_end,
                              &asking->err);
}

static enum pl_status write_snapshot(struct asking *asking, struct pl_buf *data)
{
    struct pl_ask *ask = &asking->ask;
    struct pl_look look;
    enum pl_status status =
        pl_look_read(&asking->arena, pl_buf_str(&ask->reply), ask->position, &look, &asking->err);
    if (status != PL_OK)
        return status;
    struct pl_buf turns PL_CLEANUP_BUF;
    pl_buf_init(&turns, 0);
    struct pl_turn_page_end end = {0};
    status = write_turns(asking, &look, &turns, &end);
    /* Too much has changed to say it turn by turn: then everything is said. */
    if (status == PL_OK && end.has_more && ask->resume == PL_RESUME_COMPACTED) {
        ask->resume = PL_RESUME_SNAPSHOT;
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
    pl_json_out_int(&out, ask->epoch);
    pl_json_out_key(&out, "sequence");
    pl_json_out_int(&out, ask->position);
    pl_json_out_key(&out, "mode");
    pl_json_out_text(&out, pl_str_of(modes[ask->resume]));
    pl_json_out_key(&out, "session");
    pl_json_out_raw(&out, pl_look_member(&look, "session"));
    pl_json_out_key(&out, "turns");
    pl_json_out_open(&out, '[');
    if (turns.len)
        pl_json_out_raw(&out, pl_buf_str(&turns));
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "has_more");
    pl_json_out_bool(&out, end.has_more);
    pl_json_out_key(&out, "questions");
    pl_json_out_raw(&out, pl_look_member(&look, "questions"));
    pl_json_out_key(&out, "queue");
    pl_json_out_raw(&out, pl_look_member(&look, "queue"));
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
    pl_spell_event(&asking->frame, asking->sub->lane, "session:snapshot", pl_buf_str(&data),
                   asking->ask.epoch, asking->ask.position);
    asking->status = asking->frame.status;
}

static void say_subscribed(struct asking *asking)
{
    struct pl_subscription *sub = asking->sub;
    sub->live->kind->on_subscribed(sub->live, sub, &asking->ask, modes[asking->ask.resume]);
}

static void snapshot_done(struct pl_job *job)
{
    struct asking *asking = PL_CONTAINER_OF(job, struct asking, job);
    struct pl_subscription *sub = asking->sub;
    struct pl_live *live = sub->live;
    sub->is_asked = false;
    if (!live) {
        pl_sub_give_back(sub);
    } else if (job->is_refused || asking->status != PL_OK || sub->state != PL_SUB_HOLDING) {
        /* The store could not be read in time, or the session began anew meanwhile. */
        pl_outbox_deinit(&sub->held);
        pl_sub_ask_later(sub, PL_SUB_AGAIN_MS);
    } else {
        sub->state = PL_SUB_LIVE;
        say_subscribed(asking);
        if (!pl_live_push_snapshot(live, pl_buf_str(&asking->frame))) {
            /* Other slow readers of this user have all that the user may have. */
            pl_outbox_deinit(&sub->held);
            pl_sub_ask_later(sub, PL_SUB_AGAIN_FULL_MS);
        } else if (sub->state != PL_SUB_LIVE) {
            /* The queue was full: all begins again when it is empty. */
            pl_outbox_deinit(&sub->held);
        } else if (!pl_outbox_move(&sub->held, &live->out)) {
            pl_outbox_deinit(&sub->held);
            pl_sub_ask_later(sub, PL_SUB_AGAIN_MS);
        }
    }
    destroy(asking);
}

static void start_snapshot(struct asking *asking)
{
    struct pl_subscription *sub = asking->sub;
    sub->state = PL_SUB_HOLDING;
    asking->job = (struct pl_job){
        .owner = pl_owner_of(asking->ask.user_id),
        .wait_ms = sub->live->shard->setup->config.queue_wait_ms,
        .run = snapshot_run,
        .done = snapshot_done,
    };
    pl_workers_submit(sub->server->workers, sub->live->shard->loop, &asking->job);
}

/* --- the answer ------------------------------------------------------------------------------ */

void pl_sub_write_refusal(const struct pl_subscription *sub, const struct pl_ask *ask,
                          struct pl_buf *to)
{
    pl_problem_write(ask->problem, NULL, &ask->err, "", to);
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
    const struct pl_problem_info *info = pl_problem_info(asking->ask.problem);
    if (sub->is_acknowledged && info->is_retryable) {
        pl_sub_ask_later(sub, PL_SUB_AGAIN_MS);
        return;
    }
    live->kind->on_refused(live, sub, &asking->ask);
    pl_live_unsubscribe(live, sub);
}

static void on_answer(struct pl_ask *ask)
{
    struct asking *asking = PL_CONTAINER_OF(ask, struct asking, ask);
    struct pl_subscription *sub = asking->sub;
    if (sub->live && ask->problem == PL_PROBLEM_COUNT && ask->resume != PL_RESUME_REPLAY) {
        start_snapshot(asking);
        return;
    }
    sub->is_asked = false;
    if (!sub->live) {
        pl_sub_give_back(sub);
    } else if (ask->problem != PL_PROBLEM_COUNT) {
        refused(asking);
    } else {
        sub->state = PL_SUB_LIVE;
        say_subscribed(asking);
        if (ask->reply.len)
            pl_live_push_bytes(sub->live, pl_buf_str(&ask->reply));
    }
    destroy(asking);
}

void pl_sub_ask(struct pl_subscription *sub, struct pl_since since)
{
    struct pl_live *live = sub->live;
    if (sub->is_asked)
        return;
    struct asking *asking = pl_mem_alloc(1, sizeof *asking);
    if (!asking) {
        pl_sub_ask_later(sub, PL_SUB_AGAIN_MS);
        return;
    }
    *asking = (struct asking){.sub = sub};
    pl_arena_init(&asking->arena, 0);
    pl_buf_init(&asking->frame, 0);
    struct pl_str user = pl_arena_dup(&asking->arena, pl_live_user(live));
    pl_ask_init(&asking->ask, PL_ASK_SUBSCRIBE, live->shard, user,
                (struct pl_str){sub->id, sub->n_id});
    if (!user.ptr) {
        destroy(asking);
        pl_sub_ask_later(sub, PL_SUB_AGAIN_MS);
        return;
    }
    asking->ask.has_since = since.is_given;
    asking->ask.since_epoch = since.epoch;
    asking->ask.since_sequence = since.sequence;
    asking->ask.subscription = sub;
    asking->ask.done = on_answer;
    sub->state = PL_SUB_ASKING;
    sub->is_asked = true;
    pl_ask_send(&asking->ask);
}

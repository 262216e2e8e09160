/* A listening connection of any protocol: its queue, its heartbeat, its subscriptions.
 *
 *     machine listener
 *
 *     GREETING -> OPEN -> CLOSING -> OVER
 *     GREETING, OPEN -> HOPELESS -> CLOSING       it sends requests and reads no answers
 *     GREETING -> CLOSING
 *     GREETING, OPEN, HOPELESS -> OVER            the connection is gone
 */
#include "live/listener.h"
#include "live/lists.h"

#include "access/meter/meter.h"
#include "base/mem.h"
#include "io/move.h"
#include "http/limits/address_limit.h"
#include "http/limits/body_memory.h"

#define TO(name) PL_TO(PL_LIVE_##name)
static const struct pl_state states[] = {
    [PL_LIVE_GREETING] = {"greeting", TO(OPEN) | TO(HOPELESS) | TO(CLOSING) | TO(OVER), PL_WAIT_MS,
                          PL_CANCEL_ENDS, .limit_ms = PL_LIVE_AUTH_MS},
    [PL_LIVE_OPEN] = {"open", TO(HOPELESS) | TO(CLOSING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                      .why = "the beat: PL_LIVE_STUCK_MS without progress, or two without a word"},
    [PL_LIVE_HOPELESS] = {"hopeless", TO(CLOSING) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                          .why = "the end of this turn of the loop"},
    [PL_LIVE_CLOSING] = {"closing", TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                         .why = "five seconds for the other side's close; one when we end"},
    [PL_LIVE_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("listener", states);

void pl_live_become(struct pl_live *live, enum pl_live_state to)
{
    live->state = (enum pl_live_state)pl_move(&machine, live, live->state, to);
}

void pl_live_limit(struct pl_live *live, struct pl_timer *timer, int64_t set_ms,
                   void (*late)(struct pl_timer *timer))
{
    pl_move_limit(&machine, live->state, live->shard->loop, timer, set_ms, late);
}

/* --- life ------------------------------------------------------------------------------------ */

static void on_beat(struct pl_timer *timer)
{
    struct pl_live *live = PL_CONTAINER_OF(timer, struct pl_live, beat);
    struct pl_loop *loop = live->shard->loop;
    bool is_stuck = live->out.len && pl_loop_now_ms(loop) - live->moved_ms >= PL_LIVE_STUCK_MS;
    if (is_stuck) {
        live->kind->close(live, PL_WS_CLOSE_TOO_SLOW, "nothing was read for 30 seconds");
        return;
    }
    /* While data is waiting, check again when the time limit for it ends. */
    int64_t left_ms = live->moved_ms + PL_LIVE_STUCK_MS - pl_loop_now_ms(loop);
    bool is_soon = live->out.len && left_ms < PL_LIVE_BEAT_MS;
    pl_timer_start(loop, timer, is_soon ? left_ms : PL_LIVE_BEAT_MS, on_beat);
    live->kind->beat(live);
}

void pl_live_init(struct pl_live *live, const struct pl_live_kind *kind, struct pl_shard *shard,
                  struct pl_conn *conn)
{
    *live = (struct pl_live){.kind = kind, .shard = shard, .conn = conn};
    live->moved_ms = pl_loop_now_ms(shard->loop);
    pl_hub_enter(shard->hub, live);
    pl_timer_start(shard->loop, &live->beat, PL_LIVE_BEAT_MS, on_beat);
    pl_metric_add(&shard->metrics, PL_METRIC_sockets, 1);
}

void pl_live_deinit(struct pl_live *live)
{
    pl_live_become(live, PL_LIVE_OVER);
    while (live->subs)
        pl_live_unsubscribe(live, live->subs);
    pl_hub_leave(live->shard->hub, live);
    pl_timer_stop(live->shard->loop, &live->beat);
    pl_outbox_deinit(&live->out);
    pl_conn_close(PL_TAKE(live->conn));
    pl_address_limit_leave(live->shard->server, &live->place);
    pl_body_memory_give(live->shard, &live->large, (size_t)live->large.n);
    if (live->is_metered)
        pl_meter_leave_socket(live->shard->server->meter, pl_live_user(live));
    live->is_metered = false;
    pl_mem_free(PL_TAKE(live->who));
    live->shard->n_conns--;
    pl_metric_add(&live->shard->metrics, PL_METRIC_sockets, -1);
    pl_metric_add(&live->shard->metrics, PL_METRIC_http_connections, -1);
}

char *pl_live_who(const struct pl_caller *caller)
{
    char *who = pl_mem_alloc(caller->user_id.len + caller->key_id.len + 2, 1);
    if (!who)
        return NULL;
    memcpy(who, caller->user_id.ptr, caller->user_id.len);
    who[caller->user_id.len] = '\0';
    char *key = who + caller->user_id.len + 1;
    if (caller->key_id.len)
        memcpy(key, caller->key_id.ptr, caller->key_id.len);
    key[caller->key_id.len] = '\0';
    return who;
}

bool pl_live_enter(struct pl_exchange *x)
{
    if (pl_meter_enter_socket(x->shard->server->meter, x->caller.user_id))
        return true;
    pl_exchange_header(x, "Retry-After", "10");
    pl_exchange_problem(x, PL_PROBLEM_RATE_LIMITED, NULL,
                        "You have as many sockets and event streams as allowed; close one.");
    return false;
}

struct pl_str pl_live_user(const struct pl_live *live)
{
    return pl_str_of(live->who);
}

struct pl_str pl_live_key(const struct pl_live *live)
{
    return live->who ? pl_str_of(live->who + strlen(live->who) + 1) : (struct pl_str){0};
}

/* --- writing --------------------------------------------------------------------------------- */

static void ask_again(struct pl_live *live)
{
    live->is_lagging = false;
    if (live->hears_lists)
        pl_lists_say_missed(live);
    for (struct pl_subscription *sub = live->subs, *next; sub; sub = next) {
        next = sub->next_of_live;
        if (sub->state == PL_SUBSCRIPTION_LAGGING)
            pl_subscription_ask(sub, (struct pl_since){0});
    }
}

void pl_live_flush(struct pl_live *live)
{
    size_t n = 0;
    if (!live->conn)
        return;
    if (pl_outbox_flush(&live->out, live->conn, &n) != PL_OK) {
        live->kind->close(live, 0, NULL);
        return;
    }
    live->n_sent += (int64_t)n;
    if (n)
        live->is_stalled = false;
    if (n || (!live->out.len && !live->is_stalled))
        live->moved_ms = pl_loop_now_ms(live->shard->loop);
    pl_metric_add(&live->shard->metrics, PL_METRIC_socket_bytes_out_total, (int64_t)n);
    if (live->large.n && live->out.n_bytes <= PL_LIVE_MAX_QUEUE)
        pl_body_memory_give(live->shard, &live->large, (size_t)live->large.n);
    if (!live->out.len && live->is_lagging)
        ask_again(live);
}

static void on_turn_end(struct pl_loop_hook *end)
{
    struct pl_live *live = PL_CONTAINER_OF(end, struct pl_live, flush);
    if (live->state == PL_LIVE_HOPELESS) {
        live->kind->close(live, PL_WS_CLOSE_TOO_SLOW, "the answers are not read");
    }
    pl_live_flush(live);
}

static void flush_later(struct pl_live *live)
{
    live->flush.fn = on_turn_end;
    pl_loop_hook_add(live->shard->loop, &live->flush);
}

/* Too much is waiting: drops the events in the queue. A snapshot will replace them. */
static void lag(struct pl_live *live)
{
    pl_metric_add(&live->shard->metrics, PL_METRIC_socket_slow_total, 1);
    live->is_lagging = live->is_stalled = true;
    pl_outbox_drop(&live->out);
    for (struct pl_subscription *sub = live->subs; sub; sub = sub->next_of_live) {
        if (sub->state == PL_SUBSCRIPTION_LIVE)
            pl_subscription_become(sub, PL_SUBSCRIPTION_LAGGING);
    }
    flush_later(live);
}

static bool push(struct pl_live *live, struct pl_chunk *chunk, size_t max)
{
    /* A chunk of any size may follow a short queue, since a snapshot must get through. */
    bool is_over = live->out.n_bytes > PL_LIVE_LITTLE && live->out.n_bytes + chunk->n > max;
    if (is_over || !pl_outbox_push(&live->out, chunk))
        return false;
    pl_metric_add(&live->shard->metrics, PL_METRIC_socket_frames_out_total, chunk->n_frames);
    flush_later(live);
    return true;
}

void pl_live_push(struct pl_live *live, struct pl_chunk *chunk)
{
    if (live->conn && !push(live, chunk, PL_LIVE_MAX_QUEUE))
        lag(live);
}

void pl_live_push_bytes(struct pl_live *live, struct pl_str bytes)
{
    struct pl_chunk *chunk = pl_chunk_create(bytes, 1);
    if (!chunk) {
        lag(live);
        return;
    }
    pl_live_push(live, chunk);
    pl_chunk_unref(chunk);
}

void pl_live_push_events(struct pl_live *live, struct pl_chunk *chunk)
{
    struct pl_str all = {chunk->bytes, chunk->n};
    struct pl_str chosen = live->kind->choose ? live->kind->choose(live, all) : all;
    if (chosen.len == all.len)
        pl_live_push(live, chunk);
    else if (chosen.len)
        pl_live_push_bytes(live, chosen);
}

bool pl_live_push_held(struct pl_live *live, struct pl_outbox *held)
{
    if (!live->kind->choose)
        return pl_outbox_move(held, &live->out);
    for (uint32_t i = 0; i < held->len; i++)
        pl_live_push_events(live, held->items[(held->head + i) % held->cap]);
    pl_outbox_deinit(held);
    return true;
}

bool pl_live_push_snapshot(struct pl_live *live, struct pl_str bytes)
{
    if (bytes.len > PL_LIVE_MAX_QUEUE) {
        struct pl_body_owner owner = pl_body_owner(pl_live_user(live), live->conn);
        if (pl_body_memory_take(live->shard, &live->large, &owner, bytes.len, bytes.len) !=
            PL_TAKING_DONE)
            return false;
    }
    pl_live_push_bytes(live, bytes);
    return true;
}

void pl_live_answer(struct pl_live *live, struct pl_str bytes)
{
    struct pl_chunk *chunk = live->conn ? pl_chunk_create(bytes, 1) : NULL;
    if (!live->conn)
        return;
    if (chunk)
        chunk->is_answer = true;
    if (!chunk || !push(live, chunk, PL_LIVE_MAX_ANSWERS)) {
        if (live->state < PL_LIVE_HOPELESS)
            pl_live_become(live, PL_LIVE_HOPELESS);
        flush_later(live);
    }
    pl_chunk_unref(chunk);
}

/* --- subscriptions --------------------------------------------------------------------------- */

struct pl_subscription *pl_live_find(const struct pl_live *live, struct pl_str session_id)
{
    struct pl_subscription *sub = live->subs;
    while (sub && !pl_str_eq((struct pl_str){sub->id, sub->n_id}, session_id))
        sub = sub->next_of_live;
    return sub;
}

struct pl_subscription *pl_live_subscribe(struct pl_live *live, struct pl_str session_id,
                                          enum pl_lane lane, struct pl_since since)
{
    struct pl_subscription *old = pl_live_find(live, session_id);
    if (old)
        pl_live_unsubscribe(live, old);
    if (live->n_subs >= PL_LIVE_MAX_SUBS)
        return NULL;
    struct pl_subscription *sub = pl_mem_alloc(1, sizeof *sub + session_id.len + 1);
    struct pl_topic *topic = sub ? pl_hub_topic(live->shard->hub, session_id) : NULL;
    if (!topic) {
        pl_mem_free(sub);
        return NULL;
    }
    *sub = (struct pl_subscription){
        .live = live,
        .topic = topic,
        .server = live->shard->server,
        .shard = live->shard->index,
        .lane = lane,
        .n_id = session_id.len,
    };
    memcpy(sub->id, session_id.ptr, session_id.len);
    sub->id[session_id.len] = '\0';
    sub->next_of_live = live->subs;
    live->subs = sub;
    live->n_subs++;
    sub->next_of_topic = topic->subs;
    if (topic->subs)
        topic->subs->prev_of_topic = sub;
    topic->subs = sub;
    pl_subscription_ask(sub, since);
    return sub;
}

/* The memory goes to the session's shard, which removes the listener. If an ask is on its way, that
 * has to come back first. */
void pl_live_unsubscribe(struct pl_live *live, struct pl_subscription *sub)
{
    struct pl_subscription **at = &live->subs;
    while (*at != sub)
        at = &(*at)->next_of_live;
    *at = sub->next_of_live;
    live->n_subs--;
    pl_timer_stop(live->shard->loop, &sub->again);
    pl_hub_topic_leave(live->shard->hub, sub);
    pl_outbox_deinit(&sub->held);
    pl_mem_free(PL_TAKE(sub->ack_id));
    sub->live = NULL;
    if (pl_subscription_is_away(sub))
        pl_subscription_become(sub, PL_SUBSCRIPTION_LEFT);
    else
        pl_subscription_give_back(sub);
}

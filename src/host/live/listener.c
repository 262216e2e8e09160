#include "server/live.h"

#include "base/mem.h"
#include "server/body_memory.h"
#include "server/neighbours.h"

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
    /* While something waits, look again when it would be stuck. */
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
    while (live->subs)
        pl_live_unsubscribe(live, live->subs);
    pl_hub_leave(live->shard->hub, live);
    pl_timer_stop(live->shard->loop, &live->beat);
    pl_outbox_deinit(&live->out);
    pl_conn_close(PL_TAKE(live->conn));
    pl_neighbours_leave(live->shard->server, &live->place);
    pl_body_memory_give(live->shard, &live->large, (size_t)live->large.n);
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
    for (struct pl_subscription *sub = live->subs, *next; sub; sub = next) {
        next = sub->next_of_live;
        if (sub->state == PL_SUB_LAGGING)
            pl_sub_ask(sub, (struct pl_since){0});
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

static void on_turn_end(struct pl_turn_end *end)
{
    struct pl_live *live = PL_CONTAINER_OF(end, struct pl_live, flush);
    if (live->is_hopeless) {
        live->is_hopeless = false;
        live->kind->close(live, PL_WS_CLOSE_TOO_SLOW, "the answers are not read");
    }
    pl_live_flush(live);
}

static void flush_later(struct pl_live *live)
{
    live->flush.fn = on_turn_end;
    pl_loop_at_turn_end(live->shard->loop, &live->flush);
}

/* Too much is waiting: the events in the queue are dropped, and a snapshot will say it all. */
static void lag(struct pl_live *live)
{
    pl_metric_add(&live->shard->metrics, PL_METRIC_socket_slow_total, 1);
    live->is_lagging = live->is_stalled = true;
    pl_outbox_drop(&live->out);
    for (struct pl_subscription *sub = live->subs; sub; sub = sub->next_of_live) {
        if (sub->state == PL_SUB_LIVE)
            sub->state = PL_SUB_LAGGING;
    }
    flush_later(live);
}

static bool push(struct pl_live *live, struct pl_chunk *chunk, size_t max)
{
    /* One chunk behind little or nothing may be as large as it is: a snapshot has to go through. */
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
        live->is_hopeless = true;
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
    pl_sub_ask(sub, since);
    return sub;
}

/* Its memory goes to the session's shard, which counts the listener off; while an ask is on its
 * way, that comes first. */
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
    if (!sub->is_asked)
        pl_sub_give_back(sub);
}

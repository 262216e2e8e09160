/* From a session to its listeners: encoded once per lane, passed to every shard that has any. */
#include "live/publish.h"

#include "base/mem.h"
#include "live/listener.h"

static uint32_t *listeners_of(const struct pl_feed *feed, size_t shard)
{
    return &feed->listeners[shard * PL_LANE_COUNT];
}

static bool has_lane(const struct pl_feed *feed, enum pl_lane lane)
{
    if (!feed->n_listeners)
        return false;
    for (size_t s = 0; s < feed->all->shard->server->n_shards; s++)
        if (listeners_of(feed, s)[lane])
            return true;
    return false;
}

bool pl_feed_wants_whole(const struct pl_feed *feed)
{
    return has_lane(feed, PL_LANE_WS_WHOLE) || has_lane(feed, PL_LANE_SSE_WHOLE);
}

static enum pl_status encode_lane(struct pl_feed *feed, const struct pl_session_out *out,
                                  int64_t epoch, enum pl_lane lane, struct pl_chunk **ret_chunk)
{
    struct pl_buf *to = &feed->all->spelled;
    pl_buf_clear(to);
    for (size_t i = 0; i < out->frames.len; i++) {
        const struct pl_session_frame *frame = &out->frames.ptr[i];
        bool is_whole = pl_lane_is_whole(lane) && frame->whole.ptr;
        pl_encode_event(to, lane, pl_frame_text(frame->kind), is_whole ? frame->whole : frame->data,
                        epoch, frame->sequence);
    }
    if (to->status != PL_OK)
        return to->status;
    *ret_chunk = pl_chunk_create(pl_buf_str(to), (uint32_t)out->frames.len);
    return *ret_chunk ? PL_OK : PL_NOMEM;
}

static void count_history(struct pl_feed *feed, size_t n_before)
{
    pl_metric_add(&feed->all->shard->metrics, PL_METRIC_history_bytes,
                  (int64_t)feed->history.n_bytes - (int64_t)n_before);
}

static void remember(struct pl_feed *feed, const struct pl_session_out *out, size_t n_sessions)
{
    size_t n_before = feed->history.n_bytes;
    size_t max_bytes = pl_history_share(n_sessions);
    for (size_t i = 0; i < out->frames.len; i++)
        if (!pl_history_add(&feed->history, &out->frames.ptr[i], max_bytes))
            break;
    count_history(feed, n_before);
}

void pl_feed_forget(struct pl_feed *feed)
{
    size_t n_before = feed->history.n_bytes;
    pl_history_deinit(&feed->history);
    count_history(feed, n_before);
}

enum pl_status pl_feed_encode(struct pl_feed *feed, const struct pl_session_out *out, int64_t epoch,
                              size_t n_sessions, struct pl_published *published)
{
    published->n_frames = (int64_t)out->frames.len;
    remember(feed, out, n_sessions);
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++) {
        if (!has_lane(feed, (enum pl_lane)lane))
            continue;
        enum pl_status status =
            encode_lane(feed, out, epoch, (enum pl_lane)lane, &published->chunks[lane]);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* One letter per shard that has listeners. A letter that cannot be made is a gap: its listeners
 * will see it by the sequence, and subscribe again. */
static struct pl_delivery *make_delivery(struct pl_feed *feed, size_t shard)
{
    struct pl_str id = feed->session_id;
    struct pl_delivery *delivery = pl_mem_alloc(1, sizeof *delivery + id.len);
    if (!delivery)
        return NULL;
    *delivery = (struct pl_delivery){.n_id = id.len};
    delivery->hub = feed->all->shard->server->shards[shard]->hub;
    delivery->letter.open = pl_hub_open_delivery;
    memcpy(delivery->id, id.ptr, id.len);
    return delivery;
}

static bool listens(const struct pl_feed *feed, size_t shard)
{
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        if (listeners_of(feed, shard)[lane])
            return true;
    return false;
}

static void post(struct pl_feed *feed, size_t shard, struct pl_delivery *delivery)
{
    pl_loop_post(feed->all->shard->server->shards[shard]->loop, &delivery->letter);
}

void pl_feed_deliver(struct pl_feed *feed, const struct pl_published *published)
{
    struct pl_shard *home = feed->all->shard;
    pl_metric_add(&home->metrics, PL_METRIC_events_total, published->n_frames);
    if (!published->n_frames || !feed->n_listeners)
        return;
    for (size_t s = 0; s < home->server->n_shards; s++) {
        struct pl_delivery *delivery = listens(feed, s) ? make_delivery(feed, s) : NULL;
        if (!delivery)
            continue;
        for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
            if (published->chunks[lane] && listeners_of(feed, s)[lane])
                delivery->chunks[lane] = pl_chunk_ref(published->chunks[lane]);
        post(feed, s, delivery);
    }
}

void pl_feed_resync(struct pl_feed *feed, bool is_gone)
{
    if (!feed->n_listeners)
        return;
    for (size_t s = 0; s < feed->all->shard->server->n_shards; s++) {
        struct pl_delivery *delivery = listens(feed, s) ? make_delivery(feed, s) : NULL;
        if (!delivery)
            continue;
        delivery->is_resync = true;
        delivery->is_gone = is_gone;
        post(feed, s, delivery);
    }
    memset(feed->listeners, 0,
           feed->all->shard->server->n_shards * PL_LANE_COUNT * sizeof *feed->listeners);
    feed->n_listeners = 0;
    feed->generation = 0;
}

/* --- listening ------------------------------------------------------------------------------- */

bool pl_feed_enter(struct pl_feed *feed, struct pl_subscription *sub)
{
    if (sub->generation && sub->generation == feed->generation)
        return true;
    size_t n = feed->all->shard->server->n_shards * PL_LANE_COUNT;
    if (!feed->listeners) {
        feed->listeners = pl_mem_alloc(n, sizeof *feed->listeners);
        if (!feed->listeners)
            return false;
        memset(feed->listeners, 0, n * sizeof *feed->listeners);
    }
    if (!feed->generation)
        feed->generation = ++feed->all->n_generations;
    listeners_of(feed, sub->shard)[sub->lane]++;
    feed->n_listeners++;
    sub->generation = feed->generation;
    return true;
}

bool pl_feed_leave(struct pl_feed *feed, const struct pl_subscription *sub)
{
    if (feed->generation != sub->generation)
        return false;
    listeners_of(feed, sub->shard)[sub->lane]--;
    feed->n_listeners--;
    return true;
}

bool pl_feed_replay(const struct pl_feed *feed, enum pl_lane lane, int64_t epoch, int64_t since,
                    int64_t position, struct pl_buf *to, uint32_t *ret_n)
{
    if (!pl_history_covers(&feed->history, lane, since, position))
        return false;
    *ret_n = pl_history_spell(&feed->history, lane, epoch, since, to);
    return true;
}

/* --- life ------------------------------------------------------------------------------------ */

void pl_feeds_init(struct pl_feeds *feeds, struct pl_shard *shard)
{
    *feeds = (struct pl_feeds){.shard = shard};
    pl_buf_init(&feeds->spelled, 0);
}

void pl_feeds_deinit(struct pl_feeds *feeds)
{
    pl_buf_deinit(&feeds->spelled);
}

void pl_feed_init(struct pl_feed *feed, struct pl_feeds *all, struct pl_str session_id)
{
    *feed = (struct pl_feed){.all = all, .session_id = session_id};
}

void pl_feed_deinit(struct pl_feed *feed)
{
    pl_feed_forget(feed);
    pl_mem_free(feed->listeners);
}

void pl_published_deinit(struct pl_published *published)
{
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        pl_chunk_unref(published->chunks[lane]);
}

/* From a session to its listeners: encodes once per lane, and passes the chunks to every shard that
 * has listeners. */
#include "live/publish.h"

#include "base/mem.h"
#include "live/listener.h"
#include "live/session_home.h"
#include "live/wire/frames_wire.h"

static uint32_t *listeners_of(const struct pl_feed *feed, size_t shard)
{
    return &feed->listeners[shard * PL_LANE_COUNT];
}

static bool has_lane(const struct pl_feed *feed, enum pl_lane lane)
{
    if (!feed->listeners)
        return false;
    for (size_t s = 0; s < feed->all->shard->server->n_shards; s++)
        if (listeners_of(feed, s)[lane])
            return true;
    return false;
}

bool pl_feed_wants_whole(const struct pl_feed *feed)
{
    for (size_t i = 0; i < feed->nodes.len; i++)
        if (feed->nodes.ptr[i].wants_whole)
            return true;
    return has_lane(feed, PL_LANE_WS_WHOLE) || has_lane(feed, PL_LANE_SSE_WHOLE);
}

static enum pl_status encode_lane(struct pl_feed *feed, const struct pl_session_out *out,
                                  int64_t epoch, enum pl_lane lane, struct pl_chunk **ret_chunk)
{
    struct pl_buf *to = &feed->all->spelled;
    pl_buf_clear(to);
    pl_frames_spell(out->frames.ptr, out->frames.len, lane, epoch, to);
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

/* Other nodes encode the frames for the lanes themselves. */
static enum pl_status encode_for_nodes(struct pl_feed *feed, const struct pl_session_out *out,
                                       int64_t epoch, struct pl_published *published)
{
    struct pl_buf *to = &feed->all->spelled;
    pl_buf_clear(to);
    struct pl_frames_letter letter = {
        .session_id = feed->session_id,
        .epoch = epoch,
        .first = out->frames.ptr[0].sequence,
        .frames = out->frames.ptr,
        .n_frames = out->frames.len,
    };
    enum pl_status status = pl_frames_wire_write(&letter, to, NULL);
    if (status != PL_OK)
        return status;
    published->unspelled = pl_chunk_create(pl_buf_str(to), (uint32_t)out->frames.len);
    return published->unspelled ? PL_OK : PL_NOMEM;
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
    return feed->nodes.len ? encode_for_nodes(feed, out, epoch, published) : PL_OK;
}

/* One letter per shard that has listeners. If a letter cannot be made there is a gap: the listeners
 * detect it by the sequence and subscribe again. */
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
    if (!feed->listeners)
        return false;
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        if (listeners_of(feed, shard)[lane])
            return true;
    return false;
}

static void post(struct pl_feed *feed, size_t shard, struct pl_delivery *delivery)
{
    pl_loop_post(feed->all->shard->server->shards[shard]->loop, &delivery->letter);
}

static void send_to_nodes(struct pl_feed *feed, struct pl_str frames)
{
    struct pl_server *server = feed->all->shard->server;
    for (size_t i = 0; i < feed->nodes.len; i++)
        server->session_home->send_frames(server, &feed->nodes.ptr[i].id, feed->session_id, frames);
}

void pl_feed_deliver(struct pl_feed *feed, const struct pl_published *published)
{
    struct pl_shard *home = feed->all->shard;
    const struct pl_session_home *nodes = home->server->session_home;
    pl_metric_add(&home->metrics, PL_METRIC_events_total, published->n_frames);
    if (!published->n_frames || !feed->n_listeners)
        return;
    if (nodes && !nodes->may_publish(home->server)) {
        pl_feed_resync(feed, false); /* another node may own the session by now */
        return;
    }
    for (size_t s = 0; s < home->server->n_shards; s++) {
        struct pl_delivery *delivery = listens(feed, s) ? make_delivery(feed, s) : NULL;
        if (!delivery)
            continue;
        for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
            if (published->chunks[lane] && listeners_of(feed, s)[lane])
                delivery->chunks[lane] = pl_chunk_ref(published->chunks[lane]);
        post(feed, s, delivery);
    }
    if (published->unspelled)
        send_to_nodes(feed, (struct pl_str){published->unspelled->bytes, published->unspelled->n});
}

/* If the letter cannot be made there is a gap, which the nodes detect by the sequence. */
static void resync_nodes(struct pl_feed *feed, bool is_gone)
{
    struct pl_buf bytes PL_CLEANUP_BUF;
    pl_buf_init(&bytes, 0);
    struct pl_frames_letter letter = {
        .session_id = feed->session_id, .is_resync = true, .is_gone = is_gone};
    if (pl_frames_wire_write(&letter, &bytes, NULL) == PL_OK)
        send_to_nodes(feed, pl_buf_str(&bytes));
    feed->nodes.len = 0;
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
    if (feed->nodes.len)
        resync_nodes(feed, is_gone);
    if (feed->listeners)
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

bool pl_feed_has(const struct pl_feed *feed, const struct pl_subscription *sub)
{
    return feed->generation && feed->generation == sub->generation;
}

bool pl_feed_leave(struct pl_feed *feed, const struct pl_subscription *sub)
{
    if (feed->generation != sub->generation)
        return false;
    listeners_of(feed, sub->shard)[sub->lane]--;
    feed->n_listeners--;
    return true;
}

static struct pl_feed_node *find_node(struct pl_feed *feed, const struct pl_node_id *node)
{
    for (size_t i = 0; i < feed->nodes.len; i++)
        if (pl_node_id_eq(&feed->nodes.ptr[i].id, node))
            return &feed->nodes.ptr[i];
    return NULL;
}

bool pl_feed_has_node(struct pl_feed *feed, const struct pl_node_id *node)
{
    return find_node(feed, node);
}

bool pl_feed_enter_node(struct pl_feed *feed, const struct pl_node_id *node, bool wants_whole,
                        int64_t ask)
{
    struct pl_feed_node *known = find_node(feed, node);
    if (known) {
        known->wants_whole = known->wants_whole || wants_whole;
        known->ask = known->ask > ask ? known->ask : ask;
        return true;
    }
    if (!pl_vec_push(&feed->nodes, (struct pl_feed_node){*node, wants_whole, ask}))
        return false;
    feed->n_listeners++;
    return true;
}

bool pl_feed_leave_node(struct pl_feed *feed, const struct pl_node_id *node, int64_t ask)
{
    struct pl_feed_node *known = find_node(feed, node);
    if (!known || known->ask > ask)
        return false;
    *known = feed->nodes.ptr[--feed->nodes.len];
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

bool pl_feed_replay_unspelled(const struct pl_feed *feed, bool wants_whole, int64_t since,
                              int64_t position, struct pl_buf *to, uint32_t *ret_n)
{
    /* The history is the same for all lanes, except for the content. */
    enum pl_lane lane = wants_whole ? PL_LANE_WS_WHOLE : PL_LANE_WS;
    if (!pl_history_covers(&feed->history, lane, since, position))
        return false;
    *ret_n = pl_history_collect(&feed->history, since, to);
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
    pl_vec_deinit(&feed->nodes);
    pl_mem_free(feed->listeners);
}

void pl_published_deinit(struct pl_published *published)
{
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        pl_chunk_unref(published->chunks[lane]);
    pl_chunk_unref(published->unspelled);
}

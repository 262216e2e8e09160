/* From a session to its listeners: spelled once per lane, handed to every shard that has any. */
#include "base/mem.h"
#include "server/driver_int.h"
#include "server/live.h"

static uint32_t *listeners_of(const struct pl_driver *driver, size_t shard)
{
    return &driver->listeners[shard * PL_LANE_COUNT];
}

static bool has_lane(const struct pl_driver *driver, enum pl_lane lane)
{
    if (!driver->n_listeners)
        return false;
    for (size_t s = 0; s < driver->drivers->shard->server->n_shards; s++)
        if (listeners_of(driver, s)[lane])
            return true;
    return false;
}

bool pl_publish_wants_whole(const struct pl_driver *driver)
{
    return has_lane(driver, PL_LANE_WS_WHOLE) || has_lane(driver, PL_LANE_SSE_WHOLE);
}

static enum pl_status spell_lane(struct pl_driver *driver, const struct pl_session_out *out,
                                 enum pl_lane lane, struct pl_chunk **ret_chunk)
{
    struct pl_buf *to = &driver->drivers->spelled;
    int64_t epoch = pl_session_record(driver->session)->epoch;
    pl_buf_clear(to);
    for (size_t i = 0; i < out->frames.len; i++) {
        const struct pl_session_frame *frame = &out->frames.ptr[i];
        bool is_whole = pl_lane_is_whole(lane) && frame->whole.ptr;
        pl_spell_event(to, lane, pl_frame_text(frame->kind), is_whole ? frame->whole : frame->data,
                       epoch, frame->sequence);
    }
    if (to->status != PL_OK)
        return to->status;
    *ret_chunk = pl_chunk_create(pl_buf_str(to), (uint32_t)out->frames.len);
    return *ret_chunk ? PL_OK : PL_NOMEM;
}

static void count_history(struct pl_driver *driver, size_t n_before)
{
    pl_metric_add(&driver->drivers->shard->metrics, PL_METRIC_history_bytes,
                  (int64_t)driver->history.n_bytes - (int64_t)n_before);
}

static void remember(struct pl_driver *driver, const struct pl_session_out *out)
{
    size_t n_before = driver->history.n_bytes;
    size_t max_bytes = pl_history_share(driver->drivers->by_id.n_links);
    for (size_t i = 0; i < out->frames.len; i++)
        if (!pl_history_add(&driver->history, &out->frames.ptr[i], max_bytes))
            break;
    count_history(driver, n_before);
}

void pl_publish_forget(struct pl_driver *driver)
{
    size_t n_before = driver->history.n_bytes;
    pl_history_deinit(&driver->history);
    count_history(driver, n_before);
}

enum pl_status pl_publish_spell(struct pl_driver *driver, const struct pl_session_out *out,
                                struct pl_pending *pending)
{
    if (!out->frames.len)
        return PL_OK;
    pending->n_frames = (int64_t)out->frames.len;
    remember(driver, out);
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++) {
        if (!has_lane(driver, (enum pl_lane)lane))
            continue;
        enum pl_status status = spell_lane(driver, out, (enum pl_lane)lane, &pending->chunks[lane]);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* One letter per shard that has listeners. A letter that cannot be made is a gap: its listeners
 * will see it by the sequence, and subscribe again. */
static struct pl_delivery *make_delivery(struct pl_driver *driver, size_t shard)
{
    struct pl_str id = driver->link.key;
    struct pl_delivery *delivery = pl_mem_alloc(1, sizeof *delivery + id.len);
    if (!delivery)
        return NULL;
    *delivery = (struct pl_delivery){.n_id = id.len};
    delivery->hub = driver->drivers->shard->server->shards[shard]->hub;
    delivery->letter.open = pl_hub_open_delivery;
    memcpy(delivery->id, id.ptr, id.len);
    return delivery;
}

static bool listens(const struct pl_driver *driver, size_t shard)
{
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        if (listeners_of(driver, shard)[lane])
            return true;
    return false;
}

static void post(struct pl_driver *driver, size_t shard, struct pl_delivery *delivery)
{
    pl_loop_post(driver->drivers->shard->server->shards[shard]->loop, &delivery->letter);
}

void pl_publish_deliver(struct pl_driver *driver, struct pl_pending *pending)
{
    struct pl_shard *home = driver->drivers->shard;
    pl_metric_add(&home->metrics, PL_METRIC_events_total, pending->n_frames);
    if (!pending->n_frames || !driver->n_listeners)
        return;
    for (size_t s = 0; s < home->server->n_shards; s++) {
        struct pl_delivery *delivery = listens(driver, s) ? make_delivery(driver, s) : NULL;
        if (!delivery)
            continue;
        for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
            if (pending->chunks[lane] && listeners_of(driver, s)[lane])
                delivery->chunks[lane] = pl_chunk_ref(pending->chunks[lane]);
        post(driver, s, delivery);
    }
}

void pl_publish_resync(struct pl_driver *driver, bool is_gone)
{
    if (!driver->n_listeners)
        return;
    for (size_t s = 0; s < driver->drivers->shard->server->n_shards; s++) {
        struct pl_delivery *delivery = listens(driver, s) ? make_delivery(driver, s) : NULL;
        if (!delivery)
            continue;
        delivery->is_resync = true;
        delivery->is_gone = is_gone;
        post(driver, s, delivery);
    }
    memset(driver->listeners, 0,
           driver->drivers->shard->server->n_shards * PL_LANE_COUNT * sizeof *driver->listeners);
    driver->n_listeners = 0;
    driver->generation = 0;
}

/* --- listening ------------------------------------------------------------------------------- */

static bool count_listener(struct pl_driver *driver, struct pl_subscription *sub)
{
    size_t n = driver->drivers->shard->server->n_shards * PL_LANE_COUNT;
    if (!driver->listeners) {
        driver->listeners = pl_mem_alloc(n, sizeof *driver->listeners);
        if (!driver->listeners)
            return false;
        memset(driver->listeners, 0, n * sizeof *driver->listeners);
    }
    if (!driver->generation)
        driver->generation = ++driver->drivers->n_generations;
    listeners_of(driver, sub->shard)[sub->lane]++;
    driver->n_listeners++;
    sub->generation = driver->generation;
    return true;
}

/* Which way to resume is decided here, where the events are made, so nothing slips between what is
 * replayed and what comes next. The reply is the replay as spelled bytes, or empty: then the asker
 * makes a snapshot of `look` and the store (ask->next_entry, ask->position). */
void pl_driver_subscribe(struct pl_driver *driver, struct pl_ask *ask)
{
    struct pl_subscription *sub = ask->subscription;
    int64_t epoch = pl_session_record(driver->session)->epoch;
    int64_t position = pl_session_position(driver->session);
    bool is_counted = sub->generation && sub->generation == driver->generation;
    if (!is_counted && !count_listener(driver, sub)) {
        pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    bool is_known = ask->has_since && ask->since_epoch == epoch && ask->since_sequence >= 0 &&
                    ask->since_sequence <= position;
    if (is_known && pl_history_covers(&driver->history, sub->lane, ask->since_sequence, position)) {
        ask->resume = PL_RESUME_REPLAY;
        ask->n_frames =
            pl_history_spell(&driver->history, sub->lane, epoch, ask->since_sequence, &ask->reply);
        pl_driver_answer_in_line(driver, ask);
        return;
    }
    ask->resume = is_known ? PL_RESUME_COMPACTED : PL_RESUME_SNAPSHOT;
    pl_driver_look(driver, ask);
}

void pl_driver_open_unlisten(struct pl_letter *letter)
{
    struct pl_subscription *sub = PL_CONTAINER_OF(letter, struct pl_subscription, letter);
    struct pl_str id = {sub->id, sub->n_id};
    struct pl_shard *shard = pl_shard_of_session(sub->server, id);
    struct pl_driver *driver = shard->drivers ? pl_driver_find(shard->drivers, id) : NULL;
    if (driver && driver->generation == sub->generation) {
        listeners_of(driver, sub->shard)[sub->lane]--;
        driver->n_listeners--;
        pl_driver_settle(driver);
    }
    pl_mem_free(sub);
}

/* The connections of a shard and the topics they listen to. A delivery from a session's shard goes
 * to every listener of its topic. */
#include "live/hub.h"

#include "base/mem.h"
#include "live/encode.h"
#include "live/listener.h"
#include "live/lists.h"

enum pl_status pl_hub_create(struct pl_shard *shard, struct pl_hub **ret_hub)
{
    struct pl_hub *hub = pl_mem_alloc(1, sizeof *hub);
    if (!hub)
        return PL_NOMEM;
    *hub = (struct pl_hub){.shard = shard};
    *ret_hub = hub;
    return PL_OK;
}

void pl_hub_destroy(struct pl_hub *hub)
{
    if (!hub)
        return;
    pl_table_deinit(&hub->topics);
    pl_mem_free(hub);
}

size_t pl_hub_n_sockets(const struct pl_hub *hub)
{
    return hub->n_lives;
}

void pl_hub_enter(struct pl_hub *hub, struct pl_live *live)
{
    live->next = hub->lives;
    if (hub->lives)
        hub->lives->prev = live;
    hub->lives = live;
    hub->n_lives += !live->kind->outlasts;
}

void pl_hub_leave(struct pl_hub *hub, struct pl_live *live)
{
    pl_lists_follow(live, false);
    if (live->prev)
        live->prev->next = live->next;
    else
        hub->lives = live->next;
    if (live->next)
        live->next->prev = live->prev;
    hub->n_lives -= !live->kind->outlasts;
}

/* --- topics ---------------------------------------------------------------------------------- */

static struct pl_topic *find_topic(struct pl_hub *hub, struct pl_str session_id)
{
    struct pl_table_link *link = pl_table_get(&hub->topics, session_id);
    return link ? PL_CONTAINER_OF(link, struct pl_topic, link) : NULL;
}

struct pl_topic *pl_hub_topic(struct pl_hub *hub, struct pl_str session_id)
{
    struct pl_topic *topic = find_topic(hub, session_id);
    if (topic)
        return topic;
    topic = pl_mem_alloc(1, sizeof *topic + session_id.len);
    if (!topic)
        return NULL;
    *topic = (struct pl_topic){0};
    memcpy(topic + 1, session_id.ptr, session_id.len);
    topic->link.key = (struct pl_str){(const char *)(topic + 1), session_id.len};
    if (pl_table_put(&hub->topics, &topic->link))
        return topic;
    pl_mem_free(topic);
    return NULL;
}

void pl_hub_topic_leave(struct pl_hub *hub, struct pl_subscription *sub)
{
    struct pl_topic *topic = sub->topic;
    if (sub->prev_of_topic)
        sub->prev_of_topic->next_of_topic = sub->next_of_topic;
    else
        topic->subs = sub->next_of_topic;
    if (sub->next_of_topic)
        sub->next_of_topic->prev_of_topic = sub->prev_of_topic;
    if (topic->subs)
        return;
    pl_table_remove(&hub->topics, &topic->link);
    pl_mem_free(topic);
}

/* --- deliveries ------------------------------------------------------------------------------ */

static void hold(struct pl_subscription *sub, struct pl_chunk *chunk)
{
    bool is_over = sub->held.n_bytes + chunk->n > PL_LIVE_MAX_QUEUE;
    if (!is_over && pl_outbox_push(&sub->held, chunk))
        return;
    /* The snapshot that is being read would be followed by a gap, so it will be discarded. */
    pl_outbox_deinit(&sub->held);
    pl_subscription_become(sub, PL_SUBSCRIPTION_STALE);
}

static void deliver(struct pl_subscription *sub, const struct pl_delivery *delivery)
{
    struct pl_chunk *chunk = delivery->chunks[sub->lane];
    if (chunk && sub->state == PL_SUBSCRIPTION_LIVE)
        pl_live_push_events(sub->live, chunk);
    else if (chunk && sub->state == PL_SUBSCRIPTION_HOLDING)
        hold(sub, chunk);
}

static void resync(struct pl_subscription *sub, bool is_gone)
{
    struct pl_live *live = sub->live;
    if (is_gone) {
        struct pl_session_command command;
        sub->generation = 0;
        pl_session_command_init(&command, PL_COMMAND_SUBSCRIBE, live->shard, (struct pl_str){0},
                                (struct pl_str){sub->id, sub->n_id});
        command.problem = PL_PROBLEM_NOT_FOUND;
        live->kind->on_refused(live, sub, &command);
        pl_live_unsubscribe(live, sub);
        return;
    }
    if (pl_subscription_is_away(sub)) {
        if (sub->state == PL_SUBSCRIPTION_HOLDING)
            pl_subscription_become(sub, PL_SUBSCRIPTION_STALE);
        return;
    }
    sub->generation = 0;
    pl_subscription_ask_later(sub, PL_SUBSCRIPTION_AGAIN_MS);
}

void pl_hub_open_delivery(struct pl_letter *letter)
{
    struct pl_delivery *delivery = PL_CONTAINER_OF(letter, struct pl_delivery, letter);
    struct pl_topic *topic =
        find_topic(delivery->hub, (struct pl_str){delivery->id, delivery->n_id});
    for (struct pl_subscription *sub = topic ? topic->subs : NULL, *next; sub; sub = next) {
        next = sub->next_of_topic;
        if (delivery->is_resync)
            resync(sub, delivery->is_gone);
        else
            deliver(sub, delivery);
    }
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        pl_chunk_unref(delivery->chunks[lane]);
    pl_mem_free(delivery);
}

/* --- ends ------------------------------------------------------------------------------------ */

enum { AWAY_LOOK_MS = 20 };

/* The number of sockets that may stay for now. */
static size_t n_staying(const struct pl_hub *hub, int64_t now_ms)
{
    int64_t left_ms = hub->away_until_ms - now_ms;
    return left_ms > 0 ? (size_t)((int64_t)hub->n_before * left_ms / hub->away_ms) : 0;
}

static void send_away(struct pl_timer *timer)
{
    struct pl_hub *hub = PL_CONTAINER_OF(timer, struct pl_hub, away);
    size_t n_stay = n_staying(hub, pl_loop_now_ms(hub->shard->loop)), n_seen = 0;
    for (struct pl_live *live = hub->lives, *next; live; live = next) {
        next = live->next;
        if (!live->kind->outlasts && !pl_live_is_closing(live) && ++n_seen > n_stay)
            live->kind->close(live, PL_WS_CLOSE_GOING_AWAY, "the server is stopping");
    }
    if (n_stay)
        pl_timer_start(hub->shard->loop, timer, AWAY_LOOK_MS, send_away);
}

void pl_hub_go_away(struct pl_hub *hub, int64_t over_ms)
{
    hub->n_before = hub->n_lives;
    hub->away_ms = over_ms;
    hub->away_until_ms = pl_loop_now_ms(hub->shard->loop) + over_ms;
    send_away(&hub->away);
}

void pl_hub_drop_all(struct pl_hub *hub)
{
    if (hub)
        pl_timer_stop(hub->shard->loop, &hub->away);
    while (hub && hub->lives)
        hub->lives->kind->close(hub->lives, 0, NULL);
}

struct closing {
    struct pl_letter letter;
    struct pl_hub *hub;
    bool is_user; /* the id of a user, else of a key */
    size_t n_id;
    char id[];
};

static void open_closing(struct pl_letter *letter)
{
    struct closing *closing = PL_CONTAINER_OF(letter, struct closing, letter);
    struct pl_str id = {closing->id, closing->n_id};
    for (struct pl_live *live = closing->hub->lives, *next; live; live = next) {
        next = live->next;
        struct pl_str own = closing->is_user && live->who ? pl_live_user(live) : pl_live_key(live);
        if (id.len && pl_str_eq(own, id))
            live->kind->close(live, PL_WS_CLOSE_UNAUTHORIZED,
                              closing->is_user ? "the user was disabled" : "the key was revoked");
    }
    pl_mem_free(closing);
}

static bool close_everywhere(struct pl_server *server, struct pl_str id, bool is_user)
{
    bool is_sent = true;
    for (size_t s = 0; s < server->n_shards; s++) {
        struct closing *closing = pl_mem_alloc(1, sizeof *closing + id.len);
        if (!closing) {
            is_sent = false;
            continue;
        }
        *closing =
            (struct closing){.hub = server->shards[s]->hub, .is_user = is_user, .n_id = id.len};
        closing->letter.open = open_closing;
        memcpy(closing->id, id.ptr, id.len);
        pl_loop_post(server->shards[s]->loop, &closing->letter);
    }
    return is_sent;
}

bool pl_hub_close_key_everywhere(struct pl_server *server, struct pl_str key_id)
{
    return close_everywhere(server, key_id, false);
}

bool pl_hub_close_user_everywhere(struct pl_server *server, struct pl_str user_id)
{
    return close_everywhere(server, user_id, true);
}

/* --- what a user is told --------------------------------------------------------------------- */

enum audience {
    OF_USER,       /* all sockets of a user */
    LISTS_OF_USER, /* those that follow lists */
    LISTS_OF_ALL,  /* the same of every user */
};

struct telling {
    struct pl_letter letter;
    struct pl_hub *hub;
    struct pl_chunk *chunk; /* a reference */
    enum audience audience;
    size_t n_user;
    char user[];
};

static void open_telling(struct pl_letter *letter)
{
    struct telling *telling = PL_CONTAINER_OF(letter, struct telling, letter);
    struct pl_str user_id = {telling->user, telling->n_user};
    for (struct pl_live *live = telling->hub->lives, *next; live; live = next) {
        next = live->next;
        bool hears = live->kind->hears_user && live->who && !pl_live_is_closing(live) &&
                     (telling->audience == OF_USER || live->hears_lists);
        bool is_theirs =
            telling->audience == LISTS_OF_ALL || pl_str_eq(pl_live_user(live), user_id);
        if (hears && is_theirs)
            pl_live_push(live, telling->chunk);
    }
    pl_chunk_unref(telling->chunk);
    pl_mem_free(telling);
}

static void tell(struct pl_server *server, enum audience audience, struct pl_str user_id,
                 const char *event, struct pl_str data)
{
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_encode_event(&frame, PL_LANE_WS, event, data, -1, 0);
    struct pl_chunk *chunk = frame.status == PL_OK ? pl_chunk_create(pl_buf_str(&frame), 1) : NULL;
    for (size_t s = 0; chunk && s < server->n_shards; s++) {
        struct pl_hub *hub = server->shards[s]->hub;
        if (audience != OF_USER && !atomic_load_explicit(&hub->n_lists, memory_order_relaxed))
            continue;
        struct telling *telling = pl_mem_alloc(1, sizeof *telling + user_id.len);
        if (!telling)
            continue;
        *telling = (struct telling){.hub = hub, .audience = audience, .n_user = user_id.len};
        telling->chunk = pl_chunk_ref(chunk);
        telling->letter.open = open_telling;
        memcpy(telling->user, user_id.ptr, user_id.len);
        pl_loop_post(server->shards[s]->loop, &telling->letter);
    }
    pl_chunk_unref(chunk);
}

/* Sends a bell to the other nodes: the character 'l' (lists) or 'u' (user), then the user, the
 * event and its data. A line break follows the user and the event. */
static void ring(struct pl_server *server, struct pl_str user_id, const char *event,
                 struct pl_str data, bool is_list)
{
    struct pl_buf text PL_CLEANUP_BUF;
    if (!server->ring)
        return;
    pl_buf_init(&text, 0);
    pl_buf_addc(&text, is_list ? 'l' : 'u');
    pl_buf_add(&text, user_id);
    pl_buf_addc(&text, '\n');
    pl_buf_adds(&text, event);
    pl_buf_addc(&text, '\n');
    pl_buf_add(&text, data);
    if (text.status == PL_OK)
        server->ring(server, PL_BELL_USER, pl_buf_str(&text));
}

/* Cuts the first line off the rest, without its line break; {NULL, 0}: there is no line break. */
static struct pl_str cut_line(struct pl_str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    if (!end)
        return (struct pl_str){0};
    size_t n = (size_t)(end - rest->ptr);
    struct pl_str line = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, n + 1, rest->len);
    return line;
}

void pl_hub_hear_user(struct pl_server *server, struct pl_str text)
{
    char event[64];
    bool is_list = text.len && text.ptr[0] == 'l';
    struct pl_str data = pl_str_slice(text, text.len ? 1 : 0, text.len);
    struct pl_str user_id = cut_line(&data), name = cut_line(&data);
    if (!user_id.len || !name.len || name.len >= sizeof event)
        return;
    memcpy(event, name.ptr, name.len);
    event[name.len] = '\0';
    tell(server, is_list ? LISTS_OF_USER : OF_USER, user_id, event, data);
}

void pl_hub_tell_user(struct pl_server *server, struct pl_str user_id, const char *event,
                      struct pl_str data)
{
    tell(server, OF_USER, user_id, event, data);
    ring(server, user_id, event, data, false);
}

void pl_lists_tell(struct pl_server *server, struct pl_str user_id, const char *event,
                   struct pl_str data)
{
    if (!pl_lists_are_followed(server))
        return;
    tell(server, LISTS_OF_USER, user_id, event, data);
    ring(server, user_id, event, data, true);
}

void pl_lists_say_missed_everywhere(struct pl_server *server)
{
    tell(server, LISTS_OF_ALL, PL_STR(""), "user:missed", PL_STR("{}"));
}

/* Opens and closes the bus, chooses the way of each letter, and reports states to the owner. */
#include "bus/bus_int.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/entropy.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { PAUSE_MS = 100, PAUSE_DOUBLED = 3 /* times, at most */ };

static const struct pl_node_id everybody;

const char *pl_bus_kind_text(enum pl_bus_kind kind)
{
    static const char *const texts[] = {"local", "pg", "nats"};
    return texts[kind];
}

const char *pl_bus_state_text(enum pl_bus_state state)
{
    static const char *const texts[] = {"up", "degraded", "down"};
    return texts[state];
}

/* --- callbacks to the owner ------------------------------------------------------------------ */

void pl_bus_deliver(struct pl_bus *bus, struct pl_str letter, bool is_to_all)
{
    pthread_mutex_lock(&bus->telling);
    if (!pl_bus_is_closing(bus))
        bus->on_letter(bus->ctx, letter, is_to_all);
    pthread_mutex_unlock(&bus->telling);
}

/* Call under the lock. */
static enum pl_bus_state state_of(const struct pl_bus *bus)
{
    if (bus->is_up[PL_BUS_WAY_NATS])
        return PL_BUS_UP;
    if (!bus->is_up[PL_BUS_WAY_SENDER] || !bus->is_up[PL_BUS_WAY_RECEIVER])
        return PL_BUS_DOWN;
    return bus->kind == PL_BUS_NATS ? PL_BUS_DEGRADED : PL_BUS_UP;
}

void pl_bus_note(struct pl_bus *bus, enum pl_bus_way way, bool is_up, const char *why)
{
    pthread_mutex_lock(&bus->lock);
    bus->is_up[way] = is_up;
    bool is_news = state_of(bus) != bus->told;
    pthread_mutex_unlock(&bus->lock);
    if (!is_news)
        return;
    pthread_mutex_lock(&bus->telling);
    pthread_mutex_lock(&bus->lock);
    enum pl_bus_state state = state_of(bus);
    bool is_told = state != bus->told && !bus->is_closing && bus->on_state;
    bus->told = state;
    pthread_mutex_unlock(&bus->lock);
    if (is_told)
        bus->on_state(bus->ctx, state, why ? why : "the bus works again");
    pthread_mutex_unlock(&bus->telling);
}

/* --- waiting --------------------------------------------------------------------------------- */

bool pl_bus_is_closing(struct pl_bus *bus)
{
    pthread_mutex_lock(&bus->lock);
    bool is_closing = bus->is_closing;
    pthread_mutex_unlock(&bus->lock);
    return is_closing;
}

bool pl_bus_pause(struct pl_bus *bus, size_t n_tries)
{
    int64_t ms = PAUSE_MS << (n_tries < PAUSE_DOUBLED ? n_tries : PAUSE_DOUBLED);
    unsigned char chance = 0;
    bool has_chance = pl_entropy_fill(&chance, sizeof chance);
    struct timespec until = pl_clock_in_ms(ms + (has_chance ? chance % PAUSE_MS : 0));
    pthread_mutex_lock(&bus->lock);
    while (!bus->is_closing && pthread_cond_timedwait(&bus->changed, &bus->lock, &until) == 0)
        ;
    bool goes_on = !bus->is_closing;
    pthread_mutex_unlock(&bus->lock);
    return goes_on;
}

/* --- opening, closing ------------------------------------------------------------------------ */

static void init_locks(struct pl_bus *bus)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&bus->changed, &attr);
    pthread_cond_init(&bus->nats_changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&bus->telling, NULL);
    pthread_mutex_init(&bus->lock, NULL);
}

enum pl_status pl_bus_start(struct pl_bus *bus, struct pl_bus_thread *thread,
                            void *(*run)(void *bus), struct pl_error *err)
{
    int code = pthread_create(&thread->thread, NULL, run, bus);
    thread->is_running = code == 0;
    return code
               ? pl_fail(err, PL_NOMEM, "a thread of the bus cannot be started: %s", strerror(code))
               : PL_OK;
}

void pl_bus_join(struct pl_bus_thread *thread)
{
    if (thread->is_running)
        pthread_join(thread->thread, NULL);
    thread->is_running = false;
}

static enum pl_status check(const struct pl_bus_config *config, bool has_letters,
                            struct pl_error *err)
{
    if (config->url && !has_letters)
        return pl_fail(err, PL_INVALID,
                       "a bus between nodes needs a store in PostgreSQL: use --store postgres://…, "
                       "or leave --bus out");
    if (!config->url && (config->ca || config->cert || config->key || config->creds))
        return pl_fail(err, PL_INVALID,
                       "certificates and credentials of the bus are for NATS: use --bus nats://… "
                       "or tls://…, or leave them out");
    return PL_OK;
}

enum pl_status pl_bus_open(const struct pl_bus_config *config, struct pl_bus **ret_bus,
                           struct pl_error *err)
{
    bool has_letters = config->store && pl_store_has_letters(config->store);
    enum pl_status status = check(config, has_letters, err);
    if (status != PL_OK)
        return status;
    struct pl_bus *bus = pl_mem_alloc(1, sizeof *bus);
    if (!bus)
        return pl_fail(err, PL_NOMEM, "out of memory while the bus was opened");
    *bus = (struct pl_bus){
        .kind = config->url   ? PL_BUS_NATS
                : has_letters ? PL_BUS_PG
                              : PL_BUS_LOCAL,
        .me = config->me,
        .on_letter = config->on_letter,
        .on_state = config->on_state,
        .ctx = config->ctx,
        .is_up = {[PL_BUS_WAY_SENDER] = true, [PL_BUS_WAY_RECEIVER] = true},
        .wake_fd = -1,
    };
    init_locks(bus);
    pl_bus_queue_init(&bus->queue);
    bus->told = state_of(bus);
    status = pl_bus_store_start(bus, has_letters ? config->store : NULL, err);
    if (status == PL_OK && bus->kind == PL_BUS_NATS)
        status = pl_bus_nats_start(bus, config, err);
    if (status == PL_OK)
        *ret_bus = bus;
    else
        pl_bus_close(bus);
    return status;
}

void pl_bus_close(struct pl_bus *bus)
{
    if (!bus)
        return;
    pthread_mutex_lock(&bus->lock);
    bus->is_closing = true;
    pthread_cond_broadcast(&bus->changed);
    pthread_cond_broadcast(&bus->nats_changed);
    pthread_mutex_unlock(&bus->lock);
    pl_bus_look(bus);
    pl_bus_nats_stop(bus);
    pl_bus_store_stop(bus);
    pl_bus_nats_destroy(bus);
    pl_bus_queue_deinit(&bus->queue);
    pthread_mutex_destroy(&bus->lock);
    pthread_mutex_destroy(&bus->telling);
    pthread_cond_destroy(&bus->changed);
    pthread_cond_destroy(&bus->nats_changed);
    pl_mem_free(bus);
}

void pl_bus_look(struct pl_bus *bus)
{
    uint64_t one = 1;
    if (bus->wake_fd >= 0 && write(bus->wake_fd, &one, sizeof one) != sizeof one)
        return; /* the counter is full, so the receiver is awake */
}

/* --- sending --------------------------------------------------------------------------------- */

/* Call under the lock. */
static size_t n_waiting(struct pl_bus *bus)
{
    return bus->queue.n_bytes + (bus->nats ? pl_bus_nats_queue(bus->nats)->n_bytes : 0);
}

static bool is_on_nats(struct pl_bus *bus, const struct pl_node_id *to)
{
    const struct pl_bus_peer *peer = pl_bus_peers_find(&bus->peers, to);
    return bus->is_up[PL_BUS_WAY_NATS] && !pl_node_id_eq(to, &bus->me) &&
           !(peer && pl_bus_peer_is_off_nats(peer));
}

/* The threads that have something to send. */
struct news {
    bool is_for_nats, is_for_sender;
};

/* Call under the lock. */
static enum pl_status enqueue(struct pl_bus *bus, bool is_by_nats, const struct pl_node_id *to,
                              bool is_to_all, struct pl_str bytes, struct news *news)
{
    *(is_by_nats ? &news->is_for_nats : &news->is_for_sender) = true;
    return pl_bus_queue_push(is_by_nats ? pl_bus_nats_queue(bus->nats) : &bus->queue, to, is_to_all,
                             bytes, pl_clock_ms());
}

/* Sends a letter to everybody through the store to each node that is not on NATS. */
static enum pl_status push_absent(struct pl_bus *bus, struct pl_str bytes, struct news *news)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < bus->peers.n; i++)
        if (pl_bus_peer_is_off_nats(&bus->peers.items[i]))
            status = enqueue(bus, false, &bus->peers.items[i].node, true, bytes, news);
    return status;
}

static enum pl_status push(struct pl_bus *bus, const struct pl_node_id *to, struct pl_str bytes,
                           bool by_store, struct news *news)
{
    bool is_to_all = pl_node_id_is_zero(to), is_by_nats = !by_store && is_on_nats(bus, to);
    if (n_waiting(bus) + bytes.len > PL_BUS_WAITING_MAX)
        return PL_LIMIT;
    enum pl_status status = enqueue(bus, is_by_nats, to, is_to_all, bytes, news);
    return status == PL_OK && is_by_nats && is_to_all ? push_absent(bus, bytes, news) : status;
}

/* Only the thread that sends the letter is woken, after the lock was released: a needless wakeup
 * costs more than the letter. */
static enum pl_status send(struct pl_bus *bus, const struct pl_node_id *to, struct pl_str bytes,
                           bool by_store)
{
    struct news news = {0};
    if (bytes.len > PL_BUS_LETTER_MAX)
        return PL_LIMIT;
    if (bus->kind == PL_BUS_LOCAL && !pl_node_id_eq(to, &bus->me))
        return PL_OK;
    pthread_mutex_lock(&bus->lock);
    enum pl_status status = push(bus, to, bytes, by_store, &news);
    pthread_mutex_unlock(&bus->lock);
    if (news.is_for_nats)
        pthread_cond_broadcast(&bus->nats_changed);
    if (news.is_for_sender)
        pthread_cond_broadcast(&bus->changed);
    return status;
}

enum pl_status pl_bus_send(struct pl_bus *bus, const struct pl_node_id *to, struct pl_str bytes,
                           bool by_store)
{
    return pl_node_id_is_zero(to) ? PL_INVALID : send(bus, to, bytes, by_store);
}

enum pl_status pl_bus_send_all(struct pl_bus *bus, struct pl_str bytes)
{
    return send(bus, &everybody, bytes, false);
}

/* --- looking --------------------------------------------------------------------------------- */

bool pl_bus_is_unheard(struct pl_bus *bus, const struct pl_node_id *node)
{
    pthread_mutex_lock(&bus->lock);
    const struct pl_bus_peer *peer = pl_bus_peers_find(&bus->peers, node);
    bool is_unheard = peer && peer->state == PL_BUS_PEER_UNHEARD && bus->is_up[PL_BUS_WAY_NATS];
    pthread_mutex_unlock(&bus->lock);
    return is_unheard;
}

enum pl_bus_kind pl_bus_kind(const struct pl_bus *bus)
{
    return bus->kind;
}

enum pl_bus_state pl_bus_state(struct pl_bus *bus)
{
    pthread_mutex_lock(&bus->lock);
    enum pl_bus_state state = state_of(bus);
    pthread_mutex_unlock(&bus->lock);
    return state;
}

static size_t waiting_in(const struct pl_bus_queue *queue, const struct pl_node_id *to)
{
    return pl_bus_queue_waiting(queue, to) + pl_bus_queue_waiting(queue, &everybody);
}

size_t pl_bus_waiting(struct pl_bus *bus, const struct pl_node_id *to)
{
    pthread_mutex_lock(&bus->lock);
    size_t n = waiting_in(&bus->queue, to);
    if (bus->nats)
        n += waiting_in(pl_bus_nats_queue(bus->nats), to);
    pthread_mutex_unlock(&bus->lock);
    return n;
}

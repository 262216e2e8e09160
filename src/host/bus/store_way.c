/* Letters through the store.
 *
 * The sender takes the waiting letters, puts those for one receiver into one row, and rings once
 * for all receivers. While the database does not answer, it keeps the parcel and retries; letters
 * older than a minute are dropped. A parcel that is written twice has the same number, so it is
 * received once.
 *
 * The receiver takes its rows after a NOTIFY, after pl_bus_look, and after every connect, because
 * it missed notifications in between. From time to time it deletes rows that nobody takes, for any
 * receiver. */
#include "bus/bus_int.h"
#include "base/buf.h"
#include "io/clock.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    PARCEL_BYTES = 256 << 10, /* a longer letter is a parcel of its own */
    ROUND_BYTES = 1 << 20,    /* the sender rings after this much */
    LOOK_MS = 5000,           /* the receiver polls, even without a notification */
    EXPIRE_MS = 15000,
};

/* A writer is a process, so its parcel numbers belong to the process: a bus that is opened again
 * continues them. */
static _Atomic(int64_t) last_number;

/* --- sending --------------------------------------------------------------------------------- */

/* The receivers that the sender has to notify. */
struct bells {
    struct pl_node_id to[PL_LETTERS_RING_MAX];
    size_t n;
    bool is_for_all;
};

struct sender {
    struct pl_bus *bus;
    struct pl_buf parcel;
    struct bells bells;
    bool has_given_up; /* the bus is closing and the connection is broken */
};

static bool is_old(const struct pl_bus_item *item)
{
    return pl_clock_ms() - item->at_ms > PL_LETTERS_OLD_MS;
}

/* The first failure is not reported: the connection may have been closed while it was idle. Returns
 * false if the bus is closing. */
static bool recover(struct sender *sender, size_t n_tries, const struct pl_error *err)
{
    if (n_tries > 0)
        pl_bus_note(sender->bus, PL_BUS_WAY_SENDER, false, err->message);
    if (pl_bus_is_closing(sender->bus) || (n_tries > 0 && !pl_bus_pause(sender->bus, n_tries - 1)))
        sender->has_given_up = true;
    return !sender->has_given_up;
}

static void forget(struct pl_bus *bus, const struct pl_node_id *node)
{
    pthread_mutex_lock(&bus->lock);
    pl_bus_peers_forget(&bus->peers, node);
    pthread_mutex_unlock(&bus->lock);
}

static void add_bell(struct bells *bells, const struct pl_node_id *to)
{
    if (!to)
        bells->is_for_all = true;
    for (size_t i = 0; to && i < bells->n; i++)
        if (pl_node_id_eq(&bells->to[i], to))
            return;
    if (to)
        bells->to[bells->n++] = *to;
}

static enum pl_status ring_once(struct sender *sender, struct pl_error *err)
{
    struct bells *bells = &sender->bells;
    enum pl_status status = pl_letters_connect(sender->bus->out, err);
    if (status == PL_OK && bells->n)
        status = pl_letters_ring(sender->bus->out, bells->to, bells->n, err);
    if (status == PL_OK)
        bells->n = 0;
    if (status == PL_OK && bells->is_for_all)
        status = pl_letters_ring_all(sender->bus->out, err);
    if (status == PL_OK)
        bells->is_for_all = false;
    return status;
}

static void ring(struct sender *sender)
{
    struct pl_error err = {0};
    for (size_t n_tries = 0; sender->bells.n || sender->bells.is_for_all; n_tries++)
        if (ring_once(sender, &err) != PL_OK && !recover(sender, n_tries, &err))
            return;
}

/* `last` is the newest letter of the parcel. */
static void put(struct sender *sender, const struct pl_bus_item *last, struct pl_str parcel)
{
    struct pl_bus *bus = sender->bus;
    const struct pl_node_id *to = pl_node_id_is_zero(&last->to) ? NULL : &last->to;
    int64_t number = ++last_number;
    size_t n_nodes = 0;
    for (size_t n_tries = 0; !sender->has_given_up && !is_old(last); n_tries++) {
        struct pl_error err = {0};
        enum pl_status status = pl_letters_connect(bus->out, &err);
        if (status == PL_OK)
            status = pl_letters_put(bus->out, to, number, parcel, &n_nodes, &err);
        if (status == PL_OK)
            break;
        if (!recover(sender, n_tries, &err))
            return;
    }
    if (n_nodes)
        add_bell(&sender->bells, to);
    else if (to && !sender->has_given_up && !is_old(last))
        forget(bus, to);
    if (sender->bells.n == PL_LETTERS_RING_MAX)
        ring(sender);
}

/* Sends letters that are not too old as one parcel, or one by one if there is no memory for it. */
static void put_items(struct sender *sender, const struct pl_bus_item *items)
{
    const struct pl_bus_item *last = NULL;
    while (items && is_old(items))
        items = items->next;
    pl_buf_clear(&sender->parcel);
    for (const struct pl_bus_item *item = items; item; item = item->next) {
        pl_buf_add(&sender->parcel, (struct pl_str){item->bytes, item->len});
        last = item;
    }
    if (last && sender->parcel.status == PL_OK) {
        put(sender, last, pl_buf_str(&sender->parcel));
        return;
    }
    for (const struct pl_bus_item *item = items; item; item = item->next)
        put(sender, item, (struct pl_str){item->bytes, item->len});
}

static void send_items(struct sender *sender, const struct pl_bus_item *items)
{
    struct pl_bus *bus = sender->bus;
    if (!pl_node_id_eq(&items->to, &bus->me)) {
        put_items(sender, items);
        return;
    }
    for (const struct pl_bus_item *item = items; item; item = item->next)
        pl_bus_deliver(bus, pl_bus_item_letter(item), false);
}

/* Returns NULL if the bus is closing and nothing waits. */
static struct pl_bus_item *await_items(struct pl_bus *bus)
{
    struct pl_bus_item *items;
    pthread_mutex_lock(&bus->lock);
    while (!(items = pl_bus_queue_take(&bus->queue, ROUND_BYTES)) && !bus->is_closing)
        pthread_cond_wait(&bus->changed, &bus->lock);
    pthread_mutex_unlock(&bus->lock);
    return items;
}

static void settle(struct pl_bus *bus, struct pl_bus_item *items)
{
    pthread_mutex_lock(&bus->lock);
    pl_bus_queue_settle(&bus->queue, items);
    pthread_mutex_unlock(&bus->lock);
}

static void *run_sender(void *arg)
{
    struct pl_bus *bus = arg;
    struct sender sender = {.bus = bus};
    pl_buf_init(&sender.parcel, 0);
    for (struct pl_bus_item *items; (items = await_items(bus));) {
        while (items) {
            struct pl_bus_item *together = pl_bus_items_gather(&items, PARCEL_BYTES);
            send_items(&sender, together);
            settle(bus, together);
        }
        ring(&sender);
        if (!sender.has_given_up)
            pl_bus_note(bus, PL_BUS_WAY_SENDER, true, NULL);
    }
    pl_buf_deinit(&sender.parcel);
    return NULL;
}

/* --- receiving ------------------------------------------------------------------------------- */

static void open_parcel(void *ctx, const struct pl_node_id *sender, int64_t number,
                        struct pl_str parcel)
{
    struct pl_bus *bus = ctx;
    struct pl_parcel_letter letter;
    pthread_mutex_lock(&bus->lock);
    bool is_new = pl_bus_peers_accept(&bus->peers, sender, number);
    pthread_mutex_unlock(&bus->lock);
    while (is_new && pl_parcel_next(&parcel, &letter))
        pl_bus_deliver(bus, letter.bytes, letter.is_to_all);
}

static enum pl_status take_all(struct pl_bus *bus, struct pl_error *err)
{
    size_t n = PL_LETTERS_TAKE;
    enum pl_status status = PL_OK;
    while (status == PL_OK && n == PL_LETTERS_TAKE && !pl_bus_is_closing(bus))
        status = pl_letters_take(bus->in, open_parcel, bus, &n, err);
    return status;
}

static void clear_wake(struct pl_bus *bus)
{
    uint64_t n;
    if (read(bus->wake_fd, &n, sizeof n) != sizeof n)
        return; /* it was not woken */
}

static enum pl_status receive(struct pl_bus *bus, int64_t *next_expire_ms, struct pl_error *err)
{
    enum pl_status status = pl_letters_connect(bus->in, err);
    clear_wake(bus);
    if (status == PL_OK)
        status = take_all(bus, err);
    if (status == PL_OK && pl_clock_ms() >= *next_expire_ms && !pl_bus_is_closing(bus)) {
        *next_expire_ms = pl_clock_ms() + EXPIRE_MS;
        status = pl_letters_expire(bus->in, err);
    }
    if (status == PL_OK)
        pl_bus_note(bus, PL_BUS_WAY_RECEIVER, true, NULL);
    if (status == PL_OK && !pl_bus_is_closing(bus))
        status = pl_letters_wait(bus->in, bus->wake_fd, LOOK_MS, err);
    return status;
}

static void *run_receiver(void *arg)
{
    struct pl_bus *bus = arg;
    int64_t next_expire_ms = pl_clock_ms();
    for (size_t n_tries = 0; !pl_bus_is_closing(bus);) {
        struct pl_error err = {0};
        if (receive(bus, &next_expire_ms, &err) == PL_OK) {
            n_tries = 0;
            continue;
        }
        pl_bus_note(bus, PL_BUS_WAY_RECEIVER, false, err.message);
        if (!pl_bus_pause(bus, n_tries++))
            break;
    }
    return NULL;
}

/* --- starting, stopping ---------------------------------------------------------------------- */

static enum pl_status open_desks(struct pl_bus *bus, struct pl_store *store, struct pl_error *err)
{
    bus->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (bus->wake_fd < 0)
        return pl_fail(err, PL_IO, "the bus gets no descriptor: %s", strerror(errno));
    enum pl_status status = pl_letters_open(store, &bus->me, true, &bus->in, err);
    return status == PL_OK ? pl_letters_open(store, &bus->me, false, &bus->out, err) : status;
}

enum pl_status pl_bus_store_start(struct pl_bus *bus, struct pl_store *store, struct pl_error *err)
{
    enum pl_status status = store ? open_desks(bus, store, err) : PL_OK;
    if (status == PL_OK)
        status = pl_bus_start(bus, &bus->sender, run_sender, err);
    if (status == PL_OK && store)
        status = pl_bus_start(bus, &bus->receiver, run_receiver, err);
    return status;
}

void pl_bus_store_stop(struct pl_bus *bus)
{
    pl_bus_join(&bus->sender);
    pl_bus_join(&bus->receiver);
    pl_letters_close(bus->out);
    pl_letters_close(bus->in);
    if (bus->wake_fd >= 0)
        close(bus->wake_fd);
}

/* Letters through NATS.
 *
 * One thread of ours connects, sends the waiting letters, and reconnects. libnats has threads for
 * reading and writing, and one that delivers. It never reconnects by itself: a failed connection is
 * dropped with everything in its buffers, so no letter is sent late, and the next one is created
 * from scratch. That also covers the case in which libnats would give up, after the same refusal
 * twice.
 *
 * A letter has a reply subject. It tells the receiver who sent the letter. The server answers on it
 * if nobody listens to the receiver's subject; nothing else is sent to it.
 *
 * A libnats call in progress keeps its link alive: links are reference-counted, and a link forgets
 * its bus before the bus is freed. */
#include "bus/bus_int.h"
#include "bus/libnats.h"
#include "bus/nats_names.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/entropy.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    CONNECT_MS = 2000,
    WRITE_MS = 2000, /* a server that accepts nothing for this long is disconnected */
    PING_MS = 1000,
    PINGS_OUT = 2,
    FLUSH_MS = 1000, /* when the bus closes */
    LOOK_MS = 100,   /* interval of checks whether libnats has closed the connection */
    PENDING_BYTES = 64 << 20,
    ROUND_BYTES = 1 << 20,
    N_SUBJECTS = 3,
    N_READ = 32,           /* messages that are freed together … */
    READ_BYTES = 64 << 10, /* … or earlier, if they have this many bytes */
};

struct link {
    pthread_mutex_t lock; /* held during a delivery */
    struct pl_bus *bus;   /* borrowed; protected by the lock; NULL if dropped */
    _Atomic(int)
        n_refs; /* one for the thread, and one per subscription that libnats may still serve */
    natsConnection *conn; /* owned */
    natsSubscription *subscriptions[N_SUBJECTS];
    /* Protected by the lock: messages that were read. libnats wakes a thread to free a message, so
     * they are freed together. */
    natsMsg *read[N_READ]; /* owned */
    size_t n_read, n_read_bytes;
};

struct pl_bus_nats {
    char *url, *ca, *cert, *key, *creds; /* owned; may be NULL */
    struct pl_str cluster;               /* owned */
    size_t n_addresses, next_address;
    struct pl_bus_thread thread;
    struct pl_bus_queue queue; /* protected by the bus's lock */
    struct link *link;         /* of the thread; NULL if not connected */
    char why[256];             /* why it is not connected */
};

struct pl_bus_queue *pl_bus_nats_queue(struct pl_bus_nats *nats)
{
    return &nats->queue;
}

/* --- delivery -------------------------------------------------------------------------------- */

/* Call with the lock, or without other threads. */
static void give_back(struct link *link)
{
    for (size_t i = 0; i < link->n_read; i++)
        libnats.natsMsg_Destroy(link->read[i]);
    link->n_read = link->n_read_bytes = 0;
}

static void unref(struct link *link)
{
    if (--link->n_refs > 0)
        return;
    give_back(link);
    pthread_mutex_destroy(&link->lock);
    pl_mem_free(link);
}

static void on_complete(void *ctx)
{
    unref(ctx);
}

/* Returns the bus, with the link locked; NULL if the link was dropped. */
static struct pl_bus *begin(struct link *link)
{
    pthread_mutex_lock(&link->lock);
    struct pl_bus *bus = link->bus;
    if (!bus)
        pthread_mutex_unlock(&link->lock);
    return bus;
}

static void hear(struct pl_bus *bus, const char *reply)
{
    struct pl_node_id from, to;
    if (!reply || !pl_nats_read_reply(bus->nats->cluster, reply, &from, &to))
        return;
    pthread_mutex_lock(&bus->lock);
    pl_bus_peers_hear(&bus->peers, &from);
    pthread_mutex_unlock(&bus->lock);
}

static void hand_up(struct link *link, natsMsg *msg, bool is_to_all)
{
    struct pl_bus *bus = begin(link);
    int len = libnats.natsMsg_GetDataLength(msg);
    struct pl_str letter = {libnats.natsMsg_GetData(msg), len > 0 ? (size_t)len : 0};
    if (!bus) {
        libnats.natsMsg_Destroy(msg);
        return;
    }
    hear(bus, libnats.natsMsg_GetReply(msg));
    pl_bus_deliver(bus, letter, is_to_all);
    link->read[link->n_read++] = msg;
    link->n_read_bytes += letter.len;
    if (link->n_read == N_READ || link->n_read_bytes > READ_BYTES)
        give_back(link);
    pthread_mutex_unlock(&link->lock);
}

static void on_mine(natsConnection *conn, natsSubscription *sub, natsMsg *msg, void *ctx)
{
    (void)conn;
    (void)sub;
    hand_up(ctx, msg, false);
}

static void on_all(natsConnection *conn, natsSubscription *sub, natsMsg *msg, void *ctx)
{
    (void)conn;
    (void)sub;
    hand_up(ctx, msg, true);
}

/* The server reports that nobody listens. */
static void on_reply(natsConnection *conn, natsSubscription *sub, natsMsg *msg, void *ctx)
{
    struct link *link = ctx;
    struct pl_node_id from, to;
    (void)conn;
    (void)sub;
    struct pl_bus *bus = begin(link);
    if (bus && libnats.natsMsg_IsNoResponders(msg) &&
        pl_nats_read_reply(bus->nats->cluster, libnats.natsMsg_GetSubject(msg), &from, &to) &&
        !pl_node_id_is_zero(&to)) {
        pthread_mutex_lock(&bus->lock);
        pl_bus_peers_miss(&bus->peers, &to);
        pthread_mutex_unlock(&bus->lock);
    }
    if (bus)
        pthread_mutex_unlock(&link->lock);
    libnats.natsMsg_Destroy(msg);
}

/* Too much came at once and was dropped. The links detect the gap. Without a handler libnats would
 * print it. */
static void on_error(natsConnection *conn, natsSubscription *sub, natsStatus status, void *ctx)
{
    (void)conn;
    (void)sub;
    (void)status;
    (void)ctx;
}

/* --- connecting ------------------------------------------------------------------------------ */

/* Returns the next address, as libnats reads it, and its host. Wrong addresses were refused at the
 * start. */
static struct pl_nats_address choose(struct pl_bus_nats *nats)
{
    struct pl_str list = pl_str_of(nats->url), address = {0};
    struct pl_nats_address found = {0};
    size_t wanted = nats->next_address++ % nats->n_addresses;
    for (size_t i = 0; i <= wanted && pl_nats_next_address(&list, &address); i++)
        ;
    bool is_right = pl_nats_read_address(address, &found);
    (void)is_right;
    return found;
}

static natsStatus set_trust(natsOptions *options, const struct pl_bus_nats *nats,
                            const struct pl_nats_address *address)
{
    char host[PL_NATS_HOST_MAX];
    bool is_secure = address->is_secure || nats->ca || nats->cert;
    natsStatus status = NATS_OK;
    snprintf(host, sizeof host, "%.*s", PL_STR_ARG(address->host));
    if (is_secure)
        status = libnats.natsOptions_SetSecure(options, true);
    if (status == NATS_OK && is_secure)
        status = libnats.natsOptions_SetExpectedHostname(options, host);
    if (status == NATS_OK && nats->ca)
        status = libnats.natsOptions_LoadCATrustedCertificates(options, nats->ca);
    if (status == NATS_OK && nats->cert)
        status = libnats.natsOptions_LoadCertificatesChain(options, nats->cert, nats->key);
    if (status == NATS_OK && nats->creds)
        status = libnats.natsOptions_SetUserCredentialsFromFiles(options, nats->creds, NULL);
    return status;
}

static natsStatus set_times(natsOptions *options)
{
    natsStatus status = libnats.natsOptions_SetTimeout(options, CONNECT_MS);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetWriteDeadline(options, WRITE_MS);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetPingInterval(options, PING_MS);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetMaxPingsOut(options, PINGS_OUT);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetAllowReconnect(options, false);
    return status;
}

/* The files are read again for every connection, because certificates are replaced while a server
 * runs. */
static natsStatus make_options(struct pl_bus_nats *nats, natsOptions **ret_options)
{
    natsOptions *options = NULL;
    struct pl_nats_address address = choose(nats);
    PL_CLEANUP_BUF struct pl_buf url;
    pl_buf_init(&url, 0);
    pl_buf_adds(&url, "nats://");
    pl_buf_add(&url, address.rest);
    pl_buf_addc(&url, '\0');
    if (url.status != PL_OK)
        return NATS_NO_MEMORY;
    natsStatus status = libnats.natsOptions_Create(&options);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetURL(options, url.ptr);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetName(options, "parley");
    if (status == NATS_OK)
        status = set_times(options);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetNoEcho(options, true);
    if (status == NATS_OK)
        status = libnats.natsOptions_UseGlobalMessageDelivery(options, true);
    if (status == NATS_OK) /* otherwise its writing thread waits a millisecond for more */
        status = libnats.natsOptions_SetSendAsap(options, true);
    if (status == NATS_OK)
        status = libnats.natsOptions_SetErrorHandler(options, on_error, NULL);
    if (status == NATS_OK)
        status = set_trust(options, nats, &address);
    if (status == NATS_OK)
        *ret_options = options;
    else
        libnats.natsOptions_Destroy(options);
    return status;
}

/* Keeps the error message of libnats as one line. */
static void say_why(struct pl_bus_nats *nats, natsStatus status, const char *detail)
{
    const char *text = libnats.natsStatus_GetText(status);
    bool has_detail = detail && *detail;
    snprintf(nats->why, sizeof nats->why, "NATS: %.80s%s%.*s", text ? text : "failed",
             has_detail ? ": " : "", has_detail ? (int)strcspn(detail, "\r\n") : 0,
             has_detail ? detail : "");
}

static natsStatus subscribe(struct link *link, size_t i, const char *subject,
                            natsMsgHandler handler)
{
    natsStatus status = libnats.natsConnection_Subscribe(&link->subscriptions[i], link->conn,
                                                         subject, handler, link);
    if (status != NATS_OK)
        return status;
    link->n_refs++;
    status = libnats.natsSubscription_SetPendingLimits(link->subscriptions[i], -1, PENDING_BYTES);
    if (status == NATS_OK)
        status =
            libnats.natsSubscription_SetOnCompleteCB(link->subscriptions[i], on_complete, link);
    return status; /* without the callback the reference stays: the link leaks */
}

/* The server knows all three subscriptions before the bus reports that it is up. */
static natsStatus listen(struct link *link)
{
    struct pl_bus *bus = link->bus;
    static const struct pl_node_id everybody;
    struct pl_str cluster = bus->nats->cluster;
    natsStatus status = subscribe(link, 0, pl_nats_subject_to(cluster, &bus->me).text, on_mine);
    if (status == NATS_OK)
        status = subscribe(link, 1, pl_nats_subject_to(cluster, &everybody).text, on_all);
    if (status == NATS_OK)
        status = subscribe(link, 2, pl_nats_replies(cluster, &bus->me).text, on_reply);
    if (status == NATS_OK)
        status = libnats.natsConnection_FlushTimeout(link->conn, CONNECT_MS);
    return status;
}

static void drop_link(struct pl_bus_nats *nats)
{
    struct link *link = nats->link;
    nats->link = NULL;
    if (!link)
        return;
    pthread_mutex_lock(&link->lock);
    link->bus = NULL;
    pthread_mutex_unlock(&link->lock);
    if (link->conn)
        libnats.natsConnection_Close(link->conn);
    for (size_t i = 0; i < N_SUBJECTS; i++)
        libnats.natsSubscription_Destroy(link->subscriptions[i]);
    libnats.natsConnection_Destroy(link->conn);
    unref(link);
}

static bool connect_link(struct pl_bus *bus)
{
    struct pl_bus_nats *nats = bus->nats;
    natsOptions *options = NULL;
    natsStatus status = make_options(nats, &options);
    struct link *link = nats->link = pl_mem_alloc(1, sizeof *link);
    if (!link)
        status = NATS_NO_MEMORY;
    if (link) {
        *link = (struct link){.bus = bus, .n_refs = 1};
        pthread_mutex_init(&link->lock, NULL);
    }
    if (status == NATS_OK)
        status = libnats.natsConnection_Connect(&link->conn, options);
    if (status == NATS_OK)
        status = listen(link);
    if (status != NATS_OK) {
        natsStatus last;
        say_why(nats, status, libnats.nats_GetLastError(&last));
        drop_link(nats);
    }
    libnats.natsOptions_Destroy(options);
    return status == NATS_OK;
}

/* --- sending --------------------------------------------------------------------------------- */

/* The next task of the thread. */
enum task { TASK_NONE, TASK_SEND, TASK_CLOSE, TASK_RECONNECT };

/* Called with the lock: waits for letters, at most LOOK_MS. */
static enum task await_items(struct pl_bus *bus, struct pl_bus_item **ret_items)
{
    struct pl_bus_queue *queue = &bus->nats->queue;
    struct timespec until = pl_clock_in_ms(LOOK_MS);
    if ((*ret_items = pl_bus_queue_take(queue, ROUND_BYTES)))
        return TASK_SEND;
    if (bus->is_closing)
        return TASK_CLOSE;
    pthread_cond_timedwait(&bus->nats_changed, &bus->lock, &until);
    *ret_items = pl_bus_queue_take(queue, ROUND_BYTES);
    return *ret_items ? TASK_SEND : TASK_NONE;
}

static enum task await_task(struct pl_bus *bus, struct pl_bus_item **ret_items)
{
    enum task task = TASK_NONE;
    while (task == TASK_NONE) {
        pthread_mutex_lock(&bus->lock);
        task = await_items(bus, ret_items);
        pthread_mutex_unlock(&bus->lock);
        if (task == TASK_NONE && libnats.natsConnection_IsClosed(bus->nats->link->conn))
            task = TASK_RECONNECT;
    }
    return task;
}

static natsStatus publish(struct pl_bus *bus, const struct pl_bus_item *item)
{
    struct pl_str cluster = bus->nats->cluster, letter = pl_bus_item_letter(item);
    return libnats.natsConnection_PublishRequest(
        bus->nats->link->conn, pl_nats_subject_to(cluster, &item->to).text,
        pl_nats_reply(cluster, &bus->me, &item->to).text, letter.ptr, (int)letter.len);
}

/* Sends one at a time. A sent letter no longer counts; a letter that is too long goes through the
 * store. Returns false if the connection is broken. */
static bool send_items(struct pl_bus *bus, struct pl_bus_item **items)
{
    natsStatus status = NATS_OK;
    while (*items && status == NATS_OK) {
        struct pl_bus_item *item = *items;
        status = publish(bus, item);
        if (status != NATS_OK && status != NATS_MAX_PAYLOAD)
            break;
        *items = item->next;
        item->next = NULL;
        pthread_mutex_lock(&bus->lock);
        if (status == NATS_OK)
            pl_bus_queue_settle(&bus->nats->queue, item);
        else
            pl_bus_queue_move(&bus->nats->queue, item, &bus->queue);
        if (status != NATS_OK)
            pthread_cond_broadcast(&bus->changed);
        pthread_mutex_unlock(&bus->lock);
        status = NATS_OK;
    }
    if (status != NATS_OK)
        say_why(bus->nats, status, NULL);
    return status == NATS_OK;
}

/* From now on letters go through the store, the ones waiting here first. */
static void give_up(struct pl_bus *bus, struct pl_bus_item *items)
{
    pthread_mutex_lock(&bus->lock);
    bus->is_up[PL_BUS_WAY_NATS] = false;
    pl_bus_queue_move(&bus->nats->queue, items, &bus->queue);
    while ((items = pl_bus_queue_take(&bus->nats->queue, ROUND_BYTES)))
        pl_bus_queue_move(&bus->nats->queue, items, &bus->queue);
    pthread_cond_broadcast(&bus->changed);
    pthread_mutex_unlock(&bus->lock);
}

static void serve(struct pl_bus *bus)
{
    struct pl_bus_nats *nats = bus->nats;
    struct pl_bus_item *items = NULL;
    enum task task;
    while ((task = await_task(bus, &items)) == TASK_SEND && send_items(bus, &items))
        ;
    if (task == TASK_CLOSE) {
        natsStatus status = libnats.natsConnection_FlushTimeout(nats->link->conn, FLUSH_MS);
        (void)status; /* unsent letters are lost */
        return;
    }
    if (!nats->why[0]) {
        const char *last = NULL;
        say_why(nats, libnats.natsConnection_GetLastError(nats->link->conn, &last), last);
    }
    give_up(bus, items);
}

static void arrive(struct pl_bus *bus)
{
    pthread_mutex_lock(&bus->lock);
    pl_bus_peers_arrive(&bus->peers);
    pthread_mutex_unlock(&bus->lock);
}

static void *run_nats(void *arg)
{
    struct pl_bus *bus = arg;
    struct pl_bus_nats *nats = bus->nats;
    do {
        nats->why[0] = '\0';
        if (connect_link(bus)) {
            arrive(bus);
            pl_bus_note(bus, PL_BUS_WAY_NATS, true, NULL);
            serve(bus);
        }
        drop_link(nats);
        pl_bus_note(bus, PL_BUS_WAY_NATS, false, nats->why);
    } while (pl_bus_pause(bus, 0));
    return NULL;
}

/* --- starting, stopping ---------------------------------------------------------------------- */

static bool copy(const char *text, char **ret_copy)
{
    size_t size = text ? strlen(text) + 1 : 0;
    *ret_copy = text ? pl_mem_alloc(1, size) : NULL;
    if (*ret_copy)
        memcpy(*ret_copy, text, size);
    return !text || *ret_copy;
}

static bool copy_config(struct pl_bus_nats *nats, const struct pl_bus_config *config)
{
    char *cluster = pl_mem_alloc(1, config->cluster.len + 1);
    if (cluster)
        memcpy(cluster, config->cluster.ptr, config->cluster.len);
    nats->cluster = (struct pl_str){cluster, cluster ? config->cluster.len : 0};
    return copy(config->url, &nats->url) && copy(config->ca, &nats->ca) &&
           copy(config->cert, &nats->cert) && copy(config->key, &nats->key) &&
           copy(config->creds, &nats->creds) && cluster;
}

static void destroy(struct pl_bus_nats *nats)
{
    char *const texts[] = {nats->url, nats->ca, nats->cert, nats->key, nats->creds};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pl_mem_free(texts[i]);
    pl_mem_free((char *)nats->cluster.ptr);
    pl_bus_queue_deinit(&nats->queue);
    pl_mem_free(nats);
}

static enum pl_status check(const struct pl_bus_config *config, size_t *ret_n_addresses,
                            struct pl_error *err)
{
    enum pl_status status = pl_nats_check_addresses(pl_str_of(config->url), ret_n_addresses, err);
    if (status != PL_OK)
        return status;
    if (!pl_nats_is_cluster(config->cluster))
        return pl_fail(err, PL_INVALID,
                       "the name of a cluster consists of up to %d letters, digits, _ and -",
                       PL_NATS_CLUSTER_MAX);
    if (!config->cert != !config->key)
        return pl_fail(err, PL_INVALID,
                       "a certificate of the bus needs its key: use --bus-cert and --bus-key "
                       "together");
    const char *const files[] = {config->ca, config->cert, config->key, config->creds};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] && access(files[i], R_OK) != 0)
            return pl_fail(err, PL_IO, "the bus cannot read %.300s: %s", files[i], strerror(errno));
    return PL_OK;
}

/* Reads the files once now, so that a wrong one is an error and not an endless retry. */
static enum pl_status try_options(struct pl_bus_nats *nats, struct pl_error *err)
{
    natsOptions *options = NULL;
    natsStatus last, status = make_options(nats, &options);
    libnats.natsOptions_Destroy(options);
    if (status == NATS_OK)
        return PL_OK;
    say_why(nats, status, libnats.nats_GetLastError(&last));
    return pl_fail(err, status == NATS_NO_MEMORY ? PL_NOMEM : PL_INVALID,
                   "the files of the bus cannot be used: %s", nats->why);
}

enum pl_status pl_bus_nats_start(struct pl_bus *bus, const struct pl_bus_config *config,
                                 struct pl_error *err)
{
    size_t n_addresses = 0;
    enum pl_status status = check(config, &n_addresses, err);
    if (status == PL_OK)
        status = libnats_load(err);
    if (status != PL_OK)
        return status;
    struct pl_bus_nats *nats = pl_mem_alloc(1, sizeof *nats);
    if (!nats)
        return pl_fail(err, PL_NOMEM, "out of memory while the bus was opened");
    *nats = (struct pl_bus_nats){.n_addresses = n_addresses};
    pl_bus_queue_init(&nats->queue);
    unsigned char chance = 0;
    nats->next_address = pl_entropy_fill(&chance, sizeof chance) ? chance : 0;
    if (!copy_config(nats, config))
        status = pl_fail(err, PL_NOMEM, "out of memory while the bus was opened");
    if (status == PL_OK)
        status = try_options(nats, err);
    if (status != PL_OK) {
        destroy(nats);
        return status;
    }
    pthread_mutex_lock(&bus->lock);
    bus->nats = nats;
    pthread_mutex_unlock(&bus->lock);
    return pl_bus_start(bus, &nats->thread, run_nats, err);
}

void pl_bus_nats_stop(struct pl_bus *bus)
{
    if (bus->nats)
        pl_bus_join(&bus->nats->thread);
}

void pl_bus_nats_destroy(struct pl_bus *bus)
{
    if (bus->nats)
        destroy(bus->nats);
    bus->nats = NULL;
}

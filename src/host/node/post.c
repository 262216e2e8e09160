/* The post: letters to other nodes and from them. Outgoing letters get their number and their seal
 * here; incoming ones are verified before anything in them is used. The bus (bus/bus.h) carries
 * bytes.
 *
 *     shard, thread of the node ──> number, seal ──> bus
 *     bus ──> seal, number ──> letter to the shard of the session ──> seats.c
 *
 * A letter that is too large for the bus is cut into consecutive parts. */
#include "base/mem.h"
#include "cluster/node_fields.h"
#include "node/node_int.h"
#include "shard/log.h"

#include <sodium/crypto_generichash.h>

/* --- seals ----------------------------------------------------------------------------------- */

static void make_seal(void *ctx, const struct pl_node_id *receiver, struct pl_str bytes,
                      unsigned char ret_seal[PL_NODE_LETTER_SEAL])
{
    const struct pl_node *node = ctx;
    crypto_generichash_state state;
    crypto_generichash_init(&state, node->secret, sizeof node->secret, PL_NODE_LETTER_SEAL);
    crypto_generichash_update(&state, receiver->bytes, sizeof receiver->bytes);
    crypto_generichash_update(&state, (const unsigned char *)bytes.ptr, bytes.len);
    crypto_generichash_final(&state, ret_seal, PL_NODE_LETTER_SEAL);
}

static struct pl_node_seal seal_of(struct pl_node *node)
{
    return (struct pl_node_seal){make_seal, node};
}

/* --- peers ----------------------------------------------------------------------------------- */

/* Under post_lock. NULL: out of memory. */
static struct pl_node_peer *peer_of(struct pl_node *node, const struct pl_node_id *id)
{
    for (size_t i = 0; i < node->peers.len; i++)
        if (pl_node_id_eq(&node->peers.ptr[i]->id, id))
            return node->peers.ptr[i];
    struct pl_node_peer *peer = pl_mem_alloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    *peer = (struct pl_node_peer){.id = *id};
    pl_buf_init(&peer->parts, 0);
    if (pl_vec_push(&node->peers, peer))
        return peer;
    pl_mem_free(peer);
    return NULL;
}

static void free_peer(struct pl_node_peer *peer)
{
    pl_buf_deinit(&peer->parts);
    pl_mem_free(peer);
}

static bool is_in(const struct pl_node_view *view, const struct pl_node_id *id)
{
    for (size_t i = 0; i < view->n_nodes; i++)
        if (pl_node_id_eq(&view->nodes[i].writer, id))
            return true;
    return false;
}

/* Waits for several views, because a view may be older than a letter of a node that has just
 * entered. If its link began anew, letters to it would reuse numbers that it knows, and be
 * dropped. */
void pl_post_forget(struct pl_node *node, const struct pl_node_view *view)
{
    pthread_mutex_lock(&node->post_lock);
    for (size_t i = 0; i < node->peers.len;) {
        struct pl_node_peer *peer = node->peers.ptr[i];
        peer->n_views_without = is_in(view, &peer->id) ? 0 : peer->n_views_without + 1;
        if (peer->n_views_without < PL_NODE_PEER_VIEWS) {
            i++;
        } else {
            free_peer(peer);
            node->peers.ptr[i] = node->peers.ptr[--node->peers.len];
        }
    }
    pthread_mutex_unlock(&node->post_lock);
}

static void forget_all(struct pl_node *node)
{
    for (size_t i = 0; i < node->peers.len; i++)
        free_peer(node->peers.ptr[i]);
    node->peers.len = 0;
}

/* --- sending --------------------------------------------------------------------------------- */

/* Under post_lock, so that letters are sent in the order of their numbers. */
static void send_one(struct pl_node *node, struct pl_node_peer *peer, unsigned char kind,
                     struct pl_str body, bool is_by_store, struct pl_buf *bytes)
{
    uint64_t number;
    peer->out.n_waiting = pl_bus_waiting(node->bus, &peer->id);
    if (!pl_node_link_send(&peer->out, kind, body.len, &number)) {
        atomic_fetch_add(&node->n_lost, 1);
        return;
    }
    struct pl_node_seal seal = seal_of(node);
    struct pl_node_letter letter = {.version = atomic_load(&node->protocol),
                                    .kind = kind,
                                    .sender = node->me,
                                    .number = number,
                                    .body = body};
    pl_buf_clear(bytes);
    if (pl_node_letter_write(&letter, &seal, &peer->id, bytes) != PL_OK ||
        pl_bus_send(node->bus, &peer->id, pl_buf_str(bytes), is_by_store) != PL_OK)
        atomic_fetch_add(&node->n_lost, 1);
}

enum { PART_BYTES = PL_NODE_LETTER_MAX - PL_NODE_LETTER_HEAD - PL_NODE_LETTER_SEAL };

/* A part has the session's id, the kind, its index, the number of parts, and the bytes. */
static void send_parts(struct pl_node *node, struct pl_node_peer *peer, unsigned char kind,
                       struct pl_str body, bool is_by_store, struct pl_buf *bytes)
{
    enum { ROOM = PART_BYTES - 256 };
    struct pl_node_fields fields = pl_node_fields_of(body);
    struct pl_str session_id = pl_node_fields_bytes(&fields);
    int64_t n = (int64_t)((body.len + ROOM - 1) / ROOM);
    struct pl_buf part PL_CLEANUP_BUF;
    pl_buf_init(&part, 0);
    for (int64_t i = 0; i < n; i++) {
        size_t from = (size_t)i * ROOM;
        size_t len = body.len - from < ROOM ? body.len - from : ROOM;
        pl_buf_clear(&part);
        pl_node_fields_put_bytes(&part, session_id);
        pl_node_fields_put_number(&part, kind);
        pl_node_fields_put_number(&part, i);
        pl_node_fields_put_number(&part, n);
        pl_node_fields_put_bytes(&part, (struct pl_str){body.ptr + from, len});
        if (part.status != PL_OK)
            return;
        send_one(node, peer, PL_NODE_LETTER_PART, pl_buf_str(&part), is_by_store, bytes);
    }
}

void pl_post_send(struct pl_node *node, const struct pl_node_id *to, enum pl_node_letter_kind kind,
                  struct pl_str body, bool is_by_store)
{
    struct pl_buf bytes PL_CLEANUP_BUF;
    pl_buf_init(&bytes, 0);
    pthread_mutex_lock(&node->post_lock);
    struct pl_node_peer *peer = node->bus ? peer_of(node, to) : NULL;
    if (peer && body.len <= PART_BYTES)
        send_one(node, peer, (unsigned char)kind, body, is_by_store, &bytes);
    else if (peer)
        send_parts(node, peer, (unsigned char)kind, body, is_by_store, &bytes);
    pthread_mutex_unlock(&node->post_lock);
}

void pl_post_send_all(struct pl_node *node, enum pl_node_letter_kind kind, struct pl_str body)
{
    struct pl_buf bytes PL_CLEANUP_BUF;
    pl_buf_init(&bytes, 0);
    struct pl_node_seal seal = seal_of(node);
    static const struct pl_node_id everybody = {0};
    pthread_mutex_lock(&node->post_lock);
    struct pl_node_letter letter = {.version = atomic_load(&node->protocol),
                                    .kind = (unsigned char)kind,
                                    .sender = node->me,
                                    .body = body};
    if (node->bus && (pl_node_letter_write(&letter, &seal, &everybody, &bytes) != PL_OK ||
                      pl_bus_send_all(node->bus, pl_buf_str(&bytes)) != PL_OK))
        atomic_fetch_add(&node->n_lost, 1);
    pthread_mutex_unlock(&node->post_lock);
}

/* Tells each node the last number sent to it, so that it detects a loss even if no letter
 * follows. */
void pl_post_beat(struct pl_node *node)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pthread_mutex_lock(&node->post_lock);
    for (size_t i = 0; i < node->peers.len; i++)
        if (node->peers.ptr[i]->out.last)
            pl_node_beat_add(&body, &node->peers.ptr[i]->id, node->peers.ptr[i]->out.last);
    pthread_mutex_unlock(&node->post_lock);
    if (body.len && body.status == PL_OK)
        pl_post_send_all(node, PL_NODE_LETTER_BEAT, pl_buf_str(&body));
}

void pl_post_greet(struct pl_node *node)
{
    pl_post_send_all(node, PL_NODE_LETTER_BEAT, PL_STR(""));
}

/* --- receiving ------------------------------------------------------------------------------- */

static struct pl_node_mail *make_mail(struct pl_shard *shard, enum pl_node_mail_kind what,
                                      const struct pl_node_id *sender, unsigned char kind,
                                      struct pl_str body)
{
    struct pl_node_mail *mail = pl_mem_alloc(1, sizeof *mail + body.len);
    if (!mail)
        return NULL;
    *mail = (struct pl_node_mail){.shard = shard, .what = what, .kind = kind, .n_body = body.len};
    if (sender)
        mail->sender = *sender;
    mail->letter.open = pl_mail_open;
    if (body.len)
        memcpy(mail->body, body.ptr, body.len);
    return mail;
}

bool pl_mail_all(struct pl_node *node, enum pl_node_mail_kind what, const struct pl_node_id *sender)
{
    bool is_whole = true;
    for (size_t i = 0; i < node->server->n_shards; i++) {
        struct pl_shard *shard = node->server->shards[i];
        struct pl_node_mail *mail = make_mail(shard, what, sender, 0, (struct pl_str){0});
        is_whole = is_whole && mail;
        if (mail)
            pl_loop_post(shard->loop, &mail->letter);
    }
    return is_whole;
}

static void note_gap(struct pl_node *node, const struct pl_node_id *sender)
{
    atomic_fetch_add(&node->n_gaps, 1);
    (void)pl_mail_all(node, PL_MAIL_RESYNC, sender);
}

/* If there is no memory for a letter, that is a gap like any other. */
static void hand_on(struct pl_node *node, const struct pl_node_id *sender, unsigned char kind,
                    struct pl_str body)
{
    struct pl_node_fields fields = pl_node_fields_of(body);
    struct pl_str session_id = pl_node_fields_bytes(&fields);
    if (fields.status != PL_OK)
        return;
    struct pl_shard *shard = pl_shard_of_session(node->server, session_id);
    struct pl_node_mail *mail = make_mail(shard, PL_MAIL_LETTER, sender, kind, body);
    if (mail)
        pl_loop_post(shard->loop, &mail->letter);
    else
        note_gap(node, sender);
}

static void take_bell(struct pl_node *node, struct pl_str body)
{
    struct pl_shard *first = node->server->shards[0];
    struct pl_node_mail *mail = make_mail(first, PL_MAIL_LETTER, NULL, PL_NODE_LETTER_BELL, body);
    if (mail)
        pl_loop_post(first->loop, &mail->letter);
}

static void take_beat(struct pl_node *node, const struct pl_node_letter *letter,
                      struct pl_node_peer *peer)
{
    uint64_t last = 0;
    if (pl_node_beat_find(letter->body, &node->me, &last) == PL_OK && last &&
        pl_node_link_beat(&peer->in, last) == PL_NODE_LINK_RESYNC)
        note_gap(node, &letter->sender);
}

/* Parts are consecutive on the link; a part that is not is dropped, with the rest of its letter. */
static void take_part(struct pl_node *node, struct pl_node_peer *peer,
                      const struct pl_node_letter *letter)
{
    struct pl_node_fields fields = pl_node_fields_of(letter->body);
    (void)pl_node_fields_bytes(&fields);
    int64_t kind = pl_node_fields_number(&fields);
    int64_t i = pl_node_fields_number(&fields), n = pl_node_fields_number(&fields);
    struct pl_str bytes = pl_node_fields_bytes(&fields);
    if (fields.status != PL_OK || kind < 0 || kind > UINT8_MAX || i < 0 || i >= n ||
        n > PL_NODE_PARTS_MAX)
        return;
    /* Two letters may arrive at the same time, one by each route of the bus. */
    if (i == 0)
        pl_buf_clear(&peer->parts);
    else if (i != peer->n_parts || letter->number != peer->last_part + 1)
        return;
    peer->n_parts = i + 1;
    peer->last_part = letter->number;
    pl_buf_add(&peer->parts, bytes);
    if (i + 1 < n)
        return;
    if (peer->parts.status == PL_OK)
        hand_on(node, &letter->sender, (unsigned char)kind, pl_buf_str(&peer->parts));
    else
        note_gap(node, &letter->sender);
    pl_buf_deinit(&peer->parts);
    pl_buf_init(&peer->parts, 0);
    peer->n_parts = 0;
}

/* False: drop the letter. Reports a gap before it. */
static bool count_in(struct pl_node *node, struct pl_node_peer *peer,
                     const struct pl_node_letter *letter)
{
    enum pl_node_link_verdict verdict = pl_node_link_got(&peer->in, letter->kind, letter->number);
    if (verdict == PL_NODE_LINK_RESYNC)
        note_gap(node, &letter->sender);
    return verdict != PL_NODE_LINK_DROP;
}

static void take_numbered(struct pl_node *node, struct pl_node_peer *peer,
                          const struct pl_node_letter *letter)
{
    if (!count_in(node, peer, letter) || letter->kind == PL_NODE_LETTER_UNKNOWN)
        return;
    if (letter->kind == PL_NODE_LETTER_PART)
        take_part(node, peer, letter);
    else
        hand_on(node, &letter->sender, letter->kind, letter->body);
}

/* A letter of a newer version: tells its sender, so that it does not wait. */
static void say_unknown(struct pl_node *node, const struct pl_node_letter *letter)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_node_fields_put_number(&body, letter->kind);
    pl_node_fields_put_number(&body, (int64_t)letter->number);
    pthread_mutex_lock(&node->post_lock);
    struct pl_node_peer *peer = peer_of(node, &letter->sender);
    if (peer)
        (void)count_in(node, peer, letter);
    pthread_mutex_unlock(&node->post_lock);
    if (body.status == PL_OK)
        pl_post_send(node, &letter->sender, PL_NODE_LETTER_UNKNOWN, pl_buf_str(&body), false);
}

static void take_good(struct pl_node *node, const struct pl_node_letter *letter, bool is_to_all)
{
    pthread_mutex_lock(&node->post_lock);
    size_t n_known = node->peers.len;
    struct pl_node_peer *peer = peer_of(node, &letter->sender);
    if (node->peers.len > n_known)
        pl_node_want_view(node); /* a new node */
    if (!peer)
        atomic_fetch_add(&node->n_lost, 1);
    else if (letter->kind == PL_NODE_LETTER_BELL)
        take_bell(node, letter->body);
    else if (letter->kind == PL_NODE_LETTER_BEAT)
        take_beat(node, letter, peer);
    else if (!is_to_all)
        take_numbered(node, peer, letter);
    pthread_mutex_unlock(&node->post_lock);
}

static void take(void *ctx, struct pl_str bytes, bool is_to_all)
{
    struct pl_node *node = ctx;
    struct pl_node_seal seal = seal_of(node);
    static const struct pl_node_id everybody = {0};
    struct pl_node_letter letter;
    const struct pl_node_id *receiver = is_to_all ? &everybody : &node->me;
    enum pl_node_letter_fate fate = pl_node_letter_read(bytes, &seal, receiver, &letter);
    if (fate == PL_NODE_LETTER_IS_GOOD)
        take_good(node, &letter, is_to_all);
    else
        atomic_fetch_add(&node->n_lost, 1);
    if (fate == PL_NODE_LETTER_IS_STRANGE && !is_to_all)
        say_unknown(node, &letter);
}

static void on_state(void *ctx, enum pl_bus_state state, const char *why)
{
    struct pl_node *node = ctx;
    static const char *const texts[] = {
        [PL_BUS_UP] = "the bus between the nodes works",
        [PL_BUS_DEGRADED] = "the bus between the nodes is away; letters go by the database",
        [PL_BUS_DOWN] = "no letter reaches another node at the moment",
    };
    pl_log_say(node->server->log, NULL, state == PL_BUS_UP ? PL_LOG_INFO : PL_LOG_WARNING, "%s%s%s",
               texts[state], why && why[0] ? ": " : "", why ? why : "");
}

/* --- life ------------------------------------------------------------------------------------ */

enum pl_status pl_post_open(struct pl_node *node, struct pl_error *err)
{
    struct pl_bus_config config = node->config.bus;
    struct pl_bus *bus = NULL;
    config.store = node->server->store;
    config.cluster = pl_str_of(node->cluster);
    config.me = node->me;
    config.on_letter = take;
    config.on_state = on_state;
    config.ctx = node;
    enum pl_status status = pl_bus_open(&config, &bus, err);
    pthread_mutex_lock(&node->post_lock);
    node->bus = bus;
    pthread_mutex_unlock(&node->post_lock);
    return status;
}

void pl_post_close(struct pl_node *node)
{
    pthread_mutex_lock(&node->post_lock);
    struct pl_bus *bus = node->bus;
    node->bus = NULL;
    pthread_mutex_unlock(&node->post_lock);
    pl_bus_close(bus); /* without the lock: its thread may be about to take it */
    pthread_mutex_lock(&node->post_lock);
    forget_all(node);
    pthread_mutex_unlock(&node->post_lock);
}

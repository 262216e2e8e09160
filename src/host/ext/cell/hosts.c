/* A tunnel for each connection of the program in a cell: from a listener in its network to a
 * granted host. Bytes that one side has not taken yet wait in a buffer; the other side is not read
 * meanwhile.
 *
 *     machine tunnel
 *
 *     HEAD -> REACHING -> OPEN -> CLOSED
 *     HEAD -> LEAVING -> CLOSED          no CONNECT that we understand, or to a host not granted
 *     REACHING -> LEAVING                the guard says no, or nobody is there
 *     HEAD -> CLOSED
 *     REACHING -> CLOSED
 *
 * A listener for one host has no head: its tunnels leave HEAD at once. */
#include "ext/cell/hosts.h"

#include "base/ascii.h"
#include "base/mem.h"
#include "base/table.h"
#include "io/fetch/reach.h"
#include "io/move.h"
#include "io/net/conn.h"

#include <stdio.h>

#define MAX_HEAD    8192
#define MAX_TUNNELS 256 /* per cell, concurrently */
#define IDLE_MS     600000

enum state { TUNNEL_HEAD, TUNNEL_REACHING, TUNNEL_OPEN, TUNNEL_LEAVING, TUNNEL_CLOSED };

#define TO(name) PL_TO(TUNNEL_##name)
static const struct pl_state states[] = {
    [TUNNEL_HEAD] = {"head", TO(REACHING) | TO(LEAVING) | TO(CLOSED), PL_WAIT_MS, PL_CANCEL_ENDS,
                     .limit_ms = 10000},
    [TUNNEL_REACHING] = {"reaching", TO(OPEN) | TO(LEAVING) | TO(CLOSED), PL_WAIT_SET,
                         PL_CANCEL_ENDS, .why = "the look-up has the time of a fetch"},
    [TUNNEL_OPEN] = {"open", TO(CLOSED), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                     .why = "both sides end it, a timer sees when nothing moves, and the cell ends "
                            "in any case"},
    /* The answer is under way; closing with unread bytes would discard it. */
    [TUNNEL_LEAVING] = {"leaving", TO(CLOSED), PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = 2000},
    [TUNNEL_CLOSED] = {"closed", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("tunnel", states);

enum { INSIDE, OUTSIDE, N_SIDES };

struct side {
    struct pl_conn *conn; /* owned; NULL: not connected yet */
    struct pl_buf rest;   /* bytes that this side has not taken yet */
    bool is_paused;       /* not read, because the other side has a rest */
    bool has_ended;       /* sends no more */
    bool is_shut;         /* nothing more is sent to it */
};

struct tunnel {
    struct tunnel *prev, *next; /* in the hosts' list */
    struct pl_cell_hosts *hosts;
    struct side sides[N_SIDES];
    struct pl_buf head; /* of a CONNECT */
    struct pl_reach *reach;
    struct pl_timer timer;
    char name[256];
    uint16_t port;
    bool is_proxy;
    enum state state;
};

struct gate {
    struct pl_cell_hosts *hosts;
    const struct pl_cell_listener *listener; /* owned by the cell */
    struct pl_socket socket;
    struct pl_listener *accepting;
};

struct pl_cell_hosts {
    struct pl_fetch_from from;
    const struct pl_fetch_rules *rules;
    const struct pl_cell_hosts_ops *ops;
    void *ctx;
    struct pl_cell_host *grants; /* owned, with their names */
    size_t n_grants;
    struct pl_arena arena;
    struct gate *gates; /* arena */
    size_t n_gates, n_tunnels;
    struct tunnel *first;
};

static void become(struct tunnel *t, enum state to)
{
    t->state = (enum state)pl_move(&machine, t, t->state, to);
}

/* --- the end of a tunnel ----------------------------------------------------------------------- */

static void destroy(struct tunnel *t)
{
    struct pl_cell_hosts *hosts = t->hosts;
    become(t, TUNNEL_CLOSED);
    pl_timer_stop(hosts->from.loop, &t->timer);
    pl_reach_cancel(t->reach);
    for (int i = 0; i < N_SIDES; i++) {
        pl_conn_close(t->sides[i].conn);
        pl_buf_deinit(&t->sides[i].rest);
    }
    pl_buf_deinit(&t->head);
    *(t->prev ? &t->prev->next : &hosts->first) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    hosts->n_tunnels--;
    pl_mem_free(t);
}

static void report(struct tunnel *t, bool is_let, const char *why)
{
    const struct pl_cell_hosts *hosts = t->hosts;
    if (hosts->ops && hosts->ops->on_connect)
        hosts->ops->on_connect(hosts->ctx, t->name, t->port, is_let, why);
}

static void on_late(struct pl_timer *timer)
{
    destroy(PL_CONTAINER_OF(timer, struct tunnel, timer));
}

/* Sends the last answer of a proxy: a few bytes, which the kernel takes at once. */
static void refuse(struct tunnel *t, const char *status, const char *why)
{
    report(t, false, why);
    if (!t->is_proxy || t->sides[INSIDE].has_ended) {
        destroy(t);
        return;
    }
    char text[256];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", status);
    struct pl_str piece = {text, (size_t)n};
    size_t n_sent;
    become(t, TUNNEL_LEAVING);
    pl_move_limit(&machine, TUNNEL_LEAVING, t->hosts->from.loop, &t->timer, 0, on_late);
    (void)pl_conn_write(t->sides[INSIDE].conn, &piece, 1, &n_sent);
    pl_conn_shutdown(t->sides[INSIDE].conn);
    pl_conn_resume(t->sides[INSIDE].conn);
}

/* --- copying ----------------------------------------------------------------------------------- */

static void touch(struct tunnel *t)
{
    pl_timer_start(t->hosts->from.loop, &t->timer, IDLE_MS, on_late);
}

/* Sends the rest of a side. False: the tunnel is gone. */
static bool flush(struct tunnel *t, int which)
{
    struct side *side = &t->sides[which], *other = &t->sides[!which];
    struct pl_str piece = pl_buf_str(&side->rest);
    size_t n = 0;
    if (piece.len && pl_conn_write(side->conn, &piece, 1, &n) != PL_OK) {
        destroy(t);
        return false;
    }
    if (n < piece.len) {
        memmove(side->rest.ptr, side->rest.ptr + n, piece.len - n);
        side->rest.len -= n;
        return true;
    }
    pl_buf_clear(&side->rest);
    if (other->is_paused && !other->has_ended) {
        other->is_paused = false;
        pl_conn_resume(other->conn);
    }
    if (other->has_ended && !side->is_shut) {
        side->is_shut = true;
        pl_conn_shutdown(side->conn);
    }
    if (side->is_shut && other->is_shut) {
        destroy(t);
        return false;
    }
    return true;
}

static void pass_on(struct tunnel *t, int from, struct pl_str bytes)
{
    struct side *to = &t->sides[!from];
    pl_buf_add(&to->rest, bytes);
    if (to->rest.status != PL_OK) {
        destroy(t);
        return;
    }
    touch(t);
    if (t->hosts->ops && t->hosts->ops->on_bytes)
        t->hosts->ops->on_bytes(t->hosts->ctx, bytes.len);
    if (flush(t, !from) && to->rest.len && !t->sides[from].is_paused) {
        t->sides[from].is_paused = true;
        pl_conn_pause(t->sides[from].conn);
    }
}

static void side_ended(struct tunnel *t, int which)
{
    t->sides[which].has_ended = true;
    if (t->state != TUNNEL_OPEN)
        destroy(t);
    else
        (void)flush(t, !which);
}

/* --- reaching ---------------------------------------------------------------------------------- */

static void out_read(void *ctx, char *bytes, size_t n)
{
    pass_on(ctx, OUTSIDE, (struct pl_str){bytes, n});
}

static void out_end(void *ctx)
{
    side_ended(ctx, OUTSIDE);
}

static void out_writable(void *ctx)
{
    (void)flush(ctx, OUTSIDE);
}

static const struct pl_conn_ops outside_ops = {out_read, out_end, out_writable, NULL};

static void on_reached(void *ctx, enum pl_status status, struct pl_conn *conn,
                       const struct pl_error *err)
{
    struct tunnel *t = ctx;
    t->reach = NULL;
    if (status != PL_OK) {
        refuse(t, status == PL_INVALID ? "403 Forbidden" : "502 Bad Gateway", err->message);
        return;
    }
    t->sides[OUTSIDE].conn = conn;
    become(t, TUNNEL_OPEN);
    report(t, true, "");
    pl_conn_start(conn, &outside_ops, t);
    touch(t);
    if (t->is_proxy)
        pl_buf_adds(&t->sides[INSIDE].rest, "HTTP/1.1 200 Connection established\r\n\r\n");
    t->sides[INSIDE].is_paused = true;
    if (flush(t, OUTSIDE))
        (void)flush(t, INSIDE);
}

static void reach(struct tunnel *t)
{
    struct pl_cell_hosts *hosts = t->hosts;
    become(t, TUNNEL_REACHING);
    pl_timer_stop(hosts->from.loop, &t->timer);
    pl_conn_pause(t->sides[INSIDE].conn);
    t->reach =
        pl_reach_start(&hosts->from, pl_str_of(t->name), t->port, hosts->rules, on_reached, t);
    if (!t->reach)
        refuse(t, "503 Service Unavailable", "out of memory");
}

/* --- CONNECT ----------------------------------------------------------------------------------- */

static bool equal_names(struct pl_str a, struct pl_str b)
{
    bool is_equal = a.len == b.len;
    for (size_t i = 0; is_equal && i < a.len; i++)
        is_equal = pl_ascii_lower(a.ptr[i]) == pl_ascii_lower(b.ptr[i]);
    return is_equal;
}

/* "*.example" does not match "example" itself. */
static bool is_granted(const struct pl_cell_hosts *hosts, const char *name, uint16_t port)
{
    struct pl_str wanted = pl_str_of(name);
    for (size_t i = 0; i < hosts->n_grants; i++) {
        struct pl_str grant = pl_str_of(hosts->grants[i].name);
        bool is_suffix = grant.ptr[0] == '*';
        struct pl_str tail = is_suffix ? pl_str_slice(grant, 1, grant.len) : grant;
        if ((hosts->grants[i].port ? hosts->grants[i].port : 443) != port)
            continue;
        if (is_suffix && wanted.len > tail.len &&
            equal_names(pl_str_slice(wanted, wanted.len - tail.len, wanted.len), tail))
            return true;
        if (!is_suffix && equal_names(wanted, grant))
            return true;
    }
    return false;
}

/* "CONNECT name:port HTTP/1.1" */
static bool read_head(struct tunnel *t)
{
    char name[256], end;
    unsigned port = 0;
    pl_buf_addc(&t->head, 0);
    if (t->head.status != PL_OK ||
        sscanf(t->head.ptr, "CONNECT %255[A-Za-z0-9._-]:%5u HTTP/1.%c", name, &port, &end) != 3 ||
        !port || port > UINT16_MAX)
        return false;
    size_t n = strlen(name);
    if (n && name[n - 1] == '.')
        name[n - 1] = 0;
    memcpy(t->name, name, sizeof name);
    t->port = (uint16_t)port;
    return true;
}

static void take_head(struct tunnel *t, struct pl_str bytes)
{
    pl_buf_add(&t->head, bytes);
    size_t end = pl_str_find(pl_buf_str(&t->head), PL_STR("\r\n\r\n"));
    if (t->head.status != PL_OK || (end == SIZE_MAX ? t->head.len : end) > MAX_HEAD) {
        refuse(t, "431 Request Header Fields Too Large", "the head of a CONNECT is too long");
        return;
    }
    if (end == SIZE_MAX)
        return;
    pl_buf_add(&t->sides[OUTSIDE].rest, pl_str_slice(pl_buf_str(&t->head), end + 4, t->head.len));
    if (!read_head(t) || t->sides[OUTSIDE].rest.status != PL_OK)
        refuse(t, "400 Bad Request", "not a CONNECT to a host and a port");
    else if (!is_granted(t->hosts, t->name, t->port))
        refuse(t, "403 Forbidden", "not a granted host");
    else
        reach(t);
}

static void in_read(void *ctx, char *bytes, size_t n)
{
    struct tunnel *t = ctx;
    struct pl_str text = {bytes, n};
    if (t->state == TUNNEL_HEAD)
        take_head(t, text);
    else if (t->state == TUNNEL_OPEN)
        pass_on(t, INSIDE, text);
    else if (t->state == TUNNEL_REACHING)
        pl_buf_add(&t->sides[OUTSIDE].rest, text); /* bytes read before the pause */
}

static void in_end(void *ctx)
{
    struct tunnel *t = ctx;
    if (t->state == TUNNEL_REACHING)
        t->sides[INSIDE].has_ended = true;
    else
        side_ended(t, INSIDE);
}

static void in_writable(void *ctx)
{
    struct tunnel *t = ctx;
    if (t->state == TUNNEL_OPEN)
        (void)flush(t, INSIDE);
}

static const struct pl_conn_ops inside_ops = {in_read, in_end, in_writable, NULL};

/* --- accepting --------------------------------------------------------------------------------- */

static void on_accept(void *ctx, struct pl_conn *conn)
{
    struct gate *gate = ctx;
    struct pl_cell_hosts *hosts = gate->hosts;
    struct tunnel *t = hosts->n_tunnels < MAX_TUNNELS ? pl_mem_alloc(1, sizeof *t) : NULL;
    if (!t) {
        pl_conn_close(conn);
        return;
    }
    *t = (struct tunnel){.hosts = hosts,
                         .next = hosts->first,
                         .port = gate->listener->port,
                         .is_proxy = gate->listener->is_proxy};
    snprintf(t->name, sizeof t->name, "%s", gate->listener->name);
    for (int i = 0; i < N_SIDES; i++)
        pl_buf_init(&t->sides[i].rest, 0);
    pl_buf_init(&t->head, 2 * MAX_HEAD + (64 << 10));
    if (hosts->first)
        hosts->first->prev = t;
    hosts->first = t;
    hosts->n_tunnels++;
    t->sides[INSIDE].conn = conn;
    pl_conn_start(conn, &inside_ops, t);
    pl_move_limit(&machine, TUNNEL_HEAD, hosts->from.loop, &t->timer, 0, on_late);
    if (!t->is_proxy)
        reach(t);
}

static enum pl_status copy_grants(struct pl_cell_hosts *hosts, const struct pl_cell_spec *spec)
{
    hosts->grants = pl_arena_zalloc(&hosts->arena, spec->n_hosts + 1, sizeof *hosts->grants);
    if (!hosts->grants)
        return PL_NOMEM;
    for (; hosts->n_grants < spec->n_hosts; hosts->n_grants++) {
        const struct pl_cell_host *from = &spec->hosts[hosts->n_grants];
        struct pl_str name = {from->name, strlen(from->name) + 1};
        hosts->grants[hosts->n_grants] =
            (struct pl_cell_host){pl_arena_dup(&hosts->arena, name).ptr, from->port};
        if (!hosts->grants[hosts->n_grants].name)
            return PL_NOMEM;
    }
    return PL_OK;
}

static enum pl_status open_gates(struct pl_cell_hosts *hosts, struct pl_cell *cell,
                                 struct pl_error *err)
{
    enum pl_status status = PL_OK;
    hosts->gates = pl_arena_zalloc(&hosts->arena, cell->n_listeners + 1, sizeof *hosts->gates);
    if (!hosts->gates)
        return PL_NOMEM;
    for (size_t i = 0; i < cell->n_listeners && status == PL_OK; i++) {
        struct gate *gate = &hosts->gates[hosts->n_gates++];
        *gate = (struct gate){.hosts = hosts,
                              .listener = &cell->listeners[i],
                              .socket = {.fd = cell->listeners[i].fd}};
        struct pl_listener_config config = {
            .socket = &gate->socket, .on_accept = on_accept, .ctx = gate};
        status = pl_listener_start(hosts->from.loop, &config, &gate->accepting, err);
    }
    return status;
}

enum pl_status pl_cell_hosts_start(const struct pl_fetch_from *from, struct pl_cell *cell,
                                   const struct pl_cell_spec *spec,
                                   const struct pl_fetch_rules *rules,
                                   const struct pl_cell_hosts_ops *ops, void *ctx,
                                   struct pl_cell_hosts **ret_hosts, struct pl_error *err)
{
    struct pl_cell_hosts *hosts = pl_mem_alloc(1, sizeof *hosts);
    if (!hosts)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *hosts = (struct pl_cell_hosts){.from = *from, .rules = rules, .ops = ops, .ctx = ctx};
    pl_arena_init(&hosts->arena, 0);
    enum pl_status status = copy_grants(hosts, spec);
    if (status == PL_OK)
        status = open_gates(hosts, cell, err);
    if (status == PL_NOMEM)
        status = pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK)
        *ret_hosts = hosts;
    else
        pl_cell_hosts_stop(hosts);
    return status;
}

void pl_cell_hosts_stop(struct pl_cell_hosts *hosts)
{
    if (!hosts)
        return;
    for (size_t i = 0; i < hosts->n_gates; i++)
        pl_listener_stop(hosts->gates[i].accepting);
    while (hosts->first)
        destroy(hosts->first);
    pl_arena_deinit(&hosts->arena);
    pl_mem_free(hosts);
}

/* Connections: the events to wait for, the callbacks, and the plain transport. */
#include "io/net/conn_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/net/dial.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The goal is ten thousand idle sockets, so the size of one is limited here. */
_Static_assert(sizeof(struct pl_conn) <= 128, "a connection has grown");

/* --- plain -------------------------------------------------------------------------------------
 */

/* One read per event: the kernel reports the socket again while there is more. */
static void plain_read(struct pl_conn *conn)
{
    ssize_t n;
    char *to = conn->loop->read_buffer;
    size_t n_room = PL_READ_BYTES;
    if (conn->ops->get_room && !conn->ops->get_room(conn->ctx, &to, &n_room)) {
        to = conn->loop->read_buffer;
        n_room = PL_READ_BYTES;
    }
    do
        n = recv(conn->watch.fd, to, n_room, 0);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        conn->active_ms = pl_loop_now_ms(conn->loop);
        conn->ops->on_read(conn->ctx, to, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
        pl_conn_end(conn);
    }
}

_Static_assert((int)PL_READ_BYTES == (int)PL_CONN_BLOCK_BYTES, "a block is what one read fills");

char *pl_conn_take_block(struct pl_conn *conn, const char *at)
{
    char *block = conn->loop->read_buffer;
    if (at < block || at >= block + PL_READ_BYTES)
        return NULL;
    char *other = PL_TAKE(conn->loop->spare_buffer);
    if (!other)
        other = pl_mem_alloc(1, PL_READ_BYTES);
    if (!other)
        return NULL;
    conn->loop->read_buffer = other;
    return block;
}

void pl_conn_give_block(struct pl_loop *loop, char *block)
{
    if (loop->spare_buffer)
        pl_mem_free(block);
    else
        loop->spare_buffer = block;
}

static enum pl_status plain_write(struct pl_conn *conn, const struct pl_str *pieces,
                                  size_t n_pieces, size_t *ret_n)
{
    struct iovec parts[PL_CONN_PIECES];
    size_t n_parts = n_pieces < PL_CONN_PIECES ? n_pieces : PL_CONN_PIECES;
    size_t n_bytes = 0;
    for (size_t i = 0; i < n_parts; i++) {
        parts[i] = (struct iovec){(void *)pieces[i].ptr, pieces[i].len};
        n_bytes += pieces[i].len;
    }
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};
    ssize_t n;
    do
        n = sendmsg(conn->watch.fd, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        return PL_IO;
    *ret_n = n > 0 ? (size_t)n : 0;
    conn->wants_write = *ret_n < n_bytes || n_parts < n_pieces;
    return PL_OK;
}

static void plain_shutdown(struct pl_conn *conn)
{
    shutdown(conn->watch.fd, SHUT_WR);
}

static const struct pl_transport plain = {
    .read = plain_read, .write = plain_write, .shutdown = plain_shutdown};

/* --- events ------------------------------------------------------------------------------------
 */

void pl_conn_settle(struct pl_conn *conn)
{
    if (conn->is_in_event)
        return;
    uint32_t events = pl_conn_is_reading(conn) ? EPOLLIN : 0;
    if (conn->wants_write || conn->has_backlog)
        events |= EPOLLOUT;
    pl_watch_want(conn->loop, &conn->watch, events);
}

void pl_conn_end(struct pl_conn *conn)
{
    if (conn->is_ended)
        return;
    conn->is_ended = true;
    conn->ops->on_end(conn->ctx);
}

void pl_conn_in_event(struct pl_conn *conn, void (*fn)(struct pl_conn *conn))
{
    conn->is_in_event = true;
    fn(conn);
    conn->is_in_event = false;
    pl_conn_settle(conn);
}

static void make_writable(struct pl_conn *conn)
{
    if (conn->has_backlog && !conn->transport->flush(conn))
        return;
    if (!conn->wants_write)
        return;
    conn->wants_write = false;
    conn->ops->on_writable(conn->ctx);
}

/* An error or hang-up goes to the waiting callback; the system call that follows returns the
 * reason. */
static void on_event(struct pl_watch *watch, uint32_t events)
{
    struct pl_conn *conn = PL_CONTAINER_OF(watch, struct pl_conn, watch);
    if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
        pl_conn_in_event(conn, make_writable);
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP) && pl_conn_is_reading(conn))
        pl_conn_in_event(conn, conn->transport->read);
}

/* --- what its owner does -----------------------------------------------------------------------
 */

enum pl_status pl_conn_create(struct pl_loop *loop, int fd, const struct pl_endpoint *address,
                              struct pl_tls *tls, struct pl_conn **ret_conn)
{
    struct pl_conn *conn = pl_mem_alloc(1, sizeof *conn);
    if (!conn) {
        close(fd);
        return PL_NOMEM;
    }
    *conn = (struct pl_conn){
        .transport = &plain, .loop = loop, .active_ms = pl_loop_now_ms(loop), .address = *address};
    enum pl_status status = pl_watch_start(loop, &conn->watch, fd, EPOLLIN, on_event);
    if (status != PL_OK) {
        close(fd);
        pl_mem_free(conn);
        return status;
    }
    loop->n_conns++;
    if (tls)
        status = pl_tls_conn_init(conn, tls);
    if (status != PL_OK) {
        pl_conn_close(conn);
        return status;
    }
    *ret_conn = conn;
    return PL_OK;
}

enum pl_status pl_conn_open(struct pl_loop *loop, const struct pl_address *address, uint16_t port,
                            struct pl_conn **ret_conn)
{
    struct pl_endpoint endpoint = {.port = port, .family = address->is_v6 ? AF_INET6 : AF_INET};
    memcpy(endpoint.bytes, address->bytes, sizeof endpoint.bytes);
    int fd = pl_dial(address, port);
    return fd < 0 ? PL_IO : pl_conn_create(loop, fd, &endpoint, NULL, ret_conn);
}

void pl_conn_start(struct pl_conn *conn, const struct pl_conn_ops *ops, void *ctx)
{
    assert(!conn->ops);
    pl_conn_switch(conn, ops, ctx);
}

void pl_conn_switch(struct pl_conn *conn, const struct pl_conn_ops *ops, void *ctx)
{
    conn->ops = ops;
    conn->ctx = ctx;
}

void pl_conn_pause(struct pl_conn *conn)
{
    conn->is_paused = true;
    pl_conn_settle(conn);
}

void pl_conn_resume(struct pl_conn *conn)
{
    if (!conn->is_paused)
        return;
    conn->is_paused = false;
    if (conn->transport->resume)
        conn->transport->resume(conn);
    pl_conn_settle(conn);
}

enum pl_status pl_conn_write(struct pl_conn *conn, const struct pl_str *pieces, size_t n_pieces,
                             size_t *ret_n)
{
    size_t n = 0;
    if (conn->is_broken)
        return PL_IO;
    if (conn->transport->write(conn, pieces, n_pieces, &n) != PL_OK) {
        conn->is_broken = conn->is_ended = true;
        conn->wants_write = conn->has_backlog = false;
        pl_conn_settle(conn);
        return PL_IO;
    }
    if (n > 0)
        conn->active_ms = pl_loop_now_ms(conn->loop);
    pl_conn_settle(conn);
    *ret_n = n;
    return PL_OK;
}

bool pl_conn_is_quiet(const struct pl_conn *conn)
{
    char byte;
    assert(conn->transport == &plain);
    return !conn->is_ended && !conn->is_broken &&
           recv(conn->watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

void pl_conn_shutdown(struct pl_conn *conn)
{
    if (conn->is_broken)
        return;
    conn->transport->shutdown(conn);
    pl_conn_settle(conn);
}

static void free_conn(struct pl_watch *watch)
{
    pl_mem_free(PL_CONTAINER_OF(watch, struct pl_conn, watch));
}

void pl_conn_close(struct pl_conn *conn)
{
    if (!conn)
        return;
    assert(pl_conn_is_open(conn));
    if (conn->transport->deinit)
        conn->transport->deinit(conn);
    int fd = conn->watch.fd;
    conn->loop->n_conns--;
    pl_watch_end(conn->loop, &conn->watch, free_conn);
    close(fd);
}

/* --- who and when ------------------------------------------------------------------------------
 */

static bool is_local_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

void pl_conn_peer(const struct pl_conn *conn, struct pl_peer *ret_peer)
{
    const struct pl_endpoint *address = &conn->address;
    *ret_peer = (struct pl_peer){.port = address->port, .is_tls = conn->tls != NULL};
    if (address->family == AF_UNIX) {
        snprintf(ret_peer->address, sizeof ret_peer->address, "unix");
        ret_peer->is_local_user = is_local_user(conn->watch.fd);
    } else {
        inet_ntop(address->family, address->bytes, ret_peer->address, sizeof ret_peer->address);
    }
}

struct pl_network pl_network_of(int family, const uint8_t *bytes)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, loopback[16] = {[15] = 1};
    if (family != AF_INET && family != AF_INET6)
        return (struct pl_network){0};
    bool is_mapped = family == AF_INET6 && !memcmp(bytes, mapped, sizeof mapped);
    struct pl_network network = {.n = family == AF_INET || is_mapped ? 4 : 8};
    memcpy(network.bytes, bytes + (is_mapped ? sizeof mapped : 0), network.n);
    network.is_loopback =
        network.n == 4 ? network.bytes[0] == 127 : !memcmp(bytes, loopback, sizeof loopback);
    return network;
}

struct pl_network pl_conn_network(const struct pl_conn *conn)
{
    return pl_network_of(conn->address.family, conn->address.bytes);
}

struct pl_loop *pl_conn_loop(const struct pl_conn *conn)
{
    return conn->loop;
}

int64_t pl_conn_active_ms(const struct pl_conn *conn)
{
    return conn->active_ms;
}

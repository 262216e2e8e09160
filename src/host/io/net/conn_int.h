/* Inside of a connection, for the two ways its bytes travel: plain (conn.c) and TLS
 * (io/tls/conn.c).
 */
#ifndef PL_IO_CONN_INT_H
#define PL_IO_CONN_INT_H

#include "io/net/conn.h"
#include "io/loop_int.h"

/* At most this many pieces of one write are looked at. */
enum { PL_CONN_PIECES = 64 };

/* How bytes get to the other side. Each may call the connection's ops, which may close it: look at
 * pl_conn_is_open after a call. */
struct pl_transport {
    /* There is something to read: hands it to on_read, or its end to on_end. */
    void (*read)(struct pl_conn *conn);
    /* Sets wants_write where it took less than all. */
    enum pl_status (*write)(struct pl_conn *conn, const struct pl_str *pieces, size_t n_pieces,
                            size_t *ret_n);
    void (*shutdown)(struct pl_conn *conn);
    /* These three may be NULL. Sends what the transport holds back (has_backlog); false when some
     * of it is left or the connection broke. */
    bool (*flush)(struct pl_conn *conn);
    /* Reading is on again: the transport may have bytes that the kernel does not know of. */
    void (*resume)(struct pl_conn *conn);
    void (*deinit)(struct pl_conn *conn);
};

/* The peer, in compact form. */
struct pl_endpoint {
    uint8_t bytes[16]; /* IPv6; the first four are an IPv4 address */
    uint16_t port;
    uint8_t family; /* AF_INET, AF_INET6, AF_UNIX */
};

struct pl_conn {
    struct pl_watch watch;
    const struct pl_transport *transport;
    struct pl_loop *loop;          /* borrowed */
    const struct pl_conn_ops *ops; /* borrowed; NULL until it is started */
    void *ctx;                     /* borrowed */
    struct pl_tls_conn *tls;       /* owned; NULL when plain */
    int64_t active_ms;
    struct pl_endpoint address;
    bool is_paused;   /* by the owner */
    bool is_ended;    /* nothing more will be read: the end, an error, or a write that failed */
    bool is_broken;   /* writing failed: it will again */
    bool wants_write; /* the last write was short, and on_writable is due */
    bool has_backlog; /* the transport holds bytes back until the kernel takes more */
    bool is_in_event; /* what to wait for is settled once, after the callbacks */
};

/* Owns fd, also when it fails. tls NULL: plain. */
enum pl_status pl_conn_create(struct pl_loop *loop, int fd, const struct pl_endpoint *address,
                              struct pl_tls *tls, struct pl_conn **ret_conn);

static inline bool pl_conn_is_open(const struct pl_conn *conn)
{
    return conn->watch.fd >= 0;
}

static inline bool pl_conn_is_reading(const struct pl_conn *conn)
{
    return pl_conn_is_open(conn) && !conn->is_paused && !conn->is_ended;
}

/* Tells the kernel what we wait for now. */
void pl_conn_settle(struct pl_conn *conn);
/* Calls on_end, once. */
void pl_conn_end(struct pl_conn *conn);
/* Runs `fn` the way an event of the kernel does. */
void pl_conn_in_event(struct pl_conn *conn, void (*fn)(struct pl_conn *conn));

/* io/tls/conn.c: makes a new connection speak TLS. PL_NOMEM. */
enum pl_status pl_tls_conn_init(struct pl_conn *conn, struct pl_tls *tls);

#endif

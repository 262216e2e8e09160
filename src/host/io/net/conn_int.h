/* Inside of a connection, for its two transports: plain (conn.c) and TLS (io/tls/conn.c). */
#ifndef PL_IO_CONN_INT_H
#define PL_IO_CONN_INT_H

#include "io/net/conn.h"
#include "io/loop_int.h"

/* A write looks at no more pieces than this. */
enum { PL_CONN_PIECES = 64 };

/* How bytes reach the other side. Each function may call the connection's ops, which may close it:
 * check pl_conn_is_open after a call. */
struct pl_transport {
    /* The socket is readable: passes its bytes to on_read, or calls on_end. */
    void (*read)(struct pl_conn *conn);
    /* Sets wants_write if it took less than all. */
    enum pl_status (*write)(struct pl_conn *conn, const struct pl_str *pieces, size_t n_pieces,
                            size_t *ret_n);
    void (*shutdown)(struct pl_conn *conn);
    /* The next three may be NULL. Sends bytes that the transport holds back (has_backlog). False
     * when some are left or the connection broke. */
    bool (*flush)(struct pl_conn *conn);
    /* Reading is on again: the transport may have bytes that the kernel no longer has. */
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
    bool is_broken;   /* a write failed; later ones will fail too */
    bool wants_write; /* the last write was short, and on_writable is due */
    bool has_backlog; /* the transport holds bytes back until the kernel takes more */
    bool is_in_event; /* the events to wait for are set once, after the callbacks */
};

/* Owns fd, even if it fails. tls NULL: plain. */
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

/* Tells the kernel which events we now wait for. */
void pl_conn_settle(struct pl_conn *conn);
/* Calls on_end, once. */
void pl_conn_end(struct pl_conn *conn);
/* Runs `fn` like an event of the kernel. */
void pl_conn_in_event(struct pl_conn *conn, void (*fn)(struct pl_conn *conn));

/* io/tls/conn.c: makes a new connection speak TLS. PL_NOMEM. */
enum pl_status pl_tls_conn_init(struct pl_conn *conn, struct pl_tls *tls);

#endif

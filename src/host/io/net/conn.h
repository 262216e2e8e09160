/* A stream connection: TCP, Unix or TLS over either; and what listens for them. One loop owns it.
 *
 * There is no queue of bytes in here. Reading goes through one buffer per loop and is handed on at
 * once; writing tells how much the kernel took, and calls back when it will take more. So an idle
 * connection costs its struct, and each protocol has the queue that fits it. Over TLS the handshake
 * goes on after the scenes: what is written before it is done waits for on_writable, and one that
 * fails or takes over ten seconds is an on_end. */
#ifndef PL_IO_CONN_H
#define PL_IO_CONN_H

#include "base/status.h"
#include "base/str.h"
#include "io/loop.h"
#include "wire/address.h"

struct pl_conn;

struct pl_conn_ops {
    /* Bytes arrived; they are the callee's to change, until it returns. */
    void (*on_read)(void *ctx, char *bytes, size_t n);
    /* The other side will send no more (or reading failed): nothing comes after this. */
    void (*on_end)(void *ctx);
    /* After a short write: there is room again. */
    void (*on_writable)(void *ctx);
    /* May be NULL. Asked before reading from a plain connection: true and a place for bytes, which
     * on_read then gets there and need not copy; false: the loop's buffer will do. */
    bool (*get_room)(void *ctx, char **ret_to, size_t *ret_n);
};

/* The peer. */
struct pl_peer {
    char address[64]; /* "127.0.0.1", "::1"; "unix" */
    uint16_t port;
    bool is_local_user; /* a Unix socket whose other end runs as our own user (SO_PEERCRED) */
    bool is_tls;
};

/* A plain connection to another server; start it like an accepted one. Bytes that are written
 * before it is connected wait for on_writable. If it cannot connect, on_end is called or a write
 * fails. PL_IO: no way or no descriptor; PL_NOMEM. */
enum pl_status pl_conn_open(struct pl_loop *loop, const struct pl_address *address, uint16_t port,
                            struct pl_conn **ret_conn);

/* Reading is on from the start. `ops` and `ctx` stay borrowed. */
void pl_conn_start(struct pl_conn *conn, const struct pl_conn_ops *ops, void *ctx);
/* Changes whom to call (an upgrade from HTTP to WebSocket). */
void pl_conn_switch(struct pl_conn *conn, const struct pl_conn_ops *ops, void *ctx);
/* Back-pressure: stop asking the kernel for bytes, and go on. */
void pl_conn_pause(struct pl_conn *conn);
void pl_conn_resume(struct pl_conn *conn);

/* Sends as much as the kernel takes now; *ret_n may be less than all (then on_writable will come).
 * At most 64 pieces are looked at. PL_IO: the connection is broken; on_end is not called for it. */
enum pl_status pl_conn_write(struct pl_conn *conn, const struct pl_str *pieces, size_t n_pieces,
                             size_t *ret_n);
/* Whether nothing waits to be read, neither bytes nor the end. Only for a plain connection, outside
 * of its own callbacks. */
bool pl_conn_is_quiet(const struct pl_conn *conn);
/* No more writing from us: a half-close (a TLS close_notify), so that the other side reads it all.
 */
void pl_conn_shutdown(struct pl_conn *conn);
/* Closes now and frees. No callback comes after this. Accepts NULL. */
void pl_conn_close(struct pl_conn *conn);

/* Only while on_read runs, for one who keeps most of what it got: takes the memory of
 * PL_CONN_BLOCK_BYTES that has the byte at `at`, and the loop goes on with other memory. The caller
 * frees it. NULL: that byte is elsewhere, or there is no other memory, and then it has to be
 * copied. */
enum { PL_CONN_BLOCK_BYTES = 64 << 10 };
char *pl_conn_take_block(struct pl_conn *conn, const char *at);

void pl_conn_peer(const struct pl_conn *conn, struct pl_peer *ret_peer);
/* The key by which connections of a peer are counted: an IPv4 address, also one written as IPv6, or
 * the first 64 bits of an IPv6 address. */
struct pl_network {
    uint8_t bytes[8];
    uint8_t n; /* 4 or 8; 0: a Unix socket */
    bool is_loopback;
};
struct pl_network pl_conn_network(const struct pl_conn *conn);
/* The same of an address: AF_INET with 4 bytes, AF_INET6 with 16, anything else with none. */
struct pl_network pl_network_of(int family, const uint8_t *bytes);
struct pl_loop *pl_conn_loop(const struct pl_conn *conn);
/* Milliseconds of the loop's clock at the last byte that went either way. */
int64_t pl_conn_active_ms(const struct pl_conn *conn);

/* --- listening ------------------------------------------------------------------------------- */

/* Sockets are opened once, by the main thread, and every shard then accepts from them. */
struct pl_socket {
    int fd;
    bool is_unix;
    uint16_t port;   /* the real one when 0 was asked for */
    bool is_outside; /* handed over, and listens beyond loopback */
};

/* host "127.0.0.1", "::1", "0.0.0.0", a name; PL_IO with a sentence (port taken: says so). */
enum pl_status pl_socket_listen_tcp(const char *host, uint16_t port, struct pl_socket *ret_socket,
                                    struct pl_error *err);
/* Mode 0600. A socket file without a listener is replaced; one with a listener is PL_CONFLICT. */
enum pl_status pl_socket_listen_unix(const char *path, struct pl_socket *ret_socket,
                                     struct pl_error *err);
/* Sockets systemd handed over (LISTEN_FDS); *ret_n may be 0. */
enum pl_status pl_socket_from_systemd(struct pl_socket *ret_sockets, size_t max, size_t *ret_n,
                                      struct pl_error *err);
void pl_socket_close(struct pl_socket *socket);

struct pl_tls; /* counted; shared by all loops, and by the connections that were made by it */
/* Certificate chain and key in PEM; TLS 1.2 and 1.3, ALPN http/1.1. One reference. */
enum pl_status pl_tls_create(const char *cert_path, const char *key_path, struct pl_tls **ret_tls,
                             struct pl_error *err);
/* Any thread; both accept NULL. */
struct pl_tls *pl_tls_ref(struct pl_tls *tls);
void pl_tls_unref(struct pl_tls *tls);
/* Whether clients are shown the same certificates by both; either may be NULL. */
bool pl_tls_is_same(const struct pl_tls *a, const struct pl_tls *b);

struct pl_listener; /* owned by its loop */
/* on_accept owns the connection and starts or closes it before it returns. tls NULL: plain. Out
 * of descriptors: pauses for 100 ms, and calls on_exhausted (may be NULL) once each time this
 * begins. */
struct pl_listener_config {
    const struct pl_socket *socket; /* borrowed */
    struct pl_tls *tls;             /* the listener takes a reference */
    void (*on_accept)(void *ctx, struct pl_conn *conn);
    void (*on_exhausted)(void *ctx);
    void *ctx;
};
enum pl_status pl_listener_start(struct pl_loop *loop, const struct pl_listener_config *config,
                                 struct pl_listener **ret_listener, struct pl_error *err);
/* Connections that are accepted from now on get this one. */
void pl_listener_use_tls(struct pl_listener *listener, struct pl_tls *tls);
/* Accepts no more; does not close the socket. Accepts NULL. */
void pl_listener_stop(struct pl_listener *listener);

/* --- systemd --------------------------------------------------------------------------------- */

/* "READY=1", "STOPPING=1", "STATUS=…" to NOTIFY_SOCKET; does nothing without it. */
void pl_systemd_notify(const char *state);

/* Raises the soft limit of descriptors to the hard one; returns the new limit. */
size_t pl_fd_limit_raise(void);

#endif

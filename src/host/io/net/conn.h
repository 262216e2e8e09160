/* A stream connection (TCP, Unix, or TLS over either) and its listeners. One loop owns it.
 *
 * A connection has no queue of bytes. Reads go through one buffer per loop and are passed on at
 * once. A write reports how much the kernel took, and on_writable follows when it takes more. So an
 * idle connection costs only its struct, and each protocol has the queue that fits it. Over TLS the
 * handshake runs in the background: writes before its end wait for on_writable; if it fails or
 * takes over ten seconds, on_end is called. */
#ifndef PL_IO_CONN_H
#define PL_IO_CONN_H

#include "base/status.h"
#include "base/str.h"
#include "io/loop.h"
#include "wire/address.h"

struct pl_conn;

struct pl_conn_ops {
    /* Bytes arrived; the callee may change them until it returns. */
    void (*on_read)(void *ctx, char *bytes, size_t n);
    /* The other side sends no more, or reading failed. No on_read comes after this. */
    void (*on_end)(void *ctx);
    /* After a short write: there is room again. */
    void (*on_writable)(void *ctx);
    /* May be NULL. Called before reading from a plain connection. True: read into *ret_to, so that
     * on_read need not copy the bytes. False: use the loop's buffer. */
    bool (*get_room)(void *ctx, char **ret_to, size_t *ret_n);
};

/* The peer. */
struct pl_peer {
    char address[64]; /* "127.0.0.1", "::1"; "unix" */
    uint16_t port;
    bool is_local_user; /* a Unix socket, and the other end runs as our own user (SO_PEERCRED) */
    bool is_tls;
};

/* A plain connection to another server; start it like an accepted one. Writes before it is
 * connected wait for on_writable. If it cannot connect, on_end is called or a write fails. PL_IO:
 * no route or no descriptor; PL_NOMEM. */
enum pl_status pl_conn_open(struct pl_loop *loop, const struct pl_address *address, uint16_t port,
                            struct pl_conn **ret_conn);

/* Reading is on from the start. `ops` and `ctx` are borrowed. */
void pl_conn_start(struct pl_conn *conn, const struct pl_conn_ops *ops, void *ctx);
/* Replaces the callbacks (for an upgrade from HTTP to WebSocket). */
void pl_conn_switch(struct pl_conn *conn, const struct pl_conn_ops *ops, void *ctx);
/* Back-pressure: stops and resumes reading. */
void pl_conn_pause(struct pl_conn *conn);
void pl_conn_resume(struct pl_conn *conn);

/* Sends as much as the kernel takes now. If *ret_n is less than all, on_writable follows. Looks at
 * no more than 64 pieces. PL_IO: the connection is broken; on_end is not called for this. */
enum pl_status pl_conn_write(struct pl_conn *conn, const struct pl_str *pieces, size_t n_pieces,
                             size_t *ret_n);
/* Whether nothing waits to be read, neither bytes nor the end. Only for a plain connection, and
 * outside its own callbacks. */
bool pl_conn_is_quiet(const struct pl_conn *conn);
/* Half-close: we write no more, and the other side can read everything sent before (TLS:
 * close_notify). */
void pl_conn_shutdown(struct pl_conn *conn);
/* Closes now and frees. No callback comes after this. Accepts NULL. */
void pl_conn_close(struct pl_conn *conn);

/* Only within on_read, for a callee that keeps most of its bytes: takes over the memory block of
 * PL_CONN_BLOCK_BYTES that contains `at`; the loop continues with another block. The caller frees
 * it, or gives it back. NULL: `at` is not in such a block, or memory is short; then the bytes must be
 * copied. */
enum { PL_CONN_BLOCK_BYTES = 64 << 10 };
char *pl_conn_take_block(struct pl_conn *conn, const char *at);
/* Gives such a block to the loop, which keeps one for the next that is taken. Any memory of at least
 * this size from base/mem.h will do. */
void pl_conn_give_block(struct pl_loop *loop, char *block);

void pl_conn_peer(const struct pl_conn *conn, struct pl_peer *ret_peer);
/* The key for counting connections per peer: an IPv4 address, even if mapped to IPv6, or the first
 * 64 bits of an IPv6 address. */
struct pl_network {
    uint8_t bytes[8];
    uint8_t n; /* 4 or 8; 0: a Unix socket */
    bool is_loopback;
};
struct pl_network pl_conn_network(const struct pl_conn *conn);
/* The key of an address: AF_INET has 4 bytes, AF_INET6 has 16, other families have none. */
struct pl_network pl_network_of(int family, const uint8_t *bytes);
struct pl_loop *pl_conn_loop(const struct pl_conn *conn);
/* The loop's clock in milliseconds when the last byte was sent or received. */
int64_t pl_conn_active_ms(const struct pl_conn *conn);

/* --- listening ------------------------------------------------------------------------------- */

/* Sockets are opened once, by the main thread, and every shard then accepts from them. */
struct pl_socket {
    int fd;
    bool is_unix;
    uint16_t port;   /* the assigned one if 0 was requested */
    bool is_outside; /* inherited, and listens beyond loopback */
};

/* host: "127.0.0.1", "::1", "0.0.0.0", or a name. PL_IO with a message, for example that the port
 * is in use. */
enum pl_status pl_socket_listen_tcp(const char *host, uint16_t port, struct pl_socket *ret_socket,
                                    struct pl_error *err);
/* Mode 0600. A socket file without a listener is replaced; with a listener: PL_CONFLICT. */
enum pl_status pl_socket_listen_unix(const char *path, struct pl_socket *ret_socket,
                                     struct pl_error *err);
/* Sockets from systemd (LISTEN_FDS); *ret_n may be 0. */
enum pl_status pl_socket_from_systemd(struct pl_socket *ret_sockets, size_t max, size_t *ret_n,
                                      struct pl_error *err);
void pl_socket_close(struct pl_socket *socket);

struct pl_tls; /* counted; shared by all loops and by the connections made with it */
/* Certificate chain and key in PEM; TLS 1.2 and 1.3, ALPN http/1.1. Returns one reference. */
enum pl_status pl_tls_create(const char *cert_path, const char *key_path, struct pl_tls **ret_tls,
                             struct pl_error *err);
/* Any thread; both accept NULL. */
struct pl_tls *pl_tls_ref(struct pl_tls *tls);
void pl_tls_unref(struct pl_tls *tls);
/* Whether both present the same certificates to clients; either may be NULL. */
bool pl_tls_is_same(const struct pl_tls *a, const struct pl_tls *b);

struct pl_listener; /* owned by its loop */
/* on_accept owns the connection, and starts or closes it before it returns. tls NULL: plain. When
 * the process is out of descriptors, accepting pauses for 100 ms, and on_exhausted (may be NULL) is
 * called once each time this begins. */
struct pl_listener_config {
    const struct pl_socket *socket; /* borrowed */
    struct pl_tls *tls;             /* the listener takes a reference */
    void (*on_accept)(void *ctx, struct pl_conn *conn);
    void (*on_exhausted)(void *ctx);
    void *ctx;
};
enum pl_status pl_listener_start(struct pl_loop *loop, const struct pl_listener_config *config,
                                 struct pl_listener **ret_listener, struct pl_error *err);
/* Uses `tls` for connections accepted from now on. */
void pl_listener_use_tls(struct pl_listener *listener, struct pl_tls *tls);
/* Stops accepting; does not close the socket. Accepts NULL. */
void pl_listener_stop(struct pl_listener *listener);

/* --- systemd --------------------------------------------------------------------------------- */

/* Sends "READY=1", "STOPPING=1", "STATUS=…" to NOTIFY_SOCKET; does nothing if that is not set. */
void pl_systemd_notify(const char *state);

/* Raises the soft limit of descriptors to the hard one; returns the new limit. */
size_t pl_fd_limit_raise(void);

#endif

/* The TLS transport of a connection.
 *
 * We accept everything that OpenSSL sends: the part that the kernel does not take becomes our
 * backlog, and until that is sent OpenSSL gets no new bytes. So a call of OpenSSL never has to be
 * repeated with the same bytes, and a write reports exactly the bytes that will be sent.
 *
 *     handshake  --done-->  open  --pl_conn_shutdown-->  close_notify, then the backlog, then FIN
 *         '--refused, ended, 10 s--> on_end
 */
#include "io/net/conn_int.h"
#include "io/tls/tls_int.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

enum {
    HANDSHAKE_MS = 10000,
    READS_PER_EVENT = 16,
    BACKLOG_MAX = 256 << 10, /* closes the connection of a client that never reads our answers */
};

struct pl_tls_conn {
    struct pl_conn *conn; /* the connection that it belongs to */
    struct pl_tls *tls;   /* a reference: OpenSSL keeps the context alive, but not our method */
    SSL *ssl;             /* owned */
    struct pl_buf backlog;
    size_t n_flushed;          /* of the backlog */
    struct pl_timer handshake; /* on until the handshake is done */
    struct pl_loop_hook more;  /* reads decrypted bytes that the kernel no longer has */
    bool is_open;              /* the handshake is done */
    bool is_write_waiting;     /* on_writable is due when the handshake is done */
    bool is_shut;
};

/* --- OpenSSL's way to the descriptor -----------------------------------------------------------
 */

static int send_bytes(struct pl_conn *conn, const char *bytes, size_t n_bytes, size_t *ret_n)
{
    ssize_t n;
    do
        n = send(conn->watch.fd, bytes, n_bytes, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    *ret_n = n > 0 ? (size_t)n : 0;
    return n < 0 && errno != EAGAIN && errno != EWOULDBLOCK ? -1 : 0;
}

static int descriptor_write(BIO *bio, const char *bytes, int n_bytes)
{
    struct pl_conn *conn = BIO_get_data(bio);
    struct pl_str rest = {bytes, (size_t)n_bytes};
    size_t n = 0;
    BIO_clear_retry_flags(bio);
    if (!conn->has_backlog && send_bytes(conn, rest.ptr, rest.len, &n) != 0)
        return -1;
    rest = pl_str_slice(rest, n, rest.len);
    if (rest.len > 0) {
        pl_buf_add(&conn->tls->backlog, rest);
        if (conn->tls->backlog.status != PL_OK)
            return -1;
        conn->has_backlog = true;
    }
    return n_bytes;
}

static int descriptor_read(BIO *bio, char *to, int size)
{
    struct pl_conn *conn = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t n;
    do
        n = recv(conn->watch.fd, to, (size_t)size, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        BIO_set_retry_read(bio);
    return (int)n;
}

static long descriptor_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int descriptor_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

BIO_METHOD *pl_tls_descriptor_create(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "parley");
    if (!method)
        return NULL;
    BIO_meth_set_write(method, descriptor_write);
    BIO_meth_set_read(method, descriptor_read);
    BIO_meth_set_ctrl(method, descriptor_control);
    BIO_meth_set_create(method, descriptor_create);
    return method;
}

/* --- reading -----------------------------------------------------------------------------------
 */

static void on_handshake_late(struct pl_timer *timer)
{
    struct pl_tls_conn *tls =
        (struct pl_tls_conn *)((char *)timer - offsetof(struct pl_tls_conn, handshake));
    pl_conn_in_event(tls->conn, pl_conn_end);
}

/* OpenSSL stopped: it needs more bytes, or this is the end. */
static void note_stop(struct pl_conn *conn, int result)
{
    if (SSL_get_error(conn->tls->ssl, result) == SSL_ERROR_WANT_READ)
        return;
    pl_timer_stop(conn->loop, &conn->tls->handshake);
    pl_conn_end(conn);
}

static bool shake_hands(struct pl_conn *conn)
{
    struct pl_tls_conn *tls = conn->tls;
    ERR_clear_error();
    int result = SSL_accept(tls->ssl);
    if (result != 1) {
        note_stop(conn, result);
        return false;
    }
    pl_timer_stop(conn->loop, &tls->handshake);
    tls->is_open = true;
    conn->wants_write = tls->is_write_waiting;
    return true;
}

/* If reading is on and OpenSSL has bytes, they are read at the end of the turn. */
static void ask_for_more(struct pl_conn *conn)
{
    if (pl_conn_is_reading(conn) && SSL_has_pending(conn->tls->ssl))
        pl_loop_hook_add(conn->loop, &conn->tls->more);
}

static void tls_read(struct pl_conn *conn)
{
    if (!conn->tls->is_open && !shake_hands(conn))
        return;
    for (int i = 0; i < READS_PER_EVENT && pl_conn_is_reading(conn); i++) {
        ERR_clear_error();
        int n = SSL_read(conn->tls->ssl, conn->loop->read_buffer, PL_READ_BYTES);
        if (n <= 0) {
            note_stop(conn, n);
            return;
        }
        conn->active_ms = pl_loop_now_ms(conn->loop);
        conn->ops->on_read(conn->ctx, conn->loop->read_buffer, (size_t)n);
    }
    ask_for_more(conn);
}

static void on_more(struct pl_loop_hook *end)
{
    struct pl_tls_conn *tls =
        (struct pl_tls_conn *)((char *)end - offsetof(struct pl_tls_conn, more));
    if (pl_conn_is_reading(tls->conn))
        pl_conn_in_event(tls->conn, tls_read);
}

/* --- writing -----------------------------------------------------------------------------------
 */

/* The position of a write in its pieces. */
struct cursor {
    const struct pl_str *piece, *end;
    size_t offset; /* in *piece */
};

static void step_over(struct cursor *at, size_t n)
{
    at->offset += n;
    while (at->piece < at->end && at->offset >= at->piece->len) {
        at->offset -= at->piece->len;
        at->piece++;
    }
}

/* The next record: a large piece unchanged, or small ones gathered in `to`. */
static struct pl_str next_record(struct cursor at, char to[PL_RECORD_BYTES])
{
    struct pl_str rest = pl_str_slice(*at.piece, at.offset, at.piece->len);
    if (rest.len >= PL_RECORD_BYTES || at.piece + 1 == at.end)
        return pl_str_slice(rest, 0, PL_RECORD_BYTES);
    size_t n = 0;
    while (at.piece < at.end && n < PL_RECORD_BYTES) {
        rest = pl_str_slice(*at.piece, at.offset, at.offset + (PL_RECORD_BYTES - n));
        memcpy(to + n, rest.ptr, rest.len);
        n += rest.len;
        step_over(&at, rest.len);
    }
    return (struct pl_str){to, n};
}

static enum pl_status tls_write(struct pl_conn *conn, const struct pl_str *pieces, size_t n_pieces,
                                size_t *ret_n)
{
    struct pl_tls_conn *tls = conn->tls;
    if (!tls->is_open) {
        tls->is_write_waiting = true;
        return PL_OK;
    }
    size_t n_seen = n_pieces < PL_CONN_PIECES ? n_pieces : PL_CONN_PIECES;
    struct cursor at = {pieces, pieces + n_seen, 0};
    step_over(&at, 0);
    while (at.piece < at.end && !conn->has_backlog) {
        struct pl_str record = next_record(at, conn->loop->write_buffer);
        ERR_clear_error();
        int n = SSL_write(tls->ssl, record.ptr, (int)record.len);
        if (n <= 0)
            return PL_IO;
        *ret_n += (size_t)n;
        step_over(&at, (size_t)n);
    }
    conn->wants_write = at.piece < at.end || n_seen < n_pieces;
    return PL_OK;
}

/* Sends FIN once everything before it was sent. */
static void finish(struct pl_conn *conn)
{
    if (conn->tls->is_shut && !conn->has_backlog)
        shutdown(conn->watch.fd, SHUT_WR);
}

static bool tls_flush(struct pl_conn *conn)
{
    struct pl_tls_conn *tls = conn->tls;
    struct pl_str rest = pl_str_slice(pl_buf_str(&tls->backlog), tls->n_flushed, SIZE_MAX);
    size_t n = 0;
    if (send_bytes(conn, rest.ptr, rest.len, &n) != 0) {
        conn->is_broken = true;
        conn->wants_write = conn->has_backlog = false;
        pl_conn_end(conn);
        return false;
    }
    tls->n_flushed += n;
    if (n < rest.len)
        return false;
    pl_buf_deinit(&tls->backlog); /* an idle connection keeps no buffer */
    pl_buf_init(&tls->backlog, BACKLOG_MAX);
    tls->n_flushed = 0;
    conn->has_backlog = false;
    finish(conn);
    return true;
}

static void tls_shutdown(struct pl_conn *conn)
{
    struct pl_tls_conn *tls = conn->tls;
    if (tls->is_shut)
        return;
    tls->is_shut = true;
    ERR_clear_error();
    if (tls->is_open)
        SSL_shutdown(tls->ssl); /* passes OpenSSL's close_notify to descriptor_write */
    finish(conn);
}

/* --- from beginning to end ---------------------------------------------------------------------
 */

static void tls_deinit(struct pl_conn *conn)
{
    struct pl_tls_conn *tls = conn->tls;
    pl_timer_stop(conn->loop, &tls->handshake);
    pl_loop_hook_remove(conn->loop, &tls->more);
    SSL_free(tls->ssl);
    pl_tls_unref(tls->tls);
    pl_buf_deinit(&tls->backlog);
    pl_mem_free(tls);
    conn->tls = NULL;
}

static const struct pl_transport transport = {.read = tls_read,
                                              .write = tls_write,
                                              .shutdown = tls_shutdown,
                                              .flush = tls_flush,
                                              .resume = ask_for_more,
                                              .deinit = tls_deinit};

enum pl_status pl_tls_conn_init(struct pl_conn *conn, struct pl_tls *tls)
{
    struct pl_tls_conn *own = pl_mem_alloc(1, sizeof *own);
    SSL *ssl = SSL_new(tls->context);
    BIO *bio = BIO_new(tls->descriptor);
    if (!own || !ssl || !bio) {
        pl_mem_free(own);
        SSL_free(ssl);
        BIO_free(bio);
        return PL_NOMEM;
    }
    *own =
        (struct pl_tls_conn){.conn = conn, .tls = pl_tls_ref(tls), .ssl = ssl, .more.fn = on_more};
    pl_buf_init(&own->backlog, BACKLOG_MAX);
    BIO_set_data(bio, conn);
    SSL_set_bio(ssl, bio, bio);
    conn->tls = own;
    conn->transport = &transport;
    pl_timer_start(conn->loop, &own->handshake, HANDSHAKE_MS, on_handshake_late);
    return PL_OK;
}

#include "io/net/conn.h"
#include "unit/io/certificate.h"
#include "unit/io/turning.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static char dir[] = "/tmp/parley-tls-test-XXXXXX";
static char cert_path[64], key_path[64], other_cert_path[64], other_key_path[64];
static struct pl_loop *loop;
static struct pl_socket listening;
static struct pl_tls *tls;
static struct pl_conn *conn; /* the accepted connection; NULL after its end */
static char *read_bytes;     /* the bytes it read */
static size_t n_read;
static bool is_ended;
static const struct pl_conn_ops *ops_to_use;

enum { N_LARGE = 8 << 20 }; /* more than the kernel buffers */
static char *large;

/* --- the server's side ------------------------------------------------------------------------ */

static void keep(void *ctx, char *bytes, size_t n)
{
    (void)ctx;
    assert_true(n_read + n <= N_LARGE);
    memcpy(read_bytes + n_read, bytes, n);
    n_read += n;
}

static void note_end(void *ctx)
{
    (void)ctx;
    is_ended = true;
}

static int n_writables;
static void note_writable(void *ctx)
{
    (void)ctx;
    n_writables++;
}

static const struct pl_conn_ops keeping = {keep, note_end, note_writable};

static void on_accept(void *ctx, struct pl_conn *accepted)
{
    (void)ctx;
    assert_null(conn);
    conn = accepted;
    pl_conn_start(conn, ops_to_use, NULL);
}

static int set_up(void **state)
{
    (void)state;
    struct pl_error err = {0};
    struct pl_listener *listener;
    loop = make_loop();
    conn = NULL;
    n_read = 0;
    n_writables = 0;
    is_ended = false;
    ops_to_use = &keeping;
    if (pl_tls_create(cert_path, key_path, &tls, &err) != PL_OK ||
        pl_socket_listen_tcp("127.0.0.1", 0, &listening, &err) != PL_OK)
        fail_msg("%s", err.message);
    struct pl_listener_config config = {.socket = &listening, .tls = tls, .on_accept = on_accept};
    return pl_listener_start(loop, &config, &listener, &err) == PL_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pl_conn_close(conn);
    pl_loop_destroy(loop);
    pl_tls_unref(tls);
    pl_socket_close(&listening);
    return 0;
}

/* --- the client's side: a thread of its own, with blocking calls ------------------------------ */

struct client {
    void (*talk)(struct client *self);
    const char *alpn; /* in wire format */
    int max_version;
    SSL *ssl;
    int fd;
    char *bytes; /* the bytes it read, for the test */
    size_t n_bytes;
    bool is_connected, is_clean_end;
    char protocol[16];
    atomic_bool is_over;
    pthread_t thread;
};

static int connect_tcp(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 64 << 10;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(listening.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? fd : -1;
}

static void *run_client(void *arg)
{
    struct client *self = arg;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (self->max_version) {
        SSL_CTX_set_security_level(context, 0);
        SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
        SSL_CTX_set_max_proto_version(context, self->max_version);
    }
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
    self->fd = connect_tcp();
    self->ssl = SSL_new(context);
    if (self->alpn)
        SSL_set_alpn_protos(self->ssl, (const unsigned char *)self->alpn,
                            (unsigned)strlen(self->alpn));
    SSL_set_fd(self->ssl, self->fd);
    self->is_connected = SSL_connect(self->ssl) == 1;
    const unsigned char *protocol = NULL;
    unsigned len = 0;
    SSL_get0_alpn_selected(self->ssl, &protocol, &len);
    snprintf(self->protocol, sizeof self->protocol, "%.*s", (int)len,
             protocol ? (const char *)protocol : "");
    if (self->is_connected && self->talk)
        self->talk(self);
    SSL_free(self->ssl);
    close(self->fd);
    SSL_CTX_free(context);
    atomic_store(&self->is_over, true);
    return NULL;
}

static void start_client(struct client *self)
{
    assert_int_equal(pthread_create(&self->thread, NULL, run_client, self), 0);
}

static bool is_client_over(void *client)
{
    return atomic_load(&((struct client *)client)->is_over);
}

static void finish_client(struct client *self)
{
    turn_until(loop, is_client_over, self);
    pthread_join(self->thread, NULL);
}

static void read_to_end(struct client *self)
{
    self->bytes = malloc(N_LARGE);
    int n;
    while ((n = SSL_read(self->ssl, self->bytes + self->n_bytes, (int)(N_LARGE - self->n_bytes))) >
           0)
        self->n_bytes += (size_t)n;
    self->is_clean_end = SSL_get_error(self->ssl, n) == SSL_ERROR_ZERO_RETURN;
}

/* Clients that read only on demand. */
static atomic_bool may_go_on;

static void wait_to_go_on(struct client *self)
{
    (void)self;
    struct timespec wait = {.tv_nsec = 1000000};
    while (!atomic_load(&may_go_on))
        nanosleep(&wait, NULL);
}

/* --- talking ---------------------------------------------------------------------------------- */

static void talk_politely(struct client *self)
{
    SSL_write(self->ssl, "hello", 5);
    SSL_shutdown(self->ssl);
    read_to_end(self);
}

static void both_sides_talk_and_part_politely(void **state)
{
    (void)state;
    static const int versions[] = {0, TLS1_2_VERSION};
    for (size_t i = 0; i < 2; i++) {
        struct client client = {
            .talk = talk_politely, .alpn = "\x02h2\x08http/1.1", .max_version = versions[i]};
        start_client(&client);
        turn_until(loop, is_true, &is_ended);
        assert_int_equal(n_read, 5);
        assert_memory_equal(read_bytes, "hello", 5);
        struct pl_peer peer;
        pl_conn_peer(conn, &peer);
        assert_true(peer.is_tls);
        assert_string_equal(peer.address, "127.0.0.1");
        struct pl_str pieces[] = {PL_STR("HTTP/1.1 "), PL_STR("200 "), {NULL, 0}, PL_STR("OK")};
        size_t n = 0;
        assert_int_equal(pl_conn_write(conn, pieces, 4, &n), PL_OK);
        assert_int_equal(n, 15);
        pl_conn_shutdown(conn);
        finish_client(&client);
        assert_string_equal(client.protocol, "http/1.1");
        assert_int_equal(client.n_bytes, 15);
        assert_memory_equal(client.bytes, "HTTP/1.1 200 OK", 15);
        assert_true(client.is_clean_end);
        free(client.bytes);
        pl_conn_close(conn);
        conn = NULL;
        is_ended = false;
        n_read = 0;
    }
}

static size_t n_sent;

static void send_large(void *ctx)
{
    (void)ctx;
    n_writables++;
    while (n_sent < N_LARGE) {
        struct pl_str all = {large, N_LARGE}, pieces[6];
        /* TLS joins small pieces to one record; large ones are not copied. */
        static const size_t sizes[] = {10, 100, 30000, 1, 16384, 5};
        size_t at = n_sent, n = 0;
        for (size_t i = 0; i < 6; at += sizes[i++])
            pieces[i] = pl_str_slice(all, at, at + sizes[i]);
        assert_int_equal(pl_conn_write(conn, pieces, 6, &n), PL_OK);
        size_t n_asked = (at < N_LARGE ? at : N_LARGE) - n_sent;
        /* After a short write the pieces are split elsewhere; each byte must still arrive once. */
        n_sent += n;
        if (n_sent > 0 && n < n_asked)
            atomic_store(&may_go_on, true);
        if (n < n_asked)
            return;
    }
    pl_conn_shutdown(conn);
}

static const struct pl_conn_ops large_sending = {keep, note_end, send_large};

static void read_late(struct client *self)
{
    wait_to_go_on(self);
    read_to_end(self);
}

static void a_late_reader_gets_everything_and_then_the_end(void **state)
{
    (void)state;
    ops_to_use = &large_sending;
    n_sent = 0;
    atomic_store(&may_go_on, false);
    struct client client = {.talk = read_late};
    start_client(&client);
    while (!conn)
        turn_for(loop, 1);
    send_large(NULL); /* most likely before the handshake ends */
    finish_client(&client);
    assert_int_equal(n_sent, N_LARGE);
    assert_true(n_writables > 1); /* the first call is ours */
    assert_int_equal(client.n_bytes, N_LARGE);
    assert_memory_equal(client.bytes, large, N_LARGE);
    assert_true(client.is_clean_end);
    free(client.bytes);
}

static void write_large(struct client *self)
{
    for (size_t at = 0; at < N_LARGE;) {
        int n = SSL_write(self->ssl, large + at, N_LARGE - at > 100000 ? 100000 : N_LARGE - at);
        if (n <= 0)
            return;
        at += (size_t)n;
    }
    SSL_shutdown(self->ssl);
    read_to_end(self);
}

/* Pauses after every piece. */
static struct pl_timer go_on;

static void resume(struct pl_timer *timer)
{
    (void)timer;
    pl_conn_resume(conn);
}

static void keep_and_pause(void *ctx, char *bytes, size_t n)
{
    keep(ctx, bytes, n);
    pl_conn_pause(conn);
    if (n_read % 5 == 0)
        pl_timer_start(loop, &go_on, 0, resume);
    else
        pl_conn_resume(conn);
}

static const struct pl_conn_ops pausing = {keep_and_pause, note_end, note_writable};

static void an_upload_arrives_whole_with_pauses_and_without(void **state)
{
    (void)state;
    static const struct pl_conn_ops *const ways[] = {&keeping, &pausing};
    for (size_t i = 0; i < 2; i++) {
        ops_to_use = ways[i];
        struct client client = {.talk = write_large};
        start_client(&client);
        turn_until(loop, is_true, &is_ended);
        assert_int_equal(n_read, N_LARGE);
        assert_memory_equal(read_bytes, large, N_LARGE);
        pl_conn_close(conn);
        conn = NULL;
        finish_client(&client);
        free(client.bytes);
        is_ended = false;
        n_read = 0;
    }
}

static void close_after_first(void *ctx, char *bytes, size_t n)
{
    keep(ctx, bytes, n);
    pl_conn_close(conn);
    conn = NULL;
    is_ended = true;
}

static const struct pl_conn_ops closing = {close_after_first, note_end, note_writable};

static void closing_in_the_middle_of_a_read_is_the_end_of_it(void **state)
{
    (void)state;
    ops_to_use = &closing;
    struct client client = {.talk = write_large};
    start_client(&client);
    turn_until(loop, is_true, &is_ended);
    assert_null(conn);
    finish_client(&client);
    free(client.bytes);
}

/* --- clients that do not read ----------------------------------------------------------------- */

/* Requests answers without end (RFC 8446, 4.6.3), and reads none of them. */
static void ask_for_new_keys(struct client *self)
{
    wait_to_go_on(self);
    for (int i = 0; i < 100000; i++)
        if (!SSL_key_update(self->ssl, SSL_KEY_UPDATE_REQUESTED) ||
            SSL_write(self->ssl, "x", 1) != 1)
            return;
    self->is_clean_end = true;
}

/* Writes until the kernel's buffer is full. */
static void fill(void)
{
    ops_to_use = &keeping;
    struct pl_str all = {large, N_LARGE};
    size_t n = 0;
    while (n == 0) { /* until the handshake is done */
        turn_for(loop, 5);
        if (conn)
            assert_int_equal(pl_conn_write(conn, &all, 1, &n), PL_OK);
    }
    assert_true(n < N_LARGE);
}

static void closing_with_bytes_held_back_frees_them(void **state)
{
    (void)state;
    struct client client = {.talk = wait_to_go_on};
    atomic_store(&may_go_on, false);
    start_client(&client);
    fill();
    pl_conn_close(conn);
    conn = NULL;
    atomic_store(&may_go_on, true);
    finish_client(&client);
}

static void a_client_that_asks_without_end_and_never_reads_is_cut_off(void **state)
{
    (void)state;
    struct client client = {.talk = ask_for_new_keys};
    atomic_store(&may_go_on, false);
    start_client(&client);
    fill();
    atomic_store(&may_go_on, true);
    turn_until(loop, is_true, &is_ended);
    pl_conn_close(conn);
    conn = NULL;
    finish_client(&client);
    assert_false(client.is_clean_end);
}

/* --- handshakes that fail --------------------------------------------------------------------- */

static void a_client_of_another_protocol_or_an_old_version_is_refused(void **state)
{
    (void)state;
    struct client other = {.alpn = "\x02h2"}, old = {.max_version = TLS1_1_VERSION};
    struct client *const refused[] = {&other, &old};
    for (size_t i = 0; i < 2; i++) {
        start_client(refused[i]);
        turn_until(loop, is_true, &is_ended);
        finish_client(refused[i]);
        assert_false(refused[i]->is_connected);
        pl_conn_close(conn);
        conn = NULL;
        is_ended = false;
    }
}

static void plain_http_and_a_lost_client_are_ends(void **state)
{
    (void)state;
    static const char request[] = "GET / HTTP/1.1\r\n\r\n";
    for (size_t i = 0; i < 2; i++) {
        int fd = connect_tcp();
        assert_int_equal(send(fd, request, i ? 0 : sizeof request - 1, 0),
                         i ? 0 : sizeof request - 1);
        if (i)
            close(fd);
        turn_until(loop, is_true, &is_ended);
        assert_int_equal(n_read, 0);
        size_t n = 0;
        (void)!pl_conn_write(conn, &PL_STR("x"), 1, &n);
        assert_int_equal(n, 0);
        if (!i)
            close(fd);
        pl_conn_close(conn);
        conn = NULL;
        is_ended = false;
    }
}

static void a_silent_client_is_an_end_after_ten_seconds(void **state)
{
    (void)state;
    int fd = connect_tcp();
    int64_t start_ms = pl_clock_ms();
    turn_until(loop, is_true, &is_ended);
    assert_true(pl_clock_ms() - start_ms >= 9900);
    close(fd);
}

/* --- certificates ----------------------------------------------------------------------------- */

static void wrong_certificates_and_keys_are_named(void **state)
{
    (void)state;
    struct pl_error err = {0};
    struct pl_tls *none = NULL;
    assert_int_equal(pl_tls_create("/nonexistent/cert", key_path, &none, &err), PL_UNREADABLE);
    assert_non_null(strstr(err.message, "/nonexistent/cert"));
    assert_int_equal(pl_tls_create(cert_path, "/nonexistent/key", &none, &err), PL_UNREADABLE);
    assert_non_null(strstr(err.message, "/nonexistent/key"));
    assert_int_equal(pl_tls_create(key_path, key_path, &none, &err), PL_UNREADABLE);
    assert_int_equal(pl_tls_create(cert_path, other_key_path, &none, &err), PL_UNREADABLE);
    assert_non_null(strstr(err.message, "password"));
    assert_true(certificate_make(other_cert_path, other_key_path, NULL));
    assert_int_equal(pl_tls_create(cert_path, other_key_path, &none, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "does not belong"));
    assert_null(none);
    pl_tls_unref(NULL);
}

static int set_up_all(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN); /* for OpenSSL's client; the server's side does not need it */
    if (!mkdtemp(dir))
        return -1;
    snprintf(cert_path, sizeof cert_path, "%s/cert", dir);
    snprintf(key_path, sizeof key_path, "%s/key", dir);
    snprintf(other_cert_path, sizeof other_cert_path, "%s/cert2", dir);
    snprintf(other_key_path, sizeof other_key_path, "%s/key2", dir);
    large = malloc(N_LARGE);
    read_bytes = malloc(N_LARGE);
    for (size_t i = 0; i < N_LARGE; i++)
        large[i] = (char)(i * 17 + i / 1000);
    return certificate_make(cert_path, key_path, NULL) &&
                   certificate_make(other_cert_path, other_key_path, "secret")
               ? 0
               : -1;
}

static int tear_down_all(void **state)
{
    (void)state;
    unlink(cert_path);
    unlink(key_path);
    unlink(other_cert_path);
    unlink(other_key_path);
    free(large);
    free(read_bytes);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_sides_talk_and_part_politely, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_reader_gets_everything_and_then_the_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_upload_arrives_whole_with_pauses_and_without, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(closing_in_the_middle_of_a_read_is_the_end_of_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(closing_with_bytes_held_back_frees_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_asks_without_end_and_never_reads_is_cut_off,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_of_another_protocol_or_an_old_version_is_refused,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(plain_http_and_a_lost_client_are_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_silent_client_is_an_end_after_ten_seconds, set_up,
                                        tear_down),
        cmocka_unit_test(wrong_certificates_and_keys_are_named),
    };
    return cmocka_run_group_tests_name("io/tls", tests, set_up_all, tear_down_all);
}

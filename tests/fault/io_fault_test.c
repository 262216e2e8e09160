/* A loop, its listeners, connections, jobs and signals survive running out of memory at any point:
 * a failed creation returns an error, existing objects keep working, nothing leaks. */
#include "fault/fault.h"
#include "io/net/conn.h"
#include "io/upstream/upstream.h"
#include "unit/io/certificate.h"
#include "unit/io/peer.h"
#include "unit/io/turning.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct pl_socket listening;
static char dir[] = "/tmp/parley-io-fault-XXXXXX";
static char cert_path[64], key_path[64];

/* One client that sends a request and gets an answer, over the listener's protocol. */
struct scene {
    struct pl_loop *loop;
    struct pl_conn *conn;
    enum pl_status status;
    bool is_over;
};

static void end_scene(struct scene *scene, enum pl_status status)
{
    scene->status = status;
    scene->is_over = true;
    pl_loop_stop(scene->loop);
}

static void answer(void *ctx, char *bytes, size_t n)
{
    struct scene *scene = ctx;
    size_t n_written = 0;
    struct pl_str pieces[] = {PL_STR("you said "), {bytes, n}};
    enum pl_status status = pl_conn_write(scene->conn, pieces, 2, &n_written);
    pl_conn_close(scene->conn);
    scene->conn = NULL;
    end_scene(scene, status);
}

/* The TLS client does not speak TLS: it is enough that the server refuses it. */
static void refuse(void *ctx)
{
    struct scene *scene = ctx;
    pl_conn_close(scene->conn);
    scene->conn = NULL;
    end_scene(scene, PL_OK);
}

static void ignore(void *ctx)
{
    (void)ctx;
}

static const struct pl_conn_ops ops = {answer, refuse, ignore};

static void on_accept(void *ctx, struct pl_conn *conn)
{
    struct scene *scene = ctx;
    scene->conn = conn;
    pl_conn_start(conn, &ops, scene);
}

static void on_exhausted(void *ctx)
{
    end_scene(ctx, PL_NOMEM);
}

static int connect_and_ask(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(listening.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(fd, "hello", 5, 0), 5);
    return fd;
}

static void serve_one(struct scene *scene)
{
    int fd = connect_and_ask();
    pl_loop_run(scene->loop);
    close(fd);
    if (!scene->is_over)
        fail_msg("the loop stopped by itself");
}

static void ignore_signal(void *ctx, int number)
{
    (void)ctx;
    (void)number;
}

static enum pl_status serves(struct pl_tls *tls)
{
    struct scene scene = {0};
    struct pl_listener *listener = NULL;
    struct pl_error err;
    enum pl_status status = pl_loop_create(&scene.loop, &err);
    if (status != PL_OK) {
        assert_null(scene.loop);
        return status;
    }
    status = pl_loop_on_signal(scene.loop, SIGHUP, ignore_signal, NULL);
    struct pl_listener_config config = {.socket = &listening,
                                        .tls = tls,
                                        .on_accept = on_accept,
                                        .on_exhausted = on_exhausted,
                                        .ctx = &scene};
    if (status == PL_OK)
        status = pl_listener_start(scene.loop, &config, &listener, &err);
    if (status == PL_OK) {
        serve_one(&scene);
        status = scene.status;
    } else {
        assert_null(listener);
    }
    pl_loop_destroy(scene.loop);
    /* A client that could not be accepted for lack of memory still waits in the socket. */
    int left = accept(listening.fd, NULL, NULL);
    if (left >= 0)
        close(left);
    return status;
}

static enum pl_status serves_plain(void *ctx)
{
    (void)ctx;
    return serves(NULL);
}

static enum pl_status serves_tls(void *ctx)
{
    (void)ctx;
    struct pl_tls *tls = NULL;
    struct pl_error err;
    enum pl_status status = pl_tls_create(cert_path, key_path, &tls, &err);
    if (status != PL_OK) {
        assert_null(tls);
        return status;
    }
    status = serves(tls);
    pl_tls_unref(tls);
    return status;
}

static void run(struct pl_job *job)
{
    (void)job;
}

static struct pl_loop *home;
static void done(struct pl_job *job)
{
    (void)job;
    pl_loop_stop(home);
}

static enum pl_status works(void *ctx)
{
    (void)ctx;
    struct pl_workers *workers = NULL;
    enum pl_status status = pl_loop_create(&home, NULL);
    if (status != PL_OK)
        return status;
    status = pl_workers_create(2, &workers, NULL);
    if (status == PL_OK) {
        struct pl_job job = {.wait_ms = 600000, .run = run, .done = done};
        pl_workers_submit(workers, home, &job);
        pl_loop_run(home);
    }
    pl_workers_destroy(workers);
    pl_loop_destroy(home);
    return status;
}

static struct peer peer;

static void on_head(void *ctx, int status)
{
    (void)ctx;
    assert_int_equal(status, 200);
}

static void on_body(void *ctx, struct pl_str piece)
{
    (void)ctx;
    assert_true(pl_str_eq(piece, PL_STR("ok")));
}

static void on_end(void *ctx)
{
    end_scene(ctx, PL_OK);
}

static void on_failed(void *ctx, enum pl_upstream_failure why, const char *sentence)
{
    (void)sentence;
    assert_int_equal(why, PL_UPSTREAM_MEMORY);
    end_scene(ctx, PL_NOMEM);
}

static const struct pl_upstream_ops upstream_ops = {on_head, on_body, on_end, on_failed, NULL};

/* Two calls, the second on the connection of the first. */
static enum pl_status asks(void *ctx)
{
    (void)ctx;
    struct scene scene = {0};
    struct pl_upstreams *upstreams = NULL;
    struct pl_upstream_call *call;
    struct pl_upstream_request request = {.method = "POST", .url = peer.url};
    enum pl_status status = pl_loop_create(&scene.loop, NULL);
    if (status == PL_OK)
        status = pl_upstreams_create(scene.loop, &upstreams, NULL);
    for (int i = 0; i < 2 && status == PL_OK; i++) {
        scene.is_over = false;
        status = pl_upstream_start(upstreams, &request, &upstream_ops, &scene, &call, NULL);
        if (status != PL_OK)
            break;
        pl_loop_run(scene.loop);
        assert_true(scene.is_over);
        status = scene.status;
    }
    pl_upstreams_destroy(upstreams);
    pl_loop_destroy(scene.loop);
    return status;
}

static void a_call_survives_every_refused_allocation(void **state)
{
    (void)state;
    static const char *const says[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", NULL};
    open_peer(&peer, says, false);
    /* Loop, upstreams, server, twice call and head, connection with its three parts, the answer. */
    assert_true(pl_fault_each(asks, NULL) >= 11);
    close_peer(&peer);
}

static void a_connection_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(serves_plain, NULL) >= 4); /* loop, signal, listener, connection */
}

static void a_tls_connection_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(serves_tls, NULL) >= 6);
}

static void a_job_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(works, NULL) >= 2);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(cert_path, sizeof cert_path, "%s/cert", dir);
    snprintf(key_path, sizeof key_path, "%s/key", dir);
    if (!certificate_make(cert_path, key_path, NULL))
        return -1;
    return pl_socket_listen_tcp("127.0.0.1", 0, &listening, NULL) == PL_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pl_socket_close(&listening);
    unlink(cert_path);
    unlink(key_path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_survives_every_refused_allocation),
        cmocka_unit_test(a_tls_connection_survives_every_refused_allocation),
        cmocka_unit_test(a_job_survives_every_refused_allocation),
        cmocka_unit_test(a_call_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests_name("fault/io", tests, set_up, tear_down);
}

/* The hosts of a cell: their names inside, which are reachable, and which are not. */
#include "ext/cell/hosts.h"
#include "unit/ext/cell/cells.h"
#include "unit/io/turning.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- an echo server outside the cell ---------------------------------------------------------- */

static int echo_fd;
static uint16_t echo_port;

static void *echo(void *ctx)
{
    (void)ctx;
    for (int fd; (fd = accept(echo_fd, NULL, NULL)) >= 0; close(fd)) {
        char bytes[65536];
        size_t n_all = 0;
        for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
            for (ssize_t at = 0, sent;
                 at < n && (sent = write(fd, bytes + at, (size_t)(n - at))) > 0; at += sent)
                n_all += (size_t)sent;
        dprintf(fd, "%zu bytes", n_all);
    }
    return NULL;
}

static int begin(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    pthread_t thread;
    (void)state;
    pl_cells_begin(getenv("HOSTILE"), true);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    echo_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(echo_fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(echo_fd, 16), 0);
    assert_int_equal(getsockname(echo_fd, (struct sockaddr *)&at, &n), 0);
    echo_port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&thread, NULL, echo, NULL), 0);
    pthread_detach(thread);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pl_cells_end();
    return 0;
}

/* --- a run with a loop ------------------------------------------------------------------------ */

struct visit {
    struct pl_cell *cell;
    struct pl_cell_end end;
    char out[8192], log[1024];
    size_t n_out;
    uint64_t n_bytes;
};

static void note_connect(void *ctx, const char *host, uint16_t port, bool is_let, const char *why)
{
    struct visit *visit = ctx;
    size_t n = strlen(visit->log);
    (void)port;
    snprintf(visit->log + n, sizeof visit->log - n, "%s %s %s\n", host, is_let ? "let" : "refused",
             why);
}

static void note_bytes(void *ctx, uint64_t n_bytes)
{
    ((struct visit *)ctx)->n_bytes += n_bytes;
}

static enum pl_status resolve(void *ctx, struct pl_str host, struct pl_buf *to,
                              struct pl_error *err)
{
    (void)ctx;
    (void)err;
    (void)host;
    pl_buf_adds(to, "127.0.0.1\n");
    return PL_OK;
}

static bool is_over(void *ctx)
{
    struct visit *visit = ctx;
    ssize_t n =
        read(visit->cell->out, visit->out + visit->n_out, sizeof visit->out - 1 - visit->n_out);
    visit->n_out += n > 0 ? (size_t)n : 0;
    return pl_cell_reap(visit->cell, &visit->end) && n <= 0;
}

/* Runs `words` in the cell. Three hosts are granted; the operator allows two of them. */
static void visit(struct visit *visit, const char *const *words)
{
    char allowed[2][64];
    snprintf(allowed[0], sizeof allowed[0], "api.example.com:%u", echo_port);
    snprintf(allowed[1], sizeof allowed[1], "deep.example.org:%u", echo_port);
    const char *const list[] = {allowed[0], allowed[1]};
    struct pl_fetch_rules rules = {.allowed = list, .n_allowed = 2, .resolve = resolve};
    struct pl_cell_host hosts[] = {{"api.example.com", echo_port},
                                   {"*.example.org", echo_port},
                                   {"private.example.com", echo_port}};
    const char *argv[12] = {"/ext/hostile", pl_cells.token};
    for (size_t i = 0; words[i]; i++)
        argv[2 + i] = words[i];
    struct pl_cell_spec spec = {.argv = argv,
                                .package = {.fd = -1, .from = pl_cells.package},
                                .hosts = hosts,
                                .n_hosts = 3,
                                .uid = pl_cells.uid,
                                .least = PL_CELL_NAMESPACES};
    struct pl_error err = {0};
    struct pl_loop *loop = NULL;
    struct pl_workers *workers = NULL;
    struct pl_cell_hosts *tunnels = NULL;
    static const struct pl_cell_hosts_ops ops = {note_connect, note_bytes};
    *visit = (struct visit){0};
    assert_int_equal(pl_loop_create(&loop, &err), PL_OK);
    assert_int_equal(pl_workers_create(1, &workers, &err), PL_OK);
    if (pl_cell_spawn(&pl_cells.settings, &spec, &visit->cell, &err) != PL_OK)
        fail_msg("%s", err.message);
    struct pl_fetch_from from = {loop, workers, 0};
    assert_int_equal(
        pl_cell_hosts_start(&from, visit->cell, &spec, &rules, &ops, visit, &tunnels, &err), PL_OK);
    turn_until(loop, is_over, visit);
    pl_cell_hosts_stop(tunnels);
    pl_cell_free(visit->cell);
    pl_workers_destroy(workers);
    pl_loop_destroy(loop);
}
#define VISIT(v, ...) visit(v, (const char *const[]){__VA_ARGS__, NULL})

static const char *port_text(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%u", echo_port);
    return text;
}

#define NEED pl_cells_need(PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(SECCOMP))

static void a_granted_host_is_reached(void **state)
{
    struct visit v;
    (void)state;
    NEED;
    VISIT(&v, "talk", "127.0.1.1", port_text(), "hello");
    assert_string_equal(v.out, "hello\r\n7 bytes");
    assert_string_equal(v.log, "api.example.com let \n");
    assert_int_equal(v.n_bytes, 7 + 14);
}

static void a_host_with_a_private_address_is_not(void **state)
{
    struct visit v;
    (void)state;
    NEED;
    VISIT(&v, "talk", "127.0.1.3", port_text(), "hello");
    assert_string_equal(v.out, "");
    assert_non_null(strstr(v.log, "private.example.com refused"));
    assert_int_equal(v.n_bytes, 0);
}

static void names_are_in_the_hosts_file(void **state)
{
    struct visit v;
    (void)state;
    NEED;
    VISIT(&v, "cat", "/etc/hosts");
    assert_non_null(strstr(v.out, "127.0.1.1 api.example.com\n"));
    assert_non_null(strstr(v.out, "127.0.1.3 private.example.com\n"));
    assert_null(strstr(v.out, "example.org"));
}

static void a_wildcard_is_reached_by_connect(void **state)
{
    struct visit v;
    char line[128];
    (void)state;
    NEED;
    snprintf(line, sizeof line, "CONNECT deep.example.org:%u HTTP/1.1", echo_port);
    VISIT(&v, "talk", "127.0.1.4", "3128", line, "Host: deep.example.org", "", "hello");
    assert_string_equal(v.out, "HTTP/1.1 200 Connection established\r\n\r\nhello\r\n7 bytes");
    /* A client that uses the proxy for all hosts reaches the other hosts, too. */
    snprintf(line, sizeof line, "CONNECT API.example.com:%u HTTP/1.1", echo_port);
    VISIT(&v, "talk", "127.0.1.4", "3128", line, "", "hello");
    assert_string_equal(v.out, "HTTP/1.1 200 Connection established\r\n\r\nhello\r\n7 bytes");
}

static void connect_refuses_what_was_not_granted(void **state)
{
    char lines[6][128];
    (void)state;
    NEED;
    snprintf(lines[0], 128, "CONNECT example.org:%u HTTP/1.1", echo_port);          /* the suffix */
    snprintf(lines[1], 128, "CONNECT deep.example.org:%u HTTP/1.1", echo_port ^ 1); /* the port */
    snprintf(lines[2], 128, "CONNECT deepexample.org:%u HTTP/1.1", echo_port);
    snprintf(lines[3], 128, "CONNECT other.example.org:%u HTTP/1.1", echo_port); /* private */
    snprintf(lines[4], 128, "CONNECT 127.0.0.1:%u HTTP/1.1", echo_port);
    snprintf(lines[5], 128, "CONNECT deep.example.org@127.0.0.1:%u HTTP/1.1", echo_port);
    for (size_t i = 0; i < 6; i++) {
        struct visit v;
        VISIT(&v, "talk", "127.0.1.4", "3128", lines[i], "", "hello");
        assert_int_equal(strncmp(v.out, i == 5 ? "HTTP/1.1 400" : "HTTP/1.1 403", 12), 0);
        assert_int_equal(v.n_bytes, 0);
        assert_null(strstr(v.out, "hello"));
    }
}

static void what_is_no_connect_gets_an_error(void **state)
{
    static const char *const lines[] = {"GET http://deep.example.org/ HTTP/1.1", "CONNECT",
                                        "CONNECT deep.example.org:0 HTTP/1.1",
                                        "CONNECT deep.example.org:99999 HTTP/1.1", "\x01\x02"};
    struct visit v;
    (void)state;
    NEED;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        VISIT(&v, "talk", "127.0.1.4", "3128", lines[i], "", "hello");
        assert_int_equal(strncmp(v.out, "HTTP/1.1 400 ", 13), 0);
    }
    static char longest[9000];
    memset(longest, 'x', sizeof longest - 1);
    VISIT(&v, "talk", "127.0.1.4", "3128", longest, "", "hello");
    assert_int_equal(strncmp(v.out, "HTTP/1.1 431 ", 13), 0);
}

static void much_passes_whole_in_both_directions(void **state)
{
    struct visit v;
    (void)state;
    NEED;
    VISIT(&v, "pour", "127.0.1.1", port_text(), "20000000");
    assert_string_equal(v.out, "20000000 back, in order, then 14 bytes\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_granted_host_is_reached),
        cmocka_unit_test(a_host_with_a_private_address_is_not),
        cmocka_unit_test(names_are_in_the_hosts_file),
        cmocka_unit_test(a_wildcard_is_reached_by_connect),
        cmocka_unit_test(connect_refuses_what_was_not_granted),
        cmocka_unit_test(what_is_no_connect_gets_an_error),
        cmocka_unit_test(much_passes_whole_in_both_directions),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

#define _GNU_SOURCE /* struct ucred, RUSAGE_THREAD */
#include "base/mem.h"
#include "io/net/conn.h"
#include "unit/io/turning.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* --- the server's side ------------------------------------------------------------------------ */

enum { MAX_SEEN = 8 };

/* The events of one accepted connection. */
struct seen {
    struct pl_conn *conn; /* NULL once it is closed */
    char text[4096];
    size_t n_read;
    int n_ends, n_writables;
};

static struct pl_loop *loop;
static struct pl_socket listening;
static struct pl_listener *listener;
static struct seen seen[MAX_SEEN];
static size_t n_seen;
static int n_exhausted;
static const struct pl_conn_ops *ops_to_use;

static void keep(void *ctx, char *bytes, size_t n)
{
    struct seen *self = ctx;
    size_t room = sizeof self->text - 1 - self->n_read;
    if (self->n_read < sizeof self->text - 1)
        memcpy(self->text + self->n_read, bytes, n < room ? n : room);
    self->n_read += n;
    memset(bytes, 'x', n); /* the buffer belongs to us */
}

static void note_end(void *ctx)
{
    ((struct seen *)ctx)->n_ends++;
}

static void note_writable(void *ctx)
{
    ((struct seen *)ctx)->n_writables++;
}

static const struct pl_conn_ops keeping = {keep, note_end, note_writable};

static void close_seen(struct seen *self)
{
    pl_conn_close(self->conn);
    self->conn = NULL;
}

static void on_accept(void *ctx, struct pl_conn *conn)
{
    (void)ctx;
    assert_true(n_seen < MAX_SEEN);
    struct seen *self = &seen[n_seen++];
    *self = (struct seen){.conn = conn};
    pl_conn_start(conn, ops_to_use, self);
}

static void on_exhausted(void *ctx)
{
    (void)ctx;
    n_exhausted++;
}

static void listen_here(void)
{
    struct pl_error err = {0};
    struct pl_listener_config config = {
        .socket = &listening, .on_accept = on_accept, .on_exhausted = on_exhausted};
    if (pl_listener_start(loop, &config, &listener, &err) != PL_OK)
        fail_msg("%s", err.message);
}

static int set_up(void **state)
{
    (void)state;
    loop = make_loop();
    n_seen = 0;
    n_exhausted = 0;
    ops_to_use = &keeping;
    struct pl_error err = {0};
    if (pl_socket_listen_tcp("127.0.0.1", 0, &listening, &err) != PL_OK)
        fail_msg("%s", err.message);
    listen_here();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_seen; i++)
        close_seen(&seen[i]);
    pl_loop_destroy(loop); /* stops the listener */
    pl_socket_close(&listening);
    pl_socket_close(&listening);
    return 0;
}

/* --- the client's side ------------------------------------------------------------------------ */

static int connect_tcp(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(listening.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static bool has_seen(void *n)
{
    return n_seen >= *(size_t *)n;
}

/* A client with a connection that was accepted as seen[n_seen - 1]. */
static int connect_and_accept(void)
{
    int fd = connect_tcp();
    turn_until(loop, has_seen, &(size_t){n_seen + 1});
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
}

static void reset(int fd)
{
    struct linger now = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

static bool has_ended(void *ctx)
{
    return ((struct seen *)ctx)->n_ends > 0;
}

static bool has_read_some(void *ctx)
{
    return ((struct seen *)ctx)->n_read > 0;
}

static bool is_writable(void *ctx)
{
    return ((struct seen *)ctx)->n_writables > 0;
}

static bool is_exhausted_again(void *ctx)
{
    (void)ctx;
    return n_exhausted > 1;
}

static int64_t cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

static void expect_rest(void)
{
    int64_t before_us = cpu_us();
    turn_for(loop, 100);
    assert_true(cpu_us() - before_us < 60000); /* a busy loop would use all of it */
}

/* --- reading and writing ---------------------------------------------------------------------- */

static void bytes_go_both_ways(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    say(fd, "hello");
    turn_until(loop, has_read_some, &seen[0]);
    assert_string_equal(seen[0].text, "hello");
    struct pl_str pieces[] = {PL_STR("good "), {NULL, 0}, PL_STR("day")};
    size_t n = 0;
    assert_int_equal(pl_conn_write(seen[0].conn, pieces, 3, &n), PL_OK);
    assert_int_equal(n, 8);
    char text[16] = {0};
    assert_int_equal(recv(fd, text, sizeof text, 0), 8);
    assert_string_equal(text, "good day");
    assert_ptr_equal(pl_conn_loop(seen[0].conn), loop);
    turn_for(loop, 10);
    assert_int_equal(seen[0].n_writables, 0); /* no write was short */
    close(fd);
}

static char *taken;
static char *taken_at;

static void take(void *ctx, char *bytes, size_t n)
{
    struct seen *self = ctx;
    char elsewhere = 'e';
    self->n_read += n;
    assert_null(pl_conn_take_block(self->conn, &elsewhere));
    if (taken)
        return;
    taken = pl_conn_take_block(self->conn, bytes + n - 1);
    taken_at = bytes;
    assert_non_null(taken);
    /* The block has a new owner, and the loop has none of these bytes. */
    assert_null(pl_conn_take_block(self->conn, bytes));
}

static bool has_read_twice(void *ctx)
{
    return ((struct seen *)ctx)->n_read > 5;
}

static void what_was_read_may_be_kept_with_its_memory(void **state)
{
    (void)state;
    static const struct pl_conn_ops taking = {take, note_end, note_writable};
    taken = NULL;
    ops_to_use = &taking;
    int fd = connect_and_accept();
    say(fd, "first");
    turn_until(loop, has_read_some, &seen[0]);
    say(fd, "second");
    turn_until(loop, has_read_twice, &seen[0]);
    assert_memory_equal(taken_at, "first", 5);
    pl_mem_free(taken);
    close(fd);
}

static void a_block_that_was_given_back_is_used_again(void **state)
{
    (void)state;
    static const struct pl_conn_ops taking = {take, note_end, note_writable};
    taken = NULL;
    ops_to_use = &taking;
    int fd = connect_and_accept();
    say(fd, "first");
    turn_until(loop, has_read_some, &seen[0]);
    char *first = PL_TAKE(taken);
    pl_conn_give_block(loop, first);
    pl_conn_give_block(loop, pl_mem_alloc(1, PL_CONN_BLOCK_BYTES)); /* one too many is freed */
    say(fd, "second");
    turn_until(loop, has_read_twice, &seen[0]);
    /* The second read filled another block, and then the first became the loop's. */
    assert_ptr_not_equal(taken, first);
    pl_mem_free(taken);
    say(fd, "third!");
    taken = NULL;
    seen[0].n_read = 0;
    turn_until(loop, has_read_some, &seen[0]);
    assert_ptr_equal(taken, first);
    pl_mem_free(taken);
    close(fd);
}

static void the_peer_is_named(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    struct sockaddr_in own;
    socklen_t size = sizeof own;
    getsockname(fd, (struct sockaddr *)&own, &size);
    struct pl_peer peer;
    pl_conn_peer(seen[0].conn, &peer);
    assert_string_equal(peer.address, "127.0.0.1");
    assert_int_equal(peer.port, ntohs(own.sin_port));
    assert_false(peer.is_tls);
    assert_false(peer.is_local_user);
    close(fd);
}

static void a_half_closed_peer_still_gets_its_answer(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    say(fd, "q");
    shutdown(fd, SHUT_WR);
    turn_until(loop, has_ended, &seen[0]);
    assert_string_equal(seen[0].text, "q");
    expect_rest();
    size_t n = 0;
    assert_int_equal(pl_conn_write(seen[0].conn, &PL_STR("answer"), 1, &n), PL_OK);
    pl_conn_shutdown(seen[0].conn);
    char text[16] = {0};
    assert_int_equal(recv(fd, text, sizeof text, MSG_WAITALL), 6);
    assert_string_equal(text, "answer");
    expect_rest(); /* both sides have closed: a hang-up that the kernel repeats */
    assert_int_equal(seen[0].n_ends, 1);
    close(fd);
}

/* Writes a pattern until all of it is sent. */
enum { N_PATTERN = 8 << 20 };
static char *pattern;
static size_t n_sent;

static void send_pattern(void *ctx)
{
    struct seen *self = ctx;
    self->n_writables++;
    while (n_sent < N_PATTERN) {
        struct pl_str pieces[3];
        for (size_t i = 0; i < 3; i++)
            pieces[i] = pl_str_slice((struct pl_str){pattern, N_PATTERN}, n_sent + i * 50000,
                                     n_sent + (i + 1) * 50000);
        size_t n = 0, n_asked = pieces[0].len + pieces[1].len + pieces[2].len;
        assert_int_equal(pl_conn_write(self->conn, pieces, 3, &n), PL_OK);
        n_sent += n;
        if (n < n_asked)
            return;
    }
    pl_conn_shutdown(self->conn);
}

static const struct pl_conn_ops pattern_sending = {keep, note_end, send_pattern};

static void *read_slowly(void *arg)
{
    size_t n_got = 0;
    static char bytes[100000];
    for (ssize_t n; (n = recv(*(int *)arg, bytes, sizeof bytes, 0)) > 0; n_got += (size_t)n) {
        if (memcmp(bytes, pattern + n_got, (size_t)n) != 0)
            return NULL;
        struct timespec wait = {.tv_nsec = 100000};
        nanosleep(&wait, NULL);
    }
    *(int *)arg = -1;
    return (void *)(intptr_t)n_got;
}

static bool is_sent(void *ctx)
{
    (void)ctx;
    return n_sent == N_PATTERN;
}

static void a_slow_reader_gets_everything_through_short_writes(void **state)
{
    (void)state;
    ops_to_use = &pattern_sending;
    pattern = malloc(N_PATTERN);
    for (size_t i = 0; i < N_PATTERN; i++)
        pattern[i] = (char)(i * 31 + i / 4096);
    n_sent = 0;
    int client = connect_and_accept(), fd = client;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &fd), 0);
    send_pattern(&seen[0]);
    assert_true(n_sent < N_PATTERN);
    turn_until(loop, is_sent, NULL);
    void *n_got;
    pthread_join(thread, &n_got);
    assert_int_equal((intptr_t)n_got, N_PATTERN);
    assert_int_equal(fd, -1);
    assert_true(seen[0].n_writables > 1);
    free(pattern);
    close(client);
}

static void more_than_64_pieces_are_taken_in_several_writes(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    struct pl_str pieces[100];
    for (size_t i = 0; i < 100; i++)
        pieces[i] = PL_STR("ab");
    size_t n = 0;
    assert_int_equal(pl_conn_write(seen[0].conn, pieces, 100, &n), PL_OK);
    assert_int_equal(n, 128);
    turn_until(loop, is_writable, &seen[0]);
    assert_int_equal(seen[0].n_writables, 1);
    assert_int_equal(pl_conn_write(seen[0].conn, pieces + 64, 36, &n), PL_OK);
    assert_int_equal(n, 72);
    char text[256];
    assert_int_equal(recv(fd, text, 200, MSG_WAITALL), 200);
    close(fd);
}

static void a_paused_connection_reads_nothing_until_it_goes_on(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    pl_conn_pause(seen[0].conn);
    say(fd, "later");
    expect_rest();
    assert_int_equal(seen[0].n_read, 0);
    pl_conn_resume(seen[0].conn);
    turn_until(loop, has_read_some, &seen[0]);
    assert_string_equal(seen[0].text, "later");
    pl_conn_pause(seen[0].conn);
    reset(fd);
    expect_rest();
    assert_int_equal(seen[0].n_ends, 0);
    pl_conn_resume(seen[0].conn);
    turn_until(loop, has_ended, &seen[0]);
}

static void a_reset_is_an_end(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    reset(fd);
    turn_until(loop, has_ended, &seen[0]);
    expect_rest();
    assert_int_equal(seen[0].n_ends, 1);
    size_t n = 77;
    assert_int_equal(pl_conn_write(seen[0].conn, &PL_STR("x"), 1, &n), PL_IO);
    assert_int_equal(n, 77);
}

static void a_broken_write_is_told_by_the_write_alone(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    pl_conn_pause(seen[0].conn);
    reset(fd);
    turn_for(loop, 10);
    size_t n = 0;
    assert_int_equal(pl_conn_write(seen[0].conn, &PL_STR("x"), 1, &n), PL_IO);
    assert_int_equal(pl_conn_write(seen[0].conn, &PL_STR("x"), 1, &n), PL_IO);
    pl_conn_resume(seen[0].conn);
    turn_for(loop, 20);
    assert_int_equal(seen[0].n_ends, 0);
}

static void another_protocol_may_take_over(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    struct seen other = {0};
    pl_conn_switch(seen[0].conn, &keeping, &other);
    say(fd, "frame");
    turn_until(loop, has_read_some, &other);
    assert_int_equal(seen[0].n_read, 0);
    close(fd);
    turn_until(loop, has_ended, &other);
}

static void activity_is_noted(void **state)
{
    (void)state;
    int fd = connect_and_accept();
    int64_t first_ms = pl_conn_active_ms(seen[0].conn);
    turn_for(loop, 30);
    assert_int_equal(pl_conn_active_ms(seen[0].conn), first_ms);
    say(fd, "x");
    turn_until(loop, has_read_some, &seen[0]);
    int64_t read_ms = pl_conn_active_ms(seen[0].conn);
    assert_true(read_ms >= first_ms + 30);
    turn_for(loop, 30);
    size_t n;
    assert_int_equal(pl_conn_write(seen[0].conn, &PL_STR("x"), 1, &n), PL_OK);
    assert_true(pl_conn_active_ms(seen[0].conn) >= read_ms + 30);
    close(fd);
}

/* --- closing ---------------------------------------------------------------------------------- */

static void close_everybody(void *ctx, char *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    for (size_t i = 0; i < n_seen; i++)
        if (seen[i].conn)
            close_seen(&seen[i]);
}

static bool is_everybody_closed(void *ctx)
{
    (void)ctx;
    for (size_t i = 0; i < n_seen; i++)
        if (seen[i].conn)
            return false;
    return true;
}

static const struct pl_conn_ops closing = {close_everybody, note_end, note_writable};

static void a_callback_may_close_its_own_and_all_other_connections(void **state)
{
    (void)state;
    ops_to_use = &closing;
    int fds[4];
    for (size_t i = 0; i < 4; i++)
        fds[i] = connect_and_accept();
    for (size_t i = 0; i < 4; i++)
        say(fds[i], "x"); /* all in one batch of events */
    turn_until(loop, is_everybody_closed, NULL);
    turn_for(loop, 10);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(seen[i].n_ends, 0);
        close(fds[i]);
    }
    pl_conn_close(NULL);
}

static void a_stopped_listener_accepts_no_more(void **state)
{
    (void)state;
    pl_listener_stop(listener);
    pl_listener_stop(NULL);
    int fd = connect_tcp();
    turn_for(loop, 30);
    assert_int_equal(n_seen, 0);
    listen_here();
    turn_until(loop, has_seen, &(size_t){1}); /* it waited in the socket */
    close(fd);
}

static void without_descriptors_accepting_pauses_and_goes_on(void **state)
{
    (void)state;
    int client = connect_tcp();
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    struct rlimit low = {.rlim_cur = (rlim_t)client + 1, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    expect_rest();
    turn_for(loop, 250); /* retries meanwhile, without another message */
    assert_int_equal(n_seen, 0);
    assert_int_equal(n_exhausted, 1);
    setrlimit(RLIMIT_NOFILE, &limit);
    turn_until(loop, has_seen, &(size_t){1});
    close(client);
    client = connect_tcp(); /* a new failure later is reported again */
    low.rlim_cur = (rlim_t)client + 1;
    setrlimit(RLIMIT_NOFILE, &low);
    turn_until(loop, is_exhausted_again, NULL);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(n_exhausted, 2);
    turn_until(loop, has_seen, &(size_t){2});
    close(client);
}

/* --- many shards ------------------------------------------------------------------------------ */

enum { N_SHARDS = 3, N_CLIENTS = 60 };
static atomic_int n_accepted, n_echoed;
static struct pl_loop *shards[N_SHARDS];

static void echo(void *ctx, char *bytes, size_t n)
{
    size_t n_written = 0;
    assert_int_equal(pl_conn_write(ctx, &(struct pl_str){bytes, n}, 1, &n_written), PL_OK);
    assert_int_equal(n_written, n);
    atomic_fetch_add(&n_echoed, 1);
}

static void close_it(void *ctx)
{
    pl_conn_close(ctx);
}

static const struct pl_conn_ops echoing = {echo, close_it, note_writable};

static void accept_echo(void *ctx, struct pl_conn *conn)
{
    assert_ptr_equal(pl_conn_loop(conn), ctx);
    atomic_fetch_add(&n_accepted, 1);
    pl_conn_start(conn, &echoing, conn);
}

static void *run_shard(void *arg)
{
    pl_loop_run(arg);
    return NULL;
}

static void every_connection_goes_to_exactly_one_of_three_shards(void **state)
{
    (void)state;
    pl_listener_stop(listener);
    pthread_t threads[N_SHARDS];
    n_accepted = n_echoed = 0;
    for (size_t i = 0; i < N_SHARDS; i++) {
        shards[i] = make_loop();
        struct pl_listener_config config = {
            .socket = &listening, .on_accept = accept_echo, .ctx = shards[i]};
        struct pl_listener *one;
        assert_int_equal(pl_listener_start(shards[i], &config, &one, NULL), PL_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, run_shard, shards[i]), 0);
    }
    int fds[N_CLIENTS];
    for (size_t i = 0; i < N_CLIENTS; i++) {
        fds[i] = connect_tcp();
        say(fds[i], "ping");
    }
    for (size_t i = 0; i < N_CLIENTS; i++) {
        char text[8] = {0};
        assert_int_equal(recv(fds[i], text, 4, MSG_WAITALL), 4);
        assert_string_equal(text, "ping");
        shutdown(fds[i], SHUT_WR);
        assert_int_equal(recv(fds[i], text, 4, 0), 0);
        close(fds[i]);
    }
    for (size_t i = 0; i < N_SHARDS; i++) {
        pl_loop_stop(shards[i]);
        pthread_join(threads[i], NULL);
        pl_loop_destroy(shards[i]);
    }
    assert_int_equal(atomic_load(&n_accepted), N_CLIENTS);
    assert_int_equal(atomic_load(&n_echoed), N_CLIENTS);
}

static struct pl_network network_of(const char *text)
{
    uint8_t bytes[16] = {0};
    int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    assert_int_equal(inet_pton(family, text, bytes), 1);
    return pl_network_of(family, bytes);
}

static bool are_neighbours(const char *one, const char *other)
{
    struct pl_network a = network_of(one), b = network_of(other);
    return a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0;
}

static void peers_are_told_apart_by_ipv4_address_or_ipv6_network(void **state)
{
    (void)state;
    assert_true(are_neighbours("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert_true(are_neighbours("2001:db8:1:2::", "2001:db8:1:2:8000::"));
    assert_false(are_neighbours("2001:db8:1:2::1", "2001:db8:1:3::1"));
    assert_true(are_neighbours("192.0.2.1", "::ffff:192.0.2.1"));
    assert_false(are_neighbours("192.0.2.1", "192.0.2.2"));
    assert_false(are_neighbours("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
    /* "::192.0.2.1" is not an IPv4 address. */
    assert_false(are_neighbours("192.0.2.1", "::192.0.2.1"));
    assert_int_equal(network_of("2001:db8::1").n, 8);
    assert_int_equal(network_of("192.0.2.1").n, 4);
    assert_true(network_of("::1").is_loopback && network_of("127.3.2.1").is_loopback);
    assert_true(network_of("::ffff:127.0.0.1").is_loopback);
    assert_false(network_of("::2").is_loopback || network_of("128.0.0.1").is_loopback);
    assert_int_equal(pl_network_of(AF_UNIX, NULL).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_are_told_apart_by_ipv4_address_or_ipv6_network),
        cmocka_unit_test_setup_teardown(bytes_go_both_ways, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_read_may_be_kept_with_its_memory, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_block_that_was_given_back_is_used_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_peer_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_half_closed_peer_still_gets_its_answer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_slow_reader_gets_everything_through_short_writes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(more_than_64_pieces_are_taken_in_several_writes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_paused_connection_reads_nothing_until_it_goes_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_reset_is_an_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_broken_write_is_told_by_the_write_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_protocol_may_take_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(activity_is_noted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_callback_may_close_its_own_and_all_other_connections,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stopped_listener_accepts_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_descriptors_accepting_pauses_and_goes_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_connection_goes_to_exactly_one_of_three_shards,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests_name("io/conn", tests, NULL, NULL);
}

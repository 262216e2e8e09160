#define _GNU_SOURCE /* pipe2 */
/* Lines into pipes that are read late, never, or no longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/system/sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MINUTE_MS = 60000, ROOM = 1000 };

static void say_dropped(uint64_t n_lines, struct pl_buf *to)
{
    pl_buf_addf(to, "dropped %llu\n", (unsigned long long)n_lines);
}

static struct pl_sink *create(int fd, size_t max_bytes)
{
    struct pl_sink *sink = pl_sink_create(
        &(struct pl_sink_config){.fd = fd, .max_bytes = max_bytes, .say_dropped = say_dropped});
    assert_non_null(sink);
    return sink;
}

static void put(struct pl_sink *sink, const char *line)
{
    pl_sink_put(sink, pl_str_of(line));
    pl_sink_wake(sink);
}

/* Fills the pipe, so that no write succeeds. */
static size_t stuff(int fd)
{
    size_t n = 0;
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, "x", 1) == 1)
        n++;
    fcntl(fd, F_SETFL, flags);
    return n;
}

static void pass_over(int fd, size_t n)
{
    char byte;
    while (n-- > 0)
        assert_int_equal(read(fd, &byte, 1), 1);
}

/* Reads until the other side closes. */
static void read_all(int fd, char *to, size_t size)
{
    size_t n = 0;
    for (ssize_t got; n < size - 1 && (got = read(fd, to + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    to[n] = '\0';
}

static void lines_are_written_in_their_order(void **state)
{
    (void)state;
    int ends[2];
    char text[100];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct pl_sink *sink = create(ends[1], ROOM);
    put(sink, "one\n");
    put(sink, "two\n");
    assert_true(pl_sink_flush(sink, MINUTE_MS));
    put(sink, "three\n");
    pl_sink_destroy(sink, MINUTE_MS);
    close(ends[1]);
    read_all(ends[0], text, sizeof text);
    assert_string_equal(text, "one\ntwo\nthree\n");
    close(ends[0]);
}

/* Lines read, by kind. The thread may take its lines at any moment, so dropped lines are reported
 * in one line or in several. */
struct told {
    uint64_t n_lines, n_dropped;
    bool ends_well; /* "last" is the last line, and occurs once */
};

static struct told sort_lines(char *text, const char *line)
{
    struct told told = {0};
    char *rest = text, *one;
    while ((one = strsep(&rest, "\n")) && *one) {
        unsigned long long n = 0;
        told.ends_well = strcmp(one, "last") == 0;
        if (sscanf(one, "dropped %llu", &n) == 1)
            told.n_dropped += n;
        else if (!told.ends_well)
            told.n_lines++, assert_memory_equal(one, line, strlen(one));
    }
    return told;
}

/* At most ROOM bytes are being written and ROOM bytes wait. The rest is dropped, and the next
 * written lines report how many. */
static void what_does_not_fit_is_dropped_and_told(void **state)
{
    (void)state;
    int ends[2];
    char line[101], text[4096];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    size_t n_stuffed = stuff(ends[1]);
    memset(line, 'a', 99);
    line[99] = '\n';
    line[100] = '\0';
    struct pl_sink *sink = create(ends[1], ROOM);
    for (int i = 0; i < 1000; i++)
        put(sink, line);
    uint64_t n_dropped = pl_sink_n_dropped(sink);
    assert_in_range(n_dropped, 980, 990);
    assert_false(pl_sink_flush(sink, 0));
    pass_over(ends[0], n_stuffed);
    assert_true(pl_sink_flush(sink, MINUTE_MS));
    put(sink, "last\n");
    pl_sink_destroy(sink, MINUTE_MS);
    close(ends[1]);
    read_all(ends[0], text, sizeof text);
    struct told told = sort_lines(text, line);
    assert_int_equal(told.n_dropped, n_dropped);
    assert_int_equal(told.n_lines, 1000 - n_dropped);
    assert_true(told.ends_well);
    close(ends[0]);
}

static void a_line_that_is_longer_than_the_room_is_dropped(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct pl_sink *sink = create(ends[1], 4);
    put(sink, "1234\n");
    assert_int_equal(pl_sink_n_dropped(sink), 1);
    put(sink, "123\n");
    assert_int_equal(pl_sink_n_dropped(sink), 1);
    pl_sink_destroy(sink, MINUTE_MS);
    close(ends[0]);
    close(ends[1]);
}

static void a_reader_that_is_gone_costs_the_lines_only(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    struct pl_sink *sink = create(ends[1], ROOM);
    put(sink, "one\ntwo\n");
    assert_true(pl_sink_flush(sink, MINUTE_MS));
    assert_int_equal(pl_sink_n_dropped(sink), 2);
    pl_sink_destroy(sink, MINUTE_MS);
    close(ends[1]);
}

static void a_descriptor_that_others_made_non_blocking_is_waited_for(void **state)
{
    (void)state;
    int ends[2];
    char text[100];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    size_t n_stuffed = stuff(ends[1]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    struct pl_sink *sink = create(ends[1], ROOM);
    put(sink, "one\n");
    assert_false(pl_sink_flush(sink, 0));
    pass_over(ends[0], n_stuffed);
    pl_sink_destroy(sink, MINUTE_MS);
    close(ends[1]);
    read_all(ends[0], text, sizeof text);
    assert_string_equal(text, "one\n");
    close(ends[0]);
}

/* The thread owns what it needs: it may still be in the kernel when all others are gone. */
static void an_end_does_not_wait_for_a_reader_that_never_comes(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    stuff(ends[1]);
    struct pl_sink *sink = create(ends[1], ROOM);
    put(sink, "one\n");
    pl_sink_destroy(sink, 1);
}

static void an_end_without_a_line_is_at_once(void **state)
{
    (void)state;
    pl_sink_destroy(create(2, ROOM), MINUTE_MS);
    pl_sink_destroy(NULL, MINUTE_MS);
}

enum { N_THREADS = 4, N_LINES = 500 };

static void *talk(void *arg)
{
    for (int i = 0; i < N_LINES; i++)
        put(arg, "line\n");
    return NULL;
}

static void many_threads_lose_no_line_uncounted(void **state)
{
    (void)state;
    pthread_t threads[N_THREADS];
    int ends[2];
    char byte;
    size_t n_lines = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct pl_sink *sink = create(ends[1], ROOM);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, talk, sink), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    uint64_t n_dropped = pl_sink_n_dropped(sink);
    pl_sink_destroy(sink, MINUTE_MS);
    close(ends[1]);
    bool is_notice = false, is_start = true;
    while (read(ends[0], &byte, 1) == 1) {
        if (is_start)
            is_notice = byte == 'd';
        is_start = byte == '\n';
        n_lines += is_start && !is_notice;
    }
    assert_int_equal(n_lines + n_dropped, N_THREADS * N_LINES);
    close(ends[0]);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_written_in_their_order),
        cmocka_unit_test(what_does_not_fit_is_dropped_and_told),
        cmocka_unit_test(a_line_that_is_longer_than_the_room_is_dropped),
        cmocka_unit_test(a_reader_that_is_gone_costs_the_lines_only),
        cmocka_unit_test(a_descriptor_that_others_made_non_blocking_is_waited_for),
        cmocka_unit_test(an_end_does_not_wait_for_a_reader_that_never_comes),
        cmocka_unit_test(an_end_without_a_line_is_at_once),
        cmocka_unit_test(many_threads_lose_no_line_uncounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

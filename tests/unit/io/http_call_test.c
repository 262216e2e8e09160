/* One request to a peer that reads it and sends the test's answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/upstream/http_call.h"
#include "io/system/machine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct peer {
    char path[64];
    int fd;
    const char *says;
    char heard[4096];
    pthread_t thread;
};

static void *answer_once(void *ctx)
{
    struct peer *peer = ctx;
    int fd = accept(peer->fd, NULL, NULL);
    size_t n = 0;
    /* Requests of these tests are short; a body ends in "!". */
    while (n < sizeof peer->heard - 1) {
        ssize_t got = read(fd, peer->heard + n, sizeof peer->heard - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        peer->heard[n] = '\0';
        bool has_body = strstr(peer->heard, "Content-Length") || strstr(peer->heard, "chunked");
        if (has_body ? peer->heard[n - 1] == '!' : strstr(peer->heard, "\r\n\r\n") != NULL)
            break;
    }
    ssize_t n_says = (ssize_t)strlen(peer->says);
    assert_true(n_says == 0 || write(fd, peer->says, (size_t)n_says) == n_says);
    close(fd);
    return NULL;
}

static void open_peer(struct peer *peer, const char *says)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *peer = (struct peer){.says = says};
    snprintf(peer->path, sizeof peer->path, "/tmp/parley-call-%d.sock", (int)getpid());
    memcpy(address.sun_path, peer->path, strlen(peer->path) + 1);
    unlink(peer->path);
    peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(peer->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(peer->fd, 1), 0);
    assert_int_equal(pthread_create(&peer->thread, NULL, answer_once, peer), 0);
}

static void close_peer(struct peer *peer)
{
    pthread_join(peer->thread, NULL);
    close(peer->fd);
    unlink(peer->path);
}

static void a_request_says_who_asks_and_what(void **state)
{
    (void)state;
    struct peer peer;
    struct pl_buf reply;
    struct pl_error err = {0};
    char position[PL_HTTP_CALL_HEADER_SIZE] = "old";
    int status = 0;
    pl_buf_init(&reply, 0);
    open_peer(&peer,
              "HTTP/1.1 201 Created\r\nx-stream-position:  4:17 \r\nContent-Length: 4\r\n\r\nmade");
    struct pl_http_call call = {
        .method = "POST",
        .url = "http://localhost/api/x?y=1",
        .unix_path = peer.path,
        .bearer = "sk-1",
        .body = PL_STR("\"hello!"),
        .has_body = true,
        .header_name = "X-Stream-Position",
        .header_value = position,
    };
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_OK);
    close_peer(&peer);
    assert_int_equal(status, 201);
    assert_true(pl_str_eq(pl_buf_str(&reply), PL_STR("made")));
    assert_string_equal(position, "4:17");
    assert_int_equal(strncmp(peer.heard, "POST /api/x?y=1 HTTP/1.1\r\n", 26), 0);
    assert_non_null(strstr(peer.heard, "Authorization: Bearer sk-1\r\n"));
    assert_non_null(strstr(peer.heard, "Content-Type: application/json\r\n"));
    assert_null(strstr(peer.heard, "Expect"));
    pl_buf_deinit(&reply);
}

static void a_redirect_is_an_answer_and_not_followed(void **state)
{
    (void)state;
    struct peer peer;
    struct pl_buf reply;
    struct pl_error err = {0};
    int status = 0;
    pl_buf_init(&reply, 0);
    open_peer(&peer,
              "HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n");
    struct pl_http_call call = {
        .method = "GET", .url = "http://localhost/", .unix_path = peer.path};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_OK);
    close_peer(&peer);
    assert_int_equal(status, 302);
    pl_buf_deinit(&reply);
}

static void an_answer_over_the_limit_is_refused(void **state)
{
    (void)state;
    struct peer peer;
    struct pl_buf reply;
    struct pl_error err = {0};
    int status = 7;
    pl_buf_init(&reply, 0);
    open_peer(&peer, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
    struct pl_http_call call = {
        .method = "GET", .url = "http://localhost/", .unix_path = peer.path, .max_bytes = 9};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_LIMIT);
    close_peer(&peer);
    assert_int_equal(status, 7);
    pl_buf_deinit(&reply);
}

static void an_answer_that_breaks_off_is_a_failure(void **state)
{
    (void)state;
    struct peer peer;
    struct pl_buf reply;
    struct pl_error err = {0};
    int status = 0;
    pl_buf_init(&reply, 0);
    open_peer(&peer, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123");
    struct pl_http_call call = {
        .method = "GET", .url = "http://localhost/", .unix_path = peer.path};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_IO);
    close_peer(&peer);
    assert_non_null(strstr(err.message, peer.path));
    pl_buf_deinit(&reply);
}

static bool take_piece(void *ctx, struct pl_str piece)
{
    struct pl_buf *to = ctx;
    pl_buf_add(to, piece);
    return !memchr(to->ptr, '.', to->len);
}

static void pieces_come_until_the_taker_has_enough(void **state)
{
    (void)state;
    struct peer peer;
    struct pl_buf reply, pieces;
    struct pl_error err = {0};
    int status = 0;
    pl_buf_init(&reply, 0);
    pl_buf_init(&pieces, 0);
    open_peer(&peer, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it.");
    struct pl_http_call call = {.method = "GET",
                                .url = "http://localhost/",
                                .unix_path = peer.path,
                                .on_piece = take_piece,
                                .ctx = &pieces};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_OK);
    close_peer(&peer);
    assert_true(pl_str_eq(pl_buf_str(&pieces), PL_STR("all of it.")));
    assert_int_equal(reply.len, 0);
    pl_buf_deinit(&reply);
    pl_buf_deinit(&pieces);
}

static void a_problem_is_gathered_even_when_pieces_are_wanted(void **state)
{
    (void)state;
    struct peer peer;
    struct pl_buf reply, pieces;
    struct pl_error err = {0};
    int status = 0;
    pl_buf_init(&reply, 0);
    pl_buf_init(&pieces, 0);
    open_peer(&peer, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone");
    struct pl_http_call call = {.method = "GET",
                                .url = "http://localhost/",
                                .unix_path = peer.path,
                                .on_piece = take_piece,
                                .ctx = &pieces};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_OK);
    close_peer(&peer);
    assert_int_equal(status, 404);
    assert_true(pl_str_eq(pl_buf_str(&reply), PL_STR("gone")));
    assert_int_equal(pieces.len, 0);
    pl_buf_deinit(&reply);
    pl_buf_deinit(&pieces);
}

static void nobody_listening_is_told_from_other_failures(void **state)
{
    (void)state;
    struct pl_buf reply;
    struct pl_error err = {0};
    int status = 0;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {
        .method = "GET", .url = "http://localhost/", .unix_path = "/tmp/parley-nobody.sock"};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_NOT_FOUND);
    call = (struct pl_http_call){.method = "GET", .url = "ftp://localhost/"};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_IO);
    pl_buf_deinit(&reply);
}

static void a_key_with_a_line_break_is_not_sent(void **state)
{
    (void)state;
    struct pl_buf reply;
    struct pl_error err = {0};
    int status = 0;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {.method = "GET",
                                .url = "http://localhost/",
                                .unix_path = "/tmp/parley-nobody.sock",
                                .bearer = "a\r\nX-Evil: 1"};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_INVALID);
    assert_null(strstr(err.message, "Evil"));
    pl_buf_deinit(&reply);
}

struct reading {
    const char *text;
    size_t n_given, n_calls;
    bool fails;
};

/* Three bytes at a time, so that it is called again. */
static ptrdiff_t give_some(void *ctx, char *to, size_t size)
{
    struct reading *reading = ctx;
    size_t n = strlen(reading->text) - reading->n_given;
    reading->n_calls++;
    if (reading->fails && reading->n_given)
        return -1;
    n = n > 3 ? 3 : n;
    n = n > size ? size : n;
    memcpy(to, reading->text + reading->n_given, n);
    reading->n_given += n;
    return (ptrdiff_t)n;
}

static void a_body_is_sent_as_it_is_read(void **state)
{
    (void)state;
    struct peer peer;
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_error err = {0};
    int status = 0;
    struct reading reading = {.text = "piece by piece!"};
    open_peer(&peer, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
    struct pl_http_call call = {.method = "POST",
                                .url = "http://localhost/up",
                                .unix_path = peer.path,
                                .content_type = "image/png",
                                .read_body = give_some,
                                .read_ctx = &reading,
                                .n_body = 15,
                                .range = "3-"};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_OK);
    close_peer(&peer);
    assert_int_equal(status, 201);
    assert_true(reading.n_calls >= 5);
    assert_non_null(strstr(peer.heard, "POST /up HTTP/1.1\r\n"));
    assert_non_null(strstr(peer.heard, "Content-Length: 15\r\n"));
    assert_non_null(strstr(peer.heard, "Content-Type: image/png\r\n"));
    assert_non_null(strstr(peer.heard, "Range: bytes=3-\r\n"));
    assert_non_null(strstr(peer.heard, "\r\n\r\npiece by piece!"));
}

static void a_body_that_cannot_be_read_ends_the_call(void **state)
{
    (void)state;
    struct peer peer;
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_error err = {0};
    int status = 0;
    struct reading reading = {.text = "piece by piece!", .fails = true};
    open_peer(&peer, "");
    struct pl_http_call call = {.method = "POST",
                                .url = "http://localhost/up",
                                .unix_path = peer.path,
                                .read_body = give_some,
                                .read_ctx = &reading,
                                .n_body = -1};
    assert_int_equal(pl_http_call(&call, &status, &reply, &err), PL_IO);
    close_peer(&peer);
    assert_non_null(strstr(err.message, "could not be read"));
    assert_non_null(strstr(peer.heard, "Transfer-Encoding: chunked"));
}

static void the_machine_tells_what_is_there(void **state)
{
    (void)state;
    struct pl_path_info info = pl_path_look("/tmp");
    int64_t n_free = -1, n_all = -1;
    assert_true(info.is_there && info.is_directory);
    assert_false(pl_path_look("/tmp/parley-not-there").is_there);
    assert_true(pl_disk_look("/tmp", &n_free, &n_all));
    assert_true(n_free >= 0 && n_all >= n_free);
    assert_false(pl_disk_look("/tmp/parley-not-there", &n_free, &n_all));
    assert_true(pl_fd_limit_most() > 0);
    assert_true(pl_program_is_there("sh"));
    assert_false(pl_program_is_there("parley-no-such-program"));
    assert_true(pl_library_is_there("libc.so.6"));
    assert_false(pl_library_is_there("libparley-none.so.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_says_who_asks_and_what),
        cmocka_unit_test(a_redirect_is_an_answer_and_not_followed),
        cmocka_unit_test(an_answer_over_the_limit_is_refused),
        cmocka_unit_test(an_answer_that_breaks_off_is_a_failure),
        cmocka_unit_test(pieces_come_until_the_taker_has_enough),
        cmocka_unit_test(a_problem_is_gathered_even_when_pieces_are_wanted),
        cmocka_unit_test(nobody_listening_is_told_from_other_failures),
        cmocka_unit_test(a_key_with_a_line_break_is_not_sent),
        cmocka_unit_test(a_body_is_sent_as_it_is_read),
        cmocka_unit_test(a_body_that_cannot_be_read_ends_the_call),
        cmocka_unit_test(the_machine_tells_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

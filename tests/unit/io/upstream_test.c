/* Calls on a loop to a peer that sends the test's answer, piece by piece. */
#include "unit/io/peer.h"
#include "unit/io/turning.h"

#include "base/mem.h"
#include "io/net/place.h"
#include "io/upstream/upstream.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* The results of a call. */
struct brought {
    struct pl_upstreams *upstreams;
    struct pl_upstream_call *call;
    struct pl_buf body;
    char type[64], sentence[128];
    int status, n_heads, n_pieces;
    enum pl_upstream_failure why;
    bool is_over, has_failed;
    bool cancels_at_head, pauses_at_piece;
};

static void on_head(void *ctx, int status)
{
    struct brought *b = ctx;
    struct pl_str type = pl_upstream_header(b->call, "content-type");
    b->status = status;
    b->n_heads++;
    snprintf(b->type, sizeof b->type, "%.*s", PL_STR_ARG(type));
    if (b->cancels_at_head) {
        pl_upstream_cancel(b->call);
        b->is_over = true;
    }
}

static void on_body(void *ctx, struct pl_str piece)
{
    struct brought *b = ctx;
    b->n_pieces++;
    pl_buf_add(&b->body, piece);
    if (b->pauses_at_piece)
        pl_upstream_pause(b->call);
}

static void on_end(void *ctx)
{
    struct brought *b = ctx;
    assert_false(b->is_over);
    b->is_over = true;
}

static void on_failed(void *ctx, enum pl_upstream_failure why, const char *sentence)
{
    struct brought *b = ctx;
    assert_false(b->is_over);
    b->is_over = b->has_failed = true;
    b->why = why;
    snprintf(b->sentence, sizeof b->sentence, "%s", sentence);
}

static const struct pl_upstream_ops ops = {on_head, on_body, on_end, on_failed, NULL};

struct world {
    struct pl_loop *loop;
    struct pl_upstreams *upstreams;
    bool is_by_libcurl;
};

static int make_world(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct pl_error err = {0};
    world->loop = make_loop();
    assert_int_equal(pl_upstreams_create(world->loop, &world->upstreams, &err), PL_OK);
    *state = world;
    return 0;
}

static int make_world_of_libcurl(void **state)
{
    int result = make_world(state);
    ((struct world *)*state)->is_by_libcurl = true;
    return result;
}

static int drop_world(void **state)
{
    struct world *world = *state;
    pl_upstreams_destroy(world->upstreams);
    turn_for(world->loop, 5);
    pl_loop_destroy(world->loop);
    free(world);
    return 0;
}

static void ask(struct world *world, struct brought *b, const struct pl_upstream_request *given,
                const char *body)
{
    static const char address[] = "http://127.0.0.1:";
    struct pl_upstream_request request = *given;
    struct pl_buf text;
    struct pl_error err = {0};
    char url[96];
    if (world->is_by_libcurl && strncmp(request.url, address, sizeof address - 1) == 0) {
        /* A host spelling that is left to libcurl. */
        snprintf(url, sizeof url, "http://LOCALHOST:%s", request.url + sizeof address - 1);
        request.url = url;
    }
    pl_buf_init(&text, 0);
    if (body) {
        pl_buf_adds(&text, body);
        request.body = &text;
    }
    b->upstreams = world->upstreams;
    pl_buf_init(&b->body, 0);
    assert_int_equal(pl_upstream_start(world->upstreams, &request, &ops, b, &b->call, &err), PL_OK);
    assert_int_equal(text.len, 0);
    pl_buf_deinit(&text);
}

static void ask_to_the_end(struct world *world, struct brought *b,
                           const struct pl_upstream_request *request, const char *body)
{
    ask(world, b, request, body);
    turn_until(world->loop, is_true, &b->is_over);
}

/* Calls a peer that answers "ok". */
static void ask_for_ok_as(struct world *world, const char *url, const char *owner)
{
    struct pl_upstream_request request = {.method = "POST", .url = url, .owner = pl_str_of(owner)};
    struct brought b = {0};
    ask_to_the_end(world, &b, &request, "{}");
    assert_false(b.has_failed);
    assert_true(pl_str_eq(pl_buf_str(&b.body), PL_STR("ok")));
    pl_buf_deinit(&b.body);
}

static void ask_for_ok(struct world *world, const char *url)
{
    ask_for_ok_as(world, url, "user_a");
}

static const char *const says_ok[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", NULL};

/* A server that answers "ok" on many connections at once. */
struct crowd {
    struct peer peer; /* only its socket */
    pthread_t thread;
    char url[64];
    int n_connections;
    int doorbell[2];
};

static void *crowd_answer(void *ctx)
{
    struct crowd *crowd = ctx;
    struct pollfd fds[32] = {{crowd->doorbell[0], POLLIN, 0}, {crowd->peer.fd, POLLIN, 0}};
    nfds_t n = 2;
    while (poll(fds, n, -1) > 0 && !fds[0].revents) {
        for (nfds_t i = 2; i < n; i++) {
            char heard[1024];
            if (!fds[i].revents)
                continue;
            ssize_t got = read(fds[i].fd, heard, sizeof heard);
            if (got > 0 && heard[got - 1] == '}') {
                assert_true(send(fds[i].fd, says_ok[0], strlen(says_ok[0]), MSG_NOSIGNAL) > 0);
            } else if (got <= 0) {
                close(fds[i].fd);
                fds[i].fd = -1;
            }
        }
        if (fds[1].revents && n < 32) {
            fds[n++] = (struct pollfd){accept(crowd->peer.fd, NULL, NULL), POLLIN, 0};
            crowd->n_connections++;
        }
    }
    for (nfds_t i = 2; i < n; i++)
        if (fds[i].fd >= 0)
            close(fds[i].fd);
    return NULL;
}

static void open_crowd(struct crowd *crowd)
{
    *crowd = (struct crowd){0};
    listen_peer(&crowd->peer);
    snprintf(crowd->url, sizeof crowd->url, "%s", crowd->peer.url);
    assert_int_equal(pipe(crowd->doorbell), 0);
    assert_int_equal(pthread_create(&crowd->thread, NULL, crowd_answer, crowd), 0);
}

static void close_crowd(struct crowd *crowd)
{
    assert_int_equal(write(crowd->doorbell[1], "x", 1), 1);
    pthread_join(crowd->thread, NULL);
    close(crowd->doorbell[0]);
    close(crowd->doorbell[1]);
    close(crowd->peer.fd);
}

static bool has_piece(void *ctx)
{
    return ((struct brought *)ctx)->n_pieces > 0;
}

static void a_request_and_its_answer_in_pieces(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const says[] = {
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream \r\nTransfer-Encoding: chunked\r\n\r\n",
        "5\r\nhello\r\n", NULL};
    open_peer(&peer, says, false);
    const char *headers[] = {"Content-Type: application/json", "x-api-key: secret", NULL};
    struct pl_upstream_request request = {.method = "POST", .url = peer.url, .headers = headers};
    struct brought b = {0};
    ask(world, &b, &request, "{\"a\":1}");
    turn_until(world->loop, has_piece, &b); /* before the rest is sent */
    peer_blurt(&peer, "6\r\n world\r\n");
    peer_blurt(&peer, "0\r\n\r\n");
    turn_until(world->loop, is_true, &b.is_over);
    assert_false(b.has_failed);
    assert_int_equal(b.status, 200);
    assert_int_equal(b.n_heads, 1);
    assert_int_equal(b.n_pieces, 2);
    assert_string_equal(b.type, "text/event-stream");
    assert_true(pl_str_eq(pl_buf_str(&b.body), PL_STR("hello world")));
    assert_int_equal(strncmp(peer.heard, "POST /v1/x HTTP/1.1\r\n", 21), 0);
    assert_non_null(strstr(peer.heard, "x-api-key: secret\r\n"));
    assert_non_null(strstr(peer.heard, "\r\n\r\n{\"a\":1}"));
    assert_null(strstr(peer.heard, "Expect"));
    pl_buf_deinit(&b.body);
    close_peer(&peer);
}

static void a_connection_is_kept_for_the_same_owner(void **state)
{
    struct world *world = *state;
    struct peer peers[2];
    static const char *const owners[] = {"user_a", "user_b"};
    for (size_t i = 0; i < 2; i++) {
        open_peer(&peers[i], says_ok, false);
        for (int n = 0; n < 20; n++)
            ask_for_ok_as(world, peers[i].url, owners[i]);
        assert_int_equal(peers[i].n_requests, 20);
        assert_int_equal(peers[i].n_connections, 1);
    }
    for (size_t i = 0; i < 2; i++)
        close_peer(&peers[i]);
}

/* Many calls: of the same owner, of other owners, and of none. */
static void no_other_owner_gets_a_kept_connection(void **state)
{
    struct world *world = *state;
    struct crowd crowd;
    static const char *const owners[] = {"user_a", "user_b", "", "user_a", "", "user_b", "user"};
    open_crowd(&crowd);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        ask_for_ok_as(world, crowd.url, owners[i]);
    assert_int_equal(crowd.n_connections, world->is_by_libcurl ? 7 : 5);
    close_crowd(&crowd);
}

/* libcurl does not report bytes that came on an idle connection, so none is kept. */
static void libcurl_keeps_no_connection_of_http_1(void **state)
{
    struct world *world = *state;
    struct peer peer;
    open_peer(&peer, says_ok, false);
    for (int i = 0; i < 5; i++)
        ask_for_ok(world, peer.url);
    assert_int_equal(peer.n_connections, 5);
    assert_non_null(strstr(peer.heard, "Connection: close\r\n"));
    close_peer(&peer);
}

/* The bytes have arrived, but the loop has not read them when the next call begins. */
static void what_came_on_an_idle_connection_is_nobodys_answer(void **state)
{
    struct world *world = *state;
    static const char *const strays[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
        "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "\r\n",
        "x",
    };
    for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
        struct peer peer;
        open_peer(&peer, says_ok, false);
        ask_for_ok(world, peer.url);
        peer_blurt(&peer, strays[i]);
        ask_for_ok(world, peer.url);
        assert_int_equal(peer.n_connections, 2);
        close_peer(&peer);
    }
}

/* The other side may have carried out the request. */
static void what_was_wholly_written_is_not_sent_again(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const nothing[] = {NULL};
    open_peer(&peer, says_ok, false);
    peer.then = nothing;
    ask_for_ok(world, peer.url);
    struct pl_upstream_request request = {
        .method = "POST", .url = peer.url, .owner = PL_STR("user_a")};
    struct brought b = {0};
    ask_to_the_end(world, &b, &request, "{}");
    assert_true(b.has_failed);
    assert_int_equal(b.why, PL_UPSTREAM_BROKEN);
    turn_for(world->loop, 20);
    assert_int_equal(peer.n_requests, 2);
    pl_buf_deinit(&b.body);
    close_peer(&peer);
}

/* The other side closes just before the next request. */
static void a_kept_connection_that_has_died_is_replaced(void **state)
{
    struct world *world = *state;
    struct peer peer;
    open_peer(&peer, says_ok, false);
    for (int i = 0; i < 3; i++) {
        if (i)
            peer_hang_up(&peer);
        ask_for_ok(world, peer.url);
    }
    assert_int_equal(peer.n_requests, 3);
    assert_int_equal(peer.n_connections, 3);
    close_peer(&peer);
}

/* Answers without a length, without a body, or with too many bytes. */
static void every_way_to_end_an_answer(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *says[3];
        const char *body;
        bool has_failed;
    } cases[] = {
        {{"HTTP/1.1 200 OK\r\n\r\nall", " of it"}, "all of it", false},
        {{"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"}, "ok", false},
        {{"HTTP/1.1 204 No Content\r\n\r\n"}, "", false},
        {{"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
         "",
         false},
        {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nno size"}, "ok", true},
        {{"SSH-2.0-x\r\n"}, "", true},
        {{""}, "", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct peer peer;
        struct brought b = {0};
        open_peer(&peer, cases[i].says, true);
        struct pl_upstream_request request = {.method = "GET", .url = peer.url};
        ask_to_the_end(world, &b, &request, NULL);
        assert_int_equal(b.has_failed, cases[i].has_failed);
        if (b.has_failed)
            assert_int_equal(b.why, PL_UPSTREAM_BROKEN);
        assert_true(pl_str_eq(pl_buf_str(&b.body), pl_str_of(cases[i].body)));
        pl_buf_deinit(&b.body);
        close_peer(&peer);
    }
}

/* Unrequested bytes break only their own connection. */
static void bytes_behind_an_answer_are_not_the_next_one(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const says[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4"
        "\r\n\r\nevil",
        NULL};
    open_peer(&peer, says, false);
    for (int i = 0; i < 2; i++)
        ask_for_ok(world, peer.url);
    assert_int_equal(peer.n_connections, 2);
    close_peer(&peer);
}

static void names_and_addresses_are_asked(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const hosts[] = {"localhost", "LOCALHOST"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char url[64], host[64];
        struct brought b = {0};
        open_peer(&peer, says_ok, true);
        snprintf(url, sizeof url, "http://%s:%u/x?a=b", hosts[i], (unsigned)peer.port);
        snprintf(host, sizeof host, "\r\nHost: %s:%u\r\n", hosts[i], (unsigned)peer.port);
        struct pl_upstream_request request = {.method = "GET", .url = url};
        ask_to_the_end(world, &b, &request, NULL);
        assert_false(b.has_failed);
        assert_int_equal(strncmp(peer.heard, "GET /x?a=b HTTP/1.1\r\n", 21), 0);
        assert_non_null(strstr(peer.heard, host));
        pl_buf_deinit(&b.body);
        close_peer(&peer);
    }
}

/* Also if no address of localhost answers. */
static void nobody_there_is_a_refusal(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const says[] = {NULL};
    char by_name[64];
    open_peer(&peer, says, true);
    close_peer(&peer);
    snprintf(by_name, sizeof by_name, "http://localhost:%u/x", (unsigned)peer.port);
    const char *const urls[] = {peer.url, by_name};
    for (size_t i = 0; i < 2; i++) {
        struct pl_upstream_request request = {.method = "GET", .url = urls[i]};
        struct brought b = {0};
        ask_to_the_end(world, &b, &request, NULL);
        assert_true(b.has_failed);
        assert_int_equal(b.why, PL_UPSTREAM_REFUSED);
        assert_null(strstr(b.sentence, "127.0.0.1"));
        pl_buf_deinit(&b.body);
    }
}

static void an_answer_that_breaks_off_is_a_failure(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const says[] = {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", NULL};
    open_peer(&peer, says, true);
    struct pl_upstream_request request = {.method = "GET", .url = peer.url};
    struct brought b = {0};
    ask_to_the_end(world, &b, &request, NULL);
    assert_true(b.has_failed);
    assert_int_equal(b.why, PL_UPSTREAM_BROKEN);
    assert_true(pl_str_eq(pl_buf_str(&b.body), PL_STR("hello")));
    pl_buf_deinit(&b.body);
    close_peer(&peer);
}

static void silence_before_and_in_an_answer_ends_it(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const nothing[] = {"", NULL};
    static const char *const half[] = {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", NULL};
    const char *const *all[] = {nothing, half};
    for (size_t i = 0; i < 2; i++) {
        open_peer(&peer, all[i], false);
        struct pl_upstream_request request = {
            .method = "GET", .url = peer.url, .first_byte_ms = i ? 5000 : 60, .idle_ms = 60};
        struct brought b = {0};
        ask_to_the_end(world, &b, &request, NULL);
        assert_true(b.has_failed);
        assert_int_equal(b.why, PL_UPSTREAM_TIMEOUT);
        assert_int_equal(b.n_heads, i);
        pl_buf_deinit(&b.body);
        close_peer(&peer);
    }
}

static void cancelling_closes_the_connection(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const says[] = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                       "1\r\na\r\n",
                                       "1\r\nb\r\n",
                                       "1\r\nc\r\n",
                                       "1\r\nd\r\n",
                                       NULL};
    open_peer(&peer, says, false);
    struct pl_upstream_request request = {.method = "GET", .url = peer.url};
    struct brought inside = {.cancels_at_head = true}, outside = {0}, early = {0};
    ask_to_the_end(world, &inside, &request, NULL);
    turn_for(world->loop, 80);
    assert_int_equal(inside.n_pieces, 0);
    ask(world, &outside, &request, NULL);
    turn_for(world->loop, 15);
    pl_upstream_cancel(outside.call);
    int n_pieces = outside.n_pieces;
    turn_for(world->loop, 60);
    assert_int_equal(outside.n_pieces, n_pieces);
    assert_false(outside.is_over);
    /* Before it starts. */
    ask(world, &early, &request, NULL);
    pl_upstream_cancel(early.call);
    turn_for(world->loop, 20);
    assert_int_equal(early.n_heads, 0);
    pl_buf_deinit(&inside.body);
    pl_buf_deinit(&outside.body);
    pl_buf_deinit(&early.body);
    close_peer(&peer);
}

static bool has_said_all(void *ctx)
{
    return ((struct peer *)ctx)->n_pieces == 3;
}

static void a_paused_answer_waits(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const says[] = {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab", "cd", "ef",
                                       NULL};
    open_peer(&peer, says, false);
    struct pl_upstream_request request = {.method = "GET", .url = peer.url, .idle_ms = 100};
    struct brought b = {.pauses_at_piece = true};
    ask(world, &b, &request, NULL);
    turn_until(world->loop, has_said_all, &peer); /* from now on only we are slow */
    turn_for(world->loop, 250);
    assert_int_equal(b.n_pieces, 1);
    assert_false(b.is_over);
    b.pauses_at_piece = false;
    pl_upstream_resume(b.call);
    turn_until(world->loop, is_true, &b.is_over);
    assert_false(b.has_failed);
    assert_true(pl_str_eq(pl_buf_str(&b.body), PL_STR("abcdef")));
    pl_buf_deinit(&b.body);
    close_peer(&peer);
}

static void a_body_comes_back_for_another_try(void **state)
{
    struct world *world = *state;
    struct peer peer;
    static const char *const says[] = {"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", NULL};
    open_peer(&peer, says, false);
    struct pl_buf kept;
    pl_buf_init(&kept, 0);
    struct pl_upstream_request request = {.method = "POST", .url = peer.url, .body_back = &kept};
    struct brought b = {0}, cancelled = {0};
    ask_to_the_end(world, &b, &request, "{\"a\":1}");
    assert_true(pl_str_eq(pl_buf_str(&kept), PL_STR("{\"a\":1}")));
    pl_buf_clear(&kept);
    ask(world, &cancelled, &request, "{\"b\":2}");
    pl_upstream_cancel(cancelled.call);
    turn_for(world->loop, 10);
    assert_int_equal(kept.len, 0);
    pl_buf_deinit(&kept);
    pl_buf_deinit(&b.body);
    pl_buf_deinit(&cancelled.body);
    close_peer(&peer);
}

static void many_calls_at_once(void **state)
{
    struct world *world = *state;
    struct peer peers[8];
    struct brought all[64] = {0};
    static const char *const says[] = {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "done",
                                       NULL};
    for (size_t i = 0; i < 8; i++)
        open_peer(&peers[i], says, true);
    for (size_t i = 0; i < 64; i++) {
        struct pl_upstream_request request = {.method = "POST", .url = peers[i % 8].url};
        ask(world, &all[i], &request, "{}");
    }
    for (size_t i = 0; i < 64; i++) {
        turn_until(world->loop, is_true, &all[i].is_over);
        assert_false(all[i].has_failed);
        assert_true(pl_str_eq(pl_buf_str(&all[i].body), PL_STR("done")));
        pl_buf_deinit(&all[i].body);
    }
    for (size_t i = 0; i < 8; i++)
        close_peer(&peers[i]);
}

static void what_cannot_be_sent_is_refused(void **state)
{
    struct world *world = *state;
    struct pl_error err = {0};
    struct brought b = {0};
    const char *headers[] = {"x-api-key: a\r\nHost: evil", NULL};
    const struct pl_upstream_request wrong[] = {
        {.method = "GET", .url = "ftp://127.0.0.1/"},
        {.method = "GET", .url = "file:///etc/passwd"},
        {.method = "GET", .url = "http://127.0.0.1/", .headers = headers},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pl_upstream_start(world->upstreams, &wrong[i], &ops, &b, &b.call, &err),
                         PL_INVALID);
    turn_for(world->loop, 10);
    assert_false(b.is_over);
}

static void a_proxy_is_for_hosts_elsewhere(void **state)
{
    struct world *world = *state;
    struct peer peer, proxy;
    static const char *const ours[] = {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere", NULL};
    static const char *const theirs[] = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy", NULL};
    open_peer(&peer, ours, false);
    open_peer(&proxy, theirs, false);
    setenv("http_proxy", proxy.url, 1);
    pl_upstreams_destroy(world->upstreams);
    assert_int_equal(pl_upstreams_create(world->loop, &world->upstreams, NULL), PL_OK);
    const char *const urls[] = {peer.url, "http://192.0.2.1/v1/x"};
    for (size_t i = 0; i < 2; i++) {
        struct pl_upstream_request request = {.method = "GET", .url = urls[i]};
        struct brought b = {0};
        ask_to_the_end(world, &b, &request, NULL);
        assert_true(pl_str_eq(pl_buf_str(&b.body), i ? PL_STR("proxy") : PL_STR("here")));
        pl_buf_deinit(&b.body);
    }
    assert_int_equal(strncmp(proxy.heard, "GET http://192.0.2.1/v1/x HTTP/1.1\r\n", 36), 0);
    unsetenv("http_proxy");
    close_peer(&proxy);
    close_peer(&peer);
}

static void only_addresses_are_asked_without_libcurl(void **state)
{
    (void)state;
    static const struct {
        const char *url, *authority, *path; /* authority NULL: handled by libcurl */
        unsigned port;
        size_t n_addresses;
    } cases[] = {
        {"http://127.0.0.1:8080/v1/x?a=b", "127.0.0.1:8080", "/v1/x?a=b", 8080, 1},
        {"http://10.0.0.1/", "10.0.0.1", "/", 80, 1},
        {"http://[::1]:1/x", "[::1]:1", "/x", 1, 1},
        {"http://localhost:65535/x", "localhost:65535", "/x", 65535, 2},
        {"https://127.0.0.1/x"},
        {"http://models.example/x"},
        {"http://127.0.0.1"},
        {"http://127.0.0.1?x"},
        {"http://127.0.0.1:65536/x"},
        {"http://127.0.0.1:0/x"},
        {"http://127.0.0.1:/x"},
        {"http://127.0.0.1:99999999999999999999/x"},
        {"http://127.1/x"},
        {"http://::1/x"},
        {"http://[127.0.0.1]/x"},
        {"http://[::1/x"},
        {"http://user@127.0.0.1/x"},
        {"http://127.0.0.1/a b"},
        {"http://127.0.0.1/a#b"},
        {"http://127.0.0.1/\r\nHost: evil"},
        {"http://127.0.0.1/\xC3\xA9"},
        {"http:///x"},
        {"HTTP://127.0.0.1/x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_place place;
        struct pl_str path;
        print_message("# %s\n", cases[i].url);
        assert_int_equal(pl_place_find(cases[i].url, &place, &path), cases[i].authority != NULL);
        if (!cases[i].authority)
            continue;
        assert_true(pl_str_eq(place.authority, pl_str_of(cases[i].authority)));
        assert_true(pl_str_eq(path, pl_str_of(cases[i].path)));
        assert_int_equal(place.port, cases[i].port);
        assert_int_equal(place.n_addresses, cases[i].n_addresses);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define ON_BOTH_ROADS(test)                                                                        \
    {"plain: " #test, test, make_world, drop_world, NULL},                                         \
        {"libcurl: " #test, test, make_world_of_libcurl, drop_world, NULL}
        ON_BOTH_ROADS(a_request_and_its_answer_in_pieces),
        {"a_connection_is_kept_for_the_same_owner", a_connection_is_kept_for_the_same_owner,
         make_world, drop_world, NULL},
        {"libcurl_keeps_no_connection_of_http_1", libcurl_keeps_no_connection_of_http_1,
         make_world_of_libcurl, drop_world, NULL},
        ON_BOTH_ROADS(no_other_owner_gets_a_kept_connection),
        ON_BOTH_ROADS(what_came_on_an_idle_connection_is_nobodys_answer),
        ON_BOTH_ROADS(what_was_wholly_written_is_not_sent_again),
        ON_BOTH_ROADS(a_kept_connection_that_has_died_is_replaced),
        ON_BOTH_ROADS(every_way_to_end_an_answer),
        ON_BOTH_ROADS(bytes_behind_an_answer_are_not_the_next_one),
        ON_BOTH_ROADS(names_and_addresses_are_asked),
        ON_BOTH_ROADS(nobody_there_is_a_refusal),
        ON_BOTH_ROADS(an_answer_that_breaks_off_is_a_failure),
        ON_BOTH_ROADS(silence_before_and_in_an_answer_ends_it),
        ON_BOTH_ROADS(cancelling_closes_the_connection),
        ON_BOTH_ROADS(a_paused_answer_waits),
        ON_BOTH_ROADS(a_body_comes_back_for_another_try),
        ON_BOTH_ROADS(many_calls_at_once),
        ON_BOTH_ROADS(what_cannot_be_sent_is_refused),
        {"a_proxy_is_for_hosts_elsewhere", a_proxy_is_for_hosts_elsewhere, make_world, drop_world,
         NULL},
        cmocka_unit_test(only_addresses_are_asked_without_libcurl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Parsing requests: events, refusals, each limit one over, and that the splits of the bytes do not
 * matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "unit/wire/told.h"
#include "wire/http1/http1.h"

#include <stdlib.h>

static void expect(const char *bytes, const char *wanted)
{
    PL_CLEANUP_BUF struct pl_buf told;
    pl_buf_init(&told, 0);
    (void)!told_however_cut(told_http1, pl_str_of(bytes), &told);
    pl_buf_addc(&told, '\0');
    assert_string_equal(told.ptr, wanted);
}

static void expect_status_of(struct pl_str bytes, enum pl_status wanted)
{
    PL_CLEANUP_BUF struct pl_buf told;
    pl_buf_init(&told, 0);
    print_message("# %.*s\n", (int)(bytes.len < 60 ? bytes.len : 60), bytes.ptr);
    assert_int_equal(told_however_cut(told_http1, bytes, &told), wanted);
}

static void expect_status(const char *bytes, enum pl_status wanted)
{
    expect_status_of(pl_str_of(bytes), wanted);
}

#define IDLE_AT_END "open body[0] \nOK\nidle\n"

static void a_request_is_its_head_body_and_end(void **state)
{
    (void)state;
    expect("POST /a?b HTTP/1.1\r\nHost:  h \t\r\nEmpty:\r\nContent-Length: 5\r\n\r\nhello",
           "POST 1.1 keep 5 target[4] /a?b\n"
           " name[4] Host\n value[1] h\n name[5] Empty\n value[0] \n"
           " name[14] Content-Length\n value[1] 5\n"
           "END[4] /a?b\n body[5] hello\n" IDLE_AT_END);
}

static void requests_follow_each_other(void **state)
{
    (void)state;
    expect("\r\nGET /1 HTTP/1.1\r\n\r\nDELETE /2 HTTP/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
           "OPTIONS * HTTP/1.1\r\n\r\n",
           "GET 1.1 keep target[2] /1\nEND[2] /1\n body[0] \n"
           "DELETE 1.1 keep 0 target[2] /2\n name[14] Content-Length\n value[1] 0\n"
           "END[2] /2\n body[0] \n"
           "OPTIONS 1.1 keep target[1] *\nEND[1] *\n body[0] \n" IDLE_AT_END);
}

static void a_chunked_body_is_joined_and_its_trailer_passed_over(void **state)
{
    (void)state;
    expect("PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=y;z=\"q\"\r\n"
           "0123456789\r\n0\r\nX-Sum: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
           "PUT 1.1 keep chunked target[1] /\n name[17] Transfer-Encoding\n value[7] Chunked\n"
           "END[1] /\n body[13] abc0123456789\n"
           "GET 1.1 keep target[1] /\nEND[1] /\n body[0] \n" IDLE_AT_END);
}

/* llhttp 8 itself counts digits after the second semicolon as part of the size. */
static void digits_in_an_extension_are_not_of_the_size(void **state)
{
    (void)state;
    expect("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y;0\r\na\r\n"
           "1;q=\"\\\";\r\"\r\n",
           "PUT 1.1 keep chunked target[1] /\n name[17] Transfer-Encoding\n value[7] chunked\n"
           "open body[1] a\nSYNTAX\n");
    expect("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y;0\r\na\r\n"
           "1;q=\"\\\";1\";r\r\nb\r\n0;z\r\n\r\n",
           "PUT 1.1 keep chunked target[1] /\n name[17] Transfer-Encoding\n value[7] chunked\n"
           "END[1] /\n body[2] ab\n" IDLE_AT_END);
}

static void version_and_connection_say_whether_more_follows(void **state)
{
    (void)state;
    expect("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n\r\n",
           "GET 1.0 keep target[1] /\n name[10] Connection\n value[10] keep-alive\n"
           "END[1] /\n body[0] \nGET 1.0 target[1] /\nEND[1] /\n body[0] \n" IDLE_AT_END);
    expect_status("GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\nGET / HTTP/1.1\r\n\r\n",
                  PL_SYNTAX);
}

static void a_client_may_wait_for_leave_to_send(void **state)
{
    (void)state;
    expect("POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n",
           "POST 1.1 keep expects 1 target[1] /\n name[6] Expect\n value[12] 100-Continue\n"
           " name[14] Content-Length\n value[1] 1\nopen body[0] \nOK\nwithin\n");
    expect("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
           "POST 1.0 1 target[1] /\n name[6] Expect\n value[12] 100-continue\n"
           " name[14] Content-Length\n value[1] 1\nopen body[0] \nOK\nwithin\n");
}

static void what_follows_an_upgrade_is_the_next_protocols(void **state)
{
    (void)state;
    struct pl_http1 *http = pl_http1_create();
    enum pl_http1_event event;
    pl_http1_feed(http, PL_STR("GET /live HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\n"
                               "Upgrade: websocket\r\n\r\n\x81\x80"));
    assert_int_equal(pl_http1_next(http, &event, NULL), PL_OK);
    assert_int_equal(event, PL_HTTP1_HEAD);
    assert_true(pl_http1_head(http)->is_upgrade);
    assert_int_equal(pl_http1_next(http, &event, NULL), PL_OK);
    assert_int_equal(event, PL_HTTP1_END);
    assert_true(pl_str_eq(pl_http1_rest(http), PL_STR("\x81\x80")));
    pl_http1_destroy(http);
}

static void an_upgrade_that_is_not_taken_is_a_request_like_any(void **state)
{
    (void)state;
    expect("GET /1 HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET /2 HTTP/1.1\r\n\r\n",
           "GET 1.1 keep upgrade target[2] /1\n name[10] Connection\n value[7] Upgrade\n"
           " name[7] Upgrade\n value[3] h2c\nEND[2] /1\n body[0] \n"
           "GET 1.1 keep target[2] /2\nEND[2] /2\n body[0] \n" IDLE_AT_END);
}

static void a_piece_of_body_is_a_view_of_what_was_fed(void **state)
{
    (void)state;
    struct pl_http1 *http = pl_http1_create();
    enum pl_http1_event event;
    struct pl_str bytes = PL_STR("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhello");
    pl_http1_feed(http, bytes);
    assert_int_equal(pl_http1_next(http, &event, NULL), PL_OK);
    assert_int_equal(pl_http1_next(http, &event, NULL), PL_OK);
    assert_int_equal(event, PL_HTTP1_BODY);
    assert_ptr_equal(pl_http1_body(http).ptr, bytes.ptr + bytes.len - 5);
    assert_int_equal(pl_http1_body(http).len, 5);
    assert_int_equal(pl_http1_next(http, &event, NULL), PL_OK);
    assert_int_equal(event, PL_HTTP1_MORE);
    assert_false(pl_http1_is_idle(http));
    pl_http1_destroy(http);
}

static void what_is_not_http_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "\x16\x03\x01\x02",
        "hello\r\n",
        "get / HTTP/1.1\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/0.9\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.2\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "OPTIONS / RTSP/1.0\r\n\r\n",
        "SOURCE / ICE/1.0\r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n",
        "GET /\xC3\xA9 HTTP/1.1\r\n\r\n",
        "GET /\x7F HTTP/1.1\r\n\r\n",
        "\nGET / HTTP/1.1\r\n\r\n",
        "\r\rGET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\n\r\n",
        "GET / HTTP/1.1\r\nA: b\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n\n",
        "GET / HTTP/1.1\r\nA:\rB: c\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n",
        "GET / HTTP/1.1\r\n A: b\r\n\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\nA\r\n\r\n",
        "GET / HTTP/1.1\r\n: b\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        " GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nA(: b\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\x01\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_status(cases[i], PL_SYNTAX);
    expect_status_of(PL_STR("GET / HTTP/1.1\r\nA: b\0c\r\n\r\n"), PL_SYNTAX);
}

static void a_length_that_is_not_clear_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "Content-Length: 1\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1",
        "Content-Length: 1\r\nContent-Length: 1",
        "Content-Length: 1, 1",
        "Content-Length: -1",
        "Content-Length: +1",
        "Content-Length: 0x1",
        "Content-Length: 1 1",
        "Content-Length:",
        "Content-Length: 18446744073709551616",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding:",
        "Content-Length: 1\r\nTransfer-Encoding:",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        pl_buf_addf(&bytes, "POST / HTTP/1.1\r\n%s\r\n\r\n", cases[i]);
        print_message("# %s\n", cases[i]);
        expect_status_of(pl_buf_str(&bytes), PL_SYNTAX);
    }
    expect_status("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", PL_SYNTAX);
}

static void a_bad_chunk_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "x\r\n",
        "\r\n",
        "-1\r\n",
        "0x1\r\na",
        "1 \r\na",
        "1\na\r\n",
        "1\r\nab",
        "1\r\na\n0\r\n",
        "1\r\na0\r\n",
        "1\r\r",
        "1;\x01\r\n",
        "1;\r\n",
        "1;=a\r\n",
        "1;a=\r\n",
        "1;a b\r\n",
        "1;a=\"b\r\n",
        "1;a=\"b\"c\r\n",
        ";a\r\n",
        "10000000000000000\r\n",
        "0\r\nA: b\n\r\n",
        "0\r\nA: b\r\n c\r\n\r\n",
        "0\r\nA:\rB: c\r\n\r\n",
        "0\r\n\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        pl_buf_addf(&bytes, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%s", cases[i]);
        print_message("# %s\n", cases[i]);
        expect_status_of(pl_buf_str(&bytes), PL_SYNTAX);
    }
}

/* Limits. A line includes its CR LF, and the head includes its empty line. */

/* "GET /aaa… HTTP/1.1", n bytes with its line end. */
static void add_request_line(struct pl_buf *to, size_t n)
{
    pl_buf_adds(to, "GET /");
    pl_buf_fill(to, 'a', n - strlen("GET / HTTP/1.1\r\n"));
    pl_buf_adds(to, " HTTP/1.1\r\n");
}

static void add_header(struct pl_buf *to, size_t n)
{
    pl_buf_adds(to, "A: ");
    pl_buf_fill(to, 'b', n - strlen("A: \r\n"));
    pl_buf_adds(to, "\r\n");
}

static bool is_target_too_long(struct pl_str bytes)
{
    struct pl_http1 *http = pl_http1_create();
    enum pl_http1_event event;
    pl_http1_feed(http, bytes);
    assert_int_equal(pl_http1_next(http, &event, NULL), PL_LIMIT);
    bool is_too_long = pl_http1_is_target_too_long(http);
    pl_http1_destroy(http);
    return is_too_long;
}

static void a_request_line_one_over_is_a_target_too_long(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        add_request_line(&bytes, PL_HTTP1_MAX_LINE + over);
        pl_buf_adds(&bytes, "\r\n");
        expect_status_of(pl_buf_str(&bytes), over ? PL_LIMIT : PL_OK);
        if (over)
            assert_true(is_target_too_long(pl_buf_str(&bytes)));
    }
}

static void a_header_one_over_is_over_the_limit(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        add_request_line(&bytes, 20);
        add_header(&bytes, PL_HTTP1_MAX_LINE + over);
        pl_buf_adds(&bytes, "\r\n");
        expect_status_of(pl_buf_str(&bytes), over ? PL_LIMIT : PL_OK);
        if (over)
            assert_false(is_target_too_long(pl_buf_str(&bytes)));
    }
}

static void a_head_one_over_is_over_the_limit(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        add_request_line(&bytes, PL_HTTP1_MAX_LINE);
        for (int i = 0; i < 2; i++)
            add_header(&bytes, PL_HTTP1_MAX_LINE);
        add_header(&bytes, PL_HTTP1_MAX_HEAD - bytes.len - 2 + over);
        pl_buf_adds(&bytes, "\r\n");
        assert_int_equal(bytes.len, PL_HTTP1_MAX_HEAD + over);
        expect_status_of(pl_buf_str(&bytes), over ? PL_LIMIT : PL_OK);
    }
}

static void one_header_too_many_is_over_the_limit(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        add_request_line(&bytes, 20);
        for (int i = 0; i < PL_HTTP1_MAX_HEADERS + over; i++)
            add_header(&bytes, 8);
        pl_buf_adds(&bytes, "\r\n");
        expect_status_of(pl_buf_str(&bytes), over ? PL_LIMIT : PL_OK);
    }
}

static void a_line_before_a_chunk_one_over_is_over_the_limit(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        pl_buf_adds(&bytes, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;");
        pl_buf_fill(&bytes, 'x', PL_HTTP1_MAX_LINE - 4 + over);
        pl_buf_adds(&bytes, "\r\na\r\n0\r\n\r\n");
        expect_status_of(pl_buf_str(&bytes), over ? PL_LIMIT : PL_OK);
    }
}

static void a_trailer_one_over_is_over_the_limit(void **state)
{
    (void)state;
    static const struct {
        size_t n_headers, n_bytes;
    } cases[] = {{PL_HTTP1_MAX_HEADERS, 8},  {PL_HTTP1_MAX_HEADERS + 1, 8}, {1, PL_HTTP1_MAX_LINE},
                 {1, PL_HTTP1_MAX_LINE + 1}, {3, PL_HTTP1_MAX_LINE},        {4, PL_HTTP1_MAX_LINE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        pl_buf_adds(&bytes, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
        for (size_t k = 0; k < cases[i].n_headers; k++)
            add_header(&bytes, cases[i].n_bytes);
        pl_buf_adds(&bytes, "\r\n");
        expect_status_of(pl_buf_str(&bytes), i % 2 ? PL_LIMIT : PL_OK);
    }
}

static void a_failure_lasts_and_says_why(void **state)
{
    (void)state;
    struct pl_http1 *http = pl_http1_create();
    enum pl_http1_event event = PL_HTTP1_END;
    struct pl_error err = {0};
    pl_http1_feed(http, PL_STR("NONSENSE\r\n"));
    assert_int_equal(pl_http1_next(http, &event, &err), PL_SYNTAX);
    assert_true(strlen(err.message) > 20);
    pl_http1_feed(http, PL_STR("GET / HTTP/1.1\r\n\r\n"));
    assert_int_equal(pl_http1_next(http, &event, &err), PL_SYNTAX);
    assert_int_equal(event, PL_HTTP1_END);
    assert_false(pl_http1_is_idle(http));
    pl_http1_destroy(http);
}

/* Memory */

struct count {
    size_t n_calls, n_blocks;
};

static void *counting(void *ctx, void *ptr, size_t size)
{
    struct count *count = ctx;
    count->n_calls++;
    count->n_blocks += (ptr == NULL && size) - (ptr != NULL && !size);
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

static void read_one(struct pl_http1 *http)
{
    enum pl_http1_event event;
    pl_http1_feed(http, PL_STR("GET /health HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"));
    do
        assert_int_equal(pl_http1_next(http, &event, NULL), PL_OK);
    while (event != PL_HTTP1_MORE);
}

static void a_busy_connection_allocates_nothing_and_an_idle_one_keeps_little(void **state)
{
    (void)state;
    struct count count = {0};
    pl_mem_set_hook(counting, &count);
    struct pl_http1 *http = pl_http1_create();
    assert_int_equal(count.n_blocks, 1);
    read_one(http);
    size_t n_calls = count.n_calls;
    for (int i = 0; i < 100; i++)
        read_one(http);
    assert_int_equal(count.n_calls, n_calls);
    pl_http1_trim(http);
    assert_int_equal(count.n_blocks, 1);
    read_one(http);
    pl_http1_destroy(http);
    pl_mem_set_hook(NULL, NULL);
    assert_int_equal(count.n_blocks, 0);
}

static void memory_is_not_given_back_within_a_message(void **state)
{
    (void)state;
    struct pl_http1 *http = pl_http1_create();
    enum pl_http1_event event;
    pl_http1_feed(http, PL_STR("POST /x HTTP/1.1\r\nContent-Length: 1\r\n\r\n"));
    assert_int_equal(pl_http1_next(http, &event, NULL), PL_OK);
    pl_http1_trim(http);
    assert_true(pl_str_eq(pl_http1_head(http)->target, PL_STR("/x")));
    pl_http1_destroy(http);
    pl_http1_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_its_head_body_and_end),
        cmocka_unit_test(requests_follow_each_other),
        cmocka_unit_test(a_chunked_body_is_joined_and_its_trailer_passed_over),
        cmocka_unit_test(digits_in_an_extension_are_not_of_the_size),
        cmocka_unit_test(version_and_connection_say_whether_more_follows),
        cmocka_unit_test(a_client_may_wait_for_leave_to_send),
        cmocka_unit_test(what_follows_an_upgrade_is_the_next_protocols),
        cmocka_unit_test(an_upgrade_that_is_not_taken_is_a_request_like_any),
        cmocka_unit_test(a_piece_of_body_is_a_view_of_what_was_fed),
        cmocka_unit_test(what_is_not_http_is_refused),
        cmocka_unit_test(a_length_that_is_not_clear_is_refused),
        cmocka_unit_test(a_bad_chunk_is_refused),
        cmocka_unit_test(a_request_line_one_over_is_a_target_too_long),
        cmocka_unit_test(a_header_one_over_is_over_the_limit),
        cmocka_unit_test(a_head_one_over_is_over_the_limit),
        cmocka_unit_test(one_header_too_many_is_over_the_limit),
        cmocka_unit_test(a_line_before_a_chunk_one_over_is_over_the_limit),
        cmocka_unit_test(a_trailer_one_over_is_over_the_limit),
        cmocka_unit_test(a_failure_lasts_and_says_why),
        cmocka_unit_test(a_busy_connection_allocates_nothing_and_an_idle_one_keeps_little),
        cmocka_unit_test(memory_is_not_given_back_within_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

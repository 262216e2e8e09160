/* Parsing answers: events, refusals, each limit one over, and that the splits of the bytes do not
 * matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/wire/told.h"
#include "wire/http1/http1_answer.h"

static enum pl_status tell(struct pl_str bytes, struct pl_buf *told)
{
    return told_however_cut(told_answers, bytes, told);
}

static void expect(const char *bytes, const char *wanted)
{
    PL_CLEANUP_BUF struct pl_buf told;
    pl_buf_init(&told, 0);
    (void)tell(pl_str_of(bytes), &told);
    pl_buf_addc(&told, '\0');
    assert_string_equal(told.ptr, wanted);
}

#define AT_END "open[0] \nOK\n"

static void answers_follow_each_other(void **state)
{
    (void)state;
    expect("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\nhello"
           "HTTP/1.1 204 No Content\r\n\r\n"
           "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"
           "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
           "HEAD 200[27] A: b\r\nContent-Length: 5\r\n\r\n\nEND kept[5] hello\n"
           "HEAD 204[2] \r\n\nEND kept[0] \n"
           "HEAD 500[21] Content-Length: 0\r\n\r\n\nEND kept[0] \n"
           "HEAD 304[21] Content-Length: 7\r\n\r\n\nEND kept[0] \n" AT_END);
}

static void chunks_are_closed_up(void **state)
{
    (void)state;
    expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
           "3\r\nabc\r\n0000A\r\n0123456789\r\n1;x=y;0\r\nz\r\n1;q=\"\\\";1\";r\r\n!\r\n"
           "0\r\nSum: 1\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
           "HEAD 200[30] Transfer-Encoding: chunked\r\n\r\n\nEND kept[15] abc0123456789z!\n"
           "HEAD 204[2] \r\n\nEND kept[0] \n" AT_END);
}

static void interim_answers_are_passed_over(void **state)
{
    (void)state;
    expect("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
           "HEAD 200[21] Content-Length: 1\r\n\r\n\nEND kept[1] x\n" AT_END);
}

static void without_a_length_the_body_ends_with_the_connection(void **state)
{
    (void)state;
    expect("HTTP/1.1 200 OK\r\n\r\nall the rest",
           "HEAD 200[2] \r\n\nEND[12] all the rest\n" AT_END);
    expect("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
           "HEAD 200[21] Content-Length: 1\r\n\r\n\nEND[1] x\n" AT_END);
    expect("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
           "HEAD 200[40] Connection: close\r\nContent-Length: 1\r\n\r\n\nEND[1] x\n" AT_END);
}

static void what_breaks_off_is_not_whole(void **state)
{
    (void)state;
    expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
           "HEAD 200[21] Content-Length: 5\r\n\r\n\nopen[4] hell\nOK\n");
    expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
           "HEAD 200[30] Transfer-Encoding: chunked\r\n\r\n\nopen[3] abc\nOK\n");
    expect("HTTP/1.1 200 OK\r\nContent-Le", "open[0] \nOK\n");
}

static void what_is_not_an_answer_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    };
    static const char *const wrong_chunks[] = {
        "x\r\n",
        "10000000000000000\r\n",
        "\r\n",
        "-1\r\n",
        "3\n",
        "3\r\nabcd\r\n",
        "3 \r\nabc",
        "1;\x01\r\na\r\n",
        "1\r\na\n0\r\n",
        "0\r\n:\r\n",
        "0\r\na: b\n\r\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        PL_CLEANUP_BUF struct pl_buf told;
        pl_buf_init(&told, 0);
        assert_int_equal(tell(pl_str_of(wrong[i]), &told), PL_SYNTAX);
    }
    for (size_t i = 0; i < sizeof wrong_chunks / sizeof *wrong_chunks; i++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        PL_CLEANUP_BUF struct pl_buf told;
        pl_buf_init(&bytes, 0);
        pl_buf_init(&told, 0);
        pl_buf_adds(&bytes, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        pl_buf_adds(&bytes, wrong_chunks[i]);
        assert_int_equal(tell(pl_buf_str(&bytes), &told), PL_SYNTAX);
    }
}

static void each_limit_holds_one_step_over_it(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        size_t max; /* bytes between the two; one more than this is refused */
    } limits[] = {
        {"HTTP/1.1 200 OK\r\nA: ", "\r\n\r\n", PL_HTTP1_MAX_ANSWER_HEAD - 20 - 4},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=", "\r\na\r\n0\r\n\r\n",
         PL_HTTP1_MAX_LINE - 4 - 2},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: ", "\r\n\r\n",
         PL_HTTP1_MAX_LINE - 3 - 2},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (size_t over = 0; over < 2; over++) {
            PL_CLEANUP_BUF struct pl_buf bytes;
            PL_CLEANUP_BUF struct pl_buf told;
            pl_buf_init(&bytes, 0);
            pl_buf_init(&told, 0);
            pl_buf_adds(&bytes, limits[i].before);
            pl_buf_fill(&bytes, 'x', limits[i].max + over);
            pl_buf_adds(&bytes, limits[i].after);
            assert_int_equal(tell(pl_buf_str(&bytes), &told), over ? PL_LIMIT : PL_OK);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_follow_each_other),
        cmocka_unit_test(chunks_are_closed_up),
        cmocka_unit_test(interim_answers_are_passed_over),
        cmocka_unit_test(without_a_length_the_body_ends_with_the_connection),
        cmocka_unit_test(what_breaks_off_is_not_whole),
        cmocka_unit_test(what_is_not_an_answer_is_refused),
        cmocka_unit_test(each_limit_holds_one_step_over_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

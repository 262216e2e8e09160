/* Requests, messages and addresses with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fault/fault.h"
#include "wire/http1/http1.h"
#include "wire/target.h"
#include "wire/url.h"
#include "wire/websocket.h"

#include <string.h>

/* In pieces, so that the head grows. */
static enum pl_status reads_a_request(void *ctx)
{
    struct pl_str bytes = *(struct pl_str *)ctx;
    struct pl_http1 *http = pl_http1_create();
    enum pl_status status = http ? PL_OK : PL_NOMEM;
    enum pl_http1_event event = PL_HTTP1_END;
    for (size_t at = 0; at < bytes.len && status == PL_OK; at += 100) {
        pl_http1_feed(http, pl_str_slice(bytes, at, at + 100));
        do
            status = pl_http1_next(http, &event, NULL);
        while (status == PL_OK && event != PL_HTTP1_MORE);
    }
    if (status == PL_NOMEM && http) {
        /* It is finished, and stays so. */
        enum pl_http1_event before = event;
        assert_int_equal(pl_http1_next(http, &event, NULL), PL_NOMEM);
        assert_int_equal(event, before);
    }
    pl_http1_destroy(http);
    return status;
}

static void a_request_survives_every_refused_allocation(void **state)
{
    (void)state;
    char head[2000] = "POST / HTTP/1.1\r\nContent-Length: 3\r\nA: ";
    size_t n = strlen(head);
    memset(head + n, 'a', 1500);
    memcpy(head + n + 1500, "\r\n\r\nabc", 8);
    struct pl_str bytes = pl_str_of(head);
    assert_true(pl_fault_each(reads_a_request, &bytes) > 3);
}

/* Two fragments of a message, the second cut, with a cut ping between them. */
static enum pl_status reads_messages(void *ctx)
{
    (void)ctx;
    char bytes[] = "\x01\x83\0\0\0\0abc\x89\x82\0\0\0\0pp\x80\x83\0\0\0\0def";
    size_t n = sizeof bytes - 1;
    struct pl_ws ws;
    struct pl_ws_message message = {.close_code = 7};
    enum pl_status status = PL_NOT_FOUND;
    pl_ws_init(&ws);
    for (size_t at = 0; at < n && status == PL_NOT_FOUND; at++) {
        pl_ws_feed(&ws, bytes + at, 1);
        while ((status = pl_ws_next(&ws, &message, NULL)) == PL_OK)
            assert_true(message.opcode == PL_WS_PING ||
                        pl_str_eq(message.payload, PL_STR("abcdef")));
    }
    if (status == PL_NOMEM)
        assert_int_equal(ws.close_code, PL_WS_CLOSE_INTERNAL);
    pl_ws_deinit(&ws);
    return status == PL_NOT_FOUND ? PL_OK : status;
}

static void messages_survive_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(reads_messages, NULL) > 0);
}

static enum pl_status reads_an_address(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_target target = {.n_segments = 99};
    struct pl_error err;
    pl_arena_init(&arena, 0);
    enum pl_status status =
        pl_target_parse(&arena, PL_STR("/a%20b/c?d=e+f&g=%C3%A9"), &target, &err);
    if (status != PL_OK)
        assert_int_equal(target.n_segments, 99);
    return status;
}

static void an_address_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(reads_an_address, NULL) > 0);
}

/* A name for libidn2, a base, and every part. */
static enum pl_status reads_a_url(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf href;
    struct pl_url base, url = {.port = 7};
    struct pl_error err;
    pl_arena_init(&arena, 0);
    pl_buf_init(&href, 0);
    enum pl_status status =
        pl_url_parse(&arena, PL_STR("https://u:p@B\u00FCcher.example:1/a/b?q"), NULL, &base, &err);
    if (status == PL_OK)
        status = pl_url_parse(&arena, PL_STR("../\tc d?e'#f"), &base, &url, &err);
    if (status != PL_OK) {
        assert_int_equal(url.port, 7);
        return status;
    }
    pl_url_write(&url, &href);
    if (href.status == PL_OK)
        assert_true(pl_str_eq(pl_buf_str(&href),
                              PL_STR("https://u:p@xn--bcher-kva.example:1/c%20d?e%27#f")));
    return href.status;
}

static void a_url_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(reads_a_url, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_survives_every_refused_allocation),
        cmocka_unit_test(messages_survive_every_refused_allocation),
        cmocka_unit_test(an_address_survives_every_refused_allocation),
        cmocka_unit_test(a_url_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

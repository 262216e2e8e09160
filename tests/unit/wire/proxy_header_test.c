/* The PROXY header: what a proxy sends, and invalid headers. */
#include "wire/proxy_header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define BINARY(literal)                                                                            \
    {                                                                                              \
        SIGNATURE literal, sizeof(SIGNATURE literal) - 1                                           \
    }

static void assert_source(struct pl_str bytes, const char *address, unsigned port, size_t n_bytes)
{
    struct pl_proxy_header header;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (size_t n = 0; n < n_bytes; n++)
        assert_int_equal(pl_proxy_header_read(pl_str_slice(bytes, 0, n), &header), PL_PROXY_MORE);
    assert_int_equal(pl_proxy_header_read(bytes, &header), PL_PROXY_WHOLE);
    assert_int_equal(header.n_bytes, n_bytes);
    assert_int_equal(header.has_source, address != NULL);
    if (!address)
        return;
    pl_address_write(&header.source, &text);
    pl_buf_addc(&text, 0);
    assert_string_equal(text.ptr, address);
    assert_int_equal(header.source_port, port);
}

static void lines_say_who_it_is(void **state)
{
    (void)state;
    assert_source(PL_STR("PROXY TCP4 203.0.113.7 10.0.0.1 56324 443\r\nGET /"), "203.0.113.7",
                  56324, 43);
    assert_source(PL_STR("PROXY TCP6 2001:db8::1 ::1 0 65535\r\n"), "2001:db8::1", 0, 36);
    assert_source(PL_STR("PROXY UNKNOWN\r\nx"), NULL, 0, 15);
    assert_source(PL_STR("PROXY UNKNOWN ffff::1 whatever\r\n"), NULL, 0, 32);
}

static void binary_headers_say_who_it_is(void **state)
{
    (void)state;
    const struct pl_str v4 =
        BINARY("\x21\x11\0\x0c\xcb\0\x71\x07\x0a\0\0\x01\xdc\x04\x01\xbbGET /");
    const struct pl_str extended =
        BINARY("\x21\x11\0\x0f\xcb\0\x71\x07\x0a\0\0\x01\xdc\x04\x01\xbb\x04\0\0");
    const struct pl_str local = BINARY("\x20\0\0\0"), odd_local = BINARY("\x20\x77\0\x01z"),
                        unspecified = BINARY("\x21\0\0\0");
    assert_source(v4, "203.0.113.7", 56324, 28);
    assert_source(extended, "203.0.113.7", 56324, 31);
    assert_source(local, NULL, 0, 16);
    assert_source(odd_local, NULL, 0, 17);
    assert_source(unspecified, NULL, 0, 16);
    char six[52] = SIGNATURE "\x21\x21\0\x24\x20\x01\x0d\xb8";
    six[31] = 1;
    six[48] = 0x12;
    six[49] = 0x34;
    assert_source((struct pl_str){six, sizeof six}, "2001:db8::1", 0x1234, 52);
    char local_socket[16 + 216] = SIGNATURE "\x21\x31\0\xd8/tmp/x";
    struct pl_proxy_header header;
    assert_int_equal(
        pl_proxy_header_read((struct pl_str){local_socket, sizeof local_socket}, &header),
        PL_PROXY_WHOLE);
    assert_true(header.is_unix && header.has_source);
}

static void everything_else_is_wrong(void **state)
{
    (void)state;
    const struct pl_str wrong[] = {
        PL_STR("GET / HTTP/1.1\r\n\r\n"),
        PL_STR("proxy TCP4 1.2.3.4 1.2.3.4 1 1\r\n"),
        PL_STR("PROXY\r\n"),
        PL_STR("PROXY \r\n"),
        PL_STR("PROXYTCP4"),
        PL_STR("PROXY TCP5 1.2.3.4 1.2.3.4 1 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n"),
        PL_STR("PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 65536 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 99999 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 -1 1\r\n"),
        PL_STR("PROXY TCP4 ::1 ::1 1 1\r\n"),
        PL_STR("PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3 1.2.3.4 1 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 ::1 1 1\r\n"),
        PL_STR("PROXY TCP4 1.2.3.4 1.2.3.4 1 1\rX"),
        PL_STR("PROXY TCP4 1.2.3.4\t1.2.3.4 1 1\r\n"),
        PL_STR("\r\n\r\nX"),
        PL_STR("X"),
        BINARY("\x11\x11\0\x0c............"),
        BINARY("\x22\x11\0\x0c............"),
        BINARY("\x21\x11\0\x0b..........."),
        BINARY("\x21\x12\0\x0c............"),
        BINARY("\x21\x21\0\x0c............"),
        BINARY("\x21\x31\0\x0c............"),
        BINARY("\x21\x41\0\0"),
        BINARY("\x21\x11\xff\xff"),
        BINARY("\x21\x11\x10\x00"),
    };
    struct pl_proxy_header header;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        enum pl_proxy_result result = PL_PROXY_MORE;
        assert_int_equal(pl_proxy_header_read(wrong[i], &header), PL_PROXY_WRONG);
        for (size_t n = 0; n <= wrong[i].len && result == PL_PROXY_MORE; n++)
            result = pl_proxy_header_read(pl_str_slice(wrong[i], 0, n), &header);
        assert_int_equal(result, PL_PROXY_WRONG);
    }
    /* A line has at most 107 bytes. */
    char line[120];
    memset(line, 'x', sizeof line);
    memcpy(line, "PROXY UNKNOWN ", 14);
    assert_int_equal(pl_proxy_header_read((struct pl_str){line, 106}, &header), PL_PROXY_MORE);
    assert_int_equal(pl_proxy_header_read((struct pl_str){line, 107}, &header), PL_PROXY_WRONG);
    memcpy(line + 105, "\r\n", 2);
    assert_int_equal(pl_proxy_header_read((struct pl_str){line, 107}, &header), PL_PROXY_WHOLE);
    memcpy(line + 105, "x\r\n", 3);
    assert_int_equal(pl_proxy_header_read((struct pl_str){line, 108}, &header), PL_PROXY_WRONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_say_who_it_is),
        cmocka_unit_test(binary_headers_say_who_it_is),
        cmocka_unit_test(everything_else_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

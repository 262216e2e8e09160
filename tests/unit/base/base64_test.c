#include "base/text/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* RFC 4648, section 10, and bytes that need the last characters of the alphabet. */
static const struct {
    struct pl_str bytes, text;
} vectors[] = {
    {{"", 0}, {"", 0}},
    {{"f", 1}, {"Zg==", 4}},
    {{"fo", 2}, {"Zm8=", 4}},
    {{"foo", 3}, {"Zm9v", 4}},
    {{"foob", 4}, {"Zm9vYg==", 8}},
    {{"fooba", 5}, {"Zm9vYmE=", 8}},
    {{"foobar", 6}, {"Zm9vYmFy", 8}},
    {{"\xFF\xFF\xFF", 3}, {"////", 4}},
    {{"\xFB\xEF\xBE", 3}, {"++++", 4}},
    {{"\0\0\0\0", 4}, {"AAAAAA==", 8}},
};

enum { N_VECTORS = sizeof vectors / sizeof *vectors };

static void known_bytes_are_encoded_as_the_rfc_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_VECTORS; i++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        pl_buf_init(&buf, 0);
        pl_base64_encode(&buf, vectors[i].bytes);
        assert_int_equal(buf.status, PL_OK);
        assert_true(pl_str_eq(pl_buf_str(&buf), vectors[i].text));
    }
}

static void known_text_is_decoded_as_the_rfc_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_VECTORS; i++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        size_t size;
        pl_buf_init(&buf, 0);
        assert_true(pl_base64_size(vectors[i].text, &size));
        assert_int_equal(size, vectors[i].bytes.len);
        assert_int_equal(pl_base64_decode(&buf, vectors[i].text), PL_OK);
        assert_true(pl_str_eq(pl_buf_str(&buf), vectors[i].bytes));
    }
}

static void text_that_is_not_canonical_is_refused_untouched(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "A",    "AA",    "AAA",      "AAAAA",    "AA=A", "A===",  "====",     "=AAA",
        "AA=",  "Zg==A", "Zg==Zg==", "Zm8=Zm8=", "Zh==", "Zm9=",  "Z g=",     "Zg=\n",
        "Zm9-", "Zm9_",  "Zm9*",     "Zm9\x80",  "é12",  "ZZZ\t", "AAAAAA=A", "\x7F\x7F\x7F\x7F",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        size_t size = 77;
        pl_buf_init(&buf, 0);
        pl_buf_adds(&buf, "before");
        assert_false(pl_base64_size(pl_str_of(bad[i]), &size));
        assert_int_equal(size, 77);
        assert_int_equal(pl_base64_decode(&buf, pl_str_of(bad[i])), PL_SYNTAX);
        assert_int_equal(buf.len, 6);
        assert_int_equal(buf.status, PL_OK);
    }
}

/* Of the 256 possible last characters, only the 64 of the alphabet and '=' are ever valid. */
static void exactly_the_alphabet_is_accepted(void **state)
{
    (void)state;
    int n_accepted = 0;
    for (int c = 0; c < 256; c++) {
        char text[4] = {'A', (char)c, 'A', 'A'};
        size_t size;
        n_accepted += pl_base64_size((struct pl_str){text, 4}, &size);
    }
    assert_int_equal(n_accepted, 64);
}

static void what_was_encoded_decodes_to_itself(void **state)
{
    (void)state;
    char bytes[300];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        PL_CLEANUP_BUF struct pl_buf text;
        PL_CLEANUP_BUF struct pl_buf back;
        pl_buf_init(&text, 0);
        pl_buf_init(&back, 0);
        pl_base64_encode(&text, (struct pl_str){bytes, len});
        assert_int_equal(text.len, (len + 2) / 3 * 4);
        assert_int_equal(pl_base64_decode(&back, pl_buf_str(&text)), PL_OK);
        assert_true(pl_str_eq(pl_buf_str(&back), (struct pl_str){bytes, len}));
    }
}

static void a_full_buffer_keeps_its_failure(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 2);
    assert_int_equal(pl_base64_decode(&buf, PL_STR("Zm9v")), PL_LIMIT);
    assert_int_equal(buf.len, 0);
    pl_base64_encode(&buf, PL_STR("x"));
    assert_int_equal(buf.status, PL_LIMIT);
    assert_int_equal(pl_base64_decode(&buf, PL_STR("")), PL_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes_are_encoded_as_the_rfc_says),
        cmocka_unit_test(known_text_is_decoded_as_the_rfc_says),
        cmocka_unit_test(text_that_is_not_canonical_is_refused_untouched),
        cmocka_unit_test(exactly_the_alphabet_is_accepted),
        cmocka_unit_test(what_was_encoded_decodes_to_itself),
        cmocka_unit_test(a_full_buffer_keeps_its_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

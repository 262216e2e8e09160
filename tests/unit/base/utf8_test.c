/* All implementations against a decoder written from the table of RFC 3629, section 4. */
#include "base/text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* UTF8-1 … UTF8-4 of the RFC: the range of the first and second byte; all others are 80-BF. */
static const struct {
    unsigned char first_low, first_high, second_low, second_high;
    size_t len;
} rows[] = {
    {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

static bool is_in(unsigned char c, unsigned char low, unsigned char high)
{
    return c >= low && c <= high;
}

/* Length of the character at the start of s; 0 if there is none. */
static size_t reference_len(const unsigned char *s, size_t n)
{
    for (size_t row = 0; n && row < sizeof rows / sizeof *rows; row++) {
        if (!is_in(s[0], rows[row].first_low, rows[row].first_high))
            continue;
        size_t len = rows[row].len;
        if (len > n || (len > 1 && !is_in(s[1], rows[row].second_low, rows[row].second_high)))
            return 0;
        for (size_t i = 2; i < len; i++)
            if (!is_in(s[i], 0x80, 0xBF))
                return 0;
        return len;
    }
    return 0;
}

static size_t reference_prefix(struct pl_str s)
{
    size_t at = 0;
    for (size_t len; (len = reference_len((const unsigned char *)s.ptr + at, s.len - at));)
        at += len;
    return at;
}

static void assert_all_agree(struct pl_str s)
{
    size_t expected = reference_prefix(s);
    for (int cpu = 0; cpu < PL_CPU_COUNT; cpu++) {
        if (!pl_cpu_has((enum pl_cpu)cpu))
            continue;
        size_t found = pl_utf8_valid_prefix_with((enum pl_cpu)cpu, s);
        if (found != expected)
            fail_msg("%s: %zu bytes are valid, said %zu of %zu", pl_cpu_name((enum pl_cpu)cpu),
                     expected, found, s.len);
    }
    assert_int_equal(pl_utf8_valid_prefix(s), expected);
    assert_int_equal(pl_utf8_is_valid(s), expected == s.len);
}

static uint32_t seed = 20240607;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static void any_four_edge_bytes_are_judged_alike(void **state)
{
    (void)state;
    static const unsigned char edges[] = {
        0x00, 0x22, 0x5C, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
        0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFB, 0xFE, 0xFF,
    };
    enum { N_EDGES = sizeof edges };
    char s[4];
    for (int i = 0; i < N_EDGES * N_EDGES * N_EDGES * N_EDGES; i++) {
        for (int k = 0, rest = i; k < 4; k++, rest /= N_EDGES)
            s[k] = (char)edges[rest % N_EDGES];
        size_t expected = reference_prefix((struct pl_str){s, 4});
        if (pl_utf8_valid_prefix_with(PL_CPU_SCALAR, (struct pl_str){s, 4}) != expected)
            assert_all_agree((struct pl_str){s, 4});
        if (i % 97 == 0)
            assert_all_agree((struct pl_str){s, 4});
    }
}

/* Each sequence at each place of a long text: across the edges of every vector, and at the end. */
static void a_bad_sequence_is_found_wherever_it_stands(void **state)
{
    (void)state;
    static const struct pl_str sequences[] = {
        {"\x80", 1},
        {"\xC3", 1},
        {"\xC0\xAF", 2},
        {"\xE4\xB8", 2},
        {"\xED\xA0\x80", 3},
        {"\xE0\x9F\xBF", 3},
        {"\xF0\x9F\x98", 3},
        {"\xF4\x90\x80\x80", 4},
        {"\xF0\x8F\xBF\xBF", 4},
        {"\xC3\xA9", 2},
        {"\xE4\xB8\xAD", 3},
        {"\xF0\x9F\x98\x80", 4},
        {"\xC3\xA9\xA9", 3},
        {"\xFF", 1},
        {"\xE4\xB8\xAD\xAD", 4},
    };
    char text[200];
    for (size_t which = 0; which < sizeof sequences / sizeof *sequences; which++) {
        struct pl_str seq = sequences[which];
        for (size_t at = 0; at + seq.len <= sizeof text; at++) {
            memset(text, 'a', sizeof text);
            memcpy(text + at, seq.ptr, seq.len);
            assert_all_agree((struct pl_str){text, sizeof text});
            assert_all_agree((struct pl_str){text, at + seq.len});
            assert_all_agree((struct pl_str){text, at + seq.len - 1});
        }
    }
}

/* Valid text of random characters, in most cases with one byte changed. */
/* The last block of a text overlaps the one before it. */
static void a_cut_end_is_judged_alike_after_any_length(void **state)
{
    (void)state;
    static const char *const ends[] = {
        "\xC3",         "\xE4\xB8",         "\xE4", "\xF0\x9F\x98", "\xF0\x9F", "\xF0", "\xC3\xA9",
        "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "\x80", "\xC3\x80\x80"};
    enum { MOST = 260 };
    char text[MOST + 4];
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        for (size_t n = 0; n < MOST; n++) {
            struct pl_str end = pl_str_of(ends[e]);
            for (size_t i = 0; i < n; i++)
                text[i] = "\xC3\xA9"[(n - i) % 2 == 1];
            if (n % 2)
                text[0] = 'a';
            memcpy(text + n, end.ptr, end.len);
            assert_all_agree((struct pl_str){text, n + end.len});
        }
}

static void random_text_is_judged_alike(void **state)
{
    (void)state;
    static const uint32_t limits[] = {0x80, 0x800, 0xD800, 0x10000, 0x110000};
    char text[400];
    for (int round = 0; round < 6000; round++) {
        size_t wanted = draw(390), len = 0;
        while (len < wanted) {
            uint32_t c = draw(limits[draw(5)]);
            if (c < 0xD800 || c > 0xDFFF)
                len += pl_utf8_put(text + len, c);
        }
        if (round % 4 && len)
            text[draw((uint32_t)len)] = (char)draw(256);
        assert_all_agree((struct pl_str){text, len});
    }
}

static void an_empty_text_is_valid(void **state)
{
    (void)state;
    assert_all_agree((struct pl_str){"", 0});
    assert_true(pl_utf8_is_valid((struct pl_str){0}));
}

static void every_code_point_survives_writing_and_reading(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        char bytes[4];
        size_t at = 0, len = pl_utf8_put(bytes, c);
        bool is_surrogate = c >= 0xD800 && c <= 0xDFFF;
        assert_int_equal(len, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        int32_t back = pl_utf8_next((struct pl_str){bytes, len}, &at);
        assert_int_equal(back, is_surrogate ? -1 : (int32_t)c);
        assert_int_equal(at, is_surrogate ? 1 : len);
    }
}

static void reading_an_invalid_byte_moves_by_one(void **state)
{
    (void)state;
    struct pl_str s = PL_STR("a\xE4\xB8z");
    static const int32_t expected[] = {'a', -1, -1, 'z'};
    size_t at = 0;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pl_utf8_next(s, &at), expected[i]);
        assert_int_equal(at, i + 1);
    }
}

static void characters_are_counted_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(pl_utf8_count((struct pl_str){0}), 0);
    assert_int_equal(pl_utf8_count(PL_STR("aé中😀")), 4);
    char text[300];
    for (size_t n = 0; n < 100; n++) {
        memcpy(text + n * 3, "中", 3);
        assert_int_equal(pl_utf8_count((struct pl_str){text, n * 3 + 3}), n + 1);
    }
}

static void a_cut_sequence_is_one_that_only_lacks_bytes(void **state)
{
    (void)state;
    static const char *const cut[] = {
        "\xC2", "\xDF",     "\xE0",     "\xE0\xA0", "\xED", "\xED\x9F",     "\xEE\x80",
        "\xF0", "\xF0\x90", "\xF4\x8F", "\xF1\x80", "\xF4", "\xF4\x8F\xBF", "\xF0\x90\x80"};
    static const char *const not_cut[] = {"",
                                          "a",
                                          "\x80",
                                          "\xC1",
                                          "\xF5",
                                          "\xE0\x9F",
                                          "\xED\xA0",
                                          "\xF0\x8F",
                                          "\xF4\x90",
                                          "\xC3\xA9",
                                          "\xE2\x82\xAC",
                                          "\xE2\x82\x41",
                                          "\xE2\x41",
                                          "\xFF",
                                          "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        assert_true(pl_utf8_is_cut(pl_str_of(cut[i])));
    for (size_t i = 0; i < sizeof not_cut / sizeof *not_cut; i++)
        assert_false(pl_utf8_is_cut(pl_str_of(not_cut[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_four_edge_bytes_are_judged_alike),
        cmocka_unit_test(a_bad_sequence_is_found_wherever_it_stands),
        cmocka_unit_test(a_cut_end_is_judged_alike_after_any_length),
        cmocka_unit_test(random_text_is_judged_alike),
        cmocka_unit_test(an_empty_text_is_valid),
        cmocka_unit_test(every_code_point_survives_writing_and_reading),
        cmocka_unit_test(reading_an_invalid_byte_moves_by_one),
        cmocka_unit_test(characters_are_counted_not_bytes),
        cmocka_unit_test(a_cut_sequence_is_one_that_only_lacks_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

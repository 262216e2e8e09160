/* One text per value. */
#include "json/equal.h"
#include "json/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct pl_json_opts lenient = {
    .allows_duplicate_keys = true, .allows_lone_surrogates = true, .max_depth = 5000};

static void canonical(struct pl_buf *to, struct pl_str text)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, text, &lenient, &doc, NULL), PL_OK);
    assert_int_equal(pl_json_write_canonical(to, &doc, doc.root), PL_OK);
}

/* Also checks that the canonical text is its own canonical text. */
static void assert_canonical(const char *text, const char *expected)
{
    PL_CLEANUP_BUF struct pl_buf once, twice;
    pl_buf_init(&once, 0);
    pl_buf_init(&twice, 0);
    canonical(&once, pl_str_of(text));
    canonical(&twice, pl_buf_str(&once));
    assert_true(pl_str_eq(pl_buf_str(&once), pl_buf_str(&twice)));
    pl_buf_addc(&once, 0);
    assert_string_equal(once.ptr, expected);
}

static void numbers_have_one_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *given, *expected;
    } cases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"-0.0e-5", "0"},
        {"1.0", "1"},
        {"10E-1", "1"},
        {"-1.50", "-1.5"},
        {"123.4560e1", "1234.56"},
        {"100", "100"},
        {"1e20", "100000000000000000000"},
        {"1e21", "1e+21"},
        {"123456789012345678901", "123456789012345678901"},
        {"123456789012345678000", "123456789012345678000"},
        {"1234567890123456789012", "1234567890123456789012"},
        {"123456789012345678901200", "123456789012345678901200"},
        {"1234567890123456789012000", "1234567890123456789012e3"},
        {"12345678901234567.89012", "12345678901234567.89012"},
        {"0.1234567890123456789012", "0.1234567890123456789012"},
        {"1.234567890123456789012e-3", "0.001234567890123456789012"},
        {"1.234567890123456789012e-4", "1234567890123456789012e-25"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {"0.5e-323", "5e-324"},
        {"0.000001", "0.000001"},
        {"0.0000001", "1e-7"},
        {"12e-8", "1.2e-7"},
        {"0.1", "0.1"},
        {"9007199254740993", "9007199254740993"},
        {"3.141592653589793238462643383279", "3.141592653589793238462643383279"},
        {"1e1000000", "1e1000000"},
        {"10e999999", "1e1000000"},
        {"1e99999999999999999999", "1e99999999999999999999"},
        {"10e99999999999999999999", "1e100000000000000000000"},
        {"0.01e100000000000000000000", "1e99999999999999999998"},
        {"0.001e-99999999999999999999", "1e-100000000000000000002"},
        {"1000e-100000000000000000001", "1e-99999999999999999998"},
        {"25e-100000000000000000001", "25e-100000000000000000001"},
        {"9.9e-99999999999999999999", "99e-100000000000000000000"},
        {"9.9e99999999999999999999", "99e99999999999999999998"},
        {"5e-1125899906842624", "5e-1125899906842624"},
        {"5e562949953421312", "5e562949953421312"},
        {"0.5e562949953421312", "5e562949953421311"},
        {"5e562949953421310", "5e562949953421310"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_canonical(cases[i].given, cases[i].expected);
}

/* The longest numbers that the parser accepts by default, in every layout: it accepts their
 * canonical form, too. */
static void a_canonical_number_is_never_too_long_to_read(void **state)
{
    (void)state;
    static const char *const heads[] = {"",   "-",   "1.",     "-0.", "0.000",
                                        "1e", "1e-", "-9.9e-", "10e"};
    static const char *const tails[] = {"",      "e9", "e99", "e-9", "e-99",
                                        "e-128", "0",  "000", "0e-3"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
            if (strchr(heads[i], 'e') && strchr(tails[k], 'e'))
                continue;
            PL_CLEANUP_BUF struct pl_buf text, once, twice;
            pl_buf_init(&text, 0);
            pl_buf_init(&once, 0);
            pl_buf_init(&twice, 0);
            pl_buf_adds(&text, heads[i]);
            pl_buf_fill(&text, '9', 128 - strlen(heads[i]) - strlen(tails[k]));
            pl_buf_adds(&text, tails[k]);
            canonical(&once, pl_buf_str(&text));
            assert_true(once.len <= text.len);
            canonical(&twice, pl_buf_str(&once));
            assert_true(pl_str_eq(pl_buf_str(&once), pl_buf_str(&twice)));
        }
}

static void strings_have_the_fewest_escapes(void **state)
{
    (void)state;
    assert_canonical("\"\\u0041\\/\\u00e9\\u4e2d\"", "\"A/é中\"");
    assert_canonical("\"\\u0022\\u005C\\\"\\\\\"", "\"\\\"\\\\\\\"\\\\\"");
    assert_canonical("\"\\u0008\\u000C\\u000a\\u000D\\u0009\"", "\"\\b\\f\\n\\r\\t\"");
    assert_canonical("\"\\u0000\\u001F\\u007f\"", "\"\\u0000\\u001f\x7f\"");
    assert_canonical("\"\\uD83D\\uDE00\"", "\"😀\"");
    assert_canonical("\"\\uD83D\\uD83D\\uDE00\\uDE00x\"", "\"\\ud83d😀\\ude00x\"");
    assert_canonical("\"\\uDBFF\"", "\"\\udbff\"");
    assert_canonical("\"\\uD800\\u0041\"", "\"\\ud800A\"");
}

static void keys_are_sorted_by_their_decoded_bytes(void **state)
{
    (void)state;
    assert_canonical(" { \"b\" : 1 , \"a\" : [ { \"z\":0 , \"\\u0079\":1 } ] } ",
                     "{\"a\":[{\"y\":1,\"z\":0}],\"b\":1}");
    assert_canonical("{\"aa\":1,\"a\":2,\"\":3,\"\\u00e9\":4,\"z\":5,\"Z\":6}",
                     "{\"\":3,\"Z\":6,\"a\":2,\"aa\":1,\"z\":5,\"é\":4}");
    /* UTF-8 order is code point order; UTF-16 order would swap them. */
    assert_canonical("{\"\\uffee\":1,\"\\ud83d\\ude00\":2}", "{\"\xEF\xBF\xAE\":1,\"😀\":2}");
}

static void the_last_of_equal_keys_is_kept(void **state)
{
    (void)state;
    assert_canonical("{\"a\":1,\"b\":2,\"\\u0061\":3}", "{\"a\":3,\"b\":2}");
    assert_canonical("{\"a\":{\"x\":1},\"a\":[],\"a\":{}}", "{\"a\":{}}");
}

static void every_kind_is_written(void **state)
{
    (void)state;
    assert_canonical("[ null , true,false, [ ], { } , \"\" ]", "[null,true,false,[],{},\"\"]");
    assert_canonical(" 1 ", "1");
    assert_canonical("[[1,2],[3,[4]],5]", "[[1,2],[3,[4]],5]");
}

static void depth_is_no_problem(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text, once;
    pl_buf_init(&text, 0);
    pl_buf_init(&once, 0);
    for (int i = 0; i < 2400; i++)
        pl_buf_adds(&text, "{\"b\":0,\"a\":[");
    for (int i = 0; i < 2400; i++)
        pl_buf_adds(&text, "]}");
    canonical(&once, pl_buf_str(&text));
    assert_int_equal(once.len, text.len);
    assert_true(pl_str_starts(pl_buf_str(&once), PL_STR("{\"a\":[{\"a\":[")));
}

/* Twenty thousand keys, reversed, twice: a quadratic sort would be noticed. */
static void a_large_object_is_sorted(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text, once, expected;
    pl_buf_init(&text, 0);
    pl_buf_init(&once, 0);
    pl_buf_init(&expected, 0);
    enum { N = 20000 };
    for (int i = 2 * N; i-- > 0;)
        pl_buf_addf(&text, "%c\"key%08d\":%d", i == 2 * N - 1 ? '{' : ',', i % N, i);
    pl_buf_addc(&text, '}');
    for (int i = 0; i < N; i++)
        pl_buf_addf(&expected, "%c\"key%08d\":%d", i ? ',' : '{', i, i);
    pl_buf_addc(&expected, '}');
    canonical(&once, pl_buf_str(&text));
    assert_true(pl_str_eq(pl_buf_str(&once), pl_buf_str(&expected)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_one_spelling),
        cmocka_unit_test(a_canonical_number_is_never_too_long_to_read),
        cmocka_unit_test(strings_have_the_fewest_escapes),
        cmocka_unit_test(keys_are_sorted_by_their_decoded_bytes),
        cmocka_unit_test(the_last_of_equal_keys_is_kept),
        cmocka_unit_test(every_kind_is_written),
        cmocka_unit_test(depth_is_no_problem),
        cmocka_unit_test(a_large_object_is_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

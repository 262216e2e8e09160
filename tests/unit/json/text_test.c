/* Strings: what escapes stand for, comparison without decoding, quoting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/text.h"

#include <stdlib.h>

/* spelled (with quotes), decoded, code points */
static const struct {
    const char *spelled;
    struct pl_str text;
    size_t n_points;
} strings[] = {
    {"\"\"", {"", 0}, 0},
    {"\"plain\"", {"plain", 5}, 5},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", {"\"\\/\b\f\n\r\t", 8}, 8},
    {"\"\\u0041\\u00e9\\u4e2d\"", {"Aé中", 6}, 3},
    {"\"\\ud83d\\ude00!\"", {"😀!", 5}, 2},
    {"\"\\u0000x\"", {"\0x", 2}, 2},
    {"\"中文 ünd\"", {"中文 ünd", 11}, 6},
    {"\"\\ud83d x\"", {"\xEF\xBF\xBD x", 5}, 3},
    {"\"\\ude00\\ud83d\"", {"\xEF\xBF\xBD\xEF\xBF\xBD", 6}, 2},
};
enum { N_STRINGS = sizeof strings / sizeof *strings };

static struct pl_json_doc parse(struct pl_arena *arena, const char *text)
{
    struct pl_json_doc doc = {0};
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    assert_int_equal(pl_json_parse(arena, pl_str_of(text), &opts, &doc, NULL), PL_OK);
    return doc;
}

static void escapes_decode_to_what_they_stand_for(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (int i = 0; i < N_STRINGS; i++) {
        struct pl_json_doc doc = parse(&arena, strings[i].spelled);
        struct pl_str text;
        assert_int_equal(pl_json_text(&arena, &doc, doc.root, &text), PL_OK);
        assert_true(pl_str_eq(text, strings[i].text));
        assert_int_equal(pl_json_text_count(&doc, doc.root), strings[i].n_points);
    }
}

static void a_string_without_escapes_is_a_view_of_the_source(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc = parse(&arena, "\"as it is\"");
    struct pl_str text;
    assert_int_equal(pl_json_text(&arena, &doc, doc.root, &text), PL_OK);
    assert_ptr_equal(text.ptr, doc.text.ptr + 1);
}

static void strings_compare_by_what_they_say(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (int i = 0; i < N_STRINGS; i++)
        for (int j = 0; j < N_STRINGS; j++) {
            struct pl_json_doc a = parse(&arena, strings[i].spelled);
            struct pl_json_doc b = parse(&arena, strings[j].spelled);
            int expected = pl_str_cmp(strings[i].text, strings[j].text);
            int actual = pl_json_text_cmp(&a, a.root, &b, b.root);
            assert_int_equal((actual > 0) - (actual < 0), (expected > 0) - (expected < 0));
            assert_int_equal(pl_json_text_same(&a, a.root, &b, b.root), expected == 0);
            assert_int_equal(pl_json_text_is(&a, a.root, strings[j].text), expected == 0);
        }
}

static void a_keys_hash_does_not_depend_on_its_spelling(void **state)
{
    (void)state;
    static const char *const keys[] = {"",
                                       "a",
                                       "ab",
                                       "abc",
                                       "abcd",
                                       "sevenof",
                                       "eightof8",
                                       "nineof999",
                                       "fifteen_of_them",
                                       "a_key_of_twenty_one__"};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t escaped = 0; escaped <= strlen(keys[i]); escaped++) {
            PL_CLEANUP_BUF struct pl_buf buf;
            pl_buf_init(&buf, 0);
            pl_buf_adds(&buf, "{\"");
            for (size_t k = 0; keys[i][k]; k++)
                pl_buf_addf(&buf, k < escaped ? "\\u%04x" : "%c", (unsigned char)keys[i][k]);
            pl_buf_adds(&buf, "\":1}");
            pl_buf_addc(&buf, 0);
            struct pl_json_doc doc = parse(&arena, buf.ptr);
            assert_int_equal(pl_json_key_hash_of(doc.root + 1),
                             pl_json_key_hash(pl_str_of(keys[i])));
        }
}

static void quoting_and_reading_again_gives_the_same_text(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (int c = 0; c < 0x800; c++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        pl_buf_init(&buf, 0);
        char bytes[3] = {(char)c, 'x'};
        size_t n = c < 0x80 ? 1 : 2;
        if (c >= 0x80) {
            bytes[0] = (char)(0xC0 | c >> 6);
            bytes[1] = (char)(0x80 | (c & 0x3F));
        }
        pl_json_quote(&buf, (struct pl_str){bytes, n});
        pl_buf_addc(&buf, 0);
        struct pl_json_doc doc = parse(&arena, buf.ptr);
        assert_true(pl_json_text_is(&doc, doc.root, (struct pl_str){bytes, n}));
    }
}

static void quoting_escapes_only_what_must_be(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    pl_json_quote(&buf, PL_STR("a/b\"\\\n\x01\x7f中"));
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("\"a/b\\\"\\\\\\n\\u0001\x7f中\"")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_decode_to_what_they_stand_for),
        cmocka_unit_test(a_string_without_escapes_is_a_view_of_the_source),
        cmocka_unit_test(strings_compare_by_what_they_say),
        cmocka_unit_test(a_keys_hash_does_not_depend_on_its_spelling),
        cmocka_unit_test(quoting_and_reading_again_gives_the_same_text),
        cmocka_unit_test(quoting_escapes_only_what_must_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

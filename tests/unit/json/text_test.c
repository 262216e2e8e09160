/* Strings: the meaning of escapes, comparison without decoding, quoting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "json/text.h"

#include <stdlib.h>

/* raw (with quotes), decoded, code points */
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

/* Quoting and decoding work on blocks: special characters may be anywhere in one. */
enum { PLACES = 80 };

static void quoting_and_decoding_work_at_every_place(void **state)
{
    (void)state;
    static const char *const specials[] = {"\"", "\\", "\n", "\x01", "\"\\", "\t\""};
    static const char *const spelled[] = {"\\\"", "\\\\", "\\n", "\\u0001", "\\\"\\\\", "\\t\\\""};
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++)
        for (size_t before = 0; before < PLACES; before++) {
            size_t n = strlen(specials[k]), after = PLACES - before;
            char text[2 * PLACES + 8], wanted[2 * PLACES + 16], decoded[2 * PLACES + 16];
            memset(text, 'a', sizeof text);
            memset(wanted, 'a', sizeof wanted);
            memcpy(text + before, specials[k], n);
            wanted[0] = '"';
            memcpy(wanted + 1 + before, spelled[k], strlen(spelled[k]));
            size_t len = before + n + after, wanted_len = 2 + before + strlen(spelled[k]) + after;
            wanted[wanted_len - 1] = '"';
            PL_CLEANUP_BUF struct pl_buf whole, slice;
            pl_buf_init(&whole, 0);
            pl_buf_init(&slice, 0);
            for (enum pl_cpu cpu = 0; cpu < PL_CPU_COUNT; cpu++) {
                if (!pl_cpu_has(cpu))
                    continue;
                pl_buf_clear(&whole);
                pl_json_quote_with(cpu, &whole, (struct pl_str){text, len});
                assert_int_equal(whole.len, wanted_len);
                assert_memory_equal(whole.ptr, wanted, wanted_len);
            }
            pl_json_quote_slice(&slice, ',', (struct pl_str){text, sizeof text}, 0, len);
            assert_int_equal(slice.len, wanted_len + 1);
            assert_int_equal(slice.ptr[0], ',');
            assert_memory_equal(slice.ptr + 1, wanted, wanted_len);
            struct pl_str raw = {whole.ptr + 1, whole.len - 2};
            for (enum pl_cpu cpu = 0; cpu < PL_CPU_COUNT; cpu++) {
                if (!pl_cpu_has(cpu))
                    continue;
                assert_int_equal(pl_json_decode_with(cpu, decoded, raw), len);
                assert_memory_equal(decoded, text, len);
            }
        }
}

/* Decoding may use exactly the room it has: the memory has no spare byte. */
static void every_instruction_set_decodes_alike(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "\\u4e2d", "\\ud83d\\ude00", "\\ud83d", "\\\\", "\\\\u0041", "\\/\\b\\f\\n\\r\\t",
        "\\\"",    "plain words",    "x",       "中",
    };
    unsigned seed = 3;
    for (int i = 0; i < 20000; i++) {
        PL_CLEANUP_BUF struct pl_buf raw;
        pl_buf_init(&raw, 0);
        for (int k = 0; k < i % 40; k++) {
            seed = seed * 1103515245u + 12345u;
            pl_buf_adds(&raw, pieces[(seed >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        PL_CLEANUP_FREE char *first = pl_mem_alloc(raw.len + 1, 1);
        PL_CLEANUP_FREE char *other = pl_mem_alloc(raw.len + 1, 1);
        size_t n = pl_json_decode_with(PL_CPU_SCALAR, first, pl_buf_str(&raw));
        for (enum pl_cpu cpu = 1; cpu < PL_CPU_COUNT; cpu++) {
            if (!pl_cpu_has(cpu))
                continue;
            other[raw.len] = '!';
            assert_int_equal(pl_json_decode_with(cpu, other, pl_buf_str(&raw)), n);
            assert_memory_equal(other, first, n);
            assert_int_equal(other[raw.len], '!');
        }
    }
}

/* Bytes after the text may be read; at most PL_JSON_SLACK bytes may be written after the result. */
static void escaping_writes_what_quoting_does(void **state)
{
    (void)state;
    static const char pattern[] = "ab\\\"c'~\\n\x01 d\xC3\xA9\"\"\\\\";
    char text[160];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = pattern[i % (sizeof pattern - 1)];
    for (size_t from = 0; from < 20; from++)
        for (size_t len = 0; from + len <= sizeof text; len++) {
            struct pl_str part = {text + from, len};
            PL_CLEANUP_BUF struct pl_buf quoted;
            pl_buf_init(&quoted, 0);
            pl_json_quote_with(PL_CPU_SCALAR, &quoted, part);
            char *to = pl_mem_alloc(quoted.len - 2 + PL_JSON_SLACK, 1);
            assert_non_null(to);
            char *end = pl_json_escape_text(to, part, text + sizeof text);
            assert_int_equal(end - to, quoted.len - 2);
            assert_memory_equal(to, quoted.ptr + 1, quoted.len - 2);
            pl_mem_free(to);
        }
}

static void every_instruction_set_quotes_alike(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int i = 0; i < 20000; i++) {
        char text[100];
        size_t len = (size_t)i % sizeof text;
        for (size_t k = 0; k < len; k++) {
            seed = seed * 1103515245u + 12345u;
            text[k] = (char)(seed >> 16 & (i % 3 ? 0x3F : 0xFF));
        }
        PL_CLEANUP_BUF struct pl_buf first;
        pl_buf_init(&first, 0);
        pl_json_quote_with(PL_CPU_SCALAR, &first, (struct pl_str){text, len});
        for (enum pl_cpu cpu = 1; cpu < PL_CPU_COUNT; cpu++) {
            PL_CLEANUP_BUF struct pl_buf other;
            pl_buf_init(&other, 0);
            if (!pl_cpu_has(cpu))
                continue;
            pl_json_quote_with(cpu, &other, (struct pl_str){text, len});
            assert_true(pl_str_eq(pl_buf_str(&first), pl_buf_str(&other)));
        }
    }
}

static void quoting_uses_the_last_byte_a_buffer_may_have(void **state)
{
    (void)state;
    static const char text[] = "a \"word\" and another";
    PL_CLEANUP_BUF struct pl_buf enough, short_of_one;
    pl_buf_init(&enough, sizeof text - 1 + 4);
    pl_buf_init(&short_of_one, sizeof text - 1 + 3);
    pl_json_quote(&enough, PL_STR(text));
    assert_int_equal(enough.status, PL_OK);
    assert_int_equal(enough.len, sizeof text - 1 + 4);
    pl_json_quote(&short_of_one, PL_STR(text));
    assert_int_equal(short_of_one.status, PL_LIMIT);
    assert_int_equal(short_of_one.len, 0);
}

static void only_escapes_that_need_not_be_are_odd(void **state)
{
    (void)state;
    static const struct {
        const char *spelled;
        bool is_odd;
    } cases[] = {
        {"\"plain\"", false},          {"\"\\\" \\\\ \\b \\f \\n \\r \\t\"", false},
        {"\"a\\/b\"", true},           {"\"\\u00e9\"", true},
        {"\"\\n and \\u0001\"", true}, {"\"\\ud83d\\ude00\"", true},
    };
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_json_doc doc = parse(&arena, cases[i].spelled);
        assert_int_equal((doc.root->tag & PL_JSON_ODD) != 0, cases[i].is_odd);
    }
}

static void what_is_no_string_has_no_text(void **state)
{
    (void)state;
    static const char *const others[] = {"5",  "-0.5", "null",    "true",         "false",
                                         "[]", "{}",   "[\"x\"]", "{\"a\":\"b\"}"};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc empty = parse(&arena, "\"\"");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct pl_json_doc doc = parse(&arena, others[i]);
        struct pl_str text = PL_STR("?");
        assert_int_equal(pl_json_raw(&doc, doc.root).len, 0);
        assert_int_equal(pl_json_text(&arena, &doc, doc.root, &text), PL_OK);
        assert_int_equal(text.len, 0);
        assert_int_equal(pl_json_text_count(&doc, doc.root), 0);
        struct pl_json_walk walk = pl_json_walk(&doc, doc.root);
        assert_int_equal(pl_json_walk_next(&walk), -1);
        /* … which is not an empty text. */
        assert_false(pl_json_text_is(&doc, doc.root, PL_STR("")));
        assert_false(pl_json_key_is(&doc, doc.root, PL_STR("")));
        assert_false(pl_json_text_same(&doc, doc.root, &empty, empty.root));
    }
}

static void half_of_a_surrogate_pair_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool has_half;
    } cases[] = {
        {"\"plain\"", false},
        {"\"\\ud83d\\ude00\"", false},
        {"\"\\ufffd\\\\ud800\"", false},
        {"\"\\ud800\"", true},
        {"\"\\udc00\"", true},
        {"\"\\ud83dx\\ude00\"", true},
        {"\"\\ud800\\ud800\"", true},
        {"\"a\\n\\uDBFF\\n\"", true},
        {"\"\\ud83d\\ude00\\ude00\"", true},
        {"\"\\ud83d\\u0041\"", true},
        {"5", false},
        {"[\"\\ud800\"]", false},
    };
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_str_of(cases[i].json), &pl_json_any, &doc, NULL),
                         PL_OK);
        assert_int_equal(pl_json_has_half(&doc, doc.root), cases[i].has_half);
    }
}

static void only_an_object_has_members(void **state)
{
    (void)state;
    static const char *const others[] = {"5", "\"x\"", "[]", "{}", "[1,[2],{\"a\":3}]"};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct pl_json_doc doc = parse(&arena, others[i]);
        assert_ptr_equal(pl_json_first_member(doc.root), pl_json_end(doc.root));
    }
    struct pl_json_doc doc = parse(&arena, "{\"a\":1}");
    assert_ptr_equal(pl_json_first_member(doc.root), doc.root + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoting_and_decoding_work_at_every_place),
        cmocka_unit_test(every_instruction_set_decodes_alike),
        cmocka_unit_test(every_instruction_set_quotes_alike),
        cmocka_unit_test(escaping_writes_what_quoting_does),
        cmocka_unit_test(quoting_uses_the_last_byte_a_buffer_may_have),
        cmocka_unit_test(only_escapes_that_need_not_be_are_odd),
        cmocka_unit_test(escapes_decode_to_what_they_stand_for),
        cmocka_unit_test(a_string_without_escapes_is_a_view_of_the_source),
        cmocka_unit_test(strings_compare_by_what_they_say),
        cmocka_unit_test(a_keys_hash_does_not_depend_on_its_spelling),
        cmocka_unit_test(quoting_and_reading_again_gives_the_same_text),
        cmocka_unit_test(quoting_escapes_only_what_must_be),
        cmocka_unit_test(what_is_no_string_has_no_text),
        cmocka_unit_test(half_of_a_surrogate_pair_is_found),
        cmocka_unit_test(only_an_object_has_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

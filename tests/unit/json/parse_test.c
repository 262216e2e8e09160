/* The parser: the shape of the tree, every limit one step over, the position of every error, and
 * the same results from every instruction set wherever a chunk or block ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "json/parse/index.h"
#include "json/json.h"
#include "json/text.h"

#include <stdio.h>
#include <stdlib.h>

struct parsed {
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_error err;
    enum pl_status status;
};

static struct parsed parse_with(struct pl_str text, const struct pl_json_opts *opts)
{
    struct parsed p = {0};
    pl_arena_init(&p.arena, 0);
    p.status = pl_json_parse(&p.arena, text, opts, &p.doc, &p.err);
    return p;
}

static struct parsed parse(const char *text)
{
    return parse_with(pl_str_of(text), NULL);
}

static void assert_fails(const char *text, enum pl_status status, size_t offset,
                         const char *pointer, const char *words)
{
    struct parsed p = parse(text);
    assert_int_equal(p.status, status);
    assert_int_equal(p.err.offset, offset);
    assert_string_equal(p.err.pointer, pointer);
    if (!strstr(p.err.message, words))
        fail_msg("\"%s\" does not say \"%s\"", p.err.message, words);
    pl_arena_deinit(&p.arena);
}

static void a_tree_is_its_nodes_in_document_order(void **state)
{
    (void)state;
    struct parsed p = parse(" {\"a\":[1,-2.5e3],\"b\":{\"c\":null}} ");
    assert_int_equal(p.status, PL_OK);
    static const struct {
        uint32_t off, len, skip, kind, count;
    } expected[] = {
        {1, 31, 9, PL_JSON_OBJECT, 2},  {2, 3, 1, PL_JSON_STRING, 0},
        {6, 10, 3, PL_JSON_ARRAY, 2},   {7, 1, 1, PL_JSON_NUMBER, 0},
        {9, 6, 1, PL_JSON_NUMBER, 0},   {17, 3, 1, PL_JSON_STRING, 0},
        {21, 10, 3, PL_JSON_OBJECT, 1}, {22, 3, 1, PL_JSON_STRING, 0},
        {26, 4, 1, PL_JSON_NULL, 0},
    };
    assert_int_equal(p.doc.n_nodes, 9);
    assert_int_equal(p.doc.n_space, 2);
    for (uint32_t i = 0; i < 9; i++) {
        const struct pl_json_node *n = &p.doc.root[i];
        assert_int_equal(n->off, expected[i].off);
        assert_int_equal(n->len, expected[i].len);
        assert_int_equal(n->skip, expected[i].skip);
        assert_int_equal(pl_json_kind(n), expected[i].kind);
        if (pl_json_is_container(n))
            assert_int_equal(pl_json_count(n), expected[i].count);
    }
    assert_true(p.doc.root[3].tag & PL_JSON_INTEGER);
    assert_false(p.doc.root[4].tag & PL_JSON_INTEGER);
    assert_true(p.doc.root[1].tag & PL_JSON_KEY);
    assert_false(p.doc.root[8].tag & PL_JSON_KEY);
    pl_arena_deinit(&p.arena);
}

static void a_member_is_found_by_its_decoded_key(void **state)
{
    (void)state;
    struct parsed p =
        parse("{\"plain\":1,\"t\\u0065mperature\":2,\"\":3,\"\\u4e2d\\ud83d\\ude00\":4}");
    assert_int_equal(p.status, PL_OK);
    static const struct {
        const char *key;
        char value;
    } members[] = {{"plain", '1'}, {"temperature", '2'}, {"", '3'}, {"中😀", '4'}};
    for (size_t i = 0; i < 4; i++) {
        const struct pl_json_node *n = pl_json_get(&p.doc, p.doc.root, pl_str_of(members[i].key));
        assert_non_null(n);
        assert_int_equal(pl_json_span(&p.doc, n).ptr[0], members[i].value);
    }
    assert_null(pl_json_get(&p.doc, p.doc.root, PL_STR("plai")));
    assert_null(pl_json_get(&p.doc, p.doc.root + 2, PL_STR("plain")));
    pl_arena_deinit(&p.arena);
}

static void an_error_has_its_place_and_pointer(void **state)
{
    (void)state;
    assert_fails("", PL_SYNTAX, 0, "", "found the end of the text");
    assert_fails("{\"a\":{\"b\":[1,2,x]}}", PL_SYNTAX, 15, "/a/b/2",
                 "expected a value, but found 'x'");
    assert_fails("{\"a\":1,}", PL_SYNTAX, 7, "", "trailing comma");
    assert_fails("[1,]", PL_SYNTAX, 3, "/1", "trailing comma");
    assert_fails("[1 2]", PL_SYNTAX, 3, "", "',' or ']'");
    assert_fails("{\"a\" 1}", PL_SYNTAX, 5, "/a", "':'");
    assert_fails("{\"a~/b\":[tru]}", PL_SYNTAX, 9, "/a~0~1b/0", "'tru'");
    assert_fails("[1] x", PL_SYNTAX, 4, "", "expected the end of the text");
    assert_fails("[\"abc", PL_SYNTAX, 1, "/0", "not closed");
    assert_fails("[\"a\x01z\"]", PL_SYNTAX, 3, "/0", "\\u0001");
    assert_fails("[\"a\xff\"]", PL_SYNTAX, 3, "/0", "invalid UTF-8");
    assert_fails("[\"\\x\"]", PL_SYNTAX, 2, "/0", "unknown escape");
    assert_fails("[\"\\u12g4\"]", PL_SYNTAX, 2, "/0", "four hexadecimal digits");
    assert_fails("[01]", PL_SYNTAX, 1, "/0", "leading zeros");
    assert_fails("[1.]", PL_SYNTAX, 1, "/0", "a number");
    assert_fails("{'a':1}", PL_SYNTAX, 1, "", "double quotes");
    assert_fails("// x\n1", PL_SYNTAX, 0, "", "no comments");
}

static void lines_and_columns_count_from_one_in_characters(void **state)
{
    (void)state;
    struct parsed p = parse("{\n  \"中文\": 1,\n  \"é\": ?\n}");
    assert_int_equal(p.status, PL_SYNTAX);
    assert_int_equal(p.err.line, 3);
    assert_int_equal(p.err.column, 8);
    pl_arena_deinit(&p.arena);
}

static void duplicate_keys_are_refused_however_they_are_spelled(void **state)
{
    (void)state;
    assert_fails("{\"a\":1,\"b\":2,\"a\":3}", PL_SYNTAX, 13, "/a", "duplicate key \"a\"");
    assert_fails("{\"a\":1,\"\\u0061\":3}", PL_SYNTAX, 7, "/a", "duplicate key");
    struct parsed p = parse_with(PL_STR("{\"a\":1,\"a\":3}"),
                                 &(struct pl_json_opts){.allows_duplicate_keys = true});
    assert_int_equal(p.status, PL_OK);
    const struct pl_json_node *last = pl_json_get(&p.doc, p.doc.root, PL_STR("a"));
    assert_int_equal(pl_json_span(&p.doc, last).ptr[0], '3');
    pl_arena_deinit(&p.arena);
}

/* {"k0":0,"k1":0,…}, and one more key after them. */
static struct pl_str object_of(struct pl_buf *buf, int n_keys, const char *last_key)
{
    pl_buf_addc(buf, '{');
    for (int i = 0; i < n_keys; i++)
        pl_buf_addf(buf, "\"k%d\":0,", i);
    pl_buf_addf(buf, "\"%s\":0}", last_key);
    assert_int_equal(buf->status, PL_OK);
    return pl_buf_str(buf);
}

static void a_duplicate_is_found_among_any_number_of_keys(void **state)
{
    (void)state;
    static const int sizes[] = {1, 7, 31, 32, 33, 64, 500, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        PL_CLEANUP_BUF struct pl_buf good, bad;
        pl_buf_init(&good, 0);
        pl_buf_init(&bad, 0);
        struct parsed p = parse_with(object_of(&good, sizes[i], "other"), NULL);
        assert_int_equal(p.status, PL_OK);
        assert_int_equal(pl_json_count(p.doc.root), sizes[i] + 1);
        pl_arena_deinit(&p.arena);
        p = parse_with(object_of(&bad, sizes[i], "k\\u0030"), NULL);
        assert_int_equal(p.status, PL_SYNTAX);
        assert_non_null(strstr(p.err.message, "duplicate"));
        pl_arena_deinit(&p.arena);
        pl_buf_deinit(&bad);
    }
}

static struct pl_str nested(struct pl_buf *buf, int depth)
{
    pl_buf_fill(buf, '[', (size_t)depth);
    pl_buf_fill(buf, ']', (size_t)depth);
    return pl_buf_str(buf);
}

static void depth_has_a_limit_and_no_c_stack(void **state)
{
    (void)state;
    static const struct {
        int depth;
        uint32_t max_depth;
        enum pl_status status;
    } cases[] = {
        {64, 0, PL_OK},   {65, 0, PL_LIMIT},         {1000000, 0, PL_LIMIT},       {5, 5, PL_OK},
        {6, 5, PL_LIMIT}, {1000000, 1000000, PL_OK}, {1000001, 1000000, PL_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        pl_buf_init(&buf, 0);
        struct parsed p = parse_with(nested(&buf, cases[i].depth),
                                     &(struct pl_json_opts){.max_depth = cases[i].max_depth});
        assert_int_equal(p.status, cases[i].status);
        if (p.status == PL_LIMIT)
            assert_int_equal(p.err.offset, cases[i].max_depth ? cases[i].max_depth : 64);
        pl_arena_deinit(&p.arena);
    }
}

static void nodes_have_a_limit(void **state)
{
    (void)state;
    struct pl_json_opts opts = {.max_nodes = 4};
    struct parsed p = parse_with(PL_STR("[1,2,3]"), &opts);
    assert_int_equal(p.status, PL_OK);
    pl_arena_deinit(&p.arena);
    p = parse_with(PL_STR("[1,2,3,4]"), &opts);
    assert_int_equal(p.status, PL_LIMIT);
    assert_non_null(strstr(p.err.message, "more than 4 values"));
    pl_arena_deinit(&p.arena);
}

static void two_million_nodes_are_allowed_and_not_one_more(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    pl_buf_adds(&buf, "[1");
    for (int i = 2; i < 2000000; i++)
        pl_buf_adds(&buf, ",1");
    pl_buf_addc(&buf, ']');
    struct parsed p = parse_with(pl_buf_str(&buf), NULL);
    assert_int_equal(p.status, PL_OK);
    assert_int_equal(p.doc.n_nodes, 2000000);
    pl_arena_deinit(&p.arena);
    buf.len--;
    pl_buf_adds(&buf, ",1]");
    p = parse_with(pl_buf_str(&buf), NULL);
    assert_int_equal(p.status, PL_LIMIT);
    pl_arena_deinit(&p.arena);
}

static void a_number_may_have_128_characters(void **state)
{
    (void)state;
    for (size_t len = 127; len <= 130; len++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        pl_buf_init(&buf, 0);
        pl_buf_fill(&buf, '9', len);
        struct parsed p = parse_with(pl_buf_str(&buf), NULL);
        assert_int_equal(p.status, len <= 128 ? PL_OK : PL_LIMIT);
        pl_arena_deinit(&p.arena);
    }
}

static void surrogates_must_come_in_pairs_unless_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_pair;
    } cases[] = {
        {"\"\\ud83d\\ude00\"", true},
        {"\"\\ud83d\"", false},
        {"\"\\ude00\"", false},
        {"\"\\ud83d\\ud83d\\ude00\"", false},
        {"\"\\ud83dx\\ude00\"", false},
        {"\"\\ud83d\\n\"", false},
        {"\"\\ud83d\\ude00\\ude00\"", false},
        {"\"\\uD83D\\uDE00\"", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parsed p = parse(cases[i].text);
        assert_int_equal(p.status, cases[i].is_pair ? PL_OK : PL_SYNTAX);
        pl_arena_deinit(&p.arena);
        p = parse_with(pl_str_of(cases[i].text),
                       &(struct pl_json_opts){.allows_lone_surrogates = true});
        assert_int_equal(p.status, PL_OK);
        pl_arena_deinit(&p.arena);
    }
}

static void a_nul_escape_is_refused_where_it_is_asked(void **state)
{
    (void)state;
    struct parsed p = parse("\"\\u0000\"");
    assert_int_equal(p.status, PL_OK);
    pl_arena_deinit(&p.arena);
    p = parse_with(PL_STR("\"a\\u0000\""), &(struct pl_json_opts){.refuses_nul = true});
    assert_int_equal(p.status, PL_SYNTAX);
    assert_int_equal(p.err.offset, 2);
    pl_arena_deinit(&p.arena);
    p = parse_with(PL_STR("[\0]"), NULL);
    assert_int_equal(p.status, PL_SYNTAX);
    assert_int_equal(p.err.offset, 1);
    pl_arena_deinit(&p.arena);
}

static void assert_same_everywhere(struct pl_str text)
{
    struct parsed first = {0};
    for (enum pl_cpu cpu = 0; cpu < PL_CPU_COUNT; cpu++) {
        if (!pl_cpu_has(cpu))
            continue;
        struct parsed p = parse_with(text, &(struct pl_json_opts){.has_cpu = true, .cpu = cpu});
        if (cpu == PL_CPU_SCALAR) {
            first = p;
            continue;
        }
        assert_int_equal(p.status, first.status);
        assert_int_equal(p.err.offset, first.err.offset);
        assert_string_equal(p.err.message, first.err.message);
        assert_string_equal(p.err.pointer, first.err.pointer);
        assert_int_equal(p.doc.n_nodes, first.doc.n_nodes);
        assert_int_equal(p.doc.n_space, first.doc.n_space);
        if (p.status == PL_OK)
            assert_memory_equal(p.doc.root, first.doc.root, p.doc.n_nodes * sizeof *p.doc.root);
        pl_arena_deinit(&p.arena);
    }
    pl_arena_deinit(&first.arena);
}

/* Every interesting piece moves across the edges of a block and of a chunk. */
static void a_cut_anywhere_changes_nothing(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "\"\\\\\\\"x\\u4e2d\\ud83d\\ude00\"",
        "\"中文😀\"",
        "-12.5e+10",
        "{\"k\\u0065y\":[true,null]}",
        "\"\\ud83d\"",
        "\"\\\"",
        "\"\xe4\xb8",
        "tru",
        "\"a\nb\"",
        "\"\xf0\x9f\x98\"",
        "12..5",
        "[\"\\\\\"]",
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t edge = PL_JSON_BLOCK; edge <= PL_JSON_CHUNK;
             edge = edge == PL_JSON_BLOCK ? PL_JSON_CHUNK : edge + 1)
            for (size_t before = edge - 40; before < edge + 4; before++) {
                PL_CLEANUP_BUF struct pl_buf buf;
                pl_buf_init(&buf, 0);
                pl_buf_adds(&buf, "[\"");
                pl_buf_fill(&buf, 'f', before - 5);
                pl_buf_adds(&buf, "\", ");
                pl_buf_adds(&buf, pieces[i]);
                pl_buf_adds(&buf, ",\"after\"]");
                assert_same_everywhere(pl_buf_str(&buf));
            }
}

/* After common escapes, at every place of a block, in a string that continues or ends. */
static void an_escape_with_any_letter_is_looked_at_wherever_it_stands(void **state)
{
    (void)state;
    for (int letter = 1; letter < 256; letter++)
        for (size_t before = 0; before < 2 * PL_JSON_BLOCK; before += letter < 128 ? 1 : 9) {
            PL_CLEANUP_BUF struct pl_buf buf;
            pl_buf_init(&buf, 0);
            pl_buf_adds(&buf, "[\"plain\",\"\\n\\\\");
            pl_buf_fill(&buf, '-', before);
            pl_buf_addc(&buf, '\\');
            pl_buf_addc(&buf, (char)letter);
            pl_buf_adds(&buf, letter % 2 ? "\"]" : " \\t, and on and on\",\"\"]");
            assert_same_everywhere(pl_buf_str(&buf));
            struct parsed p = parse_with(pl_buf_str(&buf), NULL);
            assert_int_equal(p.status, strchr("\"\\/bfnrt", letter) ? PL_OK : PL_SYNTAX);
            pl_arena_deinit(&p.arena);
        }
}

/* A small generator of JSON-like noise: valid more often than not, wrong in every way. */
static void put_noise(struct pl_buf *buf, unsigned *seed, int n)
{
    static const char *const pieces[] = {
        "{",  "}",     "[",        "]",         ":",     ",",        "\"",   "\\",          " ",
        "\n", "\"a\"", "\"b\\n\"", "true",      "null",  "-1.5",     "0",    "\"\\u00e9\"", "é",
        "\t", "\x0c",  "\x1a",     "{\"k\":1}", "[1,2]", "\"\\\\\"", "\\\"", "\x80",
    };
    for (int i = 0; i < n; i++) {
        *seed = *seed * 1103515245u + 12345u;
        pl_buf_adds(buf, pieces[(*seed >> 16) % (sizeof pieces / sizeof *pieces)]);
    }
}

static void every_instruction_set_agrees_on_noise(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int i = 0; i < 20000; i++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        pl_buf_init(&buf, 0);
        if (i % 2)
            pl_buf_adds(&buf, "[\"start\",");
        put_noise(&buf, &seed, i % 90);
        assert_same_everywhere(pl_buf_str(&buf));
    }
}

static void a_failed_parse_leaves_the_document_alone(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc = {.n_nodes = 42};
    assert_int_equal(pl_json_parse(&arena, PL_STR("[1"), NULL, &doc, NULL), PL_SYNTAX);
    assert_int_equal(doc.n_nodes, 42);
    assert_null(doc.root);
}

static void an_arena_that_is_too_small_is_out_of_memory(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 64);
    struct pl_json_doc doc;
    struct pl_error err;
    assert_int_equal(pl_json_parse(&arena, PL_STR("[1,2,3,4,5,6]"), NULL, &doc, &err), PL_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_its_nodes_in_document_order),
        cmocka_unit_test(a_member_is_found_by_its_decoded_key),
        cmocka_unit_test(an_error_has_its_place_and_pointer),
        cmocka_unit_test(lines_and_columns_count_from_one_in_characters),
        cmocka_unit_test(duplicate_keys_are_refused_however_they_are_spelled),
        cmocka_unit_test(a_duplicate_is_found_among_any_number_of_keys),
        cmocka_unit_test(depth_has_a_limit_and_no_c_stack),
        cmocka_unit_test(nodes_have_a_limit),
        cmocka_unit_test(two_million_nodes_are_allowed_and_not_one_more),
        cmocka_unit_test(a_number_may_have_128_characters),
        cmocka_unit_test(surrogates_must_come_in_pairs_unless_allowed),
        cmocka_unit_test(a_nul_escape_is_refused_where_it_is_asked),
        cmocka_unit_test(a_cut_anywhere_changes_nothing),
        cmocka_unit_test(an_escape_with_any_letter_is_looked_at_wherever_it_stands),
        cmocka_unit_test(every_instruction_set_agrees_on_noise),
        cmocka_unit_test(a_failed_parse_leaves_the_document_alone),
        cmocka_unit_test(an_arena_that_is_too_small_is_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

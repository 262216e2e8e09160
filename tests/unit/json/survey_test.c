/* The first level of an object: every instruction set finds the same places as the parser. */
#include "json/parse/survey.h"

#include "base/buf.h"
#include "json/parse/skip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct pl_json_opts tolerant = {.allows_duplicate_keys = true,
                                             .allows_lone_surrogates = true};

/* Compares with the tree of the whole document. */
static void check(struct pl_str text, enum pl_cpu cpu)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_json_survey survey;
    struct pl_json_opts opts = tolerant;
    opts.has_cpu = true;
    opts.cpu = cpu;
    size_t n_text = 0;
    assert_int_equal(pl_json_parse(&arena, text, &opts, &doc, NULL), PL_OK);
    assert_true(pl_json_survey(&arena, text, &opts, &survey));
    const struct pl_json_node *node = survey.doc.root + 1;
    assert_int_equal(survey.doc.root->off, doc.root->off);
    assert_int_equal(survey.doc.root->len, doc.root->len);
    assert_int_equal(pl_json_count(survey.doc.root), pl_json_count(doc.root));
    for (const struct pl_json_node *k = pl_json_first(doc.root); k < pl_json_end(doc.root);
         k = pl_json_next_member(k), node += 2)
        for (int i = 0; i < 2; i++) {
            assert_int_equal(node[i].off, k[i].off);
            assert_int_equal(node[i].len, k[i].len);
            assert_int_equal(node[i].skip, 1);
            assert_int_equal(node[i].tag & 255, k[i].tag & 255);
        }
    assert_ptr_equal(node, survey.doc.root + survey.doc.n_nodes);
    assert_ptr_equal(survey.doc.text.ptr, text.ptr);
    for (uint32_t i = 0; i < doc.n_nodes; i++)
        if (pl_json_kind(&doc.root[i]) == PL_JSON_STRING && doc.root[i].len < 1000)
            n_text += doc.root[i].len - 1u;
    if (!survey.n_long)
        assert_int_equal(survey.n_text, n_text);
}

static void check_all(struct pl_str text)
{
    for (int cpu = 0; cpu < PL_CPU_COUNT; cpu++)
        if (pl_cpu_has((enum pl_cpu)cpu))
            check(text, (enum pl_cpu)cpu);
}

static bool is_surveyed(const char *text)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_survey survey;
    return pl_json_survey(&arena, pl_str_of(text), &tolerant, &survey);
}

static void it_finds_the_places_the_parser_finds(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        " {\"a\":1} ",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"[{\\\"]\"}],\"n\":[]}",
        "{\"a\":{\"b\":[{},[],{\"c\":\"\\\\\"}]},\"d\":-0.5e3,\"e\":null,\"f\":\"\\\\\",\"g\":{}}",
        "{\"a\\u0062\":[\"\\\\\\\"]\"],\"ab\":true,\"ab\":false}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_all(pl_str_of(texts[i]));
}

/* Quotes, escapes and brackets at every place of a block. */
static void it_does_not_matter_where_the_blocks_are_cut(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (size_t n_shift = 0; n_shift < 70; n_shift++)
        for (size_t n_words = 0; n_words < 200; n_words += 7) {
            pl_buf_clear(&text);
            pl_buf_adds(&text, "{\"a\":[\"");
            pl_buf_fill(&text, 'x', n_shift);
            pl_buf_adds(&text, "\\\\\\\"]}\",{\"b\":\"");
            pl_buf_fill(&text, '\\', 2 * (n_words % 5));
            pl_buf_fill(&text, '[', n_words);
            pl_buf_adds(&text, "\"},[[{\"c\":[]}]]],\"d\":\"e\"}");
            check_all(pl_buf_str(&text));
        }
}

static void long_strings_are_counted_apart(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "{\"a\":[\"");
    pl_buf_fill(&text, 'x', 100000);
    pl_buf_adds(&text, "\",\"short\"],\"b\":\"");
    pl_buf_fill(&text, 'y', 100000);
    pl_buf_adds(&text, "\"}");
    check_all(pl_buf_str(&text));
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_survey survey;
    assert_true(pl_json_survey(&arena, pl_buf_str(&text), &tolerant, &survey));
    assert_int_equal(survey.n_long, 2);
    assert_in_range(survey.n_text, 10, 200);
}

static void what_is_broken_at_the_first_level_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[1]",
        "\"{}\"",
        "{",
        "{\"a\":[}",
        "{\"a\":[]",
        "{\"a\":[\"]}",
        "{\"a\":{\"b\":\"\\\"}}",
        "{\"a\":[]]}",
        "{\"a\":{}}}",
        "{\"a\" []}",
        "{\"a\":[],}",
        "{\"a\":01}",
        "{\"a\":\"\x01\"}",
        "{\"a\":\"\xff\"}",
        "{} x",
        "x {}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(is_surveyed(texts[i]));
}

static void what_is_deeper_is_left_to_its_reader(void **state)
{
    (void)state;
    assert_true(is_surveyed("{\"a\":[1 2 {\"b\"}]}"));
    assert_true(is_surveyed("{\"a\":[tru]}"));
}

/* As many members as usual, and more: then the parser is used. */
static void many_members_are_no_survey(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (int n = 60; n < 70; n++) {
        pl_buf_clear(&text);
        for (int i = 0; i < n; i++)
            pl_buf_addf(&text, "%s\"k%d\":[%d]", i ? "," : "{", i, i);
        pl_buf_addc(&text, '}');
        pl_buf_addc(&text, '\0');
        assert_int_equal(is_surveyed(text.ptr), n <= 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_the_places_the_parser_finds),
        cmocka_unit_test(it_does_not_matter_where_the_blocks_are_cut),
        cmocka_unit_test(long_strings_are_counted_apart),
        cmocka_unit_test(what_is_broken_at_the_first_level_is_refused),
        cmocka_unit_test(what_is_deeper_is_left_to_its_reader),
        cmocka_unit_test(many_members_are_no_survey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

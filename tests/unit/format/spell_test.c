/* Every way a target's value gives a piece of the source back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/spell.h"

#include <stdlib.h>

static void assert_found(const char *target, const char *piece, enum pl_spell expected)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf scratch;
    pl_buf_init(&scratch, 0);
    struct pl_json_doc doc;
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    assert_int_equal(pl_json_parse(&arena, pl_str_of(target), &opts, &doc, NULL), PL_OK);
    enum pl_spell spell = PL_SPELL_COUNT;
    bool is_found = pl_spell_find(&scratch, &doc, doc.root, pl_str_of(piece), &spell);
    assert_int_equal(is_found, expected != PL_SPELL_COUNT);
    assert_int_equal(spell, expected);
    if (!is_found)
        return;
    pl_buf_clear(&scratch);
    assert_true(pl_spell_put(&scratch, &doc, doc.root, spell));
    assert_true(pl_str_eq(pl_buf_str(&scratch), pl_str_of(piece)));
}

static void a_text_is_found_whatever_its_escapes(void **state)
{
    (void)state;
    assert_found("\"plain\"", "\"plain\"", PL_SPELL_TEXT);
    assert_found("\"a\\nb\"", "\"a\\nb\"", PL_SPELL_TEXT);
    assert_found("\"\\u4e2d\"", "\"\\u4e2d\"", PL_SPELL_TEXT_ASCII);
    assert_found("\"\\u4e2d\"", "\"中\"", PL_SPELL_TEXT);
    assert_found("\"中😀\"", "\"\\u4e2d\\ud83d\\ude00\"", PL_SPELL_TEXT_ASCII);
    assert_found("\"a/b\"", "\"a\\/b\"", PL_SPELL_TEXT_SLASH);
    assert_found("\"\\u0041\"", "\"\\u0041\"", PL_SPELL_RAW);
    assert_found("\"x\\ud83d y\"", "\"x\\ud83d y\"", PL_SPELL_RAW);
}

static void numbers_and_containers_are_copied(void **state)
{
    (void)state;
    assert_found("1.50", "1.50", PL_SPELL_RAW);
    assert_found("{\"a\": 1}", "{\"a\": 1}", PL_SPELL_RAW);
}

static void pieces_of_strings_are_found(void **state)
{
    (void)state;
    assert_found("\"QUJD\"", "QUJD", PL_SPELL_INNER);
    assert_found("\"data:image/png;base64,QUJD\"", "QUJD", PL_SPELL_DATA);
    assert_found("\"data:image/png;base64,QUJD\"", "\"QUJD\"", PL_SPELL_DATA_QUOTED);
}

static void json_in_a_string_goes_both_ways(void **state)
{
    (void)state;
    assert_found("{\"a\": \"é\"}", "\"{\\\"a\\\": \\\"é\\\"}\"", PL_SPELL_JSON);
    assert_found("{\"a\": \"é\"}", "\"{\\\"a\\\": \\\"\\u00e9\\\"}\"", PL_SPELL_JSON_ASCII);
    assert_found("\"{\\\"a\\\": 1.0}\"", "{\"a\": 1.0}", PL_SPELL_PARSED);
}

static void what_is_something_else_is_not_found(void **state)
{
    (void)state;
    assert_found("\"a\"", "\"b\"", PL_SPELL_COUNT);
    assert_found("1.5", "1.50", PL_SPELL_COUNT);
}

static void names_lead_back(void **state)
{
    (void)state;
    for (int i = 0; i < PL_SPELL_COUNT; i++) {
        enum pl_spell spell = PL_SPELL_COUNT;
        assert_true(pl_spell_by_name(pl_spell_name((enum pl_spell)i), &spell));
        assert_int_equal(spell, i);
    }
    enum pl_spell spell;
    assert_false(pl_spell_by_name(PL_STR("zz"), &spell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_found_whatever_its_escapes),
        cmocka_unit_test(numbers_and_containers_are_copied),
        cmocka_unit_test(pieces_of_strings_are_found),
        cmocka_unit_test(json_in_a_string_goes_both_ways),
        cmocka_unit_test(what_is_something_else_is_not_found),
        cmocka_unit_test(names_lead_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Matching elements of two lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "carry/match.h"
#include "format/source.h"

/* For each new element the index of its partner, followed by "!" if it changed and by ">" if it
 * moved; "-" if it has none. */
static void match(const char *a, const char *b, const char *wanted)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf is;
    struct pl_json_doc a_doc, b_doc;
    struct pl_match m;
    pl_arena_init(&arena, 0);
    pl_buf_init(&is, 0);
    assert_int_equal(pl_source_parse(&arena, pl_str_of(a), &a_doc, NULL), PL_OK);
    assert_int_equal(pl_source_parse(&arena, pl_str_of(b), &b_doc, NULL), PL_OK);
    struct pl_match_list olds = {.doc = &a_doc, .list = a_doc.root},
                         news = {.doc = &b_doc, .list = b_doc.root};
    assert_int_equal(pl_match_lists(&m, &arena, &olds, &news, PL_SAME_TEXT, NULL), PL_OK);
    for (uint32_t j = 0; j < m.new_side.n; j++) {
        if (m.new_side.partners[j] == PL_MATCH_NONE) {
            pl_buf_adds(&is, "- ");
            continue;
        }
        assert_int_equal(m.old_side.partners[m.new_side.partners[j]], j);
        pl_buf_addf(&is, "%u%s%s ", m.new_side.partners[j], m.is_same[j] ? "" : "!",
                    m.is_moved[j] ? ">" : "");
    }
    if (!pl_str_eq(pl_buf_str(&is), pl_str_of(wanted)))
        fail_msg("%s and %s: %.*s", a, b, PL_STR_ARG(pl_buf_str(&is)));
}

#define USER(text)  "{\"role\":\"user\",\"content\":\"" text "\"}"
#define MODEL(text) "{\"role\":\"assistant\",\"content\":\"" text "\"}"

static void what_says_the_same_are_partners(void **state)
{
    (void)state;
    match("[1,\"a\",{\"x\":1,\"y\":2}]",
          "[1,{\"type\":\"text\",\"text\":\"a\"},{\"y\":2,\"x\":1.0}]", "0 1 2 ");
    match("[]", "[1]", "- ");
    match("[1]", "[]", "");
}

static void around_an_insertion_and_a_deletion_the_rest_keep_their_partners(void **state)
{
    (void)state;
    match("[" USER("one") "," MODEL("two") "]",
          "[" USER("zero") "," USER("one") "," MODEL("two") "]", "- 0 1 ");
    match("[" USER("one") "," MODEL("two") "," USER("three") "]",
          "[" MODEL("two") "," USER("three") "]", "1 2 ");
}

static void a_message_that_changed_keeps_its_partner(void **state)
{
    (void)state;
    match("[" USER("one") "," MODEL("two") "," USER("three") "]",
          "[" USER("one") "," MODEL("quite other words") "," USER("three") "]", "0 1! 2 ");
    match("[{\"id\":\"c1\",\"v\":1},{\"id\":\"c2\",\"v\":2}]", "[{\"id\":\"c2\",\"v\":3}]", "1! ");
}

static void what_moved_is_told(void **state)
{
    (void)state;
    match("[\"a\",\"b\",\"c\"]", "[\"c\",\"a\",\"b\"]", "2> 0 1 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_says_the_same_are_partners),
        cmocka_unit_test(around_an_insertion_and_a_deletion_the_rest_keep_their_partners),
        cmocka_unit_test(a_message_that_changed_keeps_its_partner),
        cmocka_unit_test(what_moved_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Merging (RFC 7396): the cases of its appendix, and members that keep their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "json/merge.h"

static void check(const char *target, const char *patch, const char *wanted)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_json_doc doc, change;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(target), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(patch), NULL, &change, NULL), PL_OK);
    assert_int_equal(pl_json_merge_write(&arena, &text, &doc, doc.root, &change, change.root),
                     PL_OK);
    pl_buf_addc(&text, '\0');
    assert_string_equal(text.ptr, wanted);
}

static void the_cases_of_the_rfc(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i][0], cases[i][1], cases[i][2]);
}

static void what_is_not_changed_keeps_its_place_and_its_spelling(void **state)
{
    (void)state;
    check("{ \"n\" : 1.50, \"\\u0061\": {\"x\": 1}, \"z\": [ 1 ] }", "{\"a\":{\"y\":2}}",
          "{\"n\":1.50,\"\\u0061\":{\"x\":1,\"y\":2},\"z\":[1]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cases_of_the_rfc),
        cmocka_unit_test(what_is_not_changed_keeps_its_place_and_its_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Lookups without knowledge of the value: whether it exists, and its kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "json/json.h"

static struct pl_arena arena;

static struct pl_json_doc parse(const char *text)
{
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), &pl_json_any, &doc, NULL), PL_OK);
    return doc;
}

static void a_value_is_of_its_kind_and_of_no_other(void **state)
{
    (void)state;
    static const char *const texts[] = {"null",  "false", "true",     "1.5",
                                        "\"x\"", "[1]",   "{\"a\":1}"};
    static const enum pl_json_kind kinds[] = {PL_JSON_NULL,   PL_JSON_FALSE,  PL_JSON_TRUE,
                                              PL_JSON_NUMBER, PL_JSON_STRING, PL_JSON_ARRAY,
                                              PL_JSON_OBJECT};
    for (size_t i = 0; i < 7; i++) {
        struct pl_json_doc doc = parse(texts[i]);
        for (size_t k = 0; k < 7; k++)
            assert_int_equal(pl_json_is(doc.root, kinds[k]), i == k);
    }
}

static void what_is_not_there_is_of_no_kind(void **state)
{
    (void)state;
    for (int kind = 0; kind <= PL_JSON_OBJECT; kind++)
        assert_false(pl_json_is(NULL, (enum pl_json_kind)kind));
}

static void a_member_is_found_only_with_its_kind(void **state)
{
    (void)state;
    struct pl_json_doc doc = parse("{\"a\":[1],\"b\":null,\"a\":\"last\"}");
    assert_ptr_equal(pl_json_member(&doc, doc.root, "a", PL_JSON_STRING),
                     pl_json_get(&doc, doc.root, PL_STR("a")));
    assert_null(pl_json_member(&doc, doc.root, "a", PL_JSON_ARRAY));
    assert_non_null(pl_json_member(&doc, doc.root, "b", PL_JSON_NULL));
    assert_null(pl_json_member(&doc, doc.root, "c", PL_JSON_NULL));
}

static void what_is_no_object_has_no_members(void **state)
{
    (void)state;
    static const char *const texts[] = {"null", "1", "\"a\"", "[\"a\",1]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pl_json_doc doc = parse(texts[i]);
        for (int kind = 0; kind <= PL_JSON_OBJECT; kind++)
            assert_null(pl_json_member(&doc, doc.root, "a", (enum pl_json_kind)kind));
    }
    struct pl_json_doc doc = parse("{}");
    assert_null(pl_json_member(&doc, NULL, "a", PL_JSON_STRING));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_of_its_kind_and_of_no_other),
        cmocka_unit_test(what_is_not_there_is_of_no_kind),
        cmocka_unit_test(a_member_is_found_only_with_its_kind),
        cmocka_unit_test(what_is_no_object_has_no_members),
    };
    pl_arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return failed;
}

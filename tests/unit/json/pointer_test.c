/* JSON Pointer: the examples of RFC 6901, and the errors for paths that do not exist. */
#include "json/pointer.h"
#include "json/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct pl_arena arena;

static int set_up(void **state)
{
    (void)state;
    pl_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pl_arena_deinit(&arena);
    return 0;
}

static struct pl_json_doc parse(const char *text)
{
    struct pl_json_doc doc;
    struct pl_json_opts opts = {.allows_duplicate_keys = true};
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), &opts, &doc, NULL), PL_OK);
    return doc;
}

/* The examples of section 5. */
static const char rfc[] =
    "{\"foo\": [\"bar\", \"baz\"], \"\": 0, \"a/b\": 1, \"c%d\": 2, \"e^f\": 3,"
    " \"g|h\": 4, \"i\\\\j\": 5, \"k\\\"l\": 6, \" \": 7, \"m~n\": 8}";
static const struct {
    const char *pointer, *value;
} rfc_cases[] = {
    {"", NULL},
    {"/foo", "[\"bar\", \"baz\"]"},
    {"/foo/0", "\"bar\""},
    {"/foo/1", "\"baz\""},
    {"/", "0"},
    {"/a~1b", "1"},
    {"/c%d", "2"},
    {"/e^f", "3"},
    {"/g|h", "4"},
    {"/i\\j", "5"},
    {"/k\"l", "6"},
    {"/ ", "7"},
    {"/m~0n", "8"},
};

static void the_examples_of_the_rfc_are_found(void **state)
{
    (void)state;
    struct pl_json_doc doc = parse(rfc);
    for (size_t i = 0; i < sizeof rfc_cases / sizeof *rfc_cases; i++) {
        const struct pl_json_node *n = NULL;
        assert_int_equal(pl_json_pointer_get(&doc, pl_str_of(rfc_cases[i].pointer), &n, NULL),
                         PL_OK);
        const char *expected = rfc_cases[i].value ? rfc_cases[i].value : rfc;
        assert_true(pl_str_eq(pl_json_span(&doc, n), pl_str_of(expected)));
    }
}

static void every_node_has_a_pointer_that_leads_back_to_it(void **state)
{
    (void)state;
    struct pl_json_doc doc =
        parse("{\"a\":[1,{\"~/\":[[],{\"\\u00e9\\n\":[0,null]}]},\"x\"],\"\":{}}");
    struct pl_buf buf;
    pl_buf_init(&buf, 0);
    for (uint32_t i = 0; i < doc.n_nodes; i++) {
        const struct pl_json_node *n = doc.root + i, *found;
        pl_buf_clear(&buf);
        pl_json_pointer_of(&buf, &doc, n);
        assert_int_equal(pl_json_pointer_get(&doc, pl_buf_str(&buf), &found, NULL), PL_OK);
        assert_ptr_equal(found, n->tag & PL_JSON_KEY ? n + 1 : n);
    }
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("/")));
    pl_buf_deinit(&buf);
}

static void assert_lost(const char *text, const char *pointer, enum pl_status status,
                        const char *where, const char *word)
{
    struct pl_json_doc doc = parse(text);
    const struct pl_json_node *untouched = (const void *)&doc, *n = untouched;
    struct pl_error err = {0};
    assert_int_equal(pl_json_pointer_get(&doc, pl_str_of(pointer), &n, &err), status);
    assert_int_equal(pl_json_pointer_get(&doc, pl_str_of(pointer), &n, NULL), status);
    assert_ptr_equal(n, untouched);
    assert_int_equal(err.status, status);
    assert_string_equal(err.pointer, where);
    if (!strstr(err.message, word))
        fail_msg("\"%s\" does not say \"%s\"", err.message, word);
}

static void an_error_says_which_step_failed_and_what_is_there(void **state)
{
    (void)state;
    assert_lost("{\"a\":{\"b\":[1,2]}}", "/a/c", PL_NOT_FOUND, "/a", "no member \"c\"");
    assert_lost("{\"a\":{\"b\":[1,2]}}", "/x", PL_NOT_FOUND, "", "at the top has no member \"x\"");
    assert_lost("{\"a\":{\"b\":[1,2]}}", "/a/b/2", PL_NOT_FOUND, "/a/b", "2 elements");
    assert_lost("{\"a\":{\"b\":[1,2]}}", "/a/b/-", PL_NOT_FOUND, "/a/b", "\"-\" is not an index");
    assert_lost("{\"a\":{\"b\":[1,2]}}", "/a/b/01", PL_NOT_FOUND, "/a/b", "leading zeros");
    assert_lost("{\"a\":{\"b\":[1,2]}}", "/a/b/0/c", PL_NOT_FOUND, "/a/b/0", "is a number");
    assert_lost("{\"a\":{\"b\":[1,2]}}", "/a/b/4294967296", PL_NOT_FOUND, "/a/b", "not an index");
    assert_lost("[]", "a", PL_SYNTAX, "", "not a JSON Pointer");
    assert_lost("[]", "/~", PL_SYNTAX, "", "~0");
    assert_lost("[]", "/~2", PL_SYNTAX, "", "~0");
}

static void an_error_has_the_position_of_the_last_value_found(void **state)
{
    (void)state;
    struct pl_json_doc doc = parse("{\n  \"é\": [1]}");
    const struct pl_json_node *n;
    struct pl_error err;
    assert_int_equal(pl_json_pointer_get(&doc, PL_STR("/é/3"), &n, &err), PL_NOT_FOUND);
    assert_true(err.has_position);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 8);
}

static void a_long_pointer_is_cut_at_a_step(void **state)
{
    (void)state;
    char text[1200] = "", pointer[1200] = "", key[60];
    memset(key, 'k', 59);
    key[59] = 0;
    for (int i = 0; i < 8; i++) {
        size_t at = strlen(text), p = strlen(pointer);
        (void)snprintf(text + at, sizeof text - at, "{\"%s\":", key);
        (void)snprintf(pointer + p, sizeof pointer - p, "/%s", key);
    }
    (void)snprintf(text + strlen(text), 20, "0}}}}}}}}");
    (void)snprintf(pointer + strlen(pointer), 20, "/x");
    struct pl_json_doc doc = parse(text);
    const struct pl_json_node *n;
    struct pl_error err;
    assert_int_equal(pl_json_pointer_get(&doc, pl_str_of(pointer), &n, &err), PL_NOT_FOUND);
    assert_true(strlen(err.pointer) == 4 * 60 + strlen("/…"));
    assert_string_equal(err.pointer + 240, "/…");
}

static void the_last_of_equal_keys_is_meant(void **state)
{
    (void)state;
    struct pl_json_doc doc = parse("{\"a\":1,\"~\":2,\"a\":3,\"~\":4}");
    const struct pl_json_node *n;
    assert_int_equal(pl_json_pointer_get(&doc, PL_STR("/a"), &n, NULL), PL_OK);
    assert_true(pl_str_eq(pl_json_span(&doc, n), PL_STR("3")));
    assert_int_equal(pl_json_pointer_get(&doc, PL_STR("/~0"), &n, NULL), PL_OK);
    assert_true(pl_str_eq(pl_json_span(&doc, n), PL_STR("4")));
}

static void tokens_are_compared_decoded(void **state)
{
    (void)state;
    assert_true(pl_json_pointer_token_is(PL_STR("a~1b~0"), PL_STR("a/b~")));
    assert_false(pl_json_pointer_token_is(PL_STR("a~1b~0"), PL_STR("a/b")));
    assert_false(pl_json_pointer_token_is(PL_STR("a~1b"), PL_STR("a/b~")));
    assert_true(pl_json_pointer_token_is(PL_STR(""), PL_STR("")));
    assert_true(pl_json_pointer_token_is(PL_STR("~01"), PL_STR("~1")));
    struct pl_buf buf;
    pl_buf_init(&buf, 0);
    pl_json_pointer_add(&buf, PL_STR("~/ é~1"));
    pl_json_pointer_add_index(&buf, 4294967295u);
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("/~0~1 é~01/4294967295")));
    pl_buf_deinit(&buf);
}

static void an_index_has_no_leading_zero_and_fits(void **state)
{
    (void)state;
    uint32_t index = 7;
    assert_true(pl_json_pointer_index(PL_STR("0"), &index));
    assert_int_equal(index, 0);
    assert_true(pl_json_pointer_index(PL_STR("4294967295"), &index));
    assert_true(index == UINT32_MAX);
    static const char *const no[] = {"",    "-",          "00",          "01", "+1", "1 ",
                                     "1e0", "4294967296", "99999999999", "-1", "1.0"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(pl_json_pointer_index(pl_str_of(no[i]), &index));
    assert_true(index == UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_examples_of_the_rfc_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_node_has_a_pointer_that_leads_back_to_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_error_says_which_step_failed_and_what_is_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_error_has_the_position_of_the_last_value_found, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_long_pointer_is_cut_at_a_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_of_equal_keys_is_meant, set_up, tear_down),
        cmocka_unit_test(tokens_are_compared_decoded),
        cmocka_unit_test(an_index_has_no_leading_zero_and_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Relative JSON Pointers: the examples of the draft, and the errors for those that lead nowhere. */
#include "json/pointer.h"
#include "json/relative.h"
#include "json/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

/* From section 5.1 of the draft, and an escaped key. */
static const char draft[] =
    "{\"foo\": [\"bar\", \"baz\", \"biz\"],"
    " \"highly\": {\"nested\": {\"objects\": true}}, \"a\\u002fb\": {\"c\": 1}}";

static struct pl_json_doc parse(void)
{
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_str_of(draft), NULL, &doc, NULL), PL_OK);
    return doc;
}

static enum pl_status find(const struct pl_json_doc *doc, const char *from, const char *relative,
                           struct pl_json_found *ret_found, struct pl_error *err)
{
    const struct pl_json_node *node = NULL;
    assert_int_equal(pl_json_pointer_get(doc, pl_str_of(from), &node, NULL), PL_OK);
    return pl_json_relative_get(doc, node, pl_str_of(relative), ret_found, err);
}

static void assert_value(const char *from, const char *relative, const char *expected)
{
    struct pl_json_doc doc = parse();
    struct pl_json_found found;
    assert_int_equal(find(&doc, from, relative, &found, NULL), PL_OK);
    assert_int_equal(found.kind, PL_JSON_FOUND_VALUE);
    struct pl_str span = pl_json_span(&doc, found.node);
    assert_int_equal(span.len, strlen(expected));
    assert_memory_equal(span.ptr, expected, span.len);
}

static void assert_key(const char *from, const char *relative, const char *expected)
{
    struct pl_json_doc doc = parse();
    struct pl_json_found found;
    assert_int_equal(find(&doc, from, relative, &found, NULL), PL_OK);
    assert_int_equal(found.kind, PL_JSON_FOUND_KEY);
    assert_true(pl_json_text_is(&doc, found.node, pl_str_of(expected)));
}

static void assert_index(const char *from, const char *relative, uint32_t expected)
{
    struct pl_json_doc doc = parse();
    struct pl_json_found found;
    assert_int_equal(find(&doc, from, relative, &found, NULL), PL_OK);
    assert_int_equal(found.kind, PL_JSON_FOUND_INDEX);
    assert_null(found.node);
    assert_int_equal(found.index, expected);
}

static void values_are_found_up_beside_and_down(void **state)
{
    (void)state;
    assert_value("/foo/1", "0", "\"baz\"");
    assert_value("/foo/1", "1/0", "\"bar\"");
    assert_value("/foo/1", "0-1", "\"bar\"");
    assert_value("/foo/0", "0+2", "\"biz\"");
    assert_value("/foo/2", "0-1", "\"baz\"");
    assert_value("/foo/1", "2/highly/nested/objects", "true");
    assert_value("/highly/nested", "0/objects", "true");
    assert_value("/highly/nested", "2/foo/0", "\"bar\"");
    assert_value("/a~1b/c", "1/c", "1");
    assert_value("", "0/foo/0", "\"bar\"");
}

static void a_place_has_a_name_or_an_index(void **state)
{
    (void)state;
    assert_index("/foo/1", "0#", 1);
    assert_index("/foo/1", "0-1#", 0);
    assert_index("/foo/1", "0+1#", 2);
    assert_key("/foo/1", "1#", "foo");
    assert_key("/highly/nested/objects", "0#", "objects");
    assert_key("/highly/nested/objects", "1#", "nested");
    assert_key("/a~1b/c", "1#", "a/b");
}

static void a_key_stands_for_its_member(void **state)
{
    (void)state;
    struct pl_json_doc doc = parse();
    struct pl_json_found found, again;
    assert_int_equal(find(&doc, "/highly/nested", "0#", &found, NULL), PL_OK);
    assert_int_equal(pl_json_relative_get(&doc, found.node, PL_STR("0#"), &again, NULL), PL_OK);
    assert_ptr_equal(again.node, found.node);
    assert_int_equal(pl_json_relative_get(&doc, found.node, PL_STR("0/objects"), &again, NULL),
                     PL_OK);
    assert_int_equal(pl_json_kind(again.node), PL_JSON_TRUE);
}

static void what_leads_nowhere_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *from, *relative, *says, *pointer;
    } cases[] = {
        {"/foo/1", "3", "goes up 3 levels, but this value is 2 levels below", "/foo/1"},
        {"/foo/1", "99999999999999999999", "goes up 4294967295 levels", "/foo/1"},
        {"", "0#", "neither a name nor an index", ""},
        {"/foo/1", "2#", "neither a name nor an index", ""},
        {"", "0+1", "+1 needs an element of an array, and this is the whole document", ""},
        {"/foo", "0-1", "-1 needs an element of an array, and this is a member", "/foo"},
        {"/foo/1", "0+2", "has 3 elements, so there is no index 3", "/foo"},
        {"/foo/1", "0-2", "no index -1", "/foo"},
        {"/foo/1", "0+99999999999", "no index 4294967296", "/foo"},
        {"/highly/nested", "0/none", "has no member \"none\"", "/highly/nested"},
        {"/foo/1", "0/x", "the value there is a string", "/foo/1"},
    };
    struct pl_json_doc doc = parse();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_json_found found = {.index = 77};
        struct pl_error err = {0};
        assert_int_equal(find(&doc, cases[i].from, cases[i].relative, &found, &err), PL_NOT_FOUND);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s: %s", cases[i].relative, err.message);
        assert_string_equal(err.pointer, cases[i].pointer);
        assert_int_equal(found.index, 77);
        assert_int_equal(find(&doc, cases[i].from, cases[i].relative, &found, NULL), PL_NOT_FOUND);
    }
}

static void what_is_no_relative_pointer_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",     "/foo", "#",    "-1",   "+1/a", "01/a",  "0##",
                                        "0#/a", "0a",   "0+",   "0+0",  "0-01", "0+a",   "0+-1",
                                        "0 ",   " 0",   "0/~2", "0/a~", "0+1x", "1.5/a", "0+1+1"};
    struct pl_json_doc doc = parse();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pl_json_found found;
        struct pl_error err = {0};
        if (find(&doc, "/foo/1", wrong[i], &found, &err) != PL_SYNTAX)
            fail_msg("\"%s\" was not refused", wrong[i]);
        assert_non_null(strstr(err.message, "is not a relative JSON Pointer"));
    }
}

static void a_long_way_is_cut_in_the_error(void **state)
{
    (void)state;
    char text[2000] = "{\"";
    memset(text + 2, 'k', 900);
    strcpy(text + 902, "\":[1]}");
    struct pl_json_doc doc;
    struct pl_json_found found;
    struct pl_error err = {0};
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_json_relative_get(&doc, doc.root + 3, PL_STR("0/x"), &found, &err),
                     PL_NOT_FOUND);
    assert_string_equal(err.pointer, "/…");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_up_beside_and_down),
        cmocka_unit_test(a_place_has_a_name_or_an_index),
        cmocka_unit_test(a_key_stands_for_its_member),
        cmocka_unit_test(what_leads_nowhere_says_why),
        cmocka_unit_test(what_is_no_relative_pointer_is_refused),
        cmocka_unit_test(a_long_way_is_cut_in_the_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

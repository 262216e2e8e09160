/* Values through the public header: lookup, content, and the errors for a wrong type. */
#include "parley/parley.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char text[] =
    "{\n"
    "  \"name\": \"Ann\", \"said\": \"a\\n\\u00e9\\u0000\", \"yes\": true, \"no\": false,\n"
    "  \"none\": null, \"n\": 12345678901234567890123, \"half\": 0.50,\n"
    "  \"list\": [1, \"two\", [3]], \"in\": {\"a/b\": {\"deep\": -7e1}}\n"
    "}";

static struct parley_json *json;

static int set_up(void **state)
{
    (void)state;
    return parley_json_parse(text, strlen(text), 0, &json, NULL) == PARLEY_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    parley_json_destroy(json);
    return 0;
}

static const struct parley_value *member(const struct parley_value *of, const char *key)
{
    const struct parley_value *value = NULL;
    struct parley_error err;
    if (parley_value_get(json, of, key, &value, &err) != PARLEY_OK)
        fail_msg("%s", err.message);
    return value;
}

static void assert_raw(const struct parley_value *value, const char *expected)
{
    size_t size;
    const char *raw = parley_value_raw(json, value, &size);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(raw, expected, size);
}

static void members_are_found_by_key(void **state)
{
    (void)state;
    assert_raw(member(NULL, "yes"), "true");
    assert_raw(member(member(member(NULL, "in"), "a/b"), "deep"), "-7e1");
    const struct parley_value *value = NULL;
    struct parley_error err;
    assert_int_equal(parley_value_get(json, member(NULL, "in"), "x", &value, &err),
                     PARLEY_NOT_FOUND);
    assert_string_equal(err.message, "the object there has no member \"x\"");
    assert_string_equal(err.pointer, "/in");
    assert_int_equal(err.line, 4);
    assert_int_equal(parley_value_get(json, NULL, "x", &value, NULL), PARLEY_NOT_FOUND);
    assert_null(value);
}

static void elements_are_found_by_index(void **state)
{
    (void)state;
    const struct parley_value *list = member(NULL, "list"), *value = NULL;
    struct parley_error err;
    for (size_t i = 0; i < 3; i++) {
        static const char *const expected[] = {"1", "\"two\"", "[3]"};
        assert_int_equal(parley_value_at(json, list, i, &value, NULL), PARLEY_OK);
        assert_raw(value, expected[i]);
    }
    value = NULL;
    assert_int_equal(parley_value_at(json, list, 3, &value, &err), PARLEY_NOT_FOUND);
    assert_string_equal(err.message, "the array there has 3 elements, so there is no index 3");
    assert_string_equal(err.pointer, "/list");
    assert_int_equal(parley_value_at(json, list, SIZE_MAX, &value, NULL), PARLEY_NOT_FOUND);
    assert_null(value);
}

static void a_pointer_may_start_at_a_value(void **state)
{
    (void)state;
    const struct parley_value *value = NULL;
    struct parley_error err;
    assert_int_equal(parley_value_find(json, member(NULL, "in"), "/a~1b/deep", &value, NULL),
                     PARLEY_OK);
    assert_raw(value, "-7e1");
    assert_int_equal(parley_value_find(json, value, "", &value, NULL), PARLEY_OK);
    assert_raw(value, "-7e1");
    assert_int_equal(parley_value_find(json, member(NULL, "in"), "/a~1b/x", &value, &err),
                     PARLEY_NOT_FOUND);
    assert_string_equal(err.pointer, "/in/a~1b");
    assert_int_equal(parley_value_find(json, NULL, "list", &value, &err), PARLEY_SYNTAX);
}

static void a_relative_pointer_finds_neighbours_names_and_indexes(void **state)
{
    (void)state;
    const struct parley_value *two = NULL;
    struct parley_found found;
    struct parley_error err;
    assert_int_equal(parley_json_get(json, "/list/1", &two, NULL), PARLEY_OK);
    assert_int_equal(parley_value_relative(json, two, "0+1/0", &found, NULL), PARLEY_OK);
    assert_int_equal(found.kind, PARLEY_FOUND_VALUE);
    assert_raw(found.value, "3");
    assert_int_equal(parley_value_relative(json, two, "2/name", &found, NULL), PARLEY_OK);
    assert_true(parley_value_is(json, found.value, "Ann"));
    assert_int_equal(parley_value_relative(json, two, "0#", &found, NULL), PARLEY_OK);
    assert_int_equal(found.kind, PARLEY_FOUND_INDEX);
    assert_int_equal(found.index, 1);
    assert_null(found.value);
    assert_int_equal(parley_value_relative(json, two, "1#", &found, NULL), PARLEY_OK);
    assert_int_equal(found.kind, PARLEY_FOUND_KEY);
    assert_true(parley_value_is(json, found.value, "list"));
    assert_int_equal(parley_value_relative(json, two, "9", &found, &err), PARLEY_NOT_FOUND);
    assert_string_equal(err.pointer, "/list/1");
    assert_int_equal(parley_value_relative(json, two, "/a", &found, &err), PARLEY_SYNTAX);
    assert_true(strlen(err.message) > 0);
}

static void a_value_has_a_pointer(void **state)
{
    (void)state;
    char *pointer = NULL;
    size_t size = 0;
    assert_int_equal(parley_value_pointer(json, member(member(NULL, "in"), "a/b"), &pointer, &size),
                     PARLEY_OK);
    assert_string_equal(pointer, "/in/a~1b");
    assert_int_equal(size, 8);
    parley_free(pointer);
    assert_int_equal(parley_value_pointer(json, NULL, &pointer, NULL), PARLEY_OK);
    assert_string_equal(pointer, "");
    parley_free(pointer);
}

static void a_text_is_borrowed_from_the_document(void **state)
{
    (void)state;
    const char *name, *said, *again;
    size_t size;
    assert_int_equal(parley_value_text(json, member(NULL, "name"), &name, &size, NULL), PARLEY_OK);
    assert_int_equal(size, 3);
    /* Without escapes, it is the document's own bytes. */
    assert_ptr_equal(name, parley_value_raw(json, member(NULL, "name"), NULL) + 1);
    assert_int_equal(parley_value_text(json, member(NULL, "said"), &said, &size, NULL), PARLEY_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(said, "a\n\xc3\xa9\0", 5);
    assert_int_equal(parley_value_text(json, member(NULL, "said"), &again, &size, NULL), PARLEY_OK);
    assert_ptr_equal(said, again);
}

static void the_texts_of_many_strings_stay(void **state)
{
    (void)state;
    enum { N = 1000 };
    char *many = malloc(N * 8 + 2);
    const char *texts[N];
    struct parley_json *array = NULL;
    assert_non_null(many);
    many[0] = '[';
    for (int i = 0; i < N; i++) {
        memcpy(many + 1 + i * 8, "\"\\t0aa\",,", 8);
        many[1 + i * 8 + 4] = (char)('a' + i % 26);
        many[1 + i * 8 + 5] = (char)('a' + i / 26 % 26);
        many[1 + i * 8 + 6] = '"';
        many[1 + i * 8 + 7] = ',';
    }
    many[N * 8] = ']';
    assert_int_equal(parley_json_parse(many, N * 8 + 1, 0, &array, NULL), PARLEY_OK);
    struct parley_iter iter = parley_iter_of(parley_json_root(array));
    const struct parley_value *value;
    size_t size;
    for (int i = 0; parley_iter_next(&iter, NULL, &value); i++)
        assert_int_equal(parley_value_text(array, value, &texts[i], &size, NULL), PARLEY_OK);
    for (int i = 0; i < N; i++) {
        const char expected[] = {'\t', '0', (char)('a' + i % 26), (char)('a' + i / 26 % 26)};
        assert_memory_equal(texts[i], expected, 4);
    }
    parley_json_destroy(array);
    free(many);
}

static void numbers_are_told_exactly(void **state)
{
    (void)state;
    const char *digits;
    size_t size;
    int64_t integer = 5;
    double real;
    struct parley_error err;
    assert_int_equal(parley_value_number(json, member(NULL, "n"), &digits, &size, NULL), PARLEY_OK);
    assert_int_equal(size, 23);
    assert_memory_equal(digits, "12345678901234567890123", 23);
    assert_int_equal(parley_value_int64(json, member(NULL, "n"), &integer, &err), PARLEY_INVALID);
    assert_string_equal(err.message, "this number does not fit into 64 bits");
    assert_int_equal(parley_value_int64(json, member(NULL, "half"), &integer, &err),
                     PARLEY_INVALID);
    assert_string_equal(err.message, "expected a whole number, but this has a fraction");
    assert_string_equal(err.pointer, "/half");
    assert_int_equal(integer, 5);
    assert_int_equal(parley_value_double(json, member(NULL, "half"), &real, NULL), PARLEY_OK);
    assert_true(real == 0.5);
    assert_int_equal(
        parley_value_int64(json, member(member(member(NULL, "in"), "a/b"), "deep"), &integer, NULL),
        PARLEY_OK);
    assert_int_equal(integer, -70);
}

static void truth_is_told(void **state)
{
    (void)state;
    int is_true = -1;
    assert_int_equal(parley_value_bool(json, member(NULL, "yes"), &is_true, NULL), PARLEY_OK);
    assert_int_equal(is_true, 1);
    assert_int_equal(parley_value_bool(json, member(NULL, "no"), &is_true, NULL), PARLEY_OK);
    assert_int_equal(is_true, 0);
}

static void a_string_is_compared_without_decoding(void **state)
{
    (void)state;
    assert_true(parley_value_is(json, member(NULL, "name"), "Ann"));
    assert_false(parley_value_is(json, member(NULL, "name"), "An"));
    assert_false(parley_value_is(json, member(NULL, "said"), "a\n\xc3\xa9"));
    assert_false(parley_value_is(json, member(NULL, "yes"), "true"));
    assert_false(parley_value_is(json, NULL, ""));
}

/* Every getter, with one value of its kind and others. */
enum asker { ASK_GET, ASK_AT, ASK_TEXT, ASK_STRING, ASK_BOOL, ASK_INT64, ASK_DOUBLE, ASK_NUMBER };

static enum parley_status ask(enum asker asker, const struct parley_value *value,
                              struct parley_error *err)
{
    const struct parley_value *found;
    const char *borrowed;
    char *owned;
    size_t size;
    int is_true;
    int64_t integer;
    double real;
    switch (asker) {
    case ASK_GET:
        return parley_value_get(json, value, "a", &found, err);
    case ASK_AT:
        return parley_value_at(json, value, 0, &found, err);
    case ASK_TEXT:
        return parley_value_text(json, value, &borrowed, &size, err);
    case ASK_STRING:
        return parley_value_string(json, value, &owned, &size, err);
    case ASK_BOOL:
        return parley_value_bool(json, value, &is_true, err);
    case ASK_INT64:
        return parley_value_int64(json, value, &integer, err);
    case ASK_DOUBLE:
        return parley_value_double(json, value, &real, err);
    case ASK_NUMBER:
        return parley_value_number(json, value, &borrowed, &size, err);
    }
    return PARLEY_INTERNAL;
}

static void every_getter_tells_a_value_of_another_type(void **state)
{
    (void)state;
    static const struct {
        const char *key, *is, *type;
    } values[] = {
        {"name", "this is a string", "a string"}, {"yes", "this is a boolean", "a boolean"},
        {"no", "this is a boolean", "a boolean"}, {"none", "this is null", "null"},
        {"half", "this is a number", "a number"}, {"list", "this is an array", "an array"},
        {"in", "this is an object", "an object"},
    };
    static const char *const wanted[] = {
        [ASK_GET] = "an object",   [ASK_AT] = "an array",     [ASK_TEXT] = "a string",
        [ASK_STRING] = "a string", [ASK_BOOL] = "a boolean",  [ASK_INT64] = "a number",
        [ASK_DOUBLE] = "a number", [ASK_NUMBER] = "a number",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (enum asker asker = ASK_GET; asker <= ASK_NUMBER; asker++) {
            struct parley_error err = {PARLEY_OK, 0, 0, 0, 0, "", ""};
            const struct parley_value *value = member(NULL, values[i].key);
            if (strcmp(wanted[asker], values[i].type) == 0)
                continue;
            assert_int_equal(ask(asker, value, &err), PARLEY_USAGE);
            assert_int_equal(ask(asker, value, NULL), PARLEY_USAGE);
            assert_int_equal(err.status, PARLEY_USAGE);
            assert_non_null(strstr(err.message, wanted[asker]));
            assert_non_null(strstr(err.message, values[i].is));
            assert_string_equal(err.pointer + 1, values[i].key);
            assert_true(err.has_position && err.line > 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_by_key),
        cmocka_unit_test(elements_are_found_by_index),
        cmocka_unit_test(a_pointer_may_start_at_a_value),
        cmocka_unit_test(a_relative_pointer_finds_neighbours_names_and_indexes),
        cmocka_unit_test(a_value_has_a_pointer),
        cmocka_unit_test(a_text_is_borrowed_from_the_document),
        cmocka_unit_test(the_texts_of_many_strings_stay),
        cmocka_unit_test(numbers_are_told_exactly),
        cmocka_unit_test(truth_is_told),
        cmocka_unit_test(a_string_is_compared_without_decoding),
        cmocka_unit_test(every_getter_tells_a_value_of_another_type),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

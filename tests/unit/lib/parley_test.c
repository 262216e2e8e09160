/* The public API, used only through its header. */
#include "parley/parley.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct parley_json *parse(const char *text, unsigned flags)
{
    struct parley_json *json = NULL;
    struct parley_error err = {0};
    if (parley_json_parse(text, strlen(text), flags, &json, &err) != PARLEY_OK)
        fail_msg("%s", err.message);
    return json;
}

static const struct parley_value *get(const struct parley_json *json, const char *pointer)
{
    const struct parley_value *value = NULL;
    assert_int_equal(parley_json_get(json, pointer, &value, NULL), PARLEY_OK);
    return value;
}

static void values_keep_their_spelling_and_decode_on_demand(void **state)
{
    (void)state;
    struct parley_json *json = parse("{\"s\":\"a\\u0041\\u0000\",\"n\":1.50e1,\"big\":1e999}", 0);
    const struct parley_value *s = get(json, "/s"), *n = get(json, "/n");
    size_t size;
    assert_memory_equal(parley_value_raw(json, s, &size), "\"a\\u0041\\u0000\"", 15);
    assert_int_equal(size, 15);
    char *text;
    assert_int_equal(parley_value_string(json, s, &text, &size, NULL), PARLEY_OK);
    assert_int_equal(size, 3);
    assert_memory_equal(text, "aA\0", 4);
    parley_free(text);
    int64_t integer;
    double real;
    assert_int_equal(parley_value_int64(json, n, &integer, NULL), PARLEY_OK);
    assert_int_equal(integer, 15);
    assert_int_equal(parley_value_double(json, get(json, "/big"), &real, NULL), PARLEY_OK);
    assert_true(isinf(real));
    assert_int_equal(parley_value_int64(json, get(json, "/big"), &integer, NULL), PARLEY_INVALID);
    assert_int_equal(parley_value_int64(json, s, &integer, NULL), PARLEY_USAGE);
    assert_int_equal(parley_value_string(json, n, &text, &size, NULL), PARLEY_USAGE);
    parley_json_destroy(json);
}

static void walking_gives_every_child_in_order(void **state)
{
    (void)state;
    struct parley_json *json = parse("{\"a\":[1,[2,3],{}],\"b\":null}", 0);
    struct parley_iter iter = parley_iter_of(parley_json_root(json));
    const struct parley_value *key, *value;
    assert_true(parley_iter_next(&iter, &key, &value));
    assert_memory_equal(parley_value_raw(json, key, NULL), "\"a\"", 3);
    assert_int_equal(parley_value_kind(value), PARLEY_ARRAY);
    assert_int_equal(parley_value_count(value), 3);
    struct parley_iter inner = parley_iter_of(value);
    int n = 0;
    while (parley_iter_next(&inner, &key, &value)) {
        assert_null(key);
        n++;
    }
    assert_int_equal(n, 3);
    assert_true(parley_iter_next(&iter, NULL, &value));
    assert_int_equal(parley_value_kind(value), PARLEY_NULL);
    assert_int_equal(parley_value_count(value), 0);
    assert_false(parley_iter_next(&iter, &key, &value));
    iter = parley_iter_of(value);
    assert_false(parley_iter_next(&iter, &key, &value));
    parley_json_destroy(json);
}

static void an_error_says_what_and_where(void **state)
{
    (void)state;
    const char text[] = "{\"a\": [1,\n 2,, 3]}";
    struct parley_json *json = NULL;
    struct parley_error err;
    assert_int_equal(parley_json_parse(text, strlen(text), 0, &json, &err), PARLEY_SYNTAX);
    assert_null(json);
    assert_int_equal(err.status, PARLEY_SYNTAX);
    assert_true(err.has_position);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 4);
    assert_int_equal(err.offset, 13);
    assert_string_equal(err.pointer, "/a/2");
    assert_true(strlen(err.message) > 0);
    assert_int_equal(parley_json_parse("1", 1, 64, &json, &err), PARLEY_USAGE);
    const struct parley_value *value;
    json = parse("[1]", 0);
    assert_int_equal(parley_json_get(json, "/1", &value, &err), PARLEY_NOT_FOUND);
    assert_int_equal(parley_json_get(json, "1", &value, &err), PARLEY_SYNTAX);
    parley_json_destroy(json);
    parley_json_destroy(NULL);
}

static void lenient_reading_notes_what_it_tolerated(void **state)
{
    (void)state;
    struct parley_json *json = parse("[1, // one\n 2,]", PARLEY_LENIENT);
    struct parley_note note;
    assert_int_equal(parley_json_note(json, 0, &note), PARLEY_OK);
    assert_int_equal(note.offset, 4);
    assert_int_equal(note.size, 6);
    assert_int_equal(parley_json_note(json, 1, &note), PARLEY_OK);
    assert_string_equal(note.what, "trailing comma");
    assert_int_equal(note.offset, 13);
    assert_int_equal(parley_json_note(json, 2, &note), PARLEY_NOT_FOUND);
    assert_int_equal(parley_value_count(parley_json_root(json)), 2);
    parley_json_destroy(json);
}

static void a_copy_outlives_its_source_and_a_borrowed_text_is_not_copied(void **state)
{
    (void)state;
    char text[] = "[1]";
    struct parley_json *copied = parse(text, 0), *borrowed = parse(text, PARLEY_BORROW);
    assert_ptr_equal(parley_value_raw(borrowed, parley_json_root(borrowed), NULL), text);
    memset(text, 'x', sizeof text);
    assert_memory_equal(parley_value_raw(copied, parley_json_root(copied), NULL), "[1]", 3);
    parley_json_destroy(copied);
    parley_json_destroy(borrowed);
}

static void assert_written(const struct parley_json *json, enum parley_form form,
                           const char *expected)
{
    char *text;
    size_t size;
    assert_int_equal(parley_json_write(json, NULL, form, &text, &size), PARLEY_OK);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
    parley_free(text);
}

static void a_document_is_written_in_three_forms(void **state)
{
    (void)state;
    struct parley_json *json = parse("{ \"b\" : 1.0, \"a\" : \"\\u0041\" }", 0);
    assert_written(json, PARLEY_MINIFIED, "{\"b\":1.0,\"a\":\"\\u0041\"}");
    assert_written(json, PARLEY_PRETTY, "{\n  \"b\": 1.0,\n  \"a\": \"\\u0041\"\n}");
    assert_written(json, PARLEY_CANONICAL, "{\"a\":\"A\",\"b\":1}");
    char *text;
    assert_int_equal(parley_json_write(json, NULL, (enum parley_form)9, &text, NULL), PARLEY_USAGE);
    assert_int_equal(parley_json_write(json, get(json, "/b"), PARLEY_PRETTY, &text, NULL),
                     PARLEY_OK);
    assert_string_equal(text, "1.0");
    parley_free(text);
    parley_json_destroy(json);
}

static void editing_changes_what_is_named_and_no_other_byte(void **state)
{
    (void)state;
    struct parley_json *json = parse("{ \"a\" : [1,  2], \"b\":3 }\n", 0);
    const struct parley_change changes[] = {
        {PARLEY_SET, "/a/0", "\"x\""},
        {PARLEY_REMOVE, "/b", NULL},
    };
    char *text = NULL;
    size_t size;
    struct parley_error err;
    assert_int_equal(parley_json_edit(json, changes, 2, &text, &size, &err), PARLEY_OK);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(text, "{ \"a\" : [\"x\",  2]", 17);
    assert_null(strstr(text, "\"b\""));
    parley_free(text);
    text = NULL;
    const struct parley_change twice[] = {
        {PARLEY_SET, "/a", "1"},
        {PARLEY_SET, "/a/0", "2"},
    };
    assert_int_equal(parley_json_edit(json, twice, 2, &text, &size, &err), PARLEY_CONFLICT);
    const struct parley_change bad = {PARLEY_INSERT, "/a/0", "nonsense"};
    assert_int_equal(parley_json_edit(json, &bad, 1, &text, &size, &err), PARLEY_SYNTAX);
    assert_null(text);
    parley_json_destroy(json);
}

static struct parley_schema *compile(const char *text, unsigned flags)
{
    struct parley_schema *schema = NULL;
    struct parley_error err;
    if (parley_schema_compile(text, strlen(text), flags, NULL, 0, &schema, &err) != PARLEY_OK)
        fail_msg("%s", err.message);
    return schema;
}

static int is_valid(struct parley_schema *schema, const char *text)
{
    struct parley_json *json = parse(text, 0);
    int valid = -1;
    assert_int_equal(parley_schema_validate(schema, json, NULL, &valid), PARLEY_OK);
    parley_json_destroy(json);
    return valid;
}

static void a_schema_says_yes_and_no(void **state)
{
    (void)state;
    struct parley_schema *schema = compile("{\"type\":\"array\",\"maxItems\":2}", 0);
    assert_int_equal(is_valid(schema, "[1,2]"), 1);
    assert_int_equal(is_valid(schema, "[1,2,3]"), 0);
    assert_int_equal(is_valid(schema, "{}"), 0);
    parley_schema_destroy(schema);
    parley_schema_destroy(NULL);
}

static void format_refuses_only_when_asked_to(void **state)
{
    (void)state;
    struct parley_schema *annotates = compile("{\"format\":\"date\"}", 0);
    struct parley_schema *asserts = compile("{\"format\":\"date\"}", PARLEY_FORMAT_ASSERTION);
    assert_int_equal(is_valid(annotates, "\"soon\""), 1);
    assert_int_equal(is_valid(asserts, "\"soon\""), 0);
    assert_int_equal(is_valid(asserts, "\"2026-01-31\""), 1);
    parley_schema_destroy(annotates);
    parley_schema_destroy(asserts);
}

static void other_documents_are_found_by_their_uri(void **state)
{
    (void)state;
    const struct parley_source source = {"https://example.org/name", "{\"minLength\":2}", 15};
    const char text[] = "{\"$ref\":\"https://example.org/name\"}";
    struct parley_schema *schema = NULL;
    struct parley_error err;
    assert_int_equal(parley_schema_compile(text, strlen(text), 0, NULL, 0, &schema, &err),
                     PARLEY_NOT_FOUND);
    assert_null(schema);
    assert_int_equal(parley_schema_compile(text, strlen(text), 0, &source, 1, &schema, &err),
                     PARLEY_OK);
    assert_int_equal(is_valid(schema, "\"ab\""), 1);
    assert_int_equal(is_valid(schema, "\"a\""), 0);
    parley_schema_destroy(schema);
}

static void what_is_no_schema_is_refused(void **state)
{
    (void)state;
    struct parley_schema *schema = NULL;
    struct parley_error err;
    assert_int_equal(parley_schema_compile("{", 1, 0, NULL, 0, &schema, &err), PARLEY_SYNTAX);
    assert_int_equal(parley_schema_compile("{\"type\":1}", 10, 0, NULL, 0, &schema, &err),
                     PARLEY_INVALID);
    assert_int_equal(parley_schema_compile("{}", 2, 128, NULL, 0, &schema, &err), PARLEY_USAGE);
    assert_int_equal(parley_schema_builtin("nothing", 0, &schema, &err), PARLEY_NOT_FOUND);
    assert_non_null(strstr(err.message, "nothing"));
    assert_null(schema);
}

static void every_builtin_schema_compiles(void **state)
{
    (void)state;
    size_t n = 0;
    for (const char *name; (name = parley_schema_builtin_name(n)); n++) {
        struct parley_schema *schema = NULL;
        assert_int_equal(parley_schema_builtin(name, 0, &schema, NULL), PARLEY_OK);
        assert_int_equal(is_valid(schema, "7"), 0); /* an empty list can be a conversation */
        parley_schema_destroy(schema);
    }
    assert_true(n >= 2);
}

static void an_explanation_is_json_with_places(void **state)
{
    (void)state;
    struct parley_schema *schema = compile("{\"properties\":{\"a\":{\"type\":\"string\"}}}", 0);
    struct parley_json *json = parse("{\n  \"a\": 1}", 0), *answer;
    char *text;
    size_t size;
    assert_int_equal(
        parley_schema_explain(schema, json, NULL, PARLEY_EN, PARLEY_ERRORS, &text, &size),
        PARLEY_OK);
    answer = parse(text, 0);
    parley_free(text);
    assert_int_equal(parley_value_kind(get(answer, "/valid")), PARLEY_FALSE);
    assert_int_equal(parley_value_count(get(answer, "/errors")), 1);
    assert_memory_equal(parley_value_raw(answer, get(answer, "/errors/0/pointer"), NULL), "\"/a\"",
                        4);
    assert_memory_equal(parley_value_raw(answer, get(answer, "/errors/0/keyword"), NULL),
                        "\"type\"", 6);
    int64_t line, column;
    assert_int_equal(parley_value_int64(answer, get(answer, "/errors/0/line"), &line, NULL),
                     PARLEY_OK);
    assert_int_equal(parley_value_int64(answer, get(answer, "/errors/0/column"), &column, NULL),
                     PARLEY_OK);
    assert_int_equal(line, 2);
    assert_int_equal(column, 8);
    parley_json_destroy(answer);
    assert_int_equal(
        parley_schema_explain(schema, json, NULL, PARLEY_ZH, PARLEY_FLAG, &text, &size), PARLEY_OK);
    assert_string_equal(text, "{\"valid\":false}");
    parley_free(text);
    parley_json_destroy(json);
    parley_schema_destroy(schema);
}

static void a_part_of_a_document_can_be_validated(void **state)
{
    (void)state;
    struct parley_schema *schema = compile("{\"type\":\"number\"}", 0);
    struct parley_json *json = parse("{\"a\":1}", 0);
    int valid = -1;
    assert_int_equal(parley_schema_validate(schema, json, get(json, "/a"), &valid), PARLEY_OK);
    assert_int_equal(valid, 1);
    parley_json_destroy(json);
    parley_schema_destroy(schema);
}

static void the_version_is_that_of_the_build(void **state)
{
    (void)state;
    assert_string_equal(parley_version(), PARLEY_VERSION);
    /* The version of the build, of the header, and of its parts. */
    char pieces[64];
    (void)snprintf(pieces, sizeof pieces, "%d.%d.%d", PARLEY_VERSION_MAJOR, PARLEY_VERSION_MINOR,
                   PARLEY_VERSION_PATCH);
    assert_string_equal(PARLEY_VERSION_STRING, PARLEY_VERSION);
    assert_string_equal(pieces, PARLEY_VERSION);
    assert_int_equal(parley_version_number(), PARLEY_VERSION_NUMBER);
    assert_string_equal(parley_status_text(PARLEY_NOMEM), "out of memory");
}

int main(void)
{
    const unsigned char key[16] = "0123456789abcdef";
    parley_set_hash_key(key);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_their_spelling_and_decode_on_demand),
        cmocka_unit_test(walking_gives_every_child_in_order),
        cmocka_unit_test(an_error_says_what_and_where),
        cmocka_unit_test(lenient_reading_notes_what_it_tolerated),
        cmocka_unit_test(a_copy_outlives_its_source_and_a_borrowed_text_is_not_copied),
        cmocka_unit_test(a_document_is_written_in_three_forms),
        cmocka_unit_test(editing_changes_what_is_named_and_no_other_byte),
        cmocka_unit_test(a_schema_says_yes_and_no),
        cmocka_unit_test(format_refuses_only_when_asked_to),
        cmocka_unit_test(other_documents_are_found_by_their_uri),
        cmocka_unit_test(what_is_no_schema_is_refused),
        cmocka_unit_test(every_builtin_schema_compiles),
        cmocka_unit_test(an_explanation_is_json_with_places),
        cmocka_unit_test(a_part_of_a_document_can_be_validated),
        cmocka_unit_test(the_version_is_that_of_the_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

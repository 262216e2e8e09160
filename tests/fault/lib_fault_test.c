/* The whole library survives running out of memory at any point. */
#include "fault/fault.h"
#include "parley/parley.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char text[] = "{ \"a\" : [1, 2, \"x\\u0041\"], \"b\": {\"c\": null} }";
static const char loose[] = "{ // a comment\n \"a\": [1, 2,], }";
static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^x+$\"},"
    "\"b\":{\"oneOf\":[{\"required\":[\"c\"]},{\"required\":[\"d\"]}]}},"
    "\"unevaluatedProperties\":false}";

/* Either the whole text or nothing: no output may be half set. */
static enum pl_status finish_text(enum parley_status status, char *made)
{
    assert_true(status == PARLEY_OK ? made != NULL : made == NULL);
    parley_free(made);
    return (enum pl_status)status;
}

static enum pl_status use_json(void *ctx)
{
    (void)ctx;
    struct parley_json *json = NULL;
    enum parley_status status = parley_json_parse(text, strlen(text), 0, &json, NULL);
    if (status != PARLEY_OK) {
        assert_null(json);
        return (enum pl_status)status;
    }
    const struct parley_value *value = NULL;
    status = parley_json_get(json, "/a/2", &value, NULL);
    for (int form = PARLEY_MINIFIED; form <= PARLEY_CANONICAL && status == PARLEY_OK; form++) {
        char *made = NULL;
        status = parley_json_write(json, NULL, (enum parley_form)form, &made, NULL);
        status = (enum parley_status)finish_text(status, made);
    }
    if (status == PARLEY_OK) {
        char *made = NULL;
        status = parley_value_string(json, value, &made, NULL, NULL);
        status = (enum parley_status)finish_text(status, made);
    }
    parley_json_destroy(json);
    return (enum pl_status)status;
}

/* A string with an escape is decoded into memory of the document; a failure leaves the document
 * unchanged, and the next attempt succeeds. */
static enum pl_status borrow_texts(void *ctx)
{
    (void)ctx;
    struct parley_json *json = NULL;
    const struct parley_value *value = NULL;
    const char *borrowed = NULL;
    size_t size = 77;
    enum parley_status status = parley_json_parse(text, strlen(text), 0, &json, NULL);
    if (status == PARLEY_OK)
        status = parley_json_get(json, "/a/2", &value, NULL);
    if (status == PARLEY_OK)
        status = parley_value_text(json, value, &borrowed, &size, NULL);
    if (status == PARLEY_OK)
        assert_memory_equal(borrowed, "xA", 2);
    else
        assert_true(!borrowed && size == 77);
    parley_json_destroy(json);
    return (enum pl_status)status;
}

static enum pl_status find_values(void *ctx)
{
    (void)ctx;
    struct parley_json *json = NULL;
    const struct parley_value *value = NULL;
    struct parley_found found;
    struct parley_error err;
    char *pointer = NULL;
    enum parley_status status = parley_json_parse(text, strlen(text), PARLEY_BORROW, &json, NULL);
    if (status != PARLEY_OK)
        return (enum pl_status)status;
    /* Neither a lookup nor its error allocates. */
    assert_int_equal(parley_value_get(json, NULL, "a", &value, &err), PARLEY_OK);
    assert_int_equal(parley_value_get(json, value, "x", &value, &err), PARLEY_USAGE);
    assert_int_equal(parley_value_at(json, value, 2, &value, &err), PARLEY_OK);
    assert_int_equal(parley_value_relative(json, value, "2/b/c", &found, &err), PARLEY_OK);
    assert_int_equal(parley_value_relative(json, value, "0+1", &found, &err), PARLEY_NOT_FOUND);
    assert_int_equal(parley_value_find(json, found.value, "/x", &value, &err), PARLEY_NOT_FOUND);
    assert_string_equal(err.pointer, "/b/c");
    status = parley_value_pointer(json, found.value, &pointer, NULL);
    parley_json_destroy(json);
    return finish_text(status, pointer);
}

static const char chat[] =
    "{\"model\":\"m\",\"seed\":7,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

/* With all optional outputs; all or nothing. */
static enum pl_status convert(void *ctx)
{
    const unsigned wants = *(const unsigned *)ctx;
    struct parley_convert_opts opts = PARLEY_CONVERT_OPTS_INIT;
    char *out = NULL, *report = NULL, *carry = NULL;
    opts.to = "anthropic";
    enum parley_status status =
        parley_convert(chat, strlen(chat), &opts, &out, NULL, wants & 1 ? &report : NULL,
                       wants & 2 ? &carry : NULL, NULL);
    assert_int_equal(report != NULL, status == PARLEY_OK && wants & 1);
    assert_int_equal(carry != NULL, status == PARLEY_OK && (wants & 2) != 0);
    parley_free(report);
    parley_free(carry);
    return finish_text(status, out);
}

static const char events[] =
    "data: "
    "{\"id\":\"r1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H\\n\"}}]}"
    "\n\ndata: {\"id\":\"r1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":"
    "[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":"
    "\"{\\\"a"
    "\\\":1}\"}}]}}]}\n\ndata: "
    "{\"id\":\"r1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},"
    "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}"
    "\n\n";

/* Reads to the end, or stops early. */
static enum pl_status read_deltas(void *ctx)
{
    const char *last = ctx;
    struct parley_reader *reader = NULL;
    size_t n = 0;
    enum parley_status status = parley_reader_create("openai-chat", &reader, NULL);
    if (status == PARLEY_OK)
        status = parley_reader_feed(reader, events, strlen(events), NULL);
    if (status == PARLEY_OK)
        status = parley_reader_feed(reader, last, strlen(last), NULL);
    if (status == PARLEY_OK)
        status = parley_reader_end(reader, NULL);
    if (status == PARLEY_OK)
        while (parley_reader_next(reader))
            n++;
    assert_true(status != PARLEY_OK || n >= 8);
    parley_reader_destroy(reader);
    return (enum pl_status)status;
}

static enum pl_status edit_loose_json(void *ctx)
{
    (void)ctx;
    static const struct parley_change changes[] = {
        {PARLEY_SET, "/a/0", "{\"deep\": [true]}"},
        {PARLEY_INSERT, "/a/-", "3"},
        {PARLEY_SET, "/new", "null"},
    };
    struct parley_json *json = NULL;
    char *made = NULL;
    enum parley_status status =
        parley_json_parse(loose, strlen(loose), PARLEY_LENIENT, &json, NULL);
    if (status != PARLEY_OK)
        return (enum pl_status)status;
    status = parley_json_edit(json, changes, 3, &made, NULL, NULL);
    parley_json_destroy(json);
    return finish_text(status, made);
}

static enum pl_status explain(struct parley_schema *schema, const struct parley_json *json)
{
    int is_valid = -1;
    enum parley_status status = parley_schema_validate(schema, json, NULL, &is_valid);
    assert_int_equal(is_valid, status == PARLEY_OK ? 0 : -1);
    if (status != PARLEY_OK)
        return (enum pl_status)status;
    char *made = NULL;
    status = parley_schema_explain(schema, json, NULL, PARLEY_ZH, PARLEY_ERRORS, &made, NULL);
    return finish_text(status, made);
}

static enum pl_status use_schema(void *ctx)
{
    (void)ctx;
    struct parley_schema *schema = NULL;
    struct parley_json *json = NULL;
    enum parley_status status = parley_schema_compile(
        schema_text, strlen(schema_text), PARLEY_FORMAT_ASSERTION, NULL, 0, &schema, NULL);
    if (status == PARLEY_OK)
        status = parley_json_parse(text, strlen(text), PARLEY_BORROW, &json, NULL);
    if (status == PARLEY_OK)
        status = (enum parley_status)explain(schema, json);
    parley_json_destroy(json);
    parley_schema_destroy(schema);
    return (enum pl_status)status;
}

static void json_is_read_and_written_or_nothing_is(void **state)
{
    (void)state;
    assert_true(pl_fault_each(use_json, NULL) > 0);
}

static void a_text_is_borrowed_or_nothing_is(void **state)
{
    (void)state;
    assert_true(pl_fault_each(borrow_texts, NULL) > 0);
}

static void values_are_found_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each(find_values, NULL) > 0);
}

static void a_conversion_is_made_or_nothing_is(void **state)
{
    (void)state;
    for (unsigned wants = 0; wants < 4; wants++)
        assert_true(pl_fault_each(convert, &wants) > 0);
}

static void deltas_are_read_or_memory_is_said_to_be_missing(void **state)
{
    (void)state;
    char whole[] = "data: [DONE]\n\n", broken[] = "data: {\n\n", short_of_it[] = "";
    assert_true(pl_fault_each_tolerant(read_deltas, whole, PL_OK) > 0);
    assert_true(pl_fault_each_tolerant(read_deltas, broken, PL_SYNTAX) > 0);
    assert_true(pl_fault_each_tolerant(read_deltas, short_of_it, PL_OK) > 0);
}

static void an_edit_is_made_or_nothing_is(void **state)
{
    (void)state;
    assert_true(pl_fault_each(edit_loose_json, NULL) > 0);
}

static void a_schema_is_compiled_and_used_or_nothing_is(void **state)
{
    (void)state;
    /* A regular expression without its just-in-time code is slower, but correct. */
    assert_true(pl_fault_each_tolerant(use_schema, NULL, PL_OK) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_and_written_or_nothing_is),
        cmocka_unit_test(a_text_is_borrowed_or_nothing_is),
        cmocka_unit_test(values_are_found_without_memory),
        cmocka_unit_test(a_conversion_is_made_or_nothing_is),
        cmocka_unit_test(deltas_are_read_or_memory_is_said_to_be_missing),
        cmocka_unit_test(an_edit_is_made_or_nothing_is),
        cmocka_unit_test(a_schema_is_compiled_and_used_or_nothing_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

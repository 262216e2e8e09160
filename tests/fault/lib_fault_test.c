/* Everything the library does survives running out of memory at any point. */
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

/* Either the text is there or nothing is: no output may be half set. */
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
        status = parley_value_string(json, value, &made, NULL);
        status = (enum parley_status)finish_text(status, made);
    }
    parley_json_destroy(json);
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

static void an_edit_is_made_or_nothing_is(void **state)
{
    (void)state;
    assert_true(pl_fault_each(edit_loose_json, NULL) > 0);
}

static void a_schema_is_compiled_and_used_or_nothing_is(void **state)
{
    (void)state;
    /* A regular expression without its just-in-time code is slower, not wrong. */
    assert_true(pl_fault_each_tolerant(use_schema, NULL, PL_OK) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_and_written_or_nothing_is),
        cmocka_unit_test(an_edit_is_made_or_nothing_is),
        cmocka_unit_test(a_schema_is_compiled_and_used_or_nothing_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

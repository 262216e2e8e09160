#include "unit/schema/schema_test.h"

#include "base/buf.h"
#include "schema/builtin.h"

/* The instance must have exactly this one error. */
static void assert_error(const char *schema, const char *instance, enum pl_schema_lang lang,
                         const char *location, const char *message)
{
    struct bench b;
    bench_open(&b, pl_str_of(schema), NULL);
    bench_explain(&b, instance, lang);
    assert_false(b.report.is_valid);
    if (b.report.n_units != 1)
        fail_msg("%u errors", b.report.n_units);
    assert_text(b.report.units[0].instance_location, location);
    assert_text(b.report.units[0].message, message);
    bench_close(&b);
}

static void a_message_names_the_value_and_what_was_expected(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *instance, *location, *message;
    } cases[] = {
        {"{\"properties\":{\"temperature\":{\"type\":\"number\"}}}", "{\"temperature\":\"hot\"}",
         "/temperature", "\"temperature\" must be a number, but is the string \"hot\""},
        {"{\"type\":[\"string\",\"null\"]}", "[1,2]", "",
         "the value must be null or a string, but is an array of 2 items"},
        {"{\"items\":{\"minimum\":3}}", "[5,2]", "/1",
         "item 1 must be at least 3, but is the number 2"},
        {"{\"properties\":{\"a\":{\"items\":{\"type\":\"integer\"}}}}", "{\"a\":[1,1.5]}", "/a/1",
         "\"a\"[1] must be a whole number, but is the number 1.5"},
        {"{\"required\":[\"a\",\"b\",\"c\"]}", "{\"b\":1}", "",
         "the value lacks the members \"a\", \"c\""},
        {"{\"required\":[\"a\"]}", "{}", "", "the value lacks the member \"a\""},
        {"{\"enum\":[\"debug\",\"info\",\"warn\"]}", "\"wran\"", "",
         "the value must be one of \"debug\", \"info\", \"warn\", but is the string \"wran\"; "
         "did you mean \"warn\"?"},
        {"{\"enum\":[1,2,3,4,5,6,7,8,9]}", "0", "",
         "the value must be one of 1, 2, 3, 4, 5, 6, 7, 8, … (9 in all), but is the number 0"},
        {"{\"properties\":{\"colour\":{}},\"additionalProperties\":false}", "{\"color\":1}",
         "/color", "\"color\" is not a known member; did you mean \"colour\"?"},
        {"{\"minLength\":3}", "\"\\u00e4b\"", "",
         "the value must have at least 3 characters, but has 2 characters: the string "
         "\"\\u00e4b\""},
        {"{\"pattern\":\"^a\"}", "\"b\"", "",
         "the value must match the pattern \"^a\", but is the string \"b\""},
        {"{\"prefixItems\":[true],\"items\":false}", "[1,2]", "/1",
         "item 1 exceeds the allowed number of items"},
        {"{\"const\":null}", "{}", "", "the value must be null, but is an empty object"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]}", "null", "",
         "the value must be a whole number or a string, but is null"},
        {"{\"oneOf\":[true,{\"type\":\"number\"}]}", "1", "",
         "the value must match exactly one alternative, but matches 2"},
        {"{\"contains\":{\"type\":\"string\"},\"maxContains\":1}", "[\"a\",\"b\"]", "",
         "the value must have at most 1 item matching \"contains\", but has 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_error(cases[i].schema, cases[i].instance, PL_SCHEMA_EN, cases[i].location,
                     cases[i].message);
}

static void a_message_can_be_chinese(void **state)
{
    (void)state;
    assert_error("{\"properties\":{\"temperature\":{\"type\":\"number\"}}}",
                 "{\"temperature\":\"hot\"}", PL_SCHEMA_ZH, "/temperature",
                 "\"temperature\"必须是数字，但实际是字符串 \"hot\"");
    assert_error("{\"required\":[\"a\",\"b\"]}", "{}", PL_SCHEMA_ZH, "",
                 "该值缺少成员 \"a\"、\"b\"");
    assert_error("{\"enum\":[\"warn\"]}", "\"wran\"", PL_SCHEMA_ZH, "",
                 "该值必须是以下之一：\"warn\"，但实际是字符串 \"wran\"；是否想写 \"warn\"？");
}

static void a_long_value_is_cut_between_characters(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addc(&text, '"');
    for (int i = 0; i < 100; i++)
        pl_buf_adds(&text, "字");
    pl_buf_addc(&text, '"');
    pl_buf_addc(&text, '\0');
    assert_error("{\"type\":\"null\"}", text.ptr, PL_SCHEMA_EN, "",
                 "the value must be null, but is the string \"字字字字字字字字字字字字字字…\"");
}

static void only_the_branch_that_is_meant_speaks(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, pl_schema_builtin_find(PL_STR("envelope"))->text, NULL);
    bench_explain(&b,
                  "{\"version\":\"1.0\",\"messages\":[{\"id\":\"a\",\"role\":\"user\","
                  "\"timestamp\":1,\"segments\":[{\"kind\":\"media\",\"mediaType\":\"image\"}]}]}",
                  PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 1);
    assert_text(b.report.units[0].message, "\"segments\"[0] lacks the member \"url\"");
    assert_text(b.report.units[0].keyword_location,
                "/properties/messages/items/$ref/properties/segments/items/$ref/oneOf/10/$ref/"
                "required");
    assert_text(b.report.units[0].absolute_keyword_location,
                "https://hci-demo.local/prompt-envelope.schema.json#/$defs/MediaSegment/required");
    bench_close(&b);
}

static void an_unknown_kind_is_one_error_with_the_kinds(void **state)
{
    (void)state;
    const char *schema =
        "{\"oneOf\":[{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"const\":"
        "\"circle\"}}},{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"const\":"
        "\"square\"}}}]}";
    assert_error(
        schema, "{\"k\":\"sqare\"}", PL_SCHEMA_EN, "/k",
        "\"k\" must be one of \"circle\", \"square\", but is the string \"sqare\"; did you "
        "mean \"square\"?");
    assert_error(schema, "{}", PL_SCHEMA_EN, "",
                 "the value lacks the member \"k\"; this discriminator must be one of \"circle\", "
                 "\"square\"");
    assert_error(schema, "3", PL_SCHEMA_EN, "", "the value must be an object, but is the number 3");
}

static void a_missing_type_is_not_reported_once_per_rung(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, pl_schema_builtin_find(PL_STR("pi"))->text, NULL);
    bench_explain(&b, "{\"id\":\"1\",\"version\":\"1.0\",\"payload\":{}}", PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 1);
    assert_text(b.report.units[0].message, "the value lacks the member \"type\"");
    bench_close(&b);
}

static void the_nearest_alternative_says_why(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b,
               PL_STR("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{"
                      "\"a\":{\"type\":\"number\"}}}]}"),
               NULL);
    bench_explain(&b, "{\"a\":\"x\"}", PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 2);
    assert_text(b.report.units[0].message, "\"a\" must be a number, but is the string \"x\"");
    assert_text(b.report.units[0].keyword_location, "/anyOf/1/properties/a/type");
    assert_text(b.report.units[1].message, "the value matches none of the 2 alternatives");
    bench_close(&b);
}

static void errors_of_a_condition_are_not_reported(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b,
               PL_STR("{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":2},"
                      "\"else\":{\"minimum\":5}}"),
               NULL);
    bench_explain(&b, "1", PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 1);
    assert_text(b.report.units[0].keyword_location, "/else/minimum");
    bench_explain(&b, "\"x\"", PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 1);
    assert_text(b.report.units[0].keyword_location, "/then/minLength");
    bench_close(&b);
}

static void a_valid_instance_gets_its_annotations(void **state)
{
    (void)state;
    static const char *const expected[][3] = {
        {"", "/title", "\"T\""},
        {"/a", "/properties/a/default", "[1]"},
        {"", "/properties", "[\"a\"]"},
        {"/b", "/additionalProperties/x-unit", "\"m\""},
        {"", "/additionalProperties", "[\"b\"]"},
    };
    struct bench b;
    bench_open(&b,
               PL_STR("{\"title\":\"T\",\"properties\":{\"a\":{\"default\":[ 1 ]}},"
                      "\"additionalProperties\":{\"x-unit\":\"m\"},"
                      "\"not\":{\"required\":[\"z\"],\"title\":\"dropped\"}}"),
               NULL);
    bench_explain(&b, "{\"a\":1,\"b\":2}", PL_SCHEMA_EN);
    assert_true(b.report.is_valid);
    assert_int_equal(b.report.n_units, sizeof expected / sizeof *expected);
    for (uint32_t i = 0; i < b.report.n_units; i++) {
        assert_text(b.report.units[i].instance_location, expected[i][0]);
        assert_text(b.report.units[i].keyword_location, expected[i][1]);
        assert_text(b.report.units[i].annotation, expected[i][2]);
    }
    bench_close(&b);
}

static void a_failed_branch_leaves_no_annotations(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b,
               PL_STR("{\"anyOf\":[{\"title\":\"no\",\"type\":\"string\"},{\"title\":\"yes\"}]}"),
               NULL);
    bench_explain(&b, "1", PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 1);
    assert_text(b.report.units[0].annotation, "\"yes\"");
    bench_close(&b);
}

static void more_than_a_thousand_errors_are_cut(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    struct bench b;
    pl_buf_init(&text, 0);
    pl_buf_addc(&text, '[');
    for (int i = 0; i < 1001; i++)
        pl_buf_adds(&text, i ? ",0" : "0");
    pl_buf_addc(&text, ']');
    pl_buf_addc(&text, '\0');
    bench_open(&b, PL_STR("{\"items\":{\"type\":\"string\"}}"), NULL);
    bench_explain(&b, text.ptr, PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 1000);
    assert_true(b.report.is_cut);
    text.len -= 4;
    pl_buf_addc(&text, ']');
    pl_buf_addc(&text, '\0');
    bench_explain(&b, text.ptr, PL_SCHEMA_EN);
    assert_int_equal(b.report.n_units, 1000);
    assert_false(b.report.is_cut);
    bench_close(&b);
}

static void a_unit_knows_where_its_value_stands(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, PL_STR("{\"properties\":{\"a\":{\"type\":\"null\"}}}"), NULL);
    bench_explain(&b, "{ \"a\" : 12 }", PL_SCHEMA_EN);
    assert_int_equal(b.report.units[0].offset, 8);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_names_the_value_and_what_was_expected),
        cmocka_unit_test(a_message_can_be_chinese),
        cmocka_unit_test(a_long_value_is_cut_between_characters),
        cmocka_unit_test(only_the_branch_that_is_meant_speaks),
        cmocka_unit_test(an_unknown_kind_is_one_error_with_the_kinds),
        cmocka_unit_test(a_missing_type_is_not_reported_once_per_rung),
        cmocka_unit_test(the_nearest_alternative_says_why),
        cmocka_unit_test(errors_of_a_condition_are_not_reported),
        cmocka_unit_test(a_valid_instance_gets_its_annotations),
        cmocka_unit_test(a_failed_branch_leaves_no_annotations),
        cmocka_unit_test(more_than_a_thousand_errors_are_cut),
        cmocka_unit_test(a_unit_knows_where_its_value_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Shortcuts of the last compile step: each must give the same result as the long way. */
#include "unit/schema/schema_test.h"

#include "base/buf.h"

#define MAX_FRAMES 1000

static const char ladder_members[] = "\"properties\":{\"t\":{\"type\":\"string\"},\"p\":{\"type\":["
                                     "\"object\",\"string\"]},\"q\":{}}";
static const char ladder_rungs[] =
    "{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},"
    "\"then\":{\"properties\":{\"p\":{\"type\":\"object\",\"required\":[\"x\"]}}}},"
    "{\"if\":{\"properties\":{\"t\":{\"const\":\"b\"}}},\"then\":{\"required\":[\"p\",\"q\"]}},"
    "{\"if\":{\"properties\":{\"t\":{\"const\":\"c\"}}},\"then\":{\"not\":{\"required\":[\"p\"]}}},"
    "{\"if\":{\"properties\":{\"t\":{\"const\":\"d\"}}},"
    "\"then\":{\"properties\":{\"p\":true},\"minProperties\":3}},"
    "{\"if\":{\"properties\":{\"t\":{\"const\":\"e\"}}},\"then\":{\"required\":[\"unnamed\"]}},"
    "{\"if\":{\"properties\":{\"t\":{\"const\":\"f\"}}},\"then\":false},"
    "{\"if\":{\"properties\":{\"t\":{\"const\":\"g\"}}},\"then\":{\"type\":\"object\"},"
    "\"else\":{\"properties\":{\"q\":{\"type\":\"number\"}}}}";

/* The members and the rungs in one subschema, and the same separated, so that nothing is fused. */
static void a_ladder_beside_its_members_answers_like_its_rungs(void **state)
{
    (void)state;
    static const char *const values[] = {"", ",\"p\":{}", ",\"p\":{\"x\":1}", ",\"p\":\"\"",
                                         ",\"p\":5"};
    static const char *const more[] = {"", ",\"q\":1", ",\"q\":\"\"", ",\"unnamed\":1"};
    static const char *const kinds[] = {"\"a\"", "\"b\"", "\"c\"", "\"d\"",       "\"e\"",
                                        "\"f\"", "\"g\"", "\"h\"", "\"\\u0061\"", "5"};
    char together[2048], apart[2048], instance[128];
    struct bench fused, plain;
    int n_valid = 0;
    snprintf(together, sizeof together, "{%s,\"allOf\":[%s]}", ladder_members, ladder_rungs);
    snprintf(apart, sizeof apart, "{\"allOf\":[{%s},{\"allOf\":[%s]}]}", ladder_members,
             ladder_rungs);
    bench_open(&fused, pl_str_of(together), NULL);
    bench_open(&plain, pl_str_of(apart), NULL);
    for (int i = 0; i < 10 * 5 * 4; i++) {
        snprintf(instance, sizeof instance, "{\"t\":%s%s%s}", kinds[i / 20], values[i / 4 % 5],
                 more[i % 4]);
        bool is_valid = bench_accepts(&fused, instance);
        n_valid += is_valid;
        if (is_valid != bench_accepts(&plain, instance))
            fail_msg("%s", instance);
    }
    assert_true(n_valid > 20 && n_valid < 180);
    assert_true(bench_accepts(&fused, "{\"t\":\"a\",\"q\":1,\"p\":{\"x\":1}}"));
    assert_false(bench_accepts(&fused, "{\"t\":\"a\",\"q\":1,\"p\":{}}"));
    assert_false(bench_accepts(&fused, "{}")); /* all conditions hold, and one leads to false */
    bench_close(&fused);
    bench_close(&plain);
}

static void a_ladder_checks_every_value_of_a_repeated_member(void **state)
{
    (void)state;
    struct pl_json_opts opts = {.allows_duplicate_keys = true};
    struct bench b;
    bool is_valid = true;
    char schema[2048];
    snprintf(schema, sizeof schema, "{%s,\"allOf\":[%s]}", ladder_members, ladder_rungs);
    bench_open(&b, pl_str_of(schema), NULL);
    assert_int_equal(pl_json_parse(&b.arena,
                                   PL_STR("{\"t\":\"a\",\"p\":\"\",\"q\":1,\"p\":{\"x\":1}}"),
                                   &opts, &b.doc, NULL),
                     PL_OK);
    assert_int_equal(pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid), PL_OK);
    assert_false(is_valid);
    bench_close(&b);
}

/* A ladder in a branch of a switch, and one with tracked members. */
static void a_ladder_may_stand_anywhere(void **state)
{
    (void)state;
    char schema[4096];
    snprintf(schema, sizeof schema,
             "{\"oneOf\":[{\"type\":\"object\",\"required\":[\"t\"],\"properties\":{\"t\":{"
             "\"enum\":[\"a\",\"b\"]},\"p\":{},\"q\":{}},\"allOf\":[%s]},{\"type\":\"object\","
             "\"required\":[\"t\"],\"properties\":{\"t\":{\"const\":\"z\"}}}]}",
             ladder_rungs);
    assert_true(accepts(schema, "{\"t\":\"a\",\"p\":{\"x\":1}}"));
    assert_false(accepts(schema, "{\"t\":\"a\",\"p\":{}}"));
    assert_false(accepts(schema, "{\"t\":\"b\",\"p\":{}}"));
    assert_true(accepts(schema, "{\"t\":\"z\"}"));
    assert_false(accepts(schema, "{\"t\":\"c\"}"));
    snprintf(schema, sizeof schema, "{%s,\"allOf\":[%s],\"unevaluatedProperties\":false}",
             ladder_members, ladder_rungs);
    assert_true(accepts(schema, "{\"t\":\"a\",\"p\":{\"x\":1}}"));
    assert_false(accepts(schema, "{\"t\":\"a\",\"p\":{\"x\":1},\"r\":1}"));
    assert_false(accepts(schema, "{\"t\":\"a\",\"p\":{}}"));
}

/* Every length up to 40, with each byte wrong once. */
static void names_and_strings_are_compared_to_the_last_byte(void **state)
{
    (void)state;
    for (int len = 0; len <= 40; len++) {
        char text[48] = "", schema[256], instance[128];
        struct bench b;
        for (int i = 0; i < len; i++)
            text[i] = (char)('a' + i % 26);
        snprintf(schema, sizeof schema,
                 "{\"required\":[\"%s\"],\"properties\":{\"%s\":{\"const\":\"%s\"}},"
                 "\"additionalProperties\":false}",
                 text, text, text);
        bench_open(&b, pl_str_of(schema), NULL);
        snprintf(instance, sizeof instance, "{\"%s\":\"%s\"}", text, text);
        assert_true(bench_accepts(&b, instance));
        snprintf(instance, sizeof instance, "{\"%s\":\"%sx\"}", text, text);
        assert_false(bench_accepts(&b, instance));
        for (int i = 0; i < 2 * len; i++) {
            snprintf(instance, sizeof instance, "{\"%s\":\"%s\"}", text, text);
            instance[i < len ? 2 + i : 5 + i] = '-'; /* of the name, then of the string */
            assert_false(bench_accepts(&b, instance));
        }
        bench_close(&b);
    }
}

static void whole_numbers_keep_to_their_limits(void **state)
{
    (void)state;
    const char *range = "{\"type\":\"integer\",\"minimum\":-2,\"exclusiveMaximum\":10}";
    static const char *const inside[] = {"-2", "0", "-0", "9", "9.0", "0.9e1", "-2.0"};
    static const char *const outside[] = {
        "-3",    "10",  "9.5", "10.0", "1e1", "-1000000000000000000", "99999999999999999999",
        "\"1\"", "null"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        assert_true(accepts(range, inside[i]));
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_false(accepts(range, outside[i]));
    assert_false(accepts("{\"exclusiveMinimum\":9223372036854775807}", "9223372036854775807"));
    assert_true(accepts("{\"exclusiveMinimum\":9223372036854775807}", "9223372036854775808"));
    assert_false(accepts("{\"exclusiveMaximum\":-9223372036854775808}", "5"));
    assert_true(accepts("{\"maximum\":1,\"minimum\":1}", "1"));
    assert_true(accepts("{\"minimum\":5}", "\"no number\""));
}

static void kinds_without_keywords_of_their_own_pass_by_type(void **state)
{
    (void)state;
    const char *schema =
        "{\"items\":{\"type\":[\"object\",\"array\",\"null\"],\"required\":[\"a\"],"
        "\"minItems\":1,\"items\":{\"type\":\"string\"}}}";
    assert_true(accepts(schema, "[null,{\"a\":1},[\"x\"],null]"));
    assert_false(accepts(schema, "[null,{\"b\":1}]"));
    assert_false(accepts(schema, "[null,[]]"));
    assert_false(accepts(schema, "[null,[\"x\",1]]"));
    assert_false(accepts(schema, "[null,true]"));
    const char *list = "{\"properties\":{\"l\":{\"type\":[\"array\",\"null\"],\"maxItems\":2,"
                       "\"items\":{\"type\":\"object\"}}}}";
    assert_true(accepts(list, "{\"l\":null}"));
    assert_true(accepts(list, "{\"l\":[{},{\"any\":[1]}]}"));
    assert_false(accepts(list, "{\"l\":[{},1]}"));
    assert_false(accepts(list, "{\"l\":[{},{},{}]}"));
}

/* `depth` times `open`, then `core`, then `close` as often. */
static enum pl_status check_deep(const char *schema, int depth, const char *open, const char *core,
                                 const char *close)
{
    struct pl_json_opts opts = {.max_depth = 4 * MAX_FRAMES};
    PL_CLEANUP_BUF struct pl_buf text;
    struct bench b;
    bool is_valid = false;
    pl_buf_init(&text, 0);
    for (int i = 0; i < depth; i++)
        pl_buf_adds(&text, open);
    pl_buf_adds(&text, core);
    for (int i = 0; i < depth; i++)
        pl_buf_adds(&text, close);
    bench_open(&b, pl_str_of(schema), NULL);
    assert_int_equal(pl_json_parse(&b.arena, pl_buf_str(&text), &opts, &b.doc, NULL), PL_OK);
    enum pl_status status = pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid);
    assert_int_equal(is_valid, status == PL_OK);
    bench_close(&b);
    return status;
}

static void every_short_cut_counts_its_frames(void **state)
{
    (void)state;
    static const char record[] = "{\"type\":\"object\",\"properties\":{\"n\":{\"$ref\":\"#\"}}}";
    static const char list[] = "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}";
    static const char ladder[] =
        "{\"properties\":{\"t\":{},\"n\":{\"$ref\":\"#\"}},\"allOf\":["
        "{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"n\"]}},"
        "{\"if\":{\"properties\":{\"t\":{\"const\":\"b\"}}},\"then\":{\"required\":[\"n\"]}}]}";
    assert_int_equal(check_deep(record, MAX_FRAMES - 1, "{\"n\":", "{}", "}"), PL_OK);
    assert_int_equal(check_deep(record, MAX_FRAMES, "{\"n\":", "{}", "}"), PL_LIMIT);
    assert_int_equal(check_deep(list, MAX_FRAMES - 1, "[", "[]", "]"), PL_OK);
    assert_int_equal(check_deep(list, MAX_FRAMES, "[", "[]", "]"), PL_LIMIT);
    assert_int_equal(check_deep(ladder, MAX_FRAMES - 1, "{\"t\":\"a\",\"n\":", "{\"t\":1}", "}"),
                     PL_OK);
    assert_int_equal(check_deep(ladder, MAX_FRAMES, "{\"t\":\"a\",\"n\":", "{\"t\":1}", "}"),
                     PL_LIMIT);
}

static void a_rung_that_leads_back_to_its_ladder_is_a_limit(void **state)
{
    (void)state;
    struct bench b;
    bool is_valid = true;
    bench_open(&b,
               PL_STR("{\"properties\":{\"t\":{}},\"allOf\":[{\"if\":{\"properties\":{\"t\":{"
                      "\"const\":\"a\"}}},\"then\":{\"$ref\":\"#\"}},{\"if\":{\"properties\":{"
                      "\"t\":{\"const\":\"b\"}}},\"then\":{\"properties\":{\"t\":true}}}]}"),
               NULL);
    assert_true(bench_accepts(&b, "{\"t\":\"b\"}"));
    bench_read(&b, "{\"t\":\"a\"}");
    assert_int_equal(pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid), PL_LIMIT);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ladder_beside_its_members_answers_like_its_rungs),
        cmocka_unit_test(a_ladder_checks_every_value_of_a_repeated_member),
        cmocka_unit_test(a_ladder_may_stand_anywhere),
        cmocka_unit_test(names_and_strings_are_compared_to_the_last_byte),
        cmocka_unit_test(whole_numbers_keep_to_their_limits),
        cmocka_unit_test(kinds_without_keywords_of_their_own_pass_by_type),
        cmocka_unit_test(every_short_cut_counts_its_frames),
        cmocka_unit_test(a_rung_that_leads_back_to_its_ladder_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

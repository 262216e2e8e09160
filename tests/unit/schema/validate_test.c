#include "unit/schema/schema_test.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>

/* An array of n different numbers. */
static void write_numbers(struct pl_buf *to, int n)
{
    pl_buf_addc(to, '[');
    for (int i = 0; i < n; i++)
        pl_buf_addf(to, "%s%d", i ? "," : "", i);
    pl_buf_addc(to, ']');
}

static enum pl_status status_of(const char *schema, const struct pl_schema_opts *opts,
                                const char *instance)
{
    struct bench b;
    bool is_valid = true;
    bench_open(&b, pl_str_of(schema), opts);
    bench_read(&b, instance);
    enum pl_status status = pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid);
    assert_int_equal(
        pl_schema_explain(b.run, &b.arena, &b.doc, b.doc.root, PL_SCHEMA_EN, &b.report), status);
    if (status != PL_OK)
        assert_true(is_valid); /* unchanged */
    bench_close(&b);
    return status;
}

static void a_reference_to_itself_is_a_limit_and_no_crash(void **state)
{
    (void)state;
    assert_int_equal(status_of("{\"$ref\":\"#\"}", NULL, "1"), PL_LIMIT);
    assert_int_equal(status_of("{\"allOf\":[{\"$ref\":\"#\"}]}", NULL, "1"), PL_LIMIT);
    assert_int_equal(status_of("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
                               "\"b\":{\"$ref\":\"#/$defs/a\"}}}",
                               NULL, "1"),
                     PL_LIMIT);
    assert_int_equal(status_of("{\"not\":{\"$ref\":\"#\"}}", NULL, "1"), PL_LIMIT);
}

static void a_recursive_schema_follows_the_instance(void **state)
{
    (void)state;
    const char *tree = "{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"}},"
                       "\"additionalProperties\":false}";
    assert_true(accepts(tree, "{\"next\":{\"next\":{\"next\":{}}}}"));
    assert_false(accepts(tree, "{\"next\":{\"next\":{\"next\":{\"x\":1}}}}"));
}

static void exponential_schemas_end_at_the_step_limit(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
    for (int i = 0; i < 40; i++)
        pl_buf_addf(&text,
                    "\"%d\":{\"allOf\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]},", i,
                    i + 1, i + 1);
    pl_buf_adds(&text, "\"40\":{\"minimum\":0}}}");
    pl_buf_addc(&text, '\0');
    assert_int_equal(status_of(text.ptr, NULL, "1"), PL_LIMIT);
}

static void one_step_over_the_limit_is_refused(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    write_numbers(&text, 99);
    pl_buf_addc(&text, '\0');
    const char *schema = "{\"items\":{\"type\":\"number\"}}";
    /* One for the subschema, one for each item. */
    struct pl_schema_opts enough = {.max_steps = 100}, few = {.max_steps = 99};
    struct bench b;
    bool is_valid;
    bench_open(&b, pl_str_of(schema), &enough);
    bench_read(&b, text.ptr);
    assert_int_equal(pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid), PL_OK);
    assert_true(is_valid);
    bench_close(&b);
    assert_int_equal(status_of(schema, &few, text.ptr), PL_LIMIT);
}

static void a_run_works_again_after_it_hit_a_limit(void **state)
{
    (void)state;
    struct bench b;
    bool is_valid;
    bench_open(&b, PL_STR("{\"properties\":{\"a\":{\"$ref\":\"#/properties/a\"}}}"), NULL);
    bench_read(&b, "{\"a\":1}");
    assert_int_equal(pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid), PL_LIMIT);
    assert_true(bench_accepts(&b, "{\"b\":1}"));
    bench_close(&b);
}

static void a_pattern_that_backtracks_forever_is_a_limit(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addc(&text, '"');
    pl_buf_fill(&text, 'a', 4000);
    pl_buf_adds(&text, "!\"");
    pl_buf_addc(&text, '\0');
    assert_int_equal(status_of("{\"pattern\":\"^(a|a|aa)+$\"}", NULL, text.ptr), PL_LIMIT);
}

static void numbers_are_compared_exactly(void **state)
{
    (void)state;
    assert_false(accepts("{\"maximum\":9007199254740992}", "9007199254740993"));
    assert_true(accepts("{\"minimum\":18446744073709551616}", "18446744073709551616.0"));
    assert_false(accepts("{\"exclusiveMinimum\":1e400}", "1e400"));
    assert_true(accepts("{\"exclusiveMinimum\":1e400}", "1.0000000000000001e400"));
    assert_true(accepts("{\"multipleOf\":0.01}", "19.99"));
    assert_true(accepts("{\"type\":\"integer\"}", "1e2"));
    assert_false(accepts("{\"type\":\"integer\"}", "1e-1"));
    assert_true(accepts("{\"const\":1.0}", "1"));
    assert_true(accepts("{\"items\":{\"type\":\"integer\"}}", "[1,2.0,3e1]"));
    assert_false(accepts("{\"items\":{\"type\":\"integer\"}}", "[1,2.5]"));
}

static void escaped_names_and_strings_count_decoded(void **state)
{
    (void)state;
    const char *schema = "{\"properties\":{\"a\":{\"const\":\"x\\u0079\"}},\"required\":[\"a\"],"
                         "\"additionalProperties\":false}";
    assert_true(accepts(schema, "{\"\\u0061\":\"\\u0078y\"}"));
    assert_false(accepts(schema, "{\"\\u0062\":\"xy\"}"));
    assert_true(accepts("{\"maxLength\":1}", "\"\\ud83d\\ude00\""));
    assert_false(accepts("{\"minLength\":2}", "\"\\ud83d\\ude00\""));
    assert_true(accepts("{\"pattern\":\"^xy$\"}", "\"\\u0078y\""));
    assert_true(accepts("{\"patternProperties\":{\"^a\":false}}", "{\"b\":1}"));
    assert_false(accepts("{\"patternProperties\":{\"^a\":false}}", "{\"\\u0061\":1}"));
}

/* A oneOf that one member decides, and the same made undecidable, give the same results. */
static void a_decided_one_of_answers_like_a_tried_one(void **state)
{
    (void)state;
    static const char branches[] =
        "{\"type\":\"object\",\"required\":[\"k\",\"a\"],\"properties\":{\"k\":{\"const\":\"a\"}}},"
        "{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"enum\":[\"b\",\"c\"]},"
        "\"n\":{\"type\":\"number\"}}}";
    static const char *const instances[] = {"{\"k\":\"a\",\"a\":1}",
                                            "{\"k\":\"a\"}",
                                            "{\"k\":\"b\"}",
                                            "{\"k\":\"c\",\"n\":1}",
                                            "{\"k\":\"c\",\"n\":\"\"}",
                                            "{\"k\":\"d\"}",
                                            "{\"k\":1}",
                                            "{}",
                                            "[]",
                                            "\"a\"",
                                            "{\"n\":1,\"k\":\"\\u0062\"}"};
    static const bool expected[] = {true,  false, true,  true,  false, false,
                                    false, false, false, false, true};
    char schema[1024];
    for (int i = 0; i < 4; i++) {
        snprintf(schema, sizeof schema, "{\"%s\":[%s%s]}", i % 2 ? "oneOf" : "anyOf", branches,
                 i < 2 ? "" : ",{\"const\":\"never\"}");
        for (size_t k = 0; k < sizeof expected; k++)
            if (accepts(schema, instances[k]) != expected[k])
                fail_msg("%s with %s", schema, instances[k]);
    }
}

static void true_and_false_decide_like_strings(void **state)
{
    (void)state;
    const char *schema = "{\"oneOf\":[{\"type\":\"object\",\"required\":[\"ok\"],\"properties\":{"
                         "\"ok\":{\"const\":true}}},{\"type\":\"object\",\"required\":[\"ok\","
                         "\"why\"],\"properties\":{\"ok\":{\"enum\":[false,null]}}}]}";
    assert_true(accepts(schema, "{\"ok\":true}"));
    assert_false(accepts(schema, "{\"ok\":false}"));
    assert_true(accepts(schema, "{\"ok\":false,\"why\":1}"));
    assert_true(accepts(schema, "{\"ok\":null,\"why\":1}"));
    assert_false(accepts(schema, "{\"ok\":\"true\"}"));
    assert_false(accepts(schema, "{\"ok\":1}"));
    const char *ladder = "{\"allOf\":[{\"if\":{\"properties\":{\"ok\":{\"const\":true}}},\"then\":{"
                         "\"required\":[\"out\"]}},{\"if\":{\"properties\":{\"ok\":{\"const\":"
                         "false}}},\"then\":{\"not\":{\"required\":[\"out\"]}}}]}";
    assert_true(accepts(ladder, "{\"ok\":true,\"out\":1}"));
    assert_false(accepts(ladder, "{\"ok\":true}"));
    assert_true(accepts(ladder, "{\"ok\":false}"));
    assert_false(accepts(ladder, "{\"ok\":false,\"out\":1}"));
    assert_true(accepts(ladder, "{\"ok\":5}"));
    assert_false(accepts(ladder, "{}"));
}

static void a_ladder_answers_like_its_rungs(void **state)
{
    (void)state;
    static const char *const rungs[] = {
        "{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"x\"]}}",
        "{\"if\":{\"properties\":{\"t\":{\"const\":\"b\"}},\"required\":[\"t\"]},"
        "\"then\":{\"required\":[\"y\"]},\"else\":{\"maxProperties\":2}}",
    };
    static const char *const instances[] = {
        "{\"t\":\"a\"}",
        "{\"t\":\"a\",\"x\":1}",
        "{\"t\":\"a\",\"x\":1,\"z\":1}",
        "{\"t\":\"b\"}",
        "{\"t\":\"b\",\"y\":1}",
        "{\"t\":\"b\",\"y\":1,\"z\":1}",
        "{\"t\":\"c\"}",
        "{\"t\":\"c\",\"q\":1,\"z\":1}",
        "{\"t\":5}",
        "{}",
        "{\"x\":1}",
        "{\"x\":1,\"y\":1,\"z\":1}",
        "7",
    };
    char together[1024], apart[1024];
    snprintf(together, sizeof together, "{\"allOf\":[%s,%s]}", rungs[0], rungs[1]);
    snprintf(apart, sizeof apart, "{\"allOf\":[%s],\"$ref\":\"#/$defs/b\",\"$defs\":{\"b\":%s}}",
             rungs[0], rungs[1]);
    for (size_t i = 0; i < sizeof instances / sizeof *instances; i++)
        if (accepts(together, instances[i]) != accepts(apart, instances[i]))
            fail_msg("%s", instances[i]);
    assert_false(accepts(together, "{\"t\":\"a\"}"));
    assert_true(accepts(together, "{\"t\":\"a\",\"x\":1}"));
}

static void many_names_and_many_choices_are_found(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf schema, instance;
    pl_buf_init(&schema, 0);
    pl_buf_init(&instance, 0);
    pl_buf_adds(&schema, "{\"additionalProperties\":{\"enum\":[");
    for (int i = 0; i < 500; i++)
        pl_buf_addf(&schema, "%s\"choice_in_the_middle_%d_of_a_long_name\"", i ? "," : "", i);
    pl_buf_adds(&schema, "]},\"required\":[");
    pl_buf_addc(&instance, '{');
    for (int i = 0; i < 300; i++) {
        pl_buf_addf(&schema, "%s\"member_in_the_middle_%d_of_a_long_name\"", i ? "," : "", i);
        pl_buf_addf(&instance,
                    "%s\"member_in_the_middle_%d_of_a_long_name\":"
                    "\"choice_in_the_middle_%d_of_a_long_name\"",
                    i ? "," : "", i, i + 200);
    }
    pl_buf_adds(&schema, "]}");
    pl_buf_addc(&schema, '\0');
    size_t len = instance.len;
    pl_buf_addc(&instance, '}');
    pl_buf_addc(&instance, '\0');
    assert_true(accepts(schema.ptr, instance.ptr));
    /* One invalid choice; then one member less. */
    instance.ptr[len - 2] = 'X';
    assert_false(accepts(schema.ptr, instance.ptr));
    instance.ptr[len - 2] = 'e';
    memcpy(instance.ptr + 2, "remmem", 6);
    assert_false(accepts(schema.ptr, instance.ptr));
}

static void repeated_items_are_found_among_few_and_many(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    const char *schema = "{\"uniqueItems\":true}";
    write_numbers(&text, 20000);
    pl_buf_addc(&text, '\0');
    assert_true(accepts(schema, text.ptr));
    text.len -= 2;
    pl_buf_adds(&text, ",777.0]");
    pl_buf_addc(&text, '\0');
    assert_false(accepts(schema, text.ptr));
    assert_false(accepts(schema, "[{\"a\":1,\"b\":[2]},{\"b\":[2.0],\"a\":1}]"));
    assert_true(accepts(schema, "[1,true,\"1\",[1],{\"1\":1}]"));
}

static void unevaluated_members_of_a_wide_object_are_found(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    const char *schema = "{\"anyOf\":[{\"patternProperties\":{\"^a\":{\"type\":\"number\"}}},"
                         "{\"patternProperties\":{\"^b\":{\"type\":\"string\"}}}],"
                         "\"unevaluatedProperties\":false}";
    pl_buf_addc(&text, '{');
    for (int i = 0; i < 5000; i++)
        pl_buf_addf(&text, "%s\"a%d\":%d", i ? "," : "", i, i);
    size_t len = text.len;
    pl_buf_adds(&text, ",\"b\":\"x\"}");
    pl_buf_addc(&text, '\0');
    assert_true(accepts(schema, text.ptr));
    text.len = len;
    pl_buf_adds(&text, ",\"b\":1}"); /* now the second branch fails and leaves it unevaluated */
    pl_buf_addc(&text, '\0');
    assert_false(accepts(schema, text.ptr));
}

static void format_annotates_unless_it_is_asserted(void **state)
{
    (void)state;
    struct pl_schema_opts opts = {.asserts_format = true};
    struct bench b;
    assert_true(accepts("{\"format\":\"ipv4\"}", "\"nowhere\""));
    bench_open(&b, PL_STR("{\"format\":\"ipv4\"}"), &opts);
    assert_false(bench_accepts(&b, "\"nowhere\""));
    assert_true(bench_accepts(&b, "\"127.0.0.1\""));
    assert_true(bench_accepts(&b, "5"));
    bench_close(&b);
}

static size_t n_allocations;

static void *counting(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    n_allocations += size != 0;
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

static void checking_a_valid_instance_allocates_nothing(void **state)
{
    (void)state;
    struct bench b;
    bool is_valid = false;
    bench_open(&b,
               PL_STR("{\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":\"^a+$\"},"
                      "\"l\":{\"items\":{\"enum\":[\"x\",\"y\"]},\"uniqueItems\":true}},"
                      "\"patternProperties\":{\"^z\":true},\"additionalProperties\":false}"),
               NULL);
    bench_read(&b, "{\"a\":\"aaa\",\"l\":[\"x\",\"y\"],\"zz\":1}");
    pl_mem_set_hook(counting, NULL);
    n_allocations = 0;
    enum pl_status status = pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid);
    pl_mem_set_hook(NULL, NULL);
    assert_int_equal(status, PL_OK);
    assert_true(is_valid);
    assert_int_equal(n_allocations, 0);
    bench_close(&b);
}

/* An instance without values for a pattern never needs the memory for patterns. */
static void a_brief_run_prepares_for_patterns_when_one_is_tried(void **state)
{
    (void)state;
    struct bench b;
    bool is_valid = false;
    bench_open(&b, PL_STR("{\"properties\":{\"a\":{\"pattern\":\"^a+$\"}}}"), NULL);
    struct pl_schema_run *whole = b.run;
    assert_int_equal(pl_schema_run_create_brief(b.schema, &b.run), PL_OK);
    bench_read(&b, "{\"b\":\"aaa\"}");
    pl_mem_set_hook(counting, NULL);
    n_allocations = 0;
    enum pl_status status = pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid);
    pl_mem_set_hook(NULL, NULL);
    assert_int_equal(status, PL_OK);
    assert_true(is_valid);
    assert_int_equal(n_allocations, 0);
    bench_read(&b, "{\"a\":\"aaa\"}");
    pl_mem_set_hook(counting, NULL);
    status = pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid);
    pl_mem_set_hook(NULL, NULL);
    assert_int_equal(status, PL_OK);
    assert_true(is_valid);
    assert_true(n_allocations > 0);
    bench_read(&b, "{\"a\":\"aba\"}");
    assert_int_equal(pl_schema_check(b.run, &b.doc, b.doc.root, &is_valid), PL_OK);
    assert_false(is_valid);
    pl_schema_run_destroy(whole);
    bench_close(&b);
}

#define BRANCH(values, rest)                                                                       \
    "{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":" values rest "}}"
#define RUNG(value, then)                                                                          \
    "{\"if\":{\"properties\":{\"k\":{\"const\":\"" value "\"}}},\"then\":{\"required\":[\"" then   \
    "\"]}}"

/* If a member occurs twice, every value counts, also for a discriminator: a branch is chosen if all
 * values select it, and a condition holds if all values satisfy it. */
static void a_deciding_member_that_stands_twice_counts_with_every_value(void **state)
{
    (void)state;
    static const char one_of[] =
        "{\"oneOf\":[" BRANCH("{\"const\":\"a\"}", ",\"x\":{\"type\":\"integer\"}") "," BRANCH(
            "{\"enum\":[\"b\",\"c\",null]}", "") "]}";
    static const char ladder[] = "{\"allOf\":[" RUNG("a", "x") "," RUNG("b", "y") "]}";
    static const char object[] =
        "{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"}},"
        "\"allOf\":[" RUNG("a", "x") "," RUNG("b", "y") "]}";
    assert_true(accepts(one_of, "{\"k\":\"a\",\"k\":\"a\"}"));
    assert_true(accepts(one_of, "{\"k\":\"b\",\"k\":\"c\"}"));
    assert_true(accepts(one_of, "{\"k\":null,\"x\":1,\"k\":\"c\"}"));
    assert_false(accepts(one_of, "{\"k\":\"b\",\"k\":\"a\"}"));
    assert_false(accepts(one_of, "{\"k\":\"a\",\"k\":\"b\"}"));
    assert_false(accepts(one_of, "{\"k\":1,\"k\":\"a\"}"));
    assert_false(accepts(one_of, "{\"k\":\"a\",\"x\":\"\",\"k\":\"a\"}"));
    const char *const ladders[] = {ladder, object};
    for (int i = 0; i < 2; i++) {
        assert_true(accepts(ladders[i], "{\"k\":\"a\",\"k\":\"b\"}"));
        assert_true(accepts(ladders[i], "{\"k\":\"b\",\"x\":1,\"k\":\"a\"}"));
        assert_true(accepts(ladders[i], "{\"k\":\"d\",\"k\":\"e\"}"));
        assert_false(accepts(ladders[i], "{\"k\":\"b\",\"k\":\"b\"}"));
        assert_true(accepts(ladders[i], "{\"k\":\"b\",\"k\":\"b\",\"y\":1}"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_to_itself_is_a_limit_and_no_crash),
        cmocka_unit_test(a_recursive_schema_follows_the_instance),
        cmocka_unit_test(exponential_schemas_end_at_the_step_limit),
        cmocka_unit_test(one_step_over_the_limit_is_refused),
        cmocka_unit_test(a_run_works_again_after_it_hit_a_limit),
        cmocka_unit_test(a_pattern_that_backtracks_forever_is_a_limit),
        cmocka_unit_test(numbers_are_compared_exactly),
        cmocka_unit_test(escaped_names_and_strings_count_decoded),
        cmocka_unit_test(a_decided_one_of_answers_like_a_tried_one),
        cmocka_unit_test(true_and_false_decide_like_strings),
        cmocka_unit_test(a_ladder_answers_like_its_rungs),
        cmocka_unit_test(a_deciding_member_that_stands_twice_counts_with_every_value),
        cmocka_unit_test(many_names_and_many_choices_are_found),
        cmocka_unit_test(repeated_items_are_found_among_few_and_many),
        cmocka_unit_test(unevaluated_members_of_a_wide_object_are_found),
        cmocka_unit_test(format_annotates_unless_it_is_asserted),
        cmocka_unit_test(checking_a_valid_instance_allocates_nothing),
        cmocka_unit_test(a_brief_run_prepares_for_patterns_when_one_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

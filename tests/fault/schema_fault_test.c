/* Compiling, checking and explaining with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fault/fault.h"
#include "schema/builtin.h"
#include "schema/schema.h"

struct scenario {
    struct pl_str schema, instance;
    struct pl_schema_opts opts;
};

static enum pl_status run_all(const struct scenario *s, const struct pl_schema *schema,
                              bool is_brief, struct pl_arena *arena)
{
    struct pl_schema_run *run = NULL;
    struct pl_json_doc doc;
    struct pl_schema_report report = {0};
    bool is_valid = false;
    enum pl_status status =
        is_brief ? pl_schema_run_create_brief(schema, &run) : pl_schema_run_create(schema, &run);
    if (status == PL_OK)
        status = pl_json_parse(arena, s->instance, NULL, &doc, NULL);
    if (status == PL_OK)
        status = pl_schema_check(run, &doc, doc.root, &is_valid);
    if (status == PL_OK) {
        status = pl_schema_explain(run, arena, &doc, doc.root, PL_SCHEMA_EN, &report);
        assert_int_equal(report.units != NULL, status == PL_OK);
    }
    pl_schema_run_destroy(run);
    return status;
}

static enum pl_status compiles_checks_and_explains(void *ctx)
{
    const struct scenario *s = ctx;
    struct pl_schema *schema = NULL;
    struct pl_error err = {0};
    enum pl_status status = pl_schema_compile(s->schema, &s->opts, &schema, &err);
    assert_int_equal(schema != NULL, status == PL_OK);
    if (status != PL_OK)
        return status;
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    status = run_all(s, schema, false, &arena);
    if (status == PL_OK)
        status = run_all(s, schema, true, &arena);
    pl_arena_deinit(&arena);
    pl_schema_destroy(schema);
    return status;
}

static void survives_every_refused_allocation_of_a_broken_envelope(void **state)
{
    (void)state;
    struct scenario s = {
        .schema = pl_schema_builtin_find(PL_STR("envelope"))->text,
        .instance = PL_STR("{\"version\":\"1.0\",\"messages\":[{\"id\":\"a\",\"role\":\"user\","
                           "\"timestamp\":1,\"segments\":[{\"kind\":\"text\"},{\"k\":1}]}]}")};
    assert_true(pl_fault_each_tolerant(compiles_checks_and_explains, &s, PL_OK) > 10);
}

static void survives_every_refused_allocation_of_a_valid_frame(void **state)
{
    (void)state;
    struct scenario s = {.schema = pl_schema_builtin_find(PL_STR("pi"))->text,
                         .instance =
                             PL_STR("{\"id\":\"1\",\"version\":\"1.0\",\"type\":\"slash_command\","
                                    "\"payload\":{\"name\":\"n\\u0061\"}}")};
    assert_true(pl_fault_each_tolerant(compiles_checks_and_explains, &s, PL_OK) > 10);
}

static void survives_every_refused_allocation_of_the_rare_keywords(void **state)
{
    (void)state;
    struct pl_schema_source source = {PL_STR("http://x/a"), PL_STR("{\"$defs\":{\"n\":{}}}")};
    struct scenario s = {
        .schema = PL_STR(
            "{\"$id\":\"http://x/main\",\"anyOf\":[{\"required\":[\"zz\"]},{\"patternProperties\":"
            "{\"^a\":{\"uniqueItems\":true}}}],\"unevaluatedProperties\":{\"contains\":{\"const\":"
            "[1,{\"a\":2}]}},\"properties\":{\"r\":{\"$ref\":\"a#/$defs/"
            "n\"},\"d\":{\"$dynamicRef\":"
            "\"#t\"}},\"$defs\":{\"t\":{\"$dynamicAnchor\":\"t\"},\"u\":{\"$id\":\"u\","
            "\"$dynamicAnchor\":\"t\"}}}"),
        .instance = PL_STR("{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,\"\\u0041\"],\"r\":1,\"d\":2,"
                           "\"\\u0061b\":\"x\",\"z\":[1]}"),
        .opts = {.sources = &source, .n_sources = 1}};
    assert_true(pl_fault_each_tolerant(compiles_checks_and_explains, &s, PL_OK) > 10);
}

static enum pl_status refuses_a_broken_schema(void *ctx)
{
    (void)ctx;
    struct pl_schema *schema = NULL;
    struct pl_error err = {0};
    enum pl_status status = pl_schema_compile(
        PL_STR("{\"properties\":{\"a\":{\"\\u0074ype\":\"x\"}}}"), NULL, &schema, &err);
    assert_null(schema);
    return status;
}

static void survives_every_refused_allocation_of_a_broken_schema(void **state)
{
    (void)state;
    /* The pointer of an error may be lost, but not the error. */
    assert_true(pl_fault_each_tolerant(refuses_a_broken_schema, NULL, PL_INVALID) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_every_refused_allocation_of_a_broken_envelope),
        cmocka_unit_test(survives_every_refused_allocation_of_a_valid_frame),
        cmocka_unit_test(survives_every_refused_allocation_of_the_rare_keywords),
        cmocka_unit_test(survives_every_refused_allocation_of_a_broken_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Helpers of the schema tests: compile, check and explain a text. */
#ifndef PL_TESTS_SCHEMA_TEST_H
#define PL_TESTS_SCHEMA_TEST_H

#include "schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A compiled schema with its run and one parsed instance. */
struct bench {
    struct pl_schema *schema;
    struct pl_schema_run *run;
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_schema_report report;
};

static inline void bench_open(struct bench *b, struct pl_str schema,
                              const struct pl_schema_opts *opts)
{
    struct pl_error err = {0};
    memset(b, 0, sizeof *b);
    pl_arena_init(&b->arena, 0);
    if (pl_schema_compile(schema, opts, &b->schema, &err) != PL_OK)
        fail_msg("%s at \"%s\"", err.message, err.pointer);
    assert_int_equal(pl_schema_run_create(b->schema, &b->run), PL_OK);
}

static inline void bench_close(struct bench *b)
{
    pl_schema_run_destroy(b->run);
    pl_schema_destroy(b->schema);
    pl_arena_deinit(&b->arena);
}

static inline void bench_read(struct bench *b, const char *instance)
{
    struct pl_error err = {0};
    struct pl_json_opts opts = {.allows_duplicate_keys = true};
    if (pl_json_parse(&b->arena, pl_str_of(instance), &opts, &b->doc, &err) != PL_OK)
        fail_msg("%s in %s", err.message, instance);
}

/* Whether the instance is valid; check and explain must agree. */
static inline bool bench_accepts(struct bench *b, const char *instance)
{
    bool is_valid = false;
    bench_read(b, instance);
    assert_int_equal(pl_schema_check(b->run, &b->doc, b->doc.root, &is_valid), PL_OK);
    assert_int_equal(
        pl_schema_explain(b->run, &b->arena, &b->doc, b->doc.root, PL_SCHEMA_EN, &b->report),
        PL_OK);
    assert_int_equal(is_valid, b->report.is_valid);
    return is_valid;
}

static inline void bench_explain(struct bench *b, const char *instance, enum pl_schema_lang lang)
{
    bench_read(b, instance);
    assert_int_equal(pl_schema_explain(b->run, &b->arena, &b->doc, b->doc.root, lang, &b->report),
                     PL_OK);
}

/* One schema, one instance. */
static inline bool accepts(const char *schema, const char *instance)
{
    struct bench b;
    bench_open(&b, pl_str_of(schema), NULL);
    bool is_valid = bench_accepts(&b, instance);
    bench_close(&b);
    return is_valid;
}

static inline void assert_text(struct pl_str text, const char *expected)
{
    if (!pl_str_eq(text, pl_str_of(expected)))
        fail_msg("\n  is: %.*s\nnot: %s", PL_STR_ARG(text), expected);
}

#endif

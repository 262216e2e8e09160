/* A schema, a NUL, an instance. A schema that compiles must check and explain without a crash or
 * hang, and both must give the same answer: they run two programs made from one schema. */
#include "schema/schema.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_report(const struct pl_schema_report *report, struct pl_str text)
{
    must(report->is_valid || report->n_units > 0);
    for (uint32_t i = 0; i < report->n_units; i++) {
        const struct pl_schema_unit *unit = &report->units[i];
        must(unit->offset < text.len);
        must(report->is_valid ? unit->annotation.len > 0 : unit->message.len > 0);
    }
}

static void run(const struct pl_schema *schema, struct pl_str text)
{
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_schema_run *scratch = NULL;
    struct pl_json_opts opts = {.allows_duplicate_keys = text.len % 3 == 0};
    pl_arena_init(&arena, 0);
    if (pl_json_parse(&arena, text, &opts, &doc, NULL) == PL_OK &&
        pl_schema_run_create(schema, &scratch) == PL_OK) {
        bool is_valid = false;
        struct pl_schema_report report = {0};
        enum pl_status checked = pl_schema_check(scratch, &doc, doc.root, &is_valid);
        enum pl_schema_lang lang = text.len % 2 ? PL_SCHEMA_EN : PL_SCHEMA_ZH;
        enum pl_status explained =
            pl_schema_explain(scratch, &arena, &doc, doc.root, lang, &report);
        must(checked == PL_OK || checked == PL_LIMIT);
        must(explained == PL_OK || explained == PL_LIMIT);
        if (checked == PL_OK && explained == PL_OK) {
            must(is_valid == report.is_valid);
            check_report(&report, text);
        }
    }
    pl_schema_run_destroy(scratch);
    pl_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str all = {(const char *)data, size};
    const char *nul = size ? memchr(data, 0, size) : NULL;
    size_t n_schema = nul ? (size_t)(nul - all.ptr) : size;
    struct pl_schema_opts opts = {.asserts_format = n_schema % 2, .max_steps = 20000};
    struct pl_schema *schema = NULL;
    struct pl_error err = {0};
    enum pl_status status = pl_schema_compile(pl_str_slice(all, 0, n_schema), &opts, &schema, &err);
    if (status == PL_OK)
        run(schema, pl_str_slice(all, n_schema + 1, size));
    else
        must(!schema && err.status == status && err.message[0]);
    pl_schema_destroy(schema);
    return 0;
}

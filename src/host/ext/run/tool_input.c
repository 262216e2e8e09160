/* Validates the arguments of a tool against its schema. */
#include "ext/run/ext.h"

#include "schema/schema.h"

#include <stdio.h>

/* The check runs on the loop, and the schema may be a client's. So the limit is this, plus a few
 * steps per byte of the document, not the million steps that a validation may take elsewhere. */
enum { CHECK_STEPS = 5000 };

enum pl_status pl_ext_input_check(struct pl_arena *arena, struct pl_str schema_text,
                                  const struct pl_json_doc *doc, const struct pl_json_node *input,
                                  char *ret_says, size_t size, struct pl_error *err)
{
    struct pl_schema *schema = NULL;
    struct pl_schema_run *checking = NULL;
    struct pl_schema_report report = {.is_valid = true};
    struct pl_schema_opts opts = {.max_steps = (uint32_t)(CHECK_STEPS + 2 * doc->text.len)};
    enum pl_status status = pl_schema_compile(schema_text, &opts, &schema, err);
    if (status == PL_OK)
        status = pl_schema_run_create(schema, &checking);
    if (status == PL_OK)
        status = pl_schema_check(checking, doc, input, &report.is_valid);
    if (status == PL_OK && !report.is_valid)
        status = pl_schema_explain(checking, arena, doc, input, PL_SCHEMA_EN, &report);
    if (status == PL_LIMIT)
        status =
            pl_fail(err, PL_LIMIT, "the schema of this tool takes too many steps; simplify it");
    size_t n = 0;
    for (uint32_t i = 0; status == PL_OK && !report.is_valid && i < report.n_units && n < size; i++)
        n += (size_t)snprintf(
            ret_says + n, size - n, "%s \"%.*s\": %.*s", i ? ";" : "The arguments are wrong at",
            PL_STR_ARG(report.units[i].instance_location), PL_STR_ARG(report.units[i].message));
    pl_schema_run_destroy(checking);
    pl_schema_destroy(schema);
    return status;
}

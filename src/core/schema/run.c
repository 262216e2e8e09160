/* The scratch memory of one validating thread. */
#include "schema/unevaluated.h"

#define FIRST_TEXT 256 /* bytes of decoded text */

static enum pl_status create(const struct pl_schema *schema, bool is_brief,
                             struct pl_schema_run **ret_run)
{
    struct pl_schema_run *run = pl_mem_alloc(1, sizeof *run);
    if (!run)
        return PL_NOMEM;
    memset(run, 0, sizeof *run);
    run->schema = schema;
    pl_buf_init(&run->text, 0);
    /* Enough for nearly every instance, so that checking allocates nothing. */
    enum pl_status status = pl_buf_reserve(&run->text, FIRST_TEXT) ? PL_OK : PL_NOMEM;
    if (status == PL_OK && schema->needs_bits && !pl_bits_reserve(run))
        status = PL_NOMEM;
    if (status == PL_OK && schema->regexes.len && !is_brief)
        status = pl_regex_scratch_create(&run->regex);
    if (status != PL_OK)
        pl_schema_run_destroy(run);
    else
        *ret_run = run;
    return status;
}

enum pl_status pl_schema_run_create(const struct pl_schema *schema, struct pl_schema_run **ret_run)
{
    return create(schema, false, ret_run);
}

enum pl_status pl_schema_run_create_brief(const struct pl_schema *schema,
                                          struct pl_schema_run **ret_run)
{
    return create(schema, true, ret_run);
}

void pl_schema_run_destroy(struct pl_schema_run *run)
{
    if (!run)
        return;
    pl_regex_scratch_destroy(run->regex);
    pl_buf_deinit(&run->text);
    pl_mem_free(run->bits);
    pl_mem_free(run);
}

bool pl_run_stop(struct pl_schema_run *run, enum pl_status status)
{
    if (run->status == PL_OK)
        run->status = status;
    run->steps = 0; /* makes everything in progress end soon */
    return false;
}

void pl_run_begin(struct pl_schema_run *run, const struct pl_json_doc *doc)
{
    run->doc = doc;
    run->steps = run->schema->max_steps;
    run->depth = 0;
    run->status = PL_OK;
    run->n_scope = 0;
    run->n_bits = 0;
}

void pl_run_enter(struct pl_schema_run *run, const struct pl_sub *sub)
{
    if (!(sub->flags & PL_SUB_ENTERS))
        return;
    if (!run->n_scope || run->scope[run->n_scope - 1] != sub->resource)
        run->scope[run->n_scope++] = sub->resource;
}

uint32_t pl_run_dynamic(const struct pl_schema_run *run, uint32_t first, uint32_t otherwise)
{
    const uint32_t *by_resource = run->schema->lists.ptr + first;
    for (uint32_t i = 0; i < run->n_scope; i++)
        if (by_resource[run->scope[i]] != PL_SCHEMA_NONE)
            return by_resource[run->scope[i]];
    return otherwise;
}

uint32_t pl_schema_run_steps(const struct pl_schema_run *run)
{
    return run->schema->max_steps - run->steps;
}

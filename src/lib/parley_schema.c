/* The public API for schemas: compiled schemas, shared by threads. */
#include "lib/parley_int.h"

#include "base/mem.h"
#include "lib/report.h"
#include "schema/builtin.h"
#include "schema/schema.h"

#include <stdatomic.h>

struct parley_schema {
    struct pl_schema *compiled; /* owned */
    /* Owned; scratch memory of the last validation, NULL while a thread uses it. Other threads then
     * make their own, so validation never waits. */
    _Atomic(struct pl_schema_run *) spare_run;
};

static enum pl_status copy_sources(const struct parley_source *sources, size_t n_sources,
                                   struct pl_schema_source **ret_copies)
{
    if (n_sources == 0) {
        *ret_copies = NULL;
        return PL_OK;
    }
    struct pl_schema_source *copies = pl_mem_alloc(n_sources, sizeof *copies);
    if (!copies)
        return PL_NOMEM;
    for (size_t i = 0; i < n_sources; i++)
        copies[i] = (struct pl_schema_source){pl_str_of(sources[i].uri),
                                              {sources[i].text, sources[i].size}};
    *ret_copies = copies;
    return PL_OK;
}

static enum pl_status compile(struct pl_str text, const struct pl_schema_opts *opts,
                              struct parley_schema **ret_schema, struct pl_error *err)
{
    struct parley_schema *schema = pl_mem_alloc(1, sizeof *schema);
    if (!schema)
        return PL_NOMEM;
    *schema = (struct parley_schema){0};
    enum pl_status status = pl_schema_compile(text, opts, &schema->compiled, err);
    if (status != PL_OK)
        pl_mem_free(schema);
    else
        *ret_schema = schema;
    return status;
}

enum parley_status parley_schema_compile(const char *text, size_t size, unsigned flags,
                                         const struct parley_source *sources, size_t n_sources,
                                         struct parley_schema **ret_schema,
                                         struct parley_error *err)
{
    struct pl_error detail = {0};
    if (flags & ~(unsigned)PARLEY_FORMAT_ASSERTION)
        return pl_export_error(pl_fail(&detail, PL_USAGE, "unknown flag in %#x", flags), &detail,
                               err);
    PL_CLEANUP_FREE struct pl_schema_source *copies = NULL;
    enum pl_status status = copy_sources(sources, n_sources, &copies);
    struct pl_schema_opts opts = {
        .asserts_format = (flags & PARLEY_FORMAT_ASSERTION) != 0,
        .sources = copies,
        .n_sources = n_sources,
    };
    if (status == PL_OK)
        status = compile((struct pl_str){text, size}, &opts, ret_schema, &detail);
    return pl_export_error(status, &detail, err);
}

enum parley_status parley_schema_builtin(const char *name, unsigned flags,
                                         struct parley_schema **ret_schema,
                                         struct parley_error *err)
{
    struct pl_error detail = {0};
    const struct pl_schema_builtin *builtin = pl_schema_builtin_find(pl_str_of(name));
    if (!builtin)
        return pl_export_error(
            pl_fail(&detail, PL_NOT_FOUND, "there is no built-in schema named \"%s\"", name),
            &detail, err);
    return parley_schema_compile(builtin->text.ptr, builtin->text.len, flags, NULL, 0, ret_schema,
                                 err);
}

const char *parley_schema_builtin_name(size_t index)
{
    for (size_t i = 0; pl_schema_builtins[i].name; i++)
        if (i == index)
            return pl_schema_builtins[i].name;
    return NULL;
}

void parley_schema_destroy(struct parley_schema *schema)
{
    if (!schema)
        return;
    pl_schema_run_destroy(atomic_load(&schema->spare_run));
    pl_schema_destroy(schema->compiled);
    pl_mem_free(schema);
}

static enum pl_status take_run(struct parley_schema *schema, struct pl_schema_run **ret_run)
{
    struct pl_schema_run *run = atomic_exchange(&schema->spare_run, NULL);
    if (!run)
        return pl_schema_run_create(schema->compiled, ret_run);
    *ret_run = run;
    return PL_OK;
}

static void give_run_back(struct parley_schema *schema, struct pl_schema_run *run)
{
    pl_schema_run_destroy(atomic_exchange(&schema->spare_run, run));
}

enum parley_status parley_schema_validate(struct parley_schema *schema,
                                          const struct parley_json *json,
                                          const struct parley_value *value, int *ret_is_valid)
{
    struct pl_schema_run *run;
    enum pl_status status = take_run(schema, &run);
    if (status != PL_OK)
        return pl_export_status(status);
    bool is_valid;
    status = pl_schema_check(run, &json->doc, pl_import_node(json, value), &is_valid);
    give_run_back(schema, run);
    if (status == PL_OK)
        *ret_is_valid = is_valid;
    return pl_export_status(status);
}

static enum pl_status explain(struct pl_schema_run *run, const struct parley_json *json,
                              const struct pl_json_node *node, enum parley_lang lang,
                              enum parley_explain_form form, struct pl_buf *to)
{
    static const enum pl_report_form forms[] = {
        [PARLEY_ERRORS] = PL_REPORT_PLAIN,
        [PARLEY_FLAG] = PL_REPORT_FLAG,
        [PARLEY_BASIC] = PL_REPORT_BASIC,
    };
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_schema_report report;
    const struct pl_position *positions;
    enum pl_status status = pl_schema_explain(
        run, &arena, &json->doc, node, lang == PARLEY_ZH ? PL_SCHEMA_ZH : PL_SCHEMA_EN, &report);
    if (status == PL_OK)
        status = pl_report_locate(&arena, json->doc.text, &report, &positions);
    if (status == PL_OK)
        pl_report_write(to, forms[form], NULL, &report, positions);
    return status;
}

enum parley_status parley_schema_explain(struct parley_schema *schema,
                                         const struct parley_json *json,
                                         const struct parley_value *value, enum parley_lang lang,
                                         enum parley_explain_form form, char **ret_text,
                                         size_t *ret_size)
{
    if ((unsigned)form > PARLEY_BASIC || (unsigned)lang > PARLEY_ZH)
        return PARLEY_USAGE;
    struct pl_schema_run *run;
    enum pl_status status = take_run(schema, &run);
    if (status != PL_OK)
        return pl_export_status(status);
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    status = explain(run, json, pl_import_node(json, value), lang, form, &buf);
    give_run_back(schema, run);
    return pl_export_status(status != PL_OK ? status : pl_export_text(&buf, ret_text, ret_size));
}

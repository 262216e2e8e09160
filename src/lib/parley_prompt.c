/* The public API for work on one conversation: counting, trimming, filling in. */
#include "lib/opts.h"
#include "lib/parley_int.h"

#include "base/mem.h"
#include "prompt/render.h"
#include "document/trim.h"

static enum pl_status import_count(const struct parley_count_opts *opts,
                                   const struct pl_format **ret_as, struct pl_count_choice *to,
                                   struct pl_error *err)
{
    struct parley_count_opts from = PARLEY_COUNT_OPTS_INIT;
    *ret_as = NULL;
    *to = (struct pl_count_choice){0};
    enum pl_status status =
        opts ? pl_import_opts(opts, &from, sizeof from, "count_opts", err) : PL_OK;
    if (status != PL_OK)
        return status;
    if (from.encoding && from.model)
        return pl_fail(err, PL_USAGE, "give an encoding or a model, not both");
    if (from.encoding) {
        to->has_encoding = pl_encoding_find(pl_str_of(from.encoding), &to->encoding);
        if (!to->has_encoding)
            return pl_fail(err, PL_NOT_FOUND, "there is no encoding \"%s\"", from.encoding);
    }
    if (from.model)
        to->model = pl_str_of(from.model);
    return pl_import_format(from.as, ret_as, err);
}

enum parley_status parley_count(const char *text, size_t size, const struct parley_count_opts *opts,
                                char **ret_text, size_t *ret_size, struct parley_error *err)
{
    struct pl_error detail = {0};
    const struct pl_format *as;
    struct pl_count_choice choice;
    struct pl_counted counted;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    enum pl_status status = import_count(opts, &as, &choice, &detail);
    if (status == PL_OK)
        status = pl_count_document((struct pl_str){text, size}, as, &choice, &counted, &detail);
    if (status == PL_OK) {
        pl_counted_write(&buf, &counted);
        status = pl_export_text(&buf, ret_text, ret_size);
    }
    return pl_export_error(status, &detail, err);
}

/* Returns both texts or none. */
static enum pl_status export_trimmed(struct pl_trimmed_document *made, char **ret_text,
                                     size_t *ret_size, char **ret_report)
{
    char *report = NULL;
    enum pl_status status = ret_report ? pl_export_text(&made->report, &report, NULL) : PL_OK;
    if (status == PL_OK)
        status = pl_export_text(&made->out, ret_text, ret_size);
    if (status == PL_OK && ret_report)
        *ret_report = PL_TAKE(report);
    pl_mem_free(report);
    return status;
}

enum parley_status parley_trim(const char *text, size_t size, const struct parley_count_opts *opts,
                               uint64_t max_tokens, const char *summary, char **ret_text,
                               size_t *ret_size, char **ret_report, struct parley_error *err)
{
    struct pl_error detail = {0};
    struct pl_trim_request request = {.max_tokens = max_tokens,
                                      .summary = pl_str_of(summary ? summary : "")};
    struct pl_trimmed_document made;
    pl_trimmed_document_init(&made);
    enum pl_status status = import_count(opts, &request.as, &request.choice, &detail);
    if (status == PL_OK)
        status = pl_trim_document((struct pl_str){text, size}, &request, &made, &detail);
    if (status == PL_OK)
        status = export_trimmed(&made, ret_text, ret_size, ret_report);
    pl_trimmed_document_deinit(&made);
    return pl_export_error(status, &detail, err);
}

/* Joins the problems, one per line, into one message. */
static enum pl_status fail_render(struct pl_buf *problems, struct pl_error *err)
{
    struct pl_str lines = pl_buf_str(problems);
    while (lines.len > 0 && lines.ptr[lines.len - 1] == '\n')
        lines.len--;
    for (size_t i = 0; i < lines.len; i++)
        if (problems->ptr[i] == '\n')
            problems->ptr[i] = ';';
    return pl_fail(err, PL_INVALID, "%.*s", PL_STR_ARG(lines));
}

enum parley_status parley_render(const char *text, size_t size, const struct parley_var *vars,
                                 size_t n_vars, char **ret_text, size_t *ret_size,
                                 struct parley_error *err)
{
    struct pl_error detail = {0};
    struct pl_rendered made;
    PL_CLEANUP_FREE struct pl_render_var *own = pl_mem_alloc(n_vars ? n_vars : 1, sizeof *own);
    if (!own)
        return pl_export_error(PL_NOMEM, &detail, err);
    for (size_t i = 0; i < n_vars; i++)
        own[i] = (struct pl_render_var){pl_str_of(vars[i].name), pl_str_of(vars[i].value)};
    struct pl_render_opts opts = {.vars = own, .n_vars = n_vars};
    pl_rendered_init(&made);
    enum pl_status status = pl_render((struct pl_str){text, size}, &opts, &made, &detail);
    if (status == PL_INVALID && made.problems.len)
        status = fail_render(&made.problems, &detail);
    if (status == PL_OK)
        status = pl_export_text(&made.out, ret_text, ret_size);
    pl_rendered_deinit(&made);
    return pl_export_error(status, &detail, err);
}

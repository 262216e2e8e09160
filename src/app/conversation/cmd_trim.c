/* parley trim: shortens a conversation to a number of tokens. */
#include "app/frame/commands.h"
#include "app/conversation/counting.h"
#include "app/frame/input.h"

#include "document/trim.h"
#include "io/file/outfile.h"

static enum pl_exit read_request(struct pl_console *console, const struct pl_args *args,
                                 struct pl_trim_request *ret)
{
    const char *as = pl_args_value(args, PL_OPT_AS), *max = pl_args_value(args, PL_OPT_MAX_TOKENS);
    const char *summary = pl_args_value(args, PL_OPT_SUMMARY);
    if (!max)
        return pl_usage_fail(console, "trim", "no limit; give --max-tokens N");
    if (!pl_option_read_count(max, UINT32_MAX, &ret->max_tokens))
        return pl_usage_fail(console, "trim",
                             "--max-tokens must be a whole number above 0, not \"%s\"", max);
    if (summary && !*summary)
        return pl_usage_fail(console, "trim",
                             "--summary is empty; omit it for the default "
                             "summary");
    ret->as = as ? pl_format_find(pl_str_of(as)) : NULL;
    ret->summary = summary ? pl_str_of(summary) : (struct pl_str){0};
    return pl_counting_read(console, "trim", args, &ret->choice);
}

static enum pl_exit check_outputs(struct pl_console *console, const struct pl_args *args)
{
    const struct pl_outfile_name outputs[] = {{"the result", "-"},
                                              {"--report", pl_args_value(args, PL_OPT_REPORT)}};
    struct pl_error err = {0};
    if (pl_outfile_check_all(outputs, sizeof outputs / sizeof *outputs, &err) == PL_OK)
        return PL_EXIT_OK;
    return pl_usage_fail(console, "trim", "%s", err.message);
}

/* Writes the report first: a document without it would look complete. */
static enum pl_exit put(struct pl_console *console, const struct pl_args *args,
                        const struct pl_trimmed_document *made)
{
    const char *path = pl_args_value(args, PL_OPT_REPORT);
    struct pl_error err = {0};
    if (path && pl_file_write(path, pl_buf_str(&made->report), &err) != PL_OK)
        return pl_console_fail(console, path, &err);
    if (pl_fd_write(1, pl_buf_str(&made->out), &err) != PL_OK)
        return pl_console_fail_out(console, &err);
    return PL_EXIT_OK;
}

enum pl_exit pl_cmd_trim(struct pl_console *console, const struct pl_args *args)
{
    const char *path = args->operands.ptr[0];
    struct pl_trim_request request = {0};
    struct pl_trimmed_document made;
    struct pl_error err = {0};
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_exit code = read_request(console, args, &request);
    if (code == PL_EXIT_OK)
        code = check_outputs(console, args);
    if (code != PL_EXIT_OK)
        return code;
    pl_trimmed_document_init(&made);
    enum pl_status status = pl_input_read(path, &file, &err);
    if (status == PL_OK)
        status = pl_trim_document(file.bytes, &request, &made, &err);
    if (status == PL_OK) {
        code = put(console, args, &made);
    } else {
        err.status = status;
        code = pl_console_fail(console, pl_input_name(path), &err);
    }
    pl_trimmed_document_deinit(&made);
    return code;
}

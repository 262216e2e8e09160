/* parley lint: reports errors in a conversation; --fix prints the repaired conversation. */
#include "app/frame/commands.h"
#include "app/frame/input.h"

#include "format/convert.h"
#include "format/gpt_oss/gpt_oss.h"
#include "document/lint.h"
#include "format/profile.h"
#include "io/clock.h"
#include "io/file/outfile.h"
#include "lib/locate.h"

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *path, *name;    /* of the input; its name in messages */
    struct pl_lint_request request;
    struct pl_file file;     /* owned */
    struct pl_arena arena;   /* owned */
    struct pl_linted linted; /* owned */
};

static enum pl_exit read_options(struct job *job)
{
    const char *as = pl_args_value(job->args, PL_OPT_AS),
               *target = pl_args_value(job->args, PL_OPT_FOR);
    job->request = (struct pl_lint_request){
        .as = as ? pl_format_find(pl_str_of(as)) : NULL,
        .target = target ? pl_format_find(pl_str_of(target)) : NULL,
        .profile = target ? pl_profile_find(pl_str_of(target)) : NULL,
        .now_s = pl_clock_unix_s(),
        .wants_edits =
            pl_args_has(job->args, PL_OPT_JSON) || pl_args_value(job->args, PL_OPT_REPORT),
        .lang = job->console->is_chinese ? PL_SCHEMA_ZH : PL_SCHEMA_EN,
    };
    if (job->request.profile)
        job->request.target = pl_format_find(pl_str_of(job->request.profile->format));
    if (pl_args_value(job->args, PL_OPT_REPORT) && !pl_args_has(job->args, PL_OPT_FIX))
        return pl_usage_fail(job->console, "lint",
                             "--report needs --fix; without --fix the findings are the output");
    const struct pl_outfile_name outputs[] = {
        {"the result", "-"}, {"--report", pl_args_value(job->args, PL_OPT_REPORT)}};
    struct pl_error err = {0};
    if (pl_outfile_check_all(outputs, sizeof outputs / sizeof *outputs, &err) != PL_OK)
        return pl_usage_fail(job->console, "lint", "%s", err.message);
    return PL_EXIT_OK;
}

/* The word for a severity, in the language of the findings. */
static const char *severity_word(const struct job *job, enum pl_severity severity)
{
    static const char *const chinese[] = {"错误", "警告", "提示"};
    return job->request.lang == PL_SCHEMA_ZH ? chinese[severity] : pl_severity_name(severity);
}

/* The name, and the position in the file: the document of gpt-oss text has other positions. */
static void put_place(struct job *job, struct pl_locator *locator, const struct pl_finding *finding)
{
    pl_console_put_safe(job->console, pl_str_of(job->name));
    if (job->linted.as != &pl_format_gpt_oss) {
        struct pl_position at = pl_locator_find(locator, finding->node->off);
        pl_console_putf(job->console, ":%zu:%zu", at.line, at.column);
    }
    pl_console_puts(job->console, ": ");
}

static void put_findings(struct job *job)
{
    static const char *const opens[] = {" (at ", "（位于 "}, *const closes[] = {")", "）"};
    static const char *const fine[] = {"ok", "没有问题"};
    enum pl_schema_lang lang = job->request.lang;
    struct pl_console *console = job->console;
    struct pl_locator locator = pl_locator(job->linted.doc.text);
    for (size_t i = 0; i < job->linted.findings.list.len; i++) {
        const struct pl_finding *finding = &job->linted.findings.list.ptr[i];
        put_place(job, &locator, finding);
        pl_console_put_styled(console,
                              finding->severity == PL_SEVERITY_ERROR ? PL_STYLE_BAD : PL_STYLE_BOLD,
                              severity_word(job, finding->severity));
        pl_console_putf(console, " %s: ", finding->code);
        pl_console_put_safe(console, finding->message);
        if (finding->pointer.len) {
            pl_console_puts(console, opens[lang]);
            pl_console_put_safe(console, finding->pointer);
            pl_console_puts(console, closes[lang]);
        }
        pl_console_puts(console, "\n");
    }
    if (job->linted.findings.list.len == 0) {
        pl_console_put_safe(console, pl_str_of(job->name));
        pl_console_puts(console, ": ");
        pl_console_put_styled(console, PL_STYLE_GOOD, fine[lang]);
        pl_console_puts(console, "\n");
    }
}

static enum pl_exit save_findings(struct job *job)
{
    const char *path = pl_args_value(job->args, PL_OPT_REPORT);
    if (!path)
        return PL_EXIT_OK;
    PL_CLEANUP_BUF struct pl_buf report;
    pl_buf_init(&report, 0);
    struct pl_error err = {0};
    pl_linted_write(&report, &job->linted);
    enum pl_status status = report.status;
    if (status == PL_OK)
        status = pl_file_write(path, pl_buf_str(&report), &err);
    else
        status = pl_fail(&err, status, "%s", pl_status_info(status)->text);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail(job->console, path, &err);
}

/* Writes the repaired document in the same format; parts without errors keep their bytes. */
static enum pl_exit put_fixed(struct job *job)
{
    struct pl_convert_opts opts = {
        .from = job->linted.as, .to = job->linted.as, .mode = PL_MODE_REPAIR};
    if (job->request.profile && job->request.target == job->linted.as) {
        opts.mode = PL_MODE_GATEWAY;
        opts.profile = job->request.profile;
    }
    struct pl_converted made;
    struct pl_error err = {0};
    pl_converted_init(&made);
    enum pl_status status = pl_convert(job->file.bytes, &opts, &made, &err);
    if (status == PL_OK)
        pl_console_put(job->console, pl_buf_str(&made.out));
    else
        err.status = status;
    enum pl_exit code =
        status == PL_OK ? save_findings(job) : pl_console_fail(job->console, job->name, &err);
    pl_converted_deinit(&made);
    return code;
}

static enum pl_exit lint(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = pl_input_read(job->path, &job->file, &err);
    if (status == PL_OK)
        status = pl_lint_document(&job->arena, job->file.bytes, &job->request, &job->linted, &err);
    if (status != PL_OK) {
        err.status = status;
        return pl_console_fail(job->console, job->name, &err);
    }
    if (pl_args_has(job->args, PL_OPT_FIX))
        return put_fixed(job);
    if (pl_args_has(job->args, PL_OPT_JSON)) {
        pl_linted_write(pl_console_out(job->console), &job->linted);
        pl_console_puts(job->console, "\n");
    } else {
        put_findings(job);
    }
    return pl_findings_have_error(&job->linted.findings) ? PL_EXIT_NO : PL_EXIT_OK;
}

enum pl_exit pl_cmd_lint(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {.console = console, .args = args, .path = args->operands.ptr[0]};
    job.name = pl_input_name(job.path);
    pl_arena_init(&job.arena, 0);
    enum pl_exit code = read_options(&job);
    if (code == PL_EXIT_OK)
        code = lint(&job);
    pl_linted_deinit(&job.linted);
    pl_arena_deinit(&job.arena);
    pl_file_close(&job.file);
    return code;
}

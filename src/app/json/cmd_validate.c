/* parley validate: checks many files against one schema. No result stops the run; the highest exit
 * code is returned at the end. */
#include "app/frame/commands.h"
#include "app/frame/input.h"

#include "io/clock.h"
#include "json/parse/error_zh.h"
#include "lib/report.h"
#include "schema/builtin.h"
#include "schema/schema.h"

enum {
    PROGRESS_AFTER_MS = 1000,
    PROGRESS_EVERY_MS = 100,
};

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    struct pl_schema *schema;   /* owned */
    struct pl_schema_run *run;  /* owned */
    struct pl_arena arena;      /* reset for each file */
    enum pl_schema_lang lang;
    enum pl_report_form form;
    bool is_json;
    enum pl_exit code; /* the highest so far */
    size_t n_valid, n_invalid, n_unreadable;
    int64_t started_ms, shown_ms;
};

static enum pl_exit check_usage(struct pl_console *console, const struct pl_args *args)
{
    const struct pl_option_use *schema = pl_args_find(args, PL_OPT_SCHEMA);
    bool has_as = pl_args_has(args, PL_OPT_AS);
    if (!schema && !has_as)
        return pl_usage_fail(console, "validate",
                             "no schema; give --as NAME for a built-in schema or --schema FILE");
    if (schema && has_as)
        return pl_usage_fail(console, "validate", "--as and --schema exclude each other");
    size_t n_stdin = schema && strcmp(schema->values[0], "-") == 0;
    for (size_t i = 0; i < args->operands.len; i++)
        n_stdin += strcmp(args->operands.ptr[i], "-") == 0;
    if (n_stdin > 1)
        return pl_usage_fail(console, "validate", "standard input (-) can be read only once");
    return PL_EXIT_OK;
}

/* An unusable schema counts as unreadable input: exit code 1 is reserved for invalid files. */
static enum pl_exit fail_schema(struct job *job, const char *name, struct pl_error *err,
                                enum pl_status status)
{
    err->status = status;
    enum pl_exit code = pl_console_fail(job->console, name, err);
    pl_console_hint(job->console, "%s",
                    job->lang == PL_SCHEMA_ZH ? "模式无法使用；没有检查任何文件。"
                                              : "The schema cannot be used; nothing was checked.");
    return code == PL_EXIT_FAILED ? code : PL_EXIT_UNREADABLE;
}

static enum pl_exit load_schema(struct job *job)
{
    struct pl_schema_opts opts = {
        .asserts_format = pl_args_has(job->args, PL_OPT_FORMAT_ASSERTION),
    };
    const struct pl_option_use *as = pl_args_find(job->args, PL_OPT_AS);
    const char *path = as ? as->values[0] : pl_args_find(job->args, PL_OPT_SCHEMA)->values[0];
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_str text;
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (as) {
        text = pl_schema_builtin_find(pl_str_of(path))->text;
    } else {
        status = pl_input_read(path, &file, &err);
        text = file.bytes;
    }
    if (status == PL_OK)
        status = pl_schema_compile(text, &opts, &job->schema, &err);
    if (status == PL_OK)
        status = pl_schema_run_create(job->schema, &job->run);
    return status == PL_OK ? PL_EXIT_OK : fail_schema(job, pl_input_name(path), &err, status);
}

static const char *json_name(const struct job *job, const char *path)
{
    return job->args->operands.len > 1 ? path : NULL;
}

/* The result word in the language of the messages. */
static const char *word(const struct job *job, const char *english, const char *chinese)
{
    return job->lang == PL_SCHEMA_ZH ? chinese : english;
}

static void raise_code(struct job *job, enum pl_exit code)
{
    if (code > job->code)
        job->code = code;
}

static void report_unreadable(struct job *job, const char *path, const struct pl_error *err)
{
    job->n_unreadable++;
    if (job->is_json) {
        pl_report_write_error(pl_console_out(job->console), job->form, json_name(job, path), err);
        pl_console_puts(job->console, "\n");
    } else {
        pl_console_put_safe(job->console, pl_str_of(pl_input_name(path)));
        pl_console_puts(job->console, ": ");
        pl_console_put_styled(job->console, PL_STYLE_BAD, word(job, "unreadable", "无法读取"));
        pl_console_puts(job->console, "\n");
        pl_console_fail(job->console, pl_input_name(path), err);
    }
    raise_code(job, (enum pl_exit)pl_status_info(err->status)->exit_code);
}

static void put_units(struct job *job, const char *path, const struct pl_schema_report *report,
                      const struct pl_position *positions)
{
    struct pl_console *console = job->console;
    for (uint32_t i = 0; i < report->n_units; i++) {
        const struct pl_schema_unit *unit = &report->units[i];
        pl_console_puts(console, "  ");
        pl_console_put_safe(console, pl_str_of(pl_input_name(path)));
        pl_console_putf(console, ":%zu:%zu: ", positions[i].line, positions[i].column);
        pl_console_put_safe(console, unit->message);
        if (unit->instance_location.len > 0) {
            pl_console_puts(console, job->lang == PL_SCHEMA_ZH ? "（位于 " : " (at ");
            pl_console_put_safe(console, unit->instance_location);
            pl_console_puts(console, job->lang == PL_SCHEMA_ZH ? "）" : ")");
        }
        pl_console_puts(console, "\n");
    }
    if (report->is_cut)
        pl_console_puts(console, job->lang == PL_SCHEMA_ZH ? "  …\n" : "  … and more\n");
}

static void put_outcome(struct job *job, const char *path, const struct pl_schema_report *report,
                        const struct pl_position *positions)
{
    if (job->is_json) {
        pl_report_write(pl_console_out(job->console), job->form, json_name(job, path), report,
                        positions);
        pl_console_puts(job->console, "\n");
        return;
    }
    pl_console_put_safe(job->console, pl_str_of(pl_input_name(path)));
    pl_console_puts(job->console, ": ");
    pl_console_put_styled(job->console, report->is_valid ? PL_STYLE_GOOD : PL_STYLE_BAD,
                          report->is_valid ? word(job, "ok", "有效")
                                           : word(job, "invalid", "无效"));
    pl_console_puts(job->console, "\n");
    if (!report->is_valid && job->form != PL_REPORT_FLAG)
        put_units(job, path, report, positions);
}

/* Explaining costs more than checking, so it is done only if it adds something. */
static bool needs_explanation(const struct job *job, bool is_valid)
{
    return is_valid ? job->is_json && job->form == PL_REPORT_BASIC : job->form != PL_REPORT_FLAG;
}

static enum pl_status check_text(struct job *job, const char *path, struct pl_str text,
                                 struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_schema_report report = {0};
    const struct pl_position *positions = NULL;
    enum pl_status status = pl_json_parse(&job->arena, text, NULL, &doc, err);
    if (status != PL_OK)
        return status;
    status = pl_schema_check(job->run, &doc, doc.root, &report.is_valid);
    if (status == PL_OK && needs_explanation(job, report.is_valid)) {
        status = pl_schema_explain(job->run, &job->arena, &doc, doc.root, job->lang, &report);
        if (status == PL_OK)
            status = pl_report_locate(&job->arena, text, &report, &positions);
    }
    if (status == PL_LIMIT)
        return pl_fail(err, status, "the validation exceeds the limit of steps or levels");
    if (status != PL_OK)
        return pl_fail(err, status, "%s", pl_status_info(status)->text);
    *(report.is_valid ? &job->n_valid : &job->n_invalid) += 1;
    raise_code(job, report.is_valid ? PL_EXIT_OK : PL_EXIT_NO);
    put_outcome(job, path, &report, positions);
    return PL_OK;
}

static void check_file(struct job *job, const char *path)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    pl_arena_reset(&job->arena);
    enum pl_status status = pl_input_read(path, &file, &err);
    if (status == PL_OK)
        status = check_text(job, path, file.bytes, &err);
    if (status != PL_OK) {
        err.status = status;
        if (job->lang == PL_SCHEMA_ZH)
            pl_json_error_in_chinese(&err);
        report_unreadable(job, path, &err);
    }
    pl_console_settle(job->console);
}

static void show_progress(struct job *job, size_t n_done)
{
    size_t n_files = job->args->operands.len;
    int64_t now_ms = n_files > 1 && job->console->err_is_terminal ? pl_clock_ms() : 0;
    if (now_ms == 0 || now_ms - job->started_ms < PROGRESS_AFTER_MS ||
        now_ms - job->shown_ms < PROGRESS_EVERY_MS)
        return;
    job->shown_ms = now_ms;
    pl_console_progress(job->console, "%zu of %zu files, %zu not valid", n_done, n_files,
                        job->n_invalid + job->n_unreadable);
}

static void summarize(struct job *job)
{
    if (job->is_json || job->args->operands.len < 2)
        return;
    size_t n_files = job->args->operands.len;
    if (job->lang == PL_SCHEMA_ZH)
        pl_console_say(job->console, "%zu 个文件：%zu 个有效，%zu 个无效，%zu 个无法读取", n_files,
                       job->n_valid, job->n_invalid, job->n_unreadable);
    else
        pl_console_say(job->console, "%zu files: %zu ok, %zu invalid, %zu unreadable", n_files,
                       job->n_valid, job->n_invalid, job->n_unreadable);
}

static enum pl_exit check_files(struct job *job)
{
    enum pl_exit code = load_schema(job);
    if (code != PL_EXIT_OK)
        return code;
    job->started_ms = pl_clock_ms();
    for (size_t i = 0; i < job->args->operands.len; i++) {
        /* Output failed, so nobody reads the results. */
        if (job->console->error.status != PL_OK)
            return job->code;
        show_progress(job, i);
        check_file(job, job->args->operands.ptr[i]);
    }
    summarize(job);
    return job->code;
}

enum pl_exit pl_cmd_validate(struct pl_console *console, const struct pl_args *args)
{
    enum pl_exit code = check_usage(console, args);
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_option_use *output = pl_args_find(args, PL_OPT_OUTPUT);
    struct job job = {
        .console = console,
        .args = args,
        .lang = console->is_chinese ? PL_SCHEMA_ZH : PL_SCHEMA_EN,
        .form = !output                                  ? PL_REPORT_PLAIN
                : strcmp(output->values[0], "flag") == 0 ? PL_REPORT_FLAG
                                                         : PL_REPORT_BASIC,
        .is_json = pl_args_has(args, PL_OPT_JSON),
    };
    pl_arena_init(&job.arena, 0);
    code = check_files(&job);
    pl_arena_deinit(&job.arena);
    pl_schema_run_destroy(job.run);
    pl_schema_destroy(job.schema);
    return code;
}

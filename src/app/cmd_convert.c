/* parley convert: one document into another format, with its loss report and its carry. */
#include "app/commands.h"
#include "app/input.h"

#include "format/convert.h"
#include "format/export.h"
#include "format/profile.h"
#include "io/file.h"

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *name;           /* of the input in messages */
    struct pl_convert_opts opts;
    struct pl_file file, carry;              /* owned */
    const struct pl_export *import, *export; /* NULL: a format like the others */
    struct pl_buf imported;                  /* owned; FILE as a structured chat */
    struct pl_converted made;                /* owned */
};

static const char *value_of(const struct pl_args *args, enum pl_option_id id)
{
    const struct pl_option_use *use = pl_args_find(args, id);
    return use ? use->values[0] : NULL;
}

static enum pl_exit read_options(struct job *job)
{
    const char *from = value_of(job->args, PL_OPT_FROM), *to = value_of(job->args, PL_OPT_TO);
    const char *kind = value_of(job->args, PL_OPT_KIND), *mode = value_of(job->args, PL_OPT_MODE);
    const char *profile = value_of(job->args, PL_OPT_PROFILE);
    if (!to)
        return pl_usage_fail(job->console, "convert", "into which format? Give --to FORMAT");
    job->import = from ? pl_export_find(pl_str_of(from)) : NULL;
    job->export = pl_export_find(pl_str_of(to));
    job->opts = (struct pl_convert_opts){
        .from = job->import ? &pl_format_structured_chat
                : from      ? pl_format_find(pl_str_of(from))
                            : NULL,
        .to = job->export ? &pl_format_structured_chat : pl_format_find(pl_str_of(to)),
        .kind = kind && strcmp(kind, "response") == 0 ? PL_KIND_RESPONSE : PL_KIND_REQUEST,
        .mode = !mode || strcmp(mode, "convert") == 0 ? PL_MODE_CONVERT
                : strcmp(mode, "repair") == 0         ? PL_MODE_REPAIR
                                                      : PL_MODE_GATEWAY,
        .profile = profile ? pl_profile_find(pl_str_of(profile)) : NULL,
        .is_strict = pl_args_has(job->args, PL_OPT_STRICT),
    };
    if (job->opts.profile && strcmp(job->opts.profile->format, to) != 0)
        return pl_usage_fail(job->console, "convert", "the profile %s is for %s, not for %s",
                             profile, job->opts.profile->format, to);
    return PL_EXIT_OK;
}

static enum pl_exit read_inputs(struct job *job)
{
    struct pl_error err = {0};
    if (pl_input_read(job->args->operands.ptr[0], &job->file, &err) != PL_OK)
        return pl_console_fail(job->console, job->name, &err);
    const char *carry = value_of(job->args, PL_OPT_WITH_CARRY);
    if (!carry)
        return PL_EXIT_OK;
    if (pl_input_read(carry, &job->carry, &err) != PL_OK)
        return pl_console_fail(job->console, carry, &err);
    if (!job->carry.bytes.len) {
        err = (struct pl_error){.status = PL_UNREADABLE};
        snprintf(err.message, sizeof err.message, "this is not a carry: it is empty");
        return pl_console_fail(job->console, carry, &err);
    }
    job->opts.carry = job->carry.bytes;
    return PL_EXIT_OK;
}

static enum pl_exit save(struct job *job, enum pl_option_id id, const struct pl_buf *buf)
{
    const char *path = value_of(job->args, id);
    struct pl_error err = {0};
    if (!path || !buf->len || pl_file_write(path, pl_buf_str(buf), &err) == PL_OK)
        return PL_EXIT_OK;
    return pl_console_fail(job->console, path, &err);
}

/* Puts the export in the place of the structured chat it is made from. What is the same export
 * already stays as it is. */
static enum pl_status write_export(struct job *job, struct pl_error *err)
{
    struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = PL_OK;
    if (job->import == job->export) {
        pl_buf_add(&text, job->file.bytes);
        status = text.status;
    } else {
        status = job->export->write(&text, pl_buf_str(&job->made.out), err);
    }
    if (status == PL_OK) {
        pl_buf_deinit(&job->made.out);
        job->made.out = text;
    } else {
        pl_buf_deinit(&text);
    }
    return status;
}

/* The report is written also when the answer is no: it says why. */
static enum pl_exit convert(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    struct pl_str text = job->file.bytes;
    if (job->import) {
        status = job->import->read(&job->imported, text, &err);
        text = pl_buf_str(&job->imported);
    }
    if (status == PL_OK)
        status = pl_convert(text, &job->opts, &job->made, &err);
    if (status == PL_OK && job->export)
        status = write_export(job, &err);
    enum pl_exit code = save(job, PL_OPT_REPORT, &job->made.report);
    if (status != PL_OK) {
        if (!err.message[0])
            snprintf(err.message, sizeof err.message, "%s", pl_status_info(status)->text);
        err.status = status;
        return pl_console_fail(job->console, job->name, &err);
    }
    if (code == PL_EXIT_OK)
        code = save(job, PL_OPT_CARRY, &job->made.carry);
    if (code == PL_EXIT_OK && pl_fd_write(1, pl_buf_str(&job->made.out), &err) != PL_OK)
        code = pl_console_fail(job->console, "standard output", &err);
    return code;
}

enum pl_exit pl_cmd_convert(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {
        .console = console, .args = args, .name = pl_input_name(args->operands.ptr[0])};
    pl_converted_init(&job.made);
    pl_buf_init(&job.imported, 0);
    enum pl_exit code = read_options(&job);
    if (code == PL_EXIT_OK)
        code = read_inputs(&job);
    if (code == PL_EXIT_OK)
        code = convert(&job);
    pl_converted_deinit(&job.made);
    pl_buf_deinit(&job.imported);
    pl_file_close(&job.file);
    pl_file_close(&job.carry);
    return code;
}

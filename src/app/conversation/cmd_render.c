/* parley render: fills in the variables of a prompt. */
#include "app/frame/input.h"
#include "app/frame/variable.h"

#include "format/convert.h"

#include "io/file/file.h"

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *name;           /* input name in messages */
    const struct pl_format *to; /* NULL: structured chat */
    PL_VEC(struct pl_render_var) vars;
    struct pl_file file;     /* owned */
    struct pl_rendered made; /* owned */
};

static enum pl_exit read_var(struct job *job, const char *text)
{
    struct pl_render_var var;
    enum pl_exit code = pl_variable_read(job->console, "render", text, &var);
    if (code == PL_EXIT_OK && !pl_vec_push(&job->vars, var))
        code = pl_console_fail(job->console, NULL, &(struct pl_error){.status = PL_NOMEM});
    return code;
}

static enum pl_exit put(struct job *job, struct pl_str text)
{
    struct pl_error err = {0};
    if (pl_fd_write(1, text, &err) != PL_OK)
        return pl_console_fail(job->console, "standard output", &err);
    return PL_EXIT_OK;
}

/* Converts to another format, which may keep the values of variables. */
static enum pl_exit convert(struct job *job)
{
    struct pl_convert_opts opts = {.from = &pl_format_structured_chat, .to = job->to};
    struct pl_converted made;
    struct pl_error err = {0};
    pl_converted_init(&made);
    enum pl_status status = pl_convert(pl_buf_str(&job->made.out), &opts, &made, &err);
    err.status = status;
    enum pl_exit code = status == PL_OK ? put(job, pl_buf_str(&made.out))
                                        : pl_console_fail(job->console, job->name, &err);
    pl_converted_deinit(&made);
    return code;
}

static enum pl_exit render(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = pl_input_read(job->args->operands.ptr[0], &job->file, &err);
    struct pl_render_opts opts = {
        .vars = job->vars.ptr,
        .n_vars = job->vars.len,
        .is_preview = pl_args_has(job->args, PL_OPT_PREVIEW),
        .is_command = true,
        .keeps_places = job->to && job->to != &pl_format_structured_chat,
    };
    if (status == PL_OK)
        status = pl_render(job->file.bytes, &opts, &job->made, &err);
    if (status == PL_INVALID && job->made.problems.len) {
        pl_variables_say(job->console, job->name, "", &job->made.problems);
        return PL_EXIT_NO;
    }
    if (status != PL_OK) {
        err.status = status;
        return pl_console_fail(job->console, job->name, &err);
    }
    pl_variables_say(job->console, job->name, "warning: ", &job->made.notes);
    return opts.keeps_places ? convert(job) : put(job, pl_buf_str(&job->made.out));
}

enum pl_exit pl_cmd_render(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {
        .console = console, .args = args, .name = pl_input_name(args->operands.ptr[0])};
    const char *to = pl_args_value(args, PL_OPT_TO);
    job.to = to ? pl_format_find(pl_str_of(to)) : NULL;
    pl_rendered_init(&job.made);
    enum pl_exit code = PL_EXIT_OK;
    for (size_t i = 0; i < args->uses.len && code == PL_EXIT_OK; i++)
        if (args->uses.ptr[i].option->id == PL_OPT_VAR)
            code = read_var(&job, args->uses.ptr[i].values[0]);
    if (code == PL_EXIT_OK)
        code = render(&job);
    pl_rendered_deinit(&job.made);
    pl_vec_deinit(&job.vars);
    pl_file_close(&job.file);
    return code;
}

/* parley render: a prompt with its variables filled in. */
#include "app/commands.h"
#include "app/input.h"

#include "base/utf8.h"
#include "conv/render.h"
#include "io/file.h"

#include <stdio.h>

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *name;           /* of the input in messages */
    PL_VEC(struct pl_render_var) vars;
    struct pl_file file;     /* owned */
    struct pl_rendered made; /* owned */
};

static enum pl_exit out_of_memory(struct job *job)
{
    struct pl_error err = {.status = PL_NOMEM};
    snprintf(err.message, sizeof err.message, "%s", pl_status_info(PL_NOMEM)->text);
    return pl_console_fail(job->console, NULL, &err);
}

static enum pl_exit read_var(struct job *job, const char *arg)
{
    const char *equals = strchr(arg, '=');
    if (!equals)
        return pl_usage_fail(job->console, "render", "--var wants NAME=VALUE, not \"%s\"", arg);
    struct pl_render_var var = {{arg, (size_t)(equals - arg)}, pl_str_of(equals + 1)};
    enum pl_status status = pl_render_check_name(var.name);
    if (status == PL_INVALID)
        return pl_usage_fail(job->console, "render",
                             "\"%.*s\" is no name of a variable; a name is letters, digits, "
                             "\"_\", \".\" and \"-\"",
                             PL_STR_ARG(var.name));
    if (!pl_utf8_is_valid(var.value))
        return pl_usage_fail(job->console, "render", "the value of \"%.*s\" is not UTF-8",
                             PL_STR_ARG(var.name));
    if (status != PL_OK || !pl_vec_push(&job->vars, var))
        return out_of_memory(job);
    return PL_EXIT_OK;
}

static void say_lines(struct job *job, const char *before, const struct pl_buf *lines)
{
    const char *end = lines->ptr + lines->len;
    for (const char *line = lines->ptr; line && line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        pl_console_say(job->console, "%s: %s%.*s", job->name, before, (int)(stop - line), line);
        line = stop + 1;
    }
}

static enum pl_exit render(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = pl_input_read(job->args->operands.ptr[0], &job->file, &err);
    struct pl_render_opts opts = {
        .vars = job->vars.ptr,
        .n_vars = job->vars.len,
        .is_preview = pl_args_has(job->args, PL_OPT_PREVIEW),
    };
    if (status == PL_OK)
        status = pl_render(job->file.bytes, &opts, &job->made, &err);
    if (status == PL_INVALID && job->made.problems.len) {
        say_lines(job, "", &job->made.problems);
        return PL_EXIT_NO;
    }
    if (status != PL_OK) {
        err.status = status;
        return pl_console_fail(job->console, job->name, &err);
    }
    say_lines(job, "warning: ", &job->made.notes);
    if (pl_fd_write(1, pl_buf_str(&job->made.out), &err) != PL_OK)
        return pl_console_fail(job->console, "standard output", &err);
    return PL_EXIT_OK;
}

enum pl_exit pl_cmd_render(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {
        .console = console, .args = args, .name = pl_input_name(args->operands.ptr[0])};
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

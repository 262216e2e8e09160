/* parley stream: events of one dialect into another, as they come. */
#include "app/commands.h"
#include "app/input.h"

#include "io/file.h"
#include "stream/stream.h"

enum { PIECE_BYTES = 64 << 10 };

struct job {
    struct pl_console *console; /* borrowed */
    const char *name;           /* of the input in messages */
    int fd;
    struct pl_stream *stream; /* owned */
};

/* Writes what has become known, at once: somebody may be waiting for it. */
static enum pl_exit pass_on(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = pl_fd_write(1, pl_buf_str(&job->stream->out), &err);
    pl_buf_clear(&job->stream->out);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail(job->console, "standard output", &err);
}

/* A stream that broke is an input that cannot be read; the target has been told as well. */
static enum pl_exit fail(struct job *job, enum pl_status status, struct pl_error *err)
{
    err->status = status == PL_NOMEM ? PL_NOMEM : PL_UNREADABLE;
    return pl_console_fail(job->console, job->name, err);
}

static enum pl_exit run(struct job *job)
{
    static const struct pl_error no_error;
    char piece[PIECE_BYTES];
    for (;;) {
        struct pl_error err = no_error;
        struct pl_str bytes;
        enum pl_status status = pl_fd_read(job->fd, piece, sizeof piece, &bytes, &err);
        if (status != PL_OK)
            return pl_console_fail(job->console, job->name, &err);
        status =
            bytes.len ? pl_stream_feed(job->stream, bytes, &err) : pl_stream_end(job->stream, &err);
        enum pl_exit code = pass_on(job);
        if (code != PL_EXIT_OK)
            return code;
        if (status != PL_OK)
            return fail(job, status, &err);
        if (!bytes.len)
            return PL_EXIT_OK;
    }
}

static const struct pl_dialect *dialect_of(const struct pl_args *args, enum pl_option_id id)
{
    const struct pl_option_use *use = pl_args_find(args, id);
    return use ? pl_dialect_find(pl_str_of(use->values[0])) : NULL;
}

enum pl_exit pl_cmd_stream(struct pl_console *console, const struct pl_args *args)
{
    const char *path = args->operands.ptr[0];
    const struct pl_dialect *from = dialect_of(args, PL_OPT_FROM);
    const struct pl_dialect *to = dialect_of(args, PL_OPT_TO);
    if (!from || !to)
        return pl_usage_fail(console, "stream",
                             "from which dialect to which? Give --from and --to");
    struct job job = {.console = console, .name = pl_input_name(path)};
    struct pl_error err = {0};
    enum pl_status status = pl_fd_open(path, &job.fd, &err);
    if (status == PL_OK)
        status = pl_stream_create(from, to, &job.stream);
    enum pl_exit code;
    if (status != PL_OK) {
        err.status = status;
        code = pl_console_fail(console, job.name, &err);
    } else {
        code = run(&job);
    }
    pl_stream_destroy(job.stream);
    pl_fd_close(job.fd);
    return code;
}

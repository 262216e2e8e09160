/* parley stream: converts events of one dialect to another as they arrive. */
#include "app/frame/commands.h"
#include "app/frame/input.h"

#include "io/file/file.h"
#include "io/file/outfile.h"
#include "stream/account.h"
#include "stream/home.h"
#include "stream/stream.h"

enum {
    PIECE_BYTES = 64 << 10,
    /* Limit of each stream for --report, --carry and --strict, which keep both until their end. */
    MAX_KEPT_BYTES = 1 << 30,
};

struct job {
    struct pl_console *console; /* borrowed */
    const char *name;           /* input name in messages */
    const char *path;           /* of the input */
    int fd;
    const struct pl_dialect *from, *to;
    const char *report, *carry;   /* NULL: not requested */
    const char *with_carry;       /* NULL: not a return trip */
    bool is_strict;               /* writes nothing until it is known that nothing is lost */
    bool is_kept;                 /* keeps both streams, for --report, --carry or --strict */
    struct pl_stream *stream;     /* owned */
    struct pl_buf source, target; /* owned; all bytes so far, if is_kept */
};

/* Writes new output at once: a reader may be waiting for it. */
static enum pl_exit pass_on(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (job->is_kept)
        pl_buf_add(&job->target, pl_buf_str(&job->stream->out));
    if (!job->is_strict)
        status = pl_fd_write(1, pl_buf_str(&job->stream->out), &err);
    pl_buf_clear(&job->stream->out);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail_out(job->console, &err);
}

/* A broken stream counts as unreadable input; the target also gets an error event. */
static enum pl_exit fail(struct job *job, enum pl_status status, struct pl_error *err)
{
    err->status = status == PL_NOMEM ? PL_NOMEM : PL_UNREADABLE;
    return pl_console_fail(job->console, job->name, err);
}

static enum pl_status write_carry(struct job *job, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf carry;
    pl_buf_init(&carry, 0);
    enum pl_status status =
        pl_stream_carry_write(&carry, job->from, job->to, pl_buf_str(&job->source));
    return status == PL_OK ? pl_file_write(job->carry, pl_buf_str(&carry), err) : status;
}

/* Also reports on a broken stream. */
static enum pl_exit account(struct job *job)
{
    PL_CLEANUP_BUF struct pl_buf report;
    struct pl_error err = {0};
    bool is_lossless = true;
    if (!job->is_kept)
        return PL_EXIT_OK;
    pl_buf_init(&report, 0);
    enum pl_status status = job->source.status != PL_OK ? job->source.status : job->target.status;
    if (status == PL_LIMIT)
        (void)pl_fail(&err, status, "a stream of more than %d bytes cannot have a report",
                      MAX_KEPT_BYTES);
    if (status == PL_OK)
        status = pl_stream_report(&report, job->from, job->to, pl_buf_str(&job->source),
                                  pl_buf_str(&job->target), &is_lossless, &err);
    const char *path = job->report ? job->report : job->name;
    if (status == PL_OK && job->report)
        status = pl_file_write(job->report, pl_buf_str(&report), &err);
    if (status == PL_OK && job->carry) {
        path = job->carry;
        status = write_carry(job, &err);
    }
    err.status = status;
    if (status != PL_OK)
        return pl_console_fail(job->console, path, &err);
    if (job->is_strict && !is_lossless) {
        err.status = pl_fail(&err, PL_INVALID,
                             "%s cannot express all of it, and --strict refuses losses; see the "
                             "report",
                             job->to->name);
        return pl_console_fail(job->console, job->name, &err);
    }
    if (job->is_strict)
        status = pl_fd_write(1, pl_buf_str(&job->target), &err);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail_out(job->console, &err);
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
        if (job->is_kept)
            pl_buf_add(&job->source, bytes);
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

/* The return trip needs the whole stream: only at its end is it known whether it matches the
 * carry. */
static enum pl_exit go_home(struct job *job)
{
    PL_CLEANUP_FILE struct pl_file stream = {0}, carry = {0};
    struct pl_error err = {0};
    const char *path = job->with_carry;
    bool is_lossless = true;
    PL_CLEANUP_BUF struct pl_buf report;
    pl_buf_init(&report, 0);
    enum pl_status status = pl_input_read(path, &carry, &err);
    if (status == PL_OK) {
        path = job->path;
        status = pl_input_read(path, &stream, &err);
    }
    if (status != PL_OK)
        return pl_console_fail(job->console, pl_input_name(path), &err);
    status = pl_stream_go_home(&job->target, &report, job->from, job->to, carry.bytes, stream.bytes,
                               &is_lossless, &err);
    bool is_broken = status != PL_OK && job->target.len;
    err.status = is_broken && status != PL_NOMEM ? PL_UNREADABLE : status;
    enum pl_exit code = PL_EXIT_OK;
    if (status != PL_OK)
        code = pl_console_fail(job->console, is_broken ? job->name : job->with_carry, &err);
    struct pl_error late = {0};
    if (report.len && job->report &&
        (late.status = pl_file_write(job->report, pl_buf_str(&report), &late)) != PL_OK)
        return pl_console_fail(job->console, job->report, &late);
    if (job->is_strict && !is_lossless && code == PL_EXIT_OK) {
        late.status = pl_fail(&late, PL_INVALID,
                              "not all of it can be restored, and --strict refuses losses; see the "
                              "report");
        return pl_console_fail(job->console, job->name, &late);
    }
    if (pl_fd_write(1, pl_buf_str(&job->target), &late) != PL_OK)
        return pl_console_fail_out(job->console, &late);
    return code;
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
        return pl_usage_fail(console, "stream", "no dialects; give --from and --to");
    struct job job = {
        .console = console,
        .name = pl_input_name(path),
        .path = path,
        .from = from,
        .to = to,
        .report = pl_args_value(args, PL_OPT_REPORT),
        .carry = pl_args_value(args, PL_OPT_CARRY),
        .with_carry = pl_args_value(args, PL_OPT_WITH_CARRY),
        .is_strict = pl_args_has(args, PL_OPT_STRICT),
    };
    const struct pl_outfile_name outputs[] = {
        {"the result", "-"}, {"--report", job.report}, {"--carry", job.carry}};
    struct pl_error err = {0};
    if (pl_outfile_check_all(outputs, sizeof outputs / sizeof *outputs, &err) != PL_OK)
        return pl_usage_fail(console, "stream", "%s", err.message);
    if (job.with_carry && job.carry)
        return pl_usage_fail(console, "stream",
                             "--carry writes a carry and --with-carry uses one; give only one of "
                             "them");
    job.is_kept = job.report || job.is_strict || job.carry;
    pl_buf_init(&job.source, MAX_KEPT_BYTES);
    pl_buf_init(&job.target, MAX_KEPT_BYTES);
    if (job.with_carry) {
        enum pl_exit home = go_home(&job);
        pl_buf_deinit(&job.source);
        pl_buf_deinit(&job.target);
        return home;
    }
    enum pl_status status = pl_fd_open(path, &job.fd, &err);
    if (status == PL_OK)
        status = pl_stream_create(from, to, &job.stream);
    enum pl_exit code;
    if (status != PL_OK) {
        err.status = status;
        code = pl_console_fail(console, job.name, &err);
    } else {
        code = run(&job);
        enum pl_exit accounted = account(&job);
        code = code == PL_EXIT_OK ? accounted : code;
    }
    pl_buf_deinit(&job.source);
    pl_buf_deinit(&job.target);
    pl_stream_destroy(job.stream);
    pl_fd_close(job.fd);
    return code;
}

#include "io/media/ffmpeg_int.h"

#include "io/system/process.h"

#include <stdio.h>

enum pl_status pl_ffmpeg_name(char to[PL_FFMPEG_NAME], const char *path, struct pl_error *err)
{
    if (snprintf(to, PL_FFMPEG_NAME, "file:%s", path) >= PL_FFMPEG_NAME)
        return pl_fail(err, PL_UNREADABLE, "the name is too long");
    return PL_OK;
}

/* The last line of what it said: it sums up. */
static struct pl_str last_line(struct pl_str said)
{
    while (said.len && (said.ptr[said.len - 1] == '\n' || said.ptr[said.len - 1] == ' '))
        said.len--;
    for (size_t i = said.len; i > 0; i--)
        if (said.ptr[i - 1] == '\n')
            return pl_str_slice(said, i, said.len);
    return said;
}

enum pl_status pl_ffmpeg_run(const char *const *argv, int64_t limit_ms, uint64_t max_memory,
                             struct pl_buf *out, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf errors;
    pl_buf_init(&errors, 0);
    struct pl_process process = {
        .argv = argv,
        .limit_ms = limit_ms,
        .max_memory = max_memory,
        .out = out,
        .errors = &errors,
    };
    enum pl_status status = pl_process_run(&process, err);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_IO,
                       "the program ffmpeg is not installed; install it (Debian, Ubuntu: apt "
                       "install ffmpeg; macOS: brew install ffmpeg)");
    if (status != PL_OK || process.code == 0)
        return status;
    struct pl_str said = pl_str_slice(last_line(pl_buf_str(&errors)), 0, 300);
    return pl_fail(err, PL_UNREADABLE, "ffmpeg cannot process it (exit code %d): %.*s",
                   process.code, PL_STR_ARG(said));
}

#include "io/media/ffmpeg_int.h"

#include "io/system/process.h"

#include <stdio.h>

enum pl_status pl_ffmpeg_name(char to[PL_FFMPEG_NAME], const char *path, struct pl_error *err)
{
    if (snprintf(to, PL_FFMPEG_NAME, "file:%s", path) >= PL_FFMPEG_NAME)
        return pl_fail(err, PL_UNREADABLE, "the name is too long");
    return PL_OK;
}

/* The last line of its messages: the summary. */
static struct pl_str last_line(struct pl_str said)
{
    while (said.len && (said.ptr[said.len - 1] == '\n' || said.ptr[said.len - 1] == ' '))
        said.len--;
    for (size_t i = said.len; i > 0; i--)
        if (said.ptr[i - 1] == '\n')
            return pl_str_slice(said, i, said.len);
    return said;
}

/* The message without the file name at its start. */
static struct pl_str without_name(struct pl_str said, const char *input)
{
    struct pl_str name = pl_str_of(input), colon = PL_STR(": ");
    if (!pl_str_starts(said, name))
        return said;
    said = pl_str_slice(said, name.len, said.len);
    return pl_str_starts(said, colon) ? pl_str_slice(said, colon.len, said.len) : said;
}

enum pl_status pl_ffmpeg_run(const char *const *argv, const char *input, int64_t limit_ms,
                             uint64_t max_memory, struct pl_buf *out, struct pl_error *err)
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
    struct pl_str all = pl_buf_str(&errors);
    if (pl_str_find(all, PL_STR("not on whitelist")) < all.len)
        return pl_fail(err, PL_UNREADABLE,
                       "ffmpeg cannot process it (exit code %d): it is a list of other files, or "
                       "no container such as MP4, Matroska, WebM, AVI, MPEG-TS or Ogg",
                       process.code);
    struct pl_str said = without_name(last_line(all), input);
    return pl_fail(err, PL_UNREADABLE, "ffmpeg cannot process it (exit code %d): %.*s",
                   process.code, PL_STR_ARG(pl_str_slice(said, 0, 300)));
}

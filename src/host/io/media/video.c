/* Runs ffmpeg and ffprobe on a file; what they complain about becomes our message. */
#include "io/media/video.h"

#include "base/buf.h"
#include "base/decimal.h"
#include "io/system/process.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Names begin with it, so that none is taken for an option or an address. */
#define FILE_PREFIX "file:"
enum { PREFIXED = PATH_MAX + 32 };

/* What every call of ffmpeg begins with. */
#define FFMPEG     "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y"
#define ONLY_FILES "-protocol_whitelist", "file"

static enum pl_status prefix(char to[PREFIXED], const char *path, struct pl_error *err)
{
    if (snprintf(to, PREFIXED, FILE_PREFIX "%s", path) >= PREFIXED)
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

/* Runs it; what it complains about becomes our message. */
static enum pl_status run(const char *const *argv, int64_t limit_ms, struct pl_buf *out,
                          struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf errors;
    pl_buf_init(&errors, 0);
    struct pl_process process = {.argv = argv, .limit_ms = limit_ms, .out = out, .errors = &errors};
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

/* "30000/1001" */
static void read_rate(struct pl_video *video, struct pl_str said)
{
    size_t slash = pl_str_find(said, PL_STR("/"));
    int64_t rate, of;
    struct pl_str line = pl_str_slice(said, 0, pl_str_find(said, PL_STR("\n")));
    if (slash >= line.len || !pl_decimal_read(pl_str_slice(line, 0, slash), &rate) ||
        !pl_decimal_read(pl_str_slice(line, slash + 1, line.len), &of) || !of)
        return;
    video->rate = (uint64_t)rate;
    video->rate_of = (uint64_t)of;
}

enum pl_status pl_video_probe(struct pl_video *video, struct pl_error *err)
{
    char input[PREFIXED];
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    video->rate = video->rate_of = 0;
    enum pl_status status = prefix(input, video->path, err);
    if (status != PL_OK)
        return status;
    const char *const argv[] = {
        "ffprobe",
        "-v",
        "error",
        "-protocol_whitelist",
        "file",
        "-select_streams",
        "v:0",
        "-show_entries",
        "stream=avg_frame_rate",
        "-of",
        "default=nw=1:nk=1",
        input,
        NULL,
    };
    status = run(argv, video->limit_ms, &said, err);
    if (status == PL_OK && !said.len)
        return pl_fail(err, PL_UNREADABLE, "it has no video");
    read_rate(video, pl_buf_str(&said));
    return status;
}

/* At each moment the frame that is shown then: rounding up gives a frame to the next moment, the
 * last one before it wins. */
enum pl_status pl_video_take_frames(const struct pl_video *video, struct pl_error *err)
{
    char input[PREFIXED], pattern[PREFIXED], filter[96], count[24], from[32], to[32];
    enum pl_status status = prefix(input, video->path, err);
    if (status != PL_OK)
        return status;
    snprintf(filter, sizeof filter, "fps=fps=1000/%" PRIu64 ":round=up:start_time=0",
             video->every_ms);
    snprintf(count, sizeof count, "%" PRIu64, video->max);
    snprintf(pattern, sizeof pattern, FILE_PREFIX "%s/%%08d.jpg", video->dir);
    snprintf(from, sizeof from, "%" PRIu64 "ms", video->from_ms);
    snprintf(to, sizeof to, "%" PRIu64 "ms", video->to_ms - video->from_ms);
    const char *argv[40] = {FFMPEG, ONLY_FILES};
    size_t n = 8;
    const char *const place[] = {"-ss", from, video->to_ms ? "-t" : NULL, to};
    for (size_t i = video->from_ms ? 0 : 2; i < 4 && place[i]; i++)
        argv[n++] = place[i];
    const char *const rest[] = {"-i",       input,       "-map", "0:v:0",  "-vf",
                                filter,     "-frames:v", count,  "-q:v",   "3",
                                "-pix_fmt", "yuvj420p",  "-f",   "image2", pattern};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        argv[n++] = rest[i];
    return run(argv, video->limit_ms, NULL, err);
}

bool pl_video_frame_path(const struct pl_video *video, uint64_t i, char *ret_path)
{
    int len = snprintf(ret_path, PATH_MAX, "%s/%08" PRIu64 ".jpg", video->dir, i + 1);
    return i < video->max && len < PATH_MAX && access(ret_path, F_OK) == 0;
}

uint64_t pl_video_frame_index(const struct pl_video *video, uint64_t time_ms)
{
    uint64_t n, of;
    if (__builtin_mul_overflow(time_ms, video->rate, &n) ||
        __builtin_mul_overflow(video->rate_of, 1000, &of) || of == 0)
        return 0;
    return n / of;
}

enum pl_status pl_video_take_sound(const struct pl_video *video, const char *to,
                                   struct pl_error *err)
{
    char input[PREFIXED], output[PREFIXED], rate[16], from[32], length[32];
    enum pl_status status = prefix(input, video->path, err);
    if (status == PL_OK)
        status = prefix(output, to, err);
    if (status != PL_OK)
        return status;
    snprintf(rate, sizeof rate, "%d", PL_VIDEO_SAMPLE_RATE);
    snprintf(from, sizeof from, "%" PRIu64 "ms", video->from_ms);
    snprintf(length, sizeof length, "%" PRIu64 "ms", video->to_ms - video->from_ms);
    const char *argv[40] = {FFMPEG, ONLY_FILES};
    size_t n = 8;
    const char *const place[] = {"-ss", from, video->to_ms ? "-t" : NULL, length};
    for (size_t i = video->from_ms ? 0 : 2; i < 4 && place[i]; i++)
        argv[n++] = place[i];
    const char *const rest[] = {
        "-i",        input,     "-map",      "0:a:0",         "-ac", "1",  "-ar", rate,  "-c:a",
        "pcm_s16le", "-fflags", "+bitexact", "-map_metadata", "-1",  "-f", "wav", output};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        argv[n++] = rest[i];
    return run(argv, video->limit_ms, NULL, err);
}

enum pl_status pl_image_turn(const char *from, const char *to, int degrees, int64_t limit_ms,
                             struct pl_error *err)
{
    char input[PREFIXED], output[PREFIXED];
    const char *filter = degrees == 90    ? "transpose=clock"
                         : degrees == 270 ? "transpose=cclock"
                                          : "hflip,vflip";
    enum pl_status status = prefix(input, from, err);
    if (status == PL_OK)
        status = prefix(output, to, err);
    if (status != PL_OK)
        return status;
    const char *const argv[] = {FFMPEG, ONLY_FILES, "-i", input,     "-vf", filter, "-frames:v",
                                "1",    "-q:v",     "2",  "-update", "1",   output, NULL};
    return run(argv, limit_ms, NULL, err);
}

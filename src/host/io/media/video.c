/* Frames and audio: the arguments of ffmpeg and ffprobe. */
#include "io/media/video.h"

#include "base/buf.h"
#include "base/text/decimal.h"
#include "io/media/ffmpeg_int.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    char input[PL_FFMPEG_NAME];
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    video->rate = video->rate_of = 0;
    enum pl_status status = pl_ffmpeg_name(input, video->path, err);
    if (status != PL_OK)
        return status;
    const char *const argv[] = {
        "ffprobe",
        "-v",
        "error",
        PL_FFMPEG_CONTAINERS,
        "-select_streams",
        "v:0",
        "-show_entries",
        "stream=avg_frame_rate",
        "-of",
        "default=nw=1:nk=1",
        input,
        NULL,
    };
    status = pl_ffmpeg_run(argv, input, video->limit_ms, 0, &said, err);
    if (status == PL_OK && !said.len)
        return pl_fail(err, PL_UNREADABLE, "it has no video");
    read_rate(video, pl_buf_str(&said));
    return status;
}

/* Runs ffmpeg on the part of the video from from_ms to to_ms with the arguments `rest`, which end
 * in NULL. */
static enum pl_status take(const struct pl_video *video, const char *const *rest,
                           struct pl_error *err)
{
    char input[PL_FFMPEG_NAME], from[32], length[32];
    enum pl_status status = pl_ffmpeg_name(input, video->path, err);
    if (status != PL_OK)
        return status;
    snprintf(from, sizeof from, "%" PRIu64 "ms", video->from_ms);
    snprintf(length, sizeof length, "%" PRIu64 "ms", video->to_ms - video->from_ms);
    const char *argv[40] = {PL_FFMPEG, PL_FFMPEG_CONTAINERS};
    size_t n = 0;
    while (argv[n])
        n++;
    const char *const place[] = {"-ss", from, video->to_ms ? "-t" : NULL, length};
    for (size_t i = video->from_ms ? 0 : 2; i < 4 && place[i]; i++)
        argv[n++] = place[i];
    argv[n++] = "-i";
    argv[n++] = input;
    while (*rest)
        argv[n++] = *rest++;
    return pl_ffmpeg_run(argv, input, video->limit_ms, 0, NULL, err);
}

/* For each moment, the frame shown at that time: with round=up a frame counts for the next moment,
 * and the last one before the moment wins. */
enum pl_status pl_video_take_frames(const struct pl_video *video, struct pl_error *err)
{
    char pattern[PL_FFMPEG_NAME], filter[96], count[24];
    snprintf(filter, sizeof filter, "fps=fps=1000/%" PRIu64 ":round=up:start_time=0",
             video->every_ms);
    snprintf(count, sizeof count, "%" PRIu64, video->max);
    snprintf(pattern, sizeof pattern, "file:%s/%%08d.jpg", video->dir);
    const char *const rest[] = {"-map", "0:v:0",  "-vf",   filter,     "-frames:v",
                                count,  "-q:v",   "3",     "-pix_fmt", "yuvj420p",
                                "-f",   "image2", pattern, NULL};
    return take(video, rest, err);
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
    char output[PL_FFMPEG_NAME], rate[16];
    enum pl_status status = pl_ffmpeg_name(output, to, err);
    if (status != PL_OK)
        return status;
    snprintf(rate, sizeof rate, "%d", PL_VIDEO_SAMPLE_RATE);
    const char *const rest[] = {"-map", "0:a:0",     "-ac",     "1",         "-ar",           rate,
                                "-c:a", "pcm_s16le", "-fflags", "+bitexact", "-map_metadata", "-1",
                                "-f",   "wav",       output,    NULL};
    return take(video, rest, err);
}

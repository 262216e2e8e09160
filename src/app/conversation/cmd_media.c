/* parley media: converts a video to a message for a model, with ffmpeg (io/media/video.h). */
#include "app/frame/commands.h"

#include "base/sha/sha256.h"
#include "conv/media/media.h"
#include "io/file/file.h"
#include "io/file/outfile.h"
#include "service/blobs/video_message.h"

struct job {
    struct pl_console *console; /* borrowed */
    const char *video;          /* borrowed */
    const char *out;            /* NULL: standard output */
    struct pl_video_wish wish;
    struct pl_buf made; /* owned; the message */
};

/* Parses the time of an option; *ret_ms is unchanged if it is absent. */
static enum pl_exit read_time(const struct job *job, const struct pl_args *args,
                              enum pl_option_id option, const char *name, uint64_t *ret_ms)
{
    const char *text = pl_args_value(args, option);
    if (!text || pl_media_duration_read(pl_str_of(text), ret_ms))
        return PL_EXIT_OK;
    return pl_usage_fail(job->console, "media",
                         "--%s must be a time such as 1s, 0.5s, 500ms or 2m, not \"%s\"", name,
                         text);
}

static enum pl_exit read_detail(struct job *job, const struct pl_args *args)
{
    static const char *const words[] = {"low", "high", "auto", NULL};
    const char *detail = pl_args_value(args, PL_OPT_DETAIL);
    for (size_t i = 0; detail && words[i]; i++)
        if (strcmp(detail, words[i]) == 0)
            job->wish.detail = words[i];
    if (detail && !job->wish.detail)
        return pl_usage_fail(job->console, "media",
                             "--detail must be low, high or auto, not \"%s\"", detail);
    return PL_EXIT_OK;
}

static enum pl_exit read_range(struct job *job, const struct pl_args *args)
{
    struct pl_video *video = &job->wish.video;
    enum pl_exit code = read_time(job, args, PL_OPT_EVERY, "every", &video->every_ms);
    if (code == PL_EXIT_OK)
        code = read_time(job, args, PL_OPT_START, "start", &video->from_ms);
    if (code == PL_EXIT_OK)
        code = read_time(job, args, PL_OPT_END, "end", &video->to_ms);
    if (code == PL_EXIT_OK && video->to_ms && video->to_ms <= video->from_ms)
        return pl_usage_fail(job->console, "media", "--end must be later than --start");
    return code;
}

static enum pl_exit read_options(struct job *job, const struct pl_args *args)
{
    const char *max = pl_args_value(args, PL_OPT_MAX);
    job->video = args->operands.ptr[1];
    job->out = pl_args_value(args, PL_OPT_OUT);
    job->wish.has_sound = pl_args_has(args, PL_OPT_SOUND);
    if (strcmp(args->operands.ptr[0], "frames") != 0)
        return pl_usage_fail(job->console, "media", "\"%s\" is not an action; use frames",
                             args->operands.ptr[0]);
    if (strcmp(job->video, "-") == 0)
        return pl_usage_fail(job->console, "media",
                             "a video cannot be read from standard input; name a file");
    if (!pl_args_value(args, PL_OPT_EVERY))
        return pl_usage_fail(job->console, "media", "no interval; give --every 1s");
    enum pl_exit code = read_range(job, args);
    if (code == PL_EXIT_OK)
        code = read_detail(job, args);
    if (code == PL_EXIT_OK && max &&
        !pl_option_read_count(max, PL_VIDEO_MAX_FRAMES, &job->wish.video.max))
        return pl_usage_fail(job->console, "media",
                             "--max must be a number from 1 to %d, not \"%s\"", PL_VIDEO_MAX_FRAMES,
                             max);
    return code;
}

static enum pl_status make(struct job *job, struct pl_error *err)
{
    char id[PL_SHA256_HEX + 1];
    PL_CLEANUP_FILE struct pl_file video = {0};
    enum pl_status status = pl_file_read(job->video, 0, NULL, &video, err);
    if (status != PL_OK)
        return status;
    pl_sha256_hex(video.bytes, id);
    job->wish.video.path = job->video;
    job->wish.video_id = pl_str_of(id);
    status = pl_video_message_write(&job->wish, &job->made, err);
    pl_buf_addc(&job->made, '\n');
    return status == PL_OK ? job->made.status : status;
}

enum pl_exit pl_cmd_media(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {.console = console, .wish = {.video = {.max = PL_VIDEO_DEFAULT_FRAMES}}};
    struct pl_error err = {0};
    enum pl_exit code = read_options(&job, args);
    if (code != PL_EXIT_OK)
        return code;
    pl_buf_init(&job.made, 0);
    err.status = make(&job, &err);
    if (err.status != PL_OK)
        code = pl_console_fail(console, job.video, &err);
    else if (!job.out || strcmp(job.out, "-") == 0)
        pl_console_put(console, pl_buf_str(&job.made));
    else if (pl_file_write(job.out, pl_buf_str(&job.made), &err) != PL_OK)
        code = pl_console_fail(console, job.out, &err);
    pl_buf_deinit(&job.made);
    return code;
}

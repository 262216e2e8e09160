/* parley media: a video as a message a model can look at. The work is ffmpeg's; it is started with
 * the words of a fixed table, reads only the named file, and writes only into a directory of its
 * own that is gone at the end. */
#include "app/commands.h"

#include "base/sha256.h"
#include "conv/media.h"
#include "io/file.h"
#include "io/outfile.h"
#include "io/process.h"

#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

enum {
    DEFAULT_MAX = 64,
    MAX_MAX = 10000,
    SAMPLE_RATE = 16000,
    MAX_FRAME_BYTES = 64 << 20,
    MAX_SOUND_BYTES = 1 << 30,
};

struct job {
    struct pl_console *console; /* borrowed */
    const char *video;          /* borrowed */
    const char *out;            /* NULL: standard output */
    uint64_t every_ms;
    uint64_t max;
    bool has_sound;
    char dir[PATH_MAX]; /* of the temporary files; empty before it is made */
    struct pl_buf made; /* owned; the message */
};

static enum pl_exit read_options(struct job *job, const struct pl_args *args)
{
    const char *every = pl_args_value(args, PL_OPT_EVERY), *max = pl_args_value(args, PL_OPT_MAX);
    job->video = args->operands.ptr[1];
    job->out = pl_args_value(args, PL_OPT_OUT);
    job->has_sound = pl_args_has(args, PL_OPT_SOUND);
    if (strcmp(args->operands.ptr[0], "frames") != 0)
        return pl_usage_fail(job->console, "media", "what to do is frames, not \"%s\"",
                             args->operands.ptr[0]);
    if (strcmp(job->video, "-") == 0)
        return pl_usage_fail(job->console, "media",
                             "a video cannot be read from standard input; name its file");
    if (!every)
        return pl_usage_fail(job->console, "media", "how often a frame? Give --every 1s");
    if (!pl_media_duration_read(pl_str_of(every), &job->every_ms))
        return pl_usage_fail(job->console, "media",
                             "--every is a time such as 1s, 0.5s, 500ms or 2m, not \"%s\"", every);
    if (max && !pl_option_read_count(max, MAX_MAX, &job->max))
        return pl_usage_fail(job->console, "media", "--max is a number from 1 to %d, not \"%s\"",
                             MAX_MAX, max);
    return PL_EXIT_OK;
}

/* Runs ffmpeg; what it complains about becomes our message. */
static enum pl_status run(const char *const *argv, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf errors;
    pl_buf_init(&errors, 0);
    int code = 0;
    enum pl_status status = pl_process_run(argv, &errors, &code, err);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_IO,
                       "this needs the program ffmpeg, and it is not installed; install it "
                       "(Debian, Ubuntu: apt install ffmpeg; macOS: brew install ffmpeg)");
    if (status != PL_OK || code == 0)
        return status;
    struct pl_str said = pl_buf_str(&errors);
    while (said.len && (said.ptr[said.len - 1] == '\n' || said.ptr[said.len - 1] == ' '))
        said.len--;
    /* The last line sums up. */
    for (size_t i = said.len; i > 0; i--)
        if (said.ptr[i - 1] == '\n') {
            said = pl_str_slice(said, i, said.len);
            break;
        }
    if (said.len > 300)
        said.len = 300;
    return pl_fail(err, PL_UNREADABLE, "ffmpeg cannot take it (exit code %d): %.*s", code,
                   PL_STR_ARG(said));
}

/* At each moment the frame that is shown then: rounding up gives a frame to the next moment, the
 * last one before it wins. */
static enum pl_status take_frames(const struct job *job, const char *input, struct pl_error *err)
{
    char filter[96], count[24], pattern[PATH_MAX + 16];
    snprintf(filter, sizeof filter, "fps=fps=1000/%" PRIu64 ":round=up:start_time=0",
             job->every_ms);
    snprintf(count, sizeof count, "%" PRIu64, job->max);
    snprintf(pattern, sizeof pattern, "file:%s/%%08d.jpg", job->dir);
    const char *const argv[] = {
        "ffmpeg",   "-nostdin",  "-hide_banner", "-loglevel", "error", "-protocol_whitelist",
        "file",     "-i",        input,          "-map",      "0:v:0", "-vf",
        filter,     "-frames:v", count,          "-q:v",      "3",     "-pix_fmt",
        "yuvj420p", "-f",        "image2",       pattern,     NULL,
    };
    return run(argv, err);
}

static enum pl_status take_sound(const char *input, const char *output, struct pl_error *err)
{
    char rate[16];
    snprintf(rate, sizeof rate, "%d", SAMPLE_RATE);
    const char *const argv[] = {
        "ffmpeg",
        "-nostdin",
        "-hide_banner",
        "-loglevel",
        "error",
        "-protocol_whitelist",
        "file",
        "-i",
        input,
        "-map",
        "0:a:0",
        "-ac",
        "1",
        "-ar",
        rate,
        "-c:a",
        "pcm_s16le",
        "-fflags",
        "+bitexact",
        "-map_metadata",
        "-1",
        "-f",
        "wav",
        output,
        NULL,
    };
    return run(argv, err);
}

static enum pl_status add_frames(const struct job *job, struct pl_media_message *message,
                                 struct pl_error *err)
{
    for (uint64_t i = 0; i < job->max; i++) {
        char path[PATH_MAX + 32];
        snprintf(path, sizeof path, "%s/%08" PRIu64 ".jpg", job->dir, i + 1);
        if (access(path, F_OK) != 0)
            break;
        PL_CLEANUP_FILE struct pl_file file = {0};
        enum pl_status status = pl_file_read(path, MAX_FRAME_BYTES, NULL, &file, err);
        if (status != PL_OK)
            return status;
        pl_media_add_frame(message, file.bytes, i * job->every_ms);
    }
    if (message->n_frames == 0)
        return pl_fail(err, PL_UNREADABLE, "there is no frame in it");
    return PL_OK;
}

static enum pl_status add_sound(const struct job *job, const char *input,
                                struct pl_media_message *message, struct pl_error *err)
{
    char output[PATH_MAX + 16];
    snprintf(output, sizeof output, "file:%s/sound.wav", job->dir);
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_status status = take_sound(input, output, err);
    if (status == PL_OK)
        status = pl_file_read(output + strlen("file:"), MAX_SOUND_BYTES, NULL, &file, err);
    if (status == PL_OK)
        pl_media_add_sound(message, file.bytes, SAMPLE_RATE);
    return status;
}

static enum pl_status make(struct job *job, struct pl_error *err)
{
    char id[PL_SHA256_HEX + 1], input[PATH_MAX + 16];
    PL_CLEANUP_FILE struct pl_file video = {0};
    enum pl_status status = pl_file_read(job->video, 0, NULL, &video, err);
    if (status != PL_OK)
        return status;
    pl_sha256_hex(video.bytes, id);
    /* The prefix keeps a name from being taken for an option or an address. */
    if (snprintf(input, sizeof input, "file:%s", job->video) >= (int)sizeof input)
        return pl_fail(err, PL_UNREADABLE, "its name is too long");
    status = pl_temp_dir_make(job->dir, err);
    if (status != PL_OK) {
        job->dir[0] = '\0';
        return status;
    }
    struct pl_media_message message;
    pl_media_open(&message, &job->made, pl_str_of(id));
    status = take_frames(job, input, err);
    if (status == PL_OK)
        status = add_frames(job, &message, err);
    if (status == PL_OK && job->has_sound)
        status = add_sound(job, input, &message, err);
    pl_media_close(&message);
    pl_buf_addc(&job->made, '\n');
    return status == PL_OK ? job->made.status : status;
}

enum pl_exit pl_cmd_media(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {.console = console, .max = DEFAULT_MAX};
    struct pl_error err = {0};
    enum pl_exit code = read_options(&job, args);
    if (code != PL_EXIT_OK)
        return code;
    pl_buf_init(&job.made, 0);
    err.status = make(&job, &err);
    if (job.dir[0])
        pl_temp_dir_remove(job.dir);
    if (err.status != PL_OK)
        code = pl_console_fail(console, job.video, &err);
    else if (!job.out || strcmp(job.out, "-") == 0)
        pl_console_put(console, pl_buf_str(&job.made));
    else if (pl_file_write(job.out, pl_buf_str(&job.made), &err) != PL_OK)
        code = pl_console_fail(console, job.out, &err);
    pl_buf_deinit(&job.made);
    return code;
}

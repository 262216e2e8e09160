/* ffmpeg reads and writes the image as files in a temporary directory. */
#include "io/media/image.h"

#include "io/file/file.h"
#include "io/file/outfile.h"
#include "io/media/ffmpeg_int.h"
#include "io/system/process.h"

#include <stdio.h>

/* 50 million pixels take 200 MB before turning, and as much after. */
#define MAX_PIXELS "50000000"
#define MAX_MEMORY (UINT64_C(1) << 30)

/* The demuxer is fixed, so that no input can select one that opens other files. */
static const struct {
    const char *mime, *reader, *writer, *to;
} types[] = {
    {"image/png", "png_pipe", "png", "image/png"},
    {"image/jpeg", "jpeg_pipe", "mjpeg", "image/jpeg"},
    {"image/webp", "webp_pipe", "png", "image/png"},
    {"image/gif", "gif", "png", "image/png"},
};
enum { N_TYPES = sizeof types / sizeof *types };

static enum pl_status turn_file(const char *from, const char *to, size_t type, int degrees,
                                struct pl_error *err)
{
    char input[PL_FFMPEG_NAME], output[PL_FFMPEG_NAME];
    const char *filter = degrees == 90    ? "transpose=clock"
                         : degrees == 270 ? "transpose=cclock"
                                          : "hflip,vflip";
    enum pl_status status = pl_ffmpeg_name(input, from, err);
    if (status == PL_OK)
        status = pl_ffmpeg_name(output, to, err);
    if (status != PL_OK)
        return status;
    const char *const argv[] = {PL_FFMPEG,
                                PL_FFMPEG_IMAGES,
                                "-noautorotate",
                                "-max_pixels",
                                MAX_PIXELS,
                                "-threads",
                                "1",
                                "-f",
                                types[type].reader,
                                "-i",
                                input,
                                "-vf",
                                filter,
                                "-frames:v",
                                "1",
                                "-threads",
                                "1",
                                "-c:v",
                                types[type].writer,
                                "-q:v",
                                "2",
                                "-f",
                                "image2",
                                "-update",
                                "1",
                                output,
                                NULL};
    return pl_ffmpeg_run(argv, input, PL_IMAGE_TURN_MS, MAX_MEMORY, NULL, err);
}

static enum pl_status turn_in(const char *dir, struct pl_str bytes, size_t type, int degrees,
                              size_t max_bytes, struct pl_buf *to, struct pl_error *err)
{
    char from[PATH_MAX + 8], turned[PATH_MAX + 8];
    PL_CLEANUP_FILE struct pl_file file = {0};
    snprintf(from, sizeof from, "%s/from", dir);
    snprintf(turned, sizeof turned, "%s/turned", dir);
    enum pl_status status = pl_file_write(from, bytes, err);
    if (status == PL_OK)
        status = turn_file(from, turned, type, degrees, err);
    if (status == PL_OK)
        status = pl_file_read(turned, max_bytes, NULL, &file, err);
    if (status != PL_OK)
        return status;
    pl_buf_add(to, file.bytes);
    return to->status;
}

enum pl_status pl_image_turn(struct pl_str bytes, struct pl_str mime, int degrees, size_t max_bytes,
                             struct pl_buf *to, const char **ret_mime, struct pl_error *err)
{
    char dir[PATH_MAX];
    size_t type = 0;
    while (type < N_TYPES && !pl_str_eq(mime, pl_str_of(types[type].mime)))
        type++;
    if (type == N_TYPES)
        return pl_fail(err, PL_INVALID, "only PNG, JPEG, GIF and WebP can be turned");
    enum pl_status status = pl_temp_dir_make(dir, err);
    if (status != PL_OK)
        return status;
    status = turn_in(dir, bytes, type, degrees, max_bytes, to, err);
    pl_temp_dir_remove(dir);
    if (status == PL_OK)
        *ret_mime = types[type].to;
    return status;
}

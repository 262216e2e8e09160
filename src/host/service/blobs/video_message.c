#include "service/blobs/video_message.h"

#include "conv/media/media.h"
#include "io/file/file.h"
#include "io/system/process.h"

#include <limits.h>
#include <stdio.h>

enum { MAX_FRAME_BYTES = 64 << 20, MAX_SOUND_BYTES = 1 << 30 };

static enum pl_status add_frames(const struct pl_video *video, struct pl_media_message *message,
                                 struct pl_error *err)
{
    char path[PATH_MAX];
    for (uint64_t i = 0; pl_video_frame_path(video, i, path); i++) {
        PL_CLEANUP_FILE struct pl_file file = {0};
        enum pl_status status = pl_file_read(path, MAX_FRAME_BYTES, NULL, &file, err);
        if (status != PL_OK)
            return status;
        uint64_t time_ms = video->from_ms + i * video->every_ms;
        pl_media_add_frame(message, file.bytes, time_ms, pl_video_frame_index(video, time_ms));
    }
    if (message->n_frames == 0)
        return pl_fail(err, PL_UNREADABLE, "the video has no frame there");
    return PL_OK;
}

static enum pl_status add_sound(const struct pl_video *video, struct pl_media_message *message,
                                struct pl_error *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/sound.wav", video->dir);
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_status status = pl_video_take_sound(video, path, err);
    if (status == PL_OK)
        status = pl_file_read(path, MAX_SOUND_BYTES, NULL, &file, err);
    if (status == PL_OK)
        pl_media_add_sound(message, file.bytes, PL_VIDEO_SAMPLE_RATE);
    return status;
}

static enum pl_status write_message(const struct pl_video_wish *wish, struct pl_buf *to,
                                    struct pl_error *err)
{
    struct pl_media_message message;
    pl_media_open(&message, to, wish->video_id);
    message.detail = wish->detail;
    enum pl_status status = add_frames(&wish->video, &message, err);
    if (status == PL_OK && wish->has_sound)
        status = add_sound(&wish->video, &message, err);
    pl_media_close(&message);
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_video_message_write(struct pl_video_wish *wish, struct pl_buf *to,
                                      struct pl_error *err)
{
    char dir[PATH_MAX];
    enum pl_status status = pl_video_probe(&wish->video, err);
    if (status == PL_OK)
        status = pl_temp_dir_make(dir, err);
    if (status != PL_OK)
        return status;
    wish->video.dir = dir;
    status = pl_video_take_frames(&wish->video, err);
    if (status == PL_OK)
        status = write_message(wish, to, err);
    pl_temp_dir_remove(dir);
    wish->video.dir = NULL;
    return status;
}

/* Frames and audio of a video: the work of the program ffmpeg. It is
 * started with the words of fixed tables, without a shell, reads only the named file, and has a
 * limit of time. All of it blocks: on a worker. */
#ifndef PL_IO_MEDIA_VIDEO_H
#define PL_IO_MEDIA_VIDEO_H

#include "base/status.h"

#include <stdint.h>

enum { PL_VIDEO_SAMPLE_RATE = 16000 };

struct pl_video {
    const char *path;       /* borrowed */
    const char *dir;        /* borrowed; the frames go there (pl_video_frame_path) */
    uint64_t every_ms;      /* from one frame to the next */
    uint64_t from_ms;       /* where the first one is */
    uint64_t to_ms;         /* where it ends; 0: at the end of the video */
    uint64_t max;           /* frames */
    int64_t limit_ms;       /* of each call; 0: none */
    uint64_t rate, rate_of; /* found by probe: frames in so many seconds; 0: unknown */
};

/* The rate of its frames. PL_UNREADABLE: no video, or ffmpeg cannot read it; PL_IO: ffmpeg is not
 * there, or took too long. */
enum pl_status pl_video_probe(struct pl_video *video, struct pl_error *err);
/* Writes JPEG files. The i-th one, from 0, shows what is seen i * every_ms after from_ms. */
enum pl_status pl_video_take_frames(const struct pl_video *video, struct pl_error *err);
/* The path of the i-th frame, in PATH_MAX bytes; false: there is none. */
bool pl_video_frame_path(const struct pl_video *video, uint64_t i, char *ret_path);
/* The number of the frame in the video that is shown at this time; 0 where nobody knows. */
uint64_t pl_video_frame_index(const struct pl_video *video, uint64_t time_ms);
/* Writes a WAV file: one channel, PL_VIDEO_SAMPLE_RATE. */
enum pl_status pl_video_take_sound(const struct pl_video *video, const char *to,
                                   struct pl_error *err);

#endif

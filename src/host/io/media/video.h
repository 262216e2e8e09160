/* Extracts frames and audio of a video with the program ffmpeg. Its arguments come from fixed
 * tables, there is no shell, it reads only the named file, and it has a time limit. Everything here
 * blocks: call it on a worker. */
#ifndef PL_IO_MEDIA_VIDEO_H
#define PL_IO_MEDIA_VIDEO_H

#include "base/status.h"

#include <stdint.h>

enum { PL_VIDEO_SAMPLE_RATE = 16000 };

struct pl_video {
    const char *path;       /* borrowed */
    const char *dir;        /* borrowed; the frames go there (pl_video_frame_path) */
    uint64_t every_ms;      /* distance between frames */
    uint64_t from_ms;       /* time of the first frame */
    uint64_t to_ms;         /* end of the part; 0: the end of the video */
    uint64_t max;           /* maximum number of frames */
    int64_t limit_ms;       /* of each call; 0: no limit */
    uint64_t rate, rate_of; /* set by probe: `rate` frames in `rate_of` seconds; 0: unknown */
};

/* Finds the frame rate. PL_UNREADABLE: no video, or ffmpeg cannot read it; PL_IO: ffmpeg is not
 * installed, or took too long. */
enum pl_status pl_video_probe(struct pl_video *video, struct pl_error *err);
/* Writes JPEG files. The i-th one, from 0, is the frame shown at from_ms + i * every_ms. */
enum pl_status pl_video_take_frames(const struct pl_video *video, struct pl_error *err);
/* The path of the i-th frame, in PATH_MAX bytes. False: there is no such frame. */
bool pl_video_frame_path(const struct pl_video *video, uint64_t i, char *ret_path);
/* The number of the video frame shown at this time; 0 if the rate is unknown. */
uint64_t pl_video_frame_index(const struct pl_video *video, uint64_t time_ms);
/* Writes a WAV file: one channel, PL_VIDEO_SAMPLE_RATE. */
enum pl_status pl_video_take_sound(const struct pl_video *video, const char *to,
                                   struct pl_error *err);

#endif

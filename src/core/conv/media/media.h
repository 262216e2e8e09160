/* A video as a message: frames with their times, and the audio. Written piece by piece, so that
 * only one frame is in memory besides the message. */
#ifndef PL_CONV_MEDIA_H
#define PL_CONV_MEDIA_H

#include "json/write.h"

struct pl_media_message {
    struct pl_json_out out;
    struct pl_str video_id; /* borrowed */
    const char *detail;     /* of the images: low, high or auto; NULL: omitted */
    int64_t n_frames;
};

/* Opens a user message of harmony in *to; failures stick to it. */
void pl_media_open(struct pl_media_message *message, struct pl_buf *to, struct pl_str video_id);
/* Adds the next frame: a JPEG, its time, and its number in the video. */
void pl_media_add_frame(struct pl_media_message *message, struct pl_str jpeg, uint64_t time_ms,
                        uint64_t frame_index);
/* The audio as a WAV file. */
void pl_media_add_sound(struct pl_media_message *message, struct pl_str wav, int64_t sample_rate);
void pl_media_close(struct pl_media_message *message);

/* "1s", "500ms", "0.5s", "2m": milliseconds, at least 1 and at most a day; false for anything
 * else. */
bool pl_media_duration_read(struct pl_str text, uint64_t *ret_ms);

#endif

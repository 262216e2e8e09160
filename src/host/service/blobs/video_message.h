/* A video as a message of seed 001: frames with their times, and the audio. */
#ifndef PL_SERVICE_BLOBS_VIDEO_MESSAGE_H
#define PL_SERVICE_BLOBS_VIDEO_MESSAGE_H

#include "base/buf.h"
#include "io/media/video.h"

enum { PL_VIDEO_DEFAULT_FRAMES = 64, PL_VIDEO_MAX_FRAMES = 10000 };

struct pl_video_wish {
    struct pl_video video;  /* dir is set here */
    struct pl_str video_id; /* borrowed */
    const char *detail;     /* of the images; NULL: not set */
    bool has_sound;
};

/* Appends {"role":"user","content":[…]}. Deletes its temporary files. Blocking: on a worker.
 * PL_UNREADABLE, PL_IO as in video.h; PL_NOMEM, PL_LIMIT. */
enum pl_status pl_video_message_write(struct pl_video_wish *wish, struct pl_buf *to,
                                      struct pl_error *err);

#endif

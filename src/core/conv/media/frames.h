/* Frames of a video for a target that has only images: states the time of each frame in words. */
#ifndef PL_CONV_FRAMES_H
#define PL_CONV_FRAMES_H

#include "conv/conv.h"

/* Puts a short text before each image that has video_metadata (seed 001): "[Frame at 12.5 s of the
 * video cam_01, frame 300]". Reported as approximated. A frame without a time and a number in its
 * metadata is left alone. Running out of memory is in conv->status. */
void pl_conv_time_frames(struct pl_conv *conv);

#endif

/* Frames of a video for a target that knows only images: the time of a frame is said in words. */
#ifndef PL_CONV_FRAMES_H
#define PL_CONV_FRAMES_H

#include "conv/conv.h"

/* Puts a short text before each image that has video_metadata (seed 001): "[Frame at 12.5 s of the
 * video cam_01, frame 300]". Reported as approximated. A frame whose metadata has no time and no
 * number is left alone. Running out of memory is in conv->status. */
void pl_conv_time_frames(struct pl_conv *conv);

#endif

/* Raw audio (PCM) for a target that accepts only files: adds a WAV header to the samples. */
#ifndef PL_CONV_PCM_H
#define PL_CONV_PCM_H

#include "conv/conv.h"

enum { PL_PCM_DEFAULT_RATE = 24000 }; /* usual for speech models */

/* Whether this is the media type of 16-bit PCM: audio/pcm, audio/L16, with or without a rate. */
bool pl_mime_is_pcm(struct pl_str mime);
/* The rate= of a media type; false if absent. */
bool pl_mime_rate(struct pl_str mime, int64_t *ret_rate);

/* Every PCM part with data, except the assistant's, which no target takes, becomes a WAV file, one channel of 16 bits at the part's rate. It is
 * reported as moved, or as approximated if the rate is missing and was assumed. Data that is not
 * base64 stays as it is. Running out of memory is in conv->status. */
void pl_conv_wrap_pcm(struct pl_conv *conv);

#endif

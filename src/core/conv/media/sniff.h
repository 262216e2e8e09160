/* Recognises the media type of base64 text by its first bytes. */
#ifndef PL_CONV_SNIFF_H
#define PL_CONV_SNIFF_H

#include "base/str.h"

/* "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "audio/wav",
 * "audio/mpeg", or NULL if unknown. Needs at most the first 24 characters. */
const char *pl_sniff_mime(struct pl_str base64);

#endif

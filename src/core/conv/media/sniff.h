/* What kind of media base64 text holds, by its first bytes. */
#ifndef PL_CONV_SNIFF_H
#define PL_CONV_SNIFF_H

#include "base/str.h"

/* "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "audio/wav",
 * "audio/mpeg", or NULL when the beginning tells nothing. Needs the first 24 characters at most. */
const char *pl_sniff_mime(struct pl_str base64);

#endif

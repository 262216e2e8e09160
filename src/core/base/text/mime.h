/* Detects the media type of bytes by their beginning: the patterns of the WHATWG MIME Sniffing
 * Standard, section 6, and PDF. */
#ifndef PL_BASE_MIME_H
#define PL_BASE_MIME_H

#include "base/str.h"

#define PL_MIME_SNIFF_BYTES 1445 /* bytes of a file that are checked */

/* "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/x-icon", "audio/basic",
 * "audio/aiff", "audio/mpeg", "audio/wave", "application/ogg", "audio/midi", "video/avi",
 * "video/mp4", "video/webm", "application/pdf"; NULL if unknown. */
const char *pl_mime_sniff(struct pl_str bytes);

/* Whether `declared` (a Content-Type, with parameters) fits bytes that look like `sniffed`: the
 * same type or an alias of it. */
bool pl_mime_agrees(struct pl_str declared, const char *sniffed);

#endif

/* Images that stand upright: the work of the program ffmpeg, with a limit of time, of pixels and of
 * memory. It blocks: on a worker. */
#ifndef PL_IO_MEDIA_IMAGE_H
#define PL_IO_MEDIA_IMAGE_H

#include "base/buf.h"

/* The longest that one image may take. */
enum { PL_IMAGE_TURN_MS = 10000 };

/* Appends the image turned clockwise by 90, 180 or 270 degrees. *ret_mime is static: that of the
 * source for PNG and JPEG, PNG for GIF (its first picture) and WebP. PL_INVALID: another type;
 * PL_UNREADABLE: ffmpeg cannot read it; PL_IO: ffmpeg is not there, or took too long; PL_LIMIT: over
 * max_bytes once it is turned. */
enum pl_status pl_image_turn(struct pl_str bytes, struct pl_str mime, int degrees, size_t max_bytes,
                             struct pl_buf *to, const char **ret_mime, struct pl_error *err);

#endif

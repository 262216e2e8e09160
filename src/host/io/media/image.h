/* Turning images upright with the program ffmpeg, with limits of time, pixels and memory. Blocks:
 * call it on a worker. */
#ifndef PL_IO_MEDIA_IMAGE_H
#define PL_IO_MEDIA_IMAGE_H

#include "base/buf.h"

/* The time limit for one image. */
enum { PL_IMAGE_TURN_MS = 10000 };

/* Appends the image turned clockwise by 90, 180 or 270 degrees. *ret_mime is static: the source's
 * type for PNG and JPEG, PNG for GIF (only its first picture) and WebP. PL_INVALID: another type;
 * PL_UNREADABLE: ffmpeg cannot read it; PL_IO: ffmpeg is not installed, or took too long; PL_LIMIT:
 * the turned image is over max_bytes. */
enum pl_status pl_image_turn(struct pl_str bytes, struct pl_str mime, int degrees, size_t max_bytes,
                             struct pl_buf *to, const char **ret_mime, struct pl_error *err);

#endif

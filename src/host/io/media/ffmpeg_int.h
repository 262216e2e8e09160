/* Running ffmpeg, for videos and images. */
#ifndef PL_IO_MEDIA_FFMPEG_INT_H
#define PL_IO_MEDIA_FFMPEG_INT_H

#include "base/buf.h"

#include <limits.h>
#include <stdint.h>

/* Names begin with "file:", so that none is taken for an option or an address. */
enum { PL_FFMPEG_NAME = PATH_MAX + 32 };

/* What every call of ffmpeg begins with: it reads nothing but files. */
#define PL_FFMPEG                                                                                  \
    "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", "-protocol_whitelist", "file"
enum { PL_FFMPEG_WORDS = 8 };

enum pl_status pl_ffmpeg_name(char to[PL_FFMPEG_NAME], const char *path, struct pl_error *err);

/* Runs it for so long (0: any time), with so much memory (0: any amount); what it complains about
 * becomes our message. PL_UNREADABLE: it cannot process the file; PL_IO: it is not there, or took
 * too long. `out` may be NULL. */
enum pl_status pl_ffmpeg_run(const char *const *argv, int64_t limit_ms, uint64_t max_memory,
                             struct pl_buf *out, struct pl_error *err);

#endif

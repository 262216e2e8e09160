/* Running ffmpeg, for videos and images. */
#ifndef PL_IO_MEDIA_FFMPEG_INT_H
#define PL_IO_MEDIA_FFMPEG_INT_H

#include "base/buf.h"

#include <limits.h>
#include <stdint.h>

/* Names begin with "file:", so that ffmpeg takes none for an option or an address. */
enum { PL_FFMPEG_NAME = PATH_MAX + 32 };

/* Every call of ffmpeg begins with these arguments; one of the two lists below follows. */
#define PL_FFMPEG "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y"

/* ffmpeg may read only the file itself. Formats that name other files (playlists, lists of parts,
 * manifests) are not in these lists: otherwise a client that sends one could see every video of
 * this machine. */
#define PL_FFMPEG_CONTAINERS                                                                       \
    "-protocol_whitelist", "file", "-format_whitelist",                                            \
        ("mov,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,av1,ivf,flv,ogg,asf,gif,apng," \
         "mxf,nut,yuv4mpegpipe,wav,mp3,aac,flac")
#define PL_FFMPEG_IMAGES                                                                           \
    "-protocol_whitelist", "file", "-format_whitelist",                                            \
        "image2,jpeg_pipe,mjpeg,png_pipe,webp_pipe,gif"

enum pl_status pl_ffmpeg_name(char to[PL_FFMPEG_NAME], const char *path, struct pl_error *err);

/* Runs ffmpeg with limits of time and memory (0: no limit). Its complaint becomes our message,
 * without the name of `input`: users must not learn where a server keeps a file. PL_UNREADABLE: it
 * cannot process the file; PL_IO: it is not installed, or took too long. `out` may be NULL. */
enum pl_status pl_ffmpeg_run(const char *const *argv, const char *input, int64_t limit_ms,
                             uint64_t max_memory, struct pl_buf *out, struct pl_error *err);

#endif

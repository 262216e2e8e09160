/* Token costs of images and audio, computed from the first bytes of the file.
 *
 * Images and audio are not decoded: their sizes and lengths are in the headers, and only the base64
 * characters of those bytes are decoded. So an image of 100 MB costs no more than a small one.
 * Nothing is allocated and nothing fails; an unreadable value is estimated and marked as such. */
#ifndef PL_TOKENS_MEDIA_H
#define PL_TOKENS_MEDIA_H

#include "base/str.h"

#include <stdint.h>

/* A file, or its base64 text (either alphabet, without line breaks). */
struct pl_media {
    struct pl_str text; /* borrowed */
    bool is_base64;
};

/* Finds the media in "data:…;base64,…". Returns false for any other URL. */
bool pl_media_of_data_url(struct pl_str url, struct pl_media *ret_media);

/* Size of the file in bytes. */
uint64_t pl_media_size(const struct pl_media *media);

struct pl_image_size {
    uint32_t width, height; /* pixels, both over 0 */
};

/* Reads the header of a PNG, JPEG, GIF or WebP file. Returns false for any other format, or if the
 * file is cut off before its size. */
bool pl_image_size_read(const struct pl_media *media, struct pl_image_size *ret_size);

enum pl_image_detail { PL_IMAGE_LOW, PL_IMAGE_HIGH };

/* Low detail: 85. High detail: the image is scaled down to fit into 2048 by 2048, then until its
 * short side is at most 768; the cost is 85 plus 170 for each tile of 512 by 512. A NULL `size` is
 * unknown and counts as 1024 by 1024 (765 tokens). Pass high for `auto`, because a vendor may
 * choose high. */
uint64_t pl_image_tokens(enum pl_image_detail detail, const struct pl_image_size *size);

struct pl_audio_length {
    uint64_t duration_ms;
    bool is_estimated;
};

/* Exact for WAV. Otherwise estimated from the file size and the usual bit rate of `format` ("mp3",
 * "pcm16", …; case-insensitive; may be empty). */
struct pl_audio_length pl_audio_length_read(const struct pl_media *media, struct pl_str format);

/* One token for each started 100 ms. */
uint64_t pl_audio_tokens(uint64_t duration_ms);

#endif

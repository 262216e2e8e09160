/* What images and audio cost in tokens, from the first bytes of the file.
 *
 * Nothing is decoded: sizes and lengths are in the headers, and only the base64 characters of those
 * bytes are decoded, so an image of 100 MB costs no more than a small one. No memory is taken and
 * nothing fails; what cannot be read is estimated, and the answer says so. */
#ifndef PL_TOKENS_MEDIA_H
#define PL_TOKENS_MEDIA_H

#include "base/str.h"

#include <stdint.h>

/* A file, or its base64 spelling (either alphabet, without line breaks). */
struct pl_media {
    struct pl_str text; /* borrowed */
    bool is_base64;
};

/* The media of "data:…;base64,…"; false for any other URL. */
bool pl_media_of_data_url(struct pl_str url, struct pl_media *ret_media);

/* Bytes of the file. */
uint64_t pl_media_size(const struct pl_media *media);

struct pl_image_size {
    uint32_t width, height; /* pixels, both over 0 */
};

/* Reads the header of a PNG, JPEG, GIF or WebP. False if it is none of them, or is cut off before
 * its size. */
bool pl_image_size_read(const struct pl_media *media, struct pl_image_size *ret_size);

enum pl_image_detail { PL_IMAGE_LOW, PL_IMAGE_HIGH };

/* 85 for low detail. For high: scaled down to fit into 2048 by 2048, then until the short side is
 * at most 768, then 85 and 170 for each tile of 512 by 512. `size` NULL means it is not known, and
 * is taken to be 1024 by 1024 (765 tokens). `auto` is high: that is what a vendor may choose. */
uint64_t pl_image_tokens(enum pl_image_detail detail, const struct pl_image_size *size);

struct pl_audio_length {
    uint64_t duration_ms;
    bool is_estimated;
};

/* Exact for WAV. Otherwise from the size and what is usual for `format` ("mp3", "pcm16", …; case
 * does not matter; may be empty). */
struct pl_audio_length pl_audio_length_read(const struct pl_media *media, struct pl_str format);

/* One token for each 100 ms begun. */
uint64_t pl_audio_tokens(uint64_t duration_ms);

#endif

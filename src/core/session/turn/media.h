/* The block `media`: an image, audio, a video or a file in a turn. The bytes are elsewhere, in a
 * blob or at a URL, so that a turn stays small.
 *
 *     {"kind": "image"|"audio"|"video"|"file", "blob": ID | "url": URL, "mime", "name", "size",
 *      "detail"?, "rotation"?, "video_metadata"?, "sample_rate"?, "alt"?}
 *
 * All names except kind, blob and size are from seed 001. */
#ifndef PL_SESSION_MEDIA_H
#define PL_SESSION_MEDIA_H

#include "json/json.h"

/* The error in the content of such a block, as the end of a sentence; NULL: valid. */
const char *pl_media_wrong(const struct pl_json_doc *doc, const struct pl_json_node *content);

/* A tool result with such blocks is a list of them and of texts, {"type": "text", "content"}.
 * Returns the error of the first invalid element, *ret_i; NULL: valid, or no such blocks. */
const char *pl_shown_wrong(const struct pl_json_doc *doc, const struct pl_json_node *result,
                           size_t *ret_i);

#endif

/* The block `media`: an image, audio, a video or a file in a turn. The bytes are elsewhere, in a
 * blob or behind a URL, so that a turn stays small.
 *
 *     {"kind": "image"|"audio"|"video"|"file", "blob": ID | "url": URL, "mime", "name", "size",
 *      "detail"?, "rotation"?, "video_metadata"?, "sample_rate"?, "alt"?}
 *
 * The names beside kind, blob and size are seed 001's. */
#ifndef PL_SESSION_MEDIA_H
#define PL_SESSION_MEDIA_H

#include "json/json.h"

/* What is wrong with the content of such a block, as the end of a sentence; NULL: nothing. */
const char *pl_media_wrong(const struct pl_json_doc *doc, const struct pl_json_node *content);

/* The result of a tool that has such blocks is a list of them and of texts, {"type": "text",
 * "content"}. Returns what is wrong with the element *ret_i of a list that is not valid; NULL:
 * nothing, or there are no such blocks. */
const char *pl_shown_wrong(const struct pl_json_doc *doc, const struct pl_json_node *result,
                           size_t *ret_i);

#endif

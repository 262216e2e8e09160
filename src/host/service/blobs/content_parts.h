/* Content parts of seed 001 (image_url, input_audio, file) as blocks of a turn. */
#ifndef PL_SERVICE_BLOBS_CONTENT_PARTS_H
#define PL_SERVICE_BLOBS_CONTENT_PARTS_H

#include "base/buf.h"
#include "json/json.h"

/* Whether a list has such a part, or a media block. */
bool pl_content_parts_has_media(const struct pl_json_doc *doc, const struct pl_json_node *list);

/* Appends the list with every such part as a block {"type":"media","content":{…}}. Its `data`
 * are the bytes, if they came inside the part. Everything else is copied unchanged. PL_INVALID,
 * with the pointer of the part in the list: a member that is unknown, mistyped, or cannot be
 * stored. On a worker. */
enum pl_status pl_content_parts_write(struct pl_arena *arena, const struct pl_json_doc *doc,
                                      const struct pl_json_node *list, struct pl_buf *to,
                                      struct pl_error *err);

#endif

/* The carry of a stream, and the way home with it: back into the source's dialect.
 *
 *     {"parley_stream_carry":1, "from":F, "to":G, "source":"…"}
 *
 * It keeps the source's bytes (as `source_base64` where they are not UTF-8). The way home
 * translates the kept source once more. If the given target has the same content, event by event,
 * the source's bytes are the result. An edited target is added up and converted back as a whole
 * answer, with the carry of the whole answer, so that values that G cannot hold keep their places.
 * The events are made from the result. A carry is untrusted input: everything in it is checked
 * before it is used. */
#ifndef PL_STREAM_HOME_H
#define PL_STREAM_HOME_H

#include "stream/stream.h"

/* Appends the carry of a stream from one dialect into another. */
enum pl_status pl_stream_carry_write(struct pl_buf *to, const struct pl_dialect *from,
                                     const struct pl_dialect *into, struct pl_str source);

/* Converts the target `stream` of dialect `from` back into `into`: writes the stream to `out` and
 * the loss report to `report`. PL_INVALID, with a pointer, for an invalid carry or one of other
 * dialects, and for a stream that breaks off (`out` and the report are written nevertheless). */
enum pl_status pl_stream_go_home(struct pl_buf *out, struct pl_buf *report,
                                 const struct pl_dialect *from, const struct pl_dialect *into,
                                 struct pl_str carry, struct pl_str stream, bool *ret_is_lossless,
                                 struct pl_error *err);

/* Appends one block of an anthropic answer as its events. */
void pl_stream_tell_block(struct pl_buf *to, const struct pl_json_doc *doc,
                          const struct pl_json_node *block, unsigned index);

/* Appends a whole answer as the events of its dialect (tell.c), with each text in one piece.
 * Returns false and appends nothing if it is not an answer of the dialect. */
bool pl_stream_tell(struct pl_buf *to, const struct pl_dialect *dialect,
                    const struct pl_json_doc *answer);

#endif

/* The carry of a stream, and the way home with it.
 *
 *     {"parley_stream_carry":1, "from":F, "to":G, "source":"…"}
 *
 * It keeps the source's bytes (as `source_base64` where they are not UTF-8). Home is found by going
 * there again: the kept source is translated once more, and when the given target says the same,
 * event by event, the source's bytes are the answer. A target that was edited is added up and
 * converted home as a whole answer, with the carry of the whole answer, so that what G has no place
 * for stands where it stood; the events are made of that. A carry from outside is data: everything
 * in it is checked before it is used. */
#ifndef PL_STREAM_HOME_H
#define PL_STREAM_HOME_H

#include "stream/stream.h"

/* Appends the carry of a stream from one dialect into another. */
enum pl_status pl_stream_carry_write(struct pl_buf *to, const struct pl_dialect *from,
                                     const struct pl_dialect *into, struct pl_str source);

/* From the target `stream` of dialect `from` back into `into`: the stream to `out` and the loss
 * report to `report`. PL_INVALID, with a pointer, for a carry that is none or belongs to other
 * dialects, and for a stream that breaks off (then `out` and the report are there all the same). */
enum pl_status pl_stream_go_home(struct pl_buf *out, struct pl_buf *report,
                                 const struct pl_dialect *from, const struct pl_dialect *into,
                                 struct pl_str carry, struct pl_str stream, bool *ret_is_lossless,
                                 struct pl_error *err);

/* Appends one block of an answer of anthropic as its events. */
void pl_stream_tell_block(struct pl_buf *to, const struct pl_json_doc *doc,
                          const struct pl_json_node *block, unsigned index);

/* Appends a whole answer as the events of its dialect (tell.c): each part as it would have come,
 * words in one piece. False when it is no answer of the dialect; nothing is appended then. */
bool pl_stream_tell(struct pl_buf *to, const struct pl_dialect *dialect,
                    const struct pl_json_doc *answer);

#endif

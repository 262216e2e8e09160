/* All that a connection tells, as one text, so that tests can compare: the same bytes must tell the
 * same, however they were cut. Each piece stands in a block of its own that is freed once it was
 * read, so that ASan sees a view that outlives it. */
#ifndef PL_TESTS_TOLD_H
#define PL_TESTS_TOLD_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

/* Pieces of n_piece bytes; 0: of 1 to 40 bytes by `seed`. */
struct cut {
    size_t n_piece;
    uint32_t seed;
};
#define CUT_WHOLE ((struct cut){SIZE_MAX, 0})
#define CUT_BYTES ((struct cut){1, 0})

/* Each of them tells `bytes`, cut like that, after `told`. */
typedef enum pl_status told_fn(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* The same whole, byte by byte and in 20 sorts of random pieces; ends the test when one of them
 * tells otherwise. */
enum pl_status told_however_cut(told_fn *tell, struct pl_str bytes, struct pl_buf *told);

/* HTTP: a line per head, header, body and end. Returns what the first failed call did, or PL_OK. */
enum pl_status told_http1(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* … of answers; the bytes are followed by the end of the connection. */
enum pl_status told_answers(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* WebSocket: a line per message; the last is the close code when reading failed. */
enum pl_status told_ws(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* A masked frame after `to`. */
void told_frame(struct pl_buf *to, uint8_t first, struct pl_str payload, const char mask[4]);

#endif

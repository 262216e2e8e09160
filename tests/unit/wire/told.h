/* All events of a connection as one text, so that tests can compare: the same bytes must give the
 * same events, however they are split. Each piece is in its own block that is freed after it was
 * read, so that ASan detects a view that outlives it. */
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

/* Each appends the events of `bytes`, split by `cut`, to `told`. */
typedef enum pl_status told_fn(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* The same whole, byte by byte and in 20 kinds of random pieces; fails the test if one of them
 * differs. */
enum pl_status told_however_cut(told_fn *tell, struct pl_str bytes, struct pl_buf *told);

/* HTTP: a line per head, header, body and end. Returns the status of the first failed call, or
 * PL_OK. */
enum pl_status told_http1(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* … for answers; the connection ends after the bytes. */
enum pl_status told_answers(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* WebSocket: a line per message; if reading failed, the last is the close code. */
enum pl_status told_ws(struct pl_str bytes, struct cut cut, struct pl_buf *told);

/* Appends a masked frame. */
void told_frame(struct pl_buf *to, uint8_t first, struct pl_str payload, const char mask[4]);

#endif

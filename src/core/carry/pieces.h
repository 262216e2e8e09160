/* Parses the source in a carry in one pass: literal text, and holes for strings of the target. See
 * carry.h for the spelling. */
#ifndef PL_CARRY_PIECES_H
#define PL_CARRY_PIECES_H

#include "base/buf.h"
#include "base/vec.h"

#include <stdint.h>

/* The place of a long string of the target. */
struct pl_carry_hole {
    size_t at; /* offset in the text around it */
    uint64_t hash;
};

struct pl_carry_pieces {
    struct pl_buf text;                 /* owned; the source without the content of the holes */
    PL_VEC(struct pl_carry_hole) holes; /* owned; in order */
};

/* The text has at most `max` bytes. */
void pl_carry_pieces_init(struct pl_carry_pieces *pieces, size_t max);
void pl_carry_pieces_deinit(struct pl_carry_pieces *pieces);
/* Parses the decoded text. PL_INVALID: Parley did not write this; *ret_wrong_at is the offset.
 * PL_NOMEM, PL_LIMIT. */
enum pl_status pl_carry_take_apart(struct pl_carry_pieces *pieces, struct pl_str text,
                                   size_t *ret_wrong_at);

/* A hash: six bits per character, the lowest first. */
#define PL_CARRY_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
enum { PL_CARRY_HASH_CHARS = 11 };
bool pl_carry_read_hash(struct pl_str chars, uint64_t *ret_hash);

#endif

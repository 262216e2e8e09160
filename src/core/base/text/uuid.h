/* UUIDs of version 7 (RFC 9562): time first, so that they sort by age. The caller supplies the
 * randomness. */
#ifndef PL_BASE_UUID_H
#define PL_BASE_UUID_H

#include "base/str.h"

#include <stdint.h>

enum { PL_UUID_BYTES = 16 };
#define PL_UUID_SIZE 36

/* "f81d4fae-…", in lower case. */
void pl_uuid_write(char ret_text[PL_UUID_SIZE], const char bytes[PL_UUID_BYTES]);

/* "019…-….": 48 bits of milliseconds, then version, variant and 74 bits of `random`. */
void pl_uuid7_write(char ret_text[PL_UUID_SIZE], int64_t unix_ms, const uint64_t random[2]);
/* Any version, lower or upper case. */
bool pl_uuid_is(struct pl_str text);

/* Many ids from one random seed: the n-th depends only on the seed and n, so the same seed gives
 * the same ids. */
struct pl_id_seed {
    int64_t unix_ms;
    uint64_t random[2];
    uint32_t n_taken;
};

/* prefix (such as "turn_") and 36 characters; ids of one seed sort in the order of their
 * creation. */
#define PL_ID_MAX 48
struct pl_id {
    char text[PL_ID_MAX]; /* ends in NUL */
};
struct pl_id pl_id_take(struct pl_id_seed *seed, const char *prefix);
/* Whether `text` is the prefix and a UUID. */
bool pl_id_is(struct pl_str text, const char *prefix);

#endif

/* Keyed hashing (SipHash-1-3): who does not know the key cannot choose inputs that collide. */
#ifndef PL_BASE_HASH_H
#define PL_BASE_HASH_H

#include "base/str.h"

#include <stdint.h>

struct pl_hash_key {
    uint64_t word[2];
};

/* Set once at start-up from the system's randomness; before that the key comes from where the
 * program happened to be loaded. No result of Parley depends on it. */
void pl_hash_set_key(struct pl_hash_key key);

uint64_t pl_hash(struct pl_str bytes);
uint64_t pl_hash_with(struct pl_hash_key key, struct pl_str bytes);

/* Not keyed, many times as fast, the same on every machine: to tell texts apart where nobody gains
 * by making two alike, never for a table. */
uint64_t pl_hash_quick(struct pl_str bytes);

#endif

/* Shared by SHA-1 and SHA-256 (FIPS 180-4, 5.1.1 and 5.2.1): big-endian words, blocks of 64 bytes,
 * and the same padding. */
#ifndef PL_BASE_SHA_BLOCKS_H
#define PL_BASE_SHA_BLOCKS_H

#include "base/str.h"

#include <stdint.h>

/* Rotates to the right. */
static inline uint32_t pl_sha_rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static inline uint32_t pl_sha_load(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Mixes one block into the state. */
typedef void pl_sha_mix_fn(uint32_t *state, const unsigned char *block);

enum { PL_SHA_BLOCK = 64 };

/* Mixes in all whole blocks and returns the remaining bytes. */
struct pl_str pl_sha_add(struct pl_str bytes, pl_sha_mix_fn *mix, uint32_t *state);
/* Mixes in the remaining bytes and the padding for n_bytes in all, then writes n_words of the state
 * as the digest. */
void pl_sha_end(struct pl_str rest, uint64_t n_bytes, pl_sha_mix_fn *mix, uint32_t *state,
                size_t n_words, unsigned char *ret_digest);
/* Both in one call. */
void pl_sha_digest(struct pl_str bytes, pl_sha_mix_fn *mix, uint32_t *state, size_t n_words,
                   unsigned char *ret_digest);

#endif

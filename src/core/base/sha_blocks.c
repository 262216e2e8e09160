#include "base/sha_blocks.h"

enum { BLOCK = 64 };

static void store(unsigned char *to, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(word >> (24 - 8 * i));
}

void pl_sha_digest(struct pl_str bytes, pl_sha_mix_fn *mix, uint32_t *state, size_t n_words,
                   unsigned char *ret_digest)
{
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    size_t left = bytes.len;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        mix(state, at);
    unsigned char tail[2 * BLOCK] = {0};
    if (left)
        memcpy(tail, at, left);
    tail[left] = 0x80;
    size_t n_tail = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    uint64_t n_bits = (uint64_t)bytes.len * 8;
    store(tail + n_tail - 8, (uint32_t)(n_bits >> 32));
    store(tail + n_tail - 4, (uint32_t)n_bits);
    for (size_t i = 0; i < n_tail; i += BLOCK)
        mix(state, tail + i);
    for (size_t i = 0; i < n_words; i++)
        store(ret_digest + 4 * i, state[i]);
}

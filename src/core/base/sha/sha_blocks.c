#include "base/sha/sha_blocks.h"

static void store(unsigned char *to, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(word >> (24 - 8 * i));
}

struct pl_str pl_sha_add(struct pl_str bytes, pl_sha_mix_fn *mix, uint32_t *state)
{
    while (bytes.len >= PL_SHA_BLOCK) {
        mix(state, (const unsigned char *)bytes.ptr);
        bytes = (struct pl_str){bytes.ptr + PL_SHA_BLOCK, bytes.len - PL_SHA_BLOCK};
    }
    return bytes;
}

void pl_sha_end(struct pl_str rest, uint64_t n_bytes, pl_sha_mix_fn *mix, uint32_t *state,
                size_t n_words, unsigned char *ret_digest)
{
    unsigned char tail[2 * PL_SHA_BLOCK] = {0};
    if (rest.len)
        memcpy(tail, rest.ptr, rest.len);
    tail[rest.len] = 0x80;
    size_t n_tail = rest.len < PL_SHA_BLOCK - 8 ? PL_SHA_BLOCK : 2 * PL_SHA_BLOCK;
    uint64_t n_bits = n_bytes * 8;
    store(tail + n_tail - 8, (uint32_t)(n_bits >> 32));
    store(tail + n_tail - 4, (uint32_t)n_bits);
    for (size_t i = 0; i < n_tail; i += PL_SHA_BLOCK)
        mix(state, tail + i);
    for (size_t i = 0; i < n_words; i++)
        store(ret_digest + 4 * i, state[i]);
}

void pl_sha_digest(struct pl_str bytes, pl_sha_mix_fn *mix, uint32_t *state, size_t n_words,
                   unsigned char *ret_digest)
{
    struct pl_str rest = pl_sha_add(bytes, mix, state);
    pl_sha_end(rest, bytes.len, mix, state, n_words, ret_digest);
}

/* SipHash by Aumasson and Bernstein, with one round per word and three at the end; and a quick hash
 * that multiplies pairs of words and folds the product (its last step is in the header). */
#include "base/hash.h"

static struct pl_hash_key process_key;

void pl_hash_set_key(struct pl_hash_key key)
{
    process_key = key;
}

static inline uint64_t rotl(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

uint64_t pl_hash_with(struct pl_hash_key key, struct pl_str bytes)
{
    uint64_t v[4] = {
        key.word[0] ^ 0x736f6d6570736575,
        key.word[1] ^ 0x646f72616e646f6d,
        key.word[0] ^ 0x6c7967656e657261,
        key.word[1] ^ 0x7465646279746573,
    };
    size_t i = 0;
    for (uint64_t word; i + 8 <= bytes.len; i += 8) {
        memcpy(&word, bytes.ptr + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    uint64_t last = (uint64_t)bytes.len << 56;
    for (int shift = 0; i < bytes.len; i++, shift += 8)
        last |= (uint64_t)(unsigned char)bytes.ptr[i] << shift;
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int n = 0; n < 3; n++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t pl_hash(struct pl_str bytes)
{
    struct pl_hash_key key = process_key;
    if (!key.word[0] && !key.word[1])
        key.word[0] = key.word[1] = (uint64_t)(uintptr_t)&process_key;
    return pl_hash_with(key, bytes);
}

uint64_t pl_hash_quick(struct pl_str bytes)
{
    const char *p = bytes.ptr;
    size_t n = bytes.len;
    uint64_t hash = pl_hash_quick_begin(n), other = PL_HASH_ODD_2;
    uint64_t third = PL_HASH_ODD_0, fourth = PL_HASH_ODD_1;
    /* Four independent chains, so that the multiplications overlap. */
    for (; n > 64; p += 64, n -= 64) {
        hash = pl_hash_folded(pl_hash_word(p) ^ PL_HASH_ODD_0, pl_hash_word(p + 8) ^ hash);
        other = pl_hash_folded(pl_hash_word(p + 16) ^ PL_HASH_ODD_1, pl_hash_word(p + 24) ^ other);
        third = pl_hash_folded(pl_hash_word(p + 32) ^ PL_HASH_ODD_2, pl_hash_word(p + 40) ^ third);
        fourth =
            pl_hash_folded(pl_hash_word(p + 48) ^ PL_HASH_ODD_0, pl_hash_word(p + 56) ^ fourth);
    }
    if (bytes.len > 64)
        hash = pl_hash_folded(hash ^ third, other ^ fourth) ^ fourth;
    for (; n > 16; p += 16, n -= 16)
        hash = pl_hash_folded(pl_hash_word(p) ^ PL_HASH_ODD_0, pl_hash_word(p + 8) ^ hash);
    return pl_hash_quick_end(hash, p, n);
}

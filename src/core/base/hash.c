/* SipHash by Aumasson and Bernstein, with one round per word and three at the end; and a quick hash
 * that multiplies pairs of words and folds the product. */
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

static inline uint64_t word_at(const char *p)
{
    uint64_t word;
    memcpy(&word, p, 8);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* Up to seven bytes; the length is known otherwise, so bytes that are read twice do no harm. */
static inline uint64_t short_word(const char *p, size_t n)
{
    if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
            first = __builtin_bswap32(first);
            last = __builtin_bswap32(last);
        }
        return (uint64_t)last << 32 | first;
    }
    if (n == 0)
        return 0;
    return (uint64_t)(unsigned char)p[n - 1] << 16 | (uint64_t)(unsigned char)p[n / 2] << 8 |
           (unsigned char)p[0];
}

static inline uint64_t folded_product(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t pl_hash_quick(struct pl_str bytes)
{
    static const uint64_t odd[3] = {0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D64BD642F2B};
    const char *p = bytes.ptr;
    size_t n = bytes.len;
    uint64_t hash = n * odd[0] ^ odd[1], other = odd[2];
    /* Two chains, so that one multiplication need not wait for the other. */
    for (; n > 32; p += 32, n -= 32) {
        hash = folded_product(word_at(p) ^ odd[0], word_at(p + 8) ^ hash);
        other = folded_product(word_at(p + 16) ^ odd[1], word_at(p + 24) ^ other);
    }
    if (bytes.len > 32)
        hash ^= other;
    if (n > 16) {
        hash = folded_product(word_at(p) ^ odd[0], word_at(p + 8) ^ hash);
        p += 16;
        n -= 16;
    }
    uint64_t first = n >= 8 ? word_at(p) : short_word(p, n);
    uint64_t last = n >= 8 ? word_at(p + n - 8) : 0;
    return folded_product(first ^ odd[0], last ^ hash ^ odd[2]);
}

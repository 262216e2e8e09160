/* Keyed hashing (SipHash-1-3): without the key an attacker cannot choose inputs that collide. */
#ifndef PL_BASE_HASH_H
#define PL_BASE_HASH_H

#include "base/str.h"

#include <stdint.h>

struct pl_hash_key {
    uint64_t word[2];
};

/* Set once at start-up from system randomness; before that the key is derived from the program's
 * load address. No result of Parley depends on the key. */
void pl_hash_set_key(struct pl_hash_key key);

uint64_t pl_hash(struct pl_str bytes);
uint64_t pl_hash_with(struct pl_hash_key key, struct pl_str bytes);

/* Not keyed, many times faster, the same on every machine: for distinguishing texts where an
 * attacker gains nothing from a collision. Never for a table. */
uint64_t pl_hash_quick(struct pl_str bytes);

#define PL_HASH_ODD_0 0x9E3779B97F4A7C15
#define PL_HASH_ODD_1 0xD6E8FEB86659FD93
#define PL_HASH_ODD_2 0xA0761D64BD642F2B

static inline uint64_t pl_hash_word(const char *p)
{
    uint64_t word;
    memcpy(&word, p, 8);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* Up to seven bytes. Some may be read twice; the length is hashed separately, so this is
 * harmless. */
static inline uint64_t pl_hash_part_word(const char *p, size_t n)
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

static inline uint64_t pl_hash_folded(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t pl_hash_quick_begin(size_t n_bytes)
{
    return n_bytes * PL_HASH_ODD_0 ^ PL_HASH_ODD_1;
}

/* The last bytes, at most sixteen. */
static inline uint64_t pl_hash_quick_end(uint64_t hash, const char *p, size_t n)
{
    uint64_t first = n >= 8 ? pl_hash_word(p) : pl_hash_part_word(p, n);
    uint64_t last = n >= 8 ? pl_hash_word(p + n - 8) : 0;
    return pl_hash_folded(first ^ PL_HASH_ODD_0, last ^ hash ^ PL_HASH_ODD_2);
}

/* pl_hash_quick() of at most sixteen bytes. For a literal the compiler computes a constant. */
static inline uint64_t pl_hash_quick_word(const char *p, size_t n)
{
    return pl_hash_quick_end(pl_hash_quick_begin(n), p, n);
}

#endif

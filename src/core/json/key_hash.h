/* The hash in a key's node: its length and last eight bytes, folded to 24 bits. Cheap enough to be
 * computed for every key. Keys with the same length and ending collide, which only costs a
 * comparison. Names that share their beginning are common; names that share ending and length are
 * not. */
#ifndef PL_JSON_KEY_HASH_H
#define PL_JSON_KEY_HASH_H

#include <stdint.h>
#include <string.h>

/* `last` has the last min(len, 8) bytes, the rest zero. */
static inline uint32_t pl_json_key_hash_fold(uint64_t last, size_t len)
{
    return (uint32_t)((last ^ (uint64_t)len << 56) * 0x9E3779B97F4A7C15 >> 40);
}

/* Any bytes, of any length. For a literal the compiler computes a constant: byte by byte, since it
 * does not see through a partial copy. */
static inline uint32_t pl_json_key_hash_bytes(const char *p, size_t len)
{
    uint64_t last = 0;
    size_t n = len < 8 ? len : 8;
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && __builtin_constant_p(len) && len < 8) {
#define PL_BYTE(i) (len > (i) ? (uint64_t)(unsigned char)p[i] << 8 * (i) : 0)
        last = PL_BYTE(0) | PL_BYTE(1) | PL_BYTE(2) | PL_BYTE(3) | PL_BYTE(4) | PL_BYTE(5) |
               PL_BYTE(6);
#undef PL_BYTE
    } else {
        memcpy(&last, p + len - n, n);
    }
    return pl_json_key_hash_fold(last, len);
}

/* The same without a branch: eight bytes must be readable at p, whatever the length. */
static inline uint32_t pl_json_key_hash_padded(const char *p, size_t len)
{
    static const uint64_t kept[9] = {
        0,
        0xFF,
        0xFFFF,
        0xFFFFFF,
        0xFFFFFFFF,
        0xFFFFFFFFFF,
        0xFFFFFFFFFFFF,
        0xFFFFFFFFFFFFFF,
        0xFFFFFFFFFFFFFFFF,
    };
    uint64_t last;
    size_t n = len < 8 ? len : 8;
    memcpy(&last, p + len - n, 8);
    return pl_json_key_hash_fold(last & kept[n], len);
}

#endif

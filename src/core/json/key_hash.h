/* The hash kept in a key's node: length, first eight and last eight bytes, folded to 24 bits. Cheap
 * enough to be made for every key that is parsed; two long keys that differ only in the middle
 * collide, which costs a comparison and nothing else. */
#ifndef PL_JSON_KEY_HASH_H
#define PL_JSON_KEY_HASH_H

#include <stdint.h>
#include <string.h>

/* `first` has the first min(len, 8) bytes, the rest zero; `last` the last eight, or `first` when
 * there are fewer. */
static inline uint32_t pl_json_key_hash_fold(uint64_t first, uint64_t last, size_t len)
{
    uint64_t mixed = first ^ (last << 29 | last >> 35) ^ (uint64_t)len << 56;
    mixed *= 0x9E3779B97F4A7C15;
    return (uint32_t)(mixed >> 40);
}

/* Any bytes, of any length. */
static inline uint32_t pl_json_key_hash_bytes(const char *p, size_t len)
{
    uint64_t first = 0, last;
    memcpy(&first, p, len < 8 ? len : 8);
    last = first;
    if (len >= 8)
        memcpy(&last, p + len - 8, 8);
    return pl_json_key_hash_fold(first, last, len);
}

/* The same where eight bytes can be read at p whatever the length: no branch on it. */
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
    uint64_t first, last;
    size_t n = len < 8 ? len : 8;
    memcpy(&first, p, 8);
    memcpy(&last, p + len - n, 8);
    return pl_json_key_hash_fold(first & kept[n], last & kept[n], len);
}

#endif

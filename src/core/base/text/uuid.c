/* RFC 9562, 5.7. The ids of one seed use its 74 free bits as a counter and noise:
 *
 *     0, 41 bits of the seed + n, 32 bits hashed from the seed and n
 *
 * The counter keeps the ids of one seed in order. Its random start and the hash keep the ids of
 * seeds drawn in the same millisecond apart, and one id does not reveal the next. */
#include "base/text/uuid.h"

#include "base/ascii.h"
#include "base/hash.h"

#include <assert.h>

/* Positions of the hyphens: 8-4-4-4-12. */
static bool is_hyphen_at(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

void pl_uuid_write(char ret_text[PL_UUID_SIZE], const char bytes[PL_UUID_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0, at = 0; i < PL_UUID_BYTES; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (is_hyphen_at(at))
            ret_text[at++] = '-';
        ret_text[at++] = digits[byte >> 4];
        ret_text[at++] = digits[byte & 15];
    }
}

void pl_uuid7_write(char ret_text[PL_UUID_SIZE], int64_t unix_ms, const uint64_t random[2])
{
    uint64_t ms = unix_ms < 0 ? 0 : (uint64_t)unix_ms;
    uint64_t words[2] = {
        ms << 16 | 0x7000 | (random[0] & 0x0FFF),
        0x8000000000000000 | (random[1] & 0x3FFFFFFFFFFFFFFF),
    };
    char bytes[PL_UUID_BYTES];
    for (size_t i = 0; i < PL_UUID_BYTES; i++)
        bytes[i] = (char)(words[i / 8] >> (56 - 8 * (i % 8)));
    pl_uuid_write(ret_text, bytes);
}

bool pl_uuid_is(struct pl_str text)
{
    if (text.len != PL_UUID_SIZE)
        return false;
    for (size_t i = 0; i < PL_UUID_SIZE; i++)
        if (is_hyphen_at(i) ? text.ptr[i] != '-' : !pl_ascii_is_hex(text.ptr[i]))
            return false;
    return true;
}

struct pl_id pl_id_take(struct pl_id_seed *seed, const char *prefix)
{
    uint32_t n = seed->n_taken++;
    char bytes[4] = {(char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24)};
    struct pl_hash_key key = {{seed->random[0], seed->random[1]}};
    uint64_t noise = pl_hash_with(key, (struct pl_str){bytes, sizeof bytes}) & 0xFFFFFFFF;
    uint64_t counter = (seed->random[0] >> 23) + n;
    uint64_t random[2] = {counter >> 30, counter << 32 | noise};

    struct pl_id id = {0};
    size_t n_prefix = strlen(prefix);
    assert(n_prefix + PL_UUID_SIZE < PL_ID_MAX);
    memcpy(id.text, prefix, n_prefix);
    pl_uuid7_write(id.text + n_prefix, seed->unix_ms, random);
    return id;
}

bool pl_id_is(struct pl_str text, const char *prefix)
{
    struct pl_str start = pl_str_of(prefix);
    return pl_str_starts(text, start) && pl_uuid_is(pl_str_slice(text, start.len, text.len));
}

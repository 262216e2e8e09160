/* Hashes in a carry: of strings, and of a target with such strings in it. */
#include "carry/carry.h"

static void mix(struct pl_carry_hasher *hasher, uint64_t hash)
{
    hasher->hash = pl_hash_folded(hasher->hash ^ PL_HASH_ODD_0, hash ^ PL_HASH_ODD_1);
}

static void mix_until(struct pl_carry_hasher *hasher, size_t end)
{
    mix(hasher, pl_carry_hash(pl_str_slice(hasher->text, hasher->end, end)));
    hasher->end = end;
}

void pl_carry_hash_known(struct pl_carry_hasher *hasher, size_t at, size_t len, uint64_t hash)
{
    if (at < hasher->end)
        return;
    mix_until(hasher, at);
    mix(hasher, hash);
    hasher->end = at + len;
}

uint64_t pl_carry_hash_end(struct pl_carry_hasher *hasher)
{
    mix_until(hasher, hasher->text.len);
    return hasher->hash;
}

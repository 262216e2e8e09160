#include "base/sha/sha1.h"

#include "base/sha/sha_blocks.h"

static uint32_t rotate_left(uint32_t x, int n)
{
    return pl_sha_rotate(x, 32 - n);
}

/* RFC 3174, section 5: the function and the constant of a round of twenty steps. */
static uint32_t round_of(int step, const uint32_t s[5])
{
    switch (step / 20) {
    case 0:
        return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5A827999;
    case 1:
        return (s[1] ^ s[2] ^ s[3]) + 0x6ED9EBA1;
    case 2:
        return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8F1BBCDC;
    default:
        return (s[1] ^ s[2] ^ s[3]) + 0xCA62C1D6;
    }
}

static void mix(uint32_t *state, const unsigned char *block)
{
    uint32_t w[80], s[5];
    for (int i = 0; i < 16; i++)
        w[i] = pl_sha_load(block + 4 * i);
    for (int i = 16; i < 80; i++)
        w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 80; i++) {
        uint32_t first = rotate_left(s[0], 5) + round_of(i, s) + s[4] + w[i];
        memmove(s + 1, s, 4 * sizeof *s);
        s[0] = first;
        s[2] = rotate_left(s[2], 30);
    }
    for (int i = 0; i < 5; i++)
        state[i] += s[i];
}

void pl_sha1(struct pl_str bytes, unsigned char ret_digest[PL_SHA1_BYTES])
{
    uint32_t state[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    pl_sha_digest(bytes, mix, state, sizeof state / sizeof *state, ret_digest);
}

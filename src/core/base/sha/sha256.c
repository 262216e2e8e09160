/* The compression function and its constants. SHA-1 shares the code that cuts the input into blocks
 * (sha_blocks.h). */
#include "base/sha/sha256.h"

#include "base/sha/sha_blocks.h"

/* FIPS 180-4, 4.2.2: the first bits of the fractional parts of cube roots of the first primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void mix(uint32_t *state, const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = pl_sha_load(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = pl_sha_rotate(w[i - 15], 7) ^ pl_sha_rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = pl_sha_rotate(w[i - 2], 17) ^ pl_sha_rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = pl_sha_rotate(s[4], 6) ^ pl_sha_rotate(s[4], 11) ^ pl_sha_rotate(s[4], 25);
        uint32_t first = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        uint32_t a = pl_sha_rotate(s[0], 2) ^ pl_sha_rotate(s[0], 13) ^ pl_sha_rotate(s[0], 22);
        uint32_t second = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

static const uint32_t first_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

void pl_sha256(struct pl_str bytes, unsigned char ret_digest[PL_SHA256_BYTES])
{
    uint32_t state[8];
    memcpy(state, first_state, sizeof state);
    pl_sha_digest(bytes, mix, state, sizeof state / sizeof *state, ret_digest);
}

void pl_sha256_begin(struct pl_sha256_run *run)
{
    *run = (struct pl_sha256_run){0};
    memcpy(run->state, first_state, sizeof run->state);
}

void pl_sha256_add(struct pl_sha256_run *run, struct pl_str bytes)
{
    size_t n_rest = run->n_bytes % sizeof run->rest;
    run->n_bytes += bytes.len;
    if (n_rest) {
        size_t n_room = sizeof run->rest - n_rest, n = bytes.len < n_room ? bytes.len : n_room;
        memcpy(run->rest + n_rest, bytes.ptr, n);
        bytes = pl_str_slice(bytes, n, bytes.len);
        if (n < n_room)
            return;
        mix(run->state, (const unsigned char *)run->rest);
    }
    bytes = pl_sha_add(bytes, mix, run->state);
    if (bytes.len)
        memcpy(run->rest, bytes.ptr, bytes.len);
}

void pl_sha256_end(struct pl_sha256_run *run, unsigned char ret_digest[PL_SHA256_BYTES])
{
    struct pl_str rest = {run->rest, run->n_bytes % sizeof run->rest};
    pl_sha_end(rest, run->n_bytes, mix, run->state, sizeof run->state / sizeof *run->state,
               ret_digest);
}

void pl_sha256_spell(const unsigned char digest[PL_SHA256_BYTES], char ret_hex[PL_SHA256_HEX + 1])
{
    for (int i = 0; i < PL_SHA256_BYTES; i++) {
        ret_hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        ret_hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    ret_hex[PL_SHA256_HEX] = '\0';
}

void pl_sha256_hex(struct pl_str bytes, char ret_hex[PL_SHA256_HEX + 1])
{
    unsigned char digest[PL_SHA256_BYTES];
    pl_sha256(bytes, digest);
    pl_sha256_spell(digest, ret_hex);
}

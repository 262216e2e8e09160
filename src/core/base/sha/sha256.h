/* SHA-256 (FIPS 180-4): for content addresses and for detecting changes. */
#ifndef PL_BASE_SHA256_H
#define PL_BASE_SHA256_H

#include "base/str.h"

#include <stdint.h>

enum { PL_SHA256_BYTES = 32, PL_SHA256_HEX = 64 };

void pl_sha256(struct pl_str bytes, unsigned char ret_digest[PL_SHA256_BYTES]);

/* The same for bytes that arrive in pieces: begin, add, …, end. */
struct pl_sha256_run {
    uint32_t state[8];
    uint64_t n_bytes;
    char rest[64]; /* an incomplete block: n_bytes % 64 bytes */
};
void pl_sha256_begin(struct pl_sha256_run *run);
void pl_sha256_add(struct pl_sha256_run *run, struct pl_str bytes);
void pl_sha256_end(struct pl_sha256_run *run, unsigned char ret_digest[PL_SHA256_BYTES]);

/* A digest in lower-case hexadecimal, with a NUL after it. */
void pl_sha256_spell(const unsigned char digest[PL_SHA256_BYTES], char ret_hex[PL_SHA256_HEX + 1]);
/* Digest and spelling in one call. */
void pl_sha256_hex(struct pl_str bytes, char ret_hex[PL_SHA256_HEX + 1]);

#endif

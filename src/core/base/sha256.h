/* SHA-256 (FIPS 180-4): for naming content and for noticing that it changed. */
#ifndef PL_BASE_SHA256_H
#define PL_BASE_SHA256_H

#include "base/str.h"

enum { PL_SHA256_BYTES = 32, PL_SHA256_HEX = 64 };

void pl_sha256(struct pl_str bytes, unsigned char ret_digest[PL_SHA256_BYTES]);

/* The same in lower-case hexadecimal, with a NUL behind it. */
void pl_sha256_hex(struct pl_str bytes, char ret_hex[PL_SHA256_HEX + 1]);

#endif

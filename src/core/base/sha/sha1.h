/* SHA-1 (RFC 3174), which the WebSocket handshake requires. SHA-1 is broken: use SHA-256 (sha256.h)
 * for everything else. */
#ifndef PL_BASE_SHA1_H
#define PL_BASE_SHA1_H

#include "base/str.h"

enum { PL_SHA1_BYTES = 20 };

void pl_sha1(struct pl_str bytes, unsigned char ret_digest[PL_SHA1_BYTES]);

#endif

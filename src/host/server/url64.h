/* base64url without padding (RFC 4648, 5): what keys, tickets and cursors are spelled in. */
#ifndef PL_SERVER_URL64_H
#define PL_SERVER_URL64_H

#include "base/arena.h"
#include "base/buf.h"

void pl_url64_encode(struct pl_buf *to, struct pl_str bytes);
/* Into the arena; false when it is not base64url, or there is no memory. */
bool pl_url64_decode(struct pl_arena *arena, struct pl_str text, struct pl_str *ret_bytes);

#endif

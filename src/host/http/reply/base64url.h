/* base64url without padding (RFC 4648, 5): for keys, tickets and cursors. */
#ifndef PL_HTTP_REPLY_BASE64URL_H
#define PL_HTTP_REPLY_BASE64URL_H

#include "base/arena.h"
#include "base/buf.h"

void pl_base64url_encode(struct pl_buf *to, struct pl_str bytes);
/* Into the arena. False if it is not base64url, or out of memory. */
bool pl_base64url_decode(struct pl_arena *arena, struct pl_str text, struct pl_str *ret_bytes);

#endif

#include "http/reply/base64url.h"

#include "base/text/base64.h"

void pl_base64url_encode(struct pl_buf *to, struct pl_str bytes)
{
    size_t from = to->len;
    pl_base64_encode(to, bytes);
    while (to->len > from && to->ptr[to->len - 1] == '=')
        to->len--;
    for (size_t i = from; i < to->len; i++)
        to->ptr[i] = to->ptr[i] == '+' ? '-' : to->ptr[i] == '/' ? '_' : to->ptr[i];
}

bool pl_base64url_decode(struct pl_arena *arena, struct pl_str text, struct pl_str *ret_bytes)
{
    PL_CLEANUP_BUF struct pl_buf plain;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&plain, 0);
    pl_buf_init(&bytes, 0);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '+' || c == '/' || c == '=')
            return false;
        pl_buf_addc(&plain, c == '-' ? '+' : c == '_' ? '/' : c);
    }
    pl_buf_fill(&plain, '=', (4 - text.len % 4) % 4);
    if (plain.status != PL_OK || pl_base64_decode(&bytes, pl_buf_str(&plain)) != PL_OK)
        return false;
    *ret_bytes = pl_arena_dup(arena, pl_buf_str(&bytes));
    return ret_bytes->ptr || !bytes.len;
}

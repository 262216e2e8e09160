#include "terminal/safe.h"

#include "base/text/utf8.h"

bool pl_safe_is_unprintable(int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

static bool is_joiner(int32_t c)
{
    return c == 0x200C || c == 0x200D;
}

static void add(struct pl_buf *to, struct pl_str text, bool is_prose)
{
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        int32_t c = pl_utf8_next(text, &at);
        if (c < 0)
            pl_buf_addf(to, "\\x%02X", (unsigned char)text.ptr[from]);
        else if (pl_safe_is_unprintable(c) && !(is_prose && is_joiner(c)))
            pl_buf_addf(to, "\\u{%X}", (unsigned)c);
        else
            pl_buf_add(to, pl_str_slice(text, from, at));
    }
}

void pl_safe_add(struct pl_buf *to, struct pl_str text)
{
    add(to, text, false);
}

void pl_safe_add_prose(struct pl_buf *to, struct pl_str text)
{
    add(to, text, true);
}

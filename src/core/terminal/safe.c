#include "terminal/safe.h"

#include "base/text/hidden.h"
#include "base/text/utf8.h"

bool pl_safe_is_unprintable(int32_t c)
{
    return pl_text_is_hidden(c);
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

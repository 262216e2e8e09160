/* A text is a row of unbreakable pieces. The rules apply between two neighbouring characters (after
 * UAX #14). */
#include "terminal/wrap.h"

#include "base/ascii.h"
#include "base/text/utf8.h"
#include "terminal/width.h"

/* Characters that must not begin a line, and characters that must not end one. */
static const char closing[] = "）》」』】〕”’，。、；：！？…—·.,;:!?)]}%";
static const char opening[] = "（《「『【〔“‘([{";

static bool is_of(const char *marks, int32_t c)
{
    struct pl_str list = pl_str_of(marks);
    for (size_t at = 0; at < list.len;)
        if (pl_utf8_next(list, &at) == c)
            return true;
    return false;
}

static bool is_word(int32_t c)
{
    return c < 0x80 && pl_ascii_is_alnum((unsigned char)c);
}

/* True if a line may end after `before` and the next may begin with `after`. Neither is a space. */
static bool may_break(int32_t before, int32_t after)
{
    bool is_wide_before = pl_width_of(before) == 2, is_wide_after = pl_width_of(after) == 2;
    if (is_of(opening, before) || is_of(closing, after))
        return false;
    if (is_wide_before && is_wide_after)
        return true;
    if (is_wide_before)
        return is_word(after) || is_of(closing, before);
    return is_wide_after && is_word(before);
}

struct pl_str pl_wrap_piece(struct pl_str text)
{
    size_t at = 0;
    int32_t before = pl_utf8_next(text, &at);
    while (at < text.len && text.ptr[at] != ' ') {
        size_t next = at;
        int32_t after = pl_utf8_next(text, &next);
        if (may_break(before, after))
            break;
        before = after;
        at = next;
    }
    return pl_str_slice(text, 0, at);
}

static struct pl_str skip_spaces(struct pl_str text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] == ' ')
        n++;
    return pl_str_slice(text, n, text.len);
}

void pl_wrap_add(struct pl_buf *to, struct pl_str text, struct pl_wrap wrap)
{
    bool is_first = true;
    while ((text = skip_spaces(text)).len > 0) {
        bool has_space = !is_first && text.ptr[-1] == ' ';
        struct pl_str piece = pl_wrap_piece(text);
        size_t width = pl_width(piece);
        if (!is_first && wrap.column + has_space + width > wrap.width) {
            pl_buf_addc(to, '\n');
            wrap.column = 0;
        } else if (has_space) {
            pl_buf_addc(to, ' ');
            wrap.column++;
        }
        if (wrap.column < wrap.indent) {
            pl_buf_fill(to, ' ', wrap.indent - wrap.column);
            wrap.column = wrap.indent;
        }
        pl_buf_add(to, piece);
        wrap.column += width;
        text = pl_str_slice(text, piece.len, text.len);
        is_first = false;
    }
    pl_buf_addc(to, '\n');
}

/* Escapes text for roff. Fills English at spaces, and Chinese between characters. */
#include "app/manual/roff.h"

#include "base/text/utf8.h"
#include "terminal/wrap.h"

enum { WIDTH = 78 };

static void add_word(struct pl_buf *to, struct pl_str word)
{
    /* A period or quote at the beginning of a line would be a request. */
    if (word.len > 0 && (word.ptr[0] == '.' || word.ptr[0] == '\''))
        pl_buf_adds(to, "\\&");
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (c == '\\')
            pl_buf_adds(to, "\\e");
        else if (c == '"')
            pl_buf_adds(to, "\\(dq");
        else if (c == '-' && (i == 0 || word.ptr[i - 1] == '-'))
            pl_buf_adds(to, "\\-");
        else
            pl_buf_addc(to, c);
    }
}

void pl_roff_line(struct pl_buf *to, const char *text)
{
    add_word(to, pl_str_of(text));
}

void pl_roff_text(struct pl_buf *to, const char *text)
{
    struct pl_str rest = pl_str_of(text);
    size_t line_from = to->len;
    bool ends_sentence = false;
    while (rest.len > 0) {
        const char *space = memchr(rest.ptr, ' ', rest.len);
        size_t len = space ? (size_t)(space - rest.ptr) : rest.len;
        bool is_first = to->len == line_from;
        if (!is_first && (ends_sentence || to->len - line_from + len > WIDTH)) {
            pl_buf_addc(to, '\n');
            line_from = to->len;
        } else if (!is_first) {
            pl_buf_addc(to, ' ');
        }
        add_word(to, pl_str_slice(rest, 0, len));
        ends_sentence = rest.ptr[len - 1] == '.';
        rest = pl_str_slice(rest, len + 1, rest.len);
    }
}

/* --- Chinese --------------------------------------------------------------------------------- */

/* groff breaks lines at "\:". mandoc accepts that escape but does not break there, so it gets a
 * space after each punctuation mark. mandoc is recognised by the missing register ".x", the version
 * of groff. */
void pl_roff_begin_chinese(struct pl_buf *to)
{
    pl_buf_adds(to, ".ie \\n(.x .ds zb \\:\n.el .ds zb \" \\&\n");
}

static bool ends_clause(struct pl_str piece)
{
    static const char *const marks[] = {"，", "。", "；", "：", "、"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i]);
        if (piece.len >= n && memcmp(piece.ptr + piece.len - n, marks[i], n) == 0)
            return true;
    }
    return false;
}

void pl_roff_chinese(struct pl_buf *to, const char *text)
{
    struct pl_str rest = pl_str_of(text);
    size_t line_from = to->len;
    while (rest.len > 0) {
        struct pl_str piece = pl_wrap_piece(rest);
        add_word(to, piece);
        rest = pl_str_slice(rest, piece.len, rest.len);
        bool has_space = rest.len > 0 && rest.ptr[0] == ' ', is_long = to->len - line_from > WIDTH;
        if (!rest.len)
            break;
        if (has_space)
            pl_buf_addc(to, is_long ? '\n' : ' ');
        else if (ends_clause(piece))
            pl_buf_adds(to, "\\*(zb");
        else
            pl_buf_adds(to, is_long ? "\\:\\c\n" : "\\:");
        if (is_long && to->ptr[to->len - 1] == '\n')
            line_from = to->len;
        rest = pl_str_slice(rest, has_space, rest.len);
    }
}

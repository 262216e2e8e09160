/* Words: emphasis inside a line, and row breaks. */
#include "terminal/markdown_int.h"

#include "base/ascii.h"
#include "base/text/utf8.h"
#include "terminal/safe.h"
#include "terminal/width.h"

enum { TAB = 4, FIRST_EMOJI = 0x1F000 };

/* --- rows ------------------------------------------------------------------------------------ */

static size_t room(const struct pl_markdown *md)
{
    size_t most = md->columns - 1;
    return md->indent < most / 2 ? most - md->indent : most / 2;
}

static void new_row(struct pl_markdown *md, struct pl_buf *to)
{
    pl_buf_addc(to, '\n');
    if (md->is_quote) {
        pl_buf_fill(to, ' ', md->indent - 2);
        pl_md_dim(to, "▌ ");
    } else {
        pl_buf_fill(to, ' ', md->indent);
    }
    md->column = md->indent;
    md->n_spaces = 0;
}

void pl_md_word_end(struct pl_markdown *md, struct pl_buf *to)
{
    if (md->word.status != PL_OK && to->status == PL_OK)
        to->status = md->word.status;
    if (!md->word.len)
        return;
    if (md->column + md->n_spaces + md->word_cells > md->indent + room(md) &&
        md->column > md->indent)
        new_row(md, to);
    pl_md_style_off(&md->word, md->word_style);
    pl_buf_fill(to, ' ', md->n_spaces);
    pl_buf_add(to, pl_buf_str(&md->word));
    if (md->word.status != PL_OK && to->status == PL_OK)
        to->status = md->word.status;
    md->column += md->n_spaces + md->word_cells;
    md->n_spaces = md->word_cells = 0;
    md->word_style = 0;
    md->is_word_wide = false;
    pl_buf_clear(&md->word);
}

size_t pl_md_word_show(const struct pl_markdown *md, struct pl_buf *to)
{
    size_t n = md->n_spaces + md->word_cells;
    if (!md->word_cells || md->column + n > md->indent + room(md))
        return 0;
    pl_buf_fill(to, ' ', md->n_spaces);
    pl_buf_add(to, pl_buf_str(&md->word));
    pl_md_style_off(to, md->word_style);
    return n;
}

/* Punctuation that must not begin a row. */
static bool is_closing(int32_t c)
{
    static const int32_t closing[] = {0x2026, 0x2019, 0x201D, 0x3001, 0x3002, 0x3009, 0x300B,
                                      0x300D, 0x300F, 0x3011, 0x3015, 0xFF01, 0xFF09, 0xFF0C,
                                      0xFF0E, 0xFF1A, 0xFF1B, 0xFF1F, 0xFF3D, 0xFF5D};
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++)
        if (c == closing[i])
            return true;
    return false;
}

static void add_cluster(struct pl_markdown *md, struct pl_str cluster, int32_t c, unsigned width,
                        struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf safe;
    pl_buf_init(&safe, 0);
    pl_safe_add_prose(&safe, cluster);
    size_t cells = safe.len == cluster.len ? width : safe.len; /* escapes are ASCII */
    unsigned style = md->style | md->line_style | (md->n_ticks ? PL_MD_CODE : 0);
    bool is_edge = width == 2 || md->is_word_wide;
    if ((is_edge && width && !is_closing(c)) || md->word_cells + cells > room(md))
        pl_md_word_end(md, to);
    if (style != md->word_style) {
        pl_md_style_off(&md->word, md->word_style);
        pl_md_style_on(&md->word, style);
        md->word_style = style;
    }
    pl_buf_add(&md->word, pl_buf_str(&safe));
    if (safe.status != PL_OK)
        md->word.status = safe.status;
    md->word_cells += cells;
    md->is_word_wide = width ? width == 2 : md->is_word_wide;
    md->before = c;
}

static void add_text(struct pl_markdown *md, struct pl_str text, struct pl_buf *to)
{
    for (size_t at = 0, end; at < text.len; at = end) {
        unsigned width;
        size_t next = at;
        int32_t c = pl_utf8_next(text, &next);
        end = pl_cluster_end(text, at, &width);
        add_cluster(md, pl_str_slice(text, at, end), c, width, to);
    }
}

static void add_spaces(struct pl_markdown *md, size_t n, struct pl_buf *to)
{
    bool is_of_mark = md->is_quote && !md->before; /* "> " */
    pl_md_word_end(md, to);
    md->n_spaces += is_of_mark ? 0 : n;
    md->before = ' ';
}

/* --- emphasis -------------------------------------------------------------------------------- */

static bool is_gap(int32_t c)
{
    return c == 0 || c == ' ' || c == '\t' || c == '\n';
}

/* A letter of a script that puts spaces between words. */
static bool is_letter(int32_t c)
{
    return c >= 0x80 ? pl_width_of(c) == 1 : c > 0 && pl_ascii_is_alnum((unsigned char)c);
}

static unsigned style_of(char mark, size_t n)
{
    if (mark == '~')
        return n == 2 ? PL_MD_STRUCK : 0;
    return n == 1 ? PL_MD_ITALIC : n == 2 ? PL_MD_BOLD : n == 3 ? PL_MD_BOLD | PL_MD_ITALIC : 0;
}

/* Switches a style on or off. Returns false if the marks are text. A style begins only at the start
 * of a word, because the rest of the text is not known yet: "a * b" and snake_case remain text. */
static bool emphasise(struct pl_markdown *md, char mark, size_t n, int32_t next)
{
    unsigned style = style_of(mark, n);
    if (!style)
        return false;
    if ((md->style & style) == style && !is_gap(md->before) && !(mark == '_' && is_letter(next))) {
        md->style &= ~style;
        return true;
    }
    if ((md->style & style) || is_gap(next) || is_letter(md->before))
        return false;
    md->style |= style;
    return true;
}

static bool is_mark(char c)
{
    return c == '*' || c == '_' || c == '~' || c == '`';
}

/* Processes a run of marks. Returns 0 if more of it may follow. */
static size_t take_marks(struct pl_markdown *md, struct pl_str s, bool is_end, struct pl_buf *to)
{
    char mark = s.ptr[0];
    size_t n = 0, next_at;
    while (n < s.len && s.ptr[n] == mark)
        n++;
    struct pl_str rest = pl_str_slice(s, n, s.len);
    if (!is_end && (!rest.len || pl_utf8_is_cut(rest)))
        return 0;
    next_at = n;
    int32_t next = rest.len ? pl_utf8_next(s, &next_at) : 0;
    if (mark == '`' && (!md->n_ticks || md->n_ticks == n))
        md->n_ticks = md->n_ticks ? 0 : n;
    else if (md->n_ticks || mark == '`' || !emphasise(md, mark, n, next))
        add_text(md, pl_str_slice(s, 0, n), to);
    return n;
}

/* --- the line -------------------------------------------------------------------------------- */

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7F && !pl_ascii_is_alnum((unsigned char)c);
}

static size_t take_escape(struct pl_markdown *md, struct pl_str s, bool is_end, struct pl_buf *to)
{
    if (s.len < 2 && !is_end)
        return 0;
    bool is_escape = s.len > 1 && is_punctuation(s.ptr[1]);
    add_text(md, is_escape ? pl_str_slice(s, 1, 2) : pl_str_slice(s, 0, 1), to);
    return is_escape ? 2 : 1;
}

/* Takes a cluster. Waits if an emoji ends the held text, because more input may join it. */
static size_t take_cluster(struct pl_markdown *md, struct pl_str s, bool is_end, struct pl_buf *to)
{
    unsigned width;
    size_t next = 0;
    if (!is_end && pl_utf8_is_cut(s))
        return 0;
    int32_t c = pl_utf8_next(s, &next);
    size_t n = pl_cluster_end(s, 0, &width);
    if (!is_end && c >= FIRST_EMOJI && (n == s.len || pl_utf8_is_cut(pl_str_slice(s, n, s.len))))
        return 0;
    add_cluster(md, pl_str_slice(s, 0, n), c, width, to);
    return n;
}

size_t pl_md_words(struct pl_markdown *md, struct pl_str held, bool is_end, struct pl_buf *to,
                   bool *ret_is_line_over)
{
    size_t at = 0, n = 1;
    *ret_is_line_over = false;
    for (; at < held.len && n; at += n) {
        struct pl_str rest = pl_str_slice(held, at, held.len);
        char c = rest.ptr[0];
        if (c == '\n') {
            *ret_is_line_over = true;
            return at + 1;
        }
        n = 1;
        if (c == ' ' || c == '\t')
            add_spaces(md, c == '\t' ? TAB : 1, to);
        else if (c == '\r' && (rest.len < 2 ? !is_end : rest.ptr[1] == '\n'))
            n = rest.len < 2 ? 0 : 1; /* part of a line break */
        else if (is_mark(c))
            n = take_marks(md, rest, is_end, to);
        else if (c == '\\' && !md->n_ticks)
            n = take_escape(md, rest, is_end, to);
        else
            n = take_cluster(md, rest, is_end, to);
    }
    return at;
}

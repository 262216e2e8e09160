/* Lines: detects the kind of a line by its first characters, and prints what comes before and after
 * it. */
#include "terminal/markdown_int.h"

#include "base/ascii.h"
#include "terminal/safe.h"
#include "terminal/width.h"

#include <assert.h>

enum {
    MIN_COLUMNS = 20,
    MAX_TABLE = 64 << 10,
    MAX_FRAME = 60,
    MAX_INFO = 40,
    MAX_DIGITS = 9,
    MAX_LEVEL = 6
};

enum line_kind { MORE, BLANK, WORDS, HEADING, BULLET, NUMBERED, QUOTE, RULE, FENCE, ROW };

struct line {
    enum line_kind kind;
    size_t n_spaces; /* before it */
    size_t n_mark;   /* bytes of "## ", "- ", "12. ", "> ", "```" */
};

void pl_markdown_init(struct pl_markdown *md, size_t columns)
{
    *md = (struct pl_markdown){.columns = columns > MIN_COLUMNS ? columns : MIN_COLUMNS};
    pl_buf_init(&md->held, 0);
    pl_buf_init(&md->table, 0);
    pl_buf_init(&md->word, 0);
}

void pl_markdown_deinit(struct pl_markdown *md)
{
    pl_buf_deinit(&md->held);
    pl_buf_deinit(&md->table);
    pl_buf_deinit(&md->word);
}

static void forget_emphasis(struct pl_markdown *md)
{
    md->style = 0;
    md->n_ticks = 0;
}

/* --- styles ---------------------------------------------------------------------------------- */

static const struct {
    unsigned style;
    const char *code;
} codes[] = {
    {PL_MD_BOLD, "\033[1m"},   {PL_MD_ITALIC, "\033[3m"}, {PL_MD_CODE, "\033[36m"},
    {PL_MD_STRUCK, "\033[9m"}, {PL_MD_DIM, "\033[2m"},    {PL_MD_UNDERLINED, "\033[4m"},
};

void pl_md_style_on(struct pl_buf *to, unsigned style)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (style & codes[i].style)
            pl_buf_adds(to, codes[i].code);
}

void pl_md_style_off(struct pl_buf *to, unsigned style)
{
    pl_buf_adds(to, style ? "\033[0m" : "");
}

void pl_md_dim(struct pl_buf *to, const char *text)
{
    pl_md_style_on(to, PL_MD_DIM);
    pl_buf_adds(to, text);
    pl_md_style_off(to, PL_MD_DIM);
}

/* --- kinds ----------------------------------------------------------------------------------- */

static size_t run_of(struct pl_str s, size_t at, char c)
{
    size_t n = 0;
    while (at + n < s.len && s.ptr[at + n] == c)
        n++;
    return n;
}

/* Detects a rule: three or more of the same character and nothing else. */
static enum line_kind look_rule(struct pl_str s, size_t at, bool is_end)
{
    size_t n = run_of(s, at, s.ptr[at]);
    if (at + n == s.len)
        return !is_end ? MORE : n >= 3 ? RULE : WORDS;
    return n >= 3 && s.ptr[at + n] == '\n' ? RULE : WORDS;
}

static struct line look_mark(struct pl_str s, struct line line, size_t n, enum line_kind kind,
                             bool is_end)
{
    assert(kind != WORDS);
    size_t next = line.n_spaces + n;
    line.kind = next < s.len ? (s.ptr[next] == ' ' ? kind : WORDS) : is_end ? WORDS : MORE;
    line.n_mark = line.kind == kind ? n + 1 : 0;
    return line;
}

static struct line look_fence(struct pl_str s, struct line line, bool is_end)
{
    size_t n = run_of(s, line.n_spaces, s.ptr[line.n_spaces]), at = line.n_spaces + n;
    bool is_whole = memchr(s.ptr + line.n_spaces, '\n', s.len - line.n_spaces) || is_end;
    line.kind = WORDS;
    if (n < 3) {
        line.kind = at == s.len && !is_end ? MORE : WORDS;
        return line;
    }
    for (; at < s.len && s.ptr[at] != '\n'; at++)
        if (s.ptr[at] == '`')
            return line; /* a code span */
    line.kind = is_whole ? FENCE : MORE;
    line.n_mark = n;
    return line;
}

static struct line look_number(struct pl_str s, struct line line, bool is_end)
{
    size_t n = 0;
    while (n < MAX_DIGITS && line.n_spaces + n < s.len &&
           pl_ascii_is_digit((unsigned char)s.ptr[line.n_spaces + n]))
        n++;
    size_t at = line.n_spaces + n;
    if (at < s.len && s.ptr[at] != '.' && s.ptr[at] != ')') {
        line.kind = WORDS;
        return line;
    }
    return look_mark(s, line, n + 1, NUMBERED, is_end);
}

static struct line look(struct pl_str s, bool is_end)
{
    struct line line = {.n_spaces = run_of(s, 0, ' ')};
    if (line.n_spaces == s.len) {
        line.kind = is_end ? BLANK : MORE;
        return line;
    }
    char c = s.ptr[line.n_spaces];
    if (c == '\n' || c == '>' || c == '|') {
        line.kind = c == '\n' ? BLANK : c == '>' ? QUOTE : ROW;
        line.n_mark = c == '>';
        return line;
    }
    if (c == '#') {
        size_t n = run_of(s, line.n_spaces, '#');
        if (n <= MAX_LEVEL)
            return look_mark(s, line, n, HEADING, is_end);
    }
    if (c == '`' || c == '~')
        return look_fence(s, line, is_end);
    if (pl_ascii_is_digit((unsigned char)c))
        return look_number(s, line, is_end);
    if (c == '-' || c == '*' || c == '+' || c == '_') {
        struct line bullet = look_mark(s, line, 1, BULLET, is_end);
        if (bullet.kind == BULLET && c != '_')
            return bullet;
        line.kind = bullet.kind == MORE ? MORE : look_rule(s, line.n_spaces, is_end);
        return line;
    }
    line.kind = WORDS;
    return line;
}

/* --- lines ----------------------------------------------------------------------------------- */

static void begin_line(struct pl_markdown *md, const struct line *line, struct pl_str held,
                       struct pl_buf *to)
{
    struct pl_str mark = pl_str_slice(held, line->n_spaces, line->n_spaces + line->n_mark);
    size_t most = md->columns / 2, n_spaces = line->n_spaces < most ? line->n_spaces : most;
    bool is_heading = line->kind == HEADING;
    md->state = PL_MARKDOWN_IN_LINE;
    md->is_quote = line->kind == QUOTE;
    md->line_style = md->is_quote                  ? PL_MD_DIM
                     : is_heading && mark.len == 2 ? PL_MD_BOLD | PL_MD_UNDERLINED
                     : is_heading                  ? PL_MD_BOLD
                                                   : 0;
    if (line->kind != WORDS)
        forget_emphasis(md);
    md->before = 0;
    pl_buf_fill(to, ' ', n_spaces);
    md->indent = n_spaces;
    if (line->kind == BULLET) {
        pl_buf_adds(to, "• ");
        md->indent += 2;
    } else if (line->kind == NUMBERED) {
        pl_buf_add(to, mark);
        md->indent += mark.len;
    } else if (md->is_quote) {
        pl_md_dim(to, "▌ ");
        md->indent += 2;
    }
    md->column = md->indent;
}

static void end_line(struct pl_markdown *md, struct pl_buf *to)
{
    pl_md_word_end(md, to);
    pl_buf_addc(to, '\n');
    md->n_spaces = md->column = 0;
    md->state = PL_MARKDOWN_LINE_START;
}

static size_t frame_cells(const struct pl_markdown *md)
{
    return md->columns - 1 < MAX_FRAME ? md->columns - 1 : MAX_FRAME;
}

static void put_edge(const struct pl_markdown *md, const char *corner, struct pl_str info,
                     struct pl_buf *to)
{
    size_t n = 1;
    pl_md_style_on(to, PL_MD_DIM);
    pl_buf_adds(to, corner);
    info = pl_width_cut(info, MAX_INFO);
    if (info.len) {
        pl_buf_adds(to, "─ ");
        pl_safe_add_prose(to, info);
        pl_buf_addc(to, ' ');
        n += 3 + pl_width(info);
    }
    for (; n < frame_cells(md); n++)
        pl_buf_adds(to, "─");
    pl_md_style_off(to, PL_MD_DIM);
    pl_buf_addc(to, '\n');
}

static struct pl_str trim(struct pl_str s)
{
    while (s.len && s.ptr[0] == ' ')
        s = pl_str_slice(s, 1, s.len);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    return s;
}

/* Returns the length of the first line, including its line break; 0 if it is incomplete. *ret_line
 * is the line without the break. */
static size_t whole_line(struct pl_str held, bool is_end, struct pl_str *ret_line)
{
    const char *end = held.len ? memchr(held.ptr, '\n', held.len) : NULL;
    if (!end && (!is_end || !held.len))
        return 0;
    *ret_line = pl_str_slice(held, 0, end ? (size_t)(end - held.ptr) : held.len);
    return ret_line->len + (end ? 1 : 0);
}

static void put_code_row(struct pl_str row, struct pl_buf *to)
{
    pl_md_dim(to, "│ ");
    pl_md_style_on(to, row.len ? PL_MD_CODE : 0);
    pl_buf_add(to, row);
    pl_md_style_off(to, row.len ? PL_MD_CODE : 0);
    pl_buf_addc(to, '\n');
}

/* Prints tabs as spaces and shows control characters. Rows are as wide as the terminal. */
static void put_code(const struct pl_markdown *md, struct pl_str line, struct pl_buf *to)
{
    enum { TAB = 4, FRAME = 3 };
    PL_CLEANUP_BUF struct pl_buf safe;
    pl_buf_init(&safe, 0);
    for (size_t from = 0; from < line.len;) {
        const char *tab = memchr(line.ptr + from, '\t', line.len - from);
        size_t at = tab ? (size_t)(tab - line.ptr) : line.len;
        pl_safe_add_prose(&safe, pl_str_slice(line, from, at));
        pl_buf_fill(&safe, ' ', tab ? TAB : 0);
        from = at + 1;
    }
    if (safe.status != PL_OK)
        to->status = to->status == PL_OK ? safe.status : to->status;
    struct pl_str rest = pl_buf_str(&safe);
    do {
        struct pl_str row = pl_width_cut(rest, md->columns - FRAME);
        put_code_row(row, to);
        rest = pl_str_slice(rest, row.len, rest.len);
    } while (rest.len);
}

static size_t take_code(struct pl_markdown *md, struct pl_str held, bool is_end, struct pl_buf *to)
{
    struct pl_str line;
    size_t n = whole_line(held, is_end, &line);
    if (!n)
        return 0;
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    struct pl_str bare = trim(line);
    bool is_over = bare.len >= md->fence_length && run_of(bare, 0, md->fence) == bare.len;
    if (is_over) {
        put_edge(md, "└", (struct pl_str){0}, to);
        md->state = PL_MARKDOWN_LINE_START;
    } else {
        put_code(md, line, to);
    }
    return n;
}

static size_t begin_code(struct pl_markdown *md, const struct line *line, struct pl_str held,
                         bool is_end, struct pl_buf *to)
{
    struct pl_str whole = {0};
    size_t n = whole_line(held, is_end, &whole);
    md->fence = held.ptr[line->n_spaces];
    md->fence_length = line->n_mark;
    forget_emphasis(md);
    put_edge(md, "┌", trim(pl_str_slice(whole, line->n_spaces + line->n_mark, whole.len)), to);
    md->state = PL_MARKDOWN_IN_CODE;
    return n;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Prints the lines of something that looked like a table but is not one. */
static void put_lines(struct pl_markdown *md, struct pl_buf *to)
{
    struct pl_str rest = pl_buf_str(&md->table);
    while (rest.len) {
        struct line words = {.kind = WORDS};
        bool is_over = false;
        begin_line(md, &words, rest, to);
        size_t n = pl_md_words(md, rest, true, to, &is_over);
        end_line(md, to);
        rest = pl_str_slice(rest, n, rest.len);
    }
}

static void end_table(struct pl_markdown *md, struct pl_buf *to)
{
    forget_emphasis(md);
    md->state = PL_MARKDOWN_LINE_START;
    if (md->table.status == PL_OK && !pl_md_table(pl_buf_str(&md->table), md->columns, to))
        put_lines(md, to);
    if (md->table.status != PL_OK)
        to->status = md->table.status;
    pl_buf_clear(&md->table);
    md->state = PL_MARKDOWN_LINE_START;
}

static size_t take_row(struct pl_markdown *md, struct pl_str held, bool is_end, struct pl_buf *to)
{
    struct pl_str row;
    struct line line = look(held, is_end);
    if (line.kind == MORE)
        return 0;
    if (line.kind != ROW || md->table.len > MAX_TABLE) {
        end_table(md, to);
        return 0;
    }
    size_t n = whole_line(held, is_end, &row);
    if (n) {
        pl_buf_add(&md->table, trim(row));
        pl_buf_addc(&md->table, '\n');
    }
    return n;
}

/* --- all of it ------------------------------------------------------------------------------- */

static size_t start_line(struct pl_markdown *md, struct pl_str held, bool is_end, struct pl_buf *to)
{
    struct line line = look(held, is_end);
    switch (line.kind) {
    case MORE:
        return 0;
    case FENCE:
        return begin_code(md, &line, held, is_end, to);
    case ROW:
        md->state = PL_MARKDOWN_IN_TABLE;
        return 0;
    case BLANK:
    case RULE: {
        struct pl_str whole = {0};
        size_t n = whole_line(held, is_end, &whole);
        forget_emphasis(md);
        for (size_t i = 0; line.kind == RULE && i < frame_cells(md); i++)
            pl_md_dim(to, "─");
        if (n > whole.len || line.kind == RULE)
            pl_buf_addc(to, '\n');
        return n;
    }
    default:
        begin_line(md, &line, held, to);
        return line.n_spaces + line.n_mark;
    }
}

/* Performs one step. Returns false if nothing more can be done with the held text. */
static bool step(struct pl_markdown *md, size_t *at, bool is_end, struct pl_buf *to)
{
    struct pl_str held = pl_str_slice(pl_buf_str(&md->held), *at, md->held.len);
    enum pl_markdown_state before = md->state;
    bool is_over = false;
    size_t n = 0;
    if (!held.len)
        return false;
    switch (md->state) {
    case PL_MARKDOWN_LINE_START:
        n = start_line(md, held, is_end, to);
        break;
    case PL_MARKDOWN_IN_CODE:
        n = take_code(md, held, is_end, to);
        break;
    case PL_MARKDOWN_IN_TABLE:
        n = take_row(md, held, is_end, to);
        break;
    case PL_MARKDOWN_IN_LINE:
        n = pl_md_words(md, held, is_end, to, &is_over);
        if (is_over)
            end_line(md, to);
        break;
    }
    assert(n <= held.len);
    *at += n;
    return n || md->state != before;
}

static void run(struct pl_markdown *md, bool is_end, struct pl_buf *to)
{
    size_t at = 0;
    while (step(md, &at, is_end, to))
        ;
    size_t n_left = md->held.len - at;
    if (n_left && at)
        memmove(md->held.ptr, md->held.ptr + at, n_left);
    md->held.len = n_left;
    if (md->held.status != PL_OK && to->status == PL_OK)
        to->status = md->held.status;
}

/* Erases the shown part of an unfinished word. */
static void hide_word(struct pl_markdown *md, struct pl_buf *to)
{
    if (md->n_shown)
        pl_buf_addf(to, "\033[%zuD\033[K", md->n_shown);
    md->n_shown = 0;
}

void pl_markdown_feed(struct pl_markdown *md, struct pl_str piece, struct pl_buf *to)
{
    hide_word(md, to);
    pl_buf_add(&md->held, piece);
    run(md, false, to);
}

void pl_markdown_show(struct pl_markdown *md, struct pl_buf *to)
{
    hide_word(md, to);
    if (md->state == PL_MARKDOWN_IN_LINE)
        md->n_shown = pl_md_word_show(md, to);
}

void pl_markdown_end(struct pl_markdown *md, struct pl_buf *to)
{
    hide_word(md, to);
    run(md, true, to);
    if (md->state == PL_MARKDOWN_IN_TABLE)
        end_table(md, to);
    if (md->state == PL_MARKDOWN_IN_LINE)
        end_line(md, to);
    if (md->state == PL_MARKDOWN_IN_CODE)
        put_edge(md, "└", (struct pl_str){0}, to);
    md->state = PL_MARKDOWN_LINE_START;
    forget_emphasis(md);
}

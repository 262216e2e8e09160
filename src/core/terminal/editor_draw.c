/* Draws the text that is being edited. Rows are broken here, one cell before the width of the
 * terminal, so that the terminal never wraps a row. The row of the cursor is printed last, up to
 * the cursor: so the cursor is in the right cell even if the terminal measures an emoji
 * differently. */
#include "terminal/editor.h"
#include "terminal/width.h"

enum { MIN_COLUMNS = 8, MIN_ROWS = 2, TAB_CELLS = 4 };

struct row {
    size_t from, to;
    unsigned cells; /* including the prompt or indentation before it */
};

struct layout {
    PL_VEC(struct row) rows; /* owned */
    size_t cursor_row;
    struct pl_str before; /* printed before the first row */
    unsigned before_cells;
};

void pl_editor_forget(struct pl_editor *editor)
{
    editor->drawn.len = 0;
    editor->drawn_row = 0;
    editor->drawn_cells = 0;
}

/* --- text ------------------------------------------------------------------------------------ */

/* Returns the width of a cluster as shown: tabs as spaces, other control characters as ^X. */
static unsigned shown_width(struct pl_str text, size_t at, size_t *ret_end)
{
    unsigned width;
    unsigned char c = (unsigned char)text.ptr[at];
    *ret_end = pl_cluster_end(text, at, &width);
    if (c == '\t')
        return TAB_CELLS;
    return c < 0x20 || c == 0x7F ? 2 : width;
}

static void put_text(struct pl_str text, struct pl_buf *to)
{
    for (size_t at = 0, end; at < text.len; at = end) {
        unsigned char c = (unsigned char)text.ptr[at];
        (void)shown_width(text, at, &end);
        if (c == '\t')
            pl_buf_fill(to, ' ', TAB_CELLS);
        else if (c < 0x20 || c == 0x7F)
            pl_buf_addf(to, "^%c", c ^ 0x40);
        else
            pl_buf_add(to, pl_str_slice(text, at, end));
    }
}

static unsigned shown_cells(struct pl_str text, size_t from, size_t to)
{
    unsigned n = 0;
    for (size_t end; from < to; from = end)
        n += shown_width(text, from, &end);
    return n;
}

static bool lay_out(struct layout *layout, struct pl_str text, size_t cursor, size_t columns)
{
    unsigned most = (unsigned)columns - 1;
    struct row row = {.cells = layout->before_cells};
    for (size_t at = 0, end; at < text.len; at = end) {
        bool is_break = text.ptr[at] == '\n';
        unsigned width = shown_width(text, at, &end);
        if (is_break || row.cells + width > most) {
            row.to = at;
            if (!pl_vec_push(&layout->rows, row))
                return false;
            row = (struct row){.from = is_break ? end : at, .cells = layout->before_cells};
        }
        if (!is_break)
            row.cells += width;
    }
    row.to = text.len;
    if (!pl_vec_push(&layout->rows, row))
        return false;
    while (layout->cursor_row + 1 < layout->rows.len &&
           layout->rows.ptr[layout->cursor_row + 1].from <= cursor)
        layout->cursor_row++;
    return true;
}

/* --- drawing --------------------------------------------------------------------------------- */

static void put_before(const struct layout *layout, size_t row, bool has_style, struct pl_buf *to)
{
    if (row) {
        pl_buf_fill(to, ' ', layout->before_cells);
        return;
    }
    pl_buf_adds(to, has_style ? "\033[32m" : "");
    pl_buf_add(to, layout->before);
    pl_buf_adds(to, has_style ? "\033[0m" : "");
}

static void go_up(size_t n, struct pl_buf *to)
{
    if (n)
        pl_buf_addf(to, "\033[%zuA", n);
    pl_buf_addc(to, '\r');
}

static void draw_rows(struct pl_editor *editor, const struct layout *layout, size_t first,
                      size_t last, bool has_style, struct pl_buf *to)
{
    struct pl_str text = pl_editor_text(editor);
    editor->drawn.len = 0;
    for (size_t i = first; i < last; i++) {
        const struct row *row = &layout->rows.ptr[i];
        put_before(layout, i, has_style, to);
        put_text(pl_str_slice(text, row->from, row->to), to);
        if (i + 1 < last)
            pl_buf_adds(to, "\r\n");
        if (!pl_vec_push(&editor->drawn, row->cells))
            editor->status = PL_NOMEM;
    }
    const struct row *at = &layout->rows.ptr[layout->cursor_row];
    editor->drawn_row = layout->cursor_row - first;
    editor->drawn_cells = layout->before_cells + shown_cells(text, at->from, editor->cursor);
    if (last - 1 > layout->cursor_row || editor->cursor < at->to) {
        go_up(last - 1 - layout->cursor_row, to);
        put_before(layout, layout->cursor_row, has_style, to);
        put_text(pl_str_slice(text, at->from, editor->cursor), to);
    }
}

/* Cuts the prompt to half of the columns, to leave room for text. */
static struct pl_str prompt_of(const struct pl_editor *editor, const struct pl_editor_look *look,
                               size_t columns, struct pl_buf *searching)
{
    struct pl_str prompt = look->prompt;
    if (editor->is_searching) {
        pl_buf_adds(searching, look->search ? look->search : "(search: ");
        put_text(pl_buf_str(&editor->query), searching);
        pl_buf_adds(searching, ") ");
        prompt = pl_buf_str(searching);
    }
    return pl_width_cut(prompt, columns / 2);
}

static void draw(struct pl_editor *editor, const struct pl_editor_look *look, bool is_last,
                 struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf searching;
    pl_buf_init(&searching, 0);
    size_t columns = look->columns > MIN_COLUMNS ? look->columns : MIN_COLUMNS;
    size_t most = look->rows > MIN_ROWS ? look->rows - 1 : MIN_ROWS - 1;
    struct layout layout = {.before = prompt_of(editor, look, columns, &searching)};
    layout.before_cells = (unsigned)pl_width(layout.before);
    if (lay_out(&layout, pl_editor_text(editor), editor->cursor, columns)) {
        size_t n = layout.rows.len;
        size_t first = n <= most || is_last ? 0 : layout.cursor_row;
        if (first) /* keep the cursor in the middle, if there is text on both sides */
            first = first > most / 2 ? first - most / 2 : 0;
        if (first + most > n)
            first = n > most && !is_last ? n - most : 0;
        size_t last = is_last || first + most > n ? n : first + most;
        go_up(editor->drawn_row, to);
        pl_buf_adds(to, "\033[J");
        draw_rows(editor, &layout, first, last, look->has_style, to);
    } else {
        editor->status = PL_NOMEM;
    }
    pl_vec_deinit(&layout.rows);
}

void pl_editor_draw(struct pl_editor *editor, const struct pl_editor_look *look, struct pl_buf *to)
{
    draw(editor, look, false, to);
}

void pl_editor_leave(struct pl_editor *editor, const struct pl_editor_look *look, struct pl_buf *to)
{
    editor->cursor = editor->text.len;
    editor->is_searching = false;
    draw(editor, look, true, to);
    pl_buf_adds(to, "\r\n");
    pl_editor_forget(editor);
}

/* A terminal that became narrower wraps our rows; one that became wider keeps them. */
void pl_editor_resize(struct pl_editor *editor, size_t columns)
{
    size_t n = 0;
    for (size_t i = 0; columns && i < editor->drawn.len && i < editor->drawn_row; i++)
        n += editor->drawn.ptr[i] ? (editor->drawn.ptr[i] - 1) / columns + 1 : 1;
    if (columns && editor->drawn.len)
        n += editor->drawn_cells / columns;
    editor->drawn_row = n;
}

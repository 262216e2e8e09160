/* Renders a table. Cells lose their emphasis marks. Columns are as wide as they need and the
 * terminal allows; longer cells take several rows. */
#include "terminal/markdown_int.h"

#include "base/vec.h"
#include "terminal/safe.h"
#include "terminal/width.h"

enum { MAX_COLUMNS = 16, MIN_CELLS = 3, GAP = 3 };

enum align { LEFT, MIDDLE, RIGHT };

struct cell {
    size_t from, to; /* in `plain` */
};

struct table {
    size_t n_columns;
    size_t widths[MAX_COLUMNS];
    enum align aligns[MAX_COLUMNS];
    struct pl_buf plain;       /* owned; printable texts of the cells */
    PL_VEC(struct cell) cells; /* owned; rows of n_columns; the first row is the header */
};

static struct pl_str trim(struct pl_str s)
{
    while (s.len && s.ptr[0] == ' ')
        s = pl_str_slice(s, 1, s.len);
    while (s.len && s.ptr[s.len - 1] == ' ')
        s.len--;
    return s;
}

/* --- reading --------------------------------------------------------------------------------- */

/* Takes the next cell of a row, which begins after a bar. Returns false after the last one. */
static bool next_cell(struct pl_str *rest, struct pl_str *ret_cell)
{
    if (!rest->len || rest->ptr[0] != '|')
        return false;
    size_t end = 1;
    while (end < rest->len && rest->ptr[end] != '|')
        end += rest->ptr[end] == '\\' && end + 1 < rest->len ? 2 : 1;
    *ret_cell = trim(pl_str_slice(*rest, 1, end));
    *rest = pl_str_slice(*rest, end, rest->len);
    return rest->len || ret_cell->len;
}

/* Removes the final bar of a row, so that it has as many cells as bars. */
static struct pl_str open_row(struct pl_str row)
{
    row = trim(row);
    if (row.len > 1 && row.ptr[row.len - 1] == '|' && row.ptr[row.len - 2] != '\\')
        row.len--;
    return row;
}

/* Reads the second row: dashes, and colons for the alignment. */
static bool read_aligns(struct table *table, struct pl_str row)
{
    struct pl_str rest = open_row(row), cell;
    size_t n = 0;
    for (; n < MAX_COLUMNS && next_cell(&rest, &cell); n++) {
        if (!cell.len)
            return false;
        bool is_left = cell.ptr[0] == ':', is_right = cell.ptr[cell.len - 1] == ':';
        for (size_t i = is_left; i + is_right < cell.len; i++)
            if (cell.ptr[i] != '-')
                return false;
        table->aligns[n] = is_right ? (is_left ? MIDDLE : RIGHT) : LEFT;
    }
    table->n_columns = n;
    return n && !rest.len;
}

static void add_plain(struct table *table, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf bare;
    pl_buf_init(&bare, 0);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_double = i + 1 < text.len && text.ptr[i + 1] == c && (c == '*' || c == '~');
        i += is_double;
        if (is_double || c == '`')
            continue;
        if (c == '\\' && i + 1 < text.len && text.ptr[i + 1] == '|')
            c = text.ptr[++i];
        pl_buf_addc(&bare, (char)(c == '\t' ? ' ' : c));
    }
    pl_safe_add_prose(&table->plain, pl_buf_str(&bare));
    if (bare.status != PL_OK)
        table->plain.status = bare.status;
}

static bool add_row(struct table *table, struct pl_str row)
{
    struct pl_str rest = open_row(row), text = {0};
    for (size_t i = 0; i < table->n_columns; i++) {
        struct cell cell = {.from = table->plain.len};
        if (next_cell(&rest, &text))
            add_plain(table, text);
        cell.to = table->plain.len;
        struct pl_str plain = pl_str_slice(pl_buf_str(&table->plain), cell.from, cell.to);
        size_t width = pl_width(plain);
        table->widths[i] = width > table->widths[i] ? width : table->widths[i];
        if (!pl_vec_push(&table->cells, cell))
            return false;
    }
    return table->plain.status == PL_OK;
}

static struct pl_str take_line(struct pl_str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct pl_str line = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, n + 1, rest->len);
    return line;
}

static bool read_table(struct table *table, struct pl_str rows)
{
    struct pl_str names = take_line(&rows), dashes = take_line(&rows);
    if (!read_aligns(table, dashes) || !add_row(table, names))
        return false;
    while (rows.len)
        if (!add_row(table, take_line(&rows)))
            return false;
    return true;
}

/* Shrinks the widest columns until all columns fit. */
static bool fit(struct table *table, size_t columns)
{
    for (;;) {
        size_t total = 1, widest = 0;
        for (size_t i = 0; i < table->n_columns; i++) {
            if (table->widths[i] < 1)
                table->widths[i] = 1;
            total += table->widths[i] + GAP;
            widest = table->widths[i] > table->widths[widest] ? i : widest;
        }
        if (total < columns)
            return true;
        if (table->widths[widest] <= MIN_CELLS)
            return false;
        size_t excess = total - columns + 1;
        size_t most = table->widths[widest] - MIN_CELLS, second = MIN_CELLS;
        for (size_t i = 0; i < table->n_columns; i++)
            if (i != widest && table->widths[i] > second)
                second = table->widths[i];
        size_t step = table->widths[widest] > second ? table->widths[widest] - second : 1;
        step = step < excess ? step : excess;
        table->widths[widest] -= step < most ? step : most;
    }
}

/* --- printing -------------------------------------------------------------------------------- */

static void put_edge(const struct table *table, const char *left, const char *cross,
                     const char *right, struct pl_buf *to)
{
    pl_md_style_on(to, PL_MD_DIM);
    for (size_t i = 0; i < table->n_columns; i++) {
        pl_buf_adds(to, i ? cross : left);
        for (size_t k = 0; k < table->widths[i] + 2; k++)
            pl_buf_adds(to, "─");
    }
    pl_buf_adds(to, right);
    pl_md_style_off(to, PL_MD_DIM);
    pl_buf_addc(to, '\n');
}

/* Takes as much of a cell as fits a row, up to a space if there is one. */
static struct pl_str take_part(struct pl_str *rest, size_t width)
{
    struct pl_str part = pl_width_cut(*rest, width);
    if (!part.len && rest->len) { /* a wide character in a column of one cell */
        unsigned cells;
        part = pl_str_slice(*rest, 0, pl_cluster_end(*rest, 0, &cells));
    }
    size_t n = part.len;
    while (part.len < rest->len && n > 0 && part.ptr[n - 1] != ' ')
        n--;
    if (n)
        part.len = n;
    *rest = trim(pl_str_slice(*rest, part.len, rest->len));
    return trim(part);
}

static void put_cell(struct pl_str part, size_t width, enum align align, unsigned style,
                     struct pl_buf *to)
{
    size_t cells = pl_width(part), n_free = cells < width ? width - cells : 0;
    size_t n_left = align == RIGHT ? n_free : align == MIDDLE ? n_free / 2 : 0;
    pl_buf_fill(to, ' ', n_left + 1);
    pl_md_style_on(to, style);
    pl_buf_add(to, part);
    pl_md_style_off(to, style);
    pl_buf_fill(to, ' ', n_free - n_left + 1);
}

static void put_row(const struct table *table, size_t row, struct pl_buf *to)
{
    struct pl_str rests[MAX_COLUMNS];
    bool goes_on = true;
    for (size_t i = 0; i < table->n_columns; i++) {
        struct cell cell = table->cells.ptr[row * table->n_columns + i];
        rests[i] = pl_str_slice(pl_buf_str(&table->plain), cell.from, cell.to);
    }
    while (goes_on) {
        goes_on = false;
        for (size_t i = 0; i < table->n_columns; i++) {
            struct pl_str part = take_part(&rests[i], table->widths[i]);
            pl_md_dim(to, "│");
            put_cell(part, table->widths[i], table->aligns[i], row ? 0 : PL_MD_BOLD, to);
            goes_on = goes_on || rests[i].len;
        }
        pl_md_dim(to, "│");
        pl_buf_addc(to, '\n');
    }
}

bool pl_md_table(struct pl_str rows, size_t columns, struct pl_buf *to)
{
    struct table table = {0};
    pl_buf_init(&table.plain, 0);
    bool is_table = read_table(&table, rows) && fit(&table, columns);
    if (is_table) {
        put_edge(&table, "┌", "┬", "┐", to);
        for (size_t i = 0; i < table.cells.len / table.n_columns; i++) {
            put_row(&table, i, to);
            if (i == 0)
                put_edge(&table, "├", "┼", "┤", to);
        }
        put_edge(&table, "└", "┴", "┘", to);
    }
    pl_buf_deinit(&table.plain);
    pl_vec_deinit(&table.cells);
    return is_table;
}

/* Collects all cells first, measures the columns, then prints. */
#include "app/table/columns.h"

#include "app/table/local.h"

#include "base/text/utc.h"
#include "base/text/utf8.h"
#include "io/system/terminal_raw.h"
#include "terminal/width.h"

#include <time.h>

enum { GAP = 2 };

void pl_columns_init(struct pl_columns *columns, const char *const *names, size_t n_columns)
{
    *columns = (struct pl_columns){.n_columns = n_columns};
    for (size_t i = 0; names && i < n_columns; i++)
        pl_columns_add(columns, pl_str_of(names[i]));
}

void pl_columns_add(struct pl_columns *columns, struct pl_str cell)
{
    if (!pl_vec_push(&columns->cells, cell))
        columns->is_cut = true;
}

static size_t count_shown(const struct pl_columns *columns)
{
    return columns->n_chosen ? columns->n_chosen : columns->n_columns;
}

/* The i-th shown cell of a row, untranslated; row 0 has the headings. */
static struct pl_str raw_cell_of(const struct pl_columns *columns, size_t row, size_t i)
{
    size_t column = columns->n_chosen ? columns->chosen[i] : i;
    return columns->cells.ptr[row * columns->n_columns + column];
}

/* Same in the language of the console. */
static struct pl_str cell_of(const struct pl_columns *columns, const struct pl_console *console,
                             size_t row, size_t i)
{
    struct pl_str heading = raw_cell_of(columns, 0, i);
    return row ? pl_table_value(console, heading, raw_cell_of(columns, row, i))
               : pl_table_word(console, heading);
}

static size_t count_rows(const struct pl_columns *columns)
{
    return columns->cells.len / columns->n_columns;
}

static void measure(const struct pl_columns *columns, const struct pl_console *console,
                    size_t widths[PL_COLUMNS_MAX])
{
    memset(widths, 0, PL_COLUMNS_MAX * sizeof *widths);
    for (size_t row = 0; row < count_rows(columns); row++)
        for (size_t i = 0; i < count_shown(columns); i++) {
            size_t n = pl_width(cell_of(columns, console, row, i));
            widths[i] = n > widths[i] ? n : widths[i];
        }
}

/* Narrows the last column, which has free text, to fit the terminal. */
static void fit(size_t last, size_t widths[PL_COLUMNS_MAX])
{
    enum { FEWEST = 10 };
    size_t n_columns, n_rows, n = 1;
    pl_terminal_size(&n_columns, &n_rows);
    for (size_t i = 0; i < last; i++)
        n += widths[i] + GAP;
    size_t room = n_columns > n + FEWEST ? n_columns - n : FEWEST;
    widths[last] = widths[last] < room ? widths[last] : room;
}

/* A cell that is too long ends in "…". */
static void put_cell(struct pl_console *console, struct pl_str cell, size_t width)
{
    bool is_cut = pl_width(cell) > width;
    pl_console_put_safe(console, is_cut ? pl_width_cut(cell, width - 1) : cell);
    pl_console_puts(console, is_cut ? "…" : "");
}

static size_t free_cells(struct pl_str cell, size_t width)
{
    size_t n = pl_width(cell);
    return n < width ? width - n : 0;
}

static void put_row(const struct pl_columns *columns, struct pl_console *console, size_t row,
                    const size_t widths[PL_COLUMNS_MAX])
{
    size_t n = count_shown(columns);
    for (size_t i = 0; i < n; i++) {
        struct pl_str cell = cell_of(columns, console, row, i);
        if (row == 0)
            pl_console_style(console, PL_STYLE_BOLD);
        put_cell(console, cell, widths[i]);
        if (row == 0)
            pl_console_style(console, PL_STYLE_PLAIN);
        if (i + 1 < n)
            pl_buf_fill(pl_console_out(console), ' ', free_cells(cell, widths[i]) + GAP);
    }
    pl_console_puts(console, "\n");
}

static void put_plain_row(const struct pl_columns *columns, struct pl_console *console, size_t row)
{
    for (size_t i = 0; i < count_shown(columns); i++) {
        pl_console_puts(console, i ? "\t" : "");
        pl_console_put_safe(console, raw_cell_of(columns, row, i));
    }
    pl_console_puts(console, "\n");
}

enum pl_status pl_columns_print(const struct pl_columns *columns, struct pl_console *console)
{
    size_t widths[PL_COLUMNS_MAX];
    if (columns->is_cut)
        return PL_NOMEM;
    measure(columns, console, widths);
    if (console->out_is_terminal)
        fit(count_shown(columns) - 1, widths);
    for (size_t row = columns->is_plain; row < count_rows(columns); row++)
        if (columns->is_plain)
            put_plain_row(columns, console, row);
        else
            put_row(columns, console, row, widths);
    return PL_OK;
}

void pl_columns_deinit(struct pl_columns *columns)
{
    pl_vec_deinit(&columns->cells);
}

struct pl_str pl_line_of(struct pl_texts *texts, struct pl_str text, size_t max_characters)
{
    static const char more[] = "…";
    char *line = pl_arena_alloc(&texts->arena, text.len + sizeof more, 1);
    if (!line) {
        texts->is_cut = true;
        return (struct pl_str){0};
    }
    size_t at = 0, n_characters = 0, n_bytes = 0;
    while (at < text.len && n_characters < max_characters) {
        size_t from = at;
        int32_t c = pl_utf8_next(text, &at);
        if (c == '\n' || c == '\r' || c == '\t')
            line[from] = ' ';
        else
            memcpy(line + from, text.ptr + from, at - from);
        n_characters++;
        n_bytes = at;
    }
    if (at < text.len) {
        memcpy(line + n_bytes, more, sizeof more - 1);
        n_bytes += sizeof more - 1;
    }
    return (struct pl_str){line, n_bytes};
}

struct pl_str pl_time_of(struct pl_texts *texts, struct pl_str rfc3339)
{
    enum { ROOM = 64 };
    int64_t unix_us = 0;
    struct tm local;
    if (!pl_utc_read(rfc3339, &unix_us))
        return PL_STR("-");
    time_t unix_s = (time_t)(unix_us / 1000000 - (unix_us % 1000000 < 0));
    char *text = pl_arena_alloc(&texts->arena, ROOM, 1);
    if (!text) {
        texts->is_cut = true;
        return (struct pl_str){0};
    }
    size_t n = localtime_r(&unix_s, &local) ? strftime(text, ROOM, "%F %T %Z", &local) : 0;
    return n ? (struct pl_str){text, n} : rfc3339;
}

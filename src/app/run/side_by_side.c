/* Escapes each answer, wraps its lines to the width of a column, and prints the columns line by
 * line. */
#include "app/run/side_by_side.h"

#include "io/system/terminal_raw.h"
#include "terminal/safe.h"
#include "terminal/width.h"

enum { GAP = 3, FEWEST = 32, TAB = 4 };

struct column {
    struct pl_str model, sum; /* printed above and below */
    struct pl_str rest;       /* of the text; owned by the deed */
    bool has_more;
};

static size_t width_of(size_t n_answers)
{
    size_t n_columns, n_rows, gaps = (n_answers - 1) * GAP;
    pl_terminal_size(&n_columns, &n_rows);
    return n_columns > gaps ? (n_columns - gaps) / n_answers : 0;
}

bool pl_side_by_side_fits(const struct pl_console *console, size_t n_answers)
{
    return console->out_is_terminal && n_answers > 1 && width_of(n_answers) >= FEWEST;
}

/* Keeps line breaks, replaces tabs by spaces, and escapes other control characters. */
static void add_safe(struct pl_buf *to, struct pl_str text)
{
    size_t from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != '\n' && text.ptr[i] != '\t')
            continue;
        pl_safe_add_prose(to, pl_str_slice(text, from, i));
        if (i < text.len && text.ptr[i] == '\n')
            pl_buf_addc(to, '\n');
        else if (i < text.len)
            pl_buf_fill(to, ' ', TAB);
        from = i + 1;
    }
}

/* The next line of at most `width` cells; broken at a space if there is one. */
static struct pl_str next_line(struct column *column, size_t width)
{
    const char *end = memchr(column->rest.ptr, '\n', column->rest.len);
    struct pl_str line =
        pl_str_slice(column->rest, 0, end ? (size_t)(end - column->rest.ptr) : column->rest.len);
    struct pl_str cut = pl_width_cut(line, width);
    size_t n = cut.len;
    if (cut.len < line.len) {
        while (n > 0 && line.ptr[n] != ' ')
            n--;
        n = n ? n : cut.len ? cut.len : line.len; /* a cluster wider than the column stays whole */
        cut.len = n;
        n += line.ptr[n] == ' ';
    } else if (end) {
        n++;
    }
    column->has_more = n < column->rest.len;
    column->rest = pl_str_slice(column->rest, n, column->rest.len);
    return cut;
}

static void put_cell(struct pl_console *console, struct pl_str cell, enum pl_style style,
                     size_t width, bool is_last)
{
    size_t n = pl_width(cell);
    pl_console_style(console, style);
    pl_console_put(console, cell);
    pl_console_style(console, PL_STYLE_PLAIN);
    if (!is_last)
        pl_buf_fill(pl_console_out(console), ' ', (n < width ? width - n : 0) + GAP);
}

/* Prints a line with one cell per column: the models, or their usage. */
static void put_row(struct pl_console *console, const struct column *columns, size_t n,
                    size_t width, bool is_sum)
{
    for (size_t i = 0; i < n; i++) {
        struct pl_str cell = pl_width_cut(is_sum ? columns[i].sum : columns[i].model, width);
        put_cell(console, cell, is_sum ? PL_STYLE_DIM : PL_STYLE_BOLD, width, i + 1 == n);
    }
    pl_console_puts(console, "\n");
}

static void put_texts(struct pl_console *console, struct column *columns, size_t n, size_t width)
{
    for (bool has_more = true; has_more;) {
        has_more = false;
        for (size_t i = 0; i < n; i++) {
            struct pl_str line =
                columns[i].has_more ? next_line(&columns[i], width) : (struct pl_str){0};
            put_cell(console, line, PL_STYLE_PLAIN, width, i + 1 == n);
            has_more = has_more || columns[i].has_more;
        }
        pl_console_puts(console, "\n");
    }
}

enum pl_exit pl_side_by_side_print(struct pl_deed *deed, const struct pl_run_result *results,
                                   size_t n)
{
    struct column columns[PL_RUN_MAX_MODELS] = {0};
    size_t width = width_of(n);
    for (size_t i = 0; i < n; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        add_safe(&text, results[i].answer.text);
        const char *sum = pl_run_answer_sum(deed, &results[i].answer);
        const char *kept = text.status == PL_OK ? pl_deed_keep(deed, pl_buf_str(&text)) : NULL;
        if (!sum || !kept)
            return pl_deed_stop(deed, PL_NOMEM);
        columns[i] = (struct column){.model = pl_str_of(results[i].answer.model),
                                     .sum = pl_str_of(sum),
                                     .rest = pl_str_of(kept),
                                     .has_more = *kept};
    }
    put_row(deed->console, columns, n, width, false);
    put_texts(deed->console, columns, n, width);
    put_row(deed->console, columns, n, width, true);
    return PL_EXIT_OK;
}

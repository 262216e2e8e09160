/* A cell is read up to the next comma or line break. */
#include "base/text/csv.h"

struct pl_csv pl_csv(struct pl_str text)
{
    return (struct pl_csv){.text = text, .at = pl_str_begins(text, "\xEF\xBB\xBF") ? 3 : 0};
}

static enum pl_status fail_at(const struct pl_csv *csv, size_t offset, struct pl_error *err,
                              const char *message)
{
    (void)pl_fail(err, PL_SYNTAX, "%s", message);
    pl_error_locate(err, csv->text, offset);
    return PL_SYNTAX;
}

static bool is_at(const struct pl_csv *csv, size_t at, char c)
{
    return at < csv->text.len && csv->text.ptr[at] == c;
}

/* Length of the line break at `at`; 0: no line break. */
static size_t break_at(const struct pl_csv *csv, size_t at)
{
    if (is_at(csv, at, '\n'))
        return 1;
    return is_at(csv, at, '\r') && is_at(csv, at + 1, '\n') ? 2 : 0;
}

/* Moves past the separator at csv->at. */
static void pass_end(struct pl_csv *csv, struct pl_csv_cell *cell)
{
    csv->is_row_open = is_at(csv, csv->at, ',');
    cell->ends_row = !csv->is_row_open;
    csv->at += csv->is_row_open ? 1 : break_at(csv, csv->at);
}

static enum pl_status read_plain(struct pl_csv *csv, struct pl_csv_cell *cell, struct pl_error *err)
{
    size_t at = csv->at;
    for (; at < csv->text.len && csv->text.ptr[at] != ',' && !break_at(csv, at); at++)
        if (csv->text.ptr[at] == '"')
            return fail_at(csv, at, err,
                           "a quote inside a cell; put the whole cell in quotes and double each "
                           "quote in it");
    cell->text = pl_str_slice(csv->text, csv->at, at);
    csv->at = at;
    return PL_OK;
}

/* The offset of the closing quote of the quoted text that begins at `from`. */
static size_t find_quote(const struct pl_csv *csv, size_t from, size_t *ret_n_doubled)
{
    size_t at = from;
    for (*ret_n_doubled = 0; at < csv->text.len; at++) {
        if (csv->text.ptr[at] != '"')
            continue;
        if (!is_at(csv, at + 1, '"'))
            break;
        (*ret_n_doubled)++;
        at++;
    }
    return at;
}

static enum pl_status read_quoted(struct pl_csv *csv, struct pl_arena *arena,
                                  struct pl_csv_cell *cell, struct pl_error *err)
{
    size_t n_doubled, from = csv->at + 1, to = find_quote(csv, from, &n_doubled);
    if (to >= csv->text.len)
        return fail_at(csv, csv->at, err, "the quote that begins this cell is not closed");
    csv->at = to + 1;
    if (csv->at < csv->text.len && !is_at(csv, csv->at, ',') && !break_at(csv, csv->at))
        return fail_at(csv, csv->at, err,
                       "text after the quote that closes a cell; double each quote inside it");
    cell->text = pl_str_slice(csv->text, from, to);
    if (!n_doubled)
        return PL_OK;
    char *copy = pl_arena_alloc(arena, cell->text.len - n_doubled, 1);
    if (!copy)
        return pl_fail(err, PL_NOMEM, "out of memory");
    size_t n = 0;
    for (size_t i = 0; i < cell->text.len; i++) {
        copy[n++] = cell->text.ptr[i];
        i += cell->text.ptr[i] == '"';
    }
    cell->text = (struct pl_str){copy, n};
    return PL_OK;
}

enum pl_status pl_csv_next(struct pl_csv *csv, struct pl_arena *arena, struct pl_csv_cell *ret_cell,
                           struct pl_error *err)
{
    if (csv->at >= csv->text.len && !csv->is_row_open)
        return PL_NOT_FOUND;
    struct pl_csv_cell cell = {.offset = csv->at};
    enum pl_status status = is_at(csv, csv->at, '"') ? read_quoted(csv, arena, &cell, err)
                                                     : read_plain(csv, &cell, err);
    if (status != PL_OK)
        return status;
    pass_end(csv, &cell);
    *ret_cell = cell;
    return PL_OK;
}

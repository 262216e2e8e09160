/* Cells are in order and within the text. Written again in quotes, they are read as the same
 * cells. */
#include "base/buf.h"
#include "base/text/csv.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_quoted(struct pl_buf *to, const struct pl_csv_cell *cell)
{
    pl_buf_addc(to, '"');
    for (size_t i = 0; i < cell->text.len; i++) {
        pl_buf_addc(to, cell->text.ptr[i]);
        if (cell->text.ptr[i] == '"')
            pl_buf_addc(to, '"');
    }
    pl_buf_adds(to, cell->ends_row ? "\"\n" : "\",");
}

/* Writes all cells that can be read, in quotes. */
static void rewrite(struct pl_str text, struct pl_arena *arena, struct pl_buf *to)
{
    struct pl_csv csv = pl_csv(text);
    struct pl_csv_cell cell;
    struct pl_error err = {0};
    size_t last = 0;
    while (pl_csv_next(&csv, arena, &cell, &err) == PL_OK) {
        if (cell.offset < last || cell.offset > text.len)
            abort();
        last = cell.offset;
        add_quoted(to, &cell);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf once, twice;
    pl_arena_init(&arena, 0);
    pl_buf_init(&once, 0);
    pl_buf_init(&twice, 0);
    rewrite((struct pl_str){(const char *)data, size}, &arena, &once);
    /* A mistake ends a row early: its last comma would be another cell. */
    if (once.len && once.ptr[once.len - 1] == ',')
        once.ptr[once.len - 1] = '\n';
    rewrite(pl_buf_str(&once), &arena, &twice);
    if (once.status == PL_OK && twice.status == PL_OK &&
        !pl_str_eq(pl_buf_str(&once), pl_buf_str(&twice)))
        abort();
    pl_arena_deinit(&arena);
    return 0;
}

/* CSV (RFC 4180), cell by cell: commas, "quoted cells" in which "" is one quote and a line may
 * break, rows that end in LF or CRLF. Spaces belong to a cell. A byte-order mark is passed over. */
#ifndef PL_BASE_TEXT_CSV_H
#define PL_BASE_TEXT_CSV_H

#include "base/arena.h"
#include "base/status.h"

struct pl_csv {
    struct pl_str text; /* borrowed */
    size_t at;
    bool is_row_open; /* a comma was read: another cell follows, be it at the end of the text */
};

struct pl_csv_cell {
    struct pl_str text; /* a view of the text; memory of the arena where it has a doubled quote */
    size_t offset;      /* where it begins */
    bool ends_row;
};

struct pl_csv pl_csv(struct pl_str text);

/* The next cell. PL_NOT_FOUND: there is none. PL_SYNTAX: a quote that is not closed, or stands
 * where none may; err says where. */
enum pl_status pl_csv_next(struct pl_csv *csv, struct pl_arena *arena, struct pl_csv_cell *ret_cell,
                           struct pl_error *err);

#endif

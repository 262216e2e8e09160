/* CSV (RFC 4180), cell by cell: commas; "quoted cells", in which "" is one quote and line breaks
 * are allowed; rows that end in LF or CRLF. Spaces belong to a cell. A byte-order mark is
 * skipped. */
#ifndef PL_BASE_TEXT_CSV_H
#define PL_BASE_TEXT_CSV_H

#include "base/arena.h"
#include "base/status.h"

struct pl_csv {
    struct pl_str text; /* borrowed */
    size_t at;
    bool is_row_open; /* after a comma: another cell follows, even at the end of the text */
};

struct pl_csv_cell {
    struct pl_str text; /* a view of the text; arena memory if it has a doubled quote */
    size_t offset;      /* start of the cell */
    bool ends_row;
};

struct pl_csv pl_csv(struct pl_str text);

/* The next cell. PL_NOT_FOUND: no more cells. PL_SYNTAX: a quote that is not closed or not allowed;
 * err says where. */
enum pl_status pl_csv_next(struct pl_csv *csv, struct pl_arena *arena, struct pl_csv_cell *ret_cell,
                           struct pl_error *err);

#endif

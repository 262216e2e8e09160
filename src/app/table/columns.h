/* A table for people: rows of cells, each column as wide as its widest cell. */
#ifndef PL_APP_COLUMNS_H
#define PL_APP_COLUMNS_H

#include "app/frame/console.h"
#include "app/frame/texts.h"
#include "base/vec.h"

#define PL_COLUMNS_MAX 16

struct pl_columns {
    size_t n_columns;
    PL_VEC(struct pl_str) cells;   /* owned array, borrowed texts; row 0 has the headings */
    size_t chosen[PL_COLUMNS_MAX]; /* the columns to show, in this order */
    size_t n_chosen;               /* 0: all */
    bool is_plain;                 /* no headings, tabs between cells */
    bool is_cut;                   /* out of memory: a cell is missing */
};

/* `names` is the first row; NULL: the caller adds it. */
void pl_columns_init(struct pl_columns *columns, const char *const *names, size_t n_columns);
void pl_columns_add(struct pl_columns *columns, struct pl_str cell);
/* Prints the rows. PL_NOMEM if a cell is missing. */
enum pl_status pl_columns_print(const struct pl_columns *columns, struct pl_console *console);
void pl_columns_deinit(struct pl_columns *columns);

/* The text on one line, at most this many characters; a longer text is cut and ends in "…". Points
 * into the text or the arena; empty if out of memory. */
struct pl_str pl_line_of(struct pl_texts *texts, struct pl_str text, size_t max_characters);
/* Converts "2026-01-01T00:00:00.000Z" to the local time zone (TZ), with its name: "2026-01-01
 * 01:00:00 CET"; "-" for an empty text. */
struct pl_str pl_time_of(struct pl_texts *texts, struct pl_str rfc3339);

#endif

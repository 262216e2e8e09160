/* A table for people: cells in rows, each column as wide as its widest cell. */
#ifndef PL_APP_COLUMNS_H
#define PL_APP_COLUMNS_H

#include "app/frame/console.h"
#include "app/frame/texts.h"
#include "base/vec.h"

#define PL_COLUMNS_MAX 16

struct pl_columns {
    size_t n_columns;
    PL_VEC(struct pl_str) cells; /* owned; views of the caller's; the first row names the columns */
    size_t chosen[PL_COLUMNS_MAX]; /* the only ones that are shown, in this order */
    size_t n_chosen;               /* 0: all of them */
    bool is_plain;                 /* no headings, and a tab between cells */
    bool is_cut;                   /* out of memory: a cell is missing */
};

/* `names` are the first row; NULL: the caller adds it. */
void pl_columns_init(struct pl_columns *columns, const char *const *names, size_t n_columns);
void pl_columns_add(struct pl_columns *columns, struct pl_str cell);
/* Prints the rows. PL_NOMEM when a cell could not be kept. */
enum pl_status pl_columns_print(const struct pl_columns *columns, struct pl_console *console);
void pl_columns_deinit(struct pl_columns *columns);

/* The text on one line and no longer than this many characters: what is cut ends in "…". A view of
 * the text, or memory of the arena; empty when there is none. */
struct pl_str pl_line_of(struct pl_texts *texts, struct pl_str text, size_t max_characters);
/* "2026-01-01T00:00:00.000Z" in the zone of this machine (TZ), with its name: "2026-01-01 01:00:00
 * CET"; "-" for an empty one. */
struct pl_str pl_time_of(struct pl_texts *texts, struct pl_str rfc3339);

#endif

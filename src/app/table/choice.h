/* The columns of a table to show: --format id,status. */
#ifndef PL_APP_TABLE_CHOICE_H
#define PL_APP_TABLE_CHOICE_H

#include "app/frame/commands.h"
#include "app/table/columns.h"

struct pl_column_choice {
    size_t at[PL_COLUMNS_MAX];
    size_t n; /* 0: all */
};

/* The i-th name of a list "id,status,last_used"; empty after the last. */
struct pl_str pl_column_name(const char *columns, size_t i);
size_t pl_column_count(const char *columns);

/* Parses --format by the list of a table's columns. Prints the error unless it returns PL_EXIT_OK:
 * an unknown column (with a suggestion), a column named twice, or --format with another output
 * form. */
enum pl_exit pl_column_choice_read(struct pl_console *console, const char *command,
                                   const struct pl_args *args, const char *columns,
                                   struct pl_column_choice *ret_choice);

/* Begins a table with these columns. A heading is the column name in capitals: "LAST USED". If
 * --format chose columns and standard output is not a terminal, the table has no headings and tabs
 * between cells: for scripts. */
void pl_column_choice_begin(const struct pl_column_choice *choice, struct pl_texts *texts,
                            const struct pl_console *console, const char *names,
                            struct pl_columns *columns);

#endif

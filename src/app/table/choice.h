/* Which columns of a table are shown: --format id,status. */
#ifndef PL_APP_TABLE_CHOICE_H
#define PL_APP_TABLE_CHOICE_H

#include "app/frame/commands.h"
#include "app/table/columns.h"

struct pl_column_choice {
    size_t at[PL_COLUMNS_MAX];
    size_t n; /* 0: all of them */
};

/* The i-th of a list "id,status,last_used"; empty after the last. */
struct pl_str pl_column_name(const char *columns, size_t i);
size_t pl_column_count(const char *columns);

/* Reads --format by the list of a table's columns. Anything but PL_EXIT_OK has been explained: an
 * unknown column with the one that was probably meant, a column that is named twice, and --format
 * together with another form of output. */
enum pl_exit pl_column_choice_read(struct pl_console *console, const char *command,
                                   const struct pl_args *args, const char *columns,
                                   struct pl_column_choice *ret_choice);

/* Begins a table of these columns. A heading is the name of its column in capitals: "LAST USED".
 * What was chosen is shown without headings and with tabs between the cells where standard output
 * is no terminal: for scripts. */
void pl_column_choice_begin(const struct pl_column_choice *choice, struct pl_texts *texts,
                            const struct pl_console *console, const char *names,
                            struct pl_columns *columns);

#endif

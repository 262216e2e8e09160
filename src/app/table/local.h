/* Headings and words of tables in the language of the console. Words of people (titles, names) stay as they are; so do
 * tables for scripts. */
#ifndef PL_APP_TABLE_LOCAL_H
#define PL_APP_TABLE_LOCAL_H

#include "app/frame/console.h"

/* A word of the program's own, such as a heading "LAST USED"; a view of it, or of the table of words. */
struct pl_str pl_table_word(const struct pl_console *console, struct pl_str english);
/* What stands below a heading: a word where the heading is of states, roles and the like. */
struct pl_str pl_table_value(const struct pl_console *console, struct pl_str heading,
                             struct pl_str value);

#endif

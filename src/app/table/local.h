/* Translates headings and words of tables to the language of the console. Text of users (titles,
 * names) is not translated; nor are tables for scripts. */
#ifndef PL_APP_TABLE_LOCAL_H
#define PL_APP_TABLE_LOCAL_H

#include "app/frame/console.h"

/* Translates a word of the program, such as a heading "LAST USED". Points to `english` or to static
 * memory. */
struct pl_str pl_table_word(const struct pl_console *console, struct pl_str english);
/* Translates a cell if its heading is one of states, roles and the like. */
struct pl_str pl_table_value(const struct pl_console *console, struct pl_str heading,
                             struct pl_str value);

#endif

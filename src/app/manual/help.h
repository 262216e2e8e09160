/* Help in all its forms, made from the table of commands. */
#ifndef PL_APP_HELP_H
#define PL_APP_HELP_H

#include "app/frame/commands.h"

/* Writes help for a terminal; command NULL: all of Parley. `word` (may be NULL) names a verb; for
 * an unknown verb the help of the command is written. */
void pl_help_write(struct pl_console *console, const struct pl_command *command, const char *word);

/* Writes a manual page in mdoc(7): parley-COMMAND(1), or parley(1) for NULL. */
void pl_man_write(struct pl_buf *to, const struct pl_command *command, bool is_chinese);

#endif

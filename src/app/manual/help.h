/* Help in its three shapes, all from the table of commands. */
#ifndef PL_APP_HELP_H
#define PL_APP_HELP_H

#include "app/frame/commands.h"

/* For a terminal. NULL for all of Parley. `word` (may be NULL) is the verb that is meant; of one that there is not, the
 * help of the command tells. */
void pl_help_write(struct pl_console *console, const struct pl_command *command, const char *word);

/* A manual page in mdoc(7): parley-COMMAND(1), or parley(1) for NULL. */
void pl_man_write(struct pl_buf *to, const struct pl_command *command, bool is_chinese);

#endif

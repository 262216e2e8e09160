/* Words that a shell completes from what there is: models, prompts, sessions, zones, columns.
 * The scripts of "parley completion" call it; it is not a command that is shown.
 *
 *     parley __complete KIND WORD -- COMMAND LINE...
 *
 * WORD is what was typed of the word so far. The command line tells which server is meant. Each
 * candidate is a line. Where a server does not answer at once, or anything else is wrong, nothing is
 * said and the exit code is 0. */
#ifndef PL_APP_COMPLETE_H
#define PL_APP_COMPLETE_H

#include "app/frame/console.h"

/* `argv` begins with KIND. */
enum pl_exit pl_complete(struct pl_console *console, int argc, char *const *argv);

#endif

/* Shell completion from data: models, prompts, sessions, zones, columns. The scripts of "parley
 * completion" call this hidden command.
 *
 *     parley __complete KIND WORD -- COMMAND LINE...
 *
 * WORD is the part of the word typed so far. The command line names the server. Each candidate is a
 * line. If the server does not answer at once, or on any other error, it prints nothing and the
 * exit code is 0. */
#ifndef PL_APP_COMPLETE_H
#define PL_APP_COMPLETE_H

#include "app/frame/console.h"

/* `argv` begins with KIND. */
enum pl_exit pl_complete(struct pl_console *console, int argc, char *const *argv);

#endif

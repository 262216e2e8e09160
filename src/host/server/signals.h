/* Which signals the server hears, and what it does about each: a table in signals.c. */
#ifndef PL_SERVER_SIGNALS_H
#define PL_SERVER_SIGNALS_H

#include "server/server_int.h"

/* At the very beginning: nothing that has no meaning yet ends the process. */
void pl_signals_ignore(void);
/* From now on they are calls on the first shard's loop. */
enum pl_status pl_signals_hear(struct pl_server_own *own, struct pl_loop *first);

#endif

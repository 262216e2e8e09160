/* The signals that the server handles: a table in signals.c. */
#ifndef PL_SERVER_SIGNALS_H
#define PL_SERVER_SIGNALS_H

#include "server/server_int.h"

/* Call first: until signals are handled, none of these ends the process. */
void pl_signals_ignore(void);
/* From now on signals become calls on the first shard's loop. */
enum pl_status pl_signals_hear(struct pl_server_own *own, struct pl_loop *first);

#endif

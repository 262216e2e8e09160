/* Reads the settings again (reload.c). All of it on the first shard. */
#ifndef PL_SERVER_RELOAD_H
#define PL_SERVER_RELOAD_H

#include "server/server_int.h"
#include "shard/reloading.h"

/* For SIGHUP; ctx is the struct pl_server_own. */
void pl_reload_on_signal(void *ctx, int number);
/* For `parley reload`. */
extern const struct pl_reload_ops pl_reload_ops;
/* Call when the loops have stopped: refuses all waiting requests. */
void pl_reload_refuse_all(struct pl_server_own *own);
/* Destroys settings that are no longer used, unless a reload is running. */
void pl_reload_tidy(struct pl_server_own *own);
/* Call at the end, after the loops are destroyed: frees all settings. */
void pl_reload_forget(struct pl_server_own *own);

#endif

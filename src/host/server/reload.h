/* The settings are read again (reload.c). On the first shard, all of it. */
#ifndef PL_SERVER_RELOAD_H
#define PL_SERVER_RELOAD_H

#include "server/server_int.h"
#include "shard/reloading.h"

/* For SIGHUP; ctx is the struct pl_server_own. */
void pl_reload_on_signal(void *ctx, int number);
/* For `parley reload`. */
extern const struct pl_reload_ops pl_reload_ops;
/* When the loops have stopped: whoever still waits is told that nothing comes. */
void pl_reload_refuse_all(struct pl_server_own *own);
/* Destroys settings that nobody holds any more, unless something is on its way already. */
void pl_reload_tidy(struct pl_server_own *own);
/* At the end, after the loops are destroyed: all settings. */
void pl_reload_forget(struct pl_server_own *own);

#endif

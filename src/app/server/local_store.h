/* Access to the store while no server runs, for commands that work without one. */
#ifndef PL_APP_LOCAL_STORE_H
#define PL_APP_LOCAL_STORE_H

#include "app/frame/api.h"
#include "store/store.h"

/* "sqlite:DATA/parley.db", or the URL in the configuration; NULL if out of memory. */
const char *pl_local_store_url(struct pl_api *api);
/* The file of such a URL; NULL if the store is not a file. */
const char *pl_local_store_path(const char *url);

/* Creates the data directory as the server does, if it does not exist. `path` is a file in it. */
enum pl_status pl_local_store_make_dir(struct pl_api *api, const char *path, struct pl_error *err);

/* Opens the store as the server would. `makes_it`: creates it if necessary; otherwise a missing
 * store is PL_UNREADABLE. */
enum pl_status pl_local_store_open(struct pl_api *api, bool makes_it, struct pl_store **ret_store,
                                   struct pl_error *err);

/* Whether a command must work without a server: the control socket does not answer. Prints the
 * error if that is unknown. */
enum pl_exit pl_local_store_is_free(struct pl_api *api, bool *ret_is_free);

#endif

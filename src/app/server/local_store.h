/* The store of a server that is not running, for the commands that also work then. */
#ifndef PL_APP_LOCAL_STORE_H
#define PL_APP_LOCAL_STORE_H

#include "app/frame/api.h"
#include "store/store.h"

/* "sqlite:DATA/parley.db", or what the configuration names; NULL when out of memory. */
const char *pl_local_store_url(struct pl_api *api);
/* The file of such a URL; NULL when the store is no file. */
const char *pl_local_store_path(const char *url);

/* The data directory, as the server makes it, when `path` is in it and it is not there yet. */
enum pl_status pl_local_store_make_dir(struct pl_api *api, const char *path, struct pl_error *err);

/* Opens it as the server would. `makes_it`: creates it if necessary; otherwise a missing store is
 * PL_UNREADABLE. */
enum pl_status pl_local_store_open(struct pl_api *api, bool makes_it, struct pl_store **ret_store,
                                   struct pl_error *err);

/* Whether a command has to work without a server: the control socket does not answer. Explained if
 * it cannot be found out. */
enum pl_exit pl_local_store_is_free(struct pl_api *api, bool *ret_is_free);

#endif

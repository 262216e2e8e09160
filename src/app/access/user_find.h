/* Finds a user by id or name on a running server. */
#ifndef PL_APP_USER_FIND_H
#define PL_APP_USER_FIND_H

#include "app/frame/api.h"

/* *ret_id belongs to the api. Prints the error unless it returns PL_EXIT_OK: no user has this name,
 * or several have. */
enum pl_exit pl_user_find(struct pl_api *api, const char *who, const char **ret_id);
/* Checks that no user has this name yet; prints the error otherwise. */
enum pl_exit pl_user_expect_none(struct pl_api *api, const char *name);

#endif

/* A user by id or name, as a running server knows it. */
#ifndef PL_APP_USER_FIND_H
#define PL_APP_USER_FIND_H

#include "app/frame/api.h"

/* The id, memory of the api. Anything but PL_EXIT_OK has been explained: there is none, or there are
 * several of this name. */
enum pl_exit pl_user_find(struct pl_api *api, const char *who, const char **ret_id);
/* For a new user: there is nobody of this name, or that has been explained. */
enum pl_exit pl_user_expect_none(struct pl_api *api, const char *name);

#endif

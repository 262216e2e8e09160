/* Exports all data of a user to files, before the user is removed. */
#ifndef PL_APP_USER_EXPORT_H
#define PL_APP_USER_EXPORT_H

#include "app/frame/verbs.h"

/* Writes the data to the directory, which must not exist. Reads it with a temporary key of the
 * user, which is revoked afterwards. Prints the error unless it returns PL_EXIT_OK. */
enum pl_exit pl_user_export(struct pl_deed *deed, const char *user_id, const char *dir);

#endif

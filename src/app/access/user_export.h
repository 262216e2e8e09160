/* Everything of a user as files, before the user is removed. */
#ifndef PL_APP_USER_EXPORT_H
#define PL_APP_USER_EXPORT_H

#include "app/frame/verbs.h"

/* Writes it to the directory, which must not be there yet. It is read with a key of the user that
 * is made for it and revoked afterwards. Anything but PL_EXIT_OK has been explained. */
enum pl_exit pl_user_export(struct pl_deed *deed, const char *user_id, const char *dir);

#endif

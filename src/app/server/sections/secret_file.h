/* A secret in a file that only its owner may read, or a group if root owns it: keys of providers,
 * the secret of an OpenID client. */
#ifndef PL_APP_SECRET_FILE_H
#define PL_APP_SECRET_FILE_H

#include "base/arena.h"
#include "base/status.h"

/* Reads the secret to the arena, without the white space around it. `what` names it in messages:
 * "key". PL_INVALID if others may read the file, or it is empty; PL_UNREADABLE, PL_NOMEM. */
enum pl_status pl_secret_file_read(struct pl_arena *arena, const char *path, const char *what,
                                   const char **ret_secret, struct pl_error *err);

#endif

/* Which processes use a shared thing, by locks on a file (F_OFD_SETLK). A process that dies, in
 * whatever way, is no longer a user.
 *
 * Users hold a shared lock. A process that wants to end the thing takes this lock exclusively:
 * until it is released, newcomers wait, and then find the thing gone. A second lock lets one
 * newcomer at a time check whether the thing exists, and start it. */
#ifndef PL_IO_USERS_H
#define PL_IO_USERS_H

#include "base/status.h"

struct pl_users {
    int fd; /* -1: not a user */
};

/* Becomes a user, and the only newcomer that may check and start; creates the file if needed.
 * Blocks. PL_IO. */
enum pl_status pl_users_join(struct pl_users *users, const char *path, struct pl_error *err);
/* Lets the next newcomer check. Does nothing if we are not a user. */
void pl_users_begun(struct pl_users *users);
/* Whether we are the only user; if so, nobody can join before pl_users_leave. Does not block. */
bool pl_users_are_gone(struct pl_users *users);
/* Does nothing if we are not a user. */
void pl_users_leave(struct pl_users *users);

/* Waits until there are no users; newcomers then wait until this process ends. PL_IO. */
enum pl_status pl_users_wait_gone(const char *path, struct pl_error *err);

#endif

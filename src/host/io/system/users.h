/* Which processes use one thing, by locks on a file (F_OFD_SETLK). A process that dies in whatever
 * way no longer uses it.
 *
 * Users share a lock. Who ends the thing needs that lock alone: until it is given back, newcomers
 * wait, and then find that the thing is gone. A second lock lets one newcomer at a time look whether
 * the thing is there, and begin it. */
#ifndef PL_IO_USERS_H
#define PL_IO_USERS_H

#include "base/status.h"

struct pl_users {
    int fd; /* -1: not a user */
};

/* Becomes a user, and the one who may look and begin; the file is made if need be. Waits. PL_IO. */
enum pl_status pl_users_join(struct pl_users *users, const char *path, struct pl_error *err);
/* Lets the next newcomer look. Nothing for one that is not a user. */
void pl_users_begun(struct pl_users *users);
/* Whether there is no other user; then there will be none before pl_users_leave. Does not wait. */
bool pl_users_are_gone(struct pl_users *users);
/* Nothing for one that is not a user. */
void pl_users_leave(struct pl_users *users);

/* Waits until there is no user; newcomers then wait until this process ends. PL_IO. */
enum pl_status pl_users_wait_gone(const char *path, struct pl_error *err);

#endif

/* A server that a command starts if it needs one and none runs. Commands that run at the same time
 * share it, and it ends with the last of them. */
#ifndef PL_APP_EMBEDDED_H
#define PL_APP_EMBEDDED_H

#include "app/frame/api.h"
#include "io/system/companion.h"
#include "io/system/users.h"

/* File in the data directory that records the users of the server. */
#define PL_EMBEDDED_USERS "parley.users"

struct pl_embedded {
    struct pl_users users;
    struct pl_companion server; /* started by this command */
};

#define PL_EMBEDDED_NONE                                                                           \
    {                                                                                              \
        .users.fd = -1, .server = PL_COMPANION_NONE                                                \
    }

/* Starts a server on the data directory of an open API, unless one runs or --server names another.
 * It runs no schedules: they would be cut off when it ends. Prints the error unless it returns
 * PL_EXIT_OK. The caller closes *embedded in either case. */
enum pl_exit pl_embedded_open(struct pl_embedded *embedded, struct pl_api *api);
/* Ends the server that this command started. If other commands use it, it ends with the last of
 * them. */
void pl_embedded_close(struct pl_embedded *embedded);

#endif

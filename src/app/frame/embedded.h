/* A server of the commands' own, for a command that needs one and finds none: one command is enough.
 * Commands that run at the same time share it, and it ends with the last of them. */
#ifndef PL_APP_EMBEDDED_H
#define PL_APP_EMBEDDED_H

#include "app/frame/api.h"
#include "io/system/companion.h"
#include "io/system/users.h"

/* In the data directory: who uses the server there. */
#define PL_EMBEDDED_USERS "parley.users"

struct pl_embedded {
    struct pl_users users;
    struct pl_companion server; /* that this command started */
};

#define PL_EMBEDDED_NONE                                                                           \
    {                                                                                              \
        .users.fd = -1, .server = PL_COMPANION_NONE                                                \
    }

/* Starts a server on the data of an open API, unless one runs or another server was named. It runs
 * no schedules, which would be broken off with it. Anything but PL_EXIT_OK has been explained.
 * *embedded is to be closed either way. */
enum pl_exit pl_embedded_open(struct pl_embedded *embedded, struct pl_api *api);
/* Ends the server that this command started, unless others use it: then it ends with the last. */
void pl_embedded_close(struct pl_embedded *embedded);

#endif

/* Access checks for the admission of a request; server/ supplies them (access/guard.c). */
#ifndef PL_HTTP_GUARD_H
#define PL_HTTP_GUARD_H

#include "http/exchange.h"

struct pl_guard {
    /* Checks Host, and the authority of an absolute target. Both return false after a problem. */
    bool (*check_host)(struct pl_exchange *x);
    /* Checks Origin, for a request that changes something or opens a socket. */
    bool (*check_origin)(struct pl_exchange *x);
    /* Whether this origin gets the CORS headers. */
    bool (*is_cors)(const struct pl_exchange *x, struct pl_str origin);
    /* Sets x->caller: the owner of the key, or without a key the user of the control socket.
     * PL_NOT_FOUND: the key is not valid; *ret_why, if set, says why. PL_NOMEM. */
    enum pl_status (*identify)(struct pl_exchange *x, struct pl_str key, const char **ret_why);
    /* Whether another node may have just created this unknown key: then ask the store. */
    bool (*may_find)(struct pl_exchange *x, struct pl_str key);
    /* Asks the store, on a worker; then identify is called again. */
    void (*find)(struct pl_exchange *x);
};

#endif

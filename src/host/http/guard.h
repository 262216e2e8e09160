/* Who may ask at all: what the admission of a request calls, and server/ hands over
 * (access/guard.c). */
#ifndef PL_HTTP_GUARD_H
#define PL_HTTP_GUARD_H

#include "http/exchange.h"

struct pl_guard {
    /* Host, and the authority of an absolute target. False after making a problem, both. */
    bool (*check_host)(struct pl_exchange *x);
    /* Origin of a request that changes something or opens a socket. */
    bool (*check_origin)(struct pl_exchange *x);
    /* Whether this origin gets the CORS headers. */
    bool (*is_cors)(const struct pl_exchange *x, struct pl_str origin);
    /* Sets x->caller: the owner of the key, or without a key the user of the control socket.
     * PL_NOT_FOUND: it opens nothing, and *ret_why, where it is set, says why; PL_NOMEM. */
    enum pl_status (*identify)(struct pl_exchange *x, struct pl_str key, const char **ret_why);
    /* Of what opens nothing: whether another node may have made it a moment ago, so that a look into the
     * store is worth while. */
    bool (*may_find)(struct pl_exchange *x, struct pl_str key);
    /* The look, on a worker; then it is identified again. */
    void (*find)(struct pl_exchange *x);
};

#endif

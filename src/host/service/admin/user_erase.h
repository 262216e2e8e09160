/* Erases a user and everything that is the user's. */
#ifndef PL_SERVICE_ADMIN_USER_ERASE_H
#define PL_SERVICE_ADMIN_USER_ERASE_H

#include "http/exchange.h"

/* On the shard; finishes the exchange with 204, or with a problem. Then the user is disabled, and
 * doing it again goes on where this has ended. The id is memory of the exchange. */
void pl_user_erase(struct pl_exchange *x, struct pl_str user_id);

#endif

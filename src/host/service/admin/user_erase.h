/* Erases a user and all data of the user. */
#ifndef PL_SERVICE_ADMIN_USER_ERASE_H
#define PL_SERVICE_ADMIN_USER_ERASE_H

#include "http/exchange.h"

/* On the shard. Finishes the exchange with 204 or a problem. After a problem the user is
 * disabled, and a second request continues the work. The id is memory of the exchange. */
void pl_user_erase(struct pl_exchange *x, struct pl_str user_id);

#endif

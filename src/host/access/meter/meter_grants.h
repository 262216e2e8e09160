/* Limits per minute that several nodes share: each node takes a part of the limit from the store
 * and uses it up in memory. Grants never exceed the limit. All nodes together hold at most a tenth
 * of it unused (core/cluster/sharing.h). The database's clock defines the minutes. */
#ifndef PL_ACCESS_METER_METER_GRANTS_H
#define PL_ACCESS_METER_METER_GRANTS_H

#include "store/node/shared.h"

/* A node's grant of one limit. Zeroed: nothing. */
struct pl_grant {
    int64_t left;       /* below 0: an answer was longer than the grant; the debt is paid first */
    int64_t until_ms;   /* unix, by this machine's clock */
    int64_t n_promised; /* fetched for calls that have not begun yet */
};

/* How much of it can be used now. After its minute only debts remain. */
int64_t pl_grant_left(struct pl_grant *grant, int64_t now_ms);
/* How much is missing for n more; 0: nothing. Promises n from now on. */
int64_t pl_grant_want(struct pl_grant *grant, int64_t n, int64_t now_ms);
void pl_grant_add(struct pl_grant *grant, int64_t given, int64_t until_ms);
/* A call begins or is refused: the amount promised to it is used or released. */
void pl_grant_use(struct pl_grant *grant, int64_t n_promised, int64_t n_used);
/* Seconds until the next minute. */
int64_t pl_grant_wait_s(const struct pl_grant *grant, int64_t now_ms);

#endif

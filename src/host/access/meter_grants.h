/* Limits by the minute that several nodes share: each takes a part of the minute from the store, and uses
 * it up in memory. Grants never exceed the limit. All nodes together hold at most a tenth of it without
 * using it (core/cluster/sharing.h). The minutes are the database's. */
#ifndef PL_ACCESS_METER_GRANTS_H
#define PL_ACCESS_METER_GRANTS_H

#include "store/node/shared.h"

/* What a node has of one limit. Zeroed: nothing. */
struct pl_grant {
    int64_t left;     /* below 0: an answer was longer than what there was, and is paid off first */
    int64_t until_ms; /* unix, by this machine's clock */
    int64_t n_promised; /* fetched for calls that have not begun yet */
};

/* How much of it can be used now. When its minute is over, only debts are left. */
int64_t pl_grant_left(struct pl_grant *grant, int64_t now_ms);
/* How much is missing for so many more; 0: nothing. It is promised from now on. */
int64_t pl_grant_want(struct pl_grant *grant, int64_t n, int64_t now_ms);
void pl_grant_add(struct pl_grant *grant, int64_t given, int64_t until_ms);
/* A call begins, or does not: what was promised to it is used, or free. */
void pl_grant_use(struct pl_grant *grant, int64_t n_promised, int64_t n_used);
/* Seconds until the next minute. */
int64_t pl_grant_wait_s(const struct pl_grant *grant, int64_t now_ms);

#endif

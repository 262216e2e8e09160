/* Amounts of one resource, with a limit for each owner and one for all of them: bytes of bodies by
 * user, connections by address. Thread-safe. An owner that has nothing costs nothing. */
#ifndef PL_HTTP_LIMITS_QUOTA_H
#define PL_HTTP_LIMITS_QUOTA_H

#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

struct pl_quota;
struct pl_share;

/* The share of one taker. Zeroed: nothing. */
struct pl_hold {
    struct pl_share *share; /* borrowed from the quota; NULL: nothing is held */
    int64_t n;
};

/* The most that one owner, and all owners together, may have. */
struct pl_quota_limits {
    int64_t own, all;
};

struct pl_quota *pl_quota_create(void); /* NULL when out of memory */
/* Drops shares that were not given back. Accepts NULL. */
void pl_quota_destroy(struct pl_quota *quota);

enum pl_taking { PL_TAKING_DONE, PL_TAKING_OVER_OWN, PL_TAKING_OVER_ALL, PL_TAKING_NO_MEMORY };
/* Takes n more for this owner; a hold has one owner until it is empty. Nothing is taken unless the
 * result is PL_TAKING_DONE. */
enum pl_taking pl_quota_take(struct pl_quota *quota, struct pl_hold *hold, struct pl_str owner,
                             int64_t n, struct pl_quota_limits limits);
/* Whether n more could be taken now. */
enum pl_taking pl_quota_ask(struct pl_quota *quota, struct pl_str owner, int64_t n,
                            struct pl_quota_limits limits);
/* Gives n back, hold->n at most. */
void pl_quota_give(struct pl_quota *quota, struct pl_hold *hold, int64_t n);

#endif

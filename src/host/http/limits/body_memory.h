/* Limits the memory of request bodies while they are gathered and answered: one budget for all
 * (--body-memory), a quarter of it for each user or, without a key, for each address. The last
 * eighth is for small bodies only, so that they pass when large ones have filled the rest. A body
 * counts by its received bytes, not by its announced length.
 *
 * Memory that a request derives from its body and keeps between two steps (the parsed tree, an
 * answer that is being sent) counts too. Including it, one user may have half of the budget, and
 * all users together twice as much as for bodies alone. */
#ifndef PL_HTTP_LIMITS_BODY_MEMORY_H
#define PL_HTTP_LIMITS_BODY_MEMORY_H

#include "http/limits/quota.h"
#include "shard/shard.h"

#define PL_BODY_SMALL_BYTES (64 << 10)

/* The longest body that can be gathered at all: the share of one owner. */
size_t pl_body_memory_most(const struct pl_shard *shard);

/* The owner of these bytes; `conn` is used only without a user. */
struct pl_body_owner {
    char text[80];
    size_t n;
};
struct pl_body_owner pl_body_owner(struct pl_str user_id, const struct pl_conn *conn);

/* Takes n more bytes for a body that then has n_body in all. */
enum pl_taking pl_body_memory_take(struct pl_shard *shard, struct pl_hold *hold,
                                   const struct pl_body_owner *owner, size_t n, size_t n_body);
/* Whether a body of this length could be gathered now. */
enum pl_taking pl_body_memory_ask(struct pl_shard *shard, const struct pl_body_owner *owner,
                                  size_t n_body);
/* Counts n more bytes that a request of this owner keeps, which then has n_request in all. Never
 * refused: a request while there is no other, and one that must go on. */
enum pl_taking pl_body_memory_keep(struct pl_shard *shard, struct pl_hold *hold,
                                   const struct pl_body_owner *owner, size_t n, size_t n_request,
                                   bool must_go_on);
void pl_body_memory_give(struct pl_shard *shard, struct pl_hold *hold, size_t n);

#endif

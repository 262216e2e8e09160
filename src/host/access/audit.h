/* The audit log: who did what to access, keys, limits, shares, exports and restores.
 *
 * A row is added to the batch of what it tells, so both are durable or neither is. A worker seals
 * rows soon after, in their order: the hash of a row covers its content and the hash before it, and
 * the last hash is also a setting. So a row that was changed, removed or put in breaks the chain. */
#ifndef PL_ACCESS_AUDIT_H
#define PL_ACCESS_AUDIT_H

#include "http/exchange.h"
#include "store/audit.h"

struct pl_audit; /* owned */

/* Seals what an earlier process left; begins to seal, on the first shard. */
enum pl_status pl_audit_create(struct pl_server *server, struct pl_audit **ret_audit,
                               struct pl_error *err);
void pl_audit_start(struct pl_audit *audit);
/* After the loops have ended; seals the rest. Accepts NULL. */
void pl_audit_stop(struct pl_audit *audit);
/* A row was put into a batch without pl_audit_add: it is to be sealed. Any thread; accepts NULL. */
void pl_audit_expect(struct pl_audit *audit);
void pl_audit_destroy(struct pl_audit *audit); /* accepts NULL */

/* The caller of the exchange did this; detail is JSON, or empty. */
void pl_audit_add(struct pl_exchange *x, struct pl_batch *batch, const char *action,
                  struct pl_str object, struct pl_str detail);
/* The same for what changes nothing, in a batch of its own. */
void pl_audit_tell(struct pl_exchange *x, const char *action, struct pl_str object);

/* Seals all rows that are not. On a worker, or before the shards run. */
enum pl_status pl_audit_seal(struct pl_store *store, struct pl_error *err);

struct pl_audit_check {
    int64_t n_rows, n_unsealed;
    int64_t broken_at; /* the first row that is wrong; 0: none */
    const char *what;  /* what is wrong there */
};
/* Follows the chain from its first row. Blocks. */
enum pl_status pl_audit_verify(struct pl_store *store, struct pl_audit_check *ret_check,
                               struct pl_error *err);

#endif

/* The audit log: records of who changed access, keys, limits, shares, exports and restores.
 *
 * A row is in the same batch as the change it records, so both are durable or neither is. A worker
 * seals rows soon after, in order: the hash of a row covers its content and the previous hash, and
 * the last hash is also stored as a setting. So changing, removing or inserting a row breaks the
 * chain. */
#ifndef PL_ACCESS_AUDIT_H
#define PL_ACCESS_AUDIT_H

#include "http/exchange.h"
#include "store/audit.h"

struct pl_audit; /* owned */

/* Seals rows that an earlier process left, then starts sealing on the first shard. */
enum pl_status pl_audit_create(struct pl_server *server, struct pl_audit **ret_audit,
                               struct pl_error *err);
void pl_audit_start(struct pl_audit *audit);
/* Call after the loops have ended: seals the rest. Accepts NULL. */
void pl_audit_stop(struct pl_audit *audit);
/* A batch got a row without pl_audit_add: it must be sealed. Any thread; accepts NULL. */
void pl_audit_expect(struct pl_audit *audit);
void pl_audit_destroy(struct pl_audit *audit); /* accepts NULL */

/* Records that the caller of the exchange did this; detail is JSON, or empty. On the shard or on a
 * worker that has the exchange. */
void pl_audit_add(struct pl_exchange *x, struct pl_batch *batch, const char *action,
                  struct pl_str object, struct pl_str detail);
/* The same for an action that changes nothing, in its own batch. */
void pl_audit_tell(struct pl_exchange *x, const char *action, struct pl_str object);

/* Seals all unsealed rows. On a worker, or before the shards run. */
enum pl_status pl_audit_seal(struct pl_store *store, struct pl_error *err);

struct pl_audit_check {
    int64_t n_rows, n_unsealed;
    int64_t broken_at; /* the first wrong row; 0: none */
    const char *what;  /* the error in that row */
};
/* Verifies the chain from its first row. Blocks. */
enum pl_status pl_audit_verify(struct pl_store *store, struct pl_audit_check *ret_check,
                               struct pl_error *err);

#endif

/* Data that nodes share besides sessions: the versions of users and keys and of extensions, tickets
 * for sockets, the code of the first start, and grants of per-minute limits.
 *
 * Only a store that several processes use stores tickets, codes and grants; elsewhere memory is
 * faster and sufficient, and those functions return PL_INVALID. Times are the database's. All calls
 * block and are for workers. */
#ifndef PL_STORE_SHARED_H
#define PL_STORE_SHARED_H

#include "store/store.h"

/* Whether several processes may use the store at the same time. */
bool pl_store_is_shared(const struct pl_store *store);

/* --- versions --------------------------------------------------------------------------------- */

/* Grows in every transaction that changes users, keys, sign-ins or limits (batch.c). A caller that
 * reads it before the rows has at least the state of that version. */
enum pl_status pl_store_auth_version(struct pl_store *store, int64_t *ret_version,
                                     struct pl_error *err);
/* The same for extensions: grows in every transaction that adds, changes, restarts, quarantines or
 * removes one. */
enum pl_status pl_store_ext_version(struct pl_store *store, int64_t *ret_version,
                                    struct pl_error *err);

/* --- tickets ---------------------------------------------------------------------------------- */

struct pl_ticket_row {
    uint8_t hash[32];
    struct pl_str user_id;
    struct pl_str key_id; /* empty: none */
};
/* Valid for lasts_ms. Only the newest n_most tickets of the user are kept. */
enum pl_status pl_store_ticket_put(struct pl_store *store, const struct pl_ticket_row *ticket,
                                   int64_t lasts_ms, size_t n_most, struct pl_error *err);
/* PL_NOT_FOUND: no such ticket, expired, or already taken. */
enum pl_status pl_store_ticket_take(struct pl_store *store, struct pl_arena *arena,
                                    const uint8_t hash[32], struct pl_ticket_row *ret_ticket,
                                    struct pl_error *err);
/* Removes expired tickets and grants of past minutes. */
void pl_batch_sweep_shared(struct pl_batch *batch);

/* --- the code of the first start ------------------------------------------------------------- */

/* All nodes share one code: the existing one stays, or this one is stored. It is valid for lasts_ms
 * from now on. */
enum pl_status pl_store_login_code_put(struct pl_store *store, struct pl_str code, int64_t lasts_ms,
                                       struct pl_error *err);
/* PL_NOT_FOUND: none, or expired. */
enum pl_status pl_store_login_code_get(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_str *ret_code, int64_t *ret_lasts_ms,
                                       struct pl_error *err);
/* Succeeds once. PL_NOT_FOUND: a different code, or already taken. */
enum pl_status pl_store_login_code_take(struct pl_store *store, struct pl_str code,
                                        struct pl_error *err);
/* Call this when an administrator has a key. */
void pl_batch_end_login_code(struct pl_batch *batch);

/* --- grants ---------------------------------------------------------------------------------- */

/* Connection for grants: a grant is a part of a limit, for the current minute. */
struct pl_grant_line; /* a connection of its own: a grant must not wait for an fsync */
enum pl_status pl_grant_line_open(struct pl_store *store, struct pl_grant_line **ret_line,
                                  struct pl_error *err);
void pl_grant_line_close(struct pl_grant_line *line); /* accepts NULL */

struct pl_grant_ask {
    struct pl_str id; /* of a key or a user */
    const char *kind; /* static: "rpm", "tpm" */
    int64_t limit;    /* per minute, for all nodes together */
    int64_t size;     /* core/cluster/sharing.h */
};
/* Returns the amount of the grant and how long it is valid; 0: the minute is used up. One thread at
 * a time. Reconnects if needed. */
enum pl_status pl_grant_line_take(struct pl_grant_line *line, const struct pl_grant_ask *ask,
                                  int64_t *ret_given, int64_t *ret_lasts_ms, struct pl_error *err);

/* --- what a node that is gone has left ------------------------------------------------------- */

struct pl_node_id;
/* Marks the node's task runs as failed, with this message, except those that wait for a person;
 * counts its calls of models as aborted. Does nothing if the node is not gone. Several nodes may
 * call this at the same time. */
enum pl_status pl_store_task_runs_fail_of(struct pl_store *store, const struct pl_node_id *gone,
                                          struct pl_str error, int64_t now_ms,
                                          struct pl_error *err);

#endif

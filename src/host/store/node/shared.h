/* What nodes share besides sessions: the versions of users and keys and of extensions, tickets for sockets, the code of the
 * first start, grants of limits by the minute.
 *
 * Only a store that several processes use has tickets, codes and grants in rows: elsewhere memory is
 * faster, and enough. Those functions answer PL_INVALID there. Times are the database's. All calls
 * block, and are for workers. */
#ifndef PL_STORE_SHARED_H
#define PL_STORE_SHARED_H

#include "store/store.h"

/* Whether several processes may use it at the same time. */
bool pl_store_is_shared(const struct pl_store *store);

/* --- versions --------------------------------------------------------------------------------- */

/* Grows in every transaction that changes users, keys, sign-ins or limits (batch.c). Who reads it first
 * and the rows after it has all that it stands for. */
enum pl_status pl_store_auth_version(struct pl_store *store, int64_t *ret_version,
                                     struct pl_error *err);
/* The same of extensions: every transaction that adds, changes, restarts, quarantines or removes one. */
enum pl_status pl_store_ext_version(struct pl_store *store, int64_t *ret_version,
                                    struct pl_error *err);

/* --- tickets ---------------------------------------------------------------------------------- */

struct pl_ticket_row {
    uint8_t hash[32];
    struct pl_str user_id;
    struct pl_str key_id; /* empty: none */
};
/* It lasts for so long. The user keeps the newest n_most. */
enum pl_status pl_store_ticket_put(struct pl_store *store, const struct pl_ticket_row *ticket,
                                   int64_t lasts_ms, size_t n_most, struct pl_error *err);
/* PL_NOT_FOUND: there is none, it has ended, or somebody else has it. */
enum pl_status pl_store_ticket_take(struct pl_store *store, struct pl_arena *arena,
                                    const uint8_t hash[32], struct pl_ticket_row *ret_ticket,
                                    struct pl_error *err);
/* Removes what has ended: tickets, and grants of minutes that are over. */
void pl_batch_sweep_shared(struct pl_batch *batch);

/* --- the code of the first start --------------------------------------------------------------- */

/* The code of all nodes: the one that is there, or this one. It lasts for so long from now on. */
enum pl_status pl_store_login_code_put(struct pl_store *store, struct pl_str code, int64_t lasts_ms,
                                       struct pl_error *err);
/* PL_NOT_FOUND: there is none, or its time is over. */
enum pl_status pl_store_login_code_get(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_str *ret_code, int64_t *ret_lasts_ms,
                                       struct pl_error *err);
/* Once. PL_NOT_FOUND: it is another one, or somebody else has it. */
enum pl_status pl_store_login_code_take(struct pl_store *store, struct pl_str code,
                                        struct pl_error *err);
/* An administrator has a key. */
void pl_batch_end_login_code(struct pl_batch *batch);

/* --- grants ------------------------------------------------------------------------------------ */

/* Part of a limit, for the present minute. */
struct pl_grant_line; /* a connection of its own: a grant waits for no fsync */
enum pl_status pl_grant_line_open(struct pl_store *store, struct pl_grant_line **ret_line,
                                  struct pl_error *err);
void pl_grant_line_close(struct pl_grant_line *line); /* accepts NULL */

struct pl_grant_ask {
    struct pl_str id; /* of a key or a user */
    const char *kind; /* static: "rpm", "tpm" */
    int64_t limit;    /* a minute, of all nodes */
    int64_t size;     /* core/cluster/sharing.h */
};
/* Returns the amount of the grant and how long it is valid; 0: the minute is used up. One thread at a
 * time. Connects again if necessary. */
enum pl_status pl_grant_line_take(struct pl_grant_line *line, const struct pl_grant_ask *ask,
                                  int64_t *ret_given, int64_t *ret_lasts_ms, struct pl_error *err);

/* --- what a node that is gone has left ---------------------------------------------------------- */

struct pl_node_id;
/* Its runs of tasks have failed, with this sentence, but for those that wait for a person; its calls of
 * models count as broken off. Of a node that is not gone nothing is touched. Several may do it at the
 * same time. */
enum pl_status pl_store_task_runs_fail_of(struct pl_store *store, const struct pl_node_id *gone,
                                          struct pl_str error, int64_t now_ms,
                                          struct pl_error *err);

#endif

/* New sessions from existing turns: forks, imports, accepted handoffs. Nobody knows the new session
 * yet, so its rows go directly to the store, in one transaction. Blocks: on a worker. */
#ifndef PL_AGENT_SESSION_COPY_H
#define PL_AGENT_SESSION_COPY_H

#include "base/text/uuid.h"
#include "http/exchange.h"
#include "store/store.h"

/* Visits all turns, page by page, from the oldest on. */
struct pl_turn_walk {
    struct pl_turn_query query; /* its limit is the page size */
    enum pl_status (*each)(struct pl_turn_walk *walk, const struct pl_turn_row *row);
    void *ctx;
    bool is_over; /* set by `each` when it has seen enough */
};
/* Stops with the failure of `each`, if it fails. */
enum pl_status pl_turn_walk(struct pl_turn_walk *walk, struct pl_store *store,
                            struct pl_error *err);

/* A session that is being built. */
struct pl_session_copy {
    struct pl_session_record record; /* next_entry counts the turns */
    struct pl_id id;
    struct pl_id_seed seed;
    struct pl_batch *batch; /* owned */
    int64_t context_window; /* of the model, for answers in a document that have none; 0: unknown */
    struct pl_str title;    /* from the user's first message in a document; arena, or empty */
};

/* Makes a new id, for the caller of the exchange; status completed. The caller fills in the strings
 * of `record`. PL_NOMEM otherwise. */
enum pl_status pl_session_copy_begin(struct pl_session_copy *copying, struct pl_exchange *x);
/* Appends the turn to the new session, with new ids. */
void pl_session_copy_add(struct pl_session_copy *copying, const struct pl_turn_row *turn);
/* Appends all turns of a TurnProjection array; fails like pl_turn_row_read, and if two calls of a
 * turn have the same id. */
enum pl_status pl_session_copy_add_document(struct pl_session_copy *copying, struct pl_arena *arena,
                                            struct pl_str turns, struct pl_error *err);
/* The batch with all of it, for callers that commit it themselves. */
struct pl_batch *pl_session_copy_take(struct pl_session_copy *copying);

#endif

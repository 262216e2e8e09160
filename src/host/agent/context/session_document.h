/* A session as a document, for exports and handoff packets. Blocks: on a worker. */
#ifndef PL_AGENT_CONTEXT_SESSION_DOCUMENT_H
#define PL_AGENT_CONTEXT_SESSION_DOCUMENT_H

#include "store/store.h"

struct pl_document_opts {
    struct pl_str session_id;
    struct pl_str loop_id; /* empty: all of them */
};

/* Appends the turns, a JSON array: finished ones, and those that wait for a person, but not a turn
 * in progress. ret_n (may be NULL): their number. */
enum pl_status pl_session_turns_write(struct pl_store *store, const struct pl_document_opts *opts,
                                      struct pl_buf *to, size_t *ret_n, struct pl_error *err);

/* Appends {"turns":[…],"settings":{…}}, including the session's system prompt and settings. `model`
 * is its name in the document; empty: none. */
enum pl_status pl_session_document_write(struct pl_store *store,
                                         const struct pl_session_record *record,
                                         const struct pl_document_opts *opts, struct pl_str model,
                                         struct pl_buf *to, size_t *ret_n, struct pl_error *err);

#endif

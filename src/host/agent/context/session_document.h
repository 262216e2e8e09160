/* A session as a document: what an export converts, and what a handoff packet is made of. Blocking: on
 * a worker. */
#ifndef PL_AGENT_CONTEXT_SESSION_DOCUMENT_H
#define PL_AGENT_CONTEXT_SESSION_DOCUMENT_H

#include "store/store.h"

struct pl_document_opts {
    struct pl_str session_id;
    struct pl_str loop_id; /* empty: all of them */
};

/* Appends the turns, a JSON array: those that are finished, and those that wait for a person. One that
 * is being written is not there. ret_n (may be NULL): how many they are. */
enum pl_status pl_session_turns_write(struct pl_store *store, const struct pl_document_opts *opts,
                                      struct pl_buf *to, size_t *ret_n, struct pl_error *err);

/* Appends {"turns":[…],"settings":{…}}: with what the session says to its model beside the turns.
 * `model` is its name in the document; empty: it has none. */
enum pl_status pl_session_document_write(struct pl_store *store,
                                         const struct pl_session_record *record,
                                         const struct pl_document_opts *opts, struct pl_str model,
                                         struct pl_buf *to, size_t *ret_n, struct pl_error *err);

#endif

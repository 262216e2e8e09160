/* A session as a document, and as the packet that hands it over to another agent (conv/handoff.h).
 * Blocking: on a worker. */
#ifndef PL_SERVER_HANDING_H
#define PL_SERVER_HANDING_H

#include "conv/handoff.h"
#include "store/store.h"

/* Appends all finished turns, a JSON array. */
enum pl_status pl_turns_write_all(struct pl_store *store, struct pl_str session_id,
                                  struct pl_buf *to, struct pl_error *err);

/* Appends the packet. Source, timestamp and id of `wish` are set here. PL_INVALID: there is nothing
 * to hand over, err says what is missing. */
enum pl_status pl_handoff_write(struct pl_store *store, struct pl_str session_id,
                                struct pl_handoff_opts wish, struct pl_buf *to,
                                struct pl_error *err);

#endif

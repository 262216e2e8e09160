/* A session as the packet that hands it over to another agent (handoff/handoff.h). If the session
 * accepted a packet, that is the previous hop. Blocks: on a worker. */
#ifndef PL_AGENT_CONTEXT_HANDOFF_H
#define PL_AGENT_CONTEXT_HANDOFF_H

#include "handoff/handoff.h"
#include "store/store.h"

struct pl_handoff_of {
    struct pl_str user_id, session_id;
};

/* Appends the packet. Sets timestamp and id of `options`, and if it is empty the source: the
 * receiver of the previous packet, or "parley". PL_INVALID: there is nothing to hand over, or the
 * task may not go there; err says which. */
enum pl_status pl_handoff_write(struct pl_store *store, const struct pl_handoff_of *of,
                                struct pl_handoff_opts options, struct pl_buf *to,
                                struct pl_error *err);

#endif

/* A session as the packet that hands it over to another agent (handoff/handoff.h). The packet that the
 * session accepted, if it did, is the hop before. Blocking: on a worker. */
#ifndef PL_AGENT_CONTEXT_HANDOFF_H
#define PL_AGENT_CONTEXT_HANDOFF_H

#include "handoff/handoff.h"
#include "store/store.h"

struct pl_handoff_of {
    struct pl_str user_id, session_id;
};

/* Appends the packet. Timestamp and id of `options` are set here; the source, unless it is given, is
 * whom the packet before was for, or "parley". PL_INVALID: there is nothing to hand over, or the task
 * may not go there; err says what. */
enum pl_status pl_handoff_write(struct pl_store *store, const struct pl_handoff_of *of,
                                struct pl_handoff_opts options, struct pl_buf *to,
                                struct pl_error *err);

#endif

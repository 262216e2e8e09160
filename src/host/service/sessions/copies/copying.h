/* Shared by requests that create a session from existing turns (agent/session_copy.h). x->state
 * is the copy. */
#ifndef PL_SERVICE_SESSIONS_COPYING_H
#define PL_SERVICE_SESSIONS_COPYING_H

#include "agent/session_copy.h"
#include "http/exchange.h"

/* Creates x->state; NULL after making a problem. On a worker. */
struct pl_session_copy *pl_copying_begin(struct pl_exchange *x);
/* Abandons the copy with a problem. On a worker. */
void pl_copying_fail(struct pl_exchange *x, struct pl_session_copy *copying, enum pl_status status,
                     const struct pl_error *err);
/* Answers 201 with the session once it is stored, or with the problem. On the shard. */
void pl_copying_finish(struct pl_exchange *x);
/* The same with a loss report (may be empty) as the member "report". */
void pl_copying_finish_with(struct pl_exchange *x, struct pl_str report);

#endif

/* A route that sends a command to a session: the exchange waits for the reply, which becomes its
 * answer unless the route adds something. */
#ifndef PL_SERVICE_SESSIONS_SESSION_REQUEST_H
#define PL_SERVICE_SESSIONS_SESSION_REQUEST_H

#include "agent/driver.h"
#include "http/exchange.h"

/* `then` NULL: the reply is the answer's body, the version its ETag. The command belongs to the
 * exchange: fill it in, then call pl_session_command_send. NULL after making a problem of a lack
 * of memory and finishing. An Idempotency-Key of the request is claimed in the session's
 * transaction. */
struct pl_session_command *
pl_exchange_ask(struct pl_exchange *x, enum pl_command_kind kind, struct pl_str session_id,
                void (*then)(struct pl_exchange *x, struct pl_session_command *command));

/* PL_COMMAND_CREATE with a new id, answered with 201 and the Session: an empty session of the caller,
 * to be filled in before it is sent. `then` and NULL as above. */
struct pl_session_command *pl_exchange_ask_create(struct pl_exchange *x,
                                                  void (*then)(struct pl_exchange *x,
                                                               struct pl_session_command *command));

/* Reads the session that the route names, then calls `then`. Most routes start this way, because it
 * also checks the owner. */
void pl_exchange_look(struct pl_exchange *x,
                      void (*then)(struct pl_exchange *x, struct pl_session_command *command));

/* Finishes with the command's reply and position, and the status of the route's line; frees the
 * command. */
void pl_exchange_answer(struct pl_exchange *x, struct pl_session_command *command);
/* The same for one that was refused. */
void pl_exchange_answer_problem(struct pl_exchange *x, struct pl_session_command *command);

/* The exchange of a command made here. */
struct pl_exchange *pl_session_command_exchange(struct pl_session_command *command);

/* Claims the Idempotency-Key with what such a command writes, as pl_exchange_ask has done: again, once
 * the exchange has what is kept in place of the reply. */
void pl_session_command_add_claim(struct pl_session_command *command);
/* The `extend` of a CREATE: claims the Idempotency-Key. A route with an `extend` of its own
 * calls this too. */
void pl_session_command_claim(struct pl_session_command *command, struct pl_batch *batch);

/* X-Stream-Position, from the command. */
void pl_exchange_position(struct pl_exchange *x, const struct pl_session_command *command);

#endif

/* A route that sends a command to a session. The exchange waits for the reply, which becomes its
 * answer unless the route adds something. */
#ifndef PL_SERVICE_SESSIONS_SESSION_REQUEST_H
#define PL_SERVICE_SESSIONS_SESSION_REQUEST_H

#include "agent/driver.h"
#include "http/exchange.h"

/* `then` NULL: the reply is the answer's body, the version its ETag. The command belongs to the
 * exchange: fill it in, then call pl_session_command_send. Returns NULL after answering with a
 * problem if out of memory. An Idempotency-Key of the request is claimed in the session's
 * transaction. */
struct pl_session_command *
pl_exchange_ask(struct pl_exchange *x, enum pl_command_kind kind, struct pl_str session_id,
                void (*then)(struct pl_exchange *x, struct pl_session_command *command));

/* PL_COMMAND_CREATE with a new id, answered with 201 and the Session: an empty session of the
 * caller, to be filled in before it is sent. `then` and NULL as above. */
struct pl_session_command *pl_exchange_ask_create(struct pl_exchange *x,
                                                  void (*then)(struct pl_exchange *x,
                                                               struct pl_session_command *command));

/* Reads the session that the route names, then calls `then`. Most routes start this way, because
 * it also checks the owner. */
void pl_exchange_look(struct pl_exchange *x,
                      void (*then)(struct pl_exchange *x, struct pl_session_command *command));

/* Finishes with the command's reply and position, and the status of the route; frees the
 * command. */
void pl_exchange_answer(struct pl_exchange *x, struct pl_session_command *command);
/* The same for a refused command. */
void pl_exchange_answer_problem(struct pl_exchange *x, struct pl_session_command *command);

/* The exchange of a command created here. */
struct pl_exchange *pl_session_command_exchange(struct pl_session_command *command);

/* Claims the Idempotency-Key with the command's writes, as pl_exchange_ask did. Call it again
 * after setting the stored answer that replaces the reply. */
void pl_session_command_add_claim(struct pl_session_command *command);
/* The `extend` of a CREATE: claims the Idempotency-Key. A route with its own `extend` calls this
 * too. */
void pl_session_command_claim(struct pl_session_command *command, struct pl_batch *batch);

/* Adds X-Stream-Position, from the command. */
void pl_exchange_position(struct pl_exchange *x, const struct pl_session_command *command);

#endif

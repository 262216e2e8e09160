/* A route that asks a session: the exchange waits for the answer, which becomes its own unless the
 * route has something to add. */
#ifndef PL_SERVER_ASKING_H
#define PL_SERVER_ASKING_H

#include "server/driver.h"
#include "server/exchange.h"

/* `then` NULL: the answer's body is the reply, its ETag the version. The ask is the exchange's:
 * fill in what it needs, then pl_ask_send. NULL after making a problem of a lack of memory and
 * finishing. An Idempotency-Key of the request is claimed in the session's transaction. */
struct pl_ask *pl_exchange_ask(struct pl_exchange *x, enum pl_ask_kind kind,
                               struct pl_str session_id,
                               void (*then)(struct pl_exchange *x, struct pl_ask *ask));

/* PL_ASK_CREATE with a new id, answered with 201 and the Session: an empty session of the caller,
 * to be filled in before it is sent. NULL as above. */
struct pl_ask *pl_exchange_ask_create(struct pl_exchange *x);

/* Asks for a look at the session the route names, then `then`. Most routes begin so, because it
 * also says whose the session is. */
void pl_exchange_look(struct pl_exchange *x,
                      void (*then)(struct pl_exchange *x, struct pl_ask *ask));

/* Finishes with the ask's reply and position, and the status of the route's line; frees the ask. */
void pl_exchange_answer(struct pl_exchange *x, struct pl_ask *ask);
/* The same for one that was refused. */
void pl_exchange_answer_problem(struct pl_exchange *x, struct pl_ask *ask);

/* The exchange of an ask made here. */
struct pl_exchange *pl_ask_exchange(struct pl_ask *ask);

/* What `extend` of such an ask does: claims the Idempotency-Key. A route with an `extend` of its
 * own calls this too. */
void pl_ask_claim(struct pl_ask *ask, struct pl_batch *batch);

/* X-Stream-Position, as the ask found it. */
void pl_exchange_position(struct pl_exchange *x, const struct pl_ask *ask);

#endif

/* Rows that a command adds to the transaction of the session when its answer is known. They are
 * data, so that they can be sent to the server that drives the session. */
#ifndef PL_LIVE_COMMAND_WRITES_H
#define PL_LIVE_COMMAND_WRITES_H

#include "store/store.h"
#include "transaction/claim_row.h"

struct pl_session_command;

struct pl_command_writes {
    bool ends_shares;          /* revokes the links to the session */
    struct pl_share_row share; /* a new link; id empty: none */
    struct pl_claim_row claim; /* of an Idempotency-Key; key empty: none */
    /* The answer stored with the key; {NULL, 0}: the reply, with its position in a header. */
    struct pl_str kept;
};

/* Whether it has anything to add, including `extend` of a CREATE. */
bool pl_session_command_has_writes(const struct pl_session_command *command);
/* Adds the rows and sets command->claimed. On the session's shard. */
void pl_session_command_write(struct pl_session_command *command, struct pl_batch *batch);

#endif

/* Links that let anybody read a session. Only the first answer has the token: the store has a
 * hash, and the answer to a repeated request has no token. */
#ifndef PL_SERVICE_SESSIONS_SHARE_LINK_H
#define PL_SERVICE_SESSIONS_SHARE_LINK_H

#include "access/auth.h"
#include "base/text/uuid.h"
#include "json/write.h"
#include "service/sessions/session_request.h"

struct pl_share_link {
    char token[PL_TICKET_SIZE + 1];
    uint8_t hash[32];
    struct pl_id id;
    struct pl_str session_id; /* borrowed from the creator */
    int64_t created_ms;
};

/* A new link in the exchange's arena; NULL: no memory or no randomness. */
struct pl_share_link *pl_share_link_make(struct pl_exchange *x, struct pl_str session_id);
/* Its row; views of the link. */
struct pl_share_row pl_share_link_row(const struct pl_share_link *link, struct pl_str user_id);
/* Writes the ShareLink; `has_token`: with its secret. */
void pl_share_link_write(const struct pl_share_link *link, bool has_token, struct pl_json_out *out);

/* For a command that creates a session and shares it; the answer, the Session, gets a member
 * `share`. keep: stores the link and claims the Idempotency-Key, in the transaction. tell: adds
 * the member before the answer is sent. */
void pl_share_link_keep(const struct pl_share_link *link, struct pl_session_command *command,
                        struct pl_batch *batch);
void pl_share_link_tell(const struct pl_share_link *link, struct pl_session_command *command);

#endif

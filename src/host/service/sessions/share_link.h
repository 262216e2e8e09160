/* Links with which anybody may read a session. The token is in the first answer and nowhere else: what
 * is stored of it is a hash, and what a repetition of the request gets is without. */
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
    struct pl_str session_id; /* borrowed from who makes it */
    int64_t created_ms;
};

/* A new one, in the exchange's arena; NULL: no memory or no randomness. */
struct pl_share_link *pl_share_link_make(struct pl_exchange *x, struct pl_str session_id);
/* Its row; views of the link. */
struct pl_share_row pl_share_link_row(const struct pl_share_link *link, struct pl_str user_id);
/* The ShareLink, as one value; `has_token`: with its secret. */
void pl_share_link_write(const struct pl_share_link *link, bool has_token, struct pl_json_out *out);

/* For an ask that makes a session and shares it: its answer, the Session, gets a member
 * `share`. In its transaction the link is kept, and the Idempotency-Key claimed; before the answer is
 * given the member is added. */
void pl_share_link_keep(const struct pl_share_link *link, struct pl_session_command *command,
                        struct pl_batch *batch);
void pl_share_link_tell(const struct pl_share_link *link, struct pl_session_command *command);

#endif

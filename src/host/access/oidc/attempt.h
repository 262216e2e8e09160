/* A sign-in that has begun: the browser is at the provider and will come back with a code. Its only
 * state is one secret in a cookie of the browser. State, nonce and code verifier are hashes of the
 * secret, so the server stores nothing, and no other browser can complete the sign-in. */
#ifndef PL_ACCESS_OIDC_ATTEMPT_H
#define PL_ACCESS_OIDC_ATTEMPT_H

#include "base/arena.h"
#include "base/buf.h"

#define PL_OIDC_ATTEMPT_MS (INT64_C(10) * 60000)
#define PL_OIDC_WORD       43
#define PL_OIDC_MAX_RETURN 512

struct pl_oidc_attempt {
    char state[PL_OIDC_WORD + 1], nonce[PL_OIDC_WORD + 1];
    char verifier[PL_OIDC_WORD + 1], challenge[PL_OIDC_WORD + 1];
    int64_t begun_ms;
    struct pl_str return_to; /* a path on this server */
};

/* Whether a browser may be sent there after sign-in: only a path on this server. */
bool pl_oidc_return_is_good(struct pl_str path);

/* Starts a sign-in: appends the value of its cookie. False when out of memory. */
bool pl_oidc_attempt_make(int64_t now_ms, struct pl_str return_to, struct pl_buf *cookie);
/* Reads the cookie; return_to is in the arena. False if the cookie is not ours. */
bool pl_oidc_attempt_read(struct pl_arena *arena, struct pl_str cookie,
                          struct pl_oidc_attempt *ret_attempt);

#endif

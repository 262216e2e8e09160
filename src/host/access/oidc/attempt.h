/* A sign-in that has begun: the browser is at the provider and comes back with a code. All there is
 * to it is one secret in a cookie of the browser. State, nonce and code verifier are hashes of it, so
 * nothing is stored here, and no other browser can end what this one began. */
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
    struct pl_str return_to; /* a path of this server */
};

/* Whether a browser may be sent there after it: a path of this server and nothing else. */
bool pl_oidc_return_is_good(struct pl_str path);

/* A new one: appends the value of its cookie. False when out of memory. */
bool pl_oidc_attempt_make(int64_t now_ms, struct pl_str return_to, struct pl_buf *cookie);
/* The one of a cookie; return_to is in the arena. False when it is none of ours. */
bool pl_oidc_attempt_read(struct pl_arena *arena, struct pl_str cookie,
                          struct pl_oidc_attempt *ret_attempt);

#endif

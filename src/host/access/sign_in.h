/* The cookie of a signed-in person, and its token against forged requests (CSRF). */
#ifndef PL_ACCESS_SIGN_IN_H
#define PL_ACCESS_SIGN_IN_H

#include "http/exchange.h"

#define PL_SIGN_IN_MS (INT64_C(30) * 86400000)
#define PL_CSRF_SIZE  43

/* The value of a cookie; empty: no cookie of this name. */
struct pl_str pl_cookie_get(const struct pl_exchange *x, const char *name);
/* The secret of the request's cookie; empty: no cookie. */
struct pl_str pl_sign_in_cookie(const struct pl_exchange *x);
/* Set-Cookie with this secret; an empty one deletes the cookie. */
void pl_sign_in_set(struct pl_exchange *x, struct pl_str secret);
/* Whether the browser uses TLS, with us or with a proxy in front of us. */
bool pl_sign_in_is_secure(const struct pl_exchange *x);
/* The same for an unfinished sign-in at a provider (oidc/attempt.h). */
struct pl_str pl_sign_in_attempt(const struct pl_exchange *x);
void pl_sign_in_attempt_set(struct pl_exchange *x, struct pl_str value, int64_t lasts_ms);
/* The token that a change must send as X-Parley-CSRF: derived from the secret, which no script can
 * read. */
bool pl_sign_in_csrf(struct pl_str secret, char ret_csrf[PL_CSRF_SIZE + 1]);

#endif

/* What an OpenID provider says about itself (OpenID Connect Discovery 1.0), and its keys, both of
 * which are kept for ten minutes. */
#ifndef PL_ACCESS_OIDC_PROVIDER_H
#define PL_ACCESS_OIDC_PROVIDER_H

#include "access/oidc/oidc_config.h"
#include "base/arena.h"
#include "base/status.h"

#define PL_OIDC_KEPT_MS (INT64_C(10) * 60000)

struct pl_oidc_provider {
    const char *authorization_endpoint, *token_endpoint, *jwks_uri;
    const char *userinfo_endpoint; /* NULL: there is none */
    bool says_issuer;              /* its answers must name it (RFC 9207) */
    bool takes_basic;              /* the secret goes into a header; else into the body */
};

/* Whether a URL may be asked: https, or http of this machine; no password, no fragment. */
bool pl_oidc_url_is_good(const char *url);

/* Of the document at issuer/.well-known/openid-configuration; strings are in the arena. PL_INVALID
 * with a sentence; PL_NOMEM. */
enum pl_status pl_oidc_provider_read(struct pl_arena *arena, const struct pl_oidc_config *config,
                                     struct pl_str text, struct pl_oidc_provider *ret_provider,
                                     struct pl_error *err);

/* --- what is kept ---------------------------------------------------------------------------- */

enum pl_oidc_kept { PL_OIDC_KEPT_DOCUMENT, PL_OIDC_KEPT_KEYS, PL_OIDC_KEPT_COUNT };

struct pl_oidc_cache; /* owned; thread-safe */

/* A reload forgets what was kept before. */
struct pl_oidc_when {
    int64_t now_ms;
    uint64_t generation; /* of the setup */
};

struct pl_oidc_cache *pl_oidc_cache_create(void);        /* NULL when out of memory */
void pl_oidc_cache_destroy(struct pl_oidc_cache *cache); /* accepts NULL */
/* A copy in the arena of what came from this URL; empty: nothing, or it is too old. PL_NOMEM. */
enum pl_status pl_oidc_cache_get(struct pl_oidc_cache *cache, enum pl_oidc_kept what,
                                 const char *url, struct pl_oidc_when when, struct pl_arena *arena,
                                 struct pl_str *ret_text);
/* If memory is short, nothing is kept. */
void pl_oidc_cache_put(struct pl_oidc_cache *cache, enum pl_oidc_kept what, const char *url,
                       struct pl_str text, struct pl_oidc_when when);
void pl_oidc_cache_drop(struct pl_oidc_cache *cache);

/* One more sign-in asks the provider something; false: as many as may be do so already. */
bool pl_oidc_cache_enter(struct pl_oidc_cache *cache);
void pl_oidc_cache_leave(struct pl_oidc_cache *cache);

#endif

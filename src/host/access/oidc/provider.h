/* An OpenID provider's description of itself (OpenID Connect Discovery 1.0) and its keys. Both are
 * cached for ten minutes. */
#ifndef PL_ACCESS_OIDC_PROVIDER_H
#define PL_ACCESS_OIDC_PROVIDER_H

#include "access/oidc/oidc_config.h"
#include "base/arena.h"
#include "base/status.h"

#define PL_OIDC_KEPT_MS (INT64_C(10) * 60000)

struct pl_oidc_provider {
    const char *authorization_endpoint, *token_endpoint, *jwks_uri;
    const char *userinfo_endpoint; /* may be NULL */
    bool says_issuer;              /* its answers must name the issuer (RFC 9207) */
    bool takes_basic;              /* the secret goes into a header, else into the body */
};

/* Whether a URL may be used: https, or http on this machine; no password, no fragment. */
bool pl_oidc_url_is_good(const char *url);

/* Reads the document at issuer/.well-known/openid-configuration; strings are in the arena.
 * PL_INVALID with a message; PL_NOMEM. */
enum pl_status pl_oidc_provider_read(struct pl_arena *arena, const struct pl_oidc_config *config,
                                     struct pl_str text, struct pl_oidc_provider *ret_provider,
                                     struct pl_error *err);

/* --- cache ----------------------------------------------------------------------------------- */

enum pl_oidc_kept { PL_OIDC_KEPT_DOCUMENT, PL_OIDC_KEPT_KEYS, PL_OIDC_KEPT_COUNT };

struct pl_oidc_cache; /* owned; thread-safe */

/* A reload empties the cache. */
struct pl_oidc_when {
    int64_t now_ms;
    uint64_t generation; /* of the setup */
};

struct pl_oidc_cache *pl_oidc_cache_create(void);        /* NULL when out of memory */
void pl_oidc_cache_destroy(struct pl_oidc_cache *cache); /* accepts NULL */
/* A copy, in the arena, of the answer from this URL; empty: none, or too old. PL_NOMEM. */
enum pl_status pl_oidc_cache_get(struct pl_oidc_cache *cache, enum pl_oidc_kept what,
                                 const char *url, struct pl_oidc_when when, struct pl_arena *arena,
                                 struct pl_str *ret_text);
/* If memory is short, nothing is cached. */
void pl_oidc_cache_put(struct pl_oidc_cache *cache, enum pl_oidc_kept what, const char *url,
                       struct pl_str text, struct pl_oidc_when when);
void pl_oidc_cache_drop(struct pl_oidc_cache *cache);

/* A sign-in is about to ask the provider; false: too many are doing so already. */
bool pl_oidc_cache_enter(struct pl_oidc_cache *cache);
void pl_oidc_cache_leave(struct pl_oidc_cache *cache);

#endif

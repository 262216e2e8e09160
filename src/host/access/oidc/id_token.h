/* An ID token (OpenID Connect Core 1.0, 3.1.3.7): a signed list of claims about a person. */
#ifndef PL_ACCESS_OIDC_ID_TOKEN_H
#define PL_ACCESS_OIDC_ID_TOKEN_H

#include "base/arena.h"
#include "base/status.h"
#include "json/json.h"

#define PL_ID_TOKEN_MAX      (64 << 10)
#define PL_ID_TOKEN_MAX_KEYS 64
#define PL_OIDC_SUBJECT_MAX  255

struct pl_id_token_rules {
    struct pl_str keys; /* the provider's JSON Web Key Set */
    struct pl_str issuer, client_id, nonce;
    int64_t now_ms, leeway_ms;
};

/* The claims of a valid token; strings are in the arena. PL_NOT_FOUND: signed with a key that is
 * not in the set; a newer set may have it. PL_INVALID: *err says which rule it breaks. PL_NOMEM. */
enum pl_status pl_id_token_check(struct pl_arena *arena, struct pl_str token,
                                 const struct pl_id_token_rules *rules,
                                 struct pl_json_doc *ret_claims, struct pl_error *err);

/* The claim of this name, or at this JSON Pointer; NULL: absent. */
const struct pl_json_node *pl_id_claim(const struct pl_json_doc *claims, const char *name);
/* Whether a claim (a text or a list of texts) has one of these; wanted may be NULL: false. */
bool pl_id_claim_has(const struct pl_json_doc *claims, const char *name, const char *const *wanted);
/* The name of the person: from this claim, else from the usual ones, else the subject; at most 100
 * characters, no control characters. PL_NOMEM. */
enum pl_status pl_id_claim_name(struct pl_arena *arena, const struct pl_json_doc *claims,
                                const char *name, struct pl_str *ret_name);

#endif

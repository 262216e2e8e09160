/* Parses an ID token and checks it in this order: its form, its algorithm, its signature, and only
 * then its claims. Claims without a valid signature are never read. */
#include "access/oidc/id_token.h"

#include "base/text/utf8.h"
#include "http/reply/base64url.h"
#include "io/tls/signature.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/text.h"

enum { MAX_NAME = 100 };

/* Supported algorithms and the keys they need. "none" and shared secrets are not supported. */
static const struct algorithm {
    const char *name, *key_type, *curve;
    enum pl_signature_kind kind;
} algorithms[] = {
    {"RS256", "RSA", NULL, PL_SIGNATURE_RS256},
    {"ES256", "EC", "P-256", PL_SIGNATURE_ES256},
};

struct token {
    struct pl_str signed_part; /* header and claims as sent */
    struct pl_str signature;
    struct pl_json_doc header, claims;
    const struct algorithm *algorithm;
};

static bool is_text(const struct pl_json_doc *doc, const struct pl_json_node *object,
                    const char *name, struct pl_str text)
{
    const struct pl_json_node *node = pl_json_member(doc, object, name, PL_JSON_STRING);
    return node && pl_json_text_is(doc, node, text);
}

/* --- its form -------------------------------------------------------------------------------- */

/* PL_UNREADABLE: not base64url. PL_NOMEM says nothing about the text. */
static enum pl_status decode(struct pl_arena *arena, struct pl_str text, struct pl_str *ret_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < text.len; i++)
        if (!memchr(digits, text.ptr[i], sizeof digits - 1))
            return PL_UNREADABLE;
    if (pl_base64url_decode(arena, text, ret_bytes))
        return PL_OK;
    /* All characters are valid: only their number or the last one can be wrong. */
    char last[4] = "AAA";
    size_t n = text.len % 4;
    memcpy(last, text.ptr + text.len - n, n);
    bool is_wrong =
        n == 1 || (n && strchr(n == 2 ? "AQgw" : "AEIMQUYcgkosw048", last[n - 1]) == NULL);
    return is_wrong ? PL_UNREADABLE : PL_NOMEM;
}

static enum pl_status read_part(struct pl_arena *arena, struct pl_str part, const char *what,
                                struct pl_json_doc *ret_doc, struct pl_error *err)
{
    struct pl_str json;
    enum pl_status status = decode(arena, part, &json);
    if (status == PL_UNREADABLE)
        return pl_fail(err, PL_INVALID, "%s of the ID token is not base64url", what);
    if (status == PL_OK)
        status = pl_json_parse(arena, json, NULL, ret_doc, NULL);
    if (status == PL_NOMEM)
        return status;
    if (status != PL_OK || pl_json_kind(ret_doc->root) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "%s of the ID token is not a JSON object", what);
    return PL_OK;
}

static enum pl_status find_algorithm(struct token *token, struct pl_error *err)
{
    const struct pl_json_doc *header = &token->header;
    const struct pl_json_node *alg = pl_json_member(header, header->root, "alg", PL_JSON_STRING);
    for (size_t i = 0; alg && i < sizeof algorithms / sizeof *algorithms; i++)
        if (pl_json_text_is(header, alg, pl_str_of(algorithms[i].name)))
            token->algorithm = &algorithms[i];
    if (!token->algorithm)
        return pl_fail(err, PL_INVALID,
                       "the ID token is not signed with RS256 or ES256 but with %.*s; change the "
                       "client's settings at the provider",
                       alg ? (int)(alg->len > 40 ? 40 : alg->len) : 7,
                       alg ? pl_json_span(header, alg).ptr : "nothing");
    if (pl_json_get(header, header->root, PL_STR("crit")))
        return pl_fail(err, PL_INVALID, "the ID token needs an extension that is not known here");
    return PL_OK;
}

static enum pl_status take_apart(struct pl_arena *arena, struct pl_str text, struct token *token,
                                 struct pl_error *err)
{
    const char *first = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    size_t n_first = first ? (size_t)(first - text.ptr) : 0;
    struct pl_str rest = pl_str_slice(text, n_first + 1, text.len);
    const char *second = first && rest.len ? memchr(rest.ptr, '.', rest.len) : NULL;
    size_t n_second = second ? (size_t)(second - rest.ptr) : 0;
    struct pl_str third = pl_str_slice(rest, n_second + 1, rest.len);
    if (text.len > PL_ID_TOKEN_MAX)
        return pl_fail(err, PL_INVALID, "the ID token is longer than 64 KiB");
    if (!second || (third.len && memchr(third.ptr, '.', third.len)))
        return pl_fail(err, PL_INVALID, "the ID token does not have three parts");
    token->signed_part = pl_str_slice(text, 0, n_first + 1 + n_second);
    enum pl_status status =
        read_part(arena, pl_str_slice(text, 0, n_first), "the header", &token->header, err);
    if (status == PL_OK)
        status = find_algorithm(token, err);
    if (status == PL_OK)
        status =
            read_part(arena, pl_str_slice(rest, 0, n_second), "the claims", &token->claims, err);
    if (status == PL_OK)
        status = decode(arena, third, &token->signature);
    return status == PL_UNREADABLE
               ? pl_fail(err, PL_INVALID, "the signature of the ID token is not base64url")
               : status;
}

/* --- its signature --------------------------------------------------------------------------- */

static enum pl_status read_number(struct pl_arena *arena, const struct pl_json_doc *set,
                                  const struct pl_json_node *key, const char *name,
                                  struct pl_str *ret_number)
{
    const struct pl_json_node *node = pl_json_member(set, key, name, PL_JSON_STRING);
    struct pl_str text;
    if (!node)
        return PL_UNREADABLE;
    if (pl_json_text(arena, set, node, &text) != PL_OK)
        return PL_NOMEM;
    return decode(arena, text, ret_number);
}

static enum pl_status read_key(struct pl_arena *arena, const struct pl_json_doc *set,
                               const struct pl_json_node *key, const struct algorithm *algorithm,
                               struct pl_public_key *ret_key)
{
    bool is_ec = algorithm->kind == PL_SIGNATURE_ES256;
    *ret_key = (struct pl_public_key){.kind = algorithm->kind};
    enum pl_status status =
        read_number(arena, set, key, is_ec ? "x" : "n", is_ec ? &ret_key->x : &ret_key->n);
    return status == PL_OK
               ? read_number(arena, set, key, is_ec ? "y" : "e", is_ec ? &ret_key->y : &ret_key->e)
               : status;
}

/* Whether this key may have signed the token, by its type, use and name. */
static bool is_candidate(const struct token *token, const struct pl_json_doc *set,
                         const struct pl_json_node *key, struct pl_str key_id)
{
    const struct algorithm *algorithm = token->algorithm;
    return pl_json_kind(key) == PL_JSON_OBJECT &&
           is_text(set, key, "kty", pl_str_of(algorithm->key_type)) &&
           (!algorithm->curve || is_text(set, key, "crv", pl_str_of(algorithm->curve))) &&
           (!pl_json_get(set, key, PL_STR("use")) || is_text(set, key, "use", PL_STR("sig"))) &&
           (!pl_json_get(set, key, PL_STR("alg")) ||
            is_text(set, key, "alg", pl_str_of(algorithm->name))) &&
           (!key_id.ptr || is_text(set, key, "kid", key_id));
}

static enum pl_status try_keys(struct pl_arena *arena, const struct token *token,
                               const struct pl_json_doc *set, const struct pl_json_node *list,
                               struct pl_str key_id, struct pl_error *err)
{
    enum pl_status result = PL_NOT_FOUND;
    for (const struct pl_json_node *key = pl_json_first(list); key < pl_json_end(list);
         key = pl_json_next(key)) {
        struct pl_public_key public;
        if (!is_candidate(token, set, key, key_id))
            continue;
        enum pl_status status = read_key(arena, set, key, token->algorithm, &public);
        if (status == PL_OK)
            status = pl_signature_check(&public, token->signed_part, token->signature, NULL);
        if (status == PL_OK || status == PL_NOMEM)
            return status;
        result = PL_INVALID;
    }
    /* Without a name any key may have signed it, even a new one. */
    if (result == PL_NOT_FOUND || !key_id.ptr)
        return pl_fail(err, PL_NOT_FOUND,
                       "the ID token is signed with a key that the provider does not publish");
    return pl_fail(err, PL_INVALID, "the signature of the ID token is wrong");
}

static enum pl_status check_signature(struct pl_arena *arena, const struct token *token,
                                      struct pl_str keys, struct pl_error *err)
{
    struct pl_json_doc set;
    struct pl_str key_id = {0};
    enum pl_status status = pl_json_parse(arena, keys, NULL, &set, NULL);
    if (status == PL_NOMEM)
        return status;
    const struct pl_json_node *list =
        status == PL_OK ? pl_json_member(&set, set.root, "keys", PL_JSON_ARRAY) : NULL;
    if (!list || pl_json_count(list) > PL_ID_TOKEN_MAX_KEYS)
        return pl_fail(err, PL_INVALID,
                       "the provider's keys are not {\"keys\": […]} with at most %d",
                       PL_ID_TOKEN_MAX_KEYS);
    const struct pl_json_node *kid =
        pl_json_member(&token->header, token->header.root, "kid", PL_JSON_STRING);
    if (kid && pl_json_text(arena, &token->header, kid, &key_id) != PL_OK)
        return PL_NOMEM;
    return try_keys(arena, token, &set, list, key_id, err);
}

/* --- its claims ------------------------------------------------------------------------------ */

/* Seconds since 1970, perhaps with a fraction. */
static bool read_time(const struct pl_json_doc *claims, const char *name, double *ret_s)
{
    const struct pl_json_node *node = pl_json_member(claims, claims->root, name, PL_JSON_NUMBER);
    if (node)
        *ret_s = pl_json_number_double(pl_json_span(claims, node));
    return node;
}

static enum pl_status check_times(const struct pl_json_doc *claims,
                                  const struct pl_id_token_rules *rules, struct pl_error *err)
{
    double now_s = (double)rules->now_ms / 1000, leeway_s = (double)rules->leeway_ms / 1000;
    double expires_s = 0, issued_s = 0, begins_s = 0;
    if (!read_time(claims, "exp", &expires_s) || !read_time(claims, "iat", &issued_s))
        return pl_fail(err, PL_INVALID, "the ID token does not say when it was issued and expires");
    if (now_s > expires_s + leeway_s)
        return pl_fail(err, PL_INVALID,
                       "the ID token has expired %.0f s ago; if this is new, compare the clocks",
                       now_s - expires_s);
    if (issued_s > now_s + leeway_s)
        return pl_fail(err, PL_INVALID,
                       "the ID token is issued %.0f s in the future; compare the clocks",
                       issued_s - now_s);
    if (read_time(claims, "nbf", &begins_s) && begins_s > now_s + leeway_s)
        return pl_fail(err, PL_INVALID, "the ID token is not valid yet; compare the clocks");
    return PL_OK;
}

static bool has_text(const struct pl_json_doc *doc, const struct pl_json_node *node,
                     struct pl_str text)
{
    if (!pl_json_is(node, PL_JSON_ARRAY))
        return node && pl_json_text_is(doc, node, text);
    for (const struct pl_json_node *one = pl_json_first(node); one < pl_json_end(node);
         one = pl_json_next(one))
        if (pl_json_text_is(doc, one, text))
            return true;
    return false;
}

/* A token that is also for others must say that it was issued to us. */
static bool is_for_us(const struct pl_json_doc *claims, struct pl_str client_id)
{
    const struct pl_json_node *audience = pl_json_get(claims, claims->root, PL_STR("aud"));
    const struct pl_json_node *party = pl_json_get(claims, claims->root, PL_STR("azp"));
    bool is_shared = pl_json_is(audience, PL_JSON_ARRAY) && pl_json_count(audience) > 1;
    return has_text(claims, audience, client_id) &&
           (party ? pl_json_text_is(claims, party, client_id) : !is_shared);
}

static enum pl_status check_claims(const struct pl_json_doc *claims,
                                   const struct pl_id_token_rules *rules, struct pl_error *err)
{
    const struct pl_json_node *subject =
        pl_json_member(claims, claims->root, "sub", PL_JSON_STRING);
    if (!is_text(claims, claims->root, "iss", rules->issuer))
        return pl_fail(err, PL_INVALID, "the ID token is of another issuer than %.*s",
                       PL_STR_ARG(rules->issuer));
    if (!is_for_us(claims, rules->client_id))
        return pl_fail(err, PL_INVALID, "the ID token is for another client than \"%.*s\"",
                       PL_STR_ARG(rules->client_id));
    if (!is_text(claims, claims->root, "nonce", rules->nonce))
        return pl_fail(err, PL_INVALID, "the ID token belongs to another sign-in (its nonce)");
    if (!subject || subject->len <= 2 || subject->len - 2 > PL_OIDC_SUBJECT_MAX)
        return pl_fail(err, PL_INVALID, "the ID token does not say who it is about (sub)");
    return check_times(claims, rules, err);
}

enum pl_status pl_id_token_check(struct pl_arena *arena, struct pl_str text,
                                 const struct pl_id_token_rules *rules,
                                 struct pl_json_doc *ret_claims, struct pl_error *err)
{
    struct token token = {0};
    enum pl_status status = take_apart(arena, text, &token, err);
    if (status == PL_OK)
        status = check_signature(arena, &token, rules->keys, err);
    if (status == PL_OK)
        status = check_claims(&token.claims, rules, err);
    if (status == PL_OK)
        *ret_claims = token.claims;
    return status;
}

/* --- about a person -------------------------------------------------------------------------- */

const struct pl_json_node *pl_id_claim(const struct pl_json_doc *claims, const char *name)
{
    const struct pl_json_node *node = NULL;
    if (name[0] != '/')
        return pl_json_get(claims, claims->root, pl_str_of(name));
    return pl_json_pointer_get(claims, pl_str_of(name), &node, NULL) == PL_OK ? node : NULL;
}

bool pl_id_claim_has(const struct pl_json_doc *claims, const char *name, const char *const *wanted)
{
    const struct pl_json_node *node = pl_id_claim(claims, name);
    for (size_t i = 0; node && wanted && wanted[i]; i++)
        if (has_text(claims, node, pl_str_of(wanted[i])))
            return true;
    return false;
}

/* Cuts a name after a number of characters, or at a control character. */
static struct pl_str name_in(struct pl_str text)
{
    size_t at = 0;
    for (size_t n = 0; at < text.len && n < MAX_NAME; n++) {
        size_t next = at;
        int32_t c = pl_utf8_next(text, &next);
        if (c < 0x20 || (c >= 0x7f && c < 0xa0))
            break;
        at = next;
    }
    return pl_str_slice(text, 0, at);
}

enum pl_status pl_id_claim_name(struct pl_arena *arena, const struct pl_json_doc *claims,
                                const char *name, struct pl_str *ret_name)
{
    const char *const usual[] = {name, "preferred_username", "email", "name", "sub"};
    struct pl_str found = PL_STR("");
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !found.len; i++) {
        const struct pl_json_node *node = pl_id_claim(claims, usual[i]);
        struct pl_str text;
        if (!pl_json_is(node, PL_JSON_STRING))
            continue;
        if (pl_json_text(arena, claims, node, &text) != PL_OK)
            return PL_NOMEM;
        found = name_in(text);
    }
    *ret_name = found.len ? found : PL_STR("somebody");
    return PL_OK;
}

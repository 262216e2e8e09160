/* The cookie is TIME.SECRET.RETURN: decimal milliseconds, 43 random characters, the path in
 * base64url. */
#include "access/oidc/attempt.h"

#include "access/key_table.h"
#include "base/sha/sha256.h"
#include "base/text/decimal.h"
#include "http/reply/base64url.h"

#include <stdio.h>

bool pl_oidc_return_is_good(struct pl_str path)
{
    if (!path.len || path.len > PL_OIDC_MAX_RETURN || path.ptr[0] != '/' ||
        (path.len > 1 && path.ptr[1] == '/'))
        return false;
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] <= ' ' || path.ptr[i] >= 0x7f || path.ptr[i] == '\\')
            return false;
    return true;
}

static bool spell(const void *bytes, size_t n, char to[PL_OIDC_WORD + 1])
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_base64url_encode(&text, (struct pl_str){bytes, n});
    if (text.status != PL_OK || text.len != PL_OIDC_WORD)
        return false;
    memcpy(to, text.ptr, PL_OIDC_WORD);
    to[PL_OIDC_WORD] = 0;
    return true;
}

static bool derive(struct pl_str cookie, const char *what, char to[PL_OIDC_WORD + 1])
{
    PL_CLEANUP_BUF struct pl_buf text;
    uint8_t hash[32];
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "oidc-%s:", what);
    pl_buf_add(&text, cookie);
    if (text.status != PL_OK)
        return false;
    pl_secret_hash(pl_buf_str(&text), hash);
    return spell(hash, sizeof hash, to);
}

bool pl_oidc_attempt_make(int64_t now_ms, struct pl_str return_to, struct pl_buf *cookie)
{
    char secret[PL_TICKET_SIZE + 1];
    if (!pl_secret_make(secret))
        return false;
    pl_buf_addf(cookie, "%lld.%s.", (long long)now_ms, secret);
    pl_base64url_encode(cookie, return_to);
    return cookie->status == PL_OK;
}

/* The text before the next dot. */
static struct pl_str take_part(struct pl_str *rest)
{
    const char *dot = rest->len ? memchr(rest->ptr, '.', rest->len) : NULL;
    size_t n = dot ? (size_t)(dot - rest->ptr) : rest->len;
    struct pl_str part = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, dot ? n + 1 : n, rest->len);
    return part;
}

bool pl_oidc_attempt_read(struct pl_arena *arena, struct pl_str cookie,
                          struct pl_oidc_attempt *ret_attempt)
{
    struct pl_oidc_attempt attempt = {0};
    struct pl_str rest = cookie;
    unsigned char digest[PL_SHA256_BYTES];
    struct pl_str begun = take_part(&rest), secret = take_part(&rest);
    if (!pl_decimal_read(begun, &attempt.begun_ms) || secret.len != PL_TICKET_SIZE ||
        !pl_base64url_decode(arena, rest, &attempt.return_to) ||
        !pl_oidc_return_is_good(attempt.return_to))
        return false;
    if (!derive(cookie, "state", attempt.state) || !derive(cookie, "nonce", attempt.nonce) ||
        !derive(cookie, "verifier", attempt.verifier))
        return false;
    pl_sha256(pl_str_of(attempt.verifier), digest);
    if (!spell(digest, sizeof digest, attempt.challenge))
        return false;
    *ret_attempt = attempt;
    return true;
}

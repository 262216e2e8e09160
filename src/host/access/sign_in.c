/* The cookie has the port in its name, because browsers send a cookie to every port of the host.
 * Under TLS it has the prefix __Host- and Secure. */
#include "access/sign_in.h"

#include "access/key_table.h"
#include "http/connection.h"
#include "http/reply/base64url.h"
#include "io/net/conn.h"
#include "shard/setup.h"

#include <stdio.h>

enum { NAME_MAX_BYTES = 48 };

bool pl_sign_in_is_secure(const struct pl_exchange *x)
{
    return (x->conn && x->conn->is_tls) || x->setup->config.is_behind_proxy;
}

static void write_name(const struct pl_exchange *x, const char *end, char to[NAME_MAX_BYTES])
{
    const struct pl_server *server = x->shard->server;
    unsigned port = 0;
    for (size_t i = 0; i < server->n_sockets && !port; i++)
        port = server->sockets[i].is_unix ? 0 : server->sockets[i].port;
    snprintf(to, NAME_MAX_BYTES, "%sparley-%u%s", pl_sign_in_is_secure(x) ? "__Host-" : "", port,
             end);
}

struct pl_str pl_cookie_get(const struct pl_exchange *x, const char *name)
{
    struct pl_str rest = pl_http_header_get(x->head, "cookie");
    size_t n_name = strlen(name);
    while (rest.len) {
        const char *end = memchr(rest.ptr, ';', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        struct pl_str one = pl_str_slice(rest, 0, n);
        while (one.len && one.ptr[0] == ' ')
            one = pl_str_slice(one, 1, one.len);
        if (one.len > n_name && memcmp(one.ptr, name, n_name) == 0 && one.ptr[n_name] == '=')
            return pl_str_slice(one, n_name + 1, one.len);
        rest = pl_str_slice(rest, end ? n + 1 : n, rest.len);
    }
    return (struct pl_str){0};
}

static struct pl_str find_cookie(const struct pl_exchange *x, const char *end_of_name)
{
    char name[NAME_MAX_BYTES];
    write_name(x, end_of_name, name);
    return pl_cookie_get(x, name);
}

static void set_cookie(struct pl_exchange *x, const char *end_of_name, struct pl_str value,
                       const char *same_site, int64_t lasts_ms)
{
    char name[NAME_MAX_BYTES];
    write_name(x, end_of_name, name);
    pl_exchange_header(x, "Set-Cookie", "%s=%.*s; Path=/; HttpOnly; SameSite=%s; Max-Age=%lld%s",
                       name, (int)value.len, value.len ? value.ptr : "", same_site,
                       (long long)(value.len ? lasts_ms / 1000 : 0),
                       pl_sign_in_is_secure(x) ? "; Secure" : "");
}

struct pl_str pl_sign_in_cookie(const struct pl_exchange *x)
{
    return find_cookie(x, "");
}

void pl_sign_in_set(struct pl_exchange *x, struct pl_str secret)
{
    set_cookie(x, "", secret, "Strict", PL_SIGN_IN_MS);
}

struct pl_str pl_sign_in_attempt(const struct pl_exchange *x)
{
    return find_cookie(x, "-oidc");
}

/* The provider's page sends the browser back, so this request comes from another site. */
void pl_sign_in_attempt_set(struct pl_exchange *x, struct pl_str value, int64_t lasts_ms)
{
    set_cookie(x, "-oidc", value, "Lax", lasts_ms);
}

bool pl_sign_in_csrf(struct pl_str secret, char ret_csrf[PL_CSRF_SIZE + 1])
{
    uint8_t hash[32];
    PL_CLEANUP_BUF struct pl_buf text, encoded;
    pl_buf_init(&text, 0);
    pl_buf_init(&encoded, 0);
    pl_buf_adds(&text, "csrf:");
    pl_buf_add(&text, secret);
    if (text.status != PL_OK)
        return false;
    pl_secret_hash(pl_buf_str(&text), hash);
    pl_base64url_encode(&encoded, (struct pl_str){(const char *)hash, sizeof hash});
    if (encoded.status != PL_OK || encoded.len != PL_CSRF_SIZE)
        return false;
    memcpy(ret_csrf, encoded.ptr, PL_CSRF_SIZE);
    ret_csrf[PL_CSRF_SIZE] = 0;
    return true;
}

/* Protects against DNS rebinding: Host must be one of our names, so a page under another name
 * cannot use the server even if that name points here. Pages of another origin may not change
 * anything: an Origin header must have one of our names too. */
#include "access/host_origin.h"

#include "http/connection.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>

struct authority {
    struct pl_str host; /* without the brackets of an IPv6 address */
    int32_t port;       /* -1: not given */
};

static bool read_port(struct pl_str text, int32_t *ret_port)
{
    int32_t port = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        port = port * 10 + (text.ptr[i] - '0');
        if (port > 65535)
            return false;
    }
    *ret_port = text.len ? port : -1;
    return true;
}

/* "host", "host:port", "[address]:port". */
static bool read_authority(struct pl_str text, struct authority *ret)
{
    struct pl_str host, rest;
    if (text.len && text.ptr[0] == '[') {
        const char *close = memchr(text.ptr, ']', text.len);
        if (!close)
            return false;
        size_t n = (size_t)(close - text.ptr);
        host = pl_str_slice(text, 1, n);
        rest = pl_str_slice(text, n + 1, text.len);
    } else {
        const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
        size_t n = colon ? (size_t)(colon - text.ptr) : text.len;
        host = pl_str_slice(text, 0, n);
        rest = pl_str_slice(text, n, text.len);
    }
    /* A name may end with a dot, the root. */
    if (host.len > 1 && host.ptr[host.len - 1] == '.')
        host.len--;
    if (!host.len || (rest.len && rest.ptr[0] != ':'))
        return false;
    ret->host = host;
    return read_port(pl_str_slice(rest, 1, rest.len), &ret->port);
}

static bool is_name(struct pl_str host, const char *name)
{
    size_t n = strlen(name);
    return host.len == n && strncasecmp(host.ptr, name, n) == 0;
}

bool pl_host_is_loopback(struct pl_str host)
{
    char text[64];
    struct in_addr v4;
    struct in6_addr v6;
    if (is_name(host, "localhost"))
        return true;
    if (host.len >= sizeof text)
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = 0;
    if (inet_pton(AF_INET, text, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

enum pl_status pl_access_check_config(const struct pl_server_config *config, struct pl_error *err)
{
    if (pl_host_is_loopback(pl_str_of(config->host)) || config->tls_cert || config->is_behind_proxy)
        return PL_OK;
    return pl_fail(
        err, PL_INVALID,
        "listening on %s without TLS would send keys and conversations unencrypted: give "
        "--tls-cert and --tls-key, or --behind-proxy if a proxy does TLS",
        config->host);
}

static bool is_our_port(const struct pl_server *server, int32_t port, bool is_tls)
{
    if (port < 0)
        port = is_tls ? 443 : 80;
    for (size_t i = 0; i < server->n_sockets; i++)
        if (!server->sockets[i].is_unix && server->sockets[i].port == port)
            return true;
    return false;
}

/* If a configured name has a port, the port must match. */
static bool is_listed(const char *const *names, const struct authority *given)
{
    for (size_t i = 0; names && names[i]; i++) {
        struct authority listed;
        if (read_authority(pl_str_of(names[i]), &listed) && listed.host.len == given->host.len &&
            strncasecmp(listed.host.ptr, given->host.ptr, given->host.len) == 0 &&
            (listed.port < 0 || listed.port == given->port))
            return true;
    }
    return false;
}

static bool is_ours(const struct pl_exchange *x, struct pl_str text, bool is_tls)
{
    struct authority given;
    const struct pl_server_config *config = &x->setup->config;
    if (!read_authority(text, &given))
        return false;
    if (is_listed(config->hosts, &given))
        return true;
    bool is_known = pl_host_is_loopback(given.host) || is_name(given.host, config->host);
    return is_known && is_our_port(x->shard->server, given.port, is_tls);
}

/* The authority of "http://host/path"; {NULL, 0} for "/path". */
static struct pl_str authority_of(struct pl_str target)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        if (target.len < n || strncasecmp(target.ptr, schemes[i], n) != 0)
            continue;
        struct pl_str rest = pl_str_slice(target, n, target.len);
        size_t end = 0;
        while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?' &&
               rest.ptr[end] != '#')
            end++;
        return pl_str_slice(rest, 0, end);
    }
    return (struct pl_str){0};
}

bool pl_access_check_host(struct pl_exchange *x)
{
    size_t n_hosts = pl_http_header_count(x->head, "host");
    if (n_hosts > 1 || (n_hosts == 0 && !x->head->is_http10)) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "A request must have exactly one Host header.");
        return false;
    }
    /* Browsers do not use Unix sockets. */
    if (x->conn->is_unix)
        return true;
    struct pl_str host = pl_http_header_get(x->head, "host");
    struct pl_str absolute = authority_of(x->head->target);
    if (is_ours(x, host, x->conn->is_tls) &&
        (!absolute.ptr || is_ours(x, absolute, x->conn->is_tls)))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_MISDIRECTED, NULL,
                        "This host name is not allowed; start the server with --allow-host NAME to "
                        "allow it.");
    return false;
}

bool pl_access_is_cors(const struct pl_exchange *x, struct pl_str origin)
{
    const char *const *origins = x->setup->config.origins;
    for (size_t i = 0; origins && origins[i]; i++)
        if (is_name(origin, origins[i]))
            return true;
    return false;
}

bool pl_access_check_origin(struct pl_exchange *x)
{
    static const struct pl_str secure = PL_STR("https://"), plain = PL_STR("http://");
    bool is_harmless = (x->method == PL_METHOD_GET || x->method == PL_METHOD_HEAD ||
                        x->method == PL_METHOD_OPTIONS) &&
                       !x->head->is_upgrade;
    struct pl_str origin = pl_http_header_get(x->head, "origin");
    if (is_harmless || !origin.ptr || pl_access_is_cors(x, origin))
        return true;
    bool is_tls = pl_str_starts(origin, secure);
    if (is_tls || pl_str_starts(origin, plain)) {
        size_t n = is_tls ? secure.len : plain.len;
        if (is_ours(x, pl_str_slice(origin, n, origin.len), is_tls))
            return true;
    }
    pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                        "This origin is not allowed to change anything; start the server with "
                        "--allow-origin ORIGIN to allow it.");
    return false;
}

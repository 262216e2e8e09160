/* URLs and patterns are parsed by the same URL parser (wire/url.h), so a URL that looks like one
 * host and means another does not pass. */
#include "extproto/host_scope.h"

#include "base/buf.h"

enum { MAX_PATTERN = 300 };

/* Removes one trailing dot: the name means the same. */
static struct pl_str without_dot(struct pl_str host)
{
    struct pl_str last = pl_str_slice(host, host.len - 1, host.len);
    return pl_str_slice(host, 0, host.len - pl_str_eq(last, PL_STR(".")));
}

static int32_t port_of(const struct pl_url *url)
{
    return url->port >= 0 ? url->port : pl_url_default_port(url->scheme);
}

static enum pl_status refuse(struct pl_error *err, struct pl_str pattern, const char *why)
{
    return pl_fail(err, PL_INVALID, "\"%.*s\" is no host of a scope: %s", PL_STR_ARG(pattern), why);
}

/* Whether a pattern has no parts that only a URL has. */
static bool is_bare(struct pl_str pattern)
{
    for (size_t i = 0; i < pattern.len; i++)
        if ((unsigned char)pattern.ptr[i] <= ' ' || strchr("/\\?#@*%", pattern.ptr[i]))
            return false;
    return pattern.len > 0;
}

enum pl_status pl_ext_host_read(struct pl_arena *arena, struct pl_str pattern,
                                struct pl_ext_host *ret_host, struct pl_error *err)
{
    struct pl_str plain = PL_STR("http://"), secure = PL_STR("https://"), star = PL_STR("*.");
    struct pl_str rest = pattern;
    struct pl_url url;
    struct pl_ext_host host = {.is_plain = pl_str_starts(rest, plain)};
    if (pattern.len > MAX_PATTERN)
        return refuse(err, pl_str_slice(pattern, 0, 40), "it is longer than 300 bytes");
    if (host.is_plain)
        rest = pl_str_slice(rest, plain.len, rest.len);
    else if (pl_str_starts(rest, secure))
        rest = pl_str_slice(rest, secure.len, rest.len);
    host.is_suffix = pl_str_starts(rest, star);
    if (host.is_suffix)
        rest = pl_str_slice(rest, star.len, rest.len);
    if (!is_bare(rest))
        return refuse(err, pattern, "write a name, *.name or name:port");
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_add(&text, host.is_plain ? plain : secure);
    pl_buf_add(&text, rest);
    enum pl_status status = text.status;
    if (status == PL_OK)
        status = pl_url_parse(arena, pl_buf_str(&text), NULL, &url, NULL);
    if (status == PL_SYNTAX)
        return refuse(err, pattern, "the name cannot be read");
    if (status != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (host.is_suffix && url.host_kind != PL_URL_HOST_DOMAIN)
        return refuse(err, pattern, "an address has no names below it");
    host.host = without_dot(url.host);
    host.port = port_of(&url);
    *ret_host = host;
    return PL_OK;
}

/* E.g. "a.b.example" is below "example". */
static bool is_below(struct pl_str name, struct pl_str suffix)
{
    return name.len > suffix.len + 1 && name.ptr[name.len - suffix.len - 1] == '.' &&
           pl_str_eq(pl_str_slice(name, name.len - suffix.len, name.len), suffix);
}

bool pl_ext_host_covers(const struct pl_ext_host *outer, const struct pl_ext_host *inner)
{
    if (outer->is_plain != inner->is_plain || outer->port != inner->port)
        return false;
    if (outer->is_suffix == inner->is_suffix && pl_str_eq(outer->host, inner->host))
        return true;
    return outer->is_suffix && is_below(inner->host, outer->host);
}

static bool is_local_name(struct pl_str host)
{
    struct pl_str local = PL_STR("localhost");
    return pl_str_eq(host, local) || is_below(host, local);
}

static bool has_blank(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ')
            return true;
    return false;
}

static bool is_private(const struct pl_url *url, struct pl_str host)
{
    if (url->host_kind == PL_URL_HOST_ADDRESS)
        return pl_address_special(&url->address) != NULL;
    return is_local_name(host);
}

enum pl_status pl_ext_hosts_judge(struct pl_arena *arena, const struct pl_ext_host *hosts,
                                  size_t n_hosts, struct pl_str text,
                                  enum pl_ext_reason *ret_reason)
{
    struct pl_url url;
    enum pl_status status =
        has_blank(text) ? PL_SYNTAX : pl_url_parse(arena, text, NULL, &url, NULL);
    if (status == PL_NOMEM)
        return status;
    bool is_plain = status == PL_OK && pl_str_eq(url.scheme, PL_STR("http"));
    bool is_asked = is_plain || (status == PL_OK && pl_str_eq(url.scheme, PL_STR("https")));
    *ret_reason = PL_EXT_REASON_SCOPE;
    if (!is_asked || url.username.len || url.password.len)
        return PL_OK;
    struct pl_ext_host asked = {without_dot(url.host), port_of(&url), is_plain, false};
    if (is_private(&url, asked.host)) {
        *ret_reason = PL_EXT_REASON_PRIVATE_ADDRESS;
        return PL_OK;
    }
    for (size_t i = 0; i < n_hosts && *ret_reason == PL_EXT_REASON_SCOPE; i++)
        if (pl_ext_host_covers(&hosts[i], &asked))
            *ret_reason = PL_EXT_REASON_COUNT;
    return PL_OK;
}

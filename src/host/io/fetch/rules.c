/* The rules for fetching: the URL, read by one parser; its port; and every address of its host. */
#include "io/fetch/fetch_int.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { MAX_URL = 8192, MAX_NAME = 255, MAX_SHOWN = 200 };

/* Fetch Standard, 2.9, "bad port": servers of other protocols, which might read a request as a
 * command. */
static const uint16_t bad_ports[] = {
    0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,    25,
    37,   42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,   109,
    110,  111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,   389,
    427,  465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,   556,
    563,  587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659,  4045,
    4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
};

static bool is_bad_port(int32_t port)
{
    for (size_t i = 0; i < sizeof bad_ports / sizeof *bad_ports; i++)
        if (bad_ports[i] == port)
            return true;
    return false;
}

static struct pl_str without_dot(struct pl_str host)
{
    return pl_str_slice(host, 0, host.len - (host.len > 1 && host.ptr[host.len - 1] == '.'));
}

static struct pl_str shown(struct pl_str text)
{
    return pl_str_slice(text, 0, MAX_SHOWN);
}

/* --- hosts the operator has named ------------------------------------------------------------ */

/* Reads "host" or "host:port" as in a URL; *ret_port -1: any port. The parser drops a scheme's
 * default port, so both schemes are tried. */
static bool read_allowed(struct pl_arena *arena, const char *entry, struct pl_str *ret_host,
                         int32_t *ret_port)
{
    static const char *const schemes[] = {"http://", "https://"};
    int32_t port = -1;
    struct pl_url url = {0};
    for (size_t i = 0; i < 2 && port < 0; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        pl_buf_adds(&text, schemes[i]);
        pl_buf_adds(&text, entry);
        if (text.status != PL_OK ||
            pl_url_parse(arena, pl_buf_str(&text), NULL, &url, NULL) != PL_OK)
            return false;
        port = url.port;
    }
    /* Only a host, and no wildcards: they would not work. */
    if (strpbrk(entry, "/\\@?#*"))
        return false;
    *ret_host = without_dot(url.host);
    *ret_port = port;
    return true;
}

bool pl_fetch_is_host(const char *entry)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_str host;
    int32_t port;
    pl_arena_init(&arena, 0);
    return read_allowed(&arena, entry, &host, &port);
}

static bool is_allowed(struct pl_arena *arena, const struct pl_fetch_rules *rules,
                       const struct pl_fetch_place *place)
{
    for (size_t i = 0; i < rules->n_allowed; i++) {
        struct pl_str host;
        int32_t port;
        if (read_allowed(arena, rules->allowed[i], &host, &port) && pl_str_eq(host, place->host) &&
            (port < 0 || port == place->port))
            return true;
    }
    return false;
}

/* --- addresses ------------------------------------------------------------------------------- */

static enum pl_status fail_unknown(struct pl_str host, const char *why, struct pl_error *err)
{
    return pl_fail(err, PL_NOT_FOUND, "there is no host %.*s%s%s", PL_STR_ARG(shown(host)),
                   why ? ": " : "", why ? why : "");
}

static bool add_address(struct pl_addresses *to, const struct pl_address *address)
{
    to->is_crowded = to->n == PL_FETCH_MAX_ADDRESSES;
    if (!to->is_crowded)
        to->list[to->n++] = *address;
    return !to->is_crowded;
}

static enum pl_status ask_system(struct pl_str host, struct pl_addresses *to, struct pl_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char name[MAX_NAME + 1];
    if (host.len > MAX_NAME)
        return fail_unknown(host, "the name is too long", err);
    memcpy(name, host.ptr, host.len);
    name[host.len] = '\0';
    int code = getaddrinfo(name, NULL, &hints, &found);
    if (code == EAI_MEMORY)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (code)
        return fail_unknown(host, gai_strerror(code), err);
    bool fits = true;
    for (struct addrinfo *at = found; at && fits; at = at->ai_next) {
        struct pl_address address = {.is_v6 = at->ai_family == AF_INET6};
        const struct sockaddr_in *v4 = (const void *)at->ai_addr;
        const struct sockaddr_in6 *v6 = (const void *)at->ai_addr;
        if (at->ai_family != AF_INET && !address.is_v6)
            continue;
        memcpy(address.bytes, address.is_v6 ? (const void *)&v6->sin6_addr : &v4->sin_addr,
               address.is_v6 ? 16 : 4);
        fits = add_address(to, &address);
    }
    freeaddrinfo(found);
    return PL_OK;
}

/* Addresses as text, one per line. */
static enum pl_status ask_other(struct pl_str host, const struct pl_fetch_rules *rules,
                                struct pl_addresses *to, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = rules->resolve(rules->ctx, host, &text, err);
    if (status == PL_OK)
        status = text.status;
    struct pl_str rest = pl_buf_str(&text);
    while (status == PL_OK && rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct pl_str line = pl_str_slice(rest, 0, end ? (size_t)(end - rest.ptr) : rest.len);
        struct pl_address address;
        rest = pl_str_slice(rest, line.len + 1, rest.len);
        if (!pl_address_parse(line, &address))
            status = fail_unknown(host, "its address cannot be read", err);
        else if (!add_address(to, &address))
            break;
    }
    return status;
}

enum pl_status pl_fetch_resolve(struct pl_str host, const struct pl_fetch_rules *rules,
                                struct pl_addresses *ret_addresses, struct pl_error *err)
{
    struct pl_addresses found = {0};
    enum pl_status status =
        rules->resolve ? ask_other(host, rules, &found, err) : ask_system(host, &found, err);
    if (status == PL_OK && !found.n)
        status = fail_unknown(host, NULL, err);
    if (status == PL_OK)
        *ret_addresses = found;
    return status;
}

/* All names are refused with the same sentence, whether unknown, without an address or internal:
 * the names and addresses of this network stay private. */
static enum pl_status refuse_name(const struct pl_fetch_place *place, struct pl_error *err)
{
    return pl_fail(err, PL_INVALID,
                   "%.*s is not fetched: there is no public host of this name; an operator can "
                   "allow it with --allow-fetch",
                   PL_STR_ARG(shown(place->host)));
}

/* The client named this address itself, so the reason may be told. */
static enum pl_status refuse_address(const struct pl_fetch_place *place, const char *word,
                                     struct pl_error *err)
{
    return pl_fail(err, PL_INVALID,
                   "%.*s is not fetched: it is not a public address (%s); an operator can allow "
                   "it with --allow-fetch",
                   PL_STR_ARG(shown(place->host)), word);
}

enum pl_status pl_fetch_check_addresses(const struct pl_fetch_place *place, struct pl_error *err)
{
    for (size_t i = 0; !place->is_allowed && i < place->addresses.n; i++) {
        const char *word = pl_address_special(&place->addresses.list[i]);
        if (word)
            return place->url.host_kind == PL_URL_HOST_ADDRESS ? refuse_address(place, word, err)
                                                               : refuse_name(place, err);
    }
    /* Only after the other checks: the number of addresses of an internal name is private too. */
    if (place->addresses.is_crowded)
        return pl_fail(err, PL_INVALID, "%.*s has more than %d addresses",
                       PL_STR_ARG(shown(place->host)), PL_FETCH_MAX_ADDRESSES);
    return PL_OK;
}

enum pl_status pl_fetch_check_name(const struct pl_fetch_place *place, enum pl_status looked_up,
                                   struct pl_error *err)
{
    if (looked_up == PL_OK)
        return pl_fetch_check_addresses(place, err);
    if (looked_up == PL_NOT_FOUND && !place->is_allowed)
        return refuse_name(place, err);
    return looked_up;
}

/* --- all of it ------------------------------------------------------------------------------- */

static enum pl_status check_url(const struct pl_url *url, struct pl_error *err)
{
    if (!pl_str_eq(url->scheme, PL_STR("http")) && !pl_str_eq(url->scheme, PL_STR("https")))
        return pl_fail(err, PL_INVALID, "only http and https are fetched, not \"%.*s:\"",
                       PL_STR_ARG(pl_str_slice(url->scheme, 0, 40)));
    if (url->username.len || url->password.len)
        return pl_fail(err, PL_INVALID,
                       "a URL with a name or a password before the host is not fetched");
    return PL_OK;
}

enum pl_status pl_fetch_admit(struct pl_arena *arena, struct pl_str text, const struct pl_url *base,
                              const struct pl_fetch_rules *rules, struct pl_fetch_place *ret_place,
                              struct pl_error *err)
{
    struct pl_fetch_place place = {0};
    if (text.len > MAX_URL)
        return pl_fail(err, PL_INVALID, "a URL of more than %d bytes is not fetched", MAX_URL);
    enum pl_status status = pl_url_parse(arena, text, base, &place.url, err);
    if (status == PL_SYNTAX) {
        if (err)
            err->status = PL_INVALID;
        return PL_INVALID;
    }
    if (status == PL_OK)
        status = check_url(&place.url, err);
    if (status != PL_OK)
        return status;
    place.host = without_dot(place.url.host);
    place.port = place.url.port >= 0 ? place.url.port : pl_url_default_port(place.url.scheme);
    place.is_allowed = is_allowed(arena, rules, &place);
    if (!place.is_allowed && is_bad_port(place.port))
        return pl_fail(err, PL_INVALID, "port %d belongs to another protocol and is not fetched",
                       (int)place.port);
    if (place.url.host_kind == PL_URL_HOST_ADDRESS) {
        (void)add_address(&place.addresses, &place.url.address);
        status = pl_fetch_check_addresses(&place, err);
    }
    if (status == PL_OK)
        *ret_place = place;
    return status;
}

enum pl_status pl_fetch_check(struct pl_arena *arena, struct pl_str url,
                              const struct pl_fetch_rules *rules, struct pl_error *err)
{
    struct pl_fetch_place place;
    enum pl_status status = pl_fetch_admit(arena, url, NULL, rules, &place, err);
    if (status != PL_OK || place.addresses.n)
        return status;
    status = pl_fetch_resolve(place.host, rules, &place.addresses, err);
    return pl_fetch_check_name(&place, status, err);
}

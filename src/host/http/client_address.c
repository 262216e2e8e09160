/* X-Forwarded-For is read from its end, for as long as the addresses are trusted proxies. */
#include "http/client_address.h"

#include "wire/address.h"

#include <stdio.h>

/* Reads an address and its number of significant bits. */
static bool read_range(struct pl_str text, struct pl_address *ret_address, unsigned *ret_n_bits)
{
    const char *slash = text.len ? memchr(text.ptr, '/', text.len) : NULL;
    size_t n = slash ? (size_t)(slash - text.ptr) : text.len;
    if (!pl_address_parse(pl_str_slice(text, 0, n), ret_address))
        return false;
    unsigned most = ret_address->is_v6 ? 128 : 32, bits = slash ? 0 : most;
    struct pl_str rest = pl_str_slice(text, n + 1, text.len);
    if (slash && (!rest.len || rest.len > 3))
        return false;
    for (size_t i = 0; slash && i < rest.len; i++) {
        if (rest.ptr[i] < '0' || rest.ptr[i] > '9')
            return false;
        bits = 10 * bits + (unsigned)(rest.ptr[i] - '0');
    }
    *ret_n_bits = bits;
    return bits <= most;
}

bool pl_proxy_is_valid(struct pl_str text)
{
    struct pl_address address;
    unsigned n_bits;
    return pl_str_eq(text, PL_STR("unix")) || read_range(text, &address, &n_bits);
}

static bool is_in(const struct pl_address *address, const struct pl_address *range, unsigned n_bits)
{
    if (address->is_v6 != range->is_v6 || memcmp(address->bytes, range->bytes, n_bits / 8) != 0)
        return false;
    unsigned rest = n_bits % 8, shift = 8 - rest;
    return !rest || address->bytes[n_bits / 8] >> shift == range->bytes[n_bits / 8] >> shift;
}

static bool is_proxy(struct pl_str text, const char *const *proxies)
{
    struct pl_address address, range;
    unsigned n_bits;
    bool is_address = pl_address_parse(text, &address);
    for (size_t i = 0; proxies && proxies[i]; i++) {
        struct pl_str proxy = pl_str_of(proxies[i]);
        if (pl_str_eq(text, proxy) ||
            (is_address && read_range(proxy, &range, &n_bits) && is_in(&address, &range, n_bits)))
            return true;
    }
    return false;
}

bool pl_proxy_is_named(const char *peer, const char *const *proxies)
{
    return is_proxy(pl_str_of(peer), proxies);
}

/* Strips spaces, brackets and port: "10.0.0.1", "10.0.0.1:99", "[::1]", "[::1]:99". */
static struct pl_str bare(struct pl_str text)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = pl_str_slice(text, 1, text.len);
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    if (text.len && text.ptr[0] == '[') {
        const char *end = memchr(text.ptr, ']', text.len);
        return end ? pl_str_slice(text, 1, (size_t)(end - text.ptr)) : text;
    }
    const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    bool is_v4 = colon && memchr(text.ptr, '.', (size_t)(colon - text.ptr));
    return is_v4 ? pl_str_slice(text, 0, (size_t)(colon - text.ptr)) : text;
}

/* Reads one header from its last entry to its first. True: the search is over. */
static bool walk(struct pl_str list, const char *const *proxies, char *ret_address)
{
    while (list.len) {
        size_t at = list.len;
        while (at && list.ptr[at - 1] != ',')
            at--;
        struct pl_str one = bare(pl_str_slice(list, at, list.len));
        struct pl_address address;
        if (!pl_address_parse(one, &address))
            return true;
        snprintf(ret_address, PL_CLIENT_ADDRESS_SIZE, "%.*s", PL_STR_ARG(one));
        if (!is_proxy(one, proxies))
            return true;
        list = pl_str_slice(list, 0, at ? at - 1 : 0);
    }
    return false;
}

void pl_client_address(const struct pl_http_head *head, const char *peer,
                       const char *const *proxies, char ret_address[PL_CLIENT_ADDRESS_SIZE])
{
    snprintf(ret_address, PL_CLIENT_ADDRESS_SIZE, "%s", peer);
    if (!head || !is_proxy(pl_str_of(peer), proxies))
        return;
    /* A proxy appends its entry, either to the last header or as a new header. */
    for (size_t i = head->n_headers; i-- > 0;)
        if (pl_http_name_is(head->headers[i].name, "x-forwarded-for") &&
            walk(head->headers[i].value, proxies, ret_address))
            return;
}

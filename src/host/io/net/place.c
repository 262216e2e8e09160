#include "io/net/place.h"

#include "base/text/decimal.h"

static bool read_host(struct pl_str host, struct pl_place *place)
{
    if (pl_str_eq(host, PL_STR("localhost"))) {
        (void)pl_address_parse(PL_STR("127.0.0.1"), &place->addresses[0]);
        (void)pl_address_parse(PL_STR("::1"), &place->addresses[1]);
        place->n_addresses = 2;
        return true;
    }
    bool is_v6 = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    place->n_addresses = 1;
    return pl_address_parse(is_v6 ? pl_str_slice(host, 1, host.len - 1) : host,
                            &place->addresses[0]) &&
           place->addresses[0].is_v6 == is_v6;
}

static bool read_authority(struct pl_place *place)
{
    struct pl_str host = place->authority, digits = {0};
    size_t n = host.len;
    while (n && host.ptr[n - 1] >= '0' && host.ptr[n - 1] <= '9')
        n--;
    if (n && n < host.len && host.ptr[n - 1] == ':') {
        digits = pl_str_slice(host, n, host.len);
        host = pl_str_slice(host, 0, n - 1);
    }
    int64_t port = 80;
    if (digits.len && (!pl_decimal_read(digits, &port) || port < 1 || port > UINT16_MAX))
        return false;
    place->port = (uint16_t)port;
    return read_host(host, place);
}

bool pl_place_find(const char *url, struct pl_place *ret_place, struct pl_str *ret_path)
{
    static const char scheme[] = "http://";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *rest = url + sizeof scheme - 1;
    size_t n_authority = strcspn(rest, "/");
    ret_place->authority = (struct pl_str){rest, n_authority};
    *ret_path = pl_str_of(rest + n_authority);
    for (size_t i = 0; i < ret_path->len; i++) {
        char c = ret_path->ptr[i];
        if (c <= ' ' || c >= 0x7F || c == '#')
            return false;
    }
    return ret_path->len && read_authority(ret_place);
}

bool pl_place_is_here(const struct pl_place *place)
{
    const char *kind = pl_address_special(&place->addresses[0]);
    return kind && strcmp(kind, "loopback") == 0;
}

/* The address of a URL whose host is a literal address or localhost: such servers need neither a
 * resolver nor TLS. */
#ifndef PL_IO_PLACE_H
#define PL_IO_PLACE_H

#include "wire/address.h"

enum { PL_PLACE_ADDRESSES = 2 };

struct pl_place {
    struct pl_str authority; /* as written in the URL */
    struct pl_address addresses[PL_PLACE_ADDRESSES];
    size_t n_addresses;
    uint16_t port;
};

/* Both results are views of the URL. False: it needs another transport (https, a name, a password
 * before the host), or a part of it is not understood. */
bool pl_place_find(const char *url, struct pl_place *ret_place, struct pl_str *ret_path);
/* Whether the server is on this machine: a proxy is only for other machines, and cannot reach
 * ours. */
bool pl_place_is_here(const struct pl_place *place);

#endif

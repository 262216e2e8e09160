/* The address of a URL, if it is a literal address or localhost: servers that need neither a
 * resolver nor TLS. */
#ifndef PL_IO_PLACE_H
#define PL_IO_PLACE_H

#include "wire/address.h"

enum { PL_PLACE_ADDRESSES = 2 };

struct pl_place {
    struct pl_str authority; /* as the URL spells it */
    struct pl_address addresses[PL_PLACE_ADDRESSES];
    size_t n_addresses;
    uint16_t port;
};

/* Both are views of the URL. False: it leads elsewhere (https, a name, a password before the host),
 * or something in it is not understood to the last byte. */
bool pl_place_find(const char *url, struct pl_place *ret_place, struct pl_str *ret_path);
/* On this machine: a proxy is for hosts elsewhere, and does not reach ours. */
bool pl_place_is_here(const struct pl_place *place);

#endif

/* Internet addresses: their text, and whether they belong to the public internet. */
#ifndef PL_WIRE_ADDRESS_H
#define PL_WIRE_ADDRESS_H

#include "base/buf.h"

struct pl_address {
    bool is_v6;
    uint8_t bytes[16]; /* network order; IPv4 in the first four */
};

/* RFC 4291 text without a zone; dotted IPv4 of exactly four decimal numbers. False: neither. */
bool pl_address_parse(struct pl_str text, struct pl_address *ret_address);
/* RFC 5952, or dotted. */
void pl_address_write(const struct pl_address *address, struct pl_buf *to);

/* The reason why an address is not global: "loopback", "private", "link-local", "shared"
 * (100.64/10), "multicast", "documentation", "unspecified", "reserved" … by the special-purpose
 * registries of IANA (RFC 6890 and successors); NULL if it is global. IPv4 embedded in IPv6
 * (mapped, compatible, 6to4, NAT64, Teredo) is checked too. */
const char *pl_address_special(const struct pl_address *address);

#endif

/* The address that a request came from, as reported by trusted proxies (trusted_proxies). */
#ifndef PL_HTTP_CLIENT_ADDRESS_H
#define PL_HTTP_CLIENT_ADDRESS_H

#include "wire/http1/http1.h"

#define PL_CLIENT_ADDRESS_SIZE 64

/* "10.0.0.1", "10.0.0.0/8", "fd00::/8", "unix". */
bool pl_proxy_is_valid(struct pl_str text);

/* Whether this peer is one of the proxies (ended by NULL; may be NULL). */
bool pl_proxy_is_named(const char *peer, const char *const *proxies);

/* `peer` is the other end of the connection. If it is one of `proxies` (ended by NULL; may be
 * NULL), the client is the last address of X-Forwarded-For that is not a proxy; anybody may have
 * written the entries before it. The search ends at the first entry that is not an address. */
void pl_client_address(const struct pl_http_head *head, const char *peer,
                       const char *const *proxies, char ret_address[PL_CLIENT_ADDRESS_SIZE]);

#endif

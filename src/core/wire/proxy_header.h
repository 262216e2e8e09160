/* The header that a proxy sends first on a connection to identify the client: the PROXY protocol,
 * version 1 (a line) and 2 (binary). */
#ifndef PL_WIRE_PROXY_HEADER_H
#define PL_WIRE_PROXY_HEADER_H

#include "wire/address.h"

#define PL_PROXY_HEADER_MAX 4096 /* including its extensions, which are skipped */

enum pl_proxy_result {
    PL_PROXY_MORE,  /* incomplete so far */
    PL_PROXY_WHOLE, /* complete, in *ret_header */
    PL_PROXY_WRONG, /* not a PROXY header */
};

struct pl_proxy_header {
    size_t n_bytes;           /* of the header */
    bool has_source;          /* false: sent for the proxy itself (a health check), or unknown */
    bool is_unix;             /* the client uses a Unix socket and has no address */
    struct pl_address source; /* address of the client */
    uint16_t source_port;
};

/* `bytes` is everything received on the connection so far. */
enum pl_proxy_result pl_proxy_header_read(struct pl_str bytes, struct pl_proxy_header *ret_header);

#endif

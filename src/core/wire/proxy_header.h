/* The header that a proxy puts before the bytes of a connection, to say whose they are: the PROXY
 * protocol, version 1 (a line) and 2 (binary). */
#ifndef PL_WIRE_PROXY_HEADER_H
#define PL_WIRE_PROXY_HEADER_H

#include "wire/address.h"

#define PL_PROXY_HEADER_MAX 4096 /* with its extensions, which are skipped */

enum pl_proxy_result {
    PL_PROXY_MORE,  /* it may become one, but is not whole */
    PL_PROXY_WHOLE, /* *ret_header has it */
    PL_PROXY_WRONG, /* it is not one */
};

struct pl_proxy_header {
    size_t n_bytes;           /* of the header */
    bool has_source;          /* false: of the proxy itself (a health check), or not known */
    bool is_unix;             /* the client has no address but a Unix socket */
    struct pl_address source; /* of the client */
    uint16_t source_port;
};

/* The beginning of a connection, all of it so far. */
enum pl_proxy_result pl_proxy_header_read(struct pl_str bytes, struct pl_proxy_header *ret_header);

#endif

/* Adds an extension, or updates one to another version. */
#ifndef PL_SERVICE_EXTENSIONS_EXTENSION_ADD_H
#define PL_SERVICE_EXTENSIONS_EXTENSION_ADD_H

#include "http/exchange.h"

/* POST /api/extensions. On the shard; finishes the exchange. */
void pl_extension_add(struct pl_exchange *x);

/* Reads a list of capabilities of the body as lines; {NULL, 0} if absent. False after making a
 * problem of an unknown one. */
bool pl_extension_body_capabilities(struct pl_exchange *x, const char *name,
                                    struct pl_str *ret_lines);

#endif

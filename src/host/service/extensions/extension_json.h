/* An extension as the API shows it. */
#ifndef PL_SERVICE_EXTENSIONS_EXTENSION_JSON_H
#define PL_SERVICE_EXTENSIONS_EXTENSION_JSON_H

#include "ext/package/package.h"
#include "http/exchange.h"

/* The row and, where it is readable, its package; `tools` may be NULL. */
void pl_extension_write(struct pl_json_out *out, struct pl_exchange *x,
                        const struct pl_extension_row *row,
                        const struct pl_extension_tool_row *tools, size_t n_tools);

/* What a package may do and what the policy says to it: one object for each requirement; what the version before did not ask
 * for is marked. `before` may be NULL. */
void pl_extension_write_capabilities(struct pl_json_out *out, const struct pl_ext_package *package,
                                     const struct pl_ext_manifest *before);

/* The same as a text for a person, a line for each. */
void pl_extension_say_capabilities(struct pl_buf *to, const struct pl_ext_manifest *manifest);

/* The one the path names; false after making a problem. On a worker. */
bool pl_extension_find(struct pl_exchange *x, struct pl_extension_row *ret_row);
/* The host reads the record again, after a change; on a worker. */
void pl_extension_reload(struct pl_exchange *x);
/* With its tools. */
void pl_extension_tell(struct pl_exchange *x, struct pl_str id);

#endif

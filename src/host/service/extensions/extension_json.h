/* An extension as the API shows it. */
#ifndef PL_SERVICE_EXTENSIONS_EXTENSION_JSON_H
#define PL_SERVICE_EXTENSIONS_EXTENSION_JSON_H

#include "ext/package/package.h"
#include "http/exchange.h"

/* Writes the row and, if readable, its package; `tools` may be NULL. */
void pl_extension_write(struct pl_json_out *out, struct pl_exchange *x,
                        const struct pl_extension_row *row,
                        const struct pl_extension_tool_row *tools, size_t n_tools);

/* Writes what a package may do and what the policy allows: one object per requirement. Marks
 * those that the previous version did not have. `before` may be NULL. */
void pl_extension_write_capabilities(struct pl_json_out *out, const struct pl_ext_package *package,
                                     const struct pl_ext_manifest *before);

/* The same as text for a person, one line each. */
void pl_extension_say_capabilities(struct pl_buf *to, const struct pl_ext_manifest *manifest);

/* Finds the extension named in the path; false after making a problem. On a worker. */
bool pl_extension_find(struct pl_exchange *x, struct pl_extension_row *ret_row);
/* Makes the host read the record again after a change; on a worker. */
void pl_extension_reload(struct pl_exchange *x);
/* Answers with the extension and its tools. */
void pl_extension_tell(struct pl_exchange *x, struct pl_str id);

#endif

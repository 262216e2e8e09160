/* Restates parts that only one vendor has.
 *
 * A document of several blocks, a web search, a program that ran in the vendor's sandbox, a call to
 * an MCP server: such a part has a gist (conv/gist.h). If the target has a shape for it, the part
 * stays of kind OTHER with its gist, and the target's writer writes it. Otherwise its content
 * becomes text of the same role, between two lines that say what it was, and this is reported. */
#ifndef PL_FORMAT_RESTATE_H
#define PL_FORMAT_RESTATE_H

#include "format/format.h"

/* Call between reading and repairing. Does nothing if no part has a gist. PL_NOMEM, or PL_LIMIT
 * with a message if the source has too many items. */
enum pl_status pl_restate(struct pl_conv *conv, const struct pl_conversion *conversion,
                          struct pl_error *err);

#endif

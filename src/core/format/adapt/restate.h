/* Saying elsewhere what only one vendor has.
 *
 * A document made of several blocks, a search of the web, a program that ran in the vendor's
 * sandbox, a call of an MCP server: such a part has a gist (conv/gist.h). Where the target has a
 * shape for it, it stays a part of kind OTHER with the gist, and the target's writer says it.
 * Elsewhere its words become text of whoever said it, between two lines that tell what it was, and
 * that is reported. */
#ifndef PL_FORMAT_RESTATE_H
#define PL_FORMAT_RESTATE_H

#include "format/format.h"

/* Between reading and repairing. Nothing happens where no part has a gist. PL_NOMEM, or PL_LIMIT
 * with a message when the source has too many items. */
enum pl_status pl_restate(struct pl_conv *conv, const struct pl_format_task *task,
                          struct pl_error *err);

#endif

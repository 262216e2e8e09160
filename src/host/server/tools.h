/* What models are offered, from the one table in tools.c. */
#ifndef PL_SERVER_TOOLS_H
#define PL_SERVER_TOOLS_H

#include "base/buf.h"

/* Appends the definitions for a call of this model: a JSON array of {name, description,
 * input_schema}. `has_memory`: the session may remember. */
void pl_tools_define(struct pl_str model, bool has_memory, struct pl_buf *to);
/* Appends the answer of GET /api/tools. */
void pl_tools_list(struct pl_buf *to);

#endif

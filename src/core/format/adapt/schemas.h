/* Schemas of tools, for vendors that accept only some at their top. */
#ifndef PL_FORMAT_SCHEMAS_H
#define PL_FORMAT_SCHEMAS_H

#include "format/format.h"

/* OpenAI and Anthropic require the type "object" of a tool's schema and refuse oneOf, anyOf and
 * allOf beside it. Lists the properties of all alternatives together instead, and reports it. Call
 * in the modes repair and gateway. Linear. Running out of memory is in conv->status. */
void pl_format_flatten(struct pl_conv *conv, const struct pl_conversion *conversion);

#endif

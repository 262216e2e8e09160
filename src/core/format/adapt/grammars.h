/* Schemas that Anthropic makes grammars of: that of an answer, and those of strict tools. */
#ifndef PL_FORMAT_GRAMMARS_H
#define PL_FORMAT_GRAMMARS_H

#include "format/format.h"

/* Removes the bounds that Anthropic refuses in such schemas, writes oneOf as anyOf, and closes
 * their objects; reports each. Call in the modes repair and gateway, for another format. Linear.
 * Running out of memory is in conv->status. */
void pl_format_fit_grammars(struct pl_conv *conv, const struct pl_conversion *conversion);

#endif

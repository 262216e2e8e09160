/* Model names with the provider that a Parley server asks: "openai-chat/gpt-4o". The vendor knows
 * the name after the slash. */
#ifndef PL_FORMAT_MODEL_NAME_H
#define PL_FORMAT_MODEL_NAME_H

#include "format/format.h"

/* The vendor's own name: a view of `name` without the provider, if it has one. */
struct pl_str pl_model_bare_name(struct pl_str name);
/* The format of the provider before the slash; NULL: there is none. */
const struct pl_format *pl_model_name_format(struct pl_str name);

#endif

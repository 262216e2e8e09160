/* Model names with the provider of a Parley server: "openai-chat/gpt-4o". The vendor knows only the
 * name after the slash. */
#ifndef PL_FORMAT_MODEL_NAME_H
#define PL_FORMAT_MODEL_NAME_H

#include "format/format.h"

/* The vendor's name: a view of `name` without the provider. */
struct pl_str pl_model_bare_name(struct pl_str name);
/* The format of the provider before the slash; NULL: none. */
const struct pl_format *pl_model_name_format(struct pl_str name);

#endif

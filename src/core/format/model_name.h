/* Names of models with the provider that a server of ours asks: "openai-chat/gpt-4o". The vendor itself
 * knows the name behind the slash. */
#ifndef PL_FORMAT_MODEL_NAME_H
#define PL_FORMAT_MODEL_NAME_H

#include "format/format.h"

/* The vendor's own name: a view of `name`, which stays as it is where no provider of ours stands in
 * front. */
struct pl_str pl_model_bare_name(struct pl_str name);
/* The format that the provider in front speaks; NULL: there is none. */
const struct pl_format *pl_model_name_format(struct pl_str name);

#endif

/* The models that a key may use: names, one per line. */
#ifndef PL_ACCESS_MODEL_LIST_H
#define PL_ACCESS_MODEL_LIST_H

#include "base/str.h"

#include <stdbool.h>

/* Whether the list has the name, or a line "vendor/" and a star that matches it. An empty list has
 * every name. */
bool pl_model_list_has(struct pl_str list, struct pl_str name);

#endif

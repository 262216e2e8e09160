/* Declarations of tools, and the choice among them. */
#ifndef PL_FORMAT_DECLARED_H
#define PL_FORMAT_DECLARED_H

#include "format/format.h"

/* Drops tools whose names are taken, and a choice of tools that are not declared. Call after the
 * repairs, which may declare tools, in the modes repair and gateway. Linear. Running out of memory
 * is in conv->status. */
void pl_format_declare(struct pl_conv *conv, const struct pl_conversion *conversion);

#endif

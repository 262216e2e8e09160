/* The bounds within which a vendor accepts a setting. */
#ifndef PL_FORMAT_LIMITS_H
#define PL_FORMAT_LIMITS_H

#include "format/format.h"

/* Moves settings of a request within the bounds of the target, and reports each. Call before the
 * repairs, in the modes repair and gateway. Running out of memory is in conv->status. */
void pl_format_limit(struct pl_conv *conv, const struct pl_conversion *conversion);

#endif

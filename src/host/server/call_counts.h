/* What the meter counts for keys and users, counted for models as well. */
#ifndef PL_SERVER_CALL_COUNTS_H
#define PL_SERVER_CALL_COUNTS_H

#include "access/meter.h"

extern const struct pl_meter_watch pl_call_counts;

#endif

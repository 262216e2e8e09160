/* Counts usage per model. The meter counts the same usage per key and user. */
#ifndef PL_SERVER_CALL_COUNTS_H
#define PL_SERVER_CALL_COUNTS_H

#include "access/meter/meter.h"

extern const struct pl_meter_watch pl_call_counts;

#endif

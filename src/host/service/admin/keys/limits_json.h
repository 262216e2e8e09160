/* Limits of keys and users as JSON, from one table of names. */
#ifndef PL_SERVICE_ADMIN_LIMITS_JSON_H
#define PL_SERVICE_ADMIN_LIMITS_JSON_H

#include "http/exchange.h"
#include "json/write.h"
#include "store/gateway.h"

/* Reads the first n limits of the member "limits" of the body. Named limits are set; null is 0
 * (no limit); the others stay (-1). Null in place of the object removes all. False: the body has
 * no limits. */
bool pl_limits_read(struct pl_exchange *x, enum pl_usage_limit n, struct pl_limits *ret_limits);
/* The member "limits"; null if there are none. */
void pl_limits_write(struct pl_json_out *out, enum pl_usage_limit n,
                     const struct pl_limits *limits);
/* Writes micro-dollars as a number of dollars. */
void pl_usd_write(struct pl_json_out *out, int64_t micro);

#endif

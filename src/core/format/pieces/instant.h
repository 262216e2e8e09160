/* The time of a message: seconds in seed 001, milliseconds in seed 000, RFC 3339 in seed 003. */
#ifndef PL_FORMAT_INSTANT_H
#define PL_FORMAT_INSTANT_H

#include "format/format.h"

enum pl_instant_unit { PL_INSTANT_SECONDS, PL_INSTANT_MILLISECONDS, PL_INSTANT_RFC3339 };

/* Writes key and value, in the target's unit. A number is in milliseconds if the source is an
 * envelope, and in seconds otherwise; a string is RFC 3339. If the value is absent or not a time,
 * writes nothing and returns false: it then has no fate. */
bool pl_instant_write(struct pl_writer *w, const char *key, struct pl_val when,
                      const struct pl_conversion *conversion, enum pl_instant_unit unit);

/* RFC 3339 date and time as microseconds since 1970. */
bool pl_instant_parse(struct pl_str text, int64_t *ret_us);

#endif

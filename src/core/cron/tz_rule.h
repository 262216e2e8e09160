/* The rule in the footer of a TZif file: a POSIX TZ string with the extensions of RFC 9636, section
 * 3.3.1 (hours from -167 to 167). */
#ifndef PL_CRON_TZ_RULE_H
#define PL_CRON_TZ_RULE_H

#include "cron/tzif.h"

/* Returns false if the text is malformed. *ret_rule points into the text. */
bool pl_tz_rule_read(struct pl_str text, struct pl_tz_rule *ret_rule);

/* Computes the era of an instant after the table. On entry *era starts at the last change of the
 * table (start_s); it is narrowed to the changes of the rule around the instant. */
void pl_tz_rule_era(const struct pl_tz_rule *rule, int64_t unix_s, struct pl_tz_era *era);

#endif

/* The requirements of a target (conv/repair/repair.h, conv/lint/lint.h), by its format and
 * profile. */
#ifndef PL_FORMAT_RULES_H
#define PL_FORMAT_RULES_H

#include "conv/lint/lint.h"
#include "conv/repair/repair.h"
#include "format/format.h"

/* The profile of a target: the given one, else the default of its format; NULL: none. */
const struct pl_profile *pl_format_profile(const struct pl_conversion *conversion);

/* No rules for responses. In mode convert only the rules for calls, in an export of a session or
 * for turns: everything else is translated unchanged. */
struct pl_repair_rules pl_format_rules(const struct pl_conversion *conversion);

/* Lint options for a document of format `as` that is meant for `target` (NULL: its own format)
 * under `profile` (NULL: none). `now_s` is the time in seconds since 1970, 0 if unknown. */
struct pl_lint_opts pl_format_lint_opts(const struct pl_format *as, const struct pl_format *target,
                                        const struct pl_profile *profile, int64_t now_s);

#endif

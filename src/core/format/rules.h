/* What a target requires of a conversation (conv/repair/repair.h, conv/lint/lint.h), by its format
 * and profile. */
#ifndef PL_FORMAT_RULES_H
#define PL_FORMAT_RULES_H

#include "conv/lint/lint.h"
#include "conv/repair/repair.h"
#include "format/format.h"

/* The profile of a target: the one that was named, else its format's own; NULL: there is none. */
const struct pl_profile *pl_format_profile(const struct pl_format_task *task);

/* No rules for responses, and in mode convert only those for calls, in an export of a session or
 * for turns: the rest is translated as it is. */
struct pl_repair_rules pl_format_rules(const struct pl_format_task *task);

/* What lint looks for in a document of format `as` (`doc` is the document, for its model) that is
 * meant for `target` (NULL: for its own) under `profile` (NULL: none). `now_s` is the time in
 * seconds since 1970, 0 when it is not known. */
struct pl_lint_opts pl_format_lint_opts(const struct pl_format *as, const struct pl_format *target,
                                        const struct pl_profile *profile, int64_t now_s);

#endif

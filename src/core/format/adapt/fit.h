/* Adapts settings to the model (format/profile.h), above all its thinking. */
#ifndef PL_FORMAT_FIT_H
#define PL_FORMAT_FIT_H

#include "conv/repair/repair.h"
#include "format/format.h"

/* Changes the thinking settings of a request and the name of its token limit as the target's
 * profile requires, and removes the tools if the model calls none. Reports each change. Lifts the
 * rules that apply only while a model thinks. Call it before the repairs, which also use the
 * thinking settings. Does nothing in mode convert and for responses. Running out of memory is in
 * conv->status. */
void pl_format_fit(struct pl_conv *conv, const struct pl_conversion *conversion,
                   struct pl_repair_rules *rules);

/* Everything between reading and writing: restates parts that only the source's format has, fits
 * the conversation to the target, and repairs it as the mode requires. PL_INVALID: it cannot
 * be repaired. */
enum pl_status pl_format_prepare(struct pl_conv *conv, const struct pl_conversion *conversion,
                                 struct pl_error *err);

#endif

/* Translates settings into words that the model accepts (format/profile.h), above all how much it
 * should think. */
#ifndef PL_FORMAT_FIT_H
#define PL_FORMAT_FIT_H

#include "conv/repair/repair.h"
#include "format/format.h"

/* Changes the thinking settings of a request and the name of its token limit as the target's
 * profile requires, and reports each change. Lifts the rules that hold only while a model thinks.
 * Call it before the repairs, which look at thinking too. Does nothing in mode convert and for
 * responses. Out of memory is in conv->status. */
void pl_format_fit(struct pl_conv *conv, const struct pl_format_task *task,
                   struct pl_repair_rules *rules);

/* Everything between reading and writing: restates what only the source's format can say, fits the
 * conversation to the target, and repairs it as the task's mode asks. PL_INVALID: it cannot be
 * repaired. */
enum pl_status pl_format_prepare(struct pl_conv *conv, const struct pl_format_task *task,
                                 struct pl_error *err);

#endif

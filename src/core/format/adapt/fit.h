/* Settings in words that the model knows (format/profile.h): above all, how much it shall think. */
#ifndef PL_FORMAT_FIT_H
#define PL_FORMAT_FIT_H

#include "conv/repair/repair.h"
#include "format/format.h"

/* Changes what a request says about thinking, and what its limit is called, as the target's profile
 * asks, each change reported; lifts the rules that hold only while a model thinks. Before the
 * repairs, which look at thinking too. Nothing in mode convert and for responses. Running out of
 * memory shows in conv->status. */
void pl_format_fit(struct pl_conv *conv, const struct pl_format_task *task,
                   struct pl_repair_rules *rules);

/* What is done between reading and writing: what only the source's format can say is restated, and
 * the conversation is fitted to the target and repaired as the task's mode asks. PL_INVALID: it
 * cannot be repaired. */
enum pl_status pl_format_prepare(struct pl_conv *conv, const struct pl_format_task *task,
                                 struct pl_error *err);

#endif

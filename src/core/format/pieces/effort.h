/* Reasoning effort: the words and their token budgets.
 *
 * One table for all formats, so that a value stays the same through several conversions. */
#ifndef PL_FORMAT_EFFORT_H
#define PL_FORMAT_EFFORT_H

#include "conv/conv.h"

/* "none", "minimal", "low", "medium", "high", "xhigh", "max"; NULL for PL_EFFORT_UNSET. */
const char *pl_effort_word(enum pl_effort effort);

/* The effort of a string node, in lower or upper case; PL_EFFORT_UNSET for anything else. */
enum pl_effort pl_effort_of_word(struct pl_conv *conv, const struct pl_json_node *node);

/* The thinking budget in tokens; 0 for none and unset. */
int64_t pl_effort_budget(enum pl_effort effort);

/* The smallest effort whose budget holds n_tokens; PL_EFFORT_NONE for 0, PL_EFFORT_UNSET for a
 * negative number (unlimited, at Gemini). */
enum pl_effort pl_effort_of_budget(int64_t n_tokens);

#endif

/* Reasoning effort: the words, and the token budgets they stand for.
 *
 * One table for all formats, so that a value that goes through several of them stays the same. */
#ifndef PL_FORMAT_EFFORT_H
#define PL_FORMAT_EFFORT_H

#include "conv/conv.h"

/* "none", "minimal", "low", "medium", "high", "xhigh", "max"; NULL for PL_EFFORT_UNSET. */
const char *pl_effort_word(enum pl_effort effort);

/* The effort a string node names, in small or capital letters; PL_EFFORT_UNSET for anything else.
 */
enum pl_effort pl_effort_of_word(struct pl_conv *conv, const struct pl_json_node *node);

/* Tokens to think with; 0 for none and unset. */
int64_t pl_effort_budget(enum pl_effort effort);

/* The smallest effort whose budget holds n_tokens; PL_EFFORT_NONE for 0, PL_EFFORT_UNSET for a
 * negative number (Gemini's "as much as you like"). */
enum pl_effort pl_effort_of_budget(int64_t n_tokens);

#endif

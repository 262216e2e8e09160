/* Making a conversation fit into a number of tokens.
 *
 * What goes, oldest first, and only as much as is needed:
 *   1. pictures (and films) become a short text in their place
 *   2. so does audio   3. tool results become a stub that names the tool and the size
 *   4. whole exchanges are replaced by one text, the history summary
 *   5. at last, what was done to old pictures, sound and results is done to those that the model
 *      has not read yet
 * An exchange is a user message with everything up to the next one; after the last user message,
 * where an agent may have worked for a long time, it is the assistant's words and calls with their
 * results. System instructions, the last user message and the last step after it always stay, and
 * a call and its result stay or go together. */
#ifndef PL_CONV_TRIM_H
#define PL_CONV_TRIM_H

#include "conv/count.h"

struct pl_trim_opts {
    const struct pl_count_rule *rule; /* borrowed */
    uint64_t max_tokens;
    struct pl_str summary; /* said in place of what is left out; empty: a count of it is said */
};

/* Tokens before and after; equal when it fitted already and nothing was touched. */
struct pl_trimmed {
    uint64_t n_before, n_after;
};

/* Changes `conv` until it fits; every change is reported in conv->losses with its tokens and
 * marked (is_changed), so that all else can keep its bytes. Linear in the conversation. PL_INVALID
 * with a reason when it cannot fit, PL_NOMEM; `conv` is not to be written then. */
enum pl_status pl_conv_trim(struct pl_conv *conv, const struct pl_trim_opts *opts,
                            struct pl_trimmed *ret_trimmed, struct pl_error *err);

#endif

/* Making a conversation fit into a number of tokens.
 *
 * These steps run, oldest content first, and only as far as needed:
 *   1. a short text replaces images (and videos)
 *   2. a short text replaces audio
 *   3. a stub with the tool name and the size replaces a tool result
 *   4. one text, the history summary, replaces whole exchanges
 *   5. as a last resort, steps 1 to 3 apply to content that the model has not read yet
 * An exchange is a user message with everything up to the next one. After the last user message,
 * where an agent may have worked for a long time, it is the assistant's text and calls with their
 * results. System instructions, the last user message and the last step after it always stay, and a
 * call and its result stay or go together. */
#ifndef PL_CONV_TRIM_H
#define PL_CONV_TRIM_H

#include "conv/count.h"

struct pl_trim_opts {
    const struct pl_count_rule *rule; /* borrowed */
    uint64_t max_tokens;
    struct pl_str summary; /* replaces the messages that were left out; empty: a count of them
                              does */
};

/* Tokens before and after; equal if it already fitted and nothing was changed. */
struct pl_trimmed {
    uint64_t n_before, n_after;
};

/* Changes `conv` until it fits. Every change is reported in conv->losses with its tokens and marked
 * (is_changed), so that everything else can keep its bytes. Linear in the conversation. PL_INVALID
 * with a reason if it cannot fit, PL_NOMEM; `conv` must not be written then. */
enum pl_status pl_conv_trim(struct pl_conv *conv, const struct pl_trim_opts *opts,
                            struct pl_trimmed *ret_trimmed, struct pl_error *err);

#endif

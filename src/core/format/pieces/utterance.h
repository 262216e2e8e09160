/* The messages of a conversation for formats with one message per speaker.
 *
 * A canonical message may hold results beside other text (a user message of a vendor that puts
 * results there), and one utterance may be several messages (reasoning, text and calls that a
 * vendor keeps as separate items). An utterance is what one speaker says at once: the parts of one
 * or more messages in order, or exactly one tool result. */
#ifndef PL_FORMAT_UTTERANCE_H
#define PL_FORMAT_UTTERANCE_H

#include "conv/conv.h"

struct pl_utterance {
    enum pl_role role;                /* tool: parts[0] is a result and the only part */
    const struct pl_message *message; /* its first message */
    const struct pl_part *const *parts;
    uint32_t n_parts;
    bool is_rest; /* an earlier message has the id, name, time and metadata of this one */
};

struct pl_utterances {
    struct pl_utterance *ptr; /* arena */
    size_t len;
};

/* Makes all utterances, in order. They point into the conversation, which must not grow any more.
 * PL_NOMEM is the only failure. */
enum pl_status pl_utterances_make(struct pl_conv *conv, struct pl_utterances *ret);

#endif

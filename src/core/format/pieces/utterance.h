/* The messages of a conversation as formats with one message per speaker have them.
 *
 * A canonical message may hold results beside other words (a user's message of a vendor that
 * answers tools there), and one utterance may be several messages (reasoning, words and calls that
 * a vendor keeps as separate items). An utterance is what one speaker says at once: the parts of
 * one or more messages in their order, or exactly one tool result. */
#ifndef PL_FORMAT_UTTERANCE_H
#define PL_FORMAT_UTTERANCE_H

#include "conv/conv.h"

struct pl_utterance {
    enum pl_role role;                /* tool: parts[0] is a result, and the only part */
    const struct pl_message *message; /* the first one it is made of */
    const struct pl_part *const *parts;
    uint32_t n_parts;
    bool is_rest; /* a message before it says the id, name, time and metadata of this one */
};

struct pl_utterances {
    struct pl_utterance *ptr; /* arena */
    size_t len;
};

/* All of them, in order; they point into the conversation, which must not grow any more. PL_NOMEM
 * is the only failure. */
enum pl_status pl_utterances_make(struct pl_conv *conv, struct pl_utterances *ret);

#endif

/* Counts the tokens of a conversation, by kind.
 *
 * Text is counted with a vocabulary and, for a vendor that publishes none, scaled; messages, calls
 * and tools cost a few tokens besides their text (tokens/model.h); images and audio are measured by
 * their headers (tokens/media.h). If the number cannot be known, it is estimated, and the tally
 * says so.
 *
 *     struct pl_tally tally = {0};
 *     enum pl_status status = pl_count_conv(&rule, conv, &tally);
 *     if (status == PL_OK)
 *         n = pl_tally_total(&rule, &tally);
 *
 * A tally holds unscaled numbers, so tallies can be added and subtracted, and the total does not
 * depend on how a text is cut into parts. */
#ifndef PL_CONV_COUNT_H
#define PL_CONV_COUNT_H

#include "conv/conv.h"
#include "tokens/model.h"

enum pl_tally_kind {
    PL_TALLY_MESSAGES,
    PL_TALLY_TOOLS,
    PL_TALLY_SYSTEM, /* instructions, and the schema of the answer */
    PL_TALLY_IMAGES, /* and videos */
    PL_TALLY_AUDIO,
    PL_TALLY_KIND_COUNT,
};

/* "messages", "tools", "system", "images", "audio". */
const char *pl_tally_name(enum pl_tally_kind kind);

struct pl_tally {
    uint64_t by[PL_TALLY_KIND_COUNT];
    bool is_estimated; /* a part of it is a guess */
};

struct pl_count_rule {
    const struct pl_tokens *tokens; /* borrowed; the vocabulary of counting.encoding */
    struct pl_model_counting counting;
};

/* Each adds to *tally. PL_NOMEM is the only failure; the tally may then be incomplete. */
enum pl_status pl_count_text(const struct pl_count_rule *rule, struct pl_str text,
                             uint64_t *n_tokens);
/* A part in a message of role `role`. */
enum pl_status pl_count_part(const struct pl_count_rule *rule, struct pl_conv *conv,
                             enum pl_role role, const struct pl_part *part, struct pl_tally *tally);
enum pl_status pl_count_message(const struct pl_count_rule *rule, struct pl_conv *conv,
                                const struct pl_message *message, struct pl_tally *tally);
/* Everything but the messages: tools, the schema of the answer, and the fixed cost of a request. */
enum pl_status pl_count_frame(const struct pl_count_rule *rule, struct pl_conv *conv,
                              struct pl_tally *tally);
/* Everything. Linear in the conversation. */
enum pl_status pl_count_conv(const struct pl_count_rule *rule, struct pl_conv *conv,
                             struct pl_tally *tally);

void pl_tally_add(struct pl_tally *tally, const struct pl_tally *more);
/* Subtracts an earlier tally. is_estimated stays set. */
void pl_tally_take(struct pl_tally *tally, const struct pl_tally *less);

/* Tokens of one kind, and of all kinds, scaled by the rule. */
uint64_t pl_tally_of(const struct pl_count_rule *rule, const struct pl_tally *tally,
                     enum pl_tally_kind kind);
uint64_t pl_tally_total(const struct pl_count_rule *rule, const struct pl_tally *tally);
/* Whether the total is a guess, by the rule or by the tally. */
static inline bool pl_tally_is_estimated(const struct pl_count_rule *rule,
                                         const struct pl_tally *tally)
{
    return rule->counting.is_estimated || tally->is_estimated;
}

#endif

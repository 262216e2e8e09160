/* Inside trim: the state while a conversation is made smaller. */
#ifndef PL_CONV_TRIM_INT_H
#define PL_CONV_TRIM_INT_H

#include "conv/pairing.h"
#include "conv/trim/trim.h"

/* Messages that stay or go together. */
struct pl_trim_unit {
    uint32_t first, end;
    bool is_kept;
};

/* How many messages of each kind were left out. */
struct pl_trim_census {
    uint32_t n_users, n_assistants, n_results;
};

struct pl_trim {
    struct pl_conv *conv;            /* borrowed */
    const struct pl_trim_opts *opts; /* borrowed */
    struct pl_pairing pairing;       /* owned */
    uint32_t n_messages;
    uint32_t last_user;  /* index of the last user message; n_messages: none */
    uint32_t last_first; /* index of the first message of its element: results in it come first */
    uint32_t tail;       /* first message of the last step after it; n_messages: none */
    struct pl_tally *costs;            /* arena; of each message */
    bool *is_dropped;                  /* arena; by message */
    struct pl_tally total;             /* of the remaining messages, without the summary */
    PL_VEC(struct pl_trim_unit) units; /* owned */
    struct pl_trim_census gone;
    struct pl_str earlier;              /* arena; words of earlier summaries that were left out */
    const struct pl_json_node *element; /* of the source's list: progress of element_of() */
    struct pl_str summary;              /* arena or borrowed; empty while nothing is left out */
    uint64_t n_summary;                 /* its tokens, including those of a message */
    bool is_touched;                    /* anything was changed */
    bool is_last_resort;                /* results in the last user message may be changed too */
};

static inline bool pl_trim_is_system(const struct pl_trim *t, uint32_t i)
{
    enum pl_role role = t->conv->messages.ptr[i].role;
    return role == PL_ROLE_SYSTEM || role == PL_ROLE_DEVELOPER;
}

/* Whether it is the last user message, or a result in it. */
static inline bool pl_trim_is_last(const struct pl_trim *t, uint32_t i)
{
    return i >= t->last_first && i <= t->last_user && i < t->n_messages;
}

static inline uint64_t pl_trim_total(const struct pl_trim *t)
{
    struct pl_tally all = t->total;
    all.by[PL_TALLY_MESSAGES] += t->n_summary;
    return pl_tally_total(t->opts->rule, &all);
}

static inline bool pl_trim_fits(const struct pl_trim *t)
{
    return pl_trim_total(t) <= t->opts->max_tokens;
}

/* Finds the last user message and the tail, and cuts the conversation into units. */
enum pl_status pl_trim_cut(struct pl_trim *t);

/* Until it fits, replaces parts of these kinds (PL_PART_BIT) in the messages [first, end) with
 * placeholders, and results with stubs. System instructions and the user's own words in the last
 * user message are left alone. */
enum pl_status pl_trim_media(struct pl_trim *t, uint32_t first, uint32_t end, uint32_t part_bits);
enum pl_status pl_trim_results(struct pl_trim *t, uint32_t first, uint32_t end);

/* summary.c: whether a text is the summary of an earlier trim. Its words are kept for the new
 * summary, which begins with them. */
bool pl_trim_is_summary(struct pl_conv *conv, const struct pl_part *part);
void pl_trim_keep_summary(struct pl_trim *t, const struct pl_part *part);
/* `is_short`: without a count of the messages that were left out. Arena or static. */
struct pl_str pl_trim_write_summary(struct pl_trim *t, bool is_short);

/* Leaves out units, oldest first, until it fits. */
enum pl_status pl_trim_units(struct pl_trim *t);

#endif

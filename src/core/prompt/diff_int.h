/* Shared by the parts of a comparison: the blocks and how they are matched (diff_match.c), the
 * words of a changed one (diff_words.c), everything else member by member (diff_members.c). */
#ifndef PL_PROMPT_DIFF_INT_H
#define PL_PROMPT_DIFF_INT_H

#include "prompt/diff.h"

#include "json/json.h"
#include "json/write.h"

#define PL_DIFF_NONE UINT32_MAX

struct pl_diff_block {
    const struct pl_json_node *node; /* the message; NULL: the system prompt, or a text */
    struct pl_str id;                /* empty: it has none */
    struct pl_str role;              /* empty: it has none */
    struct pl_str text; /* what it says: the texts of its parts, a blank line between */
    uint32_t place;     /* among the messages; 0 for the others */
    uint32_t match;     /* the same block of the other side, or PL_DIFF_NONE */
    bool is_moved;      /* of a matched one: it changed places with another */
};

/* One of the two prompts. */
struct pl_diff_side {
    struct pl_json_doc doc; /* root NULL: a text */
    struct pl_diff_block *blocks;
    uint32_t n_blocks;
};

/* Finds out which block is which: by id, then those without one by what they say and by their
 * place; and which of them moved. PL_NOMEM. */
enum pl_status pl_diff_match(struct pl_arena *arena, struct pl_diff_side *from,
                             struct pl_diff_side *to);

/* Cuts the next word and the space after it off text at *at. */
struct pl_str pl_diff_next_word(struct pl_str text, size_t *at);

/* Few changes can be many comparisons where a text says the same again and again; texts of people
 * need a hundredth of this. For all blocks of a prompt together: a prompt can have thousands. */
#define PL_DIFF_MAX_WORK ((int64_t)1 << 27)

/* Writes the array of words of two texts. *n_work is how many words may still be compared; where
 * that is not enough, the texts are told whole. PL_NOMEM. */
enum pl_status pl_diff_words(struct pl_arena *arena, struct pl_str from, struct pl_str to,
                             int64_t *n_work, struct pl_json_out *out);

/* What was found different, as objects for "members". */
struct pl_diff_members {
    const struct pl_diff_side *from, *to;
    struct pl_arena *arena;
    struct pl_json_out *out; /* within the array */
    uint32_t n_told;
    enum pl_status status; /* sticky */
};

/* Compares the members of two objects (NULL: none) at `pointer`, except those that `is_skipped`
 * (may be NULL) names, which are reported elsewhere. */
typedef bool pl_diff_skip_fn(const struct pl_json_doc *doc, const struct pl_json_node *key);
void pl_diff_members_of(struct pl_diff_members *m, struct pl_str pointer,
                        const struct pl_json_node *from, const struct pl_json_node *to,
                        pl_diff_skip_fn *is_skipped);

/* Compares two values (one may be NULL) at `pointer`, into objects and arrays. */
void pl_diff_value(struct pl_diff_members *m, struct pl_str pointer,
                   const struct pl_json_node *from, const struct pl_json_node *to);

/* Tells one difference, whatever the values are. */
void pl_diff_tell(struct pl_diff_members *m, struct pl_str pointer, const struct pl_json_node *from,
                  const struct pl_json_node *to);

#endif

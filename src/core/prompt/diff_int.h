/* Shared by the parts of a comparison: matching blocks (diff_match.c), the words of a changed block
 * (diff_words.c), and everything else member by member (diff_members.c). */
#ifndef PL_PROMPT_DIFF_INT_H
#define PL_PROMPT_DIFF_INT_H

#include "prompt/diff.h"

#include "json/json.h"
#include "json/write.h"

#define PL_DIFF_NONE UINT32_MAX

struct pl_diff_block {
    const struct pl_json_node *node; /* the message; NULL: the system prompt, or a text */
    struct pl_str id;                /* empty: none */
    struct pl_str role;              /* empty: none */
    struct pl_str text;              /* the texts of its parts, separated by blank lines */
    uint32_t place;                  /* among the messages; 0 for the others */
    uint32_t match;                  /* the same block of the other side, or PL_DIFF_NONE */
    bool is_moved;                   /* a matched block that changed places with another */
};

/* One of the two prompts. */
struct pl_diff_side {
    struct pl_json_doc doc; /* root NULL: a text */
    struct pl_diff_block *blocks;
    uint32_t n_blocks;
};

/* Matches the blocks: by id, then those without one by text and place. Also finds those that moved.
 * PL_NOMEM. */
enum pl_status pl_diff_match(struct pl_arena *arena, struct pl_diff_side *from,
                             struct pl_diff_side *to);

/* Cuts the next word and the space after it from text at *at. */
struct pl_str pl_diff_next_word(struct pl_str text, size_t *at);

/* Repetitive texts need many comparisons for few changes; normal texts need a hundredth of this.
 * The limit is for all blocks of a prompt together: a prompt can have thousands. */
#define PL_DIFF_MAX_WORK ((int64_t)1 << 27)

/* Writes the array of words of two texts. *n_work is the number of comparisons left; if they run
 * out, the texts are reported whole. PL_NOMEM. */
enum pl_status pl_diff_words(struct pl_arena *arena, struct pl_str from, struct pl_str to,
                             int64_t *n_work, struct pl_json_out *out);

/* Differences, written as objects for "members". */
struct pl_diff_members {
    const struct pl_diff_side *from, *to;
    struct pl_arena *arena;
    struct pl_json_out *out; /* inside the array */
    uint32_t n_told;
    enum pl_status status; /* sticky */
};

/* Compares the members of two objects (NULL: none) at `pointer`, except those for which
 * `is_skipped` (may be NULL) is true; they are reported elsewhere. */
typedef bool pl_diff_skip_fn(const struct pl_json_doc *doc, const struct pl_json_node *key);
void pl_diff_members_of(struct pl_diff_members *m, struct pl_str pointer,
                        const struct pl_json_node *from, const struct pl_json_node *to,
                        pl_diff_skip_fn *is_skipped);

/* Compares two values (one may be NULL) at `pointer`, including their members and elements. */
void pl_diff_value(struct pl_diff_members *m, struct pl_str pointer,
                   const struct pl_json_node *from, const struct pl_json_node *to);

/* Reports one difference, whatever the values are. */
void pl_diff_tell(struct pl_diff_members *m, struct pl_str pointer, const struct pl_json_node *from,
                  const struct pl_json_node *to);

#endif

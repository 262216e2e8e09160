/* Which elements of one list are which of another.
 *
 * Two lists of JSON values say the same conversation, or one of them was edited. Values that say
 * the same are partners. A value that changed keeps its partner when the two are of one kind (role,
 * type) and have one id, or many words in common, or when nothing else can be meant. */
#ifndef PL_CARRY_MATCH_H
#define PL_CARRY_MATCH_H

#include "base/arena.h"
#include "base/status.h"
#include "json/json.h"

#define PL_MATCH_NONE UINT32_MAX

/* One of the two lists. */
struct pl_match_side {
    const struct pl_json_doc *doc;
    const struct pl_json_node **nodes; /* arena */
    uint32_t n;
    uint32_t *partners; /* arena; index in the other list, or PL_MATCH_NONE */
};

struct pl_match {
    struct pl_match_side old_side, new_side;
    bool *is_same;  /* arena; of each new one with a partner: they say the same */
    bool *is_moved; /* arena; of each new one with a partner: it stands out of the order */
};

/* An array, or any other value as a list of one; NULL is an empty list. PL_NOMEM is the only
 * failure. */
enum pl_status pl_match_lists(struct pl_match *match, struct pl_arena *arena,
                              const struct pl_json_doc *old_doc,
                              const struct pl_json_node *old_list,
                              const struct pl_json_doc *new_doc,
                              const struct pl_json_node *new_list);

/* Whether two values say the same. A text is the same whether it stands bare, as a part of a
 * content, {"type":"text","text":…}, or as the only part of one: every vendor takes them for each
 * other. NULL is the same as NULL only. */
enum pl_status pl_match_is_same(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                                const struct pl_json_doc *b_doc, const struct pl_json_node *b,
                                bool *ret_is_same);

#endif

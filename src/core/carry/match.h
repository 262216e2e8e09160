/* Finds which elements of two lists correspond.
 *
 * Both lists of JSON values are the same conversation; one of them may have been edited. Values
 * with the same meaning are partners. A changed value keeps its partner if both have the same kind
 * (role, type) and the same id, or many common words, or if no other pair is possible. */
#ifndef PL_CARRY_MATCH_H
#define PL_CARRY_MATCH_H

#include "base/arena.h"
#include "base/status.h"
#include "carry/same.h"
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
    bool *is_same;  /* arena; by new element with a partner: they mean the same */
    bool *is_moved; /* arena; by new element with a partner: it is out of order */
};

/* An array, or any other value as a list of one; NULL is an empty list. `place` is that of the
 * lists. PL_NOMEM is the only failure. */
enum pl_status pl_match_lists(struct pl_match *match, struct pl_arena *arena,
                              const struct pl_json_doc *old_doc,
                              const struct pl_json_node *old_list,
                              const struct pl_json_doc *new_doc,
                              const struct pl_json_node *new_list, enum pl_same_place place);

#endif

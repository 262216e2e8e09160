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
    bool *is_same; /* arena; by new element with a partner: they mean the same, except for labels */
    bool *is_moved; /* arena; by new element with a partner: it is out of order */
};

/* Members that the writer made up to number the elements of a list: ids and positions. They say
 * nothing about an element; after an edit, another one has its number. */
struct pl_labels {
    const bool *is_label; /* arena; by node of the document; NULL: none */
    bool are_ids;         /* the other document was made from this one: equal numbers are the same
                             element, unless everything else says otherwise */
};

/* Names of labels, as bits. */
enum pl_label_name {
    PL_LABEL_ID = 1 << 0,
    PL_LABEL_TURN_ID = 1 << 1,
    PL_LABEL_SEQUENCE = 1 << 2,
    PL_LABEL_INDEX = 1 << 3,
    PL_LABEL_IDS = PL_LABEL_ID | PL_LABEL_TURN_ID, /* the others are positions */
};
/* The name of a label; 0: no label has this name. */
unsigned pl_label_name(const struct pl_json_doc *doc, const struct pl_json_node *key);

/* A list to match. An array, or any other value as a list of one; NULL is an empty list. */
struct pl_match_list {
    const struct pl_json_doc *doc;
    const struct pl_json_node *list;
    struct pl_labels labels;
};

/* A hash of the kind of an element: role and type, if they are strings; otherwise the name of the
 * first member. */
uint64_t pl_match_kind(const struct pl_json_doc *doc, const struct pl_json_node *n);

/* Both lists are at `place`; `bytes` is that of their documents, or NULL: unknown. PL_NOMEM is the
 * only failure. */
enum pl_status pl_match_lists(struct pl_match *match, struct pl_arena *arena,
                              const struct pl_match_list *old_list,
                              const struct pl_match_list *new_list, enum pl_same_place place,
                              const struct pl_same_bytes *bytes);

#endif

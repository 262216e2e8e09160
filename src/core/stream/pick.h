/* Finds all members that a reader knows in one pass. An event has few members and a reader needs
 * most of them; separate lookups would walk the object each time. */
#ifndef PL_STREAM_PICK_H
#define PL_STREAM_PICK_H

#include "json/json.h"
#include "json/number.h"

/* ret_nodes[i] is the value of member names[i], the last one of duplicates; NULL if it is absent
 * or null, or if `object` is NULL or not an object. */
static inline void pl_pick(const struct pl_json_doc *doc, const struct pl_json_node *object,
                           const struct pl_str *names, size_t n,
                           const struct pl_json_node **ret_nodes)
{
    for (size_t i = 0; i < n; i++)
        ret_nodes[i] = NULL;
    if (!object || pl_json_kind(object) != PL_JSON_OBJECT)
        return;
    const struct pl_json_node *end = pl_json_end(object);
    for (const struct pl_json_node *k = pl_json_first_member(object); k < end;
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        for (size_t i = 0; i < n; i++)
            if (pl_str_eq(key, names[i])) {
                ret_nodes[i] = pl_json_kind(k + 1) == PL_JSON_NULL ? NULL : k + 1;
                break;
            }
    }
}

/* The escaped contents of a string; empty for anything else. */
static inline struct pl_str pl_pick_raw(const struct pl_json_doc *doc,
                                        const struct pl_json_node *node)
{
    return pl_json_is(node, PL_JSON_STRING) ? pl_json_raw(doc, node) : (struct pl_str){0};
}

/* The same, or the digits of a number: some codes are numbers. */
static inline struct pl_str pl_pick_word(const struct pl_json_doc *doc,
                                         const struct pl_json_node *node)
{
    return pl_json_is(node, PL_JSON_NUMBER) ? pl_json_span(doc, node) : pl_pick_raw(doc, node);
}

/* A counter; -1 when it is absent or not a count. */
static inline int64_t pl_pick_count(const struct pl_json_doc *doc, const struct pl_json_node *node)
{
    int64_t value;
    bool is_count = pl_json_is(node, PL_JSON_NUMBER) &&
                    pl_json_number_int64(pl_json_span(doc, node), &value) && value >= 0;
    return is_count ? value : -1;
}

#endif

/* Relative JSON Pointers (draft-bhutton-relative-json-pointer-00): how many levels up, then which
 * neighbour in an array, then a JSON Pointer down, or # for the name or index of the place.
 *
 *     1/name    the member `name` beside this one
 *     0+1       the next element
 *     2#        the name or the index of the value two levels up
 */
#ifndef PL_JSON_RELATIVE_H
#define PL_JSON_RELATIVE_H

#include "json/json.h"

enum pl_json_found_kind {
    PL_JSON_FOUND_VALUE,
    PL_JSON_FOUND_KEY,   /* of a member, by # */
    PL_JSON_FOUND_INDEX, /* of an element, by # */
};

struct pl_json_found {
    enum pl_json_found_kind kind;
    const struct pl_json_node *node; /* the value, or the key; NULL for an index */
    uint32_t index;
};

/* Starts at a value of the document; a key stands for its member's value. Allocates nothing. Walks
 * from the root, since nodes have no parent links. PL_SYNTAX if it is not a relative pointer,
 * PL_NOT_FOUND if the value does not exist. */
enum pl_status pl_json_relative_get(const struct pl_json_doc *doc, const struct pl_json_node *from,
                                    struct pl_str pointer, struct pl_json_found *ret_found,
                                    struct pl_error *err);

#endif

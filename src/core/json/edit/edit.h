/* Editing JSON text in place: every byte that is not part of a change stays as it was.
 *
 * Changes are collected for one parsed document and written together. Pointers always name places
 * in the document as it was parsed, not as edited. Two changes of the same value (or one inside a
 * value that another replaces or removes) are a PL_CONFLICT; so are two members with one name.
 * Conflicts are found when the changes are written. New values are JSON text and are inserted as
 * they are; a new member or element gets the separator and white space of its neighbours.
 *
 * A document read leniently (json/parse/lenient.h) can be edited with its comments and trailing
 * commas: set `text` of the pl_json_doc to the text that was given to pl_json_parse_lenient instead
 * of the blanked copy. The offsets are the same. Comments stay where they are, even those between a
 * removed element and its neighbour. */
#ifndef PL_JSON_EDIT_H
#define PL_JSON_EDIT_H

#include "base/buf.h"
#include "base/vec.h"
#include "json/json.h"

enum pl_json_change_kind { PL_JSON_CHANGE_SET, PL_JSON_CHANGE_INSERT, PL_JSON_CHANGE_REMOVE };

struct pl_json_change {
    enum pl_json_change_kind kind;
    const struct pl_json_node *parent; /* container; NULL for a set value */
    /* The value to set, the element or key to remove, or the one to insert before. The parent's
     * end: append. */
    const struct pl_json_node *at;
    struct pl_str key;      /* arena; decoded name of a new member */
    struct pl_str key_json; /* arena; the same as a JSON string */
    struct pl_str value;    /* arena; JSON text */
};

struct pl_json_edit {
    struct pl_arena *arena;        /* borrowed; keeps copies of new values */
    const struct pl_json_doc *doc; /* borrowed */
    bool trusts_values; /* set after pl_json_edit_init(): new values are not parsed. They are parts
                           of documents that were, also leniently */
    PL_VEC(struct pl_json_change) changes;
    struct pl_arena scratch; /* owned; new values are parsed here to check that they are JSON */
    /* The element last found by index: makes a walk through an array in order linear. */
    const struct pl_json_node *last_array, *last_element;
    uint32_t last_index;
};

void pl_json_edit_init(struct pl_json_edit *edit, struct pl_arena *arena,
                       const struct pl_json_doc *doc);
void pl_json_edit_deinit(struct pl_json_edit *edit);

/* Replaces the value at `pointer`, or adds it: a missing last step is a new member at the end of
 * its object; "-" or the array's length appends. `value` must be one JSON text (PL_SYNTAX). */
enum pl_status pl_json_edit_set(struct pl_json_edit *edit, struct pl_str pointer,
                                struct pl_str value, struct pl_error *err);

/* Inserts before the element at `pointer` ("-" or the length: at the end); for an object, adds a
 * member that must not exist yet (PL_CONFLICT). */
enum pl_status pl_json_edit_insert(struct pl_json_edit *edit, struct pl_str pointer,
                                   struct pl_str value, struct pl_error *err);

/* Removes a member or element with its separator. The root cannot be removed (PL_INVALID). */
enum pl_status pl_json_edit_remove(struct pl_json_edit *edit, struct pl_str pointer,
                                   struct pl_error *err);

/* The same with nodes instead of pointers. `child` is an element of the array `parent`, or the key
 * or value of a member of the object `parent`. `key` (decoded) names a new member and is ignored
 * for arrays. Inserts at the same place stay in the order of the calls. */
enum pl_status pl_json_edit_set_node(struct pl_json_edit *edit, const struct pl_json_node *node,
                                     struct pl_str value, struct pl_error *err);
enum pl_status pl_json_edit_remove_node(struct pl_json_edit *edit,
                                        const struct pl_json_node *parent,
                                        const struct pl_json_node *child, struct pl_error *err);
/* `child` NULL: at the end. */
enum pl_status pl_json_edit_insert_before(struct pl_json_edit *edit,
                                          const struct pl_json_node *parent,
                                          const struct pl_json_node *child, struct pl_str key,
                                          struct pl_str value, struct pl_error *err);
/* `child` NULL: at the start. */
enum pl_status pl_json_edit_insert_after(struct pl_json_edit *edit,
                                         const struct pl_json_node *parent,
                                         const struct pl_json_node *child, struct pl_str key,
                                         struct pl_str value, struct pl_error *err);

/* Appends the edited text to `to`: PL_OK, PL_CONFLICT, PL_NOMEM or PL_LIMIT. On a conflict nothing
 * is appended; the other two failures stick to the buffer. The edit can be written again. */
enum pl_status pl_json_edit_write(struct pl_json_edit *edit, struct pl_buf *to);

#endif

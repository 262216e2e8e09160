/* JSON Pointer (RFC 6901). */
#ifndef PL_JSON_POINTER_H
#define PL_JSON_POINTER_H

#include "base/buf.h"
#include "json/json.h"

/* Finds the value that `pointer` names. PL_SYNTAX if it is not a pointer, PL_NOT_FOUND if the value
 * does not exist; *err says which step failed and what was there instead. */
enum pl_status pl_json_pointer_get(const struct pl_json_doc *doc, struct pl_str pointer,
                                   const struct pl_json_node **ret_node, struct pl_error *err);

/* The same, starting at a value of the document. */
enum pl_status pl_json_pointer_get_from(const struct pl_json_doc *doc,
                                        const struct pl_json_node *from, struct pl_str pointer,
                                        const struct pl_json_node **ret_node, struct pl_error *err);

/* The value that one escaped token selects from here; NULL if it does not exist. */
const struct pl_json_node *pl_json_pointer_step(const struct pl_json_doc *doc,
                                                const struct pl_json_node *from,
                                                struct pl_str token);

/* Takes the next token off *pointer: *ret_token is still escaped (~0, ~1). False at the end.
 * The pointer must be "" or start with "/". */
bool pl_json_pointer_next(struct pl_str *pointer, struct pl_str *ret_token);

/* Whether an escaped token stands for this decoded text. */
bool pl_json_pointer_token_is(struct pl_str token, struct pl_str text);

/* Array index of a token: digits without leading zero. False for anything else, "-" included. */
bool pl_json_pointer_index(struct pl_str token, uint32_t *ret_index);

/* Whether it is "" or a list of /tokens with only ~0 and ~1 as escapes. */
bool pl_json_pointer_is_valid(struct pl_str pointer);

/* Appends "/" and the token, escaped. */
void pl_json_pointer_add(struct pl_buf *to, struct pl_str text);
void pl_json_pointer_add_index(struct pl_buf *to, uint32_t index);

/* Appends the pointer of a node of this document, found by walking from the root: nodes have no
 * parent links. For reports. */
void pl_json_pointer_of(struct pl_buf *to, const struct pl_json_doc *doc,
                        const struct pl_json_node *node);

/* The number of bytes of a pointer or token that fit in a message, whole characters only. */
int pl_json_pointer_shown(struct pl_str token);

/* Sets the place of *err (which may be NULL) to that of a node. */
void pl_json_pointer_blame(struct pl_error *err, const struct pl_json_doc *doc,
                           const struct pl_json_node *node);

/* The child whose subtree holds `node`, which is inside `container`: an element, or the key of a
 * member. *ret_index is the number of children before it. */
const struct pl_json_node *pl_json_child_towards(const struct pl_json_node *container,
                                                 const struct pl_json_node *node,
                                                 uint32_t *ret_index);

#endif

/* A JSON value that grows: it collects the pieces of a stream.
 *
 * Strings are raw (still escaped) and kept in the pieces they came in, so that appending costs only
 * the new bytes. All memory is in one arena; out of memory, or over a limit, shows in `status`.
 * Every function accepts a NULL tree and then does nothing, so that a caller checks the status
 * once, at the end. */
#ifndef PL_STREAM_TREE_H
#define PL_STREAM_TREE_H

#include "base/buf.h"
#include "json/json.h"

enum pl_tree_kind {
    PL_TREE_LITERAL, /* null, true, false, a number */
    PL_TREE_TEXT,
    PL_TREE_ARRAY,
    PL_TREE_OBJECT,
};

struct pl_tree_piece;

struct pl_tree {
    enum pl_tree_kind kind;
    struct pl_str key; /* arena; raw; of a member */
    struct pl_tree *parent;
    uint32_t at;           /* its index in the parent */
    struct pl_str literal; /* arena */
    struct pl_tree_piece *first, *last;
    struct pl_tree **kids; /* arena */
    uint32_t n, cap;
};

/* Limit of members added one by one to an object: each needs a search among the others. */
enum { PL_TREE_MAX_MEMBERS = 4096 };

struct pl_trees {
    struct pl_arena arena;
    enum pl_status status; /* sticky: PL_NOMEM, PL_LIMIT */
};

struct pl_tree *pl_tree_new(struct pl_trees *t, enum pl_tree_kind kind);
struct pl_tree *pl_tree_literal(struct pl_trees *t, struct pl_str json);
struct pl_tree *pl_tree_text(struct pl_trees *t, struct pl_str raw);
/* Copies a value; the document is not needed afterwards. */
struct pl_tree *pl_tree_copy(struct pl_trees *t, const struct pl_json_doc *doc,
                             const struct pl_json_node *node);

/* The member of that name (raw), or NULL. */
struct pl_tree *pl_tree_get(const struct pl_tree *object, struct pl_str key);
struct pl_tree *pl_tree_get_kind(const struct pl_tree *object, struct pl_str key,
                                 enum pl_tree_kind kind);
/* Sets a member; an existing one keeps its place. */
void pl_tree_set(struct pl_trees *t, struct pl_tree *object, struct pl_str key,
                 struct pl_tree *value);
/* Gets the member of that name and kind, made if missing; one of another kind is replaced. */
struct pl_tree *pl_tree_need(struct pl_trees *t, struct pl_tree *object, struct pl_str key,
                             enum pl_tree_kind kind);
void pl_tree_remove(struct pl_tree *object, struct pl_str key);
void pl_tree_push(struct pl_trees *t, struct pl_tree *array, struct pl_tree *value);
/* Appends to a text. */
void pl_tree_say(struct pl_trees *t, struct pl_tree *text, struct pl_str raw);
/* The whole text, raw. */
struct pl_str pl_tree_raw(struct pl_trees *t, const struct pl_tree *text);
bool pl_tree_is_null(const struct pl_tree *tree);
/* Whether a text equals `raw`. */
bool pl_tree_is(const struct pl_tree *text, struct pl_str raw);
/* Appends the pointer to member `key` (raw) of a value. */
void pl_tree_point(struct pl_buf *to, const struct pl_tree *tree, struct pl_str key);
/* Whether a text may end in that byte, apart from white space: its last piece does, or is blank. */
bool pl_tree_ends(const struct pl_tree *text, char end);
/* Writes the value as JSON text without white space. */
void pl_tree_write(const struct pl_tree *tree, struct pl_buf *to);

#endif

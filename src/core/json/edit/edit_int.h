/* Shared by edit.c, which collects changes and writes the result, and layout.c, which handles the
 * separators. */
#ifndef PL_JSON_EDIT_INT_H
#define PL_JSON_EDIT_INT_H

#include "json/edit/edit.h"

/* Replaces the bytes off … end of the source by `text`. */
struct pl_json_splice {
    uint32_t off, end;
    struct pl_str text; /* borrowed from the document, the edit's arena or a literal */
};

struct pl_json_splices {
    PL_VEC(struct pl_json_splice) list;
    bool is_out_of_memory; /* sticky */
};

void pl_json_splice_add(struct pl_json_splices *splices, uint32_t off, uint32_t end,
                        struct pl_str text);

/* Turns the inserts and removals of one container into splices. All `changes` have one parent. They
 * are sorted by place; at one place the inserts are in order and before the removal. PL_CONFLICT if
 * a child is removed twice or two members get the same name. */
enum pl_status pl_json_layout(struct pl_json_splices *splices, const struct pl_json_doc *doc,
                              const struct pl_json_change *const *changes, size_t n_changes);

#endif

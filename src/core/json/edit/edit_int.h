/* Between the two halves of editing: edit.c collects changes and writes the result, layout.c
 * decides what becomes of the separators. */
#ifndef PL_JSON_EDIT_INT_H
#define PL_JSON_EDIT_INT_H

#include "json/edit/edit.h"

/* One replacement: `text` replaces bytes off … end of the source. */
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

/* Turns the inserts and removals of one container into splices. `changes` are all of one parent,
 * sorted by place, inserts in order and before the removal at the same place. PL_CONFLICT when one
 * child is removed twice or two members get the same name. */
enum pl_status pl_json_layout(struct pl_json_splices *splices, const struct pl_json_doc *doc,
                              const struct pl_json_change *const *changes, size_t n_changes);

#endif

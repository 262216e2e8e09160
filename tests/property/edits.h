/* Edits of a document, as made by a person or a program that does not know of carries. */
#ifndef PL_TESTS_PROPERTY_EDITS_H
#define PL_TESTS_PROPERTY_EDITS_H

#include "base/buf.h"
#include "format/format.h"
#include "json/edit/edit.h"

/* A seeded generator: the same numbers on every machine (splitmix64). */
uint64_t pl_edit_random(uint64_t *state);

/* An edit in progress. */
struct pl_editing {
    struct pl_arena *arena;         /* borrowed */
    const struct pl_format *format; /* of the document */
    const struct pl_json_doc *doc;
    struct pl_json_edit *edit;
    const struct pl_json_node *like; /* a key or value that the next place must resemble */
    uint64_t random;                 /* the generator's state: selects among several places */
};

struct pl_edit_kind {
    const char *name;
    /* False: the document has no place for such an edit. */
    bool (*make)(struct pl_editing *e);
};

extern const struct pl_edit_kind pl_edit_kinds[];
extern const size_t pl_edit_n_kinds;

/* Appends the text of a document after one edit. False: there is no place for it, and nothing is
 * appended. A gpt-oss text is edited as its equivalent document. */
bool pl_edit_apply(const struct pl_edit_kind *kind, uint64_t seed, const struct pl_format *format,
                   struct pl_str text, struct pl_buf *to);

/* Parses a document of any format; a gpt-oss text is parsed as its equivalent document. */
bool pl_edit_parse(struct pl_arena *arena, const struct pl_format *format, struct pl_str text,
                   struct pl_json_doc *ret_doc);

#endif

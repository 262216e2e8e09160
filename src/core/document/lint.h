/* Lint of a document: parse, read, look (conv/lint/lint.h), and write the findings as JSON. */
#ifndef PL_DOCUMENT_LINT_H
#define PL_DOCUMENT_LINT_H

#include "conv/lint/lint.h"
#include "format/format.h"

struct pl_lint_request {
    const struct pl_format *as;       /* NULL: by content */
    const struct pl_format *target;   /* whom it is meant for; NULL: its own format */
    const struct pl_profile *profile; /* of the target; NULL: none was named */
    enum pl_format_kind kind;
    enum pl_schema_lang lang; /* of the messages */
    int64_t now_s;            /* seconds since 1970; 0: not known */
    size_t max_items;         /* messages, parts and tools; 0: PL_CONV_MAX_ITEMS */
    bool wants_edits;         /* find what mends each finding (document/edits.h) */
};

struct pl_linted {
    struct pl_json_doc doc;      /* memory of the arena */
    const struct pl_format *as;  /* the format that was read */
    struct pl_findings findings; /* owned */
};
void pl_linted_deinit(struct pl_linted *linted);

/* PL_SYNTAX or PL_LIMIT: not JSON. PL_INVALID: no conversation of that format. `text` and the arena
 * must outlive *ret_linted. */
enum pl_status pl_lint_document(struct pl_arena *arena, struct pl_str text,
                                const struct pl_lint_request *request, struct pl_linted *ret_linted,
                                struct pl_error *err);

/* Appends {"findings":[{"code","severity","pointer","message","fix"}, …]}, "fix" where there are edits; with "omitted":N after them
 * when that many more were found than are listed. */
void pl_linted_write(struct pl_buf *to, const struct pl_linted *linted);

#endif

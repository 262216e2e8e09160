/* Lint of a document: parses and reads it, runs the lint (conv/lint/lint.h), and writes the
 * findings as JSON. */
#ifndef PL_DOCUMENT_LINT_H
#define PL_DOCUMENT_LINT_H

#include "conv/lint/lint.h"
#include "format/format.h"

struct pl_lint_request {
    const struct pl_format *as;       /* NULL: by content */
    const struct pl_format *target;   /* the intended target; NULL: its own format */
    const struct pl_profile *profile; /* of the target; NULL: none */
    enum pl_format_kind kind;
    enum pl_schema_lang lang; /* of the messages */
    int64_t now_s;            /* seconds since 1970; 0: unknown */
    size_t max_items;         /* messages, parts and tools; 0: PL_CONV_MAX_ITEMS */
    bool wants_edits;         /* find edits that fix each finding (document/edits.h) */
};

struct pl_linted {
    struct pl_json_doc doc;      /* memory of the arena; of gpt-oss text: its document */
    const struct pl_format *as;  /* the format that was recognised */
    struct pl_findings findings; /* owned */
};
void pl_linted_deinit(struct pl_linted *linted);

/* PL_SYNTAX or PL_LIMIT: neither JSON nor gpt-oss text. PL_INVALID: not a conversation of that format. `text` and the
 * arena must outlive *ret_linted. */
enum pl_status pl_lint_document(struct pl_arena *arena, struct pl_str text,
                                const struct pl_lint_request *request, struct pl_linted *ret_linted,
                                struct pl_error *err);

/* Appends {"findings":[{"code","severity","pointer","message","fix"}, …]}; "fix" only if there
 * are edits. "omitted":N follows if N more were found than are listed. */
void pl_linted_write(struct pl_buf *to, const struct pl_linted *linted);

#endif

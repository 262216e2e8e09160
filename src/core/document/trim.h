/* Makes a document fit into a number of tokens, in its own format (conv/trim/trim.h). Unchanged
 * content keeps its bytes, and the result is valid for the vendor. */
#ifndef PL_DOCUMENT_TRIM_H
#define PL_DOCUMENT_TRIM_H

#include "conv/trim/trim.h"
#include "document/count.h"

struct pl_trim_request {
    const struct pl_format *as; /* NULL: by content */
    struct pl_count_choice choice;
    uint64_t max_tokens;
    struct pl_str summary; /* borrowed; empty: a mechanical one */
};

/* The buffers are owned by the caller. */
struct pl_trimmed_document {
    struct pl_buf out, report;
    struct pl_trimmed trimmed; /* tokens of the source and of the output */
};
void pl_trimmed_document_init(struct pl_trimmed_document *t);
void pl_trimmed_document_deinit(struct pl_trimmed_document *t);

/* Fills an initialised result, or leaves it unchanged. A document that fits is copied unchanged.
 * PL_INVALID: it cannot be made to fit, and the message says why; other failures as for
 * pl_source_open. */
enum pl_status pl_trim_document(struct pl_str text, const struct pl_trim_request *request,
                                struct pl_trimmed_document *ret, struct pl_error *err);

#endif

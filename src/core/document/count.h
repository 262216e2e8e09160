/* Tokens of a document: what it costs, by which vocabulary, as JSON. */
#ifndef PL_DOCUMENT_COUNT_H
#define PL_DOCUMENT_COUNT_H

#include "conv/count.h"
#include "format/source.h"

/* What counts; all zero: the model that the document names, or what is usual for its format. */
struct pl_count_choice {
    bool has_encoding;
    enum pl_encoding encoding; /* exactly this vocabulary, whatever the model */
    struct pl_str model;       /* borrowed; empty: the document's */
    size_t max_items;          /* messages, parts and tools; 0: PL_CONV_MAX_ITEMS */
};

struct pl_counted {
    const struct pl_format *as; /* the format that was read */
    struct pl_model_counting counting;
    uint64_t n_tokens, by[PL_TALLY_KIND_COUNT];
    bool is_estimated;
};

/* How the tokens of a conversation are counted. */
struct pl_model_counting pl_count_choose(struct pl_conv *conv, const struct pl_format *format,
                                         const struct pl_count_choice *choice);

/* `as` NULL: by content. Failures as for pl_source_open. */
enum pl_status pl_count_document(struct pl_str text, const struct pl_format *as,
                                 const struct pl_count_choice *choice,
                                 struct pl_counted *ret_counted, struct pl_error *err);

/* Appends [{"index","role","parts":[…],"tokens"}, …]: each element of the document's list of messages, and each of its
 * parts, by itself. Their sum is not that of the document, which has more than its messages. Failures as for pl_count_document. */
enum pl_status pl_count_messages(struct pl_str text, const struct pl_format *as,
                                 const struct pl_count_choice *choice, struct pl_buf *to,
                                 struct pl_error *err);

/* Appends {"tokens":N,"estimated":bool,"by":{…}}. */
void pl_counted_write(struct pl_buf *to, const struct pl_counted *counted);

#endif

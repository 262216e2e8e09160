/* Token count of a document, as JSON: its cost, and the vocabulary used. */
#ifndef PL_DOCUMENT_COUNT_H
#define PL_DOCUMENT_COUNT_H

#include "conv/count.h"
#include "format/source.h"

/* The vocabulary to count with; all zero: that of the document's model, or the default of its
 * format. */
struct pl_count_choice {
    bool has_encoding;
    enum pl_encoding encoding; /* use this vocabulary, whatever the model */
    struct pl_str model;       /* borrowed; empty: the document's */
    size_t max_items;          /* messages, parts and tools; 0: PL_CONV_MAX_ITEMS */
};

struct pl_counted {
    const struct pl_format *as; /* the format that was recognised */
    struct pl_model_counting counting;
    uint64_t n_tokens, by[PL_TALLY_KIND_COUNT];
    bool is_estimated;
};

/* The counting rules for a conversation. */
struct pl_model_counting pl_count_choose(struct pl_conv *conv, const struct pl_format *format,
                                         const struct pl_count_choice *choice);

/* `as` NULL: by content. Failures as for pl_source_open. */
enum pl_status pl_count_document(struct pl_str text, const struct pl_format *as,
                                 const struct pl_count_choice *choice,
                                 struct pl_counted *ret_counted, struct pl_error *err);

/* Appends [{"index","role","parts":[…],"tokens"}, …]: each element of the document's list of
 * messages, and each of its parts, counted separately. Their sum is not the total: a document is
 * more than its messages. Failures as for pl_count_document. */
enum pl_status pl_count_messages(struct pl_str text, const struct pl_format *as,
                                 const struct pl_count_choice *choice, struct pl_buf *to,
                                 struct pl_error *err);

/* Appends {"tokens":N,"estimated":bool,"by":{…}}. */
void pl_counted_write(struct pl_buf *to, const struct pl_counted *counted);

#endif

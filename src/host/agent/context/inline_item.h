/* The media of a request: which there are, which of them are sent, and the texts for the others. */
#ifndef PL_AGENT_CONTEXT_INLINE_ITEM_H
#define PL_AGENT_CONTEXT_INLINE_ITEM_H

#include "base/vec.h"
#include "json/json.h"
#include "store/work.h"

enum pl_inline_fate {
    PL_INLINED_IN,
    PL_INLINED_GONE,        /* its blob does not exist */
    PL_INLINED_OVER_BYTES,  /* left out: too many bytes */
    PL_INLINED_OVER_TOKENS, /* left out: the request exceeds the model's window */
};

/* A block of media. */
struct pl_inline_item {
    const struct pl_json_node *turn, *block, *media;
    const struct pl_json_node *blob; /* NULL: it is a URL */
    size_t twin;                     /* the same block, listed before; SIZE_MAX: none */
    bool is_image;
    bool is_new; /* in the newest message, or after it */
    enum pl_inline_fate fate;
    struct pl_blob_row row; /* arena */
    struct pl_buf bytes;    /* owned; if it is sent */
    uint64_t n_tokens;      /* if it is sent: an upper bound */
    const char *mime;       /* static; if it was rotated; NULL: it was not */
    struct pl_str trouble;  /* arena; why it could not be rotated; empty: no problem */
};

struct pl_inline_items {
    PL_VEC(struct pl_inline_item) list; /* owned; oldest first */
};

/* The media of these turns: of blocks, of results that are lists, and of the blocks of those. */
enum pl_status pl_inline_items_list(struct pl_inline_items *items, const struct pl_json_doc *doc);
void pl_inline_items_deinit(struct pl_inline_items *items);

/* Leaves out media over the limit: the oldest images first, then the oldest others. */
void pl_inline_items_limit_bytes(struct pl_inline_items *items, int64_t max_bytes);
/* Leaves out the oldest images before the newest message. */
void pl_inline_items_limit_tokens(struct pl_inline_items *items, int64_t max_tokens);

/* "[image photo.png: …]": the text in place of media that is not sent. */
enum pl_status pl_inline_item_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_inline_item *item, struct pl_buf *to);
/* The notes of pl_inlined: as JSON, and as a sentence of all, or of the new ones only. Appends
 * nothing if there are none. */
enum pl_status pl_inline_items_notes(const struct pl_json_doc *doc,
                                     const struct pl_inline_items *items, struct pl_buf *to);
enum pl_status pl_inline_items_sentence(struct pl_arena *arena, const struct pl_json_doc *doc,
                                        const struct pl_inline_items *items, bool is_new_only,
                                        struct pl_buf *to);

#endif

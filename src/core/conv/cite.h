/* Citations (seed 001, A.4): anchors <cite id="…"/> in texts, and the sources they stand for in
 * metadata.citation_map of the same message, or in that of its context_block.
 *
 * An anchor without an entry is not an error: it is shown as plain text. An entry must follow these
 * rules: pages count from 1, a bbox is x1 < x2, y1 < y2, and if the text of the source is
 * available, it contains the snippet (white space may differ, as it does between a page and its
 * text). */
#ifndef PL_CONV_CITE_H
#define PL_CONV_CITE_H

#include "base/buf.h"
#include "conv/conv.h"

/* The text of a source: `id` is its source_id, or the id of the citation. */
struct pl_cite_source {
    struct pl_str id, text; /* borrowed */
};

enum pl_cite_snippet {
    PL_CITE_SNIPPET_NONE,      /* the entry has no snippet */
    PL_CITE_SNIPPET_UNCHECKED, /* the text of the source is not available */
    PL_CITE_SNIPPET_FOUND,
    PL_CITE_SNIPPET_MISSING, /* the source does not contain it */
};

struct pl_cite {
    struct pl_str id;                 /* arena */
    struct pl_str tag;                /* arena; the anchor as written */
    const struct pl_json_node *text;  /* the string that contains it */
    const struct pl_json_node *entry; /* of citation_map; NULL: unknown */
    enum pl_cite_snippet snippet;
    bool has_bad_page, has_bad_box;
};

struct pl_cites {
    PL_VEC(struct pl_cite) list; /* in the order of the texts */
};

/* All anchors of a conversation. PL_NOMEM is the only failure; the list is complete or empty. */
enum pl_status pl_cites_find(struct pl_conv *conv, const struct pl_cite_source *sources,
                             size_t n_sources, struct pl_cites *ret_cites);
void pl_cites_deinit(struct pl_cites *cites);

/* Whether an entry breaks a rule. */
static inline bool pl_cite_is_wrong(const struct pl_cite *cite)
{
    return cite->has_bad_page || cite->has_bad_box || cite->snippet == PL_CITE_SNIPPET_MISSING;
}

/* Appends a readable line about the source: its name or address, page and snippet. For an unknown
 * source, appends the tag itself, as the text shows it. */
void pl_cite_describe(struct pl_buf *to, struct pl_conv *conv, const struct pl_cite *cite);

/* Appends [{"id","pointer","resolved","source","shown","snippet","problems"}]. */
void pl_cites_write(struct pl_buf *to, struct pl_conv *conv, const struct pl_cites *cites);

/* Calls `say` with a sentence for each rule that the entry breaks. */
typedef void pl_cite_say_fn(void *ctx, const char *sentence);
void pl_cite_problems(const struct pl_cite *cite, pl_cite_say_fn *say, void *ctx);

/* The citation_map of a message: in its metadata, or in a context_block of the message. NULL: none.
 */
const struct pl_json_node *pl_cite_map(const struct pl_conv *conv,
                                       const struct pl_message *message);

/* Finds the next anchor after *at in a text and moves *at past it; false when there is none. */
bool pl_cite_next(struct pl_str text, size_t *at, struct pl_str *ret_tag, struct pl_str *ret_id);

/* The rules for the page and the box of an entry. */
bool pl_cite_is_page(const struct pl_json_doc *doc, const struct pl_json_node *page);
bool pl_cite_is_box(const struct pl_json_doc *doc, const struct pl_json_node *box);

#endif

/* Citations between the vendors' shapes and seed 001, A.4: an anchor <cite id="cit_1"/> in the text
 * and an entry of that id in metadata.citation_map.
 *
 * A vendor's directory reads one of its citations (pl_format.cite) into members with the seed's
 * names. All other members go to `origin` of the entry, with the format's name, so that converting
 * back needs nothing else. This works on JSON alone: a session reads citations one by one from a
 * stream. */
#ifndef PL_FORMAT_PIECES_CITATION_H
#define PL_FORMAT_PIECES_CITATION_H

#include "base/vec.h"
#include "conv/conv.h"
#include "json/write.h"

struct pl_cited {
    const char *source_type;         /* "web_search", "document", "file" */
    const struct pl_json_node *body; /* the object with its members; borrowed, like all of them */
    const struct pl_json_node *source_id, *source_name, *url;
    const struct pl_json_node *page, *snippet; /* of the source */
    const struct pl_json_node *score;
    const struct pl_json_node *end; /* number of code points of the text before the anchor */
};

enum { PL_CITE_ID_SIZE = 28 };
/* "cit_1" for 0. */
void pl_cite_id(char ret_id[PL_CITE_ID_SIZE], size_t i);

/* Appends the entry, an object. */
void pl_cited_write(struct pl_buf *to, const char *format, const struct pl_json_doc *doc,
                    const struct pl_cited *cited);

/* All citations of a conversation: entries, and the anchors of its texts. */
struct pl_cite_entry {
    const struct pl_json_node *node; /* of the source; the entry covers all of it */
    struct pl_cited cited;
    size_t message; /* its map contains the entry */
};
struct pl_cite_anchor {
    size_t part, entry;
    size_t at; /* offset in the decoded text */
};
struct pl_cites_list {
    PL_VEC(struct pl_cite_entry) entries;  /* owned */
    PL_VEC(struct pl_cite_anchor) anchors; /* owned; by part and offset */
    const char *format;
    bool has_pages_only; /* positions in the text are not needed */
};

struct pl_format;
/* Reads the citations of a conversation of this format. Running out of memory is in
 * conv->status. */
void pl_cites_list(struct pl_conv *conv, const struct pl_format *from, struct pl_cites_list *ret);
/* The same for a target that cites pages beside a text: every source has one anchor. */
void pl_cites_list_pages(struct pl_conv *conv, const struct pl_format *from,
                         struct pl_cites_list *ret);
void pl_cites_list_deinit(struct pl_cites_list *list);
/* For formats that keep citations outside part->citations. */
size_t pl_cites_add(struct pl_conv *conv, struct pl_cites_list *list,
                    const struct pl_json_node *node, const struct pl_cited *cited, size_t message);
void pl_cites_anchor(struct pl_conv *conv, struct pl_cites_list *list, size_t part, size_t entry,
                     size_t at);

struct pl_writer;
/* The anchors of a part; *ret_n is their number. NULL: none. */
const struct pl_cite_anchor *pl_cites_of(const struct pl_conv *conv,
                                         const struct pl_cites_list *list,
                                         const struct pl_part *part, size_t *ret_n);
/* Writes the members start_index and end_index, in code points after `base`, as at OpenAI: the
 * range from the source, or the whole part. */
void pl_cites_write_range(struct pl_writer *w, const struct pl_cite_entry *entry, size_t base,
                          size_t n_points);
/* Writes the address under `url_key`, and the title; a missing title is "" if needs_title. */
void pl_cites_write_page(struct pl_writer *w, const struct pl_cite_entry *entry,
                         const char *url_key, bool needs_title);
size_t pl_cites_count_points(struct pl_str text);
bool pl_cites_is_cited(const struct pl_conv *conv, const struct pl_cites_list *list,
                       const struct pl_part *part);
/* Writes the text of a cited part, with its anchors, as a string. */
void pl_cites_write_text(struct pl_writer *w, const struct pl_cites_list *list,
                         const struct pl_part *part);
/* Writes the key and object citation_map of a message. Writes nothing and returns false if there
 * are no citations. */
bool pl_cites_write_map(struct pl_writer *w, const struct pl_cites_list *list,
                        const struct pl_message *message);
bool pl_cites_has_map(const struct pl_conv *conv, const struct pl_cites_list *list,
                      const struct pl_message *message);

#endif

/* Content parts {"type": …} of harmony, openai-chat and openai-responses: a table of types, and
 * the common readers and writers. Code for only one of them stays there. */
#ifndef PL_FORMAT_PIECES_CONTENT_H
#define PL_FORMAT_PIECES_CONTENT_H

#include "format/writer.h"

/* Adds a part: pl_conv_add_part (to the last message) or pl_conv_add_child (to the last result). */
typedef struct pl_part *pl_part_adder(struct pl_conv *conv, enum pl_part_kind kind,
                                      const struct pl_json_node *node);

struct pl_content_type {
    const char *type;
    enum pl_part_kind kind;
    void (*read)(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part);
};

/* Adds the part for the type of `n` and reads it. NULL: the type is not in the table, and the part
 * was added as PL_PART_OTHER. Inline, because every reader passes its own constant table. */
static inline struct pl_part *pl_content_read(struct pl_conv *conv, const struct pl_json_node *n,
                                              const struct pl_content_type *types, size_t n_types,
                                              pl_part_adder *add)
{
    const struct pl_json_node *type = pl_conv_member(conv, n, "type", PL_WANT_STRING);
    for (size_t i = 0; i < n_types; i++) {
        if (!pl_conv_says(conv, type, types[i].type))
            continue;
        struct pl_part *part = add(conv, types[i].kind, n);
        pl_conv_know(conv, type);
        types[i].read(conv, n, part);
        return part;
    }
    add(conv, PL_PART_OTHER, n);
    return NULL;
}

/* {"refusal": text} */
void pl_content_read_refusal(struct pl_conv *conv, const struct pl_json_node *n,
                             struct pl_part *part);
/* A URL, or the data in it. */
void pl_content_set_url(struct pl_conv *conv, struct pl_part *part, struct pl_val url);
/* {"input_audio": {"data", "format"}}; mime_of maps a format to its media type, or NULL. */
void pl_content_read_audio(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part,
                           const char *(*mime_of)(const struct pl_conv *conv,
                                                  const struct pl_json_node *format));

/* Marks the words of a cache marker that the target writes in its own way. Other members are
 * reported. */
void pl_content_know_mark(struct pl_conv *conv, const struct pl_json_node *mark);

/* The media type from the source, or from the first bytes of the data. */
struct pl_val pl_content_mime(struct pl_conv *conv, const struct pl_part *part);
/* The data of a part as a data URL, or else its URL. */
void pl_content_write_url(struct pl_writer *w, const struct pl_part *part);

#endif

/* Writing a format: JSON piece by piece, remembering which bytes of the source each piece came
 * from.
 *
 * The links are what the carry is made of (carry.h): a piece of the source that stands in the
 * output is not carried. So a writer says values only through these functions. */
#ifndef PL_FORMAT_WRITER_H
#define PL_FORMAT_WRITER_H

#include "base/buf.h"
#include "base/vec.h"
#include "conv/conv.h"
#include "json/write.h"

/* Bytes [off, off + len) of the source are said by the value that starts at `at` in the output, or
 * by a part of it. */
struct pl_link {
    uint32_t off, len;
    uint32_t at;
    uint32_t n_before, n_own; /* code points of the value's text before the part, and in it */
    uint32_t n_next;          /* … in the next part; 0 for the last */
    const char *glue;         /* between the parts; NULL: the whole value says it */
};

struct pl_writer {
    struct pl_conv *conv; /* borrowed */
    struct pl_json_out out;
    PL_VEC(struct pl_link) links; /* owned; in order of `at` */
};

void pl_writer_init(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to);
void pl_writer_deinit(struct pl_writer *w);

/* Structure, as in json/write.h. */
void pl_w_open(struct pl_writer *w, char bracket);
void pl_w_close(struct pl_writer *w, char bracket);
void pl_w_key(struct pl_writer *w, const char *key);
void pl_w_word(struct pl_writer *w, const char *word); /* a string of the target's grammar */
void pl_w_bool(struct pl_writer *w, bool value);
void pl_w_int(struct pl_writer *w, int64_t value);
void pl_w_null(struct pl_writer *w);
static inline void pl_w_key_word(struct pl_writer *w, const char *key, const char *word)
{
    pl_w_key(w, key);
    pl_w_word(w, word);
}

/* Values with provenance; each marks its node as said.
 *   string:  a JSON string. A string is copied as it is spelled; any other JSON becomes its text.
 *   value:   JSON as it is: a node's span, a text quoted.
 *   json:    from a string that holds JSON text (tool arguments), or from JSON itself: the JSON.
 * The caller has made sure that it is JSON (pl_w_holds_object). An empty text is {}. */
void pl_w_string(struct pl_writer *w, struct pl_val val);
void pl_w_value(struct pl_writer *w, struct pl_val val);
void pl_w_json(struct pl_writer *w, struct pl_val val);
/* Several texts as one string, with `glue` between them. */
void pl_w_joined(struct pl_writer *w, const struct pl_val texts[], size_t n_texts,
                 const char *glue);
/* Whether `val` is a JSON object, or a string that holds one (or nothing, or white space). */
bool pl_w_holds_object(struct pl_writer *w, struct pl_val val);

/* "data:MIME;base64,DATA" as one string; mime NONE becomes application/octet-stream. */
void pl_w_data_url(struct pl_writer *w, struct pl_val mime, struct pl_val data);

/* Key and value, if the value is there. */
void pl_w_opt_string(struct pl_writer *w, const char *key, struct pl_val val);
void pl_w_opt_value(struct pl_writer *w, const char *key, struct pl_val val);

/* The value is said in the target's own words: no loss. */
void pl_w_mapped(struct pl_writer *w, struct pl_val val);
/* A loss at a value (at its node; for a value we made, at `near`). */
void pl_w_loss(struct pl_writer *w, enum pl_loss_code code, struct pl_val val, const char *detail);

#endif

/* Writing a format: JSON piece by piece, marking the values of the source that were written.
 *
 * It can also record links: which value of the output has which bytes of the source. A carry needs
 * the long ones (carry/carry.h); the way home and a repair need all of them. */
#ifndef PL_FORMAT_WRITER_H
#define PL_FORMAT_WRITER_H

#include "base/buf.h"
#include "base/vec.h"
#include "conv/conv.h"
#include "json/write.h"

/* How the output contains the bytes of the source. */
enum pl_link_how {
    PL_LINK_COPY,    /* the value has the source's spelling */
    PL_LINK_QUOTED,  /* the value is a string, the piece is JSON; the string holds its text */
    PL_LINK_INSIDE,  /* the value is a string that ends with the piece, with its escapes */
    PL_LINK_JSON,    /* the piece is a string that holds JSON, the value is that JSON */
    PL_LINK_PART,    /* the value is a string joined from texts, the piece is one of them */
    PL_LINK_ESCAPED, /* … that holds an error object, the piece is the message in it */
};

/* Bytes [off, off + len) of the source became the value that starts at `at` in the output. */
struct pl_link {
    const struct pl_json_node *node; /* of the source: the piece, or the string that contains it */
    uint32_t off, len;
    uint32_t at;
    uint32_t before, own; /* PART: decoded bytes of the string before the piece, and of the
                             piece; INSIDE: bytes of the string before the piece, still escaped */
    enum pl_link_how how;
};

/* The least length of pieces whose links are kept, in bytes. */
enum { PL_LINKS_ALL = 0, PL_LINKS_LONG = 16 };
#define PL_LINKS_NONE UINT32_MAX

enum { PL_W_MAX_DEPTH = 64 }; /* of json/write.h */

struct pl_writer {
    struct pl_conv *conv; /* borrowed */
    struct pl_json_out out;
    uint32_t least_link;          /* least length of a piece whose link is kept */
    PL_VEC(struct pl_link) links; /* owned; in order of `at` */
    struct {
        const struct pl_json_node *node; /* the string that was examined last */
        struct pl_str text;              /* arena; its text, without white space around it */
        bool is_object;                  /* … it is a JSON object; false: not, or not examined */
    } held;
    bool has_item[PL_W_MAX_DEPTH + 1]; /* [depth]: the open container is not empty */
};

void pl_writer_init(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to);
void pl_writer_deinit(struct pl_writer *w);
/* The same for a used writer: reuses the memory of its lists. */
void pl_writer_renew(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to);
/* Keeps the links of pieces with at least `least` bytes. Call before writing; by default none is
 * kept. */
void pl_writer_keep_links(struct pl_writer *w, uint32_t least);

/* Structure, as in json/write.h. Keys and words are of the target's grammar: they need no
 * escapes. */
void pl_w_open(struct pl_writer *w, char bracket);
void pl_w_close(struct pl_writer *w, char bracket);
void pl_w_key_n(struct pl_writer *w, const char *key, size_t n_bytes);
void pl_w_word_n(struct pl_writer *w, const char *word, size_t n_bytes);
void pl_w_bool(struct pl_writer *w, bool value);
void pl_w_int(struct pl_writer *w, int64_t value);
void pl_w_null(struct pl_writer *w);
/* Reserves room for a key, a word, or both, with quotes and colon; NULL when out of memory. */
char *pl_w_begin_key(struct pl_writer *w, size_t n_bytes);
char *pl_w_begin_word(struct pl_writer *w, size_t n_bytes);
char *pl_w_begin_pair(struct pl_writer *w, size_t n_key, size_t n_word);
/* Reserves room for the start of an object, after its bracket. */
char *pl_w_begin_object(struct pl_writer *w, size_t n_bytes, bool is_after_key);

/* Opens an object that begins with these members, in the target's spelling: "\"type\":\"text\"", or
 * "\"type\":\"text\",\"text\":", which a value must follow. */
static inline __attribute__((always_inline)) void pl_w_open_with(struct pl_writer *w,
                                                                 const char *head)
{
    size_t n = strlen(head);
    char *to = pl_w_begin_object(w, n, head[n - 1] == ':');
    if (to)
        memcpy(to, head, n);
}

/* The compiler knows the length of a literal key or word, so copying it is a few stores. */
static inline void pl_w_key(struct pl_writer *w, const char *key)
{
    size_t n = strlen(key);
    if (!__builtin_constant_p(n)) {
        pl_w_key_n(w, key, n);
        return;
    }
    char *to = pl_w_begin_key(w, n);
    if (!to)
        return;
    to[0] = '"';
    memcpy(to + 1, key, n);
    to[1 + n] = '"';
    to[2 + n] = ':';
}
static inline void pl_w_word(struct pl_writer *w, const char *word)
{
    size_t n = strlen(word);
    if (!__builtin_constant_p(n)) {
        pl_w_word_n(w, word, n);
        return;
    }
    char *to = pl_w_begin_word(w, n);
    if (!to)
        return;
    to[0] = '"';
    memcpy(to + 1, word, n);
    to[1 + n] = '"';
}
static inline void pl_w_key_word(struct pl_writer *w, const char *key, const char *word)
{
    size_t n_key = strlen(key), n_word = strlen(word);
    if (!__builtin_constant_p(n_key) || !__builtin_constant_p(n_word)) {
        pl_w_key(w, key);
        pl_w_word(w, word);
        return;
    }
    char *to = pl_w_begin_pair(w, n_key, n_word);
    if (!to)
        return;
    to[0] = '"';
    memcpy(to + 1, key, n_key);
    memcpy(to + 1 + n_key, "\":\"", 3);
    memcpy(to + 4 + n_key, word, n_word);
    to[4 + n_key + n_word] = '"';
}
/* A key of the source. */
void pl_w_key_str(struct pl_writer *w, struct pl_str key);
/* JSON we made, or that was written before: without a link. */
void pl_w_raw(struct pl_writer *w, struct pl_str json);

/* Values with provenance; each marks its node as said.
 *   string:  a JSON string. A string keeps its spelling; any other JSON becomes its text.
 *   value:   JSON: the span of a node, or a quoted text.
 *   json:    the JSON in a string (tool arguments), or JSON itself.
 * The caller has checked that it is JSON (pl_w_holds_object). An empty text is {}. */
void pl_w_copy(struct pl_writer *w, const struct pl_json_node *node);
void pl_w_string_slowly(struct pl_writer *w, struct pl_val val);
void pl_w_value_slowly(struct pl_writer *w, struct pl_val val);
/* Most values are nodes of the source: pass the node, not the whole value. */
static inline void pl_w_string(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE && pl_json_kind(val.node) == PL_JSON_STRING)
        pl_w_copy(w, val.node);
    else
        pl_w_string_slowly(w, val);
}
static inline void pl_w_value(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE)
        pl_w_copy(w, val.node);
    else
        pl_w_value_slowly(w, val);
}
void pl_w_json(struct pl_writer *w, struct pl_val val);
/* Reports half of a surrogate pair in a string of the source that is decoded on the way. Call before
 * the string is written. */
void pl_w_report_half(struct pl_writer *w, struct pl_val val);
/* Several texts as one string, with `glue` between them. */
void pl_w_joined(struct pl_writer *w, const struct pl_val texts[], size_t n_texts,
                 const char *glue);
/* Whether `val` is a JSON object, or a string that holds one (or nothing, or white space). */
bool pl_w_holds_object(struct pl_writer *w, struct pl_val val);

/* "data:MIME;base64,DATA" as one string; mime NONE becomes application/octet-stream. */
void pl_w_data_url(struct pl_writer *w, struct pl_val mime, struct pl_val data);

/* Key and value, if the value is set. */
static inline void pl_w_opt_string(struct pl_writer *w, const char *key, struct pl_val val)
{
    if (!pl_val_is_set(val))
        return;
    pl_w_key(w, key);
    pl_w_string(w, val);
}
static inline void pl_w_opt_value(struct pl_writer *w, const char *key, struct pl_val val)
{
    if (!pl_val_is_set(val))
        return;
    pl_w_key(w, key);
    pl_w_value(w, val);
}

/* The target has its own word for the value: no loss. */
void pl_w_mapped(struct pl_writer *w, struct pl_val val);
/* Reports a loss at a value (at its node; for a value we made, at `near`). */
void pl_w_loss(struct pl_writer *w, enum pl_loss_code code, struct pl_val val, const char *detail);

#endif

/* Writing a format: JSON piece by piece, remembering which bytes of the source each piece came
 * from.
 *
 * The links are what the carry is made of (carry.h): a piece of the source that stands in the
 * output is not carried. So a writer says values only through these functions. While it writes,
 * the writer knows where in the output it is and how it spells what; so nobody has to read the
 * output again to find out. */
#ifndef PL_FORMAT_WRITER_H
#define PL_FORMAT_WRITER_H

#include "base/buf.h"
#include "base/vec.h"
#include "conv/conv.h"
#include "format/joint.h"
#include "format/look.h"
#include "format/spell.h"
#include "json/write.h"

/* How the bytes of the source stand in the output. */
enum pl_link_how {
    PL_LINK_COPY,  /* the value is spelled as the source spells it */
    PL_LINK_SPELT, /* `spell` makes the piece of the value again */
    PL_LINK_JSON,  /* the piece is a string, the value is the JSON that is its text */
    PL_LINK_PART,  /* the value is a string, the piece is one of the texts it is made of */
    PL_LINK_ONCE,  /* there is no way back */
};

/* One of several texts in one string, in code points. */
struct pl_link_part {
    const struct pl_joined *joined; /* arena; the text of the string; NULL: there is no carry */
    size_t n_before, n_own;
    size_t n_next; /* of the next part; 0 for the last */
};

/* Bytes [off, off + len) of the source are said by the value that starts at `at` in the output, or
 * by a part of it. */
struct pl_link {
    const struct pl_json_node *node; /* of the source: the piece, or the string it is from */
    uint32_t off, len;
    uint32_t at;
    uint32_t element; /* of the output's list, or PL_NO_ELEMENT */
    /* The pointer of the value in its element, or from the root: that of the container it is in,
     * and its key or, without one, its index. Escaped as in a JSON string. */
    const char *container; /* static or arena */
    const char *key;       /* static or arena; NULL: none */
    uint32_t container_len, key_len;
    uint32_t index;
    bool is_root;  /* it is the element, or the document, itself: the pointer is empty */
    uint8_t how;   /* a pl_link_how */
    uint8_t spell; /* a pl_spell, for SPELT */
    bool is_whole; /* for JSON: there was no white space around it */
    union {
        const struct pl_json_doc *json;  /* arena; for JSON: the value, parsed */
        const struct pl_link_part *part; /* arena; for PART */
    };
};

/* Where in an open container the writer is. */
struct pl_step {
    const char *key; /* static or arena; escaped as in a pointer in a JSON string. NULL: an array */
    uint32_t key_len;
    uint32_t index; /* of the item */
    uint32_t container_len;
    const char *container; /* static or arena; its pointer, once somebody asked; NULL before */
};

/* The pointer of a container that was asked for: that of the one around it, and a step. Elements
 * look like each other, so it will be asked for again. */
struct pl_known_path {
    const char *around; /* where the pointer of the container around it stands */
    const char *key;    /* of the step, as in pl_step */
    uint32_t key_len, index;
    uint32_t path_len;
    const char *path; /* arena; NULL: none is known */
};
enum { PL_W_KNOWN_BITS = 4 };

enum { PL_W_MAX_DEPTH = 64 }; /* of json/write.h */

struct pl_writer {
    struct pl_conv *conv; /* borrowed */
    struct pl_json_out out;
    PL_VEC(struct pl_link) links; /* owned; in order of `at` */
    struct pl_str list_key;       /* of the list whose elements get looks */
    bool has_list;                /* somebody asked for looks */
    uint32_t list_depth;          /* inside the list, while it is open; 0 otherwise */
    uint64_t look;                /* of the element being written */
    PL_VEC(uint64_t) looks;       /* owned; of the elements */
    struct {
        const struct pl_json_node *node; /* the string that was looked into last */
        struct pl_str text;              /* arena; what it says, without white space around it */
        const struct pl_json_doc *doc;   /* arena; NULL: not parsed, or no JSON */
        bool is_whole;                   /* there was none */
        bool is_strict;                  /* parsed: no key stands in it twice */
    } held;
    struct pl_known_path known[1 << PL_W_KNOWN_BITS]; /* by what they are made of */
    struct pl_step steps[PL_W_MAX_DEPTH + 1];         /* [depth] is the innermost open container */
};

void pl_writer_init(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to);
void pl_writer_deinit(struct pl_writer *w);
/* The same of one that wrote something else before: the memory of its lists is used again. */
void pl_writer_renew(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to);
/* Makes looks of the elements of the member `list_key`, or of the root when that is an array. */
void pl_writer_watch(struct pl_writer *w, const char *list_key);

/* Structure, as in json/write.h. Keys and words are of the target's grammar: in them nothing has to
 * be escaped. */
void pl_w_open(struct pl_writer *w, char bracket);
void pl_w_close(struct pl_writer *w, char bracket);
void pl_w_key_n(struct pl_writer *w, const char *key, size_t n_bytes);
void pl_w_word_n(struct pl_writer *w, const char *word, size_t n_bytes);
void pl_w_bool(struct pl_writer *w, bool value);
void pl_w_int(struct pl_writer *w, int64_t value);
void pl_w_null(struct pl_writer *w);
/* Where the bytes of a key, of a word (which has a look), or of both go, with quotes and colon:
 * NULL when out of memory. */
char *pl_w_begin_key(struct pl_writer *w, const char *key, size_t n_bytes);
char *pl_w_begin_word(struct pl_writer *w, size_t n_bytes, uint64_t look);
char *pl_w_begin_pair(struct pl_writer *w, const char *key, size_t n_key, size_t n_word,
                      uint64_t look);

/* Of a key or word that stands in the code the compiler knows the length: then copying it is a few
 * stores. */
static inline void pl_w_key(struct pl_writer *w, const char *key)
{
    size_t n = strlen(key);
    if (!__builtin_constant_p(n)) {
        pl_w_key_n(w, key, n);
        return;
    }
    char *to = pl_w_begin_key(w, key, n);
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
    char *to = pl_w_begin_word(w, n, pl_look_word(word, n));
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
    char *to = pl_w_begin_pair(w, key, n_key, n_word, pl_look_word(word, n_word));
    if (!to)
        return;
    to[0] = '"';
    memcpy(to + 1, key, n_key);
    memcpy(to + 1 + n_key, "\":\"", 3);
    memcpy(to + 4 + n_key, word, n_word);
    to[4 + n_key + n_word] = '"';
}
/* A key of the source; static or arena. */
void pl_w_key_str(struct pl_writer *w, struct pl_str key);
/* JSON we made, or said before: no provenance. */
void pl_w_raw(struct pl_writer *w, struct pl_str json);

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

/* The value is said in the target's own words: no loss. */
void pl_w_mapped(struct pl_writer *w, struct pl_val val);
/* A loss at a value (at its node; for a value we made, at `near`). */
void pl_w_loss(struct pl_writer *w, enum pl_loss_code code, struct pl_val val, const char *detail);

#endif

/* JSON (RFC 8259) as a compact tree over the text it came from.
 *
 * The tree is an array of 16-byte nodes in document order. A node does not hold a value: it holds
 * the exact span of its source bytes, quotes included. So a string stays escaped and a number keeps
 * its spelling until a caller decodes it, and writing a value back copies its span.
 *
 *     {"a":[1,2],"b":"x"}      node 0  object  span 0..19  skip 7  count 2
 *                              node 1  key     "a"   (a string with PL_JSON_KEY)
 *                              node 2  array   [1,2]       skip 3  count 2
 *                              node 3  number  1
 *                              node 4  number  2
 *                              node 5  key     "b"
 *                              node 6  string  "x"
 *
 * A subtree is contiguous: n + n->skip is the next sibling, or the end of the parent after its
 * last child. The members of an object are pairs: key node, then value.
 *
 * Lifetime: nodes are arena memory; the text is borrowed and must outlive the document. */
#ifndef PL_JSON_JSON_H
#define PL_JSON_JSON_H

#include "base/arena.h"
#include "base/cpu.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

enum pl_json_kind {
    PL_JSON_NULL,
    PL_JSON_FALSE,
    PL_JSON_TRUE,
    PL_JSON_NUMBER,
    PL_JSON_STRING,
    PL_JSON_ARRAY,
    PL_JSON_OBJECT,
};

enum pl_json_flag {
    PL_JSON_KEY = 1 << 4,     /* a string that names a member; tag holds its hash */
    PL_JSON_ESCAPED = 1 << 5, /* a string with at least one backslash */
    PL_JSON_INTEGER = 1 << 6, /* a number spelled without fraction and exponent */
    PL_JSON_ODD = 1 << 7,     /* a string with an escape that may be unnecessary: \/ or \u */
};

struct pl_json_node {
    uint32_t off;  /* of the first byte, in the text */
    uint32_t len;  /* length of the span in bytes, brackets and quotes included */
    uint32_t skip; /* nodes in the subtree, itself included */
    uint32_t tag;  /* kind in bits 0-3, flags in 4-7; above: count of a container, hash of a key */
};

struct pl_json_doc {
    struct pl_str text;              /* borrowed */
    const struct pl_json_node *root; /* arena; root[0 … n_nodes) is the whole tree */
    uint32_t n_nodes;
    uint32_t n_space; /* bytes of white space outside strings, also before and after the root */
};

struct pl_json_opts {
    uint32_t max_depth;          /* 0: 64 */
    uint32_t max_nodes;          /* 0: 2,000,000; at most 16,777,215 */
    uint32_t max_number;         /* bytes in one number; 0: 128 */
    bool allows_duplicate_keys;  /* else refused; if allowed, the last one counts */
    bool allows_lone_surrogates; /* \ud800 without its partner */
    bool refuses_nul;            /* \u0000 in a string */
    bool has_cpu;                /* use `cpu` instead of the best instruction set: for tests */
    enum pl_cpu cpu;
};

/* For text that this program wrote: it may contain many documents of the usual limits, a few levels
 * down. Depth 128, unlimited nodes. */
extern const struct pl_json_opts pl_json_own;
/* For text that others wrote and vendors accept: allows duplicate keys and lone surrogates. The
 * usual limits. */
extern const struct pl_json_opts pl_json_any;
/* For text derived from such a document, which may be longer: unlimited nodes. */
extern const struct pl_json_opts pl_json_made;

/* Text longer than this is refused: offsets are 32 bits wide. */
#define PL_JSON_MAX_BYTES 0xFFFFFF00u

/* Parses one JSON text with nothing but white space around it. opts NULL means the strict defaults.
 * On failure *ret_doc is untouched and *err (may be NULL) has offset, line, column and pointer. */
enum pl_status pl_json_parse(struct pl_arena *arena, struct pl_str text,
                             const struct pl_json_opts *opts, struct pl_json_doc *ret_doc,
                             struct pl_error *err);

static inline enum pl_json_kind pl_json_kind(const struct pl_json_node *n)
{
    return (enum pl_json_kind)(n->tag & 15);
}

/* False if n is NULL or of another kind. */
static inline bool pl_json_is(const struct pl_json_node *n, enum pl_json_kind kind)
{
    return n && pl_json_kind(n) == kind;
}

static inline bool pl_json_is_container(const struct pl_json_node *n)
{
    return pl_json_kind(n) >= PL_JSON_ARRAY;
}

/* Elements of an array, members of an object. */
static inline uint32_t pl_json_count(const struct pl_json_node *n)
{
    return n->tag >> 8;
}

static inline uint32_t pl_json_key_hash_of(const struct pl_json_node *key)
{
    return key->tag >> 8;
}

static inline const struct pl_json_node *pl_json_next(const struct pl_json_node *n)
{
    return n + n->skip;
}

/* The first child. Of an array: an element. Of an object: the KEY node; its value is child + 1, and
 * pl_json_next_member() steps over both. If it may not be an object, begin with
 * pl_json_first_member(). */
static inline const struct pl_json_node *pl_json_first(const struct pl_json_node *container)
{
    return container + 1;
}

static inline const struct pl_json_node *pl_json_end(const struct pl_json_node *container)
{
    return container + container->skip;
}

static inline const struct pl_json_node *pl_json_next_member(const struct pl_json_node *key)
{
    return key + 1 + key[1].skip;
}

/* The first key of an object. For any other value its end, so that a loop over its members is
 * empty. */
static inline const struct pl_json_node *pl_json_first_member(const struct pl_json_node *n)
{
    return pl_json_kind(n) == PL_JSON_OBJECT ? n + 1 : n + n->skip;
}

/* The source bytes of a value, unchanged. */
static inline struct pl_str pl_json_span(const struct pl_json_doc *doc,
                                         const struct pl_json_node *n)
{
    return (struct pl_str){doc->text.ptr + n->off, n->len};
}

/* The span of a string without its quotes; still escaped when PL_JSON_ESCAPED is set. Empty for any
 * other value. */
static inline struct pl_str pl_json_raw(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    bool is_string = pl_json_kind(n) == PL_JSON_STRING;
    return (struct pl_str){doc->text.ptr + n->off + is_string, is_string ? (size_t)n->len - 2 : 0};
}

/* Value of member `key` (decoded), the last one if it occurs twice; NULL if absent or if `object`
 * is not an object. */
const struct pl_json_node *pl_json_get(const struct pl_json_doc *doc,
                                       const struct pl_json_node *object, struct pl_str key);
/* The same with the hash of the key (key_hash.h); `object` must be an object. */
const struct pl_json_node *pl_json_get_hashed(const struct pl_json_doc *doc,
                                              const struct pl_json_node *object, struct pl_str key,
                                              uint32_t hash);

/* Value of member `key` if it is of this kind; NULL otherwise, and if `object` is NULL or not an
 * object. */
static inline const struct pl_json_node *pl_json_member(const struct pl_json_doc *doc,
                                                        const struct pl_json_node *object,
                                                        const char *key, enum pl_json_kind kind)
{
    const struct pl_json_node *n = object ? pl_json_get(doc, object, pl_str_of(key)) : NULL;
    return pl_json_is(n, kind) ? n : NULL;
}

/* "null", "boolean", "number", "string", "array", "object". */
const char *pl_json_kind_name(enum pl_json_kind kind);

#endif

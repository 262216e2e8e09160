/* Finds a member name or a string among those of a schema: the inner loop of validation, inline. */
#ifndef PL_SCHEMA_LOOKUP_H
#define PL_SCHEMA_LOOKUP_H

#include "json/text.h"
#include "schema/schema_int.h"

/* memcmp without a call, for the short names of schemas. */
static inline bool pl_same_bytes(const char *a, const char *b, uint32_t n)
{
    uint64_t a8, b8, c8, d8;
    uint32_t a4, b4, c4, d4;
    if (n >= 8) {
        if (n > 16)
            return memcmp(a, b, n) == 0;
        memcpy(&a8, a, 8);
        memcpy(&b8, b, 8);
        memcpy(&c8, a + n - 8, 8);
        memcpy(&d8, b + n - 8, 8);
        return ((a8 ^ b8) | (c8 ^ d8)) == 0;
    }
    if (n >= 4) {
        memcpy(&a4, a, 4);
        memcpy(&b4, b, 4);
        memcpy(&c4, a + n - 4, 4);
        memcpy(&d4, b + n - 4, 4);
        return ((a4 ^ b4) | (c4 ^ d4)) == 0;
    }
    return n == 0 || (a[0] == b[0] && a[n >> 1] == b[n >> 1] && a[n - 1] == b[n - 1]);
}

/* Whether the decoded string node equals `text` of `len` bytes. */
static inline bool pl_node_is(const struct pl_json_doc *doc, const struct pl_json_node *n,
                              const char *text, uint32_t len)
{
    if (__builtin_expect(n->tag & PL_JSON_ESCAPED, 0))
        return pl_json_text_is(doc, n, (struct pl_str){text, len});
    return n->len - 2 == len && pl_same_bytes(doc->text.ptr + n->off + 1, text, len);
}

static inline uint32_t pl_schema_table_start(const struct pl_schema_table *table, uint32_t hash)
{
    return (hash * table->multiplier) >> table->shift;
}

static inline struct pl_str pl_spelling_text(const struct pl_spelling *spelling)
{
    return (struct pl_str){spelling->text, spelling->n_quoted - 2};
}

static inline uint64_t pl_load8(const char *p)
{
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

static inline uint32_t pl_load4(const char *p)
{
    uint32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

static inline uint16_t pl_load2(const char *p)
{
    uint16_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

/* Both ends of a string of n bytes at p, quotes included. */
struct pl_ends {
    uint64_t head, tail;
};

static inline struct pl_ends pl_ends_of(const char *p, uint32_t n)
{
    if (__builtin_expect(n >= 8, 1))
        return (struct pl_ends){pl_load8(p), pl_load8(p + n - 8)};
    if (__builtin_expect(n >= 4, 1))
        return (struct pl_ends){pl_load4(p), pl_load4(p + n - 4)};
    return (struct pl_ends){pl_load2(p), pl_load2(p + n - 2)};
}

/* Whether a string without escapes, n bytes at p with its quotes, equals the spelling. */
static inline bool pl_spelling_is(const struct pl_spelling *spelling, struct pl_ends ends,
                                  const char *p, uint32_t n)
{
    if (n != spelling->n_quoted || ends.head != spelling->head || ends.tail != spelling->tail)
        return false;
    return __builtin_expect(n <= 16, 1) || memcmp(p + 8, spelling->text + 7, n - 16) == 0;
}

/* The slot of a member, or NULL: for names that share a slot and escaped keys. */
const struct pl_slot *pl_object_probe(const struct pl_object *object, const struct pl_json_doc *doc,
                                      const struct pl_json_node *key);

/* The slot of a member, or NULL if the schema does not name it. The tag of a key has its hash and
 * whether it is escaped, so one comparison decides most lookups. */
static inline const struct pl_slot *pl_object_find(const struct pl_object *object,
                                                   const struct pl_json_doc *doc,
                                                   const struct pl_json_node *key)
{
    const struct pl_slot *slot =
        &object->slots[pl_schema_table_start(&object->table, pl_json_key_hash_of(key))];
    const char *p = doc->text.ptr + key->off;
    if (__builtin_expect(slot->name.tag == key->tag &&
                             pl_spelling_is(&slot->name, pl_ends_of(p, key->len), p, key->len),
                         1))
        return slot;
    if (__builtin_expect(object->table.n_probe > 1 || (key->tag & PL_JSON_ESCAPED), 0))
        return pl_object_probe(object, doc, key);
    return NULL;
}

static inline uint32_t pl_ends_hash(struct pl_ends ends, uint32_t n)
{
    uint64_t mixed = ends.head ^ (ends.tail << 29 | ends.tail >> 35) ^ n;
    return (uint32_t)(mixed * 0x9E3779B97F4A7C15 >> 32);
}

/* The hash of a string of n bytes, quotes included; `text` is its decoded content. */
static inline uint32_t pl_set_hash(const struct pl_set *set, struct pl_ends ends, const char *text,
                                   uint32_t n)
{
    if (__builtin_expect(set->hash == PL_SET_ENDS, 1))
        return pl_ends_hash(ends, n);
    struct pl_str s = {text, n - 2};
    return set->hash == PL_SET_PLAIN ? pl_json_key_hash(s) : (uint32_t)pl_hash_with(set->key, s);
}

/* The id of a string in a set, or PL_SCHEMA_NONE; the string is n bytes at p, quotes included,
 * without escapes. */
static inline uint32_t pl_set_find(const struct pl_set *set, const char *p, uint32_t n)
{
    struct pl_ends ends = pl_ends_of(p, n);
    uint32_t at = pl_schema_table_start(&set->table, pl_set_hash(set, ends, p + 1, n));
    for (uint32_t probe = set->table.n_probe; probe; probe--) {
        const struct pl_set_slot *slot = &set->slots[at];
        if (pl_spelling_is(&slot->name, ends, p, n))
            return slot->id;
        at = (at + 1) & set->table.mask;
    }
    return PL_SCHEMA_NONE;
}

static inline bool pl_member_is(const struct pl_json_doc *doc, const struct pl_json_node *key,
                                const struct pl_name *name)
{
    return pl_json_key_hash_of(key) == name->hash &&
           pl_node_is(doc, key, name->text.ptr, (uint32_t)name->text.len);
}

/* The value of the member called `name`, the last one if there are several; or NULL. */
static inline const struct pl_json_node *pl_member_find(const struct pl_json_doc *doc,
                                                        const struct pl_json_node *object,
                                                        const struct pl_name *name)
{
    const struct pl_json_node *found = NULL;
    for (const struct pl_json_node *k = pl_json_first(object), *end = pl_json_end(object); k != end;
         k = pl_json_next_member(k))
        if (pl_member_is(doc, k, name))
            found = k + 1;
    return found;
}

/* Decoded text of a string node: a view of the instance, or of run->text until the next call. False
 * when out of memory (sets run->status). */
bool pl_run_text(struct pl_schema_run *run, const struct pl_json_node *n, struct pl_str *ret_text);

/* The id of an escaped string in a set, or PL_SCHEMA_NONE. */
uint32_t pl_run_set_probe(struct pl_schema_run *run, const struct pl_set *set,
                          const struct pl_json_node *n);

/* The id of a string node in a set, or PL_SCHEMA_NONE. */
static inline uint32_t pl_run_set_find(struct pl_schema_run *run, const struct pl_set *set,
                                       const struct pl_json_node *n)
{
    if (__builtin_expect(n->tag & PL_JSON_ESCAPED, 0))
        return pl_run_set_probe(run, set, n);
    return pl_set_find(set, run->doc->text.ptr + n->off, n->len);
}

/* The number of the branch that a value selects, or PL_SCHEMA_NONE. */
static inline uint32_t pl_run_branch(struct pl_schema_run *run, const struct pl_switch *sw,
                                     const struct pl_json_node *value)
{
    enum pl_json_kind kind = pl_json_kind(value);
    if (kind != PL_JSON_STRING)
        return kind <= PL_JSON_TRUE ? sw->literal[kind] : PL_SCHEMA_NONE;
    uint32_t id = pl_run_set_find(run, &run->schema->sets.ptr[sw->set], value);
    return id == PL_SCHEMA_NONE ? id : run->schema->lists.ptr[sw->branches + id];
}

#endif

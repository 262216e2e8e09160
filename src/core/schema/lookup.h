/* Finding a member name or a string among those of a schema: the inner loop of validation, inline.
 */
#ifndef PL_SCHEMA_LOOKUP_H
#define PL_SCHEMA_LOOKUP_H

#include "json/text.h"
#include "schema/schema_int.h"

/* memcmp without a call for the short names that schemas have. */
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

/* Whether a string node says `text` of `len` bytes. */
static inline bool pl_node_is(const struct pl_json_doc *doc, const struct pl_json_node *n,
                              const char *text, uint32_t len)
{
    if (__builtin_expect(n->tag & PL_JSON_ESCAPED, 0))
        return pl_json_text_is(doc, n, (struct pl_str){text, len});
    return n->len - 2 == len && pl_same_bytes(doc->text.ptr + n->off + 1, text, len);
}

static inline uint32_t pl_table_start(const struct pl_table *table, uint32_t hash)
{
    return (hash * table->multiplier) >> table->shift;
}

/* The slot of a member, or NULL when the schema does not name it. Free slots have a hash that no
 * key has, so one comparison settles most lookups. */
static inline const struct pl_slot *pl_object_find(const struct pl_object *object,
                                                   const struct pl_json_doc *doc,
                                                   const struct pl_json_node *key)
{
    uint32_t hash = pl_json_key_hash_of(key);
    uint32_t at = pl_table_start(&object->table, hash);
    const struct pl_slot *slot = &object->slots[at];
    if (slot->hash == hash && pl_node_is(doc, key, slot->name, slot->len))
        return slot;
    for (uint32_t probe = object->table.n_probe; __builtin_expect(probe > 1, 0); probe--) {
        at = (at + 1) & object->table.mask;
        slot = &object->slots[at];
        if (slot->hash == hash && pl_node_is(doc, key, slot->name, slot->len))
            return slot;
    }
    return NULL;
}

/* Length and three bytes of a string: enough to tell a few names apart, and nearly free. */
static inline uint32_t pl_short_hash(const char *p, uint32_t len)
{
    if (!len)
        return 0;
    return len ^ ((uint32_t)(uint8_t)p[0] << 8) ^ ((uint32_t)(uint8_t)p[len >> 1] << 16) ^
           ((uint32_t)(uint8_t)p[len - 1] << 24);
}

/* The id of a string in a set, or PL_SCHEMA_NONE. */
static inline uint32_t pl_set_find(const struct pl_set *set, const char *text, uint32_t len)
{
    uint32_t hash =
        set->is_short ? pl_short_hash(text, len) : pl_json_key_hash((struct pl_str){text, len});
    uint32_t at = pl_table_start(&set->table, hash);
    for (uint32_t probe = set->table.n_probe; probe; probe--) {
        const struct pl_set_slot *slot = &set->slots[at];
        if (slot->len == len && slot->text && pl_same_bytes(slot->text, text, len))
            return slot->id;
        at = (at + 1) & set->table.mask;
    }
    return PL_SCHEMA_NONE;
}

/* The value of the member called `name`, the last one if there are several; or NULL. */
static inline const struct pl_json_node *pl_member_find(const struct pl_json_doc *doc,
                                                        const struct pl_json_node *object,
                                                        const struct pl_name *name)
{
    const struct pl_json_node *found = NULL;
    for (const struct pl_json_node *k = pl_json_first(object), *end = pl_json_end(object); k != end;
         k = pl_json_next_member(k))
        if (pl_json_key_hash_of(k) == name->hash &&
            pl_node_is(doc, k, name->text.ptr, (uint32_t)name->text.len))
            found = k + 1;
    return found;
}

/* Decoded text of a string node: a view of the instance, or of run->text until the next call.
 * False when out of memory (the run remembers). */
bool pl_run_text(struct pl_schema_run *run, const struct pl_json_node *n, struct pl_str *ret_text);

/* The id of a string node in a set, or PL_SCHEMA_NONE. */
static inline uint32_t pl_run_set_find(struct pl_schema_run *run, uint32_t set,
                                       const struct pl_json_node *n)
{
    struct pl_str text = pl_json_raw(run->doc, n);
    if (__builtin_expect(n->tag & PL_JSON_ESCAPED, 0) && !pl_run_text(run, n, &text))
        return PL_SCHEMA_NONE;
    return pl_set_find(&run->schema->sets.ptr[set], text.ptr, (uint32_t)text.len);
}

#endif

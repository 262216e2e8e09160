/* Hash tables that are built when a schema is compiled and never changed. Building takes time so
 * that a lookup succeeds at the first probe: a few names nearly always have a multiplier that gives
 * each its own slot. Lookups that need probing are here too; lookup.h has the common case. */
#include "schema/compile_int.h"
#include "schema/lookup.h"

#define MAX_ENDS  64    /* largest set that may be hashed by the ends of its strings */
#define MAX_PROBE 8     /* of a set; beyond it a better hash is tried */
#define MAX_WORK  60000 /* hashes placed while searching for a good multiplier */

/* Places all hashes; returns the longest probe, or limit + 1 as soon as it exceeds the limit. */
static uint32_t place(const uint32_t *hashes, uint32_t n, const struct pl_schema_table *table,
                      uint8_t *taken, uint32_t limit, uint32_t *slot_of)
{
    uint32_t longest = 1;
    memset(taken, 0, (size_t)table->mask + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = pl_schema_table_start(table, hashes[i]), probe = 1;
        while (taken[at]) {
            at = (at + 1) & table->mask;
            if (++probe > limit)
                return limit + 1;
        }
        taken[at] = 1;
        slot_of[i] = at;
        longest = probe > longest ? probe : longest;
    }
    return longest;
}

enum pl_status pl_schema_table_plan(const uint32_t *hashes, uint32_t n, uint32_t max_probe,
                                    struct pl_schema_table *ret_table, uint32_t *slot_of)
{
    struct pl_schema_table best = {.n_probe = max_probe + 1};
    uint32_t bits = 1;
    while ((1u << bits) < 2 * n)
        bits++;
    uint32_t max_bits = n <= 64 ? bits + 2 : bits;
    PL_CLEANUP_FREE uint8_t *taken = pl_mem_alloc((size_t)1 << max_bits, 1);
    if (!taken)
        return PL_NOMEM;
    uint32_t work = 0, multiplier = 0x9E3779B1;
    for (; bits <= max_bits && best.n_probe > 1; bits++)
        for (int i = 0; i < 64 && best.n_probe > 1 && (work < MAX_WORK || i == 0); i++) {
            struct pl_schema_table table = {
                .mask = (1u << bits) - 1, .multiplier = multiplier, .shift = (uint8_t)(32 - bits)};
            table.n_probe = place(hashes, n, &table, taken, best.n_probe, slot_of);
            if (table.n_probe < best.n_probe)
                best = table;
            multiplier = (multiplier * 0x2C1B3C6D + 0x297A2D39) | 1;
            work += n;
        }
    if (best.mask)
        best.n_probe = place(hashes, n, &best, taken, best.n_probe, slot_of);
    *ret_table = best;
    return PL_OK;
}

static char quoted_byte(struct pl_str text, size_t i)
{
    return i == 0 || i == text.len + 1 ? '"' : text.ptr[i - 1];
}

struct pl_spelling pl_spelling_of(struct pl_str text, uint32_t tag)
{
    struct pl_spelling spelling = {
        .text = text.len ? text.ptr : "", .n_quoted = (uint32_t)text.len + 2, .tag = tag};
    size_t n = text.len + 2, width = n >= 8 ? 8 : n >= 4 ? 4 : 2;
    char head[8] = {0}, tail[8] = {0};
    for (size_t i = 0; i < width; i++) {
        head[i] = quoted_byte(text, i);
        tail[i] = quoted_byte(text, n - width + i);
    }
    spelling.head = width == 8 ? pl_load8(head) : width == 4 ? pl_load4(head) : pl_load2(head);
    spelling.tail = width == 8 ? pl_load8(tail) : width == 4 ? pl_load4(tail) : pl_load2(tail);
    return spelling;
}

/* The hash of a text without a spelling. */
static uint32_t hash_for(const struct pl_set *set, struct pl_str text)
{
    struct pl_spelling spelling = pl_spelling_of(text, 0);
    struct pl_ends ends = {spelling.head, spelling.tail};
    return pl_set_hash(set, ends, spelling.text, spelling.n_quoted);
}

const struct pl_slot *pl_object_probe(const struct pl_object *object, const struct pl_json_doc *doc,
                                      const struct pl_json_node *key)
{
    uint32_t hash = pl_json_key_hash_of(key);
    uint32_t at = pl_schema_table_start(&object->table, hash);
    for (uint32_t probe = object->table.n_probe; probe; probe--) {
        const struct pl_slot *slot = &object->slots[at];
        if (slot->name.text && slot->name.tag >> 8 == hash &&
            pl_node_is(doc, key, slot->name.text, slot->name.n_quoted - 2))
            return slot;
        at = (at + 1) & object->table.mask;
    }
    return NULL;
}

uint32_t pl_run_set_probe(struct pl_schema_run *run, const struct pl_set *set,
                          const struct pl_json_node *n)
{
    struct pl_str text;
    if (!pl_run_text(run, n, &text))
        return PL_SCHEMA_NONE;
    uint32_t at = pl_schema_table_start(&set->table, hash_for(set, text));
    for (uint32_t probe = set->table.n_probe; probe; probe--) {
        const struct pl_spelling *name = &set->slots[at].name;
        if (name->text && pl_str_eq(pl_spelling_text(name), text))
            return set->slots[at].id;
        at = (at + 1) & set->table.mask;
    }
    return PL_SCHEMA_NONE;
}

/* Removes repetitions: *ret_n texts are kept, in order, each with its index in `texts`. */
static enum pl_status drop_repeated(const struct pl_str *texts, uint32_t n, struct pl_str *kept,
                                    uint32_t *ids, uint32_t *ret_n)
{
    struct pl_map seen = {0};
    uint32_t n_kept = 0;
    enum pl_status status = PL_OK;
    for (uint32_t i = 0; i < n && status == PL_OK; i++) {
        bool is_new = false;
        if (!pl_map_put(&seen, texts[i], &is_new))
            status = PL_NOMEM;
        if (is_new) {
            kept[n_kept] = texts[i];
            ids[n_kept++] = i;
        }
    }
    pl_map_deinit(&seen);
    *ret_n = n_kept;
    return status;
}

static bool has_equal(const uint32_t *hashes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (hashes[i] == hashes[j])
                return true;
    return false;
}

/* Chooses the hash of a set and lays out its table. */
static enum pl_status plan_set(const struct pl_str *texts, uint32_t n, struct pl_set *set,
                               uint32_t *hashes, uint32_t *slot_of)
{
    set->key = (struct pl_hash_key){{pl_hash(PL_STR("set")), pl_hash(PL_STR("of strings"))}};
    set->hash = n <= MAX_ENDS ? PL_SET_ENDS : PL_SET_PLAIN;
    for (; set->hash < PL_SET_HASH_COUNT; set->hash++) {
        bool is_last = set->hash == PL_SET_KEYED;
        for (uint32_t i = 0; i < n; i++)
            hashes[i] = hash_for(set, texts[i]);
        if (set->hash == PL_SET_ENDS && has_equal(hashes, n))
            continue;
        TRY(pl_schema_table_plan(hashes, n, is_last ? n + 1 : MAX_PROBE, &set->table, slot_of));
        if (set->table.mask)
            break;
    }
    return PL_OK;
}

enum pl_status pl_set_build(struct pl_schema *s, const struct pl_str *texts, uint32_t n,
                            uint32_t *ret_set)
{
    PL_CLEANUP_FREE struct pl_str *kept = pl_mem_alloc((size_t)n + 1, sizeof *kept);
    PL_CLEANUP_FREE uint32_t *words = pl_mem_alloc((size_t)n + 1, 3 * sizeof *words);
    if (!kept || !words)
        return PL_NOMEM;
    uint32_t *ids = words, *hashes = words + n, *slot_of = words + 2 * (size_t)n;
    struct pl_set set = {0};
    TRY(drop_repeated(texts, n, kept, ids, &n));
    TRY(plan_set(kept, n, &set, hashes, slot_of));
    set.table.first = (uint32_t)s->set_slots.len;
    for (uint32_t i = 0; i <= set.table.mask; i++)
        if (!pl_vec_push(&s->set_slots, (struct pl_set_slot){0}))
            return PL_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        s->set_slots.ptr[set.table.first + slot_of[i]] =
            (struct pl_set_slot){pl_spelling_of(kept[i], 0), ids[i]};
    *ret_set = (uint32_t)s->sets.len;
    return pl_vec_push(&s->sets, set) ? PL_OK : PL_NOMEM;
}

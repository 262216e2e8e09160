/* Hash tables made when a schema is compiled and never changed: time is spent here so that a lookup
 * finds its entry at the first try. For a handful of names there is nearly always a multiplier that
 * sends each to a slot of its own. */
#include "schema/compile_int.h"
#include "schema/lookup.h"

#define MAX_WORK 60000 /* hashes placed while looking for a good multiplier */

/* Places all hashes; returns the longest probe, or n + 2 as soon as it exceeds `limit`. */
static uint32_t place(const uint32_t *hashes, uint32_t n, const struct pl_table *table,
                      uint8_t *taken, uint32_t limit, uint32_t *slot_of)
{
    uint32_t longest = 1;
    memset(taken, 0, (size_t)table->mask + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = pl_table_start(table, hashes[i]), probe = 1;
        while (taken[at]) {
            at = (at + 1) & table->mask;
            if (++probe > limit)
                return n + 2;
        }
        taken[at] = 1;
        slot_of[i] = at;
        longest = probe > longest ? probe : longest;
    }
    return longest;
}

enum pl_status pl_table_plan(const uint32_t *hashes, uint32_t n, struct pl_table *ret_table,
                             uint32_t *slot_of)
{
    struct pl_table best = {.n_probe = n + 2}; /* longer than any chain: the first try counts */
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
            struct pl_table table = {
                .mask = (1u << bits) - 1, .multiplier = multiplier, .shift = (uint8_t)(32 - bits)};
            table.n_probe = place(hashes, n, &table, taken, best.n_probe, slot_of);
            if (table.n_probe < best.n_probe)
                best = table;
            multiplier = (multiplier * 0x2C1B3C6D + 0x297A2D39) | 1;
            work += n;
        }
    best.n_probe = place(hashes, n, &best, taken, n + 1, slot_of);
    *ret_table = best;
    return PL_OK;
}

/* Fills `hashes` by the cheap hash when it tells the texts apart, otherwise by the real one. */
static bool hash_texts(const struct pl_str *texts, uint32_t n, uint32_t *hashes)
{
    bool is_short = n <= 64;
    for (uint32_t i = 0; is_short && i < n; i++) {
        hashes[i] = pl_short_hash(texts[i].ptr, (uint32_t)texts[i].len);
        for (uint32_t j = 0; j < i; j++)
            is_short &= hashes[i] != hashes[j] || pl_str_eq(texts[i], texts[j]);
    }
    for (uint32_t i = 0; !is_short && i < n; i++)
        hashes[i] = pl_json_key_hash(texts[i]);
    return is_short;
}

/* The index of each text without repetitions, in order; returns how many there are. */
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
    set.is_short = hash_texts(kept, n, hashes);
    TRY(pl_table_plan(hashes, n, &set.table, slot_of));
    set.table.first = (uint32_t)s->set_slots.len;
    for (uint32_t i = 0; i <= set.table.mask; i++)
        if (!pl_vec_push(&s->set_slots, (struct pl_set_slot){0}))
            return PL_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        s->set_slots.ptr[set.table.first + slot_of[i]] =
            (struct pl_set_slot){kept[i].len ? kept[i].ptr : "", (uint32_t)kept[i].len, ids[i]};
    *ret_set = (uint32_t)s->sets.len;
    return pl_vec_push(&s->sets, set) ? PL_OK : PL_NOMEM;
}

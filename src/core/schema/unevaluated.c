/* Bit sets for unevaluatedProperties and unevaluatedItems (core specification, section 11).
 *
 * A set exists only while a subschema with such a keyword runs. Applicators on the same instance
 * pass the set on; a branch that fails must leave it unchanged. */
#include "schema/unevaluated.h"

#define FIRST_WORDS 256

static uint32_t words_of(const struct pl_json_node *n)
{
    return pl_json_count(n) / 64 + 1;
}

static uint32_t take_words(struct pl_schema_run *run, uint32_t n_words)
{
    if (!run->n_bits)
        run->n_bits = 1; /* set 0 is unused */
    uint32_t at = run->n_bits;
    if (run->cap_bits - at < n_words || !run->cap_bits) {
        size_t cap = run->cap_bits ? run->cap_bits : FIRST_WORDS;
        while (cap - at < n_words)
            cap *= 2;
        uint64_t *bits = cap > UINT32_MAX ? NULL : pl_mem_grow(run->bits, cap, sizeof *run->bits);
        if (!bits) {
            pl_run_stop(run, PL_NOMEM);
            return 0;
        }
        run->bits = bits;
        run->cap_bits = (uint32_t)cap;
    }
    run->n_bits = at + n_words;
    return at;
}

bool pl_bits_reserve(struct pl_schema_run *run)
{
    bool is_done = take_words(run, 1) != 0;
    run->n_bits = 0;
    return is_done;
}

uint32_t pl_bits_push(struct pl_schema_run *run, const struct pl_json_node *n)
{
    uint32_t n_words = words_of(n);
    if (!pl_run_spend(run, 1 + n_words))
        return 0;
    uint32_t at = take_words(run, n_words);
    if (at)
        memset(run->bits + at, 0, n_words * sizeof *run->bits);
    return at;
}

uint32_t pl_bits_save(struct pl_schema_run *run, uint32_t from, const struct pl_json_node *n)
{
    uint32_t n_words = words_of(n);
    if (!pl_run_spend(run, n_words))
        return 0;
    uint32_t at = take_words(run, n_words);
    if (at)
        memcpy(run->bits + at, run->bits + from, n_words * sizeof *run->bits);
    return at;
}

void pl_bits_settle(struct pl_schema_run *run, uint32_t saved, uint32_t track,
                    const struct pl_json_node *n, bool is_kept)
{
    if (!is_kept)
        memcpy(run->bits + track, run->bits + saved, words_of(n) * sizeof *run->bits);
    run->n_bits = saved;
}

void pl_bits_pop(struct pl_schema_run *run, uint32_t set, uint32_t outer,
                 const struct pl_json_node *n)
{
    for (uint32_t i = 0; outer && i < words_of(n); i++)
        run->bits[outer + i] |= run->bits[set + i];
    run->n_bits = set;
}

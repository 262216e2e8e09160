/* Matches the blocks of two prompts.
 *
 * Blocks with the same id match. Blocks without an id (on either side) are matched in three rounds:
 * same text, mostly the same text, after the same block. A matched block has moved if it is not in
 * the longest run of blocks in the same order. */
#include "prompt/diff_int.h"

#include "base/hash.h"
#include "base/map.h"

/* Likeness: word counts of a text in N_HEAPS hash buckets. Only the first unmatched blocks are
 * compared, each only with its neighbours, to bound the time. */
enum { N_HEAPS = 256, MAX_COMPARED = 1000, NEIGHBOURS = 32, LIKE_PERCENT = 40 };

struct likeness {
    uint32_t block, n_words;
    uint16_t heaps[N_HEAPS];
};

static void match(struct pl_diff_side *from, uint32_t a, struct pl_diff_side *to, uint32_t b)
{
    from->blocks[a].match = b;
    to->blocks[b].match = a;
}

static bool is_open(const struct pl_diff_block *block)
{
    return block->match == PL_DIFF_NONE && block->node;
}

/* Two blocks may match unless their ids differ. */
static bool may_be_one(const struct pl_diff_block *a, const struct pl_diff_block *b)
{
    return is_open(a) && is_open(b) && !(a->id.len && b->id.len) && pl_str_eq(a->role, b->role);
}

static void match_named(struct pl_diff_side *from, struct pl_diff_side *to)
{
    if (from->n_blocks && to->n_blocks && !from->blocks[0].node && !to->blocks[0].node &&
        pl_str_eq(from->blocks[0].id, to->blocks[0].id))
        match(from, 0, to, 0);
}

static enum pl_status match_ids(struct pl_map *ids, struct pl_diff_side *from,
                                struct pl_diff_side *to)
{
    for (uint32_t i = 0; i < from->n_blocks; i++) {
        bool is_new;
        if (!from->blocks[i].id.len || !from->blocks[i].node)
            continue;
        struct pl_map_entry *entry = pl_map_put(ids, from->blocks[i].id, &is_new);
        if (!entry)
            return PL_NOMEM;
        if (is_new)
            entry->value = i;
    }
    for (uint32_t i = 0; i < to->n_blocks; i++) {
        const struct pl_diff_block *block = &to->blocks[i];
        struct pl_map_entry *entry =
            block->id.len && block->node ? pl_map_get(ids, block->id) : NULL;
        if (entry && is_open(&from->blocks[entry->value]))
            match(from, (uint32_t)entry->value, to, i);
    }
    return PL_OK;
}

/* Matches blocks with equal texts: old blocks with an id, or those without one. `next` links old
 * blocks with the same text, which are matched in order. */
static enum pl_status match_same(struct pl_diff_side *from, struct pl_diff_side *to, bool has_id,
                                 uint32_t *next)
{
    struct pl_map texts = {0};
    for (uint32_t i = from->n_blocks; i-- > 0;) {
        bool is_new;
        if (!is_open(&from->blocks[i]) || (from->blocks[i].id.len > 0) != has_id)
            continue;
        struct pl_map_entry *entry = pl_map_put(&texts, from->blocks[i].text, &is_new);
        if (!entry) {
            pl_map_deinit(&texts);
            return PL_NOMEM;
        }
        next[i] = is_new ? PL_DIFF_NONE : (uint32_t)entry->value;
        entry->value = i;
    }
    for (uint32_t i = 0; i < to->n_blocks; i++) {
        struct pl_map_entry *entry =
            is_open(&to->blocks[i]) ? pl_map_get(&texts, to->blocks[i].text) : NULL;
        if (!entry || entry->value == PL_DIFF_NONE)
            continue;
        uint32_t old = (uint32_t)entry->value;
        if (!may_be_one(&from->blocks[old], &to->blocks[i]))
            continue;
        match(from, old, to, i);
        entry->value = next[old];
    }
    pl_map_deinit(&texts);
    return PL_OK;
}

static struct likeness *look_at(struct pl_arena *arena, const struct pl_diff_side *side,
                                uint32_t *ret_n)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < side->n_blocks && n < MAX_COMPARED; i++)
        n += is_open(&side->blocks[i]);
    struct likeness *looks = pl_arena_zalloc(arena, n + (size_t)1, sizeof *looks);
    *ret_n = n;
    for (uint32_t i = 0, k = 0; looks && k < n; i++) {
        if (!is_open(&side->blocks[i]))
            continue;
        struct likeness *look = &looks[k++];
        look->block = i;
        for (size_t at = 0; at < side->blocks[i].text.len; look->n_words++) {
            struct pl_str word = pl_diff_next_word(side->blocks[i].text, &at);
            uint16_t *heap = &look->heaps[pl_hash_quick(word) % N_HEAPS];
            *heap += *heap < UINT16_MAX;
        }
    }
    return looks;
}

/* The common part of two texts, in percent of the longer one. */
static uint32_t likeness_of(const struct likeness *a, const struct likeness *b)
{
    uint64_t n_common = 0, n_most = a->n_words > b->n_words ? a->n_words : b->n_words;
    for (size_t i = 0; i < N_HEAPS; i++)
        n_common += a->heaps[i] < b->heaps[i] ? a->heaps[i] : b->heaps[i];
    return n_most ? (uint32_t)(100 * n_common / n_most) : 0;
}

static enum pl_status match_like(struct pl_arena *arena, struct pl_diff_side *from,
                                 struct pl_diff_side *to)
{
    uint32_t n_old, n_new;
    const struct likeness *old = look_at(arena, from, &n_old), *new = look_at(arena, to, &n_new);
    if (!old || !new)
        return PL_NOMEM;
    for (uint32_t i = 0; i < n_new; i++) {
        uint32_t best = PL_DIFF_NONE, most = LIKE_PERCENT - 1;
        uint32_t first = i > NEIGHBOURS ? i - NEIGHBOURS : 0;
        for (uint32_t k = first; k < n_old && k <= i + NEIGHBOURS; k++) {
            if (!may_be_one(&from->blocks[old[k].block], &to->blocks[new[i].block]))
                continue;
            uint32_t like = likeness_of(&old[k], &new[i]);
            if (like > most) {
                most = like;
                best = old[k].block;
            }
        }
        if (best != PL_DIFF_NONE)
            match(from, best, to, new[i].block);
    }
    return PL_OK;
}

/* Blocks that follow the same block on both sides are one block, rewritten. */
static void match_places(struct pl_diff_side *from, struct pl_diff_side *to)
{
    for (uint32_t i = 0; i < to->n_blocks; i++) {
        if (i && to->blocks[i - 1].match == PL_DIFF_NONE)
            continue;
        uint32_t old = i ? to->blocks[i - 1].match + 1 : 0;
        if (old < from->n_blocks && may_be_one(&from->blocks[old], &to->blocks[i]))
            match(from, old, to, i);
    }
}

/* The longest increasing subsequence of the old places in the new order, by patience sorting:
 * tails[n] is the last block of the best run of n + 1 blocks so far, before[i] the block before
 * it. */
static enum pl_status find_moved(struct pl_arena *arena, struct pl_diff_side *from,
                                 struct pl_diff_side *to)
{
    uint32_t *tails = pl_arena_alloc(arena, to->n_blocks + (size_t)1, sizeof *tails);
    uint32_t *before = pl_arena_alloc(arena, to->n_blocks + (size_t)1, sizeof *before);
    if (!tails || !before)
        return PL_NOMEM;
    uint32_t n_run = 0;
    for (uint32_t i = 0; i < to->n_blocks; i++) {
        uint32_t place = to->blocks[i].match, low = 0, high = n_run;
        if (place == PL_DIFF_NONE)
            continue;
        while (low < high) {
            uint32_t half = low + (high - low) / 2;
            if (to->blocks[tails[half]].match < place)
                low = half + 1;
            else
                high = half;
        }
        before[i] = low ? tails[low - 1] : PL_DIFF_NONE;
        tails[low] = i;
        n_run += low == n_run;
        to->blocks[i].is_moved = from->blocks[place].is_moved = true;
    }
    for (uint32_t i = n_run ? tails[n_run - 1] : PL_DIFF_NONE; i != PL_DIFF_NONE; i = before[i])
        to->blocks[i].is_moved = from->blocks[to->blocks[i].match].is_moved = false;
    return PL_OK;
}

enum pl_status pl_diff_match(struct pl_arena *arena, struct pl_diff_side *from,
                             struct pl_diff_side *to)
{
    struct pl_map ids = {0};
    match_named(from, to);
    enum pl_status status = match_ids(&ids, from, to);
    pl_map_deinit(&ids);
    uint32_t *next = pl_arena_alloc(arena, from->n_blocks + (size_t)1, sizeof *next);
    if (status == PL_OK && !next)
        status = PL_NOMEM;
    if (status == PL_OK)
        status = match_same(from, to, false, next);
    if (status == PL_OK)
        status = match_same(from, to, true, next);
    if (status == PL_OK)
        status = match_like(arena, from, to);
    if (status != PL_OK)
        return status;
    match_places(from, to);
    return find_moved(arena, from, to);
}

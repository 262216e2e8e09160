#include "format/align.h"

#include "base/mem.h"

/* Beyond this many cells the middle is matched greedily: a list edited that much is a new one. */
enum { MOST_CELLS = 4000000 };

struct sides {
    const uint64_t *old_looks, *new_looks;
    uint32_t n_old, n_new;
    uint32_t *places;
    uint32_t old_from, new_from; /* where the middle begins in the whole lists */
};

/* Lengths of the longest common subsequences of all pairs of suffixes. */
static uint32_t *suffix_lengths(const struct sides *s)
{
    size_t width = (size_t)s->n_new + 1;
    uint32_t *cells = pl_mem_alloc((s->n_old + (size_t)1) * width, sizeof *cells);
    if (!cells)
        return NULL;
    for (uint32_t i = s->n_old + 1; i-- > 0;)
        for (uint32_t j = s->n_new + 1; j-- > 0;) {
            uint32_t *cell = &cells[i * width + j];
            if (i == s->n_old || j == s->n_new)
                *cell = 0;
            else if (s->old_looks[i] == s->new_looks[j])
                *cell = cell[width + 1] + 1;
            else
                *cell = cell[width] > cell[1] ? cell[width] : cell[1];
        }
    return cells;
}

/* Between two matches: what is left over on both sides is the same element, changed. */
static void pair_rest(const struct sides *s, uint32_t i, uint32_t i_end, uint32_t j, uint32_t j_end)
{
    for (; i < i_end; i++)
        s->places[s->old_from + i] = j < j_end ? s->new_from + j++ : PL_ALIGN_GONE;
}

static enum pl_status align_middle(const struct sides *s)
{
    if ((uint64_t)s->n_old * s->n_new > MOST_CELLS) {
        pair_rest(s, 0, s->n_old, 0, s->n_new);
        return PL_OK;
    }
    PL_CLEANUP_FREE uint32_t *cells = suffix_lengths(s);
    if (!cells)
        return PL_NOMEM;
    size_t width = (size_t)s->n_new + 1;
    uint32_t i = 0, j = 0, i_rest = 0, j_rest = 0;
    while (i < s->n_old && j < s->n_new) {
        if (s->old_looks[i] == s->new_looks[j]) {
            pair_rest(s, i_rest, i, j_rest, j);
            s->places[s->old_from + i] = s->new_from + j;
            i_rest = ++i;
            j_rest = ++j;
        } else if (cells[(i + 1) * width + j] >= cells[i * width + j + 1]) {
            i++;
        } else {
            j++;
        }
    }
    pair_rest(s, i_rest, s->n_old, j_rest, s->n_new);
    return PL_OK;
}

enum pl_status pl_align(const uint64_t *old_looks, uint32_t n_old, const uint64_t *new_looks,
                        uint32_t n_new, uint32_t *ret_places)
{
    uint32_t n_least = n_old < n_new ? n_old : n_new, head = 0, tail = 0;
    while (head < n_least && old_looks[head] == new_looks[head])
        head++;
    while (tail < n_least - head && old_looks[n_old - 1 - tail] == new_looks[n_new - 1 - tail])
        tail++;
    for (uint32_t i = 0; i < head; i++)
        ret_places[i] = i;
    for (uint32_t i = 0; i < tail; i++)
        ret_places[n_old - 1 - i] = n_new - 1 - i;
    struct sides middle = {
        .old_looks = old_looks + head,
        .new_looks = new_looks + head,
        .n_old = n_old - head - tail,
        .n_new = n_new - head - tail,
        .places = ret_places,
        .old_from = head,
        .new_from = head,
    };
    return align_middle(&middle);
}

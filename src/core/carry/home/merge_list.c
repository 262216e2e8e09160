/* Cuts a list into blocks that are merged on their own. */
#include "carry/home/merge_list.h"

#include "json/text.h"

static bool is_said(const struct pl_merge *merge, const struct pl_json_node *n)
{
    return !merge->is_said || merge->is_said(merge->ctx, n->off, n->len);
}

static enum pl_status prepare(struct pl_merge_list *list, const struct pl_merge *merge,
                              const struct pl_json_node *ours, const struct pl_json_node *base,
                              const struct pl_json_node *theirs, enum pl_same_place place)
{
    struct pl_match_list mine = {.doc = merge->ours, .list = ours},
                         was = {merge->base, base, merge->base_labels},
                         is = {merge->theirs, theirs, merge->theirs_labels};
    enum pl_status status = pl_match_lists(&list->home, merge->arena, &mine, &was, place, NULL);
    if (status == PL_OK)
        status = pl_match_lists(&list->edit, merge->arena, &was, &is, place, merge->bytes);
    if (status != PL_OK)
        return status;
    size_t n = list->home.old_side.n + (size_t)1, n_base = list->home.new_side.n + (size_t)1;
    list->block_of_ours = pl_arena_alloc(merge->arena, n, sizeof(uint32_t));
    list->block_of_base = pl_arena_alloc(merge->arena, n_base, sizeof(uint32_t));
    list->is_extra = pl_arena_zalloc(merge->arena, n, sizeof(bool));
    list->is_early = pl_arena_zalloc(merge->arena, n, sizeof(bool));
    list->is_early_base = pl_arena_zalloc(merge->arena, n_base, sizeof(bool));
    list->is_put = pl_arena_zalloc(merge->arena, n, sizeof(bool));
    list->is_whole = pl_arena_zalloc(merge->arena, n + 1, sizeof(bool));
    return list->block_of_ours && list->block_of_base && list->is_extra && list->is_early &&
                   list->is_early_base && list->is_put && list->is_whole
               ? PL_OK
               : PL_NOMEM;
}

enum speaker { UNKNOWN, PERSON, MODEL };

/* Whose turn an element is part of. */
static enum speaker speaker_of(const struct pl_json_doc *doc, const struct pl_json_node *n,
                               enum pl_same_place place)
{
    const struct pl_json_node *role = pl_json_member(doc, n, "role", PL_JSON_STRING),
                              *type = pl_json_member(doc, n, "type", PL_JSON_STRING);
    if (role)
        return pl_json_text_is(doc, role, PL_STR("assistant")) ||
                       pl_json_text_is(doc, role, PL_STR("model"))
                   ? MODEL
                   : PERSON;
    if (!type || place != PL_SAME_ROAD) /* a part, a tool */
        return UNKNOWN;
    struct pl_str name = pl_json_raw(doc, type), output = PL_STR("_output");
    bool is_output = name.len > output.len &&
                     pl_str_eq(pl_str_slice(name, name.len - output.len, name.len), output);
    return is_output ? PERSON : MODEL;
}

static bool is_single(const struct pl_match_side *side, uint32_t i)
{
    return side->partners[i] == PL_MATCH_NONE;
}

/* Elements without a partner belong to the block of the next one if they are of its turn, the
 * element before them is not, and the other list has nothing else there: thoughts before an answer.
 * They go where it goes. */
static void find_early(const struct pl_match_side *side, enum pl_same_place place, bool *is_early)
{
    enum speaker next = UNKNOWN, before = UNKNOWN;
    for (uint32_t i = side->n; i-- > 0;) {
        enum speaker own = speaker_of(side->doc, side->nodes[i], place);
        is_early[i] = is_single(side, i) && own && own == next;
        next = !is_single(side, i) || is_early[i] ? own : UNKNOWN;
    }
    for (uint32_t i = 0, end, other = 0; i < side->n; i = end) {
        enum speaker own = speaker_of(side->doc, side->nodes[i], place);
        for (end = i; is_early[end];)
            end++;
        bool is_kept = own != before && side->partners[end] == other;
        for (uint32_t k = i; k < end && !is_kept; k++)
            is_early[k] = false;
        before = own;
        if (end > i)
            continue;
        other = is_single(side, i) ? other : side->partners[i] + 1;
        end++;
    }
}

/* Block 0 is everything before the first partners. */
static void cut_blocks(struct pl_merge_list *list, const struct pl_merge *merge,
                       enum pl_same_place place)
{
    const struct pl_match_side *ours = &list->home.old_side, *base = &list->home.new_side;
    uint32_t block = 0;
    find_early(ours, place, list->is_early);
    find_early(base, place, list->is_early_base);
    for (uint32_t i = 0; i < ours->n; i++) {
        bool is_run = i && list->is_early[i - 1];
        list->is_extra[i] =
            is_single(ours, i)
                ? !is_said(merge, ours->nodes[i])
                : merge->is_additive &&
                      list->edit.old_side.partners[ours->partners[i]] == PL_MATCH_NONE;
        block += !is_run && (list->is_early[i] || !is_single(ours, i));
        list->block_of_ours[i] = block;
    }
    list->n_blocks = block + 1;
    block = 0;
    for (uint32_t i = 0, next = 0; i < base->n; i++) {
        for (next = next < i ? i : next; list->is_early_base[next];)
            next++;
        if (!is_single(base, next))
            block = list->block_of_ours[base->partners[next]];
        list->block_of_base[i] = block;
    }
}

/* A block is whole if theirs has all its base elements, unchanged and adjacent. */
static void find_whole_blocks(struct pl_merge_list *list)
{
    const struct pl_match_side *base = &list->edit.old_side;
    for (uint32_t b = 0; b < list->n_blocks; b++)
        list->is_whole[b] = true;
    for (uint32_t i = 0; i < base->n; i++) {
        uint32_t j = base->partners[i], block = list->block_of_base[i];
        bool is_same = j != PL_MATCH_NONE && list->edit.is_same[j];
        bool is_next = i == 0 || list->block_of_base[i - 1] != block ||
                       (is_same && base->partners[i - 1] == j - 1 && j);
        if (!is_same || !is_next)
            list->is_whole[block] = false;
    }
}

enum pl_status pl_merge_list_cut(struct pl_merge_list *list, const struct pl_merge *merge,
                                 const struct pl_json_node *ours, const struct pl_json_node *base,
                                 const struct pl_json_node *theirs, enum pl_same_place place)
{
    enum pl_status status = prepare(list, merge, ours, base, theirs, place);
    if (status != PL_OK)
        return status;
    cut_blocks(list, merge, place);
    find_whole_blocks(list);
    return PL_OK;
}

bool pl_merge_list_is_several(const struct pl_merge_list *list, uint32_t of)
{
    const struct pl_match_side *ours = &list->home.old_side;
    uint64_t kind = pl_match_kind(ours->doc, ours->nodes[of]);
    for (int step = -1; step <= 1; step += 2)
        for (uint32_t i = of + (uint32_t)step;
             i < ours->n && list->block_of_ours[i] == list->block_of_ours[of]; i += (uint32_t)step)
            if (!list->is_extra[i] && pl_match_kind(ours->doc, ours->nodes[i]) == kind)
                return true;
    return false;
}

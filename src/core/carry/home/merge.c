/* Walks the three values together and copies ours, except where theirs differs from base. Layout
 * (gaps, order, spelling of keys) is ours if both have the member. */
#include "carry/home/merge.h"

#include "carry/match.h"
#include "json/text.h"

struct merger {
    const struct pl_merge *merge;
    struct pl_buf *to;
    enum pl_status status;
};

static void put(struct merger *m, const struct pl_json_node *ours, const struct pl_json_node *base,
                const struct pl_json_node *theirs, enum pl_same_place place);

static void put_text(struct merger *m, size_t from, size_t end)
{
    pl_buf_add(m->to, pl_str_slice(m->merge->ours_text, from, end));
}

static size_t end_of(const struct pl_json_node *n)
{
    return (size_t)n->off + n->len;
}

static void put_ours(struct merger *m, const struct pl_json_node *n)
{
    put_text(m, n->off, end_of(n));
}

static void put_theirs(struct merger *m, const struct pl_json_node *n)
{
    pl_buf_add(m->to, pl_json_span(m->merge->theirs, n));
}

/* Whether there is no change from base to theirs. */
static bool is_unchanged(struct merger *m, const struct pl_json_node *base,
                         const struct pl_json_node *theirs, enum pl_same_place place)
{
    bool is_same = false;
    enum pl_status status =
        pl_same_check(m->merge->base, base, m->merge->theirs, theirs, place, &is_same);
    if (status != PL_OK)
        m->status = status;
    return is_same;
}

/* --- gaps between items ------------------------------------------------------------------------
 */

/* The items of a container of ours: members from key to value, or elements. */
struct layout {
    const struct pl_json_node *container;
    enum pl_same_place place;        /* of the container */
    bool has_gap;                    /* the text between two items is known: */
    size_t gap_from, gap_end;        /* … its range */
    const struct pl_json_node *last; /* the last item of ours that was put; NULL: none, or not
                                        ours */
    bool has_items;
};

static const struct pl_json_node *value_of(const struct layout *l, const struct pl_json_node *item)
{
    return item + (pl_json_kind(l->container) == PL_JSON_OBJECT);
}

static const struct pl_json_node *next_item(const struct layout *l, const struct pl_json_node *item)
{
    return pl_json_next(value_of(l, item));
}

/* Whether a gap is only a comma and white space: a comment is not repeated. */
static bool is_plain_gap(struct pl_str gap)
{
    size_t n_others = 0;
    for (size_t i = 0; i < gap.len; i++)
        n_others += !memchr(" \t\r\n", gap.ptr[i], 4);
    return n_others == 1;
}

static struct layout begin_layout(struct merger *m, const struct pl_json_node *container,
                                  enum pl_same_place place)
{
    struct layout l = {.container = container, .place = place};
    const struct pl_json_node *first = pl_json_first(container);
    if (pl_json_count(container) > 1) {
        l.gap_from = end_of(value_of(&l, first));
        l.gap_end = next_item(&l, first)->off;
        l.has_gap = is_plain_gap(pl_str_slice(m->merge->ours_text, l.gap_from, l.gap_end));
    }
    put_text(m, container->off, container->skip > 1 ? first->off : container->off + 1);
    return l;
}

/* Keeps the text between two neighbouring items. `item` NULL: not ours. */
static void put_gap(struct merger *m, struct layout *l, const struct pl_json_node *item)
{
    bool is_next = l->last && item && next_item(l, l->last) == item;
    if (!l->has_items)
        ;
    else if (is_next)
        put_text(m, end_of(value_of(l, l->last)), item->off);
    else if (l->has_gap)
        put_text(m, l->gap_from, l->gap_end);
    else
        pl_buf_addc(m->to, ',');
    l->has_items = true;
    l->last = item;
}

static void end_layout(struct merger *m, const struct layout *l)
{
    const struct pl_json_node *c = l->container, *last = NULL;
    if (!l->has_items) {
        put_text(m, end_of(c) - 1, end_of(c)); /* including a trailing comma */
        return;
    }
    for (const struct pl_json_node *k = pl_json_first(c); k < pl_json_end(c); k = next_item(l, k))
        last = k;
    put_text(m, last ? end_of(value_of(l, last)) : end_of(c) - 1, end_of(c));
}

/* --- objects ------------------------------------------------------------------------------------
 */

static const struct pl_json_node *get(struct merger *m, const struct pl_json_doc *doc,
                                      const struct pl_json_node *object,
                                      const struct pl_json_doc *key_doc,
                                      const struct pl_json_node *key)
{
    struct pl_str name;
    if (pl_json_text(m->merge->arena, key_doc, key, &name) != PL_OK) {
        m->status = PL_NOMEM;
        return NULL;
    }
    return pl_json_get(doc, object, name);
}

static void put_members(struct merger *m, struct layout *l, const struct pl_json_node *ours,
                        const struct pl_json_node *base, const struct pl_json_node *theirs)
{
    const struct pl_merge *merge = m->merge;
    for (const struct pl_json_node *key = pl_json_first(ours);
         key < pl_json_end(ours) && m->status == PL_OK; key = pl_json_next_member(key)) {
        const struct pl_json_node *old = get(m, merge->base, base, merge->ours, key);
        const struct pl_json_node *now = get(m, merge->theirs, theirs, merge->ours, key);
        enum pl_same_place place = pl_same_inside(l->place, merge->ours, ours, key);
        bool is_kept = is_unchanged(m, old, now, place) || (merge->is_additive && !now);
        if (!is_kept && !now)
            continue;
        put_gap(m, l, key);
        put_text(m, key->off, key[1].off);
        if (is_kept)
            put_ours(m, key + 1);
        else
            put(m, key + 1, old, now, place);
    }
}

/* Adds new members. If base has the member too, ours only spells it differently. */
static void put_new_members(struct merger *m, struct layout *l, const struct pl_json_node *ours,
                            const struct pl_json_node *base, const struct pl_json_node *theirs)
{
    const struct pl_merge *merge = m->merge;
    for (const struct pl_json_node *key = pl_json_first(theirs);
         key < pl_json_end(theirs) && m->status == PL_OK; key = pl_json_next_member(key)) {
        if (get(m, merge->ours, ours, merge->theirs, key) ||
            is_unchanged(m, get(m, merge->base, base, merge->theirs, key), key + 1,
                         pl_same_inside(l->place, merge->theirs, theirs, key)))
            continue;
        put_gap(m, l, NULL);
        put_theirs(m, key);
        pl_buf_addc(m->to, ':');
        put_theirs(m, key + 1);
    }
}

static void put_object(struct merger *m, const struct pl_json_node *ours,
                       const struct pl_json_node *base, const struct pl_json_node *theirs,
                       enum pl_same_place place)
{
    struct layout l = begin_layout(m, ours, place);
    put_members(m, &l, ours, base, theirs);
    put_new_members(m, &l, ours, base, theirs);
    end_layout(m, &l);
}

/* --- lists --------------------------------------------------------------------------------------
 */

/* A list of ours with those of base and theirs.
 *
 * One element of ours may be two in base, or the other way round. So the list is cut into blocks: a
 * block begins with an element of ours that has a partner in base, and ends before the next one.
 * Elements of base without a partner belong to the block around them. */
struct list {
    struct pl_match home;                    /* ours (old) and base (new) */
    struct pl_match edit;                    /* base (old) and theirs (new) */
    uint32_t *block_of_ours, *block_of_base; /* arena */
    bool *is_extra; /* arena; of ours: the other format has no part of it */
    bool *is_whole; /* arena; of a block: every element of base is unchanged and in place */
    bool *is_put;   /* arena; of ours */
    uint32_t n_blocks;
};

static bool is_said(const struct pl_merge *merge, const struct pl_json_node *n)
{
    return !merge->is_said || merge->is_said(merge->ctx, n->off, n->len);
}

static enum pl_status prepare_list(struct merger *m, struct list *list,
                                   const struct pl_json_node *ours, const struct pl_json_node *base,
                                   const struct pl_json_node *theirs, enum pl_same_place place)
{
    const struct pl_merge *merge = m->merge;
    enum pl_status status =
        pl_match_lists(&list->home, merge->arena, merge->ours, ours, merge->base, base, place);
    if (status == PL_OK)
        status = pl_match_lists(&list->edit, merge->arena, merge->base, base, merge->theirs, theirs,
                                place);
    if (status != PL_OK)
        return status;
    size_t n = list->home.old_side.n + (size_t)1, n_base = list->home.new_side.n + (size_t)1;
    list->block_of_ours = pl_arena_alloc(merge->arena, n, sizeof(uint32_t));
    list->block_of_base = pl_arena_alloc(merge->arena, n_base, sizeof(uint32_t));
    list->is_extra = pl_arena_zalloc(merge->arena, n, sizeof(bool));
    list->is_put = pl_arena_zalloc(merge->arena, n, sizeof(bool));
    list->is_whole = pl_arena_zalloc(merge->arena, n + 1, sizeof(bool));
    return list->block_of_ours && list->block_of_base && list->is_extra && list->is_put &&
                   list->is_whole
               ? PL_OK
               : PL_NOMEM;
}

/* Block 0 is everything before the first partners. */
static void cut_blocks(struct merger *m, struct list *list)
{
    const struct pl_match_side *ours = &list->home.old_side, *base = &list->home.new_side;
    uint32_t block = 0;
    for (uint32_t i = 0; i < ours->n; i++) {
        uint32_t in_base = ours->partners[i];
        list->is_extra[i] =
            in_base == PL_MATCH_NONE
                ? !is_said(m->merge, ours->nodes[i])
                : m->merge->is_additive && list->edit.old_side.partners[in_base] == PL_MATCH_NONE;
        block += ours->partners[i] != PL_MATCH_NONE;
        list->block_of_ours[i] = block;
    }
    list->n_blocks = block + 1;
    block = 0;
    for (uint32_t i = 0; i < base->n; i++) {
        if (base->partners[i] != PL_MATCH_NONE)
            block = list->block_of_ours[base->partners[i]];
        list->block_of_base[i] = block;
    }
}

/* A block is whole if theirs has all its base elements, unchanged and adjacent. */
static void find_whole_blocks(struct list *list)
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

/* An element that only ours has follows the element before it. */
static void put_extras(struct merger *m, struct list *list, struct layout *l, uint32_t i)
{
    const struct pl_match_side *ours = &list->home.old_side;
    for (; i < ours->n && list->is_extra[i] && !list->is_put[i]; i++) {
        put_gap(m, l, ours->nodes[i]);
        put_ours(m, ours->nodes[i]);
        list->is_put[i] = true;
    }
}

/* Puts a whole block unchanged. */
static void put_block(struct merger *m, struct list *list, struct layout *l, uint32_t first)
{
    const struct pl_match_side *ours = &list->home.old_side;
    for (uint32_t i = first; i < ours->n && list->block_of_ours[i] == list->block_of_ours[first];
         i++) {
        if (list->is_put[i])
            continue;
        put_gap(m, l, ours->nodes[i]);
        put_ours(m, ours->nodes[i]);
        list->is_put[i] = true;
    }
}

/* Puts an element of theirs. */
static void put_element(struct merger *m, struct list *list, struct layout *l, uint32_t j)
{
    const struct pl_match *home = &list->home, *edit = &list->edit;
    uint32_t base = edit->new_side.partners[j];
    uint32_t ours = base == PL_MATCH_NONE ? PL_MATCH_NONE : home->new_side.partners[base];
    if (base != PL_MATCH_NONE && list->is_whole[list->block_of_base[base]]) {
        if (ours != PL_MATCH_NONE && !list->is_put[ours])
            put_block(m, list, l, ours);
        return;
    }
    bool is_mergeable =
        ours != PL_MATCH_NONE && !list->is_put[ours] && (!m->merge->is_coarse || edit->is_same[j]);
    if (!is_mergeable) {
        put_gap(m, l, NULL);
        put_theirs(m, edit->new_side.nodes[j]);
        return;
    }
    put_gap(m, l, home->old_side.nodes[ours]);
    list->is_put[ours] = true;
    if (edit->is_same[j])
        put_ours(m, home->old_side.nodes[ours]);
    else
        put(m, home->old_side.nodes[ours], edit->old_side.nodes[base], edit->new_side.nodes[j],
            l->place);
    put_extras(m, list, l, ours + 1);
}

/* Puts the block before the first partners, if base has not changed there. */
static void put_first_block(struct merger *m, struct list *list, struct layout *l)
{
    const struct pl_match_side *ours = &list->home.old_side;
    for (uint32_t i = 0; i < ours->n && !list->block_of_ours[i]; i++) {
        if (!list->is_whole[0] && !list->is_extra[i])
            continue;
        put_gap(m, l, ours->nodes[i]);
        put_ours(m, ours->nodes[i]);
        list->is_put[i] = true;
    }
}

static void put_array(struct merger *m, const struct pl_json_node *ours,
                      const struct pl_json_node *base, const struct pl_json_node *theirs,
                      enum pl_same_place place)
{
    struct list list = {0};
    enum pl_status status = prepare_list(m, &list, ours, base, theirs, place);
    if (status != PL_OK) {
        m->status = status;
        return;
    }
    cut_blocks(m, &list);
    find_whole_blocks(&list);
    struct layout l = begin_layout(m, ours, place);
    put_first_block(m, &list, &l);
    for (uint32_t j = 0; j < list.edit.new_side.n && m->status == PL_OK; j++)
        put_element(m, &list, &l, j);
    for (uint32_t i = 0; i < list.home.old_side.n; i++)
        put_extras(m, &list, &l, i);
    end_layout(m, &l);
}

/* ------------------------------------------------------------------------------------------------
 */

static void put(struct merger *m, const struct pl_json_node *ours, const struct pl_json_node *base,
                const struct pl_json_node *theirs, enum pl_same_place place)
{
    if (pl_json_is(ours, PL_JSON_OBJECT) && pl_json_is(base, PL_JSON_OBJECT) &&
        pl_json_is(theirs, PL_JSON_OBJECT))
        put_object(m, ours, base, theirs, place);
    else if (pl_json_is(ours, PL_JSON_ARRAY) && pl_json_is(theirs, PL_JSON_ARRAY))
        put_array(m, ours, base, theirs, place);
    else
        put_theirs(m, theirs);
}

enum pl_status pl_merge_put(const struct pl_merge *merge, struct pl_buf *to,
                            const struct pl_json_node *ours, const struct pl_json_node *base,
                            const struct pl_json_node *theirs)
{
    struct merger m = {.merge = merge, .to = to};
    if (is_unchanged(&m, base, theirs, merge->place))
        put_ours(&m, ours);
    else if (theirs)
        put(&m, ours, base, theirs, merge->place);
    if (m.status == PL_OK)
        m.status = to->status;
    return m.status;
}

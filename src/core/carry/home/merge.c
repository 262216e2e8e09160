/* Walks the three values together and copies ours, except where theirs differs from base. Layout
 * (gaps, order, spelling of keys) is ours if both have the member. */
#include "carry/home/merge.h"

#include "carry/home/merge_list.h"
#include "json/text.h"

struct merger {
    const struct pl_merge *merge;
    struct pl_buf *to;
    bool keeps_positions; /* of the list around: nothing was added to it or moved */
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
    enum pl_status status = pl_same_check(m->merge->base, base, m->merge->theirs, theirs, place,
                                          m->merge->bytes, &is_same);
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

/* Whether both are numbers that the writer made up. */
static bool is_label(const struct pl_merge *merge, const struct pl_json_node *base,
                     const struct pl_json_node *theirs)
{
    const bool *in_base = merge->base_labels.is_label, *in_theirs = merge->theirs_labels.is_label;
    return base && theirs && in_base && in_theirs && in_base[base - merge->base->root] &&
           in_theirs[theirs - merge->theirs->root];
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
    return pl_json_get_hashed(doc, object, name, pl_json_key_hash_of(key));
}

/* The source keeps its ids. Positions are counted anew if it counts as the writer does, and if the
 * old ones would no longer be in order. */
static bool has_own_label(struct merger *m, const struct pl_json_node *key,
                          const struct pl_json_node *base, const struct pl_json_node *theirs)
{
    bool is_same = true;
    if (!is_label(m->merge, base, theirs))
        return false;
    if (m->keeps_positions || (pl_label_name(m->merge->ours, key) & PL_LABEL_IDS))
        return true;
    enum pl_status status =
        pl_same_check(m->merge->ours, key + 1, m->merge->base, base, PL_SAME_DATA, NULL, &is_same);
    if (status != PL_OK)
        m->status = status;
    return !is_same;
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
        bool is_kept = is_unchanged(m, old, now, place) || (merge->is_additive && !now) ||
                       has_own_label(m, key, old, now);
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
        const struct pl_json_node *old = get(m, merge->base, base, merge->theirs, key);
        if (get(m, merge->ours, ours, merge->theirs, key) || is_label(merge, old, key + 1) ||
            is_unchanged(m, old, key + 1, pl_same_inside(l->place, merge->theirs, theirs, key)))
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

/* An element that only ours has follows the element before it. */
static void put_extras(struct merger *m, struct pl_merge_list *list, struct layout *l, uint32_t i)
{
    const struct pl_match_side *ours = &list->home.old_side;
    for (; i < ours->n && list->is_extra[i] && !list->is_put[i]; i++) {
        put_gap(m, l, ours->nodes[i]);
        put_ours(m, ours->nodes[i]);
        list->is_put[i] = true;
    }
}

/* Puts an element that did not change. Only its labels may have. */
static void put_same(struct merger *m, struct pl_merge_list *list, struct layout *l, uint32_t i)
{
    const struct pl_json_node *ours = list->home.old_side.nodes[i];
    uint32_t base = list->home.old_side.partners[i],
             theirs = base == PL_MATCH_NONE ? base : list->edit.old_side.partners[base];
    put_gap(m, l, ours);
    list->is_put[i] = true;
    if (theirs != PL_MATCH_NONE && m->merge->base_labels.is_label)
        put(m, ours, list->edit.old_side.nodes[base], list->edit.new_side.nodes[theirs], l->place);
    else
        put_ours(m, ours);
}

/* Puts the whole block of element `of` unchanged. */
static void put_block(struct merger *m, struct pl_merge_list *list, struct layout *l, uint32_t of)
{
    const struct pl_match_side *ours = &list->home.old_side;
    uint32_t block = list->block_of_ours[of], first = of;
    while (first && list->block_of_ours[first - 1] == block)
        first--;
    for (uint32_t i = first; i < ours->n && list->block_of_ours[i] == block; i++) {
        if (!list->is_put[i])
            put_same(m, list, l, i);
    }
}

static enum pl_status gather_ids(struct merger *m, struct pl_merge_list *list)
{
    const struct pl_match_side *ours = &list->home.old_side;
    enum pl_status status = PL_OK;
    for (uint32_t i = 0; m->merge->theirs_labels.is_label && i < ours->n; i++)
        for (const struct pl_json_node *key = pl_json_first_member(ours->nodes[i]);
             key < pl_json_end(ours->nodes[i]) && status == PL_OK; key = pl_json_next_member(key)) {
            bool is_new;
            if ((pl_label_name(ours->doc, key) & PL_LABEL_IDS) &&
                pl_json_is(key + 1, PL_JSON_STRING) &&
                !pl_map_put(&list->ids, pl_json_raw(ours->doc, key + 1), &is_new))
                status = PL_NOMEM;
        }
    return status;
}

/* Puts an id that the writer made up: the source may have it already. */
static void put_fresh_id(struct merger *m, const struct pl_merge_list *list, struct pl_str id)
{
    PL_CLEANUP_BUF struct pl_buf fresh;
    pl_buf_init(&fresh, 0);
    pl_buf_add(&fresh, id);
    for (unsigned n = 2; pl_map_get(&list->ids, pl_buf_str(&fresh)); n++) {
        pl_buf_clear(&fresh);
        pl_buf_addf(&fresh, "%.*s_%u", PL_STR_ARG(id), n);
    }
    if (fresh.status != PL_OK)
        m->status = fresh.status;
    pl_buf_addc(m->to, '"');
    pl_buf_add(m->to, pl_buf_str(&fresh));
    pl_buf_addc(m->to, '"');
}

/* Puts an element of theirs that ours does not have. */
static void put_new(struct merger *m, const struct pl_merge_list *list,
                    const struct pl_json_node *n)
{
    const struct pl_json_doc *doc = m->merge->theirs;
    const bool *is_label = m->merge->theirs_labels.is_label;
    size_t from = n->off;
    for (const struct pl_json_node *key = pl_json_first_member(n); is_label && key < pl_json_end(n);
         key = pl_json_next_member(key)) {
        if (!is_label[key + 1 - doc->root] || !(pl_label_name(doc, key) & PL_LABEL_IDS) ||
            !pl_json_is(key + 1, PL_JSON_STRING))
            continue;
        pl_buf_add(m->to, pl_str_slice(doc->text, from, key[1].off));
        put_fresh_id(m, list, pl_json_raw(doc, key + 1));
        from = end_of(key + 1);
    }
    pl_buf_add(m->to, pl_str_slice(doc->text, from, end_of(n)));
}

/* Puts the elements before `of` that belong to it. */
static void put_early(struct merger *m, struct pl_merge_list *list, struct layout *l, uint32_t of)
{
    uint32_t first = of;
    while (first && list->is_early[first - 1])
        first--;
    for (uint32_t i = first; i < of; i++)
        if (!list->is_put[i])
            put_same(m, list, l, i);
}

/* Puts an element of theirs. */
static void put_element(struct merger *m, struct pl_merge_list *list, struct layout *l, uint32_t j)
{
    const struct pl_match *home = &list->home, *edit = &list->edit;
    uint32_t base = edit->new_side.partners[j];
    uint32_t ours = base == PL_MATCH_NONE ? PL_MATCH_NONE : home->new_side.partners[base];
    if (base != PL_MATCH_NONE && list->is_whole[list->block_of_base[base]]) {
        if (ours != PL_MATCH_NONE && !list->is_put[ours])
            put_block(m, list, l, ours);
        return;
    }
    /* If one of several has changed, it is unknown which. */
    bool is_one = ours != PL_MATCH_NONE && !pl_merge_list_is_several(list, ours);
    bool is_mergeable = ours != PL_MATCH_NONE && !list->is_put[ours] &&
                        (edit->is_same[j] || (is_one && !m->merge->is_coarse));
    if (!is_mergeable) {
        put_gap(m, l, NULL);
        put_new(m, list, edit->new_side.nodes[j]);
        return;
    }
    if (is_one)
        put_early(m, list, l, ours);
    if (edit->is_same[j]) {
        if (is_one)
            put_same(m, list, l, ours);
        else
            put_block(m, list, l, ours);
        put_extras(m, list, l, ours + 1);
        return;
    }
    put_gap(m, l, home->old_side.nodes[ours]);
    list->is_put[ours] = true;
    put(m, home->old_side.nodes[ours], edit->old_side.nodes[base], edit->new_side.nodes[j],
        l->place);
    put_extras(m, list, l, ours + 1);
}

/* Puts the block before the first partners, if base has not changed there. */
static void put_first_block(struct merger *m, struct pl_merge_list *list, struct layout *l)
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

/* What belongs to a removed element is removed with it. */
static void drop_early(struct pl_merge_list *list)
{
    bool is_removed = false;
    for (uint32_t i = list->home.old_side.n; i-- > 0;) {
        if (!list->is_early[i])
            is_removed = !list->is_put[i] && !list->is_extra[i];
        else if (is_removed)
            list->is_extra[i] = false;
    }
}

/* Whether theirs has elements of base only, in the same order. */
static bool only_lost(const struct pl_match *edit)
{
    const struct pl_match_side *theirs = &edit->new_side;
    for (uint32_t j = 0; j < theirs->n; j++)
        if (theirs->partners[j] == PL_MATCH_NONE ||
            (j && theirs->partners[j] < theirs->partners[j - 1]))
            return false;
    return true;
}

static void put_array(struct merger *m, const struct pl_json_node *ours,
                      const struct pl_json_node *base, const struct pl_json_node *theirs,
                      enum pl_same_place place)
{
    struct pl_merge_list list = {0};
    enum pl_status status = pl_merge_list_cut(&list, m->merge, ours, base, theirs, place);
    if (status == PL_OK)
        status = gather_ids(m, &list);
    if (status != PL_OK) {
        pl_map_deinit(&list.ids);
        m->status = status;
        return;
    }
    bool keeps_positions = m->keeps_positions;
    m->keeps_positions = only_lost(&list.edit);
    struct layout l = begin_layout(m, ours, place);
    put_first_block(m, &list, &l);
    for (uint32_t j = 0; j < list.edit.new_side.n && m->status == PL_OK; j++)
        put_element(m, &list, &l, j);
    drop_early(&list);
    for (uint32_t i = 0; i < list.home.old_side.n; i++)
        put_extras(m, &list, &l, i);
    end_layout(m, &l);
    m->keeps_positions = keeps_positions;
    pl_map_deinit(&list.ids);
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

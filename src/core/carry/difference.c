/* Walks two trees side by side: members are matched by name, elements by content (match.h), so that
 * a moved element does not count as removed and added. */
#include "carry/difference.h"

#include "json/text.h"

struct walker {
    struct pl_arena *arena;
    const struct pl_json_doc *a_doc, *b_doc;
    struct pl_labels a_labels;
    struct pl_same_bytes bytes;
    struct pl_differences found;
    enum pl_status status;
};

static void walk(struct walker *w, const struct pl_json_node *a, const struct pl_json_node *b,
                 const struct pl_json_node *around, enum pl_same_place place);

static bool make_room(struct walker *w)
{
    enum { FEW = 16 };
    struct pl_differences *found = &w->found;
    if (found->n < found->cap)
        return true;
    uint32_t cap = found->cap ? 2 * found->cap : FEW;
    size_t size = sizeof *found->items;
    struct pl_difference *items =
        pl_arena_grow(w->arena, found->items, found->cap * size, cap * size);
    if (!items) {
        w->status = PL_NOMEM;
        return false;
    }
    found->items = items;
    found->cap = cap;
    return true;
}

static void note(struct walker *w, enum pl_difference_kind kind, const struct pl_json_node *a,
                 const struct pl_json_node *b, const struct pl_json_node *around)
{
    if (make_room(w))
        w->found.items[w->found.n++] =
            (struct pl_difference){.kind = kind, .a = a, .b = b, .around = around};
}

static const struct pl_json_node *get(struct walker *w, const struct pl_json_doc *doc,
                                      const struct pl_json_node *object,
                                      const struct pl_json_doc *key_doc,
                                      const struct pl_json_node *key)
{
    struct pl_str name;
    if (pl_json_text(w->arena, key_doc, key, &name) != PL_OK) {
        w->status = PL_NOMEM;
        return NULL;
    }
    return pl_json_get_hashed(doc, object, name, pl_json_key_hash_of(key));
}

static void walk_members(struct walker *w, const struct pl_json_node *a,
                         const struct pl_json_node *b, enum pl_same_place place)
{
    for (const struct pl_json_node *key = pl_json_first(b);
         key < pl_json_end(b) && w->status == PL_OK; key = pl_json_next_member(key)) {
        const struct pl_json_node *old = get(w, w->a_doc, a, w->b_doc, key);
        if (old)
            walk(w, old, key + 1, b, pl_same_inside(place, w->b_doc, b, key));
        else
            note(w, PL_DIFFERENCE_ADDED, NULL, key + 1, b);
    }
    for (const struct pl_json_node *key = pl_json_first(a);
         key < pl_json_end(a) && w->status == PL_OK; key = pl_json_next_member(key))
        if (!get(w, w->b_doc, b, w->a_doc, key))
            note(w, PL_DIFFERENCE_REMOVED, key + 1, NULL, b);
}

static void walk_elements(struct walker *w, const struct pl_json_node *a,
                          const struct pl_json_node *b, enum pl_same_place place)
{
    struct pl_match match;
    struct pl_match_list olds = {w->a_doc, a, w->a_labels}, news = {.doc = w->b_doc, .list = b};
    enum pl_status status = pl_match_lists(&match, w->arena, &olds, &news, place, &w->bytes);
    if (status != PL_OK) {
        w->status = status;
        return;
    }
    for (uint32_t j = 0; j < match.new_side.n && w->status == PL_OK; j++) {
        const struct pl_json_node *now = match.new_side.nodes[j];
        uint32_t i = match.new_side.partners[j];
        if (i == PL_MATCH_NONE)
            note(w, PL_DIFFERENCE_ADDED, NULL, now, b);
        else if (match.is_moved[j])
            note(w, PL_DIFFERENCE_MOVED, match.old_side.nodes[i], now, b);
        else
            walk(w, match.old_side.nodes[i], now, b, place);
    }
    for (uint32_t i = 0; i < match.old_side.n; i++)
        if (match.old_side.partners[i] == PL_MATCH_NONE)
            note(w, PL_DIFFERENCE_REMOVED, match.old_side.nodes[i], NULL, b);
}

static void walk(struct walker *w, const struct pl_json_node *a, const struct pl_json_node *b,
                 const struct pl_json_node *around, enum pl_same_place place)
{
    bool is_equal = false;
    enum pl_status status = pl_same_check(w->a_doc, a, w->b_doc, b, place, &w->bytes, &is_equal);
    if (status != PL_OK)
        w->status = status;
    if (status != PL_OK || is_equal)
        return;
    bool is_inside = pl_json_is_container(a) && pl_json_kind(a) == pl_json_kind(b);
    uint32_t own = w->found.n;
    note(w, is_inside ? PL_DIFFERENCE_INSIDE : PL_DIFFERENCE_CHANGED, a, b, around);
    if (!is_inside || w->status != PL_OK)
        return;
    if (pl_json_kind(a) == PL_JSON_OBJECT)
        walk_members(w, a, b, place);
    else
        walk_elements(w, a, b, place);
    w->found.items[own].n_inside = w->found.n - own - 1;
}

enum pl_status pl_difference_find(struct pl_differences *ret_found, struct pl_arena *arena,
                                  const struct pl_difference_side *a, const struct pl_json_doc *b)
{
    struct walker w = {.arena = arena,
                       .a_doc = a->doc,
                       .b_doc = b,
                       .a_labels = a->labels,
                       .bytes = pl_same_bytes_of(a->doc, b)};
    walk(&w, a->doc->root, b->root, NULL, PL_SAME_ROAD);
    *ret_found = w.found;
    return w.status;
}

void pl_difference_visit(const struct pl_differences *found, pl_difference_fn *visit, void *ctx)
{
    for (uint32_t i = 0; i < found->n; i++)
        if (!visit(ctx, &found->items[i]))
            i += found->items[i].n_inside;
}

size_t pl_difference_size(const struct pl_differences *found)
{
    enum { ABSENT = 8 }; /* a changed value is better than a missing one */
    size_t size = 0;
    for (uint32_t i = 0; i < found->n; i++) {
        const struct pl_difference *delta = &found->items[i];
        size_t n = (delta->a ? delta->a->skip : 0) + (size_t)(delta->b ? delta->b->skip : 0);
        if (delta->kind != PL_DIFFERENCE_INSIDE)
            size += delta->kind == PL_DIFFERENCE_CHANGED ? n : n * ABSENT;
    }
    return size;
}

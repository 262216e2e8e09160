/* Compares two JSON values member by member, into objects and arrays, without recursion: pairs wait
 * on a stack. Arrays of different lengths are matched from both ends; the middle is compared in
 * order.
 *
 * Pointers to added and changed values refer to the new document, those to removed values to the
 * old one. */
#include "prompt/diff_int.h"

#include "base/map.h"
#include "base/vec.h"
#include "json/equal.h"
#include "json/pointer.h"
#include "json/text.h"

/* Above these limits a container is reported as a whole, so that a result is never much longer than
 * its input. */
enum { MAX_TOLD = 2000, MAX_CHILDREN = 1000, MAX_POINTER = 1000 };

struct pair {
    struct pl_str pointer;                /* arena */
    const struct pl_json_node *from, *to; /* one may be NULL */
};

struct pairs {
    PL_VEC(struct pair) list;
};

static void fail(struct pl_diff_members *m, enum pl_status status)
{
    if (m->status == PL_OK)
        m->status = status;
}

static bool is_same(struct pl_diff_members *m, const struct pl_json_node *from,
                    const struct pl_json_node *to)
{
    bool is_equal = false;
    if (from && to)
        fail(m, pl_json_equal(&m->from->doc, from, &m->to->doc, to, &is_equal));
    return is_equal || (!from && !to);
}

void pl_diff_tell(struct pl_diff_members *m, struct pl_str pointer, const struct pl_json_node *from,
                  const struct pl_json_node *to)
{
    struct pl_json_out *out = m->out;
    m->n_told++;
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "pointer");
    pl_json_out_text(out, pointer);
    pl_json_out_key(out, "change");
    pl_json_out_text(out, !from ? PL_STR("added") : !to ? PL_STR("removed") : PL_STR("changed"));
    if (from) {
        pl_json_out_key(out, "from");
        pl_json_out_raw(out, PL_STR(""));
        pl_json_write_min(out->buf, &m->from->doc, from);
    }
    if (to) {
        pl_json_out_key(out, "to");
        pl_json_out_raw(out, PL_STR(""));
        pl_json_write_min(out->buf, &m->to->doc, to);
    }
    pl_json_out_close(out, '}');
    fail(m, out->buf->status);
}

/* Pushes a pair to compare; key NULL: an element at `index`. */
static void push(struct pl_diff_members *m, struct pairs *pairs, struct pl_str pointer,
                 const struct pl_str *key, uint32_t index, const struct pl_json_node *from,
                 const struct pl_json_node *to)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_add(&path, pointer);
    if (key)
        pl_json_pointer_add(&path, *key);
    else
        pl_json_pointer_add_index(&path, index);
    struct pl_str copy = pl_arena_dup(m->arena, pl_buf_str(&path));
    if (path.status != PL_OK || !copy.len ||
        !pl_vec_push(&pairs->list, (struct pair){copy, from, to}))
        fail(m, PL_NOMEM);
}

/* Indexes the members of an object by name; of duplicates the last one counts. */
static bool index_members(struct pl_diff_members *m, const struct pl_diff_side *side,
                          const struct pl_json_node *object, pl_diff_skip_fn *is_skipped,
                          struct pl_map *ret_names)
{
    for (const struct pl_json_node *key = object ? pl_json_first_member(object) : NULL;
         object && key < pl_json_end(object); key = pl_json_next_member(key)) {
        struct pl_str name;
        bool is_new;
        if (is_skipped && is_skipped(&side->doc, key))
            continue;
        struct pl_map_entry *entry = NULL;
        if (pl_json_text(m->arena, &side->doc, key, &name) == PL_OK)
            entry = pl_map_put(ret_names, name, &is_new);
        if (!entry)
            return false;
        entry->value = (uint64_t)(key + 1 - side->doc.root);
    }
    return true;
}

static const struct pl_json_node *named(const struct pl_diff_side *side, const struct pl_map *names,
                                        struct pl_str name)
{
    const struct pl_map_entry *entry = pl_map_get(names, name);
    return entry ? side->doc.root + entry->value : NULL;
}

/* Pushes the members of the new object in its order, then the removed ones. */
static void push_members(struct pl_diff_members *m, struct pairs *pairs, struct pl_str pointer,
                         const struct pl_json_node *from, const struct pl_json_node *to,
                         pl_diff_skip_fn *is_skipped)
{
    struct pl_map old = {0}, new = {0};
    if (!index_members(m, m->from, from, is_skipped, &old) ||
        !index_members(m, m->to, to, is_skipped, &new))
        fail(m, PL_NOMEM);
    for (uint32_t i = 0; i < new.n_entries && m->status == PL_OK; i++) {
        const struct pl_json_node *a = named(m->from, &old, new.entries[i].key);
        const struct pl_json_node *b = m->to->doc.root + new.entries[i].value;
        if (!is_same(m, a, b))
            push(m, pairs, pointer, &new.entries[i].key, 0, a, b);
    }
    for (uint32_t i = 0; i < old.n_entries && m->status == PL_OK; i++)
        if (!pl_map_get(&new, old.entries[i].key))
            push(m, pairs, pointer, &old.entries[i].key, 0,
                 m->from->doc.root + old.entries[i].value, NULL);
    pl_map_deinit(&old);
    pl_map_deinit(&new);
}

/* The elements of an array as a list; NULL when out of memory. */
static const struct pl_json_node **elements(struct pl_diff_members *m,
                                            const struct pl_json_node *array)
{
    const struct pl_json_node **list =
        pl_arena_alloc(m->arena, pl_json_count(array) + (size_t)1, sizeof *list);
    size_t i = 0;
    for (const struct pl_json_node *n = pl_json_first(array); list && n < pl_json_end(array);
         n = pl_json_next(n))
        list[i++] = n;
    if (!list)
        fail(m, PL_NOMEM);
    return list;
}

static void push_elements(struct pl_diff_members *m, struct pairs *pairs, struct pl_str pointer,
                          const struct pl_json_node *from, const struct pl_json_node *to)
{
    const struct pl_json_node **a = elements(m, from), **b = elements(m, to);
    uint32_t first = 0, n_old = pl_json_count(from), n_new = pl_json_count(to);
    if (!a || !b)
        return;
    while (first < n_old && first < n_new && is_same(m, a[first], b[first]))
        first++;
    while (n_old > first && n_new > first && is_same(m, a[n_old - 1], b[n_new - 1])) {
        n_old--;
        n_new--;
    }
    for (uint32_t i = first; (i < n_old || i < n_new) && m->status == PL_OK; i++) {
        const struct pl_json_node *old = i < n_old ? a[i] : NULL, *new = i < n_new ? b[i] : NULL;
        if (!is_same(m, old, new))
            push(m, pairs, pointer, NULL, i, old, new);
    }
}

/* Reverses the pairs from `first` on, so that they are popped in order. */
static void turn_round(struct pairs *pairs, size_t first)
{
    for (size_t last = pairs->list.len; first + 1 < last; first++) {
        struct pair kept = pairs->list.ptr[first];
        pairs->list.ptr[first] = pairs->list.ptr[--last];
        pairs->list.ptr[last] = kept;
    }
}

static bool is_opened(const struct pl_diff_members *m, const struct pair *pair)
{
    return pair->from && pair->to && pl_json_is_container(pair->to) &&
           pl_json_kind(pair->from) == pl_json_kind(pair->to) && m->n_told < MAX_TOLD &&
           pair->pointer.len <= MAX_POINTER && pl_json_count(pair->from) <= MAX_CHILDREN &&
           pl_json_count(pair->to) <= MAX_CHILDREN;
}

/* Reports the waiting pairs and the pairs inside them. */
static void tell_pairs(struct pl_diff_members *m, struct pairs *pairs)
{
    turn_round(pairs, 0);
    while (pairs->list.len && m->status == PL_OK) {
        struct pair pair = pairs->list.ptr[--pairs->list.len];
        size_t first = pairs->list.len;
        if (!is_opened(m, &pair))
            pl_diff_tell(m, pair.pointer, pair.from, pair.to);
        else if (pl_json_kind(pair.to) == PL_JSON_OBJECT)
            push_members(m, pairs, pair.pointer, pair.from, pair.to, NULL);
        else
            push_elements(m, pairs, pair.pointer, pair.from, pair.to);
        turn_round(pairs, first);
    }
    pl_vec_deinit(&pairs->list);
}

void pl_diff_members_of(struct pl_diff_members *m, struct pl_str pointer,
                        const struct pl_json_node *from, const struct pl_json_node *to,
                        pl_diff_skip_fn *is_skipped)
{
    struct pairs pairs = {0};
    push_members(m, &pairs, pointer, from, to, is_skipped);
    tell_pairs(m, &pairs);
}

void pl_diff_value(struct pl_diff_members *m, struct pl_str pointer,
                   const struct pl_json_node *from, const struct pl_json_node *to)
{
    struct pairs pairs = {0};
    if (is_same(m, from, to))
        return;
    if (!pl_vec_push(&pairs.list, (struct pair){pointer, from, to}))
        fail(m, PL_NOMEM);
    tell_pairs(m, &pairs);
}

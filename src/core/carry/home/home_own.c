/* A value is identified by its name and its bytes. The elements of the two documents are not
 * matched here: an edit may have split one or changed its kind. */
#include "carry/home/home_own.h"

#include "base/hash.h"
#include "base/sort.h"
#include "carry/carry.h"
#include "json/text.h"

/* Length with quotes. */
enum { LEAST_TEXT = 3, MOST_DEPTH = 136, MOST_LINES = 3 };

struct pl_home_own_value {
    const struct pl_json_node *node;
    uint64_t hash;   /* of its name and its bytes */
    uint64_t text;   /* hash of the longest text of its element that the target has; 0: none, or
                        find_texts() has not run */
    bool is_unknown; /* … the target no longer has this text: it was deleted or changed */
};

/* A container around the current node. */
struct around {
    const struct pl_json_node *node;
    bool is_measured;
    const struct pl_json_node *text; /* if is_measured: its longest text; NULL: none */
};

struct finder {
    const struct pl_json_doc *doc;
    struct pl_home_said said; /* values that the writer used; words of the grammar are not */
    struct around around[MOST_DEPTH];
    size_t depth;
};

static uint64_t hash_value(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    bool is_member = n > doc->root && n[-1].tag & PL_JSON_KEY;
    uint64_t name = is_member ? pl_hash_quick(pl_json_raw(doc, n - 1)) : 0;
    return pl_hash_folded(name, pl_hash_quick(pl_json_span(doc, n)));
}

static bool is_text(const struct pl_json_node *n)
{
    return pl_json_kind(n) == PL_JSON_STRING && !(n->tag & PL_JSON_KEY) && n->len >= LEAST_TEXT;
}

static uint64_t hash_words(struct pl_str words)
{
    return pl_hash_quick(words) | 1;
}

static uint64_t hash_text(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    return hash_words(pl_json_raw(doc, n));
}

static const struct pl_json_node *longest_text(const struct finder *f,
                                               const struct pl_json_node *in)
{
    const struct pl_json_node *longest = NULL;
    for (const struct pl_json_node *n = in, *end = in + in->skip; n < end; n++)
        if (is_text(n) && (!longest || n->len > longest->len) &&
            pl_home_is_said(&f->said, n->off, n->len))
            longest = n;
    return longest;
}

/* The list element that contains the current node, or else the document. */
static struct around *element_of(struct finder *f)
{
    size_t i = f->depth - 1;
    while (i && !(pl_json_kind(f->around[i].node) == PL_JSON_OBJECT &&
                  pl_json_kind(f->around[i - 1].node) == PL_JSON_ARRAY))
        i--;
    return &f->around[i];
}

/* Moves to a later node. */
static void enter(struct finder *f, const struct pl_json_node **at, const struct pl_json_node *to)
{
    for (; *at < to; (*at)++) {
        while (f->depth && *at >= f->around[f->depth - 1].node + f->around[f->depth - 1].node->skip)
            f->depth--;
        if (pl_json_is_container(*at) && f->depth < MOST_DEPTH)
            f->around[f->depth++] = (struct around){.node = *at};
    }
    while (f->depth && to >= f->around[f->depth - 1].node + f->around[f->depth - 1].node->skip)
        f->depth--;
}

static int by_place(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_loss *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* A position is not a loss: it is counted anew when elements are added or removed. */
static bool is_position(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    return n[-1].tag & PL_JSON_KEY && pl_label_name(doc, n - 1) & ~(unsigned)PL_LABEL_IDS;
}

enum pl_status pl_home_find_own(struct pl_home_own *own, struct pl_arena *arena, struct pl_leg *leg)
{
    struct pl_conv *conv = &leg->conv;
    pl_conv_sweep(conv);
    if (conv->status != PL_OK)
        return conv->status;
    size_t n_most = conv->losses.len, n = 0;
    const void **order = pl_arena_alloc(arena, 2 * n_most + 1, sizeof *order);
    struct pl_home_own_value *values = pl_arena_zalloc(arena, n_most + 1, sizeof *values);
    if (!order || !values)
        return PL_NOMEM;
    for (size_t i = 0; i < n_most; i++) {
        const struct pl_loss *loss = &conv->losses.ptr[i];
        if (loss->code == PL_LOSS_DROPPED && loss->node && loss->node > leg->doc.root &&
            !is_position(&leg->doc, loss->node))
            order[n++] = loss;
    }
    pl_sort(order, order + n_most, n, by_place, NULL);
    for (size_t i = 0; i < n; i++) {
        values[i].node = ((const struct pl_loss *)order[i])->node;
        values[i].hash = hash_value(&leg->doc, values[i].node);
    }
    *own = (struct pl_home_own){.leg = leg, .values = values, .n = n};
    return PL_OK;
}

/* Finds the text of each value. Only if one is lost: a text may have megabytes. */
static enum pl_status find_texts(struct pl_home_own *own, struct pl_arena *arena)
{
    const struct pl_json_doc *doc = &own->leg->doc;
    struct finder *f = pl_arena_alloc(arena, 1, sizeof *f);
    if (!f || pl_home_find_said(&f->said, arena, own->leg) != PL_OK)
        return PL_NOMEM;
    const struct pl_json_node *at = doc->root;
    f->doc = doc;
    f->depth = 0;
    for (size_t i = 0; i < own->n; i++) {
        struct pl_home_own_value *value = &own->values[i];
        enter(f, &at, value->node);
        struct around *element = element_of(f);
        if (!element->is_measured)
            *element = (struct around){element->node, true, longest_text(f, element->node)};
        const struct pl_json_node *text = element->text;
        value->text = text ? hash_text(doc, text) : 0;
        value->is_unknown =
            text && pl_str_find(pl_json_raw(doc, text), pl_carry_missing()) != SIZE_MAX;
    }
    return PL_OK;
}

static int by_text(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_home_own_value *x = a, *y = b;
    return (x->text > y->text) - (x->text < y->text);
}

static int by_both(const void *ctx, const void *a, const void *b)
{
    const struct pl_home_own_value *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : by_text(ctx, a, b);
}

/* Sorts them by hash and text; NULL: out of memory. The second half is scratch space. */
static const void **sorted(struct pl_arena *arena, const struct pl_home_own *own)
{
    const void **order = pl_arena_alloc(arena, 2 * own->n + 1, sizeof *order);
    for (size_t i = 0; order && i < own->n; i++)
        order[i] = &own->values[i];
    if (order)
        pl_sort(order, order + own->n, own->n, by_both, NULL);
    return order;
}

/* The number of leading values with this hash. */
static size_t count_same(const void **values, size_t n, uint64_t hash)
{
    size_t i = 0;
    while (i < n && ((const struct pl_home_own_value *)values[i])->hash == hash)
        i++;
    return i;
}

/* Puts into `to` the values of `source` that `result` does not have with the same text. Returns
 * their number. */
static size_t take_missing(const void **source, size_t n_source, const void **result,
                           size_t n_result, const void **to)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < n_source; i++) {
        while (k < n_result && by_both(NULL, result[k], source[i]) < 0)
            k++;
        if (k < n_result && by_both(NULL, result[k], source[i]) == 0)
            k++;
        else
            to[n++] = source[i];
    }
    return n;
}

/* Keeps, in place, the values that the result has less often than the source. Returns their number.
 * If several elements have the same value, their texts show which one lost it. */
static size_t keep_lost(const void **source, size_t n_source, const void **result, size_t n_result)
{
    size_t n = 0;
    for (size_t i = 0, k = 0, n_here, n_there; i < n_source; i += n_here, k += n_there) {
        uint64_t hash = ((const struct pl_home_own_value *)source[i])->hash;
        while (k < n_result && ((const struct pl_home_own_value *)result[k])->hash < hash)
            k++;
        n_here = count_same(source + i, n_source - i, hash);
        n_there = count_same(result + k, n_result - k, hash);
        if (n_here > n_there)
            n += take_missing(source + i, n_here, result + k, n_there, source + n);
    }
    return n;
}

/* Whether the result has a value less often than the source, both sorted. */
static bool has_fewer(const void **source, size_t n_source, const void **result, size_t n_result)
{
    for (size_t i = 0, k = 0; i < n_source; i++, k++) {
        uint64_t hash = ((const struct pl_home_own_value *)source[i])->hash;
        while (k < n_result && ((const struct pl_home_own_value *)result[k])->hash < hash)
            k++;
        if (k == n_result || ((const struct pl_home_own_value *)result[k])->hash != hash)
            return true;
    }
    return false;
}

static void count_text(const void **lost, size_t n, uint64_t text, uint32_t *n_times)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (((const struct pl_home_own_value *)lost[middle])->text < text)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < n && ((const struct pl_home_own_value *)lost[low])->text == text)
        n_times[low]++;
}

/* Counts how often the document has the text of each value, at the first value with that text. A
 * text may be after some lines of ours: the title of a document that became text. */
static void count_texts(const void **lost, size_t n, const struct pl_json_doc *doc,
                        uint32_t *n_times)
{
    for (uint32_t i = 0; i < doc->n_nodes; i++) {
        struct pl_str words = pl_json_raw(doc, &doc->root[i]);
        for (int line = 0; line <= MOST_LINES && is_text(&doc->root[i]); line++) {
            count_text(lost, n, hash_words(words), n_times);
            size_t end = pl_str_find(words, PL_STR("\\n"));
            if (end == SIZE_MAX)
                break;
            words = pl_str_slice(words, end + 2, words.len);
        }
    }
}

/* Lists of the target that have an element more, by node. */
struct replaced {
    const struct pl_json_doc *doc;
    bool *has_added; /* arena */
    bool is_found;
};

/* Additions to a list are visited before its removals. */
static bool find_replaced(void *ctx, const struct pl_difference *d)
{
    struct replaced *r = ctx;
    if (!d->around || pl_json_kind(d->around) != PL_JSON_ARRAY)
        return true;
    if (d->kind == PL_DIFFERENCE_ADDED)
        r->has_added[d->around - r->doc->root] = true;
    else if (d->kind == PL_DIFFERENCE_REMOVED && r->has_added[d->around - r->doc->root])
        r->is_found = true;
    return true;
}

enum pl_status pl_home_find_replaced(struct pl_arena *arena, const struct pl_json_doc *target,
                                     const struct pl_differences *found, bool *ret_is_found)
{
    struct replaced r = {.doc = target,
                         .has_added = pl_arena_zalloc(arena, target->n_nodes + (size_t)1, 1)};
    if (!r.has_added)
        return PL_NOMEM;
    pl_difference_visit(found, find_replaced, &r);
    *ret_is_found = r.is_found;
    return PL_OK;
}

/* The values that the source has and the result lacks are `lost`. */
static enum pl_status are_lost(struct pl_arena *arena, const struct pl_home_own *source,
                               const struct pl_home_own *result, const void **lost, size_t n,
                               bool *ret_loses)
{
    uint32_t *before = pl_arena_zalloc(arena, n + 1, sizeof *before);
    uint32_t *after = pl_arena_zalloc(arena, n + 1, sizeof *after);
    if (!before || !after)
        return PL_NOMEM;
    count_texts(lost, n, &source->leg->doc, before);
    count_texts(lost, n, &result->leg->doc, after);
    for (size_t i = 0; i < n; i++) {
        const struct pl_home_own_value *value = lost[i];
        *ret_loses = *ret_loses || (before[i] && after[i] >= before[i]) ||
                     (value->is_unknown && source->is_replaced);
    }
    return PL_OK;
}

enum pl_status pl_home_loses_own(struct pl_arena *arena, struct pl_home_own *source,
                                 struct pl_home_own *result, bool *ret_loses)
{
    const void **lost = sorted(arena, source), **kept = sorted(arena, result);
    *ret_loses = false;
    if (!lost || !kept)
        return PL_NOMEM;
    if (!has_fewer(lost, source->n, kept, result->n))
        return PL_OK;
    enum pl_status status = find_texts(source, arena);
    if (status == PL_OK)
        status = find_texts(result, arena);
    if (status != PL_OK)
        return status;
    pl_sort(lost, lost + source->n, source->n, by_both, NULL);
    pl_sort(kept, kept + result->n, result->n, by_both, NULL);
    size_t n = keep_lost(lost, source->n, kept, result->n);
    pl_sort(lost, lost + source->n, n, by_text, NULL);
    return n ? are_lost(arena, source, result, lost, n, ret_loses) : PL_OK;
}

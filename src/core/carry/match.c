/* Matches certain pairs first, then likely ones: equal values at both ends, then the best alignment
 * of the middle, then values that moved, then gaps of the same shape. */
#include "carry/match.h"

#include "base/hash.h"
#include "base/map.h"
#include "carry/sketch.h"
#include "json/equal.h"
#include "json/text.h"

/* Above this many cells the middle is not aligned cell by cell: a list with that many edits is a
 * new list, except for equal values. */
enum { MOST_CELLS = 1 << 14 };

/* The similarity of two values, as a weight. */
enum { WEIGHT_SAME = 8192, WEIGHT_ALIKE = 6144, WEIGHT_ID = 2048, WEIGHT_WORDS = 1024 };

/* Features of an element. Most elements have the same bytes on both sides and do not need them. */
struct face {
    bool is_known;
    uint64_t essence;  /* equal for values that mean the same */
    uint64_t likeness; /* … except for labels */
    uint64_t kind;     /* role and type */
    uint64_t id;       /* 0: none */
    bool has_changed;  /* the other side has fewer of this likeness: not all can have stayed */
    bool has_new_id;   /* … of this id; or it has none */
    const struct pl_sketch *words; /* arena; NULL: not computed yet */
};

struct matching {
    struct pl_match *match;
    struct pl_arena *arena;
    enum pl_same_place place;          /* of the elements */
    const struct pl_same_bytes *bytes; /* borrowed; NULL: unknown */
    unsigned labels;                   /* names of those in either list */
    bool labels_are_ids;
    struct face *old_faces, *new_faces;            /* arena; only if there is a middle to align */
    uint32_t old_from, old_end, new_from, new_end; /* the middle */
};

/* --- faces ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, uint64_t more)
{
    return pl_hash_folded(hash ^ PL_HASH_ODD_0, more ^ PL_HASH_ODD_1);
}

static uint64_t text_hash(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    return pl_json_value_hash(doc, string);
}

uint64_t pl_match_kind(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    static const char *const tags[] = {"role", "type", "kind"};
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return (uint64_t)pl_json_kind(n) + 1;
    if (pl_json_is(pl_json_get(doc, n, PL_STR("thought")), PL_JSON_TRUE))
        return mix(7, PL_JSON_TRUE);
    uint64_t kind = 0;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const struct pl_json_node *tag = pl_json_get(doc, n, pl_str_of(tags[i]));
        if (!pl_json_is(tag, PL_JSON_STRING) || (i && pl_json_text_is(doc, tag, PL_STR("message"))))
            continue;
        /* A text counts as a text, whatever its role. */
        if (i && pl_same_is_text_type(doc, tag))
            return (uint64_t)PL_JSON_STRING + 1;
        kind = mix(kind + i + 1, text_hash(doc, tag));
    }
    if (kind || n->skip == 1)
        return kind;
    return pl_json_text_is(doc, n + 1, PL_STR("text")) ? (uint64_t)PL_JSON_STRING + 1
                                                       : mix(7, text_hash(doc, n + 1));
}

static uint64_t own_id(const struct pl_json_doc *doc, const struct pl_json_node *n, bool has_own)
{
    static const char *const names[] = {"id", "call_id", "tool_call_id", "tool_use_id", "name"};
    for (size_t i = !has_own; i < sizeof names / sizeof *names; i++) {
        const struct pl_json_node *id = pl_json_get(doc, n, pl_str_of(names[i]));
        if (pl_json_is(id, PL_JSON_STRING) && id->len > 2)
            return mix(i + 1, text_hash(doc, id));
    }
    return 0;
}

/* Its own id, or that of the first object in it: {"type":"function","function":{"name":…}}. */
static uint64_t id_of(const struct matching *m, const struct pl_json_doc *doc,
                      const struct pl_json_node *n)
{
    uint64_t id = own_id(doc, n, m->labels_are_ids || !(m->labels & PL_LABEL_ID));
    for (const struct pl_json_node *key = pl_json_first_member(n); !id && key < pl_json_end(n);
         key = pl_json_next_member(key))
        if (pl_json_kind(key + 1) == PL_JSON_OBJECT)
            return own_id(doc, key + 1, true);
    return id;
}

unsigned pl_label_name(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    static const struct pl_str names[] = {{"id", 2}, {"turn_id", 7}, {"sequence", 8}, {"index", 5}};
    enum { SHORTEST = 2 + 2, LONGEST = 8 + 2 };
    if (!(key->tag & PL_JSON_ESCAPED) && (key->len < SHORTEST || key->len > LONGEST))
        return 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_json_key_is(doc, key, names[i]))
            return 1u << i;
    return 0;
}

static uint64_t likeness_of(const struct matching *m, const struct pl_json_doc *doc,
                            const struct pl_json_node *object)
{
    uint64_t likeness = 1;
    for (const struct pl_json_node *key = pl_json_first(object); key < pl_json_end(object);
         key = pl_json_next_member(key))
        if (!(pl_label_name(doc, key) & m->labels))
            likeness += mix(text_hash(doc, key), pl_json_value_hash(doc, key + 1));
    return likeness;
}

static struct face face_of(const struct matching *m, const struct pl_json_doc *doc,
                           const struct pl_json_node *n)
{
    const struct pl_json_node *text = pl_same_text(doc, n, m->place);
    uint64_t essence = pl_json_value_hash(doc, text ? text : n);
    bool has_labels = m->labels && !text && pl_json_kind(n) == PL_JSON_OBJECT;
    return (struct face){
        .is_known = true,
        .essence = essence,
        .likeness = has_labels ? likeness_of(m, doc, n) : essence,
        .kind = pl_match_kind(doc, n),
        .id = id_of(m, doc, n),
    };
}

/* --- the middle ------------------------------------------------------------------------------- */

static void pair(struct matching *m, uint32_t i, uint32_t j, bool is_same)
{
    m->match->old_side.partners[i] = j;
    m->match->new_side.partners[j] = i;
    m->match->is_same[j] = is_same;
}

static struct face *old_face(const struct matching *m, uint32_t i)
{
    const struct pl_match_side *side = &m->match->old_side;
    if (!m->old_faces[i].is_known)
        m->old_faces[i] = face_of(m, side->doc, side->nodes[i]);
    return &m->old_faces[i];
}

static struct face *new_face(const struct matching *m, uint32_t j)
{
    const struct pl_match_side *side = &m->match->new_side;
    if (!m->new_faces[j].is_known)
        m->new_faces[j] = face_of(m, side->doc, side->nodes[j]);
    return &m->new_faces[j];
}

/* Equal hashes are no proof: confirm() checks. */
static bool is_same_at(const struct matching *m, uint32_t i, uint32_t j)
{
    return old_face(m, i)->likeness == new_face(m, j)->likeness;
}

static struct pl_str hash_key(const uint64_t *hash)
{
    return (struct pl_str){(const char *)hash, sizeof *hash};
}

/* How often the middle has each likeness and each id. */
struct census {
    struct pl_map old_ones, new_ones; /* owned; hash -> number. The keys are in the faces */
};

static enum pl_status count(struct pl_map *map, const struct face *face)
{
    const uint64_t *hashes[] = {&face->likeness, &face->id};
    for (size_t i = 0; i < 2; i++) {
        bool is_new;
        struct pl_map_entry *entry = pl_map_put(map, hash_key(hashes[i]), &is_new);
        if (!entry)
            return PL_NOMEM;
        entry->value++;
    }
    return PL_OK;
}

static bool has_more(const struct pl_map *here, const struct pl_map *there, const uint64_t *hash)
{
    const struct pl_map_entry *most = pl_map_get(here, hash_key(hash)),
                              *least = pl_map_get(there, hash_key(hash));
    return most->value > (least ? least->value : 0);
}

static void judge(struct face *face, const struct pl_map *here, const struct pl_map *there)
{
    face->has_changed = has_more(here, there, &face->likeness);
    face->has_new_id = !face->id || has_more(here, there, &face->id);
}

/* Tells elements that changed from those that only moved. */
static enum pl_status find_changed(struct matching *m)
{
    struct census census = {0};
    enum pl_status status = PL_OK;
    for (uint32_t i = m->old_from; i < m->old_end && status == PL_OK; i++)
        status = count(&census.old_ones, old_face(m, i));
    for (uint32_t j = m->new_from; j < m->new_end && status == PL_OK; j++)
        status = count(&census.new_ones, new_face(m, j));
    for (uint32_t i = m->old_from; i < m->old_end && status == PL_OK; i++)
        judge(old_face(m, i), &census.old_ones, &census.new_ones);
    for (uint32_t j = m->new_from; j < m->new_end && status == PL_OK; j++)
        judge(new_face(m, j), &census.new_ones, &census.old_ones);
    pl_map_deinit(&census.old_ones);
    pl_map_deinit(&census.new_ones);
    return status;
}

/* The weight of a pair i and j. PL_MATCH_NONE: out of memory. An element that only moved has its
 * partner elsewhere, whatever words it shares with its new neighbours. */
static uint32_t weigh(struct matching *m, uint32_t i, uint32_t j)
{
    enum { LEAST_WORDS = WEIGHT_WORDS / 5 };
    struct face *a = old_face(m, i), *b = new_face(m, j);
    if (a->essence == b->essence)
        return WEIGHT_SAME;
    if (a->likeness == b->likeness)
        return WEIGHT_ALIKE;
    bool is_same_id = a->id && a->id == b->id;
    if (a->kind != b->kind || !a->has_changed || !b->has_changed ||
        (!is_same_id && (!a->has_new_id || !b->has_new_id)))
        return 0;
    const struct pl_match_side *olds = &m->match->old_side, *news = &m->match->new_side;
    a->words = a->words ? a->words : pl_sketch_of(m->arena, olds->doc, olds->nodes[i]);
    b->words = b->words ? b->words : pl_sketch_of(m->arena, news->doc, news->nodes[j]);
    if (!a->words || !b->words)
        return PL_MATCH_NONE;
    uint32_t common = pl_sketch_common(a->words, b->words, WEIGHT_WORDS);
    if (is_same_id)
        return WEIGHT_ID + common;
    return common >= LEAST_WORDS ? common : 0;
}

/* The alignment with the largest weight, by dynamic programming over all pairs of suffixes. */
static enum pl_status align_cells(struct matching *m)
{
    uint32_t n = m->old_end - m->old_from, k = m->new_end - m->new_from;
    size_t width = (size_t)k + 1;
    uint32_t *best = pl_arena_zalloc(m->arena, (n + (size_t)1) * width, sizeof *best);
    uint32_t *weights = pl_arena_alloc(m->arena, (size_t)n * k + 1, sizeof *weights);
    if (!best || !weights || find_changed(m) != PL_OK)
        return PL_NOMEM;
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t j = k; j-- > 0;) {
            uint32_t weight = weigh(m, m->old_from + i, m->new_from + j);
            if (weight == PL_MATCH_NONE)
                return PL_NOMEM;
            uint32_t *cell = &best[i * width + j];
            weights[(size_t)i * k + j] = weight;
            uint32_t most = cell[width] > cell[1] ? cell[width] : cell[1];
            uint32_t with = weight ? cell[width + 1] + weight : 0;
            *cell = with > most ? with : most;
        }
    for (uint32_t i = 0, j = 0; i < n && j < k;) {
        const uint32_t *cell = &best[i * width + j];
        uint32_t weight = weights[(size_t)i * k + j];
        if (weight && *cell == cell[width + 1] + weight) {
            pair(m, m->old_from + i, m->new_from + j, weight >= WEIGHT_ALIKE);
            i++, j++;
        } else if (cell[width] >= cell[1]) {
            i++;
        } else {
            j++;
        }
    }
    return PL_OK;
}

/* Old values without a partner, by likeness: chains in list order. */
struct leftovers {
    struct pl_map first; /* owned; likeness -> index + 1 of the first */
    uint32_t *next;      /* arena; index + 1 of the next of the same likeness */
};

static enum pl_status gather_leftovers(struct matching *m, struct leftovers *left)
{
    uint32_t n = m->match->old_side.n;
    left->next = pl_arena_zalloc(m->arena, n + (size_t)1, sizeof *left->next);
    if (!left->next)
        return PL_NOMEM;
    for (uint32_t i = n; i-- > 0;) {
        bool is_new;
        if (m->match->old_side.partners[i] != PL_MATCH_NONE)
            continue;
        struct pl_map_entry *entry =
            pl_map_put(&left->first, hash_key(&old_face(m, i)->likeness), &is_new);
        if (!entry)
            return PL_NOMEM;
        left->next[i] = (uint32_t)entry->value;
        entry->value = i + 1;
    }
    return PL_OK;
}

/* Removes and returns the first leftover with the meaning of j, from index `least` on. */
static uint32_t take_leftover(struct matching *m, struct leftovers *left, uint32_t j,
                              uint32_t least)
{
    struct pl_map_entry *entry = pl_map_get(&left->first, hash_key(&new_face(m, j)->likeness));
    while (entry && entry->value && entry->value <= least)
        entry->value = left->next[entry->value - 1];
    if (!entry || !entry->value)
        return PL_MATCH_NONE;
    uint32_t i = (uint32_t)entry->value - 1;
    entry->value = left->next[i];
    return i;
}

/* Too many for a table: matches only equal values, each after the one before it. */
static enum pl_status align_same(struct matching *m)
{
    struct leftovers left = {0};
    enum pl_status status = gather_leftovers(m, &left);
    for (uint32_t j = m->new_from, least = 0; j < m->new_end && status == PL_OK; j++) {
        uint32_t i = take_leftover(m, &left, j, least);
        if (i == PL_MATCH_NONE)
            continue;
        pair(m, i, j, true);
        least = i + 1;
    }
    pl_map_deinit(&left.first);
    return status;
}

static enum pl_status pair_moved(struct matching *m)
{
    struct leftovers left = {0};
    enum pl_status status = gather_leftovers(m, &left);
    for (uint32_t j = 0; j < m->match->new_side.n && status == PL_OK; j++) {
        if (m->match->new_side.partners[j] != PL_MATCH_NONE)
            continue;
        uint32_t i = take_leftover(m, &left, j, 0);
        if (i == PL_MATCH_NONE)
            continue;
        pair(m, i, j, true);
        m->match->is_moved[j] = true;
    }
    pl_map_deinit(&left.first);
    return status;
}

/* The next element from `i` on without a partner. */
static uint32_t next_single(const struct pl_match_side *side, uint32_t i, uint32_t end)
{
    while (i < end && side->partners[i] != PL_MATCH_NONE)
        i++;
    return i;
}

/* Between two partners: if both sides have the same number of elements of the same kinds left, they
 * are the same elements, changed completely. */
static void pair_gap(struct matching *m, uint32_t i, uint32_t i_end, uint32_t j, uint32_t j_end)
{
    const struct pl_match_side *olds = &m->match->old_side, *news = &m->match->new_side;
    uint32_t a = next_single(olds, i, i_end), b = next_single(news, j, j_end);
    while (a < i_end && b < j_end && old_face(m, a)->kind == new_face(m, b)->kind) {
        a = next_single(olds, a + 1, i_end);
        b = next_single(news, b + 1, j_end);
    }
    if (a < i_end || b < j_end)
        return;
    while ((i = next_single(olds, i, i_end)) < i_end) {
        j = next_single(news, j, j_end);
        pair(m, i, j, is_same_at(m, i, j));
    }
}

static void pair_gaps(struct matching *m)
{
    const struct pl_match *match = m->match;
    uint32_t i_from = m->old_from, j_from = m->new_from;
    for (uint32_t i = m->old_from; i <= m->old_end; i++) {
        uint32_t j = i < m->old_end ? match->old_side.partners[i] : m->new_end;
        if (j == PL_MATCH_NONE || (i < m->old_end && match->is_moved[j]))
            continue;
        pair_gap(m, i_from, i, j_from, j);
        i_from = i + 1;
        j_from = j + 1;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static enum pl_status list_side(struct pl_arena *arena, const struct pl_match_list *list,
                                struct pl_match_side *side)
{
    const struct pl_json_node *n = list->list;
    bool is_array = n && pl_json_kind(n) == PL_JSON_ARRAY;
    *side = (struct pl_match_side){.doc = list->doc};
    side->n = is_array ? pl_json_count(n) : n != NULL;
    side->nodes = pl_arena_alloc(arena, side->n + (size_t)1, sizeof *side->nodes);
    side->partners = pl_arena_alloc(arena, side->n + (size_t)1, sizeof *side->partners);
    if (!side->nodes || !side->partners)
        return PL_NOMEM;
    n = is_array ? pl_json_first(n) : n;
    for (uint32_t i = 0; i < side->n; i++, n = pl_json_next(n)) {
        side->nodes[i] = n;
        side->partners[i] = PL_MATCH_NONE;
    }
    return PL_OK;
}

/* The names of the labels that elements of a list have. */
static unsigned labels_of(const struct pl_match_list *list, const struct pl_match_side *side)
{
    unsigned names = 0;
    const bool *is_label = list->labels.is_label;
    for (uint32_t i = 0; is_label && i < side->n; i++)
        for (const struct pl_json_node *key = pl_json_first_member(side->nodes[i]);
             key < pl_json_end(side->nodes[i]); key = pl_json_next_member(key))
            if (is_label[key + 1 - list->doc->root])
                names |= pl_label_name(list->doc, key);
    return names;
}

/* Pairs elements i and j if they mean the same. */
static enum pl_status pair_same(struct matching *m, uint32_t i, uint32_t j, bool *ret_is_same)
{
    const struct pl_match_side *olds = &m->match->old_side, *news = &m->match->new_side;
    enum pl_status status = pl_same_check(olds->doc, olds->nodes[i], news->doc, news->nodes[j],
                                          m->place, m->bytes, ret_is_same);
    if (status == PL_OK && *ret_is_same)
        pair(m, i, j, true);
    return status;
}

/* Pairs equal elements at both ends. */
static enum pl_status pair_ends(struct matching *m)
{
    enum pl_status status = PL_OK;
    bool is_same = true;
    m->old_end = m->match->old_side.n;
    m->new_end = m->match->new_side.n;
    while (m->old_from < m->old_end && m->new_from < m->new_end && is_same && status == PL_OK) {
        status = pair_same(m, m->old_from, m->new_from, &is_same);
        m->old_from += is_same;
        m->new_from += is_same;
    }
    is_same = true;
    while (m->old_from < m->old_end && m->new_from < m->new_end && is_same && status == PL_OK) {
        if (m->old_end - m->old_from == 1 && m->new_end - m->new_from == 1)
            break; /* these two were compared */
        status = pair_same(m, m->old_end - 1, m->new_end - 1, &is_same);
        m->old_end -= is_same;
        m->new_end -= is_same;
    }
    return status;
}

/* Whether every member of `a` that is no label is in `b` too. */
static enum pl_status has_members(const struct matching *m, const struct pl_json_doc *a_doc,
                                  const struct pl_json_node *a, const struct pl_json_doc *b_doc,
                                  const struct pl_json_node *b, bool *ret_has)
{
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first(a);
         key < pl_json_end(a) && status == PL_OK && *ret_has; key = pl_json_next_member(key)) {
        struct pl_str name;
        if (pl_label_name(a_doc, key) & m->labels)
            continue;
        status = pl_json_text(m->arena, a_doc, key, &name);
        if (status == PL_OK)
            status = pl_same_check(a_doc, key + 1, b_doc, pl_json_get(b_doc, b, name),
                                   pl_same_inside(m->place, a_doc, a, key), m->bytes, ret_has);
    }
    return status;
}

/* Whether i and j mean the same, except for labels. */
static enum pl_status check_alike(const struct matching *m, uint32_t i, uint32_t j,
                                  bool *ret_is_alike)
{
    const struct pl_match_side *olds = &m->match->old_side, *news = &m->match->new_side;
    const struct pl_json_node *a = olds->nodes[i], *b = news->nodes[j];
    enum pl_status status =
        pl_same_check(olds->doc, a, news->doc, b, m->place, m->bytes, ret_is_alike);
    if (status != PL_OK || *ret_is_alike || !m->labels || !pl_json_is(a, PL_JSON_OBJECT) ||
        !pl_json_is(b, PL_JSON_OBJECT))
        return status;
    *ret_is_alike = true;
    status = has_members(m, olds->doc, a, news->doc, b, ret_is_alike);
    return status == PL_OK ? has_members(m, news->doc, b, olds->doc, a, ret_is_alike) : status;
}

/* One changed element, the usual edit: only this pair is possible. Nothing is hashed: an element
 * may have megabytes. */
static enum pl_status match_one(struct matching *m)
{
    const struct pl_match_side *olds = &m->match->old_side, *news = &m->match->new_side;
    uint32_t i = m->old_from, j = m->new_from;
    if (pl_match_kind(olds->doc, olds->nodes[i]) != pl_match_kind(news->doc, news->nodes[j]))
        return PL_OK;
    pair(m, i, j, false);
    return m->labels ? check_alike(m, i, j, &m->match->is_same[j]) : PL_OK;
}

/* Equal hashes are no proof: they do not cover every member of a large object. */
static enum pl_status confirm(const struct matching *m)
{
    struct pl_match *match = m->match;
    enum pl_status status = PL_OK;
    for (uint32_t j = m->new_from; j < m->new_end && status == PL_OK; j++)
        if (match->is_same[j])
            status = check_alike(m, match->new_side.partners[j], j, &match->is_same[j]);
    return status;
}

/* Matches the elements between the ends. */
static enum pl_status match_middle(struct matching *m)
{
    uint32_t n_old = m->old_end - m->old_from, n_new = m->new_end - m->new_from;
    if (!n_old || !n_new)
        return PL_OK;
    if (n_old == 1 && n_new == 1)
        return match_one(m);
    m->old_faces =
        pl_arena_zalloc(m->arena, m->match->old_side.n + (size_t)1, sizeof *m->old_faces);
    m->new_faces =
        pl_arena_zalloc(m->arena, m->match->new_side.n + (size_t)1, sizeof *m->new_faces);
    if (!m->old_faces || !m->new_faces)
        return PL_NOMEM;
    enum pl_status status = (uint64_t)n_old * n_new <= MOST_CELLS ? align_cells(m) : align_same(m);
    if (status == PL_OK)
        status = pair_moved(m);
    if (status == PL_OK)
        pair_gaps(m);
    return status == PL_OK ? confirm(m) : status;
}

enum pl_status pl_match_lists(struct pl_match *match, struct pl_arena *arena,
                              const struct pl_match_list *old_list,
                              const struct pl_match_list *new_list, enum pl_same_place place,
                              const struct pl_same_bytes *bytes)
{
    struct matching m = {.match = match, .arena = arena, .place = place, .bytes = bytes};
    enum pl_status status = list_side(arena, old_list, &match->old_side);
    if (status == PL_OK)
        status = list_side(arena, new_list, &match->new_side);
    match->is_same = pl_arena_zalloc(arena, match->new_side.n + (size_t)1, sizeof(bool));
    match->is_moved = pl_arena_zalloc(arena, match->new_side.n + (size_t)1, sizeof(bool));
    if (status != PL_OK || !match->is_same || !match->is_moved)
        return PL_NOMEM;
    m.labels = labels_of(old_list, &match->old_side) | labels_of(new_list, &match->new_side);
    m.labels_are_ids = old_list->labels.are_ids || new_list->labels.are_ids;
    status = pair_ends(&m);
    return status == PL_OK ? match_middle(&m) : status;
}

/* Equality and hashes of values, without recursion.
 *
 * First the two trees are compared node by node, in document order. This needs no memory and is
 * enough for nearly all equal pairs. If the two sides differ, the exact comparison follows, with a
 * stack of pairs to compare. It finds a member by its key: in a small object by trying all keys, in
 * a large one with a map. A duplicate key counts with its last value. */
#include "json/equal.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "json/number.h"
#include "json/text.h"

enum {
    FEW_MEMBERS = 8,
    FEW_PAIRS = 128,
    HASH_DEPTH = 64,   /* levels that the hash of a path includes */
    HASH_MEMBERS = 32, /* members of one object that the hash includes */
    TEXT_CHUNK = 1024, /* bytes of a string hashed at a time */
};

/* n_left values starting at a, to be compared with as many starting at b. */
struct pair {
    const struct pl_json_node *a, *b;
    uint32_t n_left;
};

struct comparison {
    const struct pl_json_doc *a_doc, *b_doc;
    struct pair few[FEW_PAIRS];
    PL_VEC(struct pair) more; /* pairs that do not fit in few */
    uint32_t n_few;
};

/* Compares scalars entirely, containers only by kind. */
static bool is_same_node(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                         const struct pl_json_doc *b_doc, const struct pl_json_node *b)
{
    if (pl_json_kind(a) != pl_json_kind(b))
        return false;
    if (pl_json_kind(a) == PL_JSON_STRING)
        return pl_json_text_same(a_doc, a, b_doc, b);
    if (pl_json_kind(a) != PL_JSON_NUMBER)
        return true;
    struct pl_str x = pl_json_span(a_doc, a), y = pl_json_span(b_doc, b);
    return pl_str_eq(x, y) || pl_json_number_cmp(x, y) == 0;
}

/* True: certainly equal. Equal values usually have the same spelling. */
static bool has_same_bytes(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                           const struct pl_json_doc *b_doc, const struct pl_json_node *b)
{
    return pl_str_eq(pl_json_span(a_doc, a), pl_json_span(b_doc, b));
}

/* True: certainly equal. False: the order may differ. */
static bool is_same_side_by_side(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                                 const struct pl_json_doc *b_doc, const struct pl_json_node *b)
{
    if (a->skip != b->skip)
        return false;
    for (uint32_t i = 0; i < a->skip; i++)
        if (a[i].skip != b[i].skip || !is_same_node(a_doc, a + i, b_doc, b + i))
            return false;
    return true;
}

static bool push_pair(struct comparison *c, struct pair pair)
{
    if (c->n_few < FEW_PAIRS && !c->more.len) {
        c->few[c->n_few++] = pair;
        return true;
    }
    return pl_vec_push(&c->more, pair);
}

static bool pop_pair(struct comparison *c, struct pair *ret_pair)
{
    if (c->more.len)
        *ret_pair = c->more.ptr[--c->more.len];
    else if (c->n_few)
        *ret_pair = c->few[--c->n_few];
    else
        return false;
    return true;
}

static bool is_same_key(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                        const struct pl_json_doc *b_doc, const struct pl_json_node *b)
{
    return pl_json_key_hash_of(a) == pl_json_key_hash_of(b) &&
           pl_json_text_same(a_doc, a, b_doc, b);
}

/* The last key of `object`, starting at `from`, with the text of `key`; NULL if not found. */
static const struct pl_json_node *last_key(const struct pl_json_doc *doc,
                                           const struct pl_json_node *object,
                                           const struct pl_json_node *from,
                                           const struct pl_json_doc *key_doc,
                                           const struct pl_json_node *key)
{
    const struct pl_json_node *found = NULL;
    for (; from < pl_json_end(object); from = pl_json_next_member(from))
        if (is_same_key(doc, from, key_doc, key))
            found = from;
    return found;
}

static uint32_t count_distinct(const struct pl_json_doc *doc, const struct pl_json_node *object)
{
    uint32_t n = 0;
    for (const struct pl_json_node *key = pl_json_first(object); key < pl_json_end(object);
         key = pl_json_next_member(key))
        n += !last_key(doc, object, pl_json_next_member(key), doc, key);
    return n;
}

static enum pl_status pair_few(struct comparison *c, const struct pl_json_node *a,
                               const struct pl_json_node *b, bool *ret_equal)
{
    *ret_equal = count_distinct(c->a_doc, a) == count_distinct(c->b_doc, b);
    for (const struct pl_json_node *key = pl_json_first(a); key < pl_json_end(a) && *ret_equal;
         key = pl_json_next_member(key)) {
        if (last_key(c->a_doc, a, pl_json_next_member(key), c->a_doc, key))
            continue;
        const struct pl_json_node *other = last_key(c->b_doc, b, pl_json_first(b), c->a_doc, key);
        *ret_equal = other;
        if (other && !push_pair(c, (struct pair){key + 1, other + 1, 1}))
            return PL_NOMEM;
    }
    return PL_OK;
}

/* Maps the text of each key to its last value, as a node index relative to the object. */
static enum pl_status map_members(struct pl_map *map, struct pl_arena *decoded,
                                  const struct pl_json_doc *doc, const struct pl_json_node *object)
{
    for (const struct pl_json_node *key = pl_json_first(object); key < pl_json_end(object);
         key = pl_json_next_member(key)) {
        struct pl_str text;
        bool is_new;
        enum pl_status status = pl_json_text(decoded, doc, key, &text);
        struct pl_map_entry *entry = status == PL_OK ? pl_map_put(map, text, &is_new) : NULL;
        if (!entry)
            return PL_NOMEM;
        entry->value = (uint64_t)(key + 1 - object);
    }
    return PL_OK;
}

static enum pl_status pair_many(struct comparison *c, const struct pl_json_node *a,
                                const struct pl_json_node *b, bool *ret_equal)
{
    struct pl_map a_map = {0}, b_map = {0};
    PL_CLEANUP_ARENA struct pl_arena decoded;
    pl_arena_init(&decoded, 0);
    enum pl_status status = map_members(&a_map, &decoded, c->a_doc, a);
    if (status == PL_OK)
        status = map_members(&b_map, &decoded, c->b_doc, b);
    bool is_equal = a_map.n_entries == b_map.n_entries;
    for (uint32_t i = 0; i < a_map.n_entries && is_equal && status == PL_OK; i++) {
        const struct pl_map_entry *other = pl_map_get(&b_map, a_map.entries[i].key);
        is_equal = other;
        if (other && !push_pair(c, (struct pair){a + a_map.entries[i].value, b + other->value, 1}))
            status = PL_NOMEM;
    }
    pl_map_deinit(&a_map);
    pl_map_deinit(&b_map);
    *ret_equal = is_equal;
    return status;
}

/* Compares a and b themselves and pushes their children. */
static enum pl_status compare_pair(struct comparison *c, const struct pl_json_node *a,
                                   const struct pl_json_node *b, bool *ret_equal)
{
    *ret_equal = is_same_node(c->a_doc, a, c->b_doc, b);
    if (!*ret_equal || !pl_json_is_container(a) || has_same_bytes(c->a_doc, a, c->b_doc, b))
        return PL_OK;
    uint32_t n = pl_json_count(a);
    if (pl_json_kind(a) == PL_JSON_ARRAY) {
        *ret_equal = n == pl_json_count(b);
        bool is_ok = !*ret_equal || n == 0 || push_pair(c, (struct pair){a + 1, b + 1, n});
        return is_ok ? PL_OK : PL_NOMEM;
    }
    bool is_few = n <= FEW_MEMBERS && pl_json_count(b) <= FEW_MEMBERS;
    return is_few ? pair_few(c, a, b, ret_equal) : pair_many(c, a, b, ret_equal);
}

static enum pl_status compare_exactly(struct comparison *c, bool *ret_equal)
{
    enum pl_status status = PL_OK;
    bool is_equal = true;
    for (struct pair pair; is_equal && status == PL_OK && pop_pair(c, &pair);) {
        struct pair rest = {pl_json_next(pair.a), pl_json_next(pair.b), pair.n_left - 1};
        if (rest.n_left && !push_pair(c, rest))
            status = PL_NOMEM;
        else
            status = compare_pair(c, pair.a, pair.b, &is_equal);
    }
    pl_vec_deinit(&c->more);
    if (status == PL_OK)
        *ret_equal = is_equal;
    return status;
}

enum pl_status pl_json_equal(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                             const struct pl_json_doc *b_doc, const struct pl_json_node *b,
                             bool *ret_equal)
{
    bool is_same = has_same_bytes(a_doc, a, b_doc, b) || is_same_side_by_side(a_doc, a, b_doc, b);
    if (is_same || !pl_json_is_container(a) || pl_json_kind(a) != pl_json_kind(b)) {
        *ret_equal = is_same;
        return PL_OK;
    }
    __attribute__((uninitialized)) struct comparison c;
    c.a_doc = a_doc;
    c.b_doc = b_doc;
    c.more.ptr = NULL;
    c.more.len = c.more.cap = 0;
    c.few[0] = (struct pair){a, b, 1};
    c.n_few = 1;
    return compare_exactly(&c, ret_equal);
}

/* The hash of a value is a sum over its scalars and empty containers. Each adds a keyed hash of
 * itself and its path. A sum does not depend on the order of members and needs no memory of earlier
 * ones. Two limits keep it cheap. Containers nested deeper than HASH_DEPTH count only by kind. In
 * an object only the HASH_MEMBERS members with the smallest keyed hashes of keys count: the same
 * ones for every order and repetition of keys, and an outsider cannot predict them. Values that
 * differ only beyond these limits have the same hash; then equality decides. */
struct hash_level {
    const struct pl_json_node *next, *end;
    uint64_t path;
    uint32_t n_done;                /* children passed so far */
    uint32_t n_members;             /* object: length of members */
    uint32_t members[HASH_MEMBERS]; /* counted key nodes, as distances from `end` */
    bool is_object;
};

static uint64_t mix(uint64_t kind, uint64_t a, uint64_t b)
{
    uint64_t words[3] = {kind, a, b};
    return pl_hash((struct pl_str){(const char *)words, sizeof words});
}

/* Independent of the spelling: hashes chunks of decoded bytes. */
static uint64_t hash_text(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    uint64_t hash = 0;
    if (!(string->tag & PL_JSON_ESCAPED)) {
        struct pl_str raw = pl_json_raw(doc, string);
        for (size_t at = 0; at < raw.len; at += TEXT_CHUNK)
            hash = mix(PL_JSON_STRING, hash, pl_hash(pl_str_slice(raw, at, at + TEXT_CHUNK)));
        return hash;
    }
    __attribute__((uninitialized)) char chunk[TEXT_CHUNK];
    struct pl_json_walk walk = pl_json_walk(doc, string);
    for (size_t n = 1; n > 0;) {
        n = 0;
        for (int byte; n < TEXT_CHUNK && (byte = pl_json_walk_next(&walk)) >= 0;)
            chunk[n++] = (char)byte;
        if (n)
            hash = mix(PL_JSON_STRING, hash, pl_hash((struct pl_str){chunk, n}));
    }
    return hash;
}

static uint64_t hash_leaf(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    uint64_t hash = 0;
    if (pl_json_kind(n) == PL_JSON_STRING)
        hash = hash_text(doc, n);
    else if (pl_json_kind(n) == PL_JSON_NUMBER)
        hash = pl_json_number_hash(pl_json_span(doc, n));
    return mix(0, pl_json_kind(n), hash);
}

/* Keeps the smallest distinct hashes, sorted; an equal hash replaces the earlier key. */
static void choose_member(uint64_t *hashes, struct hash_level *level, uint64_t hash, uint32_t key)
{
    uint32_t at = level->n_members;
    while (at > 0 && hashes[at - 1] > hash)
        at--;
    if (at > 0 && hashes[at - 1] == hash) {
        level->members[at - 1] = key;
        return;
    }
    if (at == HASH_MEMBERS)
        return;
    if (level->n_members < HASH_MEMBERS)
        level->n_members++;
    for (uint32_t i = level->n_members - 1; i > at; i--) {
        hashes[i] = hashes[i - 1];
        level->members[i] = level->members[i - 1];
    }
    hashes[at] = hash;
    level->members[at] = key;
}

static void open_level(struct hash_level *level, const struct pl_json_doc *doc,
                       const struct pl_json_node *n, uint64_t path)
{
    level->next = pl_json_first(n);
    level->end = pl_json_end(n);
    level->path = mix(1, path, pl_json_kind(n));
    level->n_done = level->n_members = 0;
    level->is_object = pl_json_kind(n) == PL_JSON_OBJECT;
    if (!level->is_object)
        return;
    uint64_t hashes[HASH_MEMBERS];
    for (const struct pl_json_node *key = level->next; key < level->end;
         key = pl_json_next_member(key))
        choose_member(hashes, level, hash_text(doc, key), (uint32_t)(level->end - key));
}

/* The next counted child and the hash of its path; NULL at the end. */
static const struct pl_json_node *next_counted(struct hash_level *level,
                                               const struct pl_json_doc *doc, uint64_t *ret_path)
{
    if (level->is_object) {
        if (level->n_done == level->n_members)
            return NULL;
        const struct pl_json_node *key = level->end - level->members[level->n_done++];
        *ret_path = mix(2, level->path, hash_text(doc, key));
        return key + 1;
    }
    if (level->next == level->end)
        return NULL;
    const struct pl_json_node *element = level->next;
    level->next = pl_json_next(element);
    *ret_path = mix(3, level->path, level->n_done++);
    return element;
}

uint64_t pl_json_value_hash(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    __attribute__((uninitialized)) struct hash_level levels[HASH_DEPTH];
    uint64_t sum = 0, path = 0;
    uint32_t depth = 0;
    for (;;) {
        if (!pl_json_is_container(n) || n->skip == 1)
            sum += mix(4, path, hash_leaf(doc, n));
        else if (depth < HASH_DEPTH)
            open_level(&levels[depth++], doc, n, path);
        else
            sum += mix(5, path, pl_json_kind(n));
        for (n = NULL; depth > 0 && !n; depth -= !n)
            n = next_counted(&levels[depth - 1], doc, &path);
        if (!n)
            return sum;
    }
}

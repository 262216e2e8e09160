/* Making a carry: the source's text, with references where the target says long strings of it. */
#include "format/carry.h"

#include "base/sort.h"
#include "format/profile.h"
#include "json/text.h"

#include <assert.h>

static void put_hash(struct pl_buf *to, uint64_t hash)
{
    char quoted[PL_CARRY_HASH_CHARS + 2] = {'"'};
    for (size_t i = 0; i < PL_CARRY_HASH_CHARS; i++, hash >>= 6)
        quoted[i + 1] = PL_CARRY_DIGITS[hash & 63];
    quoted[PL_CARRY_HASH_CHARS + 1] = '"';
    pl_buf_add(to, (struct pl_str){quoted, sizeof quoted});
}

/* Bytes inside a string of the source, which the target says too. */
struct reference {
    uint32_t off, len;
    uint32_t at; /* in the target */
    uint64_t hash;
};

struct maker {
    struct pl_buf *to;
    struct pl_str source;
    const struct pl_writer *w;
    PL_VEC(struct reference) references; /* owned; in the order of the target */
    enum pl_status status;
};

static void add(struct maker *m, uint32_t off, uint32_t len, uint32_t at)
{
    if (len < PL_LINKS_LONG)
        return;
    struct pl_str bytes = pl_str_slice(m->source, off, (size_t)off + len);
    struct reference reference = {off, len, at, pl_carry_hash(bytes)};
    if (!pl_vec_push(&m->references, reference))
        m->status = PL_NOMEM;
}

/* Whether the string is spelled with the fewest escapes. Otherwise it would come back in another
 * spelling from a program that reads and writes JSON, and is kept as it is. */
static bool is_usual(struct maker *m, const struct pl_json_node *n)
{
    struct pl_str raw = pl_json_raw(m->w->conv->doc, n);
    if (pl_json_kind(n) != PL_JSON_STRING || n->tag & PL_JSON_KEY)
        return false;
    if (!(n->tag & PL_JSON_ODD))
        return true;
    PL_CLEANUP_BUF struct pl_buf usual;
    pl_buf_init(&usual, 0);
    pl_carry_spell(&usual, raw);
    if (usual.status != PL_OK)
        m->status = usual.status;
    return pl_str_eq(pl_buf_str(&usual), raw);
}

/* The target has the value as it is spelled, from `at` on. */
static void add_strings(struct maker *m, const struct pl_json_node *value, uint32_t at)
{
    for (const struct pl_json_node *n = value; n < pl_json_next(value); n++)
        if (is_usual(m, n))
            add(m, n->off + 1, n->len - 2, at + (n->off - value->off) + 1);
}

static void find_references(struct maker *m)
{
    for (size_t i = 0; i < m->w->links.len; i++) {
        const struct pl_link *link = &m->w->links.ptr[i];
        if (link->how == PL_LINK_COPY)
            add_strings(m, link->node, link->at);
        else if (link->how == PL_LINK_INSIDE && is_usual(m, link->node))
            add(m, link->off, link->len, link->at + 1 + link->before);
    }
}

/* The hash of the target's bytes. Those of a reference are hashed already. */
static uint64_t target_hash(const struct maker *m, struct pl_str target)
{
    struct pl_carry_hasher hasher = {.text = target};
    for (size_t i = 0; i < m->references.len; i++) {
        const struct reference *r = &m->references.ptr[i];
        pl_carry_hash_known(&hasher, r->at, r->len, r->hash);
    }
    return pl_carry_hash_end(&hasher);
}

static int by_offset(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct reference *x = a, *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

static void put_bytes(struct maker *m, size_t from, size_t end, bool *is_first)
{
    if (from == end)
        return;
    if (!*is_first)
        pl_buf_addc(m->to, ',');
    *is_first = false;
    pl_json_quote(m->to, pl_str_slice(m->source, from, end));
}

static void put_reference(struct maker *m, const struct reference *r, bool *is_first)
{
    pl_buf_add(m->to, *is_first ? PL_STR("[") : PL_STR(",["));
    put_hash(m->to, r->hash);
    pl_buf_addc(m->to, ']');
    *is_first = false;
}

static enum pl_status put_source(struct maker *m)
{
    size_t n = m->references.len, end = 0;
    bool is_first = true;
    const void **order = pl_arena_alloc(m->w->conv->arena, 2 * n + 1, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = &m->references.ptr[i];
    pl_sort(order, order + n, n, by_offset, NULL);
    for (size_t i = 0; i < n; i++) {
        const struct reference *r = order[i];
        if (r->off < end)
            continue; /* said twice */
        put_bytes(m, end, r->off, &is_first);
        put_reference(m, r, &is_first);
        end = (size_t)r->off + r->len;
    }
    put_bytes(m, end, m->source.len, &is_first);
    return m->to->status;
}

static void put_member(struct pl_buf *to, const char *key, const char *value)
{
    pl_buf_adds(to, key);
    pl_buf_adds(to, value);
}

static_assert(PL_CARRY_VERSION == 2, "pl_carry_write says the version");

enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              struct pl_str target, const struct pl_format_task *task)
{
    struct maker m = {.to = to, .source = source, .w = w};
    find_references(&m);
    (void)pl_buf_reserve(to, 512);
    put_member(to, "{\"parley_carry\":2,\"from\":\"", task->from->name);
    put_member(to, "\",\"to\":\"", task->to->name);
    put_member(to, "\",\"kind\":\"", task->kind == PL_KIND_RESPONSE ? "response" : "request");
    put_member(to, "\",\"mode\":\"", pl_mode_name(task->mode));
    if (task->profile)
        put_member(to, "\",\"profile\":\"", task->profile->name);
    put_member(to, "\",\"target\":", "");
    put_hash(to, target_hash(&m, target));
    put_member(to, ",\"source\":[", "");
    if (m.status == PL_OK)
        m.status = put_source(&m);
    pl_buf_adds(to, "]}");
    pl_vec_deinit(&m.references);
    return m.status != PL_OK ? m.status : to->status;
}

/* Makes a carry: the source's text, with references to long strings that the target has too. */
#include "carry/carry.h"

#include "base/sort.h"
#include "carry/text.h"
#include "format/gpt_oss/gpt_oss.h"
#include "format/profile.h"
#include "json/text.h"

#include <assert.h>

struct maker {
    struct pl_buf *to;
    struct pl_str source;
    const struct pl_writer *w;
    bool is_text;                                 /* the target is not JSON */
    PL_VEC(struct pl_carry_reference) references; /* owned; in the order of the target */
    enum pl_status status;
};

static void add(struct maker *m, uint32_t off, uint32_t len, uint32_t at)
{
    if (len < PL_LINKS_LONG)
        return;
    struct pl_str bytes = pl_str_slice(m->source, off, (size_t)off + len);
    struct pl_carry_reference reference = {off, len, at, pl_carry_hash(bytes)};
    if (!pl_vec_push(&m->references, reference))
        m->status = PL_NOMEM;
}

/* Whether a string in the usual spelling has half of a surrogate pair. */
static bool has_half(struct pl_str usual)
{
    const char *end = usual.ptr + usual.len;
    for (const char *p = usual.ptr; p < end && (p = memchr(p, '\\', (size_t)(end - p))); p += 2)
        if (p[1] == 'u' && (pl_json_unit(p + 2) & 0xF800) == 0xD800)
            return true;
    return false;
}

/* Whether the string is spelled with the fewest escapes. Otherwise another program would change its
 * spelling when it rewrites the JSON, so the string is kept in the carry. So is half of a surrogate
 * pair: a text target has U+FFFD for it. */
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
    return pl_str_eq(pl_buf_str(&usual), raw) && !(m->is_text && has_half(raw));
}

/* The target has the same spelling of the value, from `at` on. */
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

/* The hash of the target's bytes. The strings of references are hashed already. */
static uint64_t target_hash(const struct maker *m, struct pl_str target)
{
    struct pl_carry_hasher hasher = {.text = target};
    for (size_t i = 0; i < m->references.len; i++) {
        const struct pl_carry_reference *r = &m->references.ptr[i];
        pl_carry_hash_known(&hasher, r->at, r->len, r->hash);
    }
    return pl_carry_hash_end(&hasher);
}

static int by_offset(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_carry_reference *x = a, *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

static enum pl_status put_source(struct maker *m)
{
    size_t n = m->references.len;
    const void **order = pl_arena_alloc(m->w->conv->arena, 2 * n + 1, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = &m->references.ptr[i];
    pl_sort(order, order + n, n, by_offset, NULL);
    pl_carry_put_source(m->to, m->source, m->w->conv->doc,
                        (const struct pl_carry_reference *const *)order, n);
    return m->to->status;
}

static void put_word(struct pl_buf *to, const char *before, const char *word)
{
    pl_buf_adds(to, before);
    pl_buf_adds(to, word);
}

static_assert(PL_CARRY_VERSION == 3, "put_head says the version");

/* Trailing defaults are left out. */
static void put_head(struct pl_buf *to, uint64_t target, const struct pl_format_task *task)
{
    bool has_profile = task->profile != NULL;
    bool has_mode = has_profile || task->mode != PL_MODE_CONVERT;
    put_word(to, "{\"parley_carry\":[3,\"", task->from->name);
    put_word(to, "\",\"", task->to->name);
    put_word(to, "\",\"", "");
    pl_carry_put_hash(to, target);
    if (has_mode || task->kind != PL_KIND_REQUEST)
        put_word(to, "\",\"", task->kind == PL_KIND_RESPONSE ? "response" : "request");
    if (has_mode)
        put_word(to, "\",\"", pl_mode_name(task->mode));
    if (has_profile)
        put_word(to, "\",\"", task->profile->name);
    pl_buf_adds(to, "\"],\"source\":\"");
}

enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              struct pl_str target, const struct pl_format_task *task)
{
    struct maker m = {
        .to = to, .source = source, .w = w, .is_text = task->to == &pl_format_gpt_oss};
    find_references(&m);
    (void)pl_buf_reserve(to, 512);
    put_head(to, target_hash(&m, target), task);
    if (m.status == PL_OK)
        m.status = put_source(&m);
    pl_buf_adds(to, "\"}");
    pl_vec_deinit(&m.references);
    return m.status != PL_OK ? m.status : to->status;
}

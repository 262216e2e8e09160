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
    bool is_text;                          /* the target is not JSON */
    struct pl_carry_reference *references; /* arena; in the order of the target */
    uint32_t n, cap;
    bool is_in_order; /* … that is the order of the source, too */
    enum pl_status status;
};

static bool make_room(struct maker *m)
{
    enum { FEW = 32 };
    uint32_t cap = m->cap ? 2 * m->cap : FEW;
    size_t size = sizeof *m->references;
    struct pl_carry_reference *references =
        pl_arena_grow(m->w->conv->arena, m->references, m->cap * size, cap * size);
    if (!references) {
        m->status = PL_NOMEM;
        return false;
    }
    m->references = references;
    m->cap = cap;
    return true;
}

static inline void add(struct maker *m, uint32_t off, uint32_t len, uint32_t at)
{
    if (len < PL_LINKS_LONG || (m->n == m->cap && !make_room(m)))
        return;
    struct pl_str bytes = {m->source.ptr + off, len};
    m->is_in_order = m->is_in_order && (!m->n || m->references[m->n - 1].off <= off);
    m->references[m->n++] = (struct pl_carry_reference){off, len, at, pl_carry_hash(bytes)};
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
    for (uint32_t i = 0; i < m->n; i++) {
        const struct pl_carry_reference *r = &m->references[i];
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

/* Settings may be elsewhere in the target. */
static enum pl_status sort_references(struct maker *m)
{
    size_t n = m->n;
    struct pl_arena *arena = m->w->conv->arena;
    const void **order = pl_arena_alloc(arena, 2 * n + 1, sizeof *order);
    struct pl_carry_reference *sorted = pl_arena_alloc(arena, n + 1, sizeof *sorted);
    if (!order || !sorted)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = &m->references[i];
    pl_sort(order, order + n, n, by_offset, NULL);
    for (size_t i = 0; i < n; i++)
        sorted[i] = *(const struct pl_carry_reference *)order[i];
    m->references = sorted;
    return PL_OK;
}

static enum pl_status put_source(struct maker *m)
{
    enum pl_status status = m->is_in_order ? PL_OK : sort_references(m);
    if (status != PL_OK)
        return status;
    pl_carry_put_source(m->to, m->source, m->w->conv->doc, m->references, m->n);
    return m->to->status;
}

static inline char *put_text(char *at, const char *text)
{
    size_t n = strlen(text);
    memcpy(at, text, n);
    return at + n;
}

static inline char *put_word(char *at, const char *word)
{
    return put_text(put_text(at, "\",\""), word);
}

static_assert(PL_CARRY_VERSION == 3, "put_head says the version");

/* Trailing defaults are left out. */
static void put_head(struct pl_buf *to, uint64_t target, const struct pl_conversion *conversion)
{
    enum { MOST_HEAD = 512 };
    bool has_profile = conversion->profile != NULL;
    bool has_mode = has_profile || conversion->mode != PL_MODE_CONVERT;
    size_t n_profile = has_profile ? strlen(conversion->profile->name) : 0;
    char *at = pl_buf_reserve(to, MOST_HEAD + n_profile);
    if (!at)
        return;
    at = put_text(put_text(at, "{\"parley_carry\":[3,\""), conversion->from->name);
    at = put_word(at, conversion->to->name);
    at = pl_carry_put_hash(put_word(at, ""), target);
    if (has_mode || conversion->kind != PL_KIND_REQUEST)
        at = put_word(at, conversion->kind == PL_KIND_RESPONSE ? "response" : "request");
    if (has_mode)
        at = put_word(at, pl_mode_name(conversion->mode));
    if (has_profile)
        at = put_word(at, conversion->profile->name);
    at = put_text(at, "\"],\"source\":\"");
    to->len = (size_t)(at - to->ptr);
}

enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              struct pl_str target, const struct pl_conversion *conversion)
{
    struct maker m = {.to = to,
                      .source = source,
                      .w = w,
                      .is_text = conversion->to == &pl_format_gpt_oss,
                      .is_in_order = true};
    find_references(&m);
    put_head(to, target_hash(&m, target), conversion);
    if (m.status == PL_OK)
        m.status = put_source(&m);
    pl_buf_adds(to, "\"}");
    return m.status != PL_OK ? m.status : to->status;
}

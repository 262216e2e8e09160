/* Making a carry: find the value behind each link, find its spelling, write the rest of the text.
 */
#include "format/carry.h"

#include "base/hash.h"
#include "base/sort.h"
#include "format/joint.h"
#include "format/layout.h"
#include "format/quirk.h"
#include "format/spell.h"
#include "json/number.h"
#include "json/text.h"
#include "json/pointer.h"

#include <stdio.h>

/* A piece of the source that the target says. */
struct hole {
    uint32_t off, len;
    uint32_t element;      /* of the target's list, or PL_NO_ELEMENT */
    struct pl_str pointer; /* arena; inside the element, or from the root */
    enum pl_spell spell;
    const struct pl_json_node
        *laid_out; /* value of the target whose layout must be kept, or NULL */
    bool is_part;  /* of the value: the joint says which */
    struct pl_joint joint;
    struct pl_str quirky; /* what stands between the quotes of a string with quirks, or NULL */
};

struct maker {
    struct pl_json_out out;
    struct pl_str source;
    const struct pl_json_doc *target;
    const struct pl_conv *conv;
    PL_VEC(struct hole) holes; /* by offset, none inside another */
    size_t next;               /* hole to be written */
};

const struct pl_json_node *pl_carry_list(const struct pl_json_doc *doc,
                                         const struct pl_format *format)
{
    const struct pl_json_node *list = doc->root;
    if (pl_json_kind(list) == PL_JSON_OBJECT)
        list = pl_json_get(doc, list, pl_str_of(format->list_key));
    return list && pl_json_kind(list) == PL_JSON_ARRAY ? list : NULL;
}

/* The beginning and the end of a long text are enough: a look only tells elements apart, what they
 * say is taken from them. */
enum { ENOUGH = 4096 };

/* The output is never deeper (json/write.h). */
enum { MAX_OPEN = 64 };

static uint64_t hash(const char *bytes, size_t n)
{
    static const struct pl_hash_key key = {{0x7061726C65792063, 0x617272792D6C6F6F}};
    return pl_hash_with(key, (struct pl_str){bytes, n});
}

static uint64_t look_of_text(struct pl_str text)
{
    if (text.len <= 2 * ENOUGH)
        return hash(text.ptr, text.len);
    return hash(text.ptr, ENOUGH) ^ hash(text.ptr + text.len - ENOUGH, ENOUGH) ^ text.len;
}

/* The same of a string with escapes, decoded on the way. */
static uint64_t look_of_escaped(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    __attribute__((uninitialized)) char first[2 * ENOUGH], ring[ENOUGH], last[ENOUGH];
    if (n->len <= sizeof first)
        return hash(first, pl_json_decode(first, pl_json_raw(doc, n)));
    struct pl_json_walk walk = pl_json_walk(doc, n);
    size_t len = 0;
    for (int byte; (byte = pl_json_walk_next(&walk)) >= 0; len++) {
        if (len < sizeof first)
            first[len] = (char)byte;
        ring[len % ENOUGH] = (char)byte;
    }
    if (len <= sizeof first)
        return hash(first, len);
    size_t cut = len % ENOUGH;
    memcpy(last, ring + cut, ENOUGH - cut);
    memcpy(last + ENOUGH - cut, ring, cut);
    return hash(first, ENOUGH) ^ hash(last, ENOUGH) ^ len;
}

static uint64_t look_of_scalar(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    if (pl_json_kind(n) == PL_JSON_NUMBER) {
        double value = pl_json_number_double(pl_json_span(doc, n));
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (pl_json_kind(n) != PL_JSON_STRING)
        return 1;
    return n->tag & PL_JSON_ESCAPED ? look_of_escaped(doc, n) : look_of_text(pl_json_raw(doc, n));
}

uint64_t pl_carry_look(const struct pl_json_doc *doc, const struct pl_json_node *element)
{
    uint64_t look = 0;
    for (const struct pl_json_node *n = element, *end = pl_json_next(element); n < end; n++) {
        uint64_t own = pl_json_is_container(n) ? n->skip : look_of_scalar(doc, n);
        look = (look ^ own ^ (uint64_t)pl_json_kind(n) << 60) * 0x9E3779B97F4A7C15;
        look ^= look >> 29;
    }
    return look;
}

static int by_place(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_link *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static int by_offset(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct hole *x = a, *y = b;
    if (x->off != y->off)
        return x->off < y->off ? -1 : 1;
    return (x->len < y->len) - (x->len > y->len);
}

/* Where in the target the way through it is. Pointers are made only where somebody asks. */
struct place {
    const struct pl_json_node *list;            /* of elements, or NULL */
    const struct pl_json_node *open[MAX_OPEN];  /* containers around, outermost first */
    const struct pl_json_node *child[MAX_OPEN]; /* in each: the child we are in, or its key */
    uint32_t index[MAX_OPEN];                   /* of that child */
    uint32_t depth;
};

/* Steps to the next node, `n`, in document order. */
static void enter(struct place *p, const struct pl_json_node *n)
{
    while (p->depth && n >= pl_json_end(p->open[p->depth - 1]))
        p->depth--;
    if (p->depth &&
        (n->tag & PL_JSON_KEY || pl_json_kind(p->open[p->depth - 1]) == PL_JSON_ARRAY)) {
        p->child[p->depth - 1] = n;
        p->index[p->depth - 1]++;
    }
    if (pl_json_is_container(n) && p->depth < MAX_OPEN) {
        p->open[p->depth] = n;
        p->index[p->depth++] = UINT32_MAX;
    }
}

/* How many of the containers around are those of the list's element, or none: outside the list. */
static uint32_t element_depth(const struct place *p)
{
    for (uint32_t i = 0; i < p->depth; i++)
        if (p->open[i] == p->list)
            return i + 1;
    return 0;
}

/* The pointer of `n`, entered last, from the element at `from` or from the root. */
static void put_pointer(struct pl_buf *to, const struct place *p, const struct pl_json_doc *target,
                        const struct pl_json_node *n, uint32_t from, struct pl_arena *arena)
{
    uint32_t depth = p->depth - (p->depth && p->open[p->depth - 1] == n);
    for (uint32_t i = from; i < depth; i++) {
        struct pl_str key;
        if (pl_json_kind(p->open[i]) == PL_JSON_ARRAY)
            pl_json_pointer_add_index(to, p->index[i]);
        else if (pl_json_text(arena, target, p->child[i], &key) == PL_OK)
            pl_json_pointer_add(to, key);
        else
            to->status = PL_NOMEM;
    }
}

/* Whether the piece is a string of the source with the text of a string of the target. */
static bool says_same(const struct pl_json_doc *source, const struct pl_link *link,
                      const struct pl_json_doc *target, const struct pl_json_node *n)
{
    if (link->len < 2 || source->text.ptr[link->off] != '"')
        return false;
    const struct pl_json_node piece = {
        .off = link->off, .len = link->len, .skip = 1, .tag = PL_JSON_STRING | PL_JSON_ESCAPED};
    return pl_json_text_same(source, &piece, target, n);
}

/* A part of a string of the target; `hole->is_part` stays false when it does not say the piece. */
static enum pl_status find_part(struct maker *m, const struct pl_link *link,
                                const struct pl_json_doc *target, const struct pl_json_node *n,
                                struct pl_str piece, struct hole *hole)
{
    struct pl_arena *arena = m->conv->arena;
    const struct pl_json_node string = {
        .off = link->off, .len = link->len, .skip = 1, .tag = PL_JSON_STRING | PL_JSON_ESCAPED};
    struct pl_str whole, text, part;
    if (pl_json_kind(n) != PL_JSON_STRING)
        return PL_OK;
    enum pl_status status = pl_json_text(arena, target, n, &whole);
    if (status == PL_OK)
        status = pl_json_text(arena, m->conv->doc, &string, &text);
    if (status != PL_OK)
        return status;
    hole->is_part = pl_joint_make(whole, pl_str_of(link->glue), link->n_before, link->n_own,
                                  link->n_next, &hole->joint, &part) &&
                    pl_str_eq(part, text);
    struct pl_str raw = pl_str_slice(piece, 1, piece.len - 1);
    if (!pl_quirk_is_plain(raw))
        hole->quirky = raw;
    return PL_OK;
}

static enum pl_status find_spelling(struct maker *m, const struct pl_link *link,
                                    const struct pl_json_doc *target, const struct pl_json_node *n,
                                    struct pl_buf *scratch, struct hole *hole, bool *ret_is_found)
{
    struct pl_str piece = pl_str_slice(m->source, link->off, (size_t)link->off + link->len);
    if (link->glue) {
        enum pl_status status = find_part(m, link, target, n, piece, hole);
        *ret_is_found = hole->is_part;
        return status;
    }
    *ret_is_found = pl_spell_find(scratch, target, n, piece, &hole->spell);
    if (scratch->status != PL_OK)
        return scratch->status;
    if (pl_json_kind(n) == PL_JSON_STRING && (!*ret_is_found || hole->spell == PL_SPELL_RAW) &&
        says_same(m->conv->doc, link, target, n)) {
        hole->spell = PL_SPELL_TEXT;
        hole->quirky = pl_str_slice(piece, 1, piece.len - 1);
        *ret_is_found = true;
    }
    return PL_OK;
}

static enum pl_status add_hole(struct maker *m, const struct pl_link *link,
                               const struct pl_json_doc *target, const struct pl_json_node *n,
                               const struct place *place, struct pl_buf *scratch)
{
    struct hole hole = {.off = link->off, .len = link->len, .element = PL_NO_ELEMENT};
    bool is_found;
    enum pl_status status = find_spelling(m, link, target, n, scratch, &hole, &is_found);
    if (status != PL_OK || !is_found)
        return status;
    uint32_t from = element_depth(place);
    if (from)
        hole.element = place->index[from - 1];
    pl_buf_clear(scratch);
    put_pointer(scratch, place, target, n, from, m->conv->arena);
    if (scratch->status != PL_OK)
        return scratch->status;
    bool is_json = hole.spell == PL_SPELL_RAW || hole.spell >= PL_SPELL_JSON;
    if (is_json && pl_json_kind(n) != PL_JSON_STRING && pl_layout_is_needed(target, n))
        hole.laid_out = n;
    hole.pointer = pl_arena_dup(m->conv->arena, pl_buf_str(scratch));
    return (hole.pointer.ptr || !scratch->len) && pl_vec_push(&m->holes, hole) ? PL_OK : PL_NOMEM;
}

/* Walks the target once, meeting the links in order. */
static enum pl_status find_holes(struct maker *m, const struct pl_writer *w,
                                 const struct pl_json_doc *target,
                                 const struct pl_format_task *task)
{
    size_t n = w->links.len, i = 0;
    PL_CLEANUP_FREE const void **order = pl_mem_alloc(n ? 2 * n : 1, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t k = 0; k < n; k++)
        order[k] = &w->links.ptr[k];
    pl_sort(order, order + n, n, by_place, NULL);
    struct place place = {.list = pl_carry_list(target, task->to)};
    PL_CLEANUP_BUF struct pl_buf scratch;
    pl_buf_init(&scratch, 0);
    const struct pl_json_node *at = target->root, *end = at + target->n_nodes;
    for (; i < n && at < end; at++) {
        enter(&place, at);
        while (i < n && ((const struct pl_link *)order[i])->at < at->off)
            i++;
        for (; i < n && ((const struct pl_link *)order[i])->at == at->off; i++) {
            enum pl_status status = add_hole(m, order[i], target, at, &place, &scratch);
            if (status != PL_OK)
                return status;
        }
    }
    return PL_OK;
}

/* By offset; a hole that begins inside another is said by that one already. */
static enum pl_status order_holes(struct maker *m)
{
    size_t n = m->holes.len, kept = 0;
    PL_CLEANUP_FREE const void **order = pl_mem_alloc(n ? 2 * n : 1, sizeof *order);
    PL_CLEANUP_FREE struct hole *sorted = pl_mem_alloc(n ? n : 1, sizeof *sorted);
    if (!order || !sorted)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = &m->holes.ptr[i];
    pl_sort(order, order + n, n, by_offset, NULL);
    for (size_t i = 0; i < n; i++)
        sorted[i] = *(const struct hole *)order[i];
    uint32_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (sorted[i].off < end)
            continue;
        m->holes.ptr[kept++] = sorted[i];
        end = sorted[i].off + sorted[i].len;
    }
    m->holes.len = kept;
    return PL_OK;
}

static void write_look(struct pl_json_out *out, uint64_t look)
{
    char hex[17];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)look);
    pl_json_out_text(out, pl_str_of(hex));
}

static void write_hole(struct maker *m, const struct hole *hole)
{
    pl_json_out_open(&m->out, '[');
    pl_json_out_int(&m->out, hole->element == PL_NO_ELEMENT ? -1 : (int64_t)hole->element);
    pl_json_out_text(&m->out, hole->pointer);
    pl_json_out_text(&m->out, pl_str_of(hole->is_part ? "g" : pl_spell_name(hole->spell)));
    if (hole->is_part)
        pl_joint_write(&m->out, &hole->joint);
    if (hole->laid_out) {
        write_look(&m->out, pl_carry_look(m->target, hole->laid_out));
        pl_layout_write(&m->out, m->target, hole->laid_out);
    } else if (hole->quirky.ptr) {
        pl_quirk_write(&m->out, hole->quirky);
    }
    pl_json_out_close(&m->out, ']');
}

/* The source from `from` to `to` as a list of pieces. */
static void write_pieces(struct maker *m, uint32_t from, uint32_t to)
{
    pl_json_out_open(&m->out, '[');
    while (from < to) {
        const struct hole *hole = m->next < m->holes.len ? &m->holes.ptr[m->next] : NULL;
        uint32_t stop = hole && hole->off < to ? hole->off : to;
        if (stop > from)
            pl_json_out_text(&m->out, pl_str_slice(m->source, from, stop));
        from = stop;
        if (stop < to) {
            write_hole(m, hole);
            from = hole->off + hole->len;
            m->next++;
        }
    }
    pl_json_out_close(&m->out, ']');
}

static void write_items(struct maker *m, const struct pl_json_node *list)
{
    pl_json_out_key(&m->out, "items");
    pl_json_out_open(&m->out, '[');
    for (const struct pl_json_node *e = pl_json_first(list), *end = pl_json_end(list); e < end;
         e = pl_json_next(e)) {
        const struct pl_json_node *after = pl_json_next(e);
        pl_json_out_open(&m->out, '{');
        pl_json_out_key(&m->out, "text");
        write_pieces(m, e->off, e->off + e->len);
        if (after < end) {
            pl_json_out_key(&m->out, "gap");
            pl_json_out_text(&m->out, pl_str_slice(m->source, e->off + e->len, after->off));
        }
        pl_json_out_close(&m->out, '}');
    }
    pl_json_out_close(&m->out, ']');
}

static void write_looks(struct maker *m, const struct pl_json_doc *target,
                        const struct pl_format_task *task)
{
    const struct pl_json_node *list = pl_carry_list(target, task->to);
    pl_json_out_key(&m->out, "elements");
    pl_json_out_open(&m->out, '[');
    for (const struct pl_json_node *e = list ? pl_json_first(list) : NULL;
         list && e < pl_json_end(list); e = pl_json_next(e))
        write_look(&m->out, pl_carry_look(target, e));
    pl_json_out_close(&m->out, ']');
}

static void write_all(struct maker *m, const struct pl_json_doc *target,
                      const struct pl_format_task *task)
{
    const struct pl_json_node *list = m->conv->list;
    bool has_items = list && list->skip > 1;
    uint32_t end = (uint32_t)m->source.len, list_end = end;
    pl_json_out_open(&m->out, '{');
    pl_json_out_key(&m->out, "parley_carry");
    pl_json_out_int(&m->out, 1);
    pl_json_out_key(&m->out, "from");
    pl_json_out_text(&m->out, pl_str_of(task->from->name));
    pl_json_out_key(&m->out, "to");
    pl_json_out_text(&m->out, pl_str_of(task->to->name));
    write_looks(m, target, task);
    pl_json_out_key(&m->out, "head");
    write_pieces(m, 0, has_items ? pl_json_first(list)->off : end);
    if (has_items) {
        for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
             e = pl_json_next(e))
            list_end = e->off + e->len;
        write_items(m, list);
        pl_json_out_key(&m->out, "tail");
        write_pieces(m, list_end, end);
    }
    pl_json_out_close(&m->out, '}');
}

enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              const struct pl_json_doc *target, const struct pl_format_task *task)
{
    struct maker m = {.out = pl_json_out(to), .source = source, .target = target, .conv = w->conv};
    enum pl_status status = find_holes(&m, w, target, task);
    if (status == PL_OK)
        status = order_holes(&m);
    if (status == PL_OK) {
        write_all(&m, target, task);
        status = to->status;
    }
    pl_vec_deinit(&m.holes);
    return status;
}

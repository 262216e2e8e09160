/* Making a carry: find the value behind each link, find its spelling, write the rest of the text.
 */
#include "format/carry.h"

#include "base/hash.h"
#include "base/sort.h"
#include "format/layout.h"
#include "format/quirk.h"
#include "format/spell.h"
#include "json/number.h"
#include "json/text.h"
#include "json/tour.h"

#include <stdio.h>

/* A piece of the source that the target says. */
struct hole {
    uint32_t off, len;
    uint32_t element;      /* of the target's list, or PL_NO_ELEMENT */
    struct pl_str pointer; /* arena; inside the element, or from the root */
    enum pl_spell spell;
    const struct pl_json_node
        *laid_out;        /* value of the target whose layout must be kept, or NULL */
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

/* Where in the target a tour is. */
struct place {
    const struct pl_json_node *list, *element_end;
    uint32_t element;  /* number of the element the tour is in */
    size_t prefix_len; /* of the element's pointer */
};

static void follow(struct place *place, const struct pl_json_tour *tour,
                   const struct pl_json_node *n)
{
    if (!place->list || n <= place->list || n >= pl_json_end(place->list)) {
        place->element_end = NULL;
        return;
    }
    if (place->element_end && n < place->element_end)
        return;
    place->element = place->element_end ? place->element + 1 : 0;
    place->element_end = pl_json_next(n);
    place->prefix_len = tour->path.len;
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

static enum pl_status add_hole(struct maker *m, const struct pl_link *link,
                               const struct pl_json_doc *target, const struct pl_json_node *n,
                               const struct place *place, struct pl_str path,
                               struct pl_buf *scratch)
{
    struct hole hole = {.off = link->off, .len = link->len, .element = PL_NO_ELEMENT};
    struct pl_str piece = pl_str_slice(m->source, link->off, (size_t)link->off + link->len);
    bool is_found = pl_spell_find(scratch, target, n, piece, &hole.spell);
    if (scratch->status != PL_OK)
        return scratch->status;
    if (pl_json_kind(n) == PL_JSON_STRING && (!is_found || hole.spell == PL_SPELL_RAW) &&
        says_same(m->conv->doc, link, target, n)) {
        hole.spell = PL_SPELL_TEXT;
        hole.quirky = pl_str_slice(piece, 1, piece.len - 1);
        is_found = true;
    }
    if (!is_found)
        return PL_OK;
    if (place->element_end) {
        hole.element = place->element;
        path = pl_str_slice(path, place->prefix_len, path.len);
    }
    bool is_json = hole.spell == PL_SPELL_RAW || hole.spell >= PL_SPELL_JSON;
    if (is_json && pl_json_kind(n) != PL_JSON_STRING && pl_layout_is_needed(target, n))
        hole.laid_out = n;
    hole.pointer = pl_arena_dup(m->conv->arena, path);
    return hole.pointer.ptr && pl_vec_push(&m->holes, hole) ? PL_OK : PL_NOMEM;
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
    __attribute__((cleanup(pl_json_tour_deinit))) struct pl_json_tour tour;
    pl_json_tour_init(&tour, target);
    for (const struct pl_json_node *at; i < n && (at = pl_json_tour_next(&tour));) {
        follow(&place, &tour, at);
        while (i < n && ((const struct pl_link *)order[i])->at < at->off)
            i++;
        for (; i < n && ((const struct pl_link *)order[i])->at == at->off; i++) {
            enum pl_status status =
                add_hole(m, order[i], target, at, &place, pl_buf_str(&tour.path), &scratch);
            if (status != PL_OK)
                return status;
        }
    }
    return tour.path.status;
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
    pl_json_out_text(&m->out, pl_str_of(pl_spell_name(hole->spell)));
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

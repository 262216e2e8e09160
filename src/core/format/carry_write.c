/* Making a carry: the source's text, with a hole for each link that has a way back.
 *
 * The writer knew where each piece went and how; what is left to find out is whether the source
 * spelled it in a way of its own. */
#include "format/carry.h"

#include "base/decimal.h"
#include "format/joint.h"
#include "format/layout.h"
#include "format/quirk.h"
#include "format/spell.h"
#include "json/text.h"

/* Room to begin with: enough for what is short, not too much for an image of megabytes. */
enum { LEAST = 1024, MOST_AT_ONCE = 64 << 10 };

/* A piece of the source that the target says. */
struct hole {
    const struct pl_link *link; /* borrowed */
    enum pl_spell spell;
    bool is_part; /* of the value: the joint says which */
    struct pl_joint joint;
    const struct pl_json_doc *layout_doc; /* of the value whose layout must be kept, or NULL */
    const struct pl_json_node *laid_out;  /* that value */
    struct pl_str quirky; /* what stands between the quotes of a string with quirks, or NULL */
};

/* A piece of the source that was quoted, and what that made of it. A copy of its own: what was
 * written a moment ago is slow to read. */
enum { QUOTED_BITS = 6, QUOTED_BYTES = 96 };
struct quoted {
    uint64_t first, last; /* its first eight bytes, or all of them; its last eight, or none */
    uint32_t from, len;   /* len 0: none */
    uint32_t n_bytes;
    char text[QUOTED_BYTES];
};

/* The end of the way to a hole, as it was written before. */
enum { WAY_BITS = 6, WAY_BYTES = 48, NAME_BYTES = 8, HEAD_BYTES = 16 };
struct way {
    const char *container; /* of the link, and what its step is: key or index */
    uintptr_t name;
    uint32_t key_len;
    int spell;        /* -1: a part */
    uint32_t n_bytes; /* 0: none */
    char text[WAY_BYTES];
};

struct maker {
    struct pl_buf *to;
    struct pl_str source;
    const struct pl_writer *w;
    const struct pl_conv *conv;
    const struct pl_link **links; /* arena; by offset, what is inside another behind that */
    size_t n_links, next_link;
    struct hole hole;      /* to be written next */
    bool has_hole;         /* there is one */
    uint32_t end;          /* of the last hole */
    struct quoted *quoted; /* arena; by content; NULL: there is too little to repeat any */
    struct way *ways;      /* arena; by container and step; the same */
    struct pl_buf scratch; /* owned */
    enum pl_status status;
    uint32_t head_of, head_len; /* the element of the head; 0: there is none yet */
    char head[HEAD_BYTES];
};

const struct pl_json_node *pl_carry_list(const struct pl_json_doc *doc,
                                         const struct pl_format *format)
{
    const struct pl_json_node *list = doc->root;
    if (pl_json_kind(list) == PL_JSON_OBJECT)
        list = pl_json_get(doc, list, pl_str_of(format->list_key));
    return list && pl_json_kind(list) == PL_JSON_ARRAY ? list : NULL;
}

/* ---- the links in the order of the source ---- */

static bool is_before(const struct pl_link *a, const struct pl_link *b)
{
    return a->off != b->off ? a->off < b->off : a->len >= b->len;
}

/* Where the run that begins at `from` ends. */
static size_t run_end(const struct pl_link **links, size_t from, size_t n)
{
    size_t end = from + 1;
    while (end < n && is_before(links[end - 1], links[end]))
        end++;
    return end < n ? end : n;
}

static void merge(const struct pl_link **to, const struct pl_link **a, size_t n_a,
                  const struct pl_link **b, size_t n_b)
{
    while (n_a && n_b) {
        bool is_a = is_before(*a, *b);
        *to++ = is_a ? *a++ : *b++;
        n_a -= is_a;
        n_b -= !is_a;
    }
    memcpy(to, n_a ? a : b, (n_a + n_b) * sizeof *to);
}

/* A writer follows its source most of the way, so there are few runs: those are merged in pairs
 * until one is left. */
static enum pl_status order_links(struct maker *m)
{
    size_t n = m->n_links = m->w->links.len, n_runs;
    const struct pl_link **from = pl_arena_alloc(m->conv->arena, n + 1, sizeof *from);
    const struct pl_link **to = pl_arena_alloc(m->conv->arena, n + 1, sizeof *to);
    if (!from || !to)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        from[i] = &m->w->links.ptr[i];
    do {
        n_runs = 0;
        for (size_t at = 0; at < n; n_runs++) {
            size_t middle = run_end(from, at, n), end = middle < n ? run_end(from, middle, n) : n;
            if (at == 0 && middle == n)
                break;
            merge(to + at, from + at, middle - at, from + middle, end - middle);
            at = end;
        }
        if (n_runs) {
            const struct pl_link **swap = from;
            from = to;
            to = swap;
        }
    } while (n_runs > 1);
    m->links = from;
    return PL_OK;
}

/* ---- spellings ---- */

static bool is_plain(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    return !(string->tag & PL_JSON_ODD) || pl_quirk_is_plain(pl_json_raw(doc, string));
}

static void keep_layout(struct hole *hole, const struct pl_json_doc *doc,
                        const struct pl_json_node *value)
{
    if (pl_json_kind(value) == PL_JSON_STRING || !pl_layout_is_needed(doc, value))
        return;
    hole->layout_doc = doc;
    hole->laid_out = value;
}

/* The value is the piece: a string that others would spell otherwise has its quirks kept. */
static bool spell_copy(struct maker *m, const struct pl_link *link, struct hole *hole)
{
    const struct pl_json_doc *doc = m->conv->doc;
    if (pl_json_kind(link->node) != PL_JSON_STRING) {
        hole->spell = PL_SPELL_RAW;
        keep_layout(hole, doc, link->node);
        return true;
    }
    hole->spell = PL_SPELL_TEXT;
    if (is_plain(doc, link->node))
        return true;
    struct pl_str piece = pl_json_span(doc, link->node);
    bool is_found = pl_spell_find(&m->scratch, doc, link->node, piece, &hole->spell);
    if (is_found && hole->spell == PL_SPELL_RAW) {
        hole->spell = PL_SPELL_TEXT;
        hole->quirky = pl_json_raw(doc, link->node);
    }
    m->status = m->scratch.status;
    return is_found;
}

/* The value is the text of the piece, which is a string. */
static bool spell_json(struct maker *m, const struct pl_link *link, struct hole *hole)
{
    struct pl_str piece = pl_json_span(m->conv->doc, link->node);
    hole->spell = PL_SPELL_JSON;
    keep_layout(hole, link->json, link->json->root);
    if (!link->is_whole)
        return false;
    if (is_plain(m->conv->doc, link->node))
        return true;
    for (int spell = PL_SPELL_JSON_ASCII; spell <= PL_SPELL_JSON_SLASH; spell++) {
        pl_buf_clear(&m->scratch);
        pl_spell_put_text(&m->scratch, link->json->text, (enum pl_spell)spell);
        hole->spell = (enum pl_spell)spell;
        if (m->scratch.status == PL_OK && pl_str_eq(pl_buf_str(&m->scratch), piece))
            return true;
    }
    m->status = m->scratch.status;
    return false;
}

static bool spell_part(struct maker *m, const struct pl_link *link, struct hole *hole)
{
    const struct pl_link_part *part = link->part;
    struct pl_str said;
    hole->is_part = part->joined && pl_joint_make(part->joined, part->n_before, part->n_own,
                                                  part->n_next, &hole->joint, &said);
    if (!is_plain(m->conv->doc, link->node))
        hole->quirky = pl_json_raw(m->conv->doc, link->node);
    return hole->is_part;
}

/* False when the link has no way back: then the piece stays in the text. */
static bool spell_link(struct maker *m, const struct pl_link *link, struct hole *hole)
{
    /* A text with comments was read as a copy without them. */
    if (m->source.ptr != m->conv->doc->text.ptr &&
        memcmp(m->source.ptr + link->off, m->conv->doc->text.ptr + link->off, link->len) != 0)
        return false;
    switch ((enum pl_link_how)link->how) {
    case PL_LINK_COPY:
        return spell_copy(m, link, hole);
    case PL_LINK_SPELT:
        hole->spell = (enum pl_spell)link->spell;
        return true;
    case PL_LINK_JSON:
        return spell_json(m, link, hole);
    case PL_LINK_PART:
        return spell_part(m, link, hole);
    default:
        return false;
    }
}

/* The next hole; one that begins inside another is said by that one already. */
static void find_hole(struct maker *m)
{
    m->has_hole = false;
    while (!m->has_hole && m->next_link < m->n_links && m->status == PL_OK) {
        const struct pl_link *link = m->links[m->next_link++];
        if (link->off < m->end)
            continue;
        m->hole.link = link;
        m->hole.is_part = false;
        m->hole.laid_out = NULL;
        m->hole.quirky = (struct pl_str){0};
        m->has_hole = spell_link(m, link, &m->hole);
        if (m->has_hole)
            m->end = link->off + link->len;
    }
}

/* ---- the text ---- */

/* The lower 32 bits as eight digits: each half byte goes into a byte of its own, all at once. */
static inline void put_hex8(char *to, uint64_t bits)
{
    const uint64_t ones = 0x0101010101010101;
    bits = (bits << 16 | bits) & 0x0000FFFF0000FFFF;
    bits = (bits << 8 | bits) & 0x00FF00FF00FF00FF;
    bits = (bits << 4 | bits) & 0x0F0F0F0F0F0F0F0F;
    uint64_t is_letter = (bits + 6 * ones) >> 4 & ones;
    bits += '0' * ones + is_letter * ('a' - '0' - 10);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        bits = __builtin_bswap64(bits);
    memcpy(to, &bits, 8);
}

enum { LOOK_BYTES = 18 };

static inline void put_look(char to[LOOK_BYTES], uint64_t look)
{
    to[0] = to[LOOK_BYTES - 1] = '"';
    put_hex8(to + 1, look >> 32);
    put_hex8(to + 9, look & UINT32_MAX);
}

static void write_look(struct pl_buf *to, uint64_t look)
{
    char *at = pl_buf_reserve(to, LOOK_BYTES);
    if (!at)
        return;
    put_look(at, look);
    to->len += LOOK_BYTES;
}

/* Pointer and spelling: /content","t" with the quote behind it. Returns where it ends. */
static inline char *put_way(char *at, const struct hole *hole)
{
    const struct pl_link *link = hole->link;
    struct pl_str name = hole->is_part ? PL_STR("g") : pl_spell_name(hole->spell);
    if (!link->is_root) {
        pl_bytes_copy(at, link->container, link->container_len);
        at += link->container_len;
        *at++ = '/';
        if (link->key)
            pl_bytes_copy(at, link->key, link->key_len);
        at += link->key ? link->key_len : pl_decimal_put(at, link->index);
    }
    memcpy(at, "\",\"", 3);
    /* A name has one letter or two. */
    at[3] = name.ptr[0];
    at[4] = name.ptr[name.len - 1];
    at += 3 + name.len;
    *at++ = '"';
    return at;
}

static size_t way_bytes(const struct pl_link *link)
{
    return (size_t)link->container_len + (link->key ? link->key_len : PL_DECIMAL_MOST) + NAME_BYTES;
}

/* The way of a hole, made now or before: elements look like each other. NULL when it is long. */
static inline const struct way *find_way(struct maker *m, const struct hole *hole)
{
    const struct pl_link *link = hole->link;
    if (link->is_root || !m->ways)
        return NULL;
    int spell = hole->is_part ? -1 : (int)hole->spell;
    uintptr_t name = link->key ? (uintptr_t)link->key : link->index;
    uint64_t place = ((uintptr_t)link->container + 3 * name) * 0x9E3779B97F4A7C15;
    struct way *way = &m->ways[place >> (64 - WAY_BITS)];
    if (way->n_bytes && way->container == link->container && way->name == name &&
        way->key_len == link->key_len && way->spell == spell)
        return way;
    if (way_bytes(link) > WAY_BYTES)
        return NULL;
    way->container = link->container;
    way->name = name;
    way->key_len = link->key_len;
    way->spell = spell;
    way->n_bytes = (uint32_t)(put_way(way->text, hole) - way->text);
    return way;
}

/* The element and what stands around it: [0," */
static inline void put_head(struct maker *m, uint32_t element)
{
    char *at = m->head;
    *at++ = '[';
    if (element == PL_NO_ELEMENT) {
        memcpy(at, "-1", 2);
        at += 2;
    } else {
        at += pl_decimal_put(at, element);
    }
    memcpy(at, ",\"", 2);
    m->head_len = (uint32_t)(at + 2 - m->head);
    m->head_of = element;
}

/* Element, pointer and spelling: [0,"/content","t" without the closing bracket. Short ones are
 * copied whole with what stands behind them, which costs less than to ask how long they are. */
static inline void write_way(struct maker *m, char before)
{
    const struct hole *hole = &m->hole;
    const struct way *way = find_way(m, hole);
    size_t most = 1 + HEAD_BYTES + (way ? WAY_BYTES : way_bytes(hole->link));
    char *at = pl_buf_reserve(m->to, most);
    if (!at)
        return;
    if (!m->head_len || m->head_of != hole->link->element)
        put_head(m, hole->link->element);
    *at = before;
    memcpy(at + 1, m->head, HEAD_BYTES);
    at += 1 + m->head_len;
    if (way)
        memcpy(at, way->text, WAY_BYTES);
    at = way ? at + way->n_bytes : put_way(at, hole);
    m->to->len = (size_t)(at - m->to->ptr);
}

static void write_more(struct pl_buf *to, const struct hole *hole)
{
    struct pl_json_out more = pl_json_out(to);
    pl_buf_addc(to, ',');
    if (hole->is_part) {
        pl_joint_write(&more, &hole->joint);
        if (hole->quirky.ptr)
            pl_buf_addc(to, ',');
    }
    if (hole->laid_out) {
        write_look(to, pl_look_shape(hole->layout_doc, hole->laid_out));
        pl_buf_addc(to, ',');
        pl_layout_write(to, hole->layout_doc, hole->laid_out);
    } else if (hole->quirky.ptr) {
        pl_quirk_write(&more, hole->quirky);
    }
}

static inline void write_hole(struct maker *m, char before)
{
    const struct hole *hole = &m->hole;
    write_way(m, before);
    if (hole->is_part || hole->laid_out || hole->quirky.ptr)
        write_more(m->to, hole);
    pl_buf_addc(m->to, ']');
}

/* Whether the piece is `known`: its ends are compared already. */
static inline bool is_again(const struct maker *m, const struct quoted *known, const char *text)
{
    enum { ENDS = 16 };
    return known->len <= ENDS ||
           memcmp(m->source.ptr + known->from + 8, text + 8, known->len - ENDS) == 0;
}

/* A piece of the source as a string. Messages have the same words around their texts, so most were
 * quoted before: then what was written there is copied. */
static inline __attribute__((always_inline)) void write_text(struct maker *m, char before,
                                                             uint32_t from, uint32_t end)
{
    enum { MOST_BYTES = 256 };
    uint32_t len = end - from;
    if (!m->quoted || !len || len > MOST_BYTES || m->source.len - from < 8) {
        pl_json_quote_slice(m->to, before, m->source, from, end);
        return;
    }
    const char *text = m->source.ptr + from;
    uint64_t first, last = 0;
    memcpy(&first, text, 8);
    if (len >= 8)
        memcpy(&last, text + len - 8, 8);
    else if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        first &= ((uint64_t)1 << 8 * len) - 1;
    else
        first >>= 64 - 8 * len;
    struct quoted *known =
        &m->quoted[(first * 3 ^ last ^ len) * 0x9E3779B97F4A7C15 >> (64 - QUOTED_BITS)];
    size_t start = m->to->len;
    if (known->len == len && known->first == first && known->last == last &&
        is_again(m, known, text)) {
        char *to = pl_buf_reserve(m->to, QUOTED_BYTES);
        if (!to)
            return;
        memcpy(to, known->text, QUOTED_BYTES);
        *to = before;
        m->to->len += known->n_bytes;
        return;
    }
    pl_json_quote_slice(m->to, before, m->source, from, end);
    size_t n_bytes = m->to->len - start;
    if (m->to->status != PL_OK || n_bytes > QUOTED_BYTES)
        return;
    known->first = first;
    known->last = last;
    known->from = from;
    known->len = len;
    known->n_bytes = (uint32_t)n_bytes;
    memcpy(known->text, m->to->ptr + start, n_bytes);
}

/* The source from `from` to `to` as a list of pieces, without its closing bracket. */
static void write_pieces(struct maker *m, uint32_t from, uint32_t to)
{
    char before = '[';
    if (from >= to)
        pl_buf_addc(m->to, before);
    while (from < to) {
        const struct pl_link *link = m->has_hole ? m->hole.link : NULL;
        uint32_t stop = link && link->off < to ? link->off : to;
        if (stop > from) {
            write_text(m, before, from, stop);
            before = ',';
        }
        from = stop;
        if (stop < to) {
            write_hole(m, before);
            before = ',';
            from = link->off + link->len;
            find_hole(m);
        }
    }
}

/* The elements of the list, up to the last; returns where that ends. */
static uint32_t write_items(struct maker *m, const struct pl_json_node *list)
{
    const struct pl_json_node *e = pl_json_first(list), *end = pl_json_end(list);
    pl_buf_add(m->to, PL_STR("],\"items\":[{\"text\":"));
    for (;;) {
        uint32_t e_end = e->off + e->len;
        write_pieces(m, e->off, e_end);
        e = pl_json_next(e);
        if (e >= end)
            return e_end;
        pl_buf_add(m->to, PL_STR("],\"gap\""));
        write_text(m, ':', e_end, e->off);
        pl_buf_add(m->to, PL_STR("},{\"text\":"));
    }
}

static void write_looks(struct maker *m)
{
    size_t n = m->w->looks.len;
    char *at = pl_buf_reserve(m->to, n * (LOOK_BYTES + 1) + 2);
    if (!at)
        return;
    *at++ = '[';
    for (size_t i = 0; i < n; i++) {
        put_look(at, m->w->looks.ptr[i]);
        at[LOOK_BYTES] = ',';
        at += LOOK_BYTES + 1;
    }
    at -= n > 0;
    *at++ = ']';
    m->to->len = (size_t)(at - m->to->ptr);
}

static void write_all(struct maker *m, const struct pl_format_task *task)
{
    const struct pl_json_node *list = m->conv->list;
    bool has_items = list && list->skip > 1;
    uint32_t end = (uint32_t)m->source.len;
    pl_buf_add(m->to, PL_STR("{\"parley_carry\":1,\"from\":\""));
    pl_buf_adds(m->to, task->from->name);
    pl_buf_add(m->to, PL_STR("\",\"to\":\""));
    pl_buf_adds(m->to, task->to->name);
    pl_buf_add(m->to, PL_STR("\",\"elements\":"));
    write_looks(m);
    pl_buf_add(m->to, PL_STR(",\"head\":"));
    write_pieces(m, 0, has_items ? pl_json_first(list)->off : end);
    if (has_items) {
        uint32_t list_end = write_items(m, list);
        pl_buf_add(m->to, PL_STR("]}],\"tail\":"));
        write_pieces(m, list_end, end);
    }
    pl_buf_add(m->to, PL_STR("]}"));
}

/* Where there is much to quote, some of it comes again. */
static enum pl_status remember_quoted(struct maker *m)
{
    enum { MANY = 64 };
    if (m->n_links < MANY)
        return PL_OK;
    m->quoted = pl_arena_alloc(m->conv->arena, 1 << QUOTED_BITS, sizeof *m->quoted);
    m->ways = pl_arena_alloc(m->conv->arena, 1 << WAY_BITS, sizeof *m->ways);
    if (!m->quoted || !m->ways)
        return PL_NOMEM;
    for (int i = 0; i < 1 << QUOTED_BITS; i++)
        m->quoted[i].len = 0;
    for (int i = 0; i < 1 << WAY_BITS; i++)
        m->ways[i].n_bytes = 0;
    return PL_OK;
}

enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              const struct pl_format_task *task)
{
    /* Field by field: the rest is set before it is read. */
    __attribute__((uninitialized)) struct maker m;
    m.to = to;
    m.source = source;
    m.w = w;
    m.conv = w->conv;
    m.next_link = 0;
    m.has_hole = false;
    m.end = 0;
    m.quoted = NULL;
    m.ways = NULL;
    m.head_len = 0;
    memset(m.head, 0, sizeof m.head);
    pl_buf_init(&m.scratch, 0);
    /* Texts are said by the target, so what is carried of a long source is little of it. */
    (void)pl_buf_reserve(to, source.len < MOST_AT_ONCE ? source.len + LEAST : MOST_AT_ONCE);
    m.status = order_links(&m);
    if (m.status == PL_OK)
        m.status = remember_quoted(&m);
    if (m.status == PL_OK) {
        find_hole(&m);
        write_all(&m, task);
    }
    pl_buf_deinit(&m.scratch);
    return m.status != PL_OK ? m.status : to->status;
}

/* The way home: the source's text from the carry, its holes filled from the target as it is now.
 * The carry has been checked (carry_check.c): here its pieces have the form they must have. */
#include "format/carry_int.h"

#include "base/map.h"
#include "format/align.h"
#include "format/gpt_oss.h"
#include "format/joint.h"
#include "format/layout.h"
#include "format/quirk.h"
#include "format/source.h"
#include "format/spell.h"
#include "json/edit.h"
#include "json/number.h"
#include "json/reach.h"
#include "json/text.h"

#include <assert.h>

struct home {
    struct pl_buf *to;
    struct pl_arena *arena;
    const struct pl_json_doc *carry, *target;
    const struct pl_format_task *task;
    const struct pl_json_node *list; /* of the target; may be NULL */
    uint32_t n_old, n_new;           /* elements then and now */
    uint32_t *places;                /* arena; of each element then, its place now */
    const struct pl_json_node **now; /* arena; the elements now */
    bool *is_known;                  /* arena; which of them were there then */
    uint32_t next_new;               /* elements before it are written */
    bool has_items;                  /* something stands before the next item */
    struct pl_str gap;               /* between items, as the source had it */
    struct pl_json_reach reach;      /* owned; of the target */
    struct pl_map joined;            /* owned; place of a string of the target -> its parts */
    struct pl_error *err;            /* borrowed; may be NULL */
    size_t n_around;                 /* bytes around new elements that were read with them */
};

static const struct pl_json_node *member(const struct pl_json_doc *doc, const char *key,
                                         enum pl_json_kind kind)
{
    const struct pl_json_node *n = pl_json_get(doc, doc->root, pl_str_of(key));
    return n && pl_json_kind(n) == kind ? n : NULL;
}

static enum pl_status check_formats(const struct home *h, struct pl_error *err)
{
    const struct pl_json_node *from = member(h->carry, "from", PL_JSON_STRING);
    const struct pl_json_node *to = member(h->carry, "to", PL_JSON_STRING);
    assert(from && to);
    if (pl_json_text_is(h->carry, from, pl_str_of(h->task->to->name)) &&
        pl_json_text_is(h->carry, to, pl_str_of(h->task->from->name)))
        return PL_OK;
    return pl_fail(err, PL_INVALID, "this carry leads from %.*s back to %.*s, not from %s to %s",
                   PL_STR_ARG(pl_json_raw(h->carry, to)), PL_STR_ARG(pl_json_raw(h->carry, from)),
                   h->task->from->name, h->task->to->name);
}

static uint64_t look_of(const struct home *h, const struct pl_json_node *hex)
{
    struct pl_str digits = pl_json_span(h->carry, hex);
    uint64_t look = 0;
    for (size_t i = 1; i + 1 < digits.len; i++) {
        char c = digits.ptr[i];
        look = look << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return look;
}

static enum pl_status align_elements(struct home *h)
{
    const struct pl_json_node *looks = member(h->carry, "elements", PL_JSON_ARRAY);
    h->n_old = looks ? pl_json_count(looks) : 0;
    h->n_new = h->list ? pl_json_count(h->list) : 0;
    uint64_t *old_looks = pl_arena_alloc(h->arena, h->n_old + 1, sizeof *old_looks);
    uint64_t *new_looks = pl_arena_alloc(h->arena, h->n_new + 1, sizeof *new_looks);
    h->places = pl_arena_alloc(h->arena, h->n_old + 1, sizeof *h->places);
    h->now = pl_arena_alloc(h->arena, h->n_new + 1, sizeof *h->now);
    h->is_known = pl_arena_zalloc(h->arena, h->n_new + 1, sizeof *h->is_known);
    if (!old_looks || !new_looks || !h->places || !h->now || !h->is_known)
        return PL_NOMEM;
    const struct pl_json_node *e = looks ? pl_json_first(looks) : NULL;
    for (uint32_t i = 0; i < h->n_old; i++, e = pl_json_next(e))
        old_looks[i] = look_of(h, e);
    e = h->list ? pl_json_first(h->list) : NULL;
    for (uint32_t i = 0; i < h->n_new; i++, e = pl_json_next(e)) {
        h->now[i] = e;
        new_looks[i] = pl_look_add_value(0, h->target, e);
    }
    enum pl_status status = pl_align(old_looks, h->n_old, new_looks, h->n_new, h->places);
    for (uint32_t i = 0; status == PL_OK && i < h->n_old; i++)
        if (h->places[i] != PL_ALIGN_GONE)
            h->is_known[h->places[i]] = true;
    return status;
}

/* The element of the target a piece refers to: its number then, or PL_NO_ELEMENT. */
static uint32_t element_of(const struct home *h, const struct pl_json_node *hole)
{
    int64_t number = -1;
    if (!pl_json_number_int64(pl_json_span(h->carry, hole + 1), &number) || number < 0 ||
        number >= h->n_old)
        return PL_NO_ELEMENT;
    return (uint32_t)number;
}

static const struct pl_json_node *resolve(struct home *h, const struct pl_json_node *hole)
{
    uint32_t element = element_of(h, hole);
    const struct pl_json_node *root = h->target->root;
    if (element != PL_NO_ELEMENT) {
        if (h->places[element] == PL_ALIGN_GONE)
            return NULL;
        root = h->now[h->places[element]];
    }
    struct pl_str pointer;
    if (pl_json_text(h->arena, h->carry, hole + 2, &pointer) != PL_OK) {
        h->to->status = PL_NOMEM;
        return NULL;
    }
    const struct pl_json_node *found = pl_json_reach_get(&h->reach, root, pointer);
    if (h->reach.status != PL_OK)
        h->to->status = h->reach.status;
    return found;
}

/* The value has the shape it had then: its texts in the layout it had. */
static bool put_laid_out(struct home *h, const struct pl_json_node *hole,
                         const struct pl_json_node *value, enum pl_spell spell)
{
    const struct pl_json_node *look = hole + 4, *layout = hole + 5;
    if (pl_json_count(hole) != 5 || pl_look_shape(h->target, value) != look_of(h, look))
        return false;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    if (!pl_layout_put(&text, h->carry, layout, h->target, value))
        return false;
    if (text.status != PL_OK)
        h->to->status = text.status;
    else if (spell == PL_SPELL_RAW)
        pl_buf_add(h->to, pl_buf_str(&text));
    else
        pl_spell_put_text(h->to, pl_buf_str(&text), spell);
    return true;
}

/* A string that the source spelled in its own way. */
static bool put_quirky(struct home *h, const struct pl_json_node *hole,
                       const struct pl_json_node *value)
{
    if (pl_json_count(hole) != 4 || pl_json_kind(value) != PL_JSON_STRING)
        return false;
    return pl_quirk_put(h->to, h->carry, hole + 4, h->target, value);
}

/* A string of the target that parts are cut out of. */
struct cut_up {
    const struct pl_json_node *value; /* the key of `joined` */
    struct pl_joined joined;
};

/* The same again for every part of it; NULL: out of memory, or it has other glue. */
static struct pl_joined *joined_of(struct home *h, const struct pl_json_node *value,
                                   struct pl_str glue)
{
    struct pl_map_entry *entry =
        pl_map_get(&h->joined, (struct pl_str){(const char *)&value, sizeof value});
    struct cut_up *cut = entry ? (struct cut_up *)(uintptr_t)entry->value : NULL;
    if (cut)
        return pl_str_eq(cut->joined.glue, glue) ? &cut->joined : NULL;
    struct pl_str whole;
    bool is_new;
    cut = pl_arena_alloc(h->arena, 1, sizeof *cut);
    enum pl_status status = cut ? pl_json_text(h->arena, h->target, value, &whole) : PL_NOMEM;
    if (status == PL_OK)
        status = pl_joined_init(&cut->joined, h->arena, whole, glue);
    if (status == PL_OK) {
        cut->value = value;
        entry = pl_map_put(&h->joined,
                           (struct pl_str){(const char *)&cut->value, sizeof cut->value}, &is_new);
        status = entry ? PL_OK : PL_NOMEM;
    }
    if (status != PL_OK) {
        h->to->status = status;
        return NULL;
    }
    entry->value = (uint64_t)(uintptr_t)cut;
    return &cut->joined;
}

/* A part of a string, cut out of it again. */
static void put_part(struct home *h, const struct pl_json_node *hole,
                     const struct pl_json_node *value)
{
    struct pl_joint joint;
    struct pl_joined *joined = NULL;
    const struct pl_json_node *quirks = pl_json_next(hole + 4);
    if (value && pl_json_kind(value) == PL_JSON_STRING &&
        pl_joint_read(h->arena, h->carry, hole + 4, &joint))
        joined = joined_of(h, value, joint.glue);
    if (!joined) {
        pl_buf_adds(h->to, "\"\"");
        return;
    }
    struct pl_str part = pl_joint_cut(&joint, joined);
    if (quirks >= pl_json_end(hole) || !pl_quirk_put_text(h->to, h->carry, quirks, part))
        pl_json_quote(h->to, part);
}

static void fill(struct home *h, const struct pl_json_node *hole)
{
    const struct pl_json_node *value = resolve(h, hole);
    enum pl_spell spell;
    if (pl_json_count(hole) >= 4 && pl_str_eq(pl_json_raw(h->carry, hole + 3), PL_STR("g"))) {
        put_part(h, hole, value);
        return;
    }
    bool is_spelling = pl_spell_by_name(pl_json_raw(h->carry, hole + 3), &spell);
    assert(is_spelling);
    /* What was there and is gone says nothing: as little as the place allows. */
    if (!value)
        pl_buf_adds(h->to, spell == PL_SPELL_RAW || spell == PL_SPELL_PARSED   ? "null"
                           : spell == PL_SPELL_INNER || spell == PL_SPELL_DATA ? ""
                                                                               : "\"\"");
    else if (!put_laid_out(h, hole, value, spell) && !put_quirky(h, hole, value) &&
             !pl_spell_put(h->to, h->target, value, spell))
        pl_buf_add(h->to, pl_json_span(h->target, value));
}

static void put_pieces(struct home *h, const struct pl_json_node *pieces)
{
    for (const struct pl_json_node *p = pieces ? pl_json_first(pieces) : NULL;
         pieces && p < pl_json_end(pieces); p = pl_json_next(p)) {
        struct pl_str text;
        if (pl_json_kind(p) == PL_JSON_ARRAY)
            fill(h, p);
        else if (pl_json_text(h->arena, h->carry, p, &text) == PL_OK)
            pl_buf_add(h->to, text);
        else
            h->to->status = PL_NOMEM;
    }
}

/* What an item refers to: whether all of it is gone, and the last place of what is left. */
static bool is_gone(const struct home *h, const struct pl_json_node *pieces, uint32_t *ret_last)
{
    bool refers = false, is_left = false;
    for (const struct pl_json_node *p = pl_json_first(pieces); p < pl_json_end(pieces);
         p = pl_json_next(p)) {
        uint32_t element = pl_json_kind(p) == PL_JSON_ARRAY ? element_of(h, p) : PL_NO_ELEMENT;
        if (element == PL_NO_ELEMENT)
            continue;
        refers = true;
        if (h->places[element] == PL_ALIGN_GONE)
            continue;
        is_left = true;
        if (h->places[element] + 1 > *ret_last)
            *ret_last = h->places[element] + 1;
    }
    return refers && !is_left;
}

static void put_gap(struct home *h)
{
    if (h->has_items)
        pl_buf_add(h->to, h->gap);
    h->has_items = true;
}

/* What stands around the list is read with every run of new elements, which it may say something
 * about: but not for ever. */
static bool has_surroundings(struct home *h, size_t n_around)
{
    enum { LEAST = 64 << 10 };
    h->n_around += n_around;
    return h->n_around <= h->target->text.len + LEAST || !h->task->from->list_key;
}

/* The target with only the elements [from, to) in its list, as text. */
static struct pl_str cut_out(struct home *h, uint32_t from, uint32_t to, struct pl_buf *buf)
{
    struct pl_str text = h->target->text;
    const struct pl_json_node *last = h->now[h->n_new - 1];
    struct pl_str before = pl_str_slice(text, 0, pl_json_first(h->list)->off);
    struct pl_str behind = pl_str_slice(text, last->off + last->len, text.len);
    bool is_whole = h->list == h->target->root || has_surroundings(h, before.len + behind.len);
    if (is_whole)
        pl_buf_add(buf, before);
    else
        pl_buf_addf(buf, "{\"%s\":[", h->task->from->list_key);
    pl_buf_add(buf,
               pl_str_slice(text, h->now[from]->off, h->now[to - 1]->off + h->now[to - 1]->len));
    pl_buf_add(buf, is_whole ? behind : PL_STR("]}"));
    return pl_buf_str(buf);
}

/* Instructions that stand outside the list are not new: the source has them already. */
static void leave_out_instructions(struct pl_conv *conv)
{
    size_t kept = 0;
    for (size_t i = 0; i < conv->messages.len; i++)
        if (conv->messages.ptr[i].element != PL_NO_ELEMENT)
            conv->messages.ptr[kept++] = conv->messages.ptr[i];
    conv->messages.len = kept;
}

/* Elements that are new in the target, written afresh in the source's format. */
static enum pl_status put_new(struct home *h, uint32_t from, uint32_t to)
{
    PL_CLEANUP_BUF struct pl_buf cut, made;
    pl_buf_init(&cut, 0);
    pl_buf_init(&made, 0);
    struct pl_json_doc doc, result;
    struct pl_conv conv = {0};
    struct pl_writer w = {0};
    struct pl_error why = {0};
    struct pl_str text = cut_out(h, from, to, &cut);
    enum pl_status status = cut.status;
    if (status == PL_OK)
        status = pl_json_parse(h->arena, text, &pl_json_any, &doc, NULL);
    if (status == PL_OK)
        status = pl_conv_init(&conv, h->arena, &doc);
    if (status == PL_OK)
        status = h->task->from->read(&conv, h->task->kind, &why);
    if (status == PL_OK) {
        leave_out_instructions(&conv);
        pl_writer_init(&w, &conv, &made);
        status = h->task->to->write(&w, h->task, &why);
    }
    if (status == PL_OK)
        status = conv.status != PL_OK ? conv.status : made.status;
    if (status == PL_OK)
        status = pl_json_parse(h->arena, pl_buf_str(&made), &pl_json_any, &result, NULL);
    const struct pl_json_node *list = status == PL_OK ? pl_carry_list(&result, h->task->to) : NULL;
    for (const struct pl_json_node *e = list ? pl_json_first(list) : NULL;
         list && e < pl_json_end(list); e = pl_json_next(e)) {
        put_gap(h);
        pl_buf_add(h->to, pl_json_span(&result, e));
    }
    pl_writer_deinit(&w);
    pl_conv_deinit(&conv);
    if (status != PL_OK && status != PL_NOMEM)
        return pl_fail(
            h->err, PL_INVALID,
            "element %u is new since the carry was made, and cannot be said in %s: %.300s", from,
            h->task->to->name, why.message[0] ? why.message : pl_status_info(status)->text);
    return status;
}

/* New elements up to place `end`, in runs. */
static enum pl_status put_new_until(struct home *h, uint32_t end)
{
    while (h->next_new < end) {
        uint32_t from = h->next_new;
        while (h->next_new < end && !h->is_known[h->next_new])
            h->next_new++;
        if (h->next_new > from) {
            enum pl_status status = put_new(h, from, h->next_new);
            if (status != PL_OK)
                return status;
        } else {
            h->next_new++;
        }
    }
    return PL_OK;
}

static enum pl_status put_items(struct home *h, const struct pl_json_node *items)
{
    uint32_t last = 0;
    h->gap = PL_STR(",");
    for (const struct pl_json_node *item = pl_json_first(items); item < pl_json_end(items);
         item = pl_json_next(item)) {
        const struct pl_json_node *text = pl_json_get(h->carry, item, PL_STR("text"));
        const struct pl_json_node *gap = pl_json_get(h->carry, item, PL_STR("gap"));
        assert(text && pl_json_kind(text) == PL_JSON_ARRAY);
        uint32_t before = last;
        bool gone = is_gone(h, text, &last);
        /* What is new stands before this item if it stood before what the item refers to. */
        enum pl_status status = put_new_until(h, last > before ? last - 1 : before);
        if (status != PL_OK)
            return status;
        if (h->next_new < last)
            h->next_new = last;
        if (!gone) {
            put_gap(h);
            put_pieces(h, text);
        }
        if (gap && pl_json_text(h->arena, h->carry, gap, &h->gap) != PL_OK)
            return PL_NOMEM;
    }
    return put_new_until(h, h->n_new);
}

/* New elements [from, to) as a list without brackets, behind what `list` has already. */
static enum pl_status add_new(struct home *h, uint32_t to, struct pl_buf *list)
{
    struct pl_buf *document = h->to;
    h->to = list;
    h->has_items = list->len > 1;
    enum pl_status status = put_new_until(h, to);
    h->to = document;
    return status == PL_OK ? list->status : status;
}

/* The place of the first element that was there already, or n_new. */
static uint32_t first_known(const struct home *h)
{
    uint32_t i = 0;
    while (i < h->n_new && !h->is_known[i])
        i++;
    return i;
}

/* The list of a document that had none, or none with elements: a lone text in its place (the input
 * of a response) is the first message. */
static enum pl_status make_list(struct home *h, const struct pl_json_doc *doc,
                                const struct pl_json_node *old, struct pl_buf *ret_list)
{
    uint32_t known = first_known(h);
    h->gap = PL_STR(",");
    pl_buf_addc(ret_list, '[');
    enum pl_status status = add_new(h, known, ret_list);
    if (old && pl_json_kind(old) != PL_JSON_ARRAY && (known < h->n_new || h->n_old == 0)) {
        bool is_text = pl_json_kind(old) == PL_JSON_STRING;
        pl_buf_adds(ret_list, ret_list->len > 1 ? "," : "");
        pl_buf_adds(ret_list, is_text ? "{\"role\":\"user\",\"content\":" : "");
        pl_buf_add(ret_list, pl_json_span(doc, old));
        pl_buf_adds(ret_list, is_text ? "}" : "");
    }
    if (status == PL_OK)
        status = add_new(h, h->n_new, ret_list);
    pl_buf_addc(ret_list, ']');
    return status == PL_OK ? ret_list->status : status;
}

/* The texts of a carry may be anything: what they make with the target must be a document. */
static enum pl_status parse_document(const struct home *h, struct pl_str text,
                                     struct pl_json_doc *ret_doc)
{
    /* What stands for a text is ours, and strict. */
    enum pl_status status = h->task->to == &pl_format_gpt_oss
                                ? pl_json_parse(h->arena, text, &pl_json_made, ret_doc, NULL)
                                : pl_source_parse(h->arena, text, ret_doc, NULL);
    if (status != PL_SYNTAX && status != PL_LIMIT)
        return status;
    return pl_fail(
        h->err, PL_INVALID,
        "what this carry makes of the document is not JSON: it is damaged, or belongs to "
        "another one; give the carry that was made with this document, as it was");
}

/* The source had no elements, so the carry has no place among them: what is new goes into the
 * document that the carry makes. */
static enum pl_status extend(struct home *h)
{
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    struct pl_str text = pl_arena_dup(h->arena, pl_buf_str(h->to));
    struct pl_json_doc doc;
    struct pl_json_edit edit;
    enum pl_status status = text.ptr ? parse_document(h, text, &doc) : PL_NOMEM;
    if (status != PL_OK)
        return status;
    struct pl_str key = pl_str_of(h->task->to->list_key);
    const struct pl_json_node *old = pl_json_get(&doc, doc.root, key);
    bool is_alone = !old && (!key.len || pl_json_kind(doc.root) == PL_JSON_ARRAY ||
                             pl_json_get(&doc, doc.root, PL_STR("role")));
    if (is_alone)
        old = doc.root;
    status = make_list(h, &doc, old, &list);
    pl_json_edit_init(&edit, h->arena, &doc);
    if (status == PL_OK)
        status =
            old ? pl_json_edit_set_node(&edit, old, pl_buf_str(&list), NULL)
                : pl_json_edit_insert_before(&edit, doc.root, NULL, key, pl_buf_str(&list), NULL);
    pl_buf_clear(h->to);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, h->to);
    pl_json_edit_deinit(&edit);
    return status;
}

static bool has_new(const struct home *h)
{
    for (uint32_t i = 0; i < h->n_new; i++)
        if (!h->is_known[i])
            return true;
    return false;
}

static enum pl_status go_home(struct home *h)
{
    const struct pl_json_node *items = member(h->carry, "items", PL_JSON_ARRAY);
    enum pl_status status = PL_OK;
    put_pieces(h, member(h->carry, "head", PL_JSON_ARRAY));
    if (items)
        status = put_items(h, items);
    put_pieces(h, member(h->carry, "tail", PL_JSON_ARRAY));
    if (status == PL_OK)
        status = h->to->status;
    return status == PL_OK && !items && has_new(h) ? extend(h) : status;
}

/* No byte of the target is said twice, and no spelling of one takes more than a \u of six bytes, or
 * one that is quoted again; so a carry that makes more of it is not ours, or not of this document.
 * What is new is written afresh, with words of the source's format around it. */
static size_t most_bytes(const struct home *h)
{
    enum { SPELT = 7, AROUND = 512, LEAST = 64 << 10 };
    return h->carry->text.len + SPELT * h->target->text.len + (size_t)AROUND * h->n_new + LEAST;
}

enum pl_status pl_carry_apply(struct pl_buf *to, struct pl_arena *arena, struct pl_str carry,
                              const struct pl_json_doc *target, const struct pl_format_task *task,
                              struct pl_error *err)
{
    struct pl_json_doc doc, made;
    struct pl_json_opts opts = {.max_nodes = 16000000};
    enum pl_status status = pl_json_parse(arena, carry, &opts, &doc, err);
    if (status != PL_OK)
        return status;
    status = pl_carry_check(arena, &doc, err);
    if (status != PL_OK)
        return status;
    struct home h = {
        .to = to, .arena = arena, .carry = &doc, .target = target, .task = task, .err = err};
    h.list = pl_carry_list(target, task->from);
    status = check_formats(&h, err);
    if (status == PL_OK)
        status = align_elements(&h);
    if (status != PL_OK)
        return status;
    pl_json_reach_init(&h.reach, target, arena);
    size_t max = to->max, most = most_bytes(&h);
    to->max = max < most ? max : most;
    status = go_home(&h);
    if (status == PL_OK)
        status = parse_document(&h, pl_buf_str(to), &made);
    if (status == PL_LIMIT && most < max)
        status = pl_fail(err, PL_INVALID,
                         "this carry makes more than %zu bytes of a document of %zu: it belongs to "
                         "another one; give the carry that was made with this document",
                         most, target->text.len);
    to->max = max;
    pl_json_reach_deinit(&h.reach);
    pl_map_deinit(&h.joined);
    return status;
}

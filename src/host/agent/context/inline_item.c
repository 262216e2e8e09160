/* Lists the media of turns and decides, in one pass each, which are left out. */
#include "agent/context/inline_item.h"

#include "json/text.h"
#include "json/write.h"

static bool has_word(const struct pl_json_doc *doc, const struct pl_json_node *object,
                     const char *key, const char *word)
{
    const struct pl_json_node *n = pl_json_member(doc, object, key, PL_JSON_STRING);
    return n && pl_json_text_is(doc, n, pl_str_of(word));
}

/* --- listing --------------------------------------------------------------------------------- */

struct listing {
    struct pl_inline_items *items;
    const struct pl_json_doc *doc;
    const struct pl_json_node *turn;
    size_t first; /* first item of this turn */
    bool is_new;
};

/* The result of a call occurs twice, in its block and with the call: both are treated the same. */
static size_t twin_of(const struct listing *l, const struct pl_json_node *block)
{
    for (size_t i = l->first; i < l->items->list.len; i++)
        if (pl_str_eq(pl_json_span(l->doc, l->items->list.ptr[i].block),
                      pl_json_span(l->doc, block)))
            return i;
    return SIZE_MAX;
}

static enum pl_status list(struct listing *l, const struct pl_json_node *blocks, bool is_repeated)
{
    if (!blocks)
        return PL_OK;
    for (const struct pl_json_node *b = pl_json_first(blocks); b < pl_json_end(blocks);
         b = pl_json_next(b)) {
        const struct pl_json_node *media = pl_json_member(l->doc, b, "content", PL_JSON_OBJECT);
        if (!media || !has_word(l->doc, b, "type", "media"))
            continue;
        struct pl_inline_item item = {
            .turn = l->turn,
            .block = b,
            .media = media,
            .blob = pl_json_member(l->doc, media, "blob", PL_JSON_STRING),
            .twin = is_repeated ? twin_of(l, b) : SIZE_MAX,
            .is_image = has_word(l->doc, media, "kind", "image"),
            .is_new = l->is_new,
        };
        pl_buf_init(&item.bytes, 0);
        if (!pl_vec_push(&l->items->list, item))
            return PL_NOMEM;
    }
    return PL_OK;
}

/* Lists the blocks of a turn, and results that are lists: of a call, and of its block. */
static enum pl_status list_turn(struct listing *l)
{
    const struct pl_json_node *blocks = pl_json_member(l->doc, l->turn, "blocks", PL_JSON_ARRAY);
    const struct pl_json_node *calls = pl_json_member(l->doc, l->turn, "tool_calls", PL_JSON_ARRAY);
    enum pl_status status = list(l, blocks, false);
    for (const struct pl_json_node *b = blocks ? pl_json_first(blocks) : NULL;
         status == PL_OK && b && b < pl_json_end(blocks); b = pl_json_next(b))
        status = list(l, pl_json_member(l->doc, b, "content", PL_JSON_ARRAY), false);
    for (const struct pl_json_node *c = calls ? pl_json_first(calls) : NULL;
         status == PL_OK && c && c < pl_json_end(calls); c = pl_json_next(c))
        status = list(l, pl_json_member(l->doc, c, "result", PL_JSON_ARRAY), true);
    return status;
}

enum pl_status pl_inline_items_list(struct pl_inline_items *items, const struct pl_json_doc *doc)
{
    struct listing l = {.items = items, .doc = doc};
    const struct pl_json_node *newest = NULL;
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *t = pl_json_first(doc->root); t < pl_json_end(doc->root);
         t = pl_json_next(t))
        if (has_word(doc, t, "role", "user"))
            newest = t;
    for (const struct pl_json_node *t = pl_json_first(doc->root);
         status == PL_OK && t < pl_json_end(doc->root); t = pl_json_next(t)) {
        l.turn = t;
        l.first = items->list.len;
        l.is_new = newest && t >= newest;
        status = list_turn(&l);
    }
    return status;
}

void pl_inline_items_deinit(struct pl_inline_items *items)
{
    for (size_t i = 0; i < items->list.len; i++)
        pl_buf_deinit(&items->list.ptr[i].bytes);
    pl_vec_deinit(&items->list);
}

/* --- leaving out ----------------------------------------------------------------------------- */

static bool is_in(const struct pl_inline_item *item)
{
    return item->fate == PL_INLINED_IN && item->twin == SIZE_MAX;
}

void pl_inline_items_limit_bytes(struct pl_inline_items *items, int64_t max_bytes)
{
    int64_t n_bytes = 0;
    for (size_t i = 0; i < items->list.len; i++) {
        struct pl_inline_item *item = &items->list.ptr[i];
        if (is_in(item) && item->blob && item->row.n_bytes > max_bytes)
            item->fate = PL_INLINED_OVER_BYTES;
        n_bytes += is_in(item) && item->blob ? item->row.n_bytes : 0;
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < items->list.len && n_bytes > max_bytes; i++) {
            struct pl_inline_item *item = &items->list.ptr[i];
            if (!is_in(item) || !item->blob || item->is_image != (pass == 0))
                continue;
            item->fate = PL_INLINED_OVER_BYTES;
            n_bytes -= item->row.n_bytes;
        }
}

void pl_inline_items_limit_tokens(struct pl_inline_items *items, int64_t max_tokens)
{
    int64_t n_tokens = 0;
    for (size_t i = 0; i < items->list.len; i++) {
        const struct pl_inline_item *item = &items->list.ptr[i];
        if (is_in(item) && item->is_image && !item->is_new)
            n_tokens += (int64_t)item->n_tokens;
    }
    for (size_t i = 0; i < items->list.len && n_tokens > max_tokens; i++) {
        struct pl_inline_item *item = &items->list.ptr[i];
        if (!is_in(item) || !item->is_image || item->is_new)
            continue;
        item->fate = PL_INLINED_OVER_TOKENS;
        n_tokens -= (int64_t)item->n_tokens;
    }
}

/* --- notes ----------------------------------------------------------------------------------- */

enum { MAX_SENTENCE = 1500 };

static const struct {
    const char *effect, *words, *detail;
} fates[] = {
    [PL_INLINED_IN] = {"not_turned", NULL, NULL},
    [PL_INLINED_GONE] = {"gone", "no longer stored", "it is no longer stored"},
    [PL_INLINED_OVER_BYTES] = {"left_out", "shown before, left out here to keep the request short",
                               "left out, because the media of the request have too many bytes"},
    [PL_INLINED_OVER_TOKENS] = {"left_out", "shown before, left out here to keep the request short",
                                "left out, because the request is over the model's context window"},
};

static bool is_noted(const struct pl_inline_item *item)
{
    return item->twin == SIZE_MAX && (item->fate != PL_INLINED_IN || item->trouble.len);
}

static struct pl_str detail_of(const struct pl_inline_item *item)
{
    return item->fate == PL_INLINED_IN ? item->trouble : pl_str_of(fates[item->fate].detail);
}

static enum pl_status text_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *key,
                              struct pl_str *ret)
{
    const struct pl_json_node *n = pl_json_member(doc, object, key, PL_JSON_STRING);
    *ret = PL_STR("");
    return n ? pl_json_text(arena, doc, n, ret) : PL_OK;
}

/* "image photo.png" */
static enum pl_status write_name(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 const struct pl_inline_item *item, struct pl_buf *to)
{
    struct pl_str kind, name;
    enum pl_status status = text_of(arena, doc, item->media, "kind", &kind);
    if (status == PL_OK)
        status = text_of(arena, doc, item->media, "name", &name);
    if (status != PL_OK)
        return status;
    pl_buf_add(to, kind);
    pl_buf_adds(to, name.len ? " " : "");
    pl_buf_add(to, name);
    return to->status;
}

enum pl_status pl_inline_item_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_inline_item *item, struct pl_buf *to)
{
    pl_buf_addc(to, '[');
    enum pl_status status = write_name(arena, doc, item, to);
    pl_buf_addf(to, ": %s]", fates[item->fate].words);
    return status == PL_OK ? to->status : status;
}

static void write_note(const struct pl_json_doc *doc, const struct pl_inline_item *item,
                       struct pl_json_out *out)
{
    static const char *const copied[] = {"kind", "name", "blob", "url"};
    const struct pl_json_node *turn_id = pl_json_member(doc, item->turn, "turn_id", PL_JSON_STRING);
    pl_json_out_open(out, '{');
    if (turn_id) {
        pl_json_out_key(out, "turn_id");
        pl_json_out_raw(out, pl_json_span(doc, turn_id));
    }
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        const struct pl_json_node *n = pl_json_member(doc, item->media, copied[i], PL_JSON_STRING);
        if (!n)
            continue;
        pl_json_out_key(out, copied[i]);
        pl_json_out_raw(out, pl_json_span(doc, n));
    }
    pl_json_out_key(out, "effect");
    pl_json_out_text(out, pl_str_of(fates[item->fate].effect));
    pl_json_out_key(out, "detail");
    pl_json_out_text(out, detail_of(item));
    pl_json_out_close(out, '}');
}

enum pl_status pl_inline_items_notes(const struct pl_json_doc *doc,
                                     const struct pl_inline_items *items, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    bool has_any = false;
    for (size_t i = 0; i < items->list.len; i++) {
        if (!is_noted(&items->list.ptr[i]))
            continue;
        if (!has_any)
            pl_json_out_open(&out, '[');
        has_any = true;
        write_note(doc, &items->list.ptr[i], &out);
    }
    if (has_any)
        pl_json_out_close(&out, ']');
    return to->status;
}

enum pl_status pl_inline_items_sentence(struct pl_arena *arena, const struct pl_json_doc *doc,
                                        const struct pl_inline_items *items, bool is_new_only,
                                        struct pl_buf *to)
{
    size_t n = 0, n_untold = 0;
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < items->list.len && status == PL_OK; i++) {
        const struct pl_inline_item *item = &items->list.ptr[i];
        if (!is_noted(item) || (is_new_only && !item->is_new))
            continue;
        if (to->len > MAX_SENTENCE) {
            n_untold++;
            continue;
        }
        pl_buf_adds(to, n++ ? "; " : "Not all media reached the model as they are: ");
        status = write_name(arena, doc, item, to);
        pl_buf_adds(to, ": ");
        pl_buf_add(to, detail_of(item));
    }
    if (n_untold)
        pl_buf_addf(to, "; and %zu more", n_untold);
    if (n)
        pl_buf_addc(to, '.');
    return status == PL_OK ? to->status : status;
}

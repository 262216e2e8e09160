/* anthropic streams: blocks that only anthropic has, collected until they are complete. Results are
 * complete in the start of their block; the input of a call comes in pieces of JSON text. */
#include "stream/anthropic/anthropic_int.h"

#include "json/text.h"
#include "json/write.h"
#include "stream/pick.h"

static void drop(struct pl_anthropic_reader *r, struct pl_anthropic_own *own)
{
    pl_buf_deinit(&own->block);
    pl_buf_deinit(&own->input);
    *own = r->owns.ptr[--r->owns.len];
}

static struct pl_anthropic_own *find(struct pl_anthropic_reader *r, uint32_t index)
{
    for (size_t i = 0; i < r->owns.len; i++)
        if (r->owns.ptr[i].index == index)
            return &r->owns.ptr[i];
    return NULL;
}

void pl_anthropic_own_start(struct pl_stream *s, struct pl_anthropic_reader *r, uint32_t index,
                            struct pl_str block)
{
    if (!pl_stream_wants_own(s) || find(r, index))
        return;
    struct pl_anthropic_own own = {.index = index};
    pl_buf_init(&own.block, 0);
    pl_buf_init(&own.input, 0);
    pl_buf_add(&own.block, block);
    if (own.block.status == PL_OK && pl_vec_push(&r->owns, own))
        return;
    pl_buf_deinit(&own.block);
    s->status = PL_NOMEM;
}

bool pl_anthropic_own_add(struct pl_stream *s, struct pl_anthropic_reader *r, uint32_t index,
                          struct pl_str partial_json)
{
    struct pl_anthropic_own *own = find(r, index);
    if (!own)
        return false;
    pl_buf_add(&own->input, partial_json);
    if (own->input.status != PL_OK)
        s->status = own->input.status;
    return true;
}

/* Writes the block with the collected input: as a value if it is JSON, else as a text. */
static void put_block(struct pl_stream *s, struct pl_buf *to, const struct pl_json_doc *doc,
                      struct pl_str input)
{
    struct pl_json_doc parsed;
    char *text = pl_arena_alloc(&s->arena, input.len + 1, 1);
    if (!text) {
        s->status = PL_NOMEM;
        return;
    }
    struct pl_str decoded = {text, pl_json_decode(text, input)};
    bool is_json = input.len && pl_stream_json(s, decoded, &parsed, NULL) == PL_OK;
    pl_buf_addc(to, '{');
    for (const struct pl_json_node *k = pl_json_first_member(doc->root); k < pl_json_end(doc->root);
         k = pl_json_next_member(k)) {
        bool is_input = input.len && pl_str_eq(pl_json_raw(doc, k), PL_STR("input"));
        if (k != pl_json_first_member(doc->root))
            pl_buf_addc(to, ',');
        pl_buf_add(to, pl_json_span(doc, k));
        pl_buf_addc(to, ':');
        if (is_input && !is_json)
            pl_json_quote(to, decoded);
        else
            pl_buf_add(to, is_input ? decoded : pl_json_span(doc, k + 1));
    }
    pl_buf_addc(to, '}');
}

static bool ends_in(struct pl_str text, struct pl_str end)
{
    return text.len >= end.len && pl_str_eq(pl_str_slice(text, text.len - end.len, text.len), end);
}

static enum pl_own_role role_of(struct pl_str type)
{
    if (ends_in(type, PL_STR("_tool_use")))
        return PL_OWN_CALL;
    return ends_in(type, PL_STR("_tool_result")) ? PL_OWN_RESULT : PL_OWN_ALONE;
}

bool pl_anthropic_own_stop(struct pl_stream *s, struct pl_anthropic_reader *r, uint32_t index)
{
    struct pl_anthropic_own *own = find(r, index);
    PL_CLEANUP_BUF struct pl_buf whole;
    struct pl_json_doc doc;
    pl_buf_init(&whole, 0);
    if (!own)
        return false;
    if (pl_stream_json(s, pl_buf_str(&own->block), &doc, NULL) != PL_OK) {
        s->status = PL_NOMEM; /* it parsed before: memory ran out */
        return true;
    }
    put_block(s, &whole, &doc, pl_buf_str(&own->input));
    if (whole.status != PL_OK)
        s->status = whole.status;
    else
        pl_stream_take_own(s, pl_buf_str(&whole),
                           role_of(pl_pick_raw(&doc, pl_json_get(&doc, doc.root, PL_STR("type")))));
    drop(r, own);
    return true;
}

void pl_anthropic_own_deinit(struct pl_anthropic_reader *r)
{
    while (r->owns.len)
        drop(r, &r->owns.ptr[0]);
    pl_vec_deinit(&r->owns);
}

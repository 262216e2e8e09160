/* Items for tools that ran at the vendor, and for generated images. They come whole: the conversion
 * of a whole answer makes them (pl_stream_say_whole). */
#include "stream/openai_responses/openai_responses_int.h"

#include "stream/pick.h"

/* The events of an item between added and done: response.TYPE.STAGE. */
static const struct kind {
    const char *type;
    const char *stages[3];
} kinds[] = {
    {"web_search_call", {"in_progress", "searching", "completed"}},
    {"code_interpreter_call", {"in_progress", "interpreting", "completed"}},
    {"image_generation_call", {"in_progress", "generating", "completed"}},
    {"mcp_call", {"in_progress", "completed"}},
};

static const struct kind *kind_of(struct pl_str type)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pl_str_eq(type, pl_str_of(kinds[i].type)))
            return &kinds[i];
    return NULL;
}

/* These ids contain the item's index in the answer, which the conversion of the item alone does not
 * know. */
static struct pl_str prefix_of(struct pl_str id)
{
    static const struct pl_str prefixes[] = {{"ig_", 3}, {"fc_", 3}, {"fco_", 4}, {"msg_", 4}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (pl_str_starts(id, prefixes[i]))
            return prefixes[i];
    return (struct pl_str){0};
}

static void put_id(struct pl_buf *to, const struct pl_json_doc *doc, const struct pl_json_node *id,
                   uint32_t index)
{
    struct pl_str raw = pl_pick_raw(doc, id), prefix = prefix_of(raw);
    pl_buf_addc(to, '"');
    pl_buf_add(to, prefix.len ? prefix : raw);
    if (prefix.len)
        pl_buf_addu(to, (uint64_t)index + 1);
    pl_buf_addc(to, '"');
}

/* An item that begins is in progress, whatever its final status. */
static void put_item(struct pl_buf *to, const struct pl_json_doc *doc,
                     const struct pl_json_node *item, uint32_t index, bool begins)
{
    for (const struct pl_json_node *k = pl_json_first_member(item); k < pl_json_end(item);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        pl_buf_addc(to, k == pl_json_first_member(item) ? '{' : ',');
        pl_buf_add(to, pl_json_span(doc, k));
        pl_buf_addc(to, ':');
        if (pl_str_eq(key, PL_STR("id")))
            put_id(to, doc, k + 1, index);
        else if (begins && pl_str_eq(key, PL_STR("status")))
            pl_buf_adds(to, "\"in_progress\"");
        else
            pl_json_write_min(to, doc, k + 1);
    }
    pl_buf_addc(to, '}');
}

static void put_item_event(struct pl_stream *s, struct pl_responses_writer *w, const char *stage,
                           uint32_t index, struct pl_str item)
{
    pl_responses_begin_event(&s->out, "output_item", stage);
    pl_responses_put_count(&s->out, ",\"output_index\":", index);
    pl_buf_adds(&s->out, ",\"item\":");
    pl_buf_add(&s->out, item);
    pl_responses_end_event(s, w);
}

static void put_stages(struct pl_stream *s, struct pl_responses_writer *w, const struct kind *kind,
                       uint32_t index, struct pl_str id)
{
    char stage[32] = ".";
    for (size_t i = 0; i < 3 && kind->stages[i]; i++) {
        memcpy(stage + 1, kind->stages[i], strlen(kind->stages[i]) + 1);
        pl_responses_begin_event(&s->out, kind->type, stage);
        pl_responses_put_count(&s->out, ",\"output_index\":", index);
        pl_buf_adds(&s->out, ",\"item_id\":");
        pl_buf_add(&s->out, id);
        pl_responses_end_event(s, w);
    }
}

static void put_hosted(struct pl_stream *s, struct pl_responses_writer *w,
                       const struct pl_json_doc *doc, const struct pl_json_node *item)
{
    const struct kind *kind = kind_of(pl_pick_raw(doc, pl_json_get(doc, item, PL_STR("type"))));
    uint32_t index = w->n_items;
    PL_CLEANUP_BUF struct pl_buf begun, id;
    pl_buf_init(&begun, 0);
    pl_buf_init(&id, 0);
    if (!pl_vec_push(&w->items, (struct pl_responses_span){0})) {
        s->status = PL_NOMEM;
        return;
    }
    w->n_items++;
    struct pl_responses_span *span = &w->items.ptr[index];
    put_item(&begun, doc, item, index, true);
    put_item_event(s, w, ".added", index, pl_buf_str(&begun));
    put_id(&id, doc, pl_json_get(doc, item, PL_STR("id")), index);
    if (kind)
        put_stages(s, w, kind, index, pl_buf_str(&id));
    span->off = w->done.len;
    put_item(&w->done, doc, item, index, false);
    span->len = w->done.len - span->off;
    pl_responses_check(s, &begun);
    pl_responses_check(s, &id);
    pl_responses_check(s, &w->done);
    if (s->status == PL_OK)
        put_item_event(s, w, ".done", index,
                       pl_str_slice(pl_buf_str(&w->done), span->off, w->done.len));
}

void pl_responses_put_others(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    struct pl_json_doc doc;
    const struct pl_json_node *items = pl_stream_say_whole(s, delta, &doc);
    if (!items || pl_json_kind(items) != PL_JSON_ARRAY || !pl_json_count(items))
        return;
    pl_responses_finish_items(s, w, "completed");
    for (const struct pl_json_node *n = pl_json_first(items); n < pl_json_end(items);
         n = pl_json_next(n))
        if (pl_json_kind(n) == PL_JSON_OBJECT && pl_json_count(n))
            put_hosted(s, w, &doc, n);
}

void pl_responses_put_proof(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    PL_CLEANUP_BUF struct pl_buf item;
    struct pl_json_doc doc;
    pl_buf_init(&item, 0);
    pl_buf_adds(&item, "{\"type\":\"reasoning\"");
    pl_responses_put_member(&item, "id", delta->id);
    pl_buf_adds(&item, ",\"summary\":[]");
    pl_responses_put_member(&item, "encrypted_content", delta->raw);
    pl_buf_addc(&item, '}');
    if (item.status != PL_OK || pl_stream_json(s, pl_buf_str(&item), &doc, NULL) != PL_OK) {
        s->status = PL_NOMEM; /* we wrote this JSON: memory ran out */
        return;
    }
    pl_responses_finish_items(s, w, "completed");
    put_hosted(s, w, &doc, doc.root);
}

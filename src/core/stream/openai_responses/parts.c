/* Writes the items of an answer, and the parts in them.
 *
 * Consecutive texts and refusals are contents of one message; a thought is a reasoning item with
 * one summary, a call is an item of its own. An item starts with its first text, so that no item is
 * empty. Whether the last item was cut off is known only when the answer stops: its
 * output_item.done waits until then, or until the next item starts.
 *
 * The JSON of a finished item is kept, since the last event repeats everything; it has the same
 * bytes as in the whole response (format/openai_responses/write.c). */
#include "stream/openai_responses/openai_responses_int.h"

#include "json/text.h"

/* Names for the parts of each kind. */
struct spelling {
    const char *item, *prefix; /* type of the item, beginning of its id */
    const char *event;         /* for response.EVENT.delta and .done */
    const char *key;           /* name of the member with the whole text */
    const char *close;         /* end of an item's JSON */
};

static const struct spelling *spelling_of(enum pl_part_kind kind, bool is_custom)
{
    static const struct spelling text = {"message", "msg", "output_text", "text", "]}"},
                                 refusal = {"message", "msg", "refusal", "refusal", "]}"},
                                 thought = {"reasoning", "rs", "reasoning_summary_text", "text",
                                            "]}"},
                                 call = {"function_call", "fc", "function_call_arguments",
                                         "arguments", "\"}"},
                                 custom = {"custom_tool_call", "ctc", "custom_tool_call_input",
                                           "input", "\"}"};
    switch (kind) {
    case PL_PART_REFUSAL:
        return &refusal;
    case PL_PART_THINKING:
        return &thought;
    case PL_PART_CALL:
        return is_custom ? &custom : &call;
    default:
        return &text;
    }
}

static bool is_content(enum pl_part_kind kind)
{
    return kind == PL_PART_TEXT || kind == PL_PART_REFUSAL;
}

static const struct spelling *item_spelling(const struct pl_responses_open *item)
{
    return spelling_of(item->kind, item->is_custom);
}

/* ---- pieces ---- */

enum { MAX_DIGITS = 20 };

static struct pl_str digits_of(char digits[static MAX_DIGITS], uint64_t n)
{
    size_t at = MAX_DIGITS;
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    return (struct pl_str){digits + at, MAX_DIGITS - at};
}

void pl_responses_put_count(struct pl_buf *to, const char *key, int64_t n)
{
    pl_buf_adds(to, key);
    pl_buf_addu(to, n > 0 ? (uint64_t)n : 0);
}

/* "response.WORD.STAGE", twice. */
void pl_responses_begin_event(struct pl_buf *to, const char *word, const char *stage)
{
    for (int i = 0; i < 2; i++) {
        pl_buf_adds(to, i ? "\ndata: {\"type\":\"response." : "event: response.");
        pl_buf_adds(to, word);
        pl_buf_adds(to, stage);
    }
    pl_buf_addc(to, '"');
}

void pl_responses_end_event(struct pl_stream *s, struct pl_responses_writer *w)
{
    pl_buf_adds(&s->out, ",\"sequence_number\":");
    pl_buf_addu(&s->out, w->sequence++);
    pl_buf_adds(&s->out, "}\n\n");
}

/* Puts item_id, output_index and content_index or summary_index, which every event of the part
 * has. */
static void put_place(struct pl_stream *s, const struct pl_responses_open *item)
{
    pl_buf_add(&s->out,
               pl_str_slice(pl_buf_str(&item->front), item->place, item->place + item->n_place));
}

static void put_item_id(struct pl_buf *to, const struct pl_responses_open *item)
{
    pl_buf_adds(to, item_spelling(item)->prefix);
    pl_buf_addc(to, '_');
    pl_buf_addu(to, (uint64_t)item->index + 1);
}

static void put_item(struct pl_buf *to, const struct pl_responses_open *item, const char *status)
{
    pl_buf_adds(to, "{\"type\":\"");
    pl_buf_adds(to, item_spelling(item)->item);
    pl_buf_adds(to, "\",\"id\":\"");
    put_item_id(to, item);
    pl_buf_adds(to, "\",\"status\":\"");
    pl_buf_adds(to, status);
    pl_buf_addc(to, '"');
    pl_buf_add(to, pl_buf_str(&item->rest));
    pl_buf_adds(to, item_spelling(item)->close);
}

static void put_item_event(struct pl_stream *s, struct pl_responses_writer *w,
                           const struct pl_responses_open *item, const char *stage,
                           const char *status)
{
    pl_responses_begin_event(&s->out, "output_item", stage);
    pl_responses_put_count(&s->out, ",\"output_index\":", item->index);
    pl_buf_adds(&s->out, ",\"item\":");
    put_item(&s->out, item, status);
    pl_responses_end_event(s, w);
}

/* ---- items ---- */

void pl_responses_deinit_item(struct pl_responses_open *item)
{
    pl_buf_deinit(&item->front);
    pl_buf_deinit(&item->text);
    pl_buf_deinit(&item->rest);
    pl_buf_deinit(&item->cites);
    pl_buf_deinit(&item->logprobs);
    pl_vec_deinit(&item->cite_list);
}

void pl_responses_check(struct pl_stream *s, const struct pl_buf *buf)
{
    if (buf->status != PL_OK)
        s->status = PL_NOMEM;
}

static void check_item(struct pl_stream *s, const struct pl_responses_open *item)
{
    pl_responses_check(s, &item->front);
    pl_responses_check(s, &item->text);
    pl_responses_check(s, &item->rest);
    pl_responses_check(s, &item->cites);
    pl_responses_check(s, &item->logprobs);
}

static void finish_item(struct pl_stream *s, struct pl_responses_writer *w, size_t at,
                        const char *status)
{
    struct pl_responses_open *item = &w->open.ptr[at];
    struct pl_responses_span *span = &w->items.ptr[item->index];
    put_item_event(s, w, item, ".done", status);
    span->off = w->done.len;
    put_item(&w->done, item, status);
    span->len = w->done.len - span->off;
    check_item(s, item);
    pl_responses_check(s, &w->done);
    pl_responses_deinit_item(item);
    w->open.len--;
    memmove(item, item + 1, (w->open.len - at) * sizeof *item);
}

/* Ends the items that have no open parts. */
void pl_responses_finish_items(struct pl_stream *s, struct pl_responses_writer *w,
                               const char *last_status)
{
    for (size_t i = 0; i < w->open.len;) {
        const struct pl_responses_open *item = &w->open.ptr[i];
        if (item->has_part)
            i++;
        else
            finish_item(s, w, i, item->index + 1 == w->n_items ? last_status : "completed");
    }
}

/* Puts the members after the status, before any content. */
static void begin_rest(struct pl_responses_writer *w, struct pl_responses_open *item,
                       const struct pl_delta *delta)
{
    if (is_content(item->kind)) {
        pl_buf_adds(&item->rest, ",\"role\":\"assistant\",\"content\":[");
    } else if (item->kind == PL_PART_THINKING) {
        pl_buf_adds(&item->rest, ",\"summary\":[");
    } else {
        w->n_calls++;
        pl_buf_adds(&item->rest, ",\"call_id\":\"");
        pl_buf_add(&item->rest, delta->id);
        if (!delta->id.len)
            pl_responses_put_count(&item->rest, "call_", w->n_calls);
        pl_buf_adds(&item->rest, "\",\"name\":\"");
        pl_buf_add(&item->rest, delta->name);
        pl_buf_adds(&item->rest, item->is_custom ? "\",\"input\":\"" : "\",\"arguments\":\"");
    }
}

static struct pl_responses_open *begin_item(struct pl_stream *s, struct pl_responses_writer *w,
                                            const struct pl_delta *delta)
{
    pl_responses_finish_items(s, w, "completed");
    struct pl_responses_open item = {
        .index = w->n_items, .kind = delta->part_kind, .is_custom = delta->is_custom};
    pl_buf_init(&item.front, 0);
    pl_buf_init(&item.text, 0);
    pl_buf_init(&item.rest, 0);
    pl_buf_init(&item.cites, 0);
    pl_buf_init(&item.logprobs, 0);
    if (!pl_vec_push(&w->items, (struct pl_responses_span){0}) || !pl_vec_push(&w->open, item)) {
        s->status = PL_NOMEM;
        return NULL;
    }
    struct pl_responses_open *added = &w->open.ptr[w->open.len - 1];
    w->n_items++;
    begin_rest(w, added, delta);
    put_item_event(s, w, added, ".added", "in_progress");
    return added;
}

/* ---- parts ---- */

static void put_logprobs(struct pl_buf *to, const struct pl_responses_open *item)
{
    pl_buf_adds(to, ",\"logprobs\":[");
    pl_buf_add(to, pl_buf_str(&item->logprobs));
    pl_buf_addc(to, ']');
}

/* Puts a content part or a summary with its text so far; a new part has no text. */
static void put_part(struct pl_buf *to, const struct pl_responses_open *item)
{
    bool is_text = item->kind == PL_PART_TEXT;
    pl_buf_adds(to, is_text                         ? "{\"type\":\"output_text\",\"text\":\""
                    : item->kind == PL_PART_REFUSAL ? "{\"type\":\"refusal\",\"refusal\":\""
                                                    : "{\"type\":\"summary_text\",\"text\":\"");
    pl_buf_add(to, pl_buf_str(&item->text));
    pl_buf_addc(to, '"');
    if (is_text) {
        pl_buf_adds(to, ",\"annotations\":[");
        pl_buf_add(to, pl_buf_str(&item->cites));
        pl_buf_addc(to, ']');
        put_logprobs(to, item);
    }
    pl_buf_addc(to, '}');
}

static void put_part_event(struct pl_stream *s, struct pl_responses_writer *w,
                           const struct pl_responses_open *item, const char *stage)
{
    if (item->kind == PL_PART_CALL)
        return;
    bool is_thought = item->kind == PL_PART_THINKING;
    pl_responses_begin_event(&s->out, is_thought ? "reasoning_summary_part" : "content_part",
                             stage);
    put_place(s, item);
    pl_buf_adds(&s->out, ",\"part\":");
    put_part(&s->out, item);
    pl_responses_end_event(s, w);
}

/* Makes the bytes that all delta events of the part have in common. */
static void make_front(struct pl_responses_open *item)
{
    struct pl_buf *front = &item->front;
    pl_buf_clear(front);
    pl_responses_begin_event(front, item_spelling(item)->event, ".delta");
    item->place = front->len;
    pl_buf_adds(front, ",\"item_id\":\"");
    put_item_id(front, item);
    pl_responses_put_count(front, "\",\"output_index\":", item->index);
    if (is_content(item->kind))
        pl_responses_put_count(front, ",\"content_index\":", item->n_contents);
    else if (item->kind == PL_PART_THINKING)
        pl_buf_adds(front, ",\"summary_index\":0");
    item->n_place = front->len - item->place;
    pl_buf_adds(front, ",\"delta\":\"");
}

/* A text or a refusal continues the open message. */
static struct pl_responses_open *item_for(struct pl_stream *s, struct pl_responses_writer *w,
                                          const struct pl_delta *delta)
{
    for (size_t i = 0; i < w->open.len; i++) {
        struct pl_responses_open *item = &w->open.ptr[i];
        if (!item->has_part && is_content(item->kind) && is_content(delta->part_kind)) {
            item->kind = delta->part_kind;
            return item;
        }
    }
    return begin_item(s, w, delta);
}

struct pl_responses_open *pl_responses_begin_part(struct pl_stream *s,
                                                  struct pl_responses_writer *w,
                                                  const struct pl_delta *delta)
{
    struct pl_responses_open *item = item_for(s, w, delta);
    if (!item)
        return NULL;
    item->has_part = true;
    item->part = delta->part;
    make_front(item);
    put_part_event(s, w, item, ".added");
    check_item(s, item);
    return item;
}

static struct pl_responses_open *find_part(struct pl_responses_writer *w, uint32_t part)
{
    for (size_t i = w->open.len; i-- > 0;)
        if (w->open.ptr[i].has_part && w->open.ptr[i].part == part)
            return &w->open.ptr[i];
    return NULL;
}

static char *copy(char *to, struct pl_str text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

/* Nearly all events are of this kind, so it is written in one go. */
static void put_fragment(struct pl_stream *s, struct pl_responses_writer *w,
                         struct pl_responses_open *item, struct pl_str raw)
{
    static const struct pl_str text_tail = {"\",\"logprobs\":[],\"sequence_number\":", 34},
                               tail = {"\",\"sequence_number\":", 20};
    pl_buf_add(&item->text, raw);
    pl_responses_check(s, &item->text);
    pl_responses_check(s, &item->front);
    char *to = pl_buf_reserve(&s->out, item->front.len + raw.len + text_tail.len + MAX_DIGITS + 3);
    if (!to || s->status != PL_OK)
        return;
    char *at = copy(to, pl_buf_str(&item->front));
    at = copy(at, raw);
    at = copy(at, item->kind == PL_PART_TEXT ? text_tail : tail);
    char digits[MAX_DIGITS];
    at = copy(at, digits_of(digits, w->sequence++));
    at = copy(at, PL_STR("}\n\n"));
    s->out.len += (size_t)(at - to);
}

/* The same for a text with log probabilities. */
static void put_rated(struct pl_stream *s, struct pl_responses_writer *w,
                      struct pl_responses_open *item, const struct pl_delta *delta)
{
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    pl_stream_put_json(s, &list, delta->json);
    pl_responses_check(s, &list);
    pl_buf_add(&item->text, delta->raw);
    if (item->logprobs.len)
        pl_buf_addc(&item->logprobs, ',');
    pl_buf_add(&item->logprobs, pl_str_slice(pl_buf_str(&list), 1, list.len - 1));
    check_item(s, item);
    pl_buf_add(&s->out, pl_buf_str(&item->front));
    pl_buf_add(&s->out, delta->raw);
    pl_buf_adds(&s->out, "\",\"logprobs\":");
    pl_buf_add(&s->out, pl_buf_str(&list));
    pl_responses_end_event(s, w);
}

void pl_responses_add_fragment(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    struct pl_responses_open *item = find_part(w, delta->part);
    if (!item && (is_content(delta->part_kind) || delta->part_kind == PL_PART_THINKING))
        item = pl_responses_begin_part(s, w, delta);
    if (item && delta->json.len && item->kind == PL_PART_TEXT)
        put_rated(s, w, item, delta);
    else if (item)
        put_fragment(s, w, item, delta->raw);
}

/* ---- citations ---- */

void pl_responses_put_member(struct pl_buf *to, const char *key, struct pl_str raw)
{
    pl_buf_addc(to, ',');
    pl_buf_addc(to, '"');
    pl_buf_adds(to, key);
    pl_buf_adds(to, "\":\"");
    pl_buf_add(to, raw);
    pl_buf_addc(to, '"');
}

/* Puts start_index and end_index of a url_citation, which openai-chat nests one level deeper. */
static bool put_range(struct pl_stream *s, struct pl_buf *to, struct pl_str json)
{
    struct pl_json_doc doc;
    if (!json.len || pl_stream_json(s, json, &doc, NULL) != PL_OK)
        return false;
    const struct pl_json_node *cite = pl_json_get(&doc, doc.root, PL_STR("url_citation"));
    const struct pl_json_node *start = cite ? pl_json_get(&doc, cite, PL_STR("start_index")) : NULL;
    const struct pl_json_node *end = cite ? pl_json_get(&doc, cite, PL_STR("end_index")) : NULL;
    if (!start || !end)
        return false;
    pl_buf_adds(to, "\"start_index\":");
    pl_buf_add(to, pl_json_span(&doc, start));
    pl_buf_adds(to, ",\"end_index\":");
    pl_buf_add(to, pl_json_span(&doc, end));
    return true;
}

/* Only citations of web pages have a form here, not those of documents that the client sent. */
void pl_responses_add_citation(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    struct pl_responses_open *item = find_part(w, delta->part);
    struct pl_delta text = *delta;
    text.part_kind = PL_PART_TEXT;
    if (!delta->url.len || (item && item->kind != PL_PART_TEXT))
        return;
    if (!item && !(item = pl_responses_begin_part(s, w, &text)))
        return;
    struct pl_responses_cite cite = {0};
    size_t before = item->cites.len;
    pl_buf_adds(&item->cites, "{\"type\":\"url_citation\",");
    cite.is_about_all = !put_range(s, &item->cites, delta->json);
    if (cite.is_about_all)
        pl_buf_adds(&item->cites, "\"start_index\":0,\"end_index\":");
    cite.n_front = item->cites.len - before;
    pl_responses_put_member(&item->cites, "url", delta->url);
    if (delta->title.len)
        pl_responses_put_member(&item->cites, "title", delta->title);
    pl_buf_addc(&item->cites, '}');
    cite.n_back = item->cites.len - before - cite.n_front;
    pl_responses_check(s, &item->cites);
    if (!pl_vec_push(&item->cite_list, cite))
        s->status = PL_NOMEM;
}

/* Now that the text is complete, writes an event for each citation; `cites` becomes their list. */
static void put_citations(struct pl_stream *s, struct pl_responses_writer *w,
                          struct pl_responses_open *item)
{
    if (!item->cite_list.len)
        return;
    uint64_t n_points = pl_stream_count_points(pl_buf_str(&item->text));
    struct pl_str from = pl_buf_str(&item->cites);
    struct pl_buf list;
    pl_buf_init(&list, 0);
    for (size_t i = 0; i < item->cite_list.len; i++) {
        const struct pl_responses_cite *cite = &item->cite_list.ptr[i];
        if (i)
            pl_buf_addc(&list, ',');
        size_t at = list.len;
        pl_buf_add(&list, pl_str_slice(from, 0, cite->n_front));
        if (cite->is_about_all)
            pl_buf_addu(&list, n_points);
        pl_buf_add(&list, pl_str_slice(from, cite->n_front, cite->n_front + cite->n_back));
        from = pl_str_slice(from, cite->n_front + cite->n_back, from.len);
        pl_responses_begin_event(&s->out, "output_text.annotation", ".added");
        put_place(s, item);
        pl_responses_put_count(&s->out, ",\"annotation_index\":", (int64_t)i);
        pl_buf_adds(&s->out, ",\"annotation\":");
        pl_buf_add(&s->out, pl_str_slice(pl_buf_str(&list), at, list.len));
        pl_responses_end_event(s, w);
    }
    pl_buf_deinit(&item->cites);
    item->cites = list;
    item->cite_list.len = 0;
    pl_responses_check(s, &list);
}

/* ---- the end of a part ---- */

static void end_part(struct pl_stream *s, struct pl_responses_writer *w,
                     struct pl_responses_open *item)
{
    const struct spelling *spelling = item_spelling(item);
    bool is_call = item->kind == PL_PART_CALL;
    /* Clients parse the arguments: a call without arguments gets an empty object. */
    if (is_call && !item->is_custom && !item->text.len)
        put_fragment(s, w, item, PL_STR("{}"));
    put_citations(s, w, item);
    pl_responses_begin_event(&s->out, spelling->event, ".done");
    put_place(s, item);
    pl_responses_put_member(&s->out, spelling->key, pl_buf_str(&item->text));
    if (item->kind == PL_PART_TEXT)
        put_logprobs(&s->out, item);
    pl_responses_end_event(s, w);
    put_part_event(s, w, item, ".done");
    if (is_call) {
        pl_buf_add(&item->rest, pl_buf_str(&item->text));
    } else {
        if (item->n_contents++)
            pl_buf_addc(&item->rest, ',');
        put_part(&item->rest, item);
    }
    check_item(s, item);
    pl_buf_clear(&item->text);
    pl_buf_clear(&item->cites);
    pl_buf_clear(&item->logprobs);
    item->has_part = false;
}

void pl_responses_end_part(struct pl_stream *s, struct pl_responses_writer *w,
                           const struct pl_delta *delta)
{
    struct pl_responses_open *item = find_part(w, delta->part);
    if (!item)
        return;
    end_part(s, w, item);
    /* Only the last item can have been cut off. */
    if (item->index + 1 < w->n_items)
        finish_item(s, w, (size_t)(item - w->open.ptr), "completed");
}

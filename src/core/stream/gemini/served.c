/* Calls that Google answers itself, as it does for MCP servers: a functionResponse follows in the
 * model's content. A client must not be asked to answer such a call. So whole calls of the first
 * candidate wait for the next part. If it is the result, both become parts that only Google has;
 * otherwise the client must answer the call. A finishReason does not end the wait: Google sends one
 * with the call and continues. */
#include "stream/gemini/gemini_int.h"

#include "stream/pick.h"

/* Far more than Google answers at once; each result searches the calls that wait. */
enum { MAX_SERVED = 256 };

enum { ID, NAME, PARTIAL, CONTINUES, N };
static const struct pl_gemini_field fields[N] = {
    PL_GEMINI_FIELD("id", "id"),
    PL_GEMINI_FIELD("name", "name"),
    PL_GEMINI_FIELD("partialArgs", "partial_args"),
    PL_GEMINI_FIELD("willContinue", "will_continue"),
};
static const struct pl_gemini_field call_field = PL_GEMINI_FIELD("functionCall", "function_call");

bool pl_gemini_hold_call(const struct pl_gemini_reading *x, uint32_t choice,
                         const struct pl_json_node *part, const struct pl_json_node *call)
{
    struct pl_buf *waiting = &x->r->waiting;
    const struct pl_json_node *f[N];
    pl_gemini_get(x->doc, call, fields, N, f);
    if (choice || x->s->passes_through || x->r->choices[0].call.is_open ||
        !pl_pick_raw(x->doc, f[NAME]).len || f[PARTIAL] || pl_json_is(f[CONTINUES], PL_JSON_TRUE))
        return false;
    if (waiting->len)
        pl_buf_addc(waiting, ',');
    pl_buf_add(waiting, pl_json_span(x->doc, part));
    x->r->n_waiting++;
    if (waiting->status != PL_OK)
        x->s->status = waiting->status;
    return true;
}

/* Removes the waiting parts and returns them as an array in the event's arena. */
static bool take_waiting(struct pl_stream *s, struct pl_gemini_reader *r,
                         struct pl_json_doc *ret_doc)
{
    if (!r->waiting.len || s->status != PL_OK)
        return false;
    char *text = pl_arena_alloc(&s->arena, r->waiting.len + 2, 1);
    if (!text) {
        s->status = PL_NOMEM;
        return false;
    }
    text[0] = '[';
    memcpy(text + 1, r->waiting.ptr, r->waiting.len);
    text[r->waiting.len + 1] = ']';
    struct pl_str list = {text, r->waiting.len + 2};
    pl_buf_clear(&r->waiting);
    r->n_waiting = 0;
    if (pl_stream_json(s, list, ret_doc, NULL) == PL_OK)
        return true;
    s->status = PL_NOMEM; /* it parsed before: memory ran out */
    return false;
}

void pl_gemini_release_calls(struct pl_stream *s, void *reader)
{
    static const struct pl_gemini_field signed_by =
        PL_GEMINI_FIELD("thoughtSignature", "thought_signature");
    struct pl_json_doc doc;
    struct pl_gemini_reading x = {.s = s, .r = reader, .doc = &doc};
    if (!take_waiting(s, x.r, &doc))
        return;
    for (const struct pl_json_node *n = pl_json_first(doc.root); n < pl_json_end(doc.root);
         n = pl_json_next(n)) {
        const struct pl_json_node *call, *signature;
        pl_gemini_get(&doc, n, &call_field, 1, &call);
        pl_gemini_get(&doc, n, &signed_by, 1, &signature);
        (void)pl_gemini_read_call(&x, 0, call, pl_pick_raw(&doc, signature));
    }
}

/* Compares ids where both have one, else names. */
static bool answers(const struct pl_json_doc *doc, const struct pl_json_node *call,
                    const struct pl_json_doc *by, const struct pl_json_node *response)
{
    const struct pl_json_node *c[N], *r[N];
    pl_gemini_get(doc, call, fields, N, c);
    pl_gemini_get(by, response, fields, N, r);
    struct pl_str id = pl_pick_raw(doc, c[ID]), other = pl_pick_raw(by, r[ID]);
    if (id.len && other.len)
        return pl_str_eq(id, other);
    return pl_str_eq(pl_pick_raw(doc, c[NAME]), pl_pick_raw(by, r[NAME]));
}

/* Emits the part. One without id gets ours, so that call and result belong together. */
static void take_part(const struct pl_gemini_reading *x, const struct pl_json_doc *doc,
                      const struct pl_json_node *part, const struct pl_json_node *inner,
                      enum pl_own_role role)
{
    const struct pl_json_node *f[N];
    PL_CLEANUP_BUF struct pl_buf made;
    pl_buf_init(&made, 0);
    struct pl_str all = pl_json_span(doc, part), body = pl_json_span(doc, inner);
    size_t at = (size_t)(body.ptr - all.ptr) + 1;
    pl_gemini_get(doc, inner, fields, N, f);
    pl_buf_add(&made, pl_str_slice(all, 0, at));
    if (!f[ID])
        pl_buf_addf(&made, "\"id\":\"call_%u\"%s", (unsigned)x->r->n_made,
                    pl_json_count(inner) ? "," : "");
    pl_buf_add(&made, pl_str_slice(all, at, all.len));
    if (made.status != PL_OK)
        x->s->status = made.status;
    else
        pl_stream_take_own(x->s, pl_buf_str(&made), role);
}

static bool has_id(const struct pl_json_doc *doc, const struct pl_json_node *call)
{
    const struct pl_json_node *f[N];
    pl_gemini_get(doc, call, fields, N, f);
    return f[ID] != NULL;
}

bool pl_gemini_serve_call(const struct pl_gemini_reading *x, const struct pl_json_node *part,
                          const struct pl_json_node *response)
{
    struct pl_json_doc doc;
    const struct pl_json_node *served = NULL, *call;
    if (x->r->n_waiting > MAX_SERVED || !take_waiting(x->s, x->r, &doc))
        return false;
    for (const struct pl_json_node *n = pl_json_first(doc.root); n < pl_json_end(doc.root);
         n = pl_json_next(n)) {
        pl_gemini_get(&doc, n, &call_field, 1, &call);
        if (!served && answers(&doc, call, x->doc, response)) {
            served = n;
            continue;
        }
        if (x->r->waiting.len)
            pl_buf_addc(&x->r->waiting, ',');
        pl_buf_add(&x->r->waiting, pl_json_span(&doc, n));
        x->r->n_waiting++;
    }
    if (x->r->waiting.status != PL_OK)
        x->s->status = x->r->waiting.status;
    if (!served)
        return false;
    pl_gemini_end_text(x->s, x->r, 0);
    pl_gemini_get(&doc, served, &call_field, 1, &call);
    x->r->n_made += !has_id(&doc, call);
    take_part(x, &doc, served, call, PL_OWN_CALL);
    take_part(x, x->doc, part, response, PL_OWN_RESULT);
    return true;
}

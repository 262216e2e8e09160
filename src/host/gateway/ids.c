/* Responses get ids of this server: a client may continue from the id it was given, and a vendor
 * that uses an id twice must not lead the client into another conversation. All other bytes
 * stay. */
#include "gateway/call.h"

#include "json/text.h"

static struct pl_str rest_from(struct pl_str text, const char *at)
{
    return pl_str_slice(text, (size_t)(at - text.ptr), text.len);
}

/* Writes `text` with our id in the response `object`, which is a node of it. */
static void splice(const struct pl_gateway_call *call, struct pl_str text,
                   const struct pl_json_doc *doc, const struct pl_json_node *object,
                   struct pl_buf *to)
{
    const struct pl_json_node *id = pl_json_get(doc, object, PL_STR("id"));
    struct pl_str old = pl_json_span(doc, id ? id : object);
    size_t n_before = (size_t)(old.ptr - text.ptr) + (id ? 0 : 1);
    pl_buf_add(to, pl_str_slice(text, 0, n_before));
    pl_buf_addf(to, "%s\"%s\"%s", id ? "" : "\"id\":", call->id.text,
                !id && pl_json_count(object) ? "," : "");
    pl_buf_add(to, rest_from(text, old.ptr + (id ? old.len : 1)));
}

/* The response in an event's data, or the whole answer itself; NULL: none. */
static const struct pl_json_node *response_in(const struct pl_json_doc *doc, bool is_event)
{
    const struct pl_json_node *at = doc->root;
    if (is_event && pl_json_kind(at) == PL_JSON_OBJECT)
        at = pl_json_get(doc, at, PL_STR("response"));
    return at && pl_json_kind(at) == PL_JSON_OBJECT ? at : NULL;
}

static void add_line(struct pl_gateway_call *call, struct pl_str line, struct pl_buf *to)
{
    struct pl_str data = PL_STR("data:");
    struct pl_json_doc doc;
    const struct pl_json_node *response = NULL;
    struct pl_str json = pl_str_slice(line, data.len, line.len);
    if (pl_str_starts(line, data) && memmem(json.ptr, json.len, "\"response\"", 10) &&
        pl_json_parse(&call->x->arena, json, &pl_json_any, &doc, NULL) == PL_OK)
        response = response_in(&doc, true);
    if (!response) {
        pl_buf_add(to, line);
        return;
    }
    pl_buf_add(to, data);
    splice(call, json, &doc, response, to);
}

void pl_gateway_call_own_events(struct pl_gateway_call *call, struct pl_buf *events)
{
    struct pl_str all = pl_buf_str(events);
    if (!call->id.text[0] || !all.len || !memmem(all.ptr, all.len, "\"response\"", 10))
        return;
    struct pl_buf out;
    pl_buf_init(&out, events->max);
    while (all.len) {
        const char *end = memchr(all.ptr, '\n', all.len);
        size_t n = end ? (size_t)(end - all.ptr) + 1 : all.len;
        add_line(call, pl_str_slice(all, 0, n), &out);
        all = pl_str_slice(all, n, all.len);
    }
    pl_buf_deinit(events);
    *events = out;
}

void pl_gateway_call_own_whole(struct pl_gateway_call *call, struct pl_buf *answer)
{
    struct pl_json_doc doc;
    struct pl_buf out;
    struct pl_str text = pl_buf_str(answer);
    if (!call->id.text[0] ||
        pl_json_parse(&call->x->arena, text, &pl_json_any, &doc, NULL) != PL_OK ||
        !response_in(&doc, false))
        return;
    pl_buf_init(&out, answer->max);
    splice(call, text, &doc, doc.root, &out);
    pl_buf_deinit(answer);
    *answer = out;
}

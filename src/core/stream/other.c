/* Parts that only their vendor has (a search, a program that ran there, an image) are converted
 * like those of whole answers, so that stream and whole answer agree. Such parts are rare and come
 * whole.
 *
 * Some targets have one item for a call and its result. So a call waits for its result, or for any
 * other part, and call and result are converted together. */
#include "format/convert.h"
#include "stream/stream.h"

/* The form of a whole answer: the text around the parts, and the path to them. A step without a
 * name is the first element of a list. */
struct shape {
    const struct pl_dialect *dialect;
    const char *before, *after;
    const char *way[5];
    size_t n_steps;
};

static const struct shape shapes[] = {
    {&pl_dialect_openai_chat,
     "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":null,\"images\":[",
     "]},\"finish_reason\":\"stop\"}]}",
     {"choices", NULL, "message"},
     3},
    {&pl_dialect_openai_responses,
     "{\"object\":\"response\",\"status\":\"completed\",\"output\":[",
     "]}",
     {"output"},
     1},
    {&pl_dialect_anthropic,
     "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[",
     "],\"stop_reason\":\"end_turn\"}",
     {"content"},
     1},
    {&pl_dialect_gemini,
     "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[",
     "]},\"finishReason\":\"STOP\",\"index\":0}]}",
     {"candidates", NULL, "content", "parts"},
     4},
};

static const struct shape *shape_of(const struct pl_dialect *dialect)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].dialect == dialect)
            return &shapes[i];
    return NULL;
}

static const struct pl_json_node *walk(const struct pl_json_doc *doc, const struct shape *shape)
{
    const struct pl_json_node *at = doc->root;
    for (size_t i = 0; at && i < shape->n_steps; i++) {
        bool is_first = !shape->way[i];
        if (pl_json_kind(at) != (is_first ? PL_JSON_ARRAY : PL_JSON_OBJECT))
            return NULL;
        if (!is_first)
            at = pl_json_get(doc, at, pl_str_of(shape->way[i]));
        else
            at = pl_json_count(at) ? pl_json_first(at) : NULL;
    }
    return at;
}

/* Converts an answer with these parts, in the event's arena; empty if that fails. */
static struct pl_str convert(struct pl_stream *s, const struct shape *from, struct pl_str parts)
{
    PL_CLEANUP_BUF struct pl_buf answer;
    struct pl_converted made;
    struct pl_error err;
    struct pl_str text = {0};
    pl_buf_init(&answer, 0);
    pl_buf_adds(&answer, from->before);
    pl_buf_add(&answer, parts);
    pl_buf_adds(&answer, from->after);
    pl_converted_init(&made);
    enum pl_status status = answer.status;
    if (status == PL_OK)
        status = pl_convert(pl_buf_str(&answer),
                            &(struct pl_convert_opts){.from = s->from->format,
                                                      .to = s->to->format,
                                                      .kind = PL_KIND_RESPONSE,
                                                      .n_called_before = s->own.n_called},
                            &made, &err);
    if (status == PL_OK)
        text = pl_arena_dup(&s->arena, pl_buf_str(&made.out));
    s->own.n_called += made.n_called;
    pl_converted_deinit(&made);
    if (status == PL_NOMEM || (status == PL_OK && !text.ptr))
        s->status = PL_NOMEM;
    return text;
}

const struct pl_json_node *pl_stream_say_whole(struct pl_stream *s, const struct pl_delta *other,
                                               struct pl_json_doc *ret_doc)
{
    const struct shape *from = shape_of(s->from), *to = shape_of(s->to);
    if (!from || !to || other->choice)
        return NULL;
    struct pl_str text = convert(s, from, other->json);
    if (!text.ptr || pl_stream_json(s, text, ret_doc, NULL) != PL_OK)
        return NULL;
    return walk(ret_doc, to);
}

bool pl_stream_wants_own(const struct pl_stream *s)
{
    return s->from != s->to && s->to->write[PL_DELTA_OTHER] &&
           (s->to->takes_all || shape_of(s->to));
}

void pl_stream_keep_own(struct pl_stream *s, struct pl_str part, enum pl_own_role role)
{
    struct pl_stream_own *own = &s->own;
    if (!own->parts.max)
        pl_buf_init(&own->parts, 0);
    if (own->parts.len)
        pl_buf_addc(&own->parts, ',');
    pl_buf_add(&own->parts, part);
    if (own->parts.status != PL_OK)
        s->status = own->parts.status;
    if (role == PL_OWN_CALL)
        own->n_open++;
    else if (role == PL_OWN_RESULT && own->n_open)
        own->n_open--;
}

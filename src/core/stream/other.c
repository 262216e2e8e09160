/* Parts that only their vendor has are converted like those of whole answers, so that stream and
 * whole answer agree. Such parts are rare and come whole. */
#include "format/convert.h"
#include "stream/stream.h"

/* The message of a chat completion, of the first answer. */
static const struct pl_json_node *message_of(const struct pl_json_doc *doc)
{
    const struct pl_json_node *choices = pl_json_get(doc, doc->root, PL_STR("choices"));
    if (!choices || pl_json_kind(choices) != PL_JSON_ARRAY || !pl_json_count(choices))
        return NULL;
    return pl_json_get(doc, pl_json_first(choices), PL_STR("message"));
}

const struct pl_json_node *pl_stream_say_whole(struct pl_stream *s, const struct pl_delta *other,
                                               struct pl_json_doc *ret_doc)
{
    PL_CLEANUP_BUF struct pl_buf answer;
    struct pl_converted made;
    struct pl_error err;
    if (s->from != &pl_dialect_gemini || s->to != &pl_dialect_openai_chat || other->choice)
        return NULL;
    pl_buf_init(&answer, 0);
    pl_buf_adds(&answer, "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[");
    pl_buf_add(&answer, other->json);
    pl_buf_adds(&answer, "]},\"index\":0}]}");
    pl_converted_init(&made);
    enum pl_status status = answer.status;
    if (status == PL_OK)
        status =
            pl_convert(pl_buf_str(&answer),
                       &(struct pl_convert_opts){
                           .from = s->from->format, .to = s->to->format, .kind = PL_KIND_RESPONSE},
                       &made, &err);
    struct pl_str text = {0};
    if (status == PL_OK)
        text = pl_arena_dup(&s->arena, pl_buf_str(&made.out));
    pl_converted_deinit(&made);
    if (status == PL_NOMEM || (status == PL_OK && !text.ptr))
        s->status = PL_NOMEM;
    if (!text.ptr || pl_stream_json(s, text, ret_doc, NULL) != PL_OK)
        return NULL;
    return message_of(ret_doc);
}

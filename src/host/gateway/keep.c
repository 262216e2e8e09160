/* Stores an exchange as a session: the request's messages and the answer become its turns. Also
 * makes an answer available by its id (previous_response_id). */
#include "gateway/call.h"

#include "json/text.h"
#include "shard/log.h"
#include "store/gateway.h"

enum { MAX_INTENT = 80 };

bool pl_gateway_call_wants_keeping(struct pl_gateway_call *call)
{
    const struct pl_exchange *x = call->x;
    struct pl_str wanted = pl_http_header_get(x->head, "parley-record");
    if (call->options.is_embedding) /* there are no messages */
        return false;
    if (wanted.len)
        return pl_str_eq(wanted, PL_STR("session"));
    const char *always = x->setup->config.gateway_record;
    if (always && strcmp(always, "sessions") == 0)
        return true;
    if (call->options.speech != &pl_speech_openai_responses)
        return false;
    const struct pl_json_node *store = pl_json_get(&call->doc, call->doc.root, PL_STR("store"));
    return !store || pl_json_kind(store) != PL_JSON_FALSE;
}

/* The last event of the stream is {"type":"response.completed","response":{…}}, on one line. */
void pl_gateway_call_note_whole(struct pl_gateway_call *call, struct pl_stream *stream)
{
    struct pl_str out = pl_buf_str(&stream->out);
    if (!call->is_kept || call->whole.len)
        return;
    const char *at = NULL;
    for (size_t i = out.len; stream->is_ended && !at && i-- > 0;)
        if ((i == 0 || out.ptr[i - 1] == '\n') &&
            pl_str_starts(pl_str_slice(out, i, out.len), PL_STR("data: {")))
            at = out.ptr + i;
    if (at) {
        const char *end = memchr(at, '\n', (size_t)(out.ptr + out.len - at));
        const char *stop = end ? end : out.ptr + out.len;
        pl_buf_add(&call->last, (struct pl_str){at + 6, (size_t)(stop - at - 6)});
        struct pl_json_doc doc;
        const struct pl_json_node *response = NULL;
        if (call->last.status == PL_OK && pl_json_parse(&call->x->arena, pl_buf_str(&call->last),
                                                        &pl_json_own, &doc, NULL) == PL_OK)
            response = pl_json_get(&doc, doc.root, PL_STR("response"));
        if (response)
            call->whole = pl_json_span(&doc, response);
    }
    if (stream == call->record)
        pl_buf_clear(&stream->out);
}

/* --- on a worker ----------------------------------------------------------------------------- */

static enum pl_status add_turns(struct pl_gateway_call *call, const struct pl_format *from,
                                enum pl_format_kind kind, struct pl_str text, struct pl_error *err)
{
    struct pl_converted made;
    struct pl_convert_opts opts = {.from = from, .to = &pl_format_turns, .kind = kind};
    pl_converted_init(&made);
    struct pl_str turns = {0};
    enum pl_status status = pl_convert(text, &opts, &made, err);
    if (status == PL_OK) {
        turns = pl_arena_dup(&call->x->arena, pl_buf_str(&made.out));
        status = turns.ptr ? PL_OK : PL_NOMEM;
    }
    if (status == PL_OK)
        status = pl_session_copy_add_document(call->copying, &call->x->arena, turns, err);
    pl_converted_deinit(&made);
    return status;
}

static struct pl_str intent_of(struct pl_gateway_call *call)
{
    PL_CLEANUP_BUF struct pl_buf intent;
    pl_buf_init(&intent, 0);
    pl_buf_addf(&intent, "%s through the gateway", call->options.speech->name);
    struct pl_str text = pl_arena_dup(&call->x->arena, pl_buf_str(&intent));
    return text.ptr ? text : PL_STR("");
}

static void keep_id(struct pl_gateway_call *call, int64_t n_input)
{
    if (call->id.text[0])
        pl_batch_keep_response(call->copying->batch, call->x->caller.user_id,
                               &(struct pl_kept_response){
                                   .id = pl_str_of(call->id.text),
                                   .session_id = call->copying->record.id,
                                   .body = call->whole,
                                   .n_input = n_input,
                               });
}

static void build(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    struct pl_error err = {0};
    call->copying = pl_arena_zalloc(&x->arena, 1, sizeof *call->copying);
    enum pl_status status = call->copying ? pl_session_copy_begin(call->copying, x) : PL_NOMEM;
    if (status == PL_OK) {
        call->copying->record.source = PL_STR("gateway");
        call->copying->record.intent = intent_of(call);
        status = add_turns(call, call->options.speech->format, PL_KIND_REQUEST, call->text, &err);
    }
    int64_t n_input = status == PL_OK ? call->copying->record.next_entry : 0;
    if (status == PL_OK)
        status = add_turns(call, &pl_format_openai_responses, PL_KIND_RESPONSE, call->whole, &err);
    if (status == PL_OK) {
        keep_id(call, n_input);
        return;
    }
    /* Without the message, which may quote the conversation. */
    pl_log_say(x->shard->server->log, NULL, PL_LOG_WARNING,
               "gateway: request %s could not be stored as a session: %s", x->request_id,
               pl_status_info(status)->text);
    if (call->copying) {
        pl_batch_destroy(call->copying->batch);
        call->copying = NULL;
    }
}

/* --- on the shard ---------------------------------------------------------------------------- */

static void go_on(struct pl_gateway_call *call)
{
    (void)pl_gateway_call_is_back(call); /* stored even if the client is gone */
    call->after_keeping(call->x);
}

static void committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_gateway_call *call = ctx;
    struct pl_exchange *x = call->x;
    pl_exchange_is_back(x);
    if (status != PL_OK)
        pl_log_say(x->shard->server->log, x->shard, PL_LOG_WARNING,
                   "gateway: request %s could not be stored as a session: %s", x->request_id,
                   err->message);
    go_on(call);
}

static void built(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    if (!call->copying) {
        go_on(call);
        return;
    }
    if (!pl_exchange_is_flowing(x))
        pl_exchange_header(x, "Parley-Session", "%s", call->copying->id.text);
    pl_exchange_lend(x);
    pl_store_submit(x->shard->server->store, x->shard->loop, pl_session_copy_take(call->copying),
                    committed, call);
}

void pl_gateway_call_keep(struct pl_gateway_call *call, void (*after)(struct pl_exchange *x))
{
    call->after_keeping = after;
    pl_gateway_call_lend(call);
    pl_exchange_compute(call->x, build, built);
}

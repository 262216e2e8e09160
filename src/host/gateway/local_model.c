/* Our own models in the gateway: they are called with turns, and their output is written in the
 * client's dialect. If it is not streamed, it is written in a dialect that repeats the whole answer
 * at its end, and that answer is converted. */
#include "gateway/call.h"

#include "agent/context/replay_source.h"
#include "base/text/uuid.h"
#include "json/number.h"
#include "json/text.h"
#include "model/model.h"
#include "service/request_options.h"

#include <stdio.h>

enum { MAX_SAID = 32 << 20 };

/* --- what is asked --------------------------------------------------------------------------- */

static enum pl_status convert_to_turns(struct pl_gateway_call *call, struct pl_error *err)
{
    struct pl_converted made;
    struct pl_convert_opts opts = {.from = call->options.speech->format,
                                   .to = &pl_format_turns,
                                   .max_items = PL_MAX_ITEMS,
                                   .refuses_wrong_types = true,
                                   .doc = &call->doc};
    pl_converted_init(&made);
    enum pl_status status = pl_convert(call->text, &opts, &made, err);
    if (status == PL_OK)
        pl_buf_add(&call->body, pl_buf_str(&made.out));
    pl_converted_deinit(&made);
    return status == PL_OK ? call->body.status : status;
}

static enum pl_status count_answers(struct pl_gateway_call *call, int64_t *ret_n)
{
    struct pl_json_doc doc;
    int64_t n = 0;
    enum pl_status status =
        pl_json_parse(&call->x->arena, pl_buf_str(&call->body), &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    for (const struct pl_json_node *turn = pl_json_first(doc.root); turn < pl_json_end(doc.root);
         turn = pl_json_next(turn)) {
        const struct pl_json_node *role = pl_json_get(&doc, turn, PL_STR("role"));
        n += role && pl_json_kind(role) == PL_JSON_STRING &&
             pl_json_text_is(&doc, role, PL_STR("assistant"));
    }
    *ret_n = n;
    return PL_OK;
}

/* The recorded answer replaces the conversation. */
static enum pl_status find_recorded(struct pl_gateway_call *call, struct pl_error *err)
{
    struct pl_exchange *x = call->x;
    int64_t n_answers = 0;
    enum pl_status status = count_answers(call, &n_answers);
    pl_buf_clear(&call->body);
    if (status == PL_OK)
        status = pl_replay_answers(x->shard->server->store, &x->arena, x->caller.user_id,
                                   pl_model_replayed(pl_gateway_call_target(call)->model),
                                   n_answers, &call->body, err);
    return status;
}

bool pl_gateway_call_make_turns(struct pl_gateway_call *call)
{
    struct pl_error err = {0};
    if (!pl_gateway_call_parse(call))
        return false;
    enum pl_status status = convert_to_turns(call, &err);
    if (status != PL_OK) {
        pl_gateway_call_refuse(call, status, &err);
        return false;
    }
    if (pl_model_replayed(pl_gateway_call_target(call)->model).len)
        status = find_recorded(call, &err);
    if (status == PL_OK)
        return true;
    pl_gateway_call_fail(call,
                         status == PL_NOT_FOUND ? 404
                         : status == PL_NOMEM   ? 503
                         : status == PL_IO      ? 500
                                                : 400,
                         NULL, "%s", err.message[0] ? err.message : pl_status_info(status)->text);
    return false;
}

/* --- what comes back ------------------------------------------------------------------------- */

static void fail(struct pl_gateway_call *call, int status, const char *code, struct pl_str reason)
{
    if (pl_exchange_is_flowing(call->x)) {
        pl_speak_error(&call->speaker, reason);
        pl_gateway_call_end_flow(call);
        return;
    }
    pl_gateway_call_fail(call, status, code, "%.*s", PL_STR_ARG(reason));
    if (status >= 500 && pl_gateway_call_next(call))
        return;
    pl_gateway_call_put_headers(call);
    pl_gateway_call_finish(call);
}

static void pass_on(struct pl_gateway_call *call)
{
    const struct pl_buf *out = &call->speaker.stream->out;
    bool is_too_much = out->len > MAX_SAID || call->x->reply.len > MAX_SAID;
    if (is_too_much || pl_speaker_status(&call->speaker) != PL_OK) {
        pl_gateway_call_stop_asking(call);
        fail(call, 503, NULL,
             is_too_much ? PL_STR("The answer is longer than 32 MiB.") : PL_STR("Out of memory."));
    } else if (call->is_stream) {
        pl_gateway_call_pass_on(call);
    }
}

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct pl_gateway_call *call = ctx;
    if (!call->first_at_ms)
        call->first_at_ms = pl_loop_unix_ms(call->x->shard->loop);
    call->n_said += text.len;
    pl_speak_text(&call->speaker, is_thinking, text);
    pass_on(call);
}

static void on_call(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof)
{
    struct pl_gateway_call *call = ctx;
    char id[64];
    (void)proof;
    int n = snprintf(id, sizeof id, "call_%.24s%zu", call->x->request_id, call->n_calls++);
    call->n_said += arguments.len;
    pl_speak_call(&call->speaker, (struct pl_str){id, (size_t)n}, tool_name, arguments);
    pass_on(call);
}

/* A recorded text that came in one block is text. Other blocks of a session have no place in a
 * vendor's answer. */
static void on_block(void *ctx, const struct pl_model_block *block)
{
    struct pl_gateway_call *call = ctx;
    bool is_thinking = pl_str_eq(block->type, PL_STR("thinking"));
    struct pl_json_doc doc;
    struct pl_str text;
    if ((!is_thinking && !pl_str_eq(block->type, PL_STR("text"))) || !block->content.len ||
        pl_json_parse(&call->x->arena, block->content, &pl_json_own, &doc, NULL) != PL_OK ||
        pl_json_kind(doc.root) != PL_JSON_STRING ||
        pl_json_text(&call->x->arena, &doc, doc.root, &text) != PL_OK)
        return;
    on_text(call, is_thinking, text);
}

static int64_t count_of(struct pl_gateway_call *call, struct pl_str usage, const char *name)
{
    struct pl_json_doc doc;
    int64_t n = -1;
    if (!usage.len || pl_json_parse(&call->x->arena, usage, &pl_json_own, &doc, NULL) != PL_OK)
        return -1;
    const struct pl_json_node *node = pl_json_get(&doc, doc.root, pl_str_of(name));
    if (!node || pl_json_kind(node) != PL_JSON_NUMBER ||
        !pl_json_number_int64(pl_json_span(&doc, node), &n))
        return -1;
    return n;
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct pl_gateway_call *call = ctx;
    (void)model, (void)timing;
    call->own = NULL;
    pl_gateway_call_stop_asking(call);
    call->counts.input = count_of(call, usage, "input_tokens");
    call->counts.output = count_of(call, usage, "output_tokens");
    call->counts.total = call->counts.input >= 0 && call->counts.output >= 0
                             ? call->counts.input + call->counts.output
                             : -1;
    pl_speak_end(&call->speaker, &call->counts);
    if (pl_speaker_status(&call->speaker) != PL_OK) {
        fail(call, 503, NULL, PL_STR("Out of memory."));
        return;
    }
    bool is_kept = call->is_kept;
    bool tells_whole = call->speaker.stream->to == &pl_dialect_openai_responses;
    call->is_kept = tells_whole;
    pl_gateway_call_note_whole(call, call->speaker.stream);
    call->is_kept = is_kept && tells_whole;
    if (call->is_stream)
        pl_gateway_call_end_flow(call);
    else
        pl_gateway_call_answer_whole(call);
}

static void on_failed(void *ctx, const struct pl_model_failure *failure)
{
    struct pl_gateway_call *call = ctx;
    call->own = NULL;
    pl_gateway_call_stop_asking(call);
    bool is_overflow = failure->is_overflow;
    fail(call,
         is_overflow              ? 400
         : failure->vendor_status ? failure->vendor_status
                                  : 500,
         is_overflow ? "context_length_exceeded" : NULL, failure->reason);
}

static const struct pl_model_ops ops = {
    .on_text = on_text,
    .on_block = on_block,
    .on_call = on_call,
    .on_end = on_end,
    .on_failed = on_failed,
};

void pl_gateway_call_ask_own(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    struct pl_error err = {0};
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    struct pl_id id = call->id.text[0] ? call->id : pl_id_take(&seed, "resp_");
    struct pl_model_request request = {
        .models = x->setup->models,
        .model = pl_gateway_call_target(call)->model,
        .turns = pl_buf_str(&call->body),
        .tools = PL_STR("[]"),
    };
    pl_speaker_deinit(&call->speaker);
    enum pl_status status =
        pl_speaker_init(&call->speaker, call->is_stream ? call->options.speech->dialect
                                                        : &pl_dialect_openai_responses);
    if (status == PL_OK) {
        pl_speak_start(&call->speaker, pl_str_of(id.text), pl_gateway_call_target(call)->model,
                       pl_loop_unix_ms(x->shard->loop) / 1000);
        status = pl_model_start(x->shard->loop, &request, &ops, call, &call->own, &err);
    }
    if (status == PL_OK) {
        pl_gateway_call_become(call, PL_GW_ASKED);
        return;
    }
    pl_gateway_call_fail(call, status == PL_NOMEM ? 503 : 400, NULL, "%s",
                         err.message[0] ? err.message : pl_status_info(status)->text);
    pl_gateway_call_put_headers(call);
    pl_gateway_call_finish(call);
}

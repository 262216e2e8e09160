/* Embeddings: a call like any other, with its limits, chains and errors. Client and provider differ
 * in shape (format/embed); our own model makes them at once. */
#include "gateway/call.h"

#include "json/text.h"
#include "model/model.h"
#include "service/loss_header.h"

enum { BYTES_PER_TOKEN = 4, MAX_NUMBERS = 1 << 20 };

/* --- what is asked --------------------------------------------------------------------------- */

static bool refuse(struct pl_gateway_call *call, enum pl_status status, const struct pl_error *err)
{
    if (status == PL_NOMEM)
        pl_gateway_call_fail(call, 503, NULL, "There is not enough memory for this request.");
    else
        pl_gateway_call_fail(call, 400, NULL, "The request: %s", err->message);
    return false;
}

static enum pl_status write_other(struct pl_gateway_call *call,
                                  const struct pl_embed_request *request, struct pl_error *err)
{
    const struct pl_model_target *target = pl_gateway_call_target(call);
    PL_CLEANUP_BUF struct pl_buf report;
    pl_buf_init(&report, 0);
    enum pl_status status =
        pl_embed_write(request, target->vendor->embeds, target->model, &call->body, &report, err);
    if (status == PL_OK)
        pl_loss_header_add(&call->loss, &call->x->arena, "", pl_buf_str(&report));
    return status;
}

/* --- our own --------------------------------------------------------------------------------- */

static enum pl_status make_one(struct pl_gateway_call *call, const struct pl_embed_request *request,
                               const struct pl_json_node *node, float *vector, size_t n)
{
    struct pl_str text;
    int64_t n_words = 0;
    if (pl_json_text(&call->x->arena, request->doc, node, &text) != PL_OK)
        return PL_NOMEM;
    pl_embedding_make(text, vector, n, &n_words);
    call->counts.input += n_words;
    pl_embed_vector_write(&call->body, vector, n, request->wants_base64);
    return call->body.status;
}

/* Writes the whole answer to call->body: the call may still be refused. */
static enum pl_status make_own(struct pl_gateway_call *call, const struct pl_embed_request *request,
                               struct pl_error *err)
{
    size_t n = request->dimensions ? (size_t)request->dimensions : PL_EMBEDDING_DIMENSIONS;
    if (request->is_tokens)
        return pl_fail(err, PL_INVALID,
                       "input has token numbers, which demo/embed does not know; send texts.");
    if (n > PL_EMBEDDING_MAX_DIMENSIONS)
        return pl_fail(err, PL_INVALID, "dimensions is at most %d for demo/embed.",
                       PL_EMBEDDING_MAX_DIMENSIONS);
    if (n * request->n_inputs > MAX_NUMBERS)
        return pl_fail(err, PL_INVALID, "demo/embed makes at most %d numbers at once.",
                       MAX_NUMBERS);
    float *vector = pl_arena_alloc(&call->x->arena, n * sizeof *vector, sizeof *vector);
    const struct pl_json_node *node = pl_embed_text(request, 0);
    enum pl_status status = vector ? PL_OK : PL_NOMEM;
    call->counts.input = call->counts.output = 0;
    pl_buf_adds(&call->body, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; status == PL_OK && i < request->n_inputs; i++, node = pl_json_next(node)) {
        pl_buf_addf(&call->body,
                    "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", i ? "," : "", i);
        status = make_one(call, request, node, vector, n);
        pl_buf_addc(&call->body, '}');
    }
    pl_buf_addf(
        &call->body, "],\"model\":\"%s\",\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":%lld}}",
        pl_embedding_model->name, (long long)call->counts.input, (long long)call->counts.input);
    return status == PL_OK ? call->body.status : status;
}

void pl_gateway_call_end_embedding(struct pl_gateway_call *call)
{
    pl_buf_add(&call->x->reply, pl_buf_str(&call->body));
    call->x->status = 200;
    pl_gateway_call_count(call);
    pl_gateway_call_put_headers(call);
    pl_gateway_call_finish(call);
}

bool pl_gateway_call_make_embedding(struct pl_gateway_call *call)
{
    const struct pl_model_target *target = pl_gateway_call_target(call);
    struct pl_embed_request request;
    struct pl_error err = {0};
    if (!pl_gateway_call_parse(call))
        return false;
    enum pl_status status = pl_embed_read(&call->doc, &request, &err);
    if (status != PL_OK)
        return refuse(call, status, &err);
    /* Token numbers cannot be measured as text. */
    if (request.is_tokens)
        call->size.n_text_bytes = (size_t)request.n_tokens * BYTES_PER_TOKEN;
    call->embeds = (struct pl_embed_asked){
        .shape = target->vendor ? target->vendor->embeds : PL_EMBED_NONE,
        .model = target->model,
        .n_inputs = request.n_inputs,
        .wants_base64 = request.wants_base64,
        .tokens = (int64_t)(call->size.n_text_bytes / BYTES_PER_TOKEN),
    };
    if (call->embeds.shape == PL_EMBED_OPENAI)
        return pl_gateway_call_pass_body(call);
    status = target->vendor ? write_other(call, &request, &err) : make_own(call, &request, &err);
    return status == PL_OK || refuse(call, status, &err);
}

/* --- what comes back ------------------------------------------------------------------------- */

void pl_gateway_call_read_embedding(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    const struct pl_model_target *target = pl_gateway_call_target(call);
    struct pl_json_doc doc;
    struct pl_error err = {0};
    if (pl_json_parse(&x->arena, pl_buf_str(&call->answer), &pl_json_any, &doc, &err) != PL_OK) {
        pl_gateway_call_fail(call, 502, NULL, "%s sent an answer that is not JSON.",
                             target->vendor->name);
        return;
    }
    if (call->embeds.shape == PL_EMBED_OPENAI && pl_embed_fits(&doc, &call->embeds)) {
        pl_buf_add(&x->reply, pl_buf_str(&call->answer));
    } else if (pl_embed_answer(&doc, &call->embeds, &x->reply, &err) == PL_INVALID) {
        pl_gateway_call_fail(call, 502, NULL,
                             "%s sent an answer that is no list of embeddings: %s.",
                             target->vendor->name, err.message);
        return;
    }
    call->counts.input = pl_embed_tokens(&doc, call->embeds.shape);
    call->counts.output = 0;
}

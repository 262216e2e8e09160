/* A vendor's model behind model.h: what was prepared is sent, the stream that comes back is heard
 * (stream/hear.h) and told. Of an alias's chain the next is asked when one does not answer, as long
 * as nothing has been told.
 *
 * Callbacks may cancel the call while a stream is being heard; it stays until that is over. */
#include "base/mem.h"
#include "base/table.h"
#include "json/text.h"
#include "model/vendor_model_int.h"
#include "stream/hear.h"

enum {
    MAX_ERROR_BODY = 256 << 10,
    LAST_BYTES_MS = 200, /* an answer has ended: for the connection to be of use again */
};

struct vendor_call {
    struct pl_model_call base;      /* first */
    struct pl_loop *loop;           /* borrowed */
    struct pl_upstreams *upstreams; /* borrowed */
    const struct pl_model_ops *ops;
    void *ctx;
    struct pl_model_prepared *prepared; /* owned */
    size_t i;                           /* of its targets, the one being asked */
    struct pl_vendor_call *asked;       /* owned; NULL when it has ended */
    struct pl_hearing *hearing;         /* owned; NULL until there is a stream */
    struct pl_arena arena;              /* what is told at the end */
    struct pl_str owner;                /* arena */
    struct pl_timer timer;              /* the last bytes */
    struct pl_buf error_body;           /* of an answer that is none */
    int status;
    int64_t started_ms, first_ms;
    struct pl_heard_end end; /* arena */
    struct pl_str failure;   /* arena; a sentence */
    int n_inside;            /* the stream is being heard */
    bool has_told, has_refused, is_overflow;
    bool is_over; /* end or failure is known */
    bool is_cancelled;
};

static const struct pl_model_target *target_of(const struct vendor_call *call)
{
    return &call->prepared->targets[call->i];
}

static void destroy(struct vendor_call *call)
{
    pl_timer_stop(call->loop, &call->timer);
    pl_vendor_cancel(PL_TAKE(call->asked));
    pl_hearing_destroy(call->hearing);
    pl_model_prepared_destroy(call->prepared);
    pl_buf_deinit(&call->error_body);
    pl_arena_deinit(&call->arena);
    pl_mem_free(call);
}

static void cancel(struct pl_model_call *base)
{
    struct vendor_call *call = (struct vendor_call *)base;
    pl_vendor_cancel(PL_TAKE(call->asked));
    call->is_cancelled = true;
    if (!call->n_inside)
        destroy(call);
}

/* --- what is told at the end ----------------------------------------------------------------- */

static void add_count(struct pl_buf *to, const char *key, int64_t n)
{
    if (n >= 0)
        pl_buf_addf(to, "%s\"%s\":%lld", to->len > 1 ? "," : "", key, (long long)n);
}

static void write_usage(struct pl_buf *to, const struct pl_counts *counts)
{
    if (counts->input < 0 && counts->output < 0)
        return;
    pl_buf_addc(to, '{');
    add_count(to, "input_tokens", counts->input);
    add_count(to, "output_tokens", counts->output);
    add_count(to, "cache_read_tokens", counts->cache_read);
    add_count(to, "cache_write_tokens", counts->cache_write);
    add_count(to, "reasoning_tokens", counts->reasoning);
    pl_buf_addc(to, '}');
}

static void write_timing(struct pl_buf *to, const struct vendor_call *call)
{
    int64_t now_ms = pl_loop_now_ms(call->loop);
    int64_t cost = pl_target_cost(target_of(call), &call->end.counts);
    int64_t first_ms = call->has_told ? call->first_ms : now_ms;
    pl_buf_addf(to, "{\"ttft_ms\":%lld,\"total_ms\":%lld", (long long)(first_ms - call->started_ms),
                (long long)(now_ms - call->started_ms));
    /* A price that is not known is not said. */
    if (cost >= 0)
        pl_buf_addf(to, ",\"cost_usd\":%lld.%06lld", (long long)(cost / 1000000),
                    (long long)(cost % 1000000));
    pl_buf_addc(to, '}');
}

/* Who answered: with the vendor's name, as the turn was asked for. */
static void write_model(struct pl_buf *to, const struct vendor_call *call)
{
    struct pl_str model = call->end.model.len ? call->end.model : target_of(call)->model;
    pl_buf_adds(to, target_of(call)->vendor->name);
    pl_buf_addc(to, '/');
    pl_buf_add(to, model);
}

/* An answer that did not end of its own accord says so, for the person who reads it. */
static void write_notice(struct pl_buf *to, const struct vendor_call *call)
{
    const struct pl_heard_end *end = &call->end;
    const char *vendor = target_of(call)->vendor->name;
    bool is_refusal = call->has_refused || pl_str_eq(end->word, PL_STR("refusal"));
    struct pl_str word = pl_str_slice(end->word, 0, 80), detail = pl_str_slice(end->detail, 0, 400);
    if (is_refusal)
        pl_buf_addf(to, "The model refused to answer.");
    else if (end->finish == PL_FINISH_LENGTH)
        pl_buf_addf(to, "The answer is cut off: the model's limit was reached (%.*s).",
                    PL_STR_ARG(word));
    else if (end->finish == PL_FINISH_FILTER)
        pl_buf_addf(to, "The answer was stopped by a filter of %s (%.*s).", vendor,
                    PL_STR_ARG(word));
    else if (end->finish == PL_FINISH_OTHER && word.len)
        pl_buf_addf(to, "The model stopped for a reason of its own (%.*s).", PL_STR_ARG(word));
    if (to->len && detail.len && !pl_str_eq(detail, word))
        pl_buf_addf(to, " %s says: %.*s", vendor, PL_STR_ARG(detail));
}

/* False when out of memory. */
static bool tell_notice(struct vendor_call *call)
{
    PL_CLEANUP_BUF struct pl_buf text, json;
    pl_buf_init(&text, 0);
    pl_buf_init(&json, 0);
    write_notice(&text, call);
    if (!text.len)
        return text.status == PL_OK;
    pl_json_quote(&json, pl_buf_str(&text));
    if (json.status != PL_OK)
        return false;
    struct pl_model_block block = {
        .type = PL_STR("system_notification"),
        .content = pl_buf_str(&json),
    };
    call->n_inside++;
    call->ops->on_block(call->ctx, &block);
    call->n_inside--;
    return true;
}

static void tell_failure(struct vendor_call *call, struct pl_str sentence)
{
    call->ops->on_failed(call->ctx, sentence, call->is_overflow);
    destroy(call);
}

/* The strings live in the call: it is told first. Nothing reaches it any more then. */
static void tell_end(struct vendor_call *call)
{
    PL_CLEANUP_BUF struct pl_buf model, usage, timing;
    pl_buf_init(&model, 0);
    pl_buf_init(&usage, 0);
    pl_buf_init(&timing, 0);
    write_model(&model, call);
    write_usage(&usage, &call->end.counts);
    write_timing(&timing, call);
    bool is_whole = tell_notice(call) && model.status == PL_OK && usage.status == PL_OK &&
                    timing.status == PL_OK;
    if (call->is_cancelled) {
        destroy(call);
        return;
    }
    if (!is_whole) {
        tell_failure(call, PL_STR("Out of memory."));
        return;
    }
    call->ops->on_end(call->ctx, pl_buf_str(&model), pl_buf_str(&usage), pl_buf_str(&timing));
    destroy(call);
}

/* --- failing, or asking the next ------------------------------------------------------------- */

static enum pl_status ask(struct vendor_call *call, struct pl_error *err);

/* `may_go_on`: another vendor could do better. */
static void fail(struct vendor_call *call, struct pl_str sentence, bool may_go_on)
{
    struct pl_error err = {0};
    pl_vendor_cancel(PL_TAKE(call->asked));
    if (may_go_on && !call->has_told && !call->is_overflow && call->i + 1 < call->prepared->n) {
        call->i++;
        if (ask(call, &err) == PL_OK)
            return;
        sentence = PL_STR("Out of memory.");
    }
    tell_failure(call, sentence);
}

static void settle(struct vendor_call *call)
{
    if (call->failure.len)
        fail(call, call->failure, true);
    else
        tell_end(call);
}

static void on_last_bytes(struct pl_timer *timer)
{
    settle(PL_CONTAINER_OF(timer, struct vendor_call, timer));
}

/* --- hearing --------------------------------------------------------------------------------- */

static void note_first(struct vendor_call *call)
{
    if (!call->has_told)
        call->first_ms = pl_loop_now_ms(call->loop);
    call->has_told = true;
}

static void hear_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct vendor_call *call = ctx;
    if (call->is_cancelled)
        return;
    note_first(call);
    call->ops->on_text(call->ctx, is_thinking, text);
}

static void hear_refusal(void *ctx, struct pl_str text)
{
    struct vendor_call *call = ctx;
    call->has_refused = true;
    hear_text(ctx, false, text);
}

static void add_text(struct pl_buf *to, const char *key, struct pl_str text)
{
    if (!text.len)
        return;
    pl_buf_addf(to, ",\"%s\":", key);
    pl_json_quote(to, text);
}

/* Empty where there is nothing to prove. */
static void write_proof(struct pl_buf *to, const struct vendor_call *call,
                        const struct pl_heard_proof *proof)
{
    if (!proof->signature.len && !proof->data.len && !proof->id.len)
        return;
    pl_buf_addf(to, "{\"vendor\":\"%s\"", target_of(call)->vendor->dialect);
    add_text(to, "signature", proof->signature);
    add_text(to, "id", proof->id);
    add_text(to, "data", proof->data);
    pl_buf_addc(to, '}');
}

static void out_of_memory(struct vendor_call *call)
{
    call->failure = PL_STR("Out of memory.");
    call->is_over = true;
}

static void hear_proof(void *ctx, enum pl_part_kind kind, const struct pl_heard_proof *proof)
{
    struct vendor_call *call = ctx;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    if (call->is_cancelled || !call->ops->on_proof)
        return;
    write_proof(&json, call, proof);
    if (json.status != PL_OK)
        out_of_memory(call);
    if (json.status != PL_OK || !json.len)
        return;
    note_first(call);
    call->ops->on_proof(call->ctx, kind == PL_PART_THINKING || kind == PL_PART_REDACTED,
                        pl_buf_str(&json));
}

static void hear_call(void *ctx, struct pl_str id, struct pl_str name, struct pl_str arguments,
                      const struct pl_heard_proof *proof)
{
    struct vendor_call *call = ctx;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    (void)id; /* the session has its own */
    if (call->is_cancelled || call->is_over)
        return;
    write_proof(&json, call, proof);
    if (json.status != PL_OK) {
        out_of_memory(call);
        return;
    }
    note_first(call);
    call->ops->on_call(call->ctx, name, arguments.len ? arguments : PL_STR("{}"),
                       pl_buf_str(&json));
}

static void hear_citation(void *ctx, struct pl_str json)
{
    (void)ctx;
    (void)json; /* a session has no place for it */
}

static void hear_end(void *ctx, const struct pl_heard_end *end)
{
    struct vendor_call *call = ctx;
    struct pl_str *texts[] = {&call->end.word, &call->end.detail, &call->end.model};
    call->end = *end;
    call->is_over = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pl_str kept = pl_arena_dup(&call->arena, *texts[i]);
        if (texts[i]->len && !kept.ptr)
            out_of_memory(call);
        *texts[i] = kept;
    }
}

/* "anthropic broke off: Overloaded" */
static struct pl_str sentence(struct vendor_call *call, const char *what, struct pl_str says)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "%s %s", target_of(call)->vendor->name, what);
    if (says.len) {
        pl_buf_adds(&text, ": ");
        pl_buf_add(&text, says);
    } else {
        pl_buf_addc(&text, '.');
    }
    struct pl_str kept = text.status == PL_OK ? pl_arena_dup(&call->arena, pl_buf_str(&text))
                                              : (struct pl_str){NULL, 0};
    return kept.len ? kept : PL_STR("Out of memory.");
}

static void hear_error(void *ctx, struct pl_str type, struct pl_str code, struct pl_str message)
{
    struct vendor_call *call = ctx;
    struct pl_str says = message.len ? message : code.len ? code : type;
    says = pl_vendor_redact(&call->arena, target_of(call)->vendor, pl_str_slice(says, 0, 1000));
    call->is_overflow = pl_vendor_says_overflow(message) || pl_vendor_says_overflow(code) ||
                        pl_vendor_says_overflow(type);
    call->failure = sentence(call, "broke off its answer", says);
    call->is_over = true;
}

static const struct pl_hear_ops hear_ops = {
    hear_text, hear_proof, hear_refusal, hear_call, hear_citation, hear_end, hear_error,
};

/* --- the answer ------------------------------------------------------------------------------ */

/* What an error's status means, and what to do. */
static struct pl_str explain(struct vendor_call *call, struct pl_str says)
{
    const struct pl_model_target *target = target_of(call);
    const char *key = target->vendor->key_from ? target->vendor->key_from : "the configuration";
    char what[400];
    switch (call->status) {
    case 401:
    case 403:
        snprintf(what, sizeof what, "does not accept the key from %.100s (%d)", key, call->status);
        break;
    case 404:
        snprintf(what, sizeof what, "knows no model %.*s (404)",
                 (int)(target->model.len < 100 ? target->model.len : 100), target->model.ptr);
        break;
    case 429:
        snprintf(what, sizeof what, "takes no more requests for now (429)");
        break;
    default:
        snprintf(what, sizeof what, "answered with an error (%d)", call->status);
        break;
    }
    return sentence(call, what, says);
}

static void on_head(void *ctx, int status, struct pl_str content_type, struct pl_str retry_after)
{
    struct vendor_call *call = ctx;
    (void)content_type;
    (void)retry_after;
    call->status = status;
    if (status / 100 == 2 &&
        pl_hearing_create(target_of(call)->dialect, &hear_ops, call, &call->hearing) != PL_OK)
        fail(call, PL_STR("Out of memory."), false);
}

/* After the stream has been heard, or its end. */
static void look_around(struct vendor_call *call, enum pl_status status)
{
    if (call->is_cancelled) {
        destroy(call);
        return;
    }
    if (status != PL_OK)
        out_of_memory(call);
    if (!call->is_over)
        return;
    if (!call->asked || call->failure.len)
        settle(call);
    else if (!pl_timer_is_on(&call->timer))
        pl_timer_start(call->loop, &call->timer, LAST_BYTES_MS, on_last_bytes);
}

static void on_body(void *ctx, struct pl_str piece)
{
    struct vendor_call *call = ctx;
    if (!call->hearing) {
        pl_buf_add(&call->error_body, piece);
        return;
    }
    call->n_inside++;
    enum pl_status status = pl_hearing_feed(call->hearing, piece);
    call->n_inside--;
    look_around(call, status);
}

static void on_end(void *ctx)
{
    struct vendor_call *call = ctx;
    call->asked = NULL;
    if (call->hearing) {
        call->n_inside++;
        enum pl_status status = pl_hearing_finish(call->hearing);
        call->n_inside--;
        look_around(call, status);
        return;
    }
    struct pl_str body = pl_buf_str(&call->error_body);
    call->is_overflow = call->status == 413 || pl_vendor_says_overflow(body);
    struct pl_str says = pl_vendor_error_text(&call->arena, target_of(call), body);
    bool may_go_on = call->status != 400 && call->status != 413 && call->status != 422;
    fail(call, explain(call, says), may_go_on);
}

static void on_failed(void *ctx, enum pl_vendor_failure why, const char *says)
{
    struct vendor_call *call = ctx;
    call->asked = NULL;
    if (call->is_over && !call->failure.len) {
        /* All was said: how the connection ended is nobody's concern. */
        settle(call);
        return;
    }
    const char *what = call->has_told ? "did not finish its answer" : "did not answer";
    fail(call, sentence(call, what, pl_str_of(says)), why != PL_VENDOR_MEMORY);
}

static const struct pl_vendor_ops vendor_ops = {on_head, on_body, on_end, on_failed};

/* --- starting -------------------------------------------------------------------------------- */

static enum pl_status ask(struct vendor_call *call, struct pl_error *err)
{
    pl_hearing_destroy(PL_TAKE(call->hearing));
    pl_buf_clear(&call->error_body);
    call->failure = (struct pl_str){NULL, 0};
    call->is_over = call->has_refused = false;
    /* Nobody stands before a session who would try again: the last is asked in any case. */
    enum pl_cooldown_pass pass;
    call->i = pl_targets_enter(call->prepared->targets, call->prepared->n, call->i, &pass);
    if (call->i == call->prepared->n)
        call->i--;
    struct pl_vendor_request request = {
        .target = target_of(call),
        .body = &call->prepared->bodies[call->i],
        .is_stream = true,
        .extra_headers = pl_vendor_model_headers(target_of(call)),
        .owner = call->owner,
        .is_patient = call->i + 1 == call->prepared->n,
        .pass = pass,
    };
    return pl_vendor_start(call->upstreams, &request, &vendor_ops, call, &call->asked, err);
}

static struct vendor_call *create(struct pl_loop *loop, struct pl_model_prepared *prepared,
                                  struct pl_upstreams *upstreams, const struct pl_model_ops *ops,
                                  void *ctx)
{
    struct vendor_call *call = pl_mem_alloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct vendor_call){
        .base.cancel = cancel,
        .loop = loop,
        .upstreams = upstreams,
        .ops = ops,
        .ctx = ctx,
        .prepared = prepared,
        .started_ms = pl_loop_now_ms(loop),
        .end.counts = {-1, -1, -1, -1, -1, -1, -1},
    };
    pl_arena_init(&call->arena, 0);
    pl_buf_init(&call->error_body, MAX_ERROR_BODY);
    return call;
}

enum pl_status pl_vendor_model_start(struct pl_loop *loop, const struct pl_model_request *request,
                                     const struct pl_model_ops *ops, void *ctx,
                                     struct pl_model_call **ret_call, struct pl_error *err)
{
    struct pl_model_prepared *prepared = request->prepared;
    enum pl_status status = prepared ? PL_OK : pl_vendor_model_prepare(request, &prepared, err);
    if (status != PL_OK)
        return status;
    status = request->upstreams ? pl_vendor_upstreams(loop, request->upstreams, err)
                                : pl_fail(err, PL_INVALID, "no vendor can be asked here");
    struct vendor_call *call =
        status == PL_OK ? create(loop, prepared, *request->upstreams, ops, ctx) : NULL;
    if (!call) {
        pl_model_prepared_destroy(prepared);
        return status == PL_OK ? pl_fail(err, PL_NOMEM, "out of memory") : status;
    }
    call->owner = pl_arena_dup(&call->arena, request->owner);
    status = request->owner.len && !call->owner.ptr ? pl_fail(err, PL_NOMEM, "out of memory")
                                                    : ask(call, err);
    if (status != PL_OK) {
        destroy(call);
        return status;
    }
    *ret_call = &call->base;
    return PL_OK;
}

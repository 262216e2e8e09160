#include "server/gateway/call.h"

#include "base/mem.h"
#include "io/clock.h"
#include "server/gateway/meter.h"
#include "server/log.h"

#include <assert.h>
#include <stdio.h>

static struct pl_call *call_of(struct pl_exchange *x)
{
    return x->state;
}

/* --- the end --------------------------------------------------------------------------------- */

static void give_pass_back(struct pl_call *call)
{
    if (call->pass != PL_PASS_NONE)
        pl_cooldown_leave(pl_call_target(call)->cooldown, call->pass, PL_NEWS_NONE, -1,
                          pl_clock_ms());
    call->pass = PL_PASS_NONE;
}

void pl_call_end(struct pl_call *call)
{
    give_pass_back(call);
    pl_vendor_cancel(PL_TAKE(call->vendor));
    pl_model_cancel(PL_TAKE(call->own));
    pl_stream_destroy(PL_TAKE(call->stream));
    pl_stream_destroy(PL_TAKE(call->record));
    pl_speaker_deinit(&call->speaker);
    pl_buf_deinit(&call->body);
    pl_buf_deinit(&call->loss);
    pl_buf_deinit(&call->answer);
    pl_buf_deinit(&call->last);
}

void pl_call_finish(struct pl_call *call)
{
    struct pl_exchange *x = call->x;
    pl_call_end(call);
    if (call->is_flowing)
        pl_exchange_flow_end(x);
    else
        pl_exchange_finish(x);
}

/* A vendor is not paid for an answer nobody hears. What a worker has comes back first. */
static void gone(struct pl_exchange *x)
{
    struct pl_call *call = call_of(x);
    call->is_gone = true;
    if (call->is_working)
        return;
    if (call->own || (call->status >= 200 && call->status < 300))
        pl_call_count(call);
    pl_call_finish(call);
}

/* --- asking ---------------------------------------------------------------------------------- */

void pl_call_work(struct pl_call *call, size_t n_bytes, void (*work)(struct pl_exchange *x),
                  void (*after)(struct pl_exchange *x))
{
    if (n_bytes <= PL_GATEWAY_HERE_BYTES) {
        work(call->x);
        after(call->x);
        return;
    }
    call->is_working = true;
    call->x->n_doc = n_bytes == SIZE_MAX ? 0 : n_bytes;
    pl_exchange_compute(call->x, work, after);
}

/* What of a client's own headers goes on to a vendor of the same kind. */
static const char *const passed_on[] = {"anthropic-beta", "anthropic-version", "openai-beta"};

static bool make_headers(struct pl_call *call, const char *ret_headers[4])
{
    size_t n = 0;
    struct pl_exchange *x = call->x;
    for (size_t i = 0; pl_call_is_same(call) && i < sizeof passed_on / sizeof *passed_on; i++) {
        struct pl_str value = pl_http_header_get(x->head, passed_on[i]);
        if (!value.len)
            continue;
        size_t size = strlen(passed_on[i]) + value.len + 3;
        char *line = pl_arena_alloc(&x->arena, size, 1);
        if (!line)
            return false;
        snprintf(line, size, "%s: %.*s", passed_on[i], PL_STR_ARG(value));
        ret_headers[n++] = line;
    }
    ret_headers[n] = NULL;
    return true;
}

static void ask_vendor(struct pl_call *call)
{
    struct pl_shard *shard = call->x->shard;
    struct pl_error err = {0};
    const char *headers[4];
    enum pl_status status = make_headers(call, headers) ? PL_OK : PL_NOMEM;
    if (status == PL_OK)
        status = pl_vendor_upstreams(shard->loop, &shard->upstreams, &err);
    struct pl_vendor_request request = {
        .target = pl_call_target(call),
        .body = &call->body,
        .is_stream = call->is_stream,
        .extra_headers = headers,
        .owner = call->x->caller.user_id,
        .pass = call->pass,
    };
    if (status == PL_OK) {
        call->pass = PL_PASS_NONE;
        status = pl_vendor_start(shard->upstreams, &request, &pl_call_vendor_ops, call,
                                 &call->vendor, &err);
    }
    if (status == PL_OK)
        return;
    pl_call_fail(call, 503, NULL, "The model's server cannot be asked: %s.", err.message);
    if (!pl_call_next(call))
        pl_call_finish(call);
}

static void log_losses(const struct pl_call *call)
{
    if (call->loss.len)
        pl_log_say(call->x->shard->server->log, call->x->shard, PL_LOG_INFO,
                   "gateway: %s asked as %s, request %s: %.*s", pl_call_target(call)->vendor->name,
                   call->wish.speech->name, call->x->request_id, (int)call->loss.len,
                   call->loss.ptr);
}

/* Nobody was asked. */
static void finish_unasked(struct pl_call *call)
{
    if (call->retry_after[0])
        pl_exchange_header(call->x, "Retry-After", "%s", call->retry_after);
    pl_call_finish(call);
}

static void ask(struct pl_exchange *x)
{
    struct pl_call *call = call_of(x);
    call->is_working = false;
    if (call->is_gone || x->is_problem) {
        finish_unasked(call);
        return;
    }
    pl_exchange_must_end(x); /* what a vendor was paid for is not thrown away */
    call->status = 0;
    call->retry_after[0] = 0;
    call->is_counted = false;
    pl_buf_clear(&call->answer);
    if (pl_call_target(call)->vendor) {
        log_losses(call);
        ask_vendor(call);
    } else {
        pl_call_ask_own(call);
    }
}

/* --- the request ----------------------------------------------------------------------------- */

/* A replay is read from the store, and so is what a request refers to; a loop does not wait. */
static bool needs_store(struct pl_call *call)
{
    if (pl_call_refers(call))
        return true;
    return !pl_call_target(call)->vendor && pl_call_target(call)->info->is_family;
}

/* The first of the chain that is not resting. False after pl_call_fail. */
static bool choose(struct pl_call *call)
{
    if (call->pass != PL_PASS_NONE)
        return true;
    size_t i = pl_targets_enter(call->targets, call->n_targets, call->i, &call->pass);
    if (i < call->n_targets) {
        call->i = i;
        return true;
    }
    int64_t rest_s = pl_targets_rest_s(call->targets, call->n_targets);
    assert(call->n_targets > 0);
    snprintf(call->retry_after, sizeof call->retry_after, "%lld", (long long)rest_s);
    pl_call_fail(call, 503, NULL,
                 "All models of %.*s are busy or out of reach; the first of them is asked again in "
                 "%lld s.",
                 PL_STR_ARG(call->model), (long long)rest_s);
    return false;
}

static void make_body(struct pl_exchange *x)
{
    struct pl_call *call = call_of(x);
    if ((!pl_call_refers(call) || pl_call_resolve(call)) && choose(call))
        (void)pl_call_make_body(call);
}

static void make_and_ask(struct pl_call *call)
{
    if (!pl_call_refers(call) && !choose(call)) {
        finish_unasked(call);
        return;
    }
    pl_call_work(call, needs_store(call) ? SIZE_MAX : call->text.len, make_body, ask);
}

bool pl_call_next(struct pl_call *call)
{
    struct pl_exchange *x = call->x;
    enum pl_cooldown_pass pass = PL_PASS_NONE;
    size_t i = call->is_gone ? call->n_targets
                             : pl_targets_enter(call->targets, call->n_targets, call->i + 1, &pass);
    if (i >= call->n_targets)
        return false;
    pl_log_say(x->shard->server->log, x->shard, PL_LOG_WARNING,
               "gateway: %.*s of %.*s has failed, the next is asked; request %s",
               PL_STR_ARG(pl_call_target(call)->model), PL_STR_ARG(call->model), x->request_id);
    give_pass_back(call);
    call->i = i;
    call->pass = pass;
    call->retry_after[0] = 0;
    x->is_problem = false;
    x->status = 200;
    pl_buf_clear(&x->reply);
    pl_stream_destroy(PL_TAKE(call->stream));
    pl_stream_destroy(PL_TAKE(call->record));
    make_and_ask(call);
    return true;
}

/* A worker that has read it also makes what the target is sent. */
static void read_body(struct pl_exchange *x)
{
    struct pl_call *call = call_of(x);
    if (!pl_call_read(call))
        return;
    call->is_kept = pl_call_wants_keeping(call);
    if (call->is_working)
        make_body(x);
}

static void read_done(struct pl_exchange *x)
{
    struct pl_call *call = call_of(x);
    if (call->is_working || x->is_problem)
        ask(x);
    else
        make_and_ask(call);
}

static bool admit(struct pl_exchange *x, const struct pl_speech *speech)
{
    struct pl_meter_refusal refusal;
    if (pl_meter_admit(x->shard->server->meter, &x->caller, pl_loop_unix_ms(x->shard->loop),
                       &refusal))
        return true;
    pl_exchange_header(x, "Retry-After", "%lld", (long long)refusal.retry_after_s);
    pl_speech_fail(speech, x, 429, refusal.is_money ? "insufficient_quota" : NULL, "%s",
                   refusal.sentence);
    return false;
}

void pl_gateway_run(struct pl_exchange *x, const struct pl_gateway_wish *wish)
{
    struct pl_call *call = pl_arena_zalloc(&x->arena, 1, sizeof *call);
    if (!call)
        pl_speech_fail(wish->speech, x, 503, NULL, "There was no memory for this request.");
    if (!call || !admit(x, wish->speech)) {
        pl_exchange_finish(x);
        return;
    }
    call->x = x;
    call->wish = *wish;
    call->text = x->body_text;
    call->counts = (struct pl_counts){-1, -1, -1, -1, -1, -1, -1};
    pl_buf_init(&call->body, 0);
    pl_buf_init(&call->loss, 0);
    pl_buf_init(&call->answer, PL_GATEWAY_MAX_ANSWER);
    pl_buf_init(&call->last, 0);
    if (wish->speech == &pl_speech_openai_responses) {
        struct pl_id_seed seed = pl_shard_seed(x->shard);
        call->id = pl_id_take(&seed, "resp_");
    }
    x->state = call;
    pl_exchange_watch(x, gone);
    pl_call_work(call, x->body_text.len, read_body, read_done);
}

/* --- of a shard ------------------------------------------------------------------------------ */

enum pl_status pl_gateway_create(struct pl_gateway **ret_gateway)
{
    struct pl_gateway *gateway = pl_mem_alloc(1, sizeof *gateway);
    if (!gateway)
        return PL_NOMEM;
    pl_workspace_init(&gateway->workspace);
    pl_converted_init(&gateway->converted);
    *ret_gateway = gateway;
    return PL_OK;
}

void pl_gateway_destroy(struct pl_gateway *gateway)
{
    if (!gateway)
        return;
    pl_workspace_deinit(&gateway->workspace);
    pl_converted_deinit(&gateway->converted);
    pl_mem_free(gateway);
}

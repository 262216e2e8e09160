/* A call through the gateway: the targets of a chain are called one after the other.
 *
 *     machine gateway-call
 *
 *     HERE -> WORKING -> HERE          a large request or answer is read and converted
 *     HERE -> ASKED -> HERE            the whole answer was collected; or the next target is called
 *     ASKED -> FLOWING -> HERE
 *     FLOWING -> PAUSED -> FLOWING     the client is slow
 *     PAUSED -> HERE
 *     WORKING -> LEFT                  the client is gone
 *     LEFT -> WORKING                  the answer is stored nevertheless
 *     HERE, LEFT, ASKED, FLOWING, PAUSED -> OVER
 *
 * A client that disconnects ends the call, but not while a worker or the store uses its memory. */
#include "gateway/call.h"

#include "access/meter/meter.h"
#include "base/hash.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/move.h"
#include "shard/log.h"

#include <assert.h>
#include <stdio.h>

#define TO(name) PL_TO(PL_GW_##name)
#define BACK     "a worker and the store always come back; at first it waits for queue_wait_ms at most"
static const struct pl_state states[] = {
    [PL_GW_HERE] = {"here", TO(WORKING) | TO(ASKED) | TO(OVER)},
    [PL_GW_WORKING] = {"working", TO(HERE) | TO(LEFT), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = BACK},
    [PL_GW_LEFT] = {"left", TO(WORKING) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = BACK},
    [PL_GW_ASKED] = {"asked", TO(HERE) | TO(FLOWING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                     .why = "the times of the upstream call; a model of ours comes to its end"},
    [PL_GW_FLOWING] = {"flowing", TO(PAUSED) | TO(HERE) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                       .why = "upstream_idle_ms between two pieces"},
    [PL_GW_PAUSED] = {"paused", TO(FLOWING) | TO(HERE) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                      .why = "the connection notices a client that takes nothing for 30 s"},
    [PL_GW_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("gateway-call", states);

void pl_gateway_call_become(struct pl_gateway_call *call, enum pl_gateway_call_state to)
{
    call->state = (enum pl_gateway_call_state)pl_move(&machine, call, call->state, to);
}

static struct pl_gateway_call *call_of(struct pl_exchange *x)
{
    return x->state;
}

/* --- who has it ------------------------------------------------------------------------------ */

void pl_gateway_call_lend(struct pl_gateway_call *call)
{
    pl_gateway_call_become(call, PL_GW_WORKING);
    call->is_on_worker = true;
}

bool pl_gateway_call_is_back(struct pl_gateway_call *call)
{
    call->is_on_worker = false;
    if (call->state == PL_GW_WORKING)
        pl_gateway_call_become(call, PL_GW_HERE);
    return call->state == PL_GW_LEFT;
}

void pl_gateway_call_stop_asking(struct pl_gateway_call *call)
{
    pl_gateway_call_become(call, PL_GW_HERE);
    pl_vendor_cancel(PL_TAKE(call->vendor));
    pl_model_cancel(PL_TAKE(call->own));
}

/* --- the end --------------------------------------------------------------------------------- */

static void give_pass_back(struct pl_gateway_call *call)
{
    if (call->pass != PL_PASS_NONE)
        pl_cooldown_leave(pl_gateway_call_target(call)->cooldown, call->pass, PL_NEWS_NONE, -1,
                          pl_clock_ms());
    call->pass = PL_PASS_NONE;
}

static void end(struct pl_gateway_call *call)
{
    pl_gateway_call_end_span(call);
    pl_gateway_call_count_failure(call);
    pl_gateway_call_become(call, PL_GW_OVER);
    give_pass_back(call);
    pl_vendor_cancel(PL_TAKE(call->vendor));
    pl_model_cancel(PL_TAKE(call->own));
    pl_stream_destroy(PL_TAKE(call->stream));
    pl_stream_destroy(PL_TAKE(call->record));
    pl_speaker_deinit(&call->speaker);
    pl_buf_deinit(&call->body);
    pl_buf_deinit(&call->loss);
    pl_buf_deinit(&call->heard);
    pl_buf_deinit(&call->told);
    pl_buf_deinit(&call->answer);
    pl_buf_deinit(&call->last);
}

void pl_gateway_call_finish(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    end(call);
    if (pl_exchange_is_flowing(x))
        pl_exchange_flow_end(x);
    else
        pl_exchange_finish(x);
}

/* The client is gone: stops the vendor's work. A job on a worker returns first. */
static void gone(struct pl_exchange *x)
{
    struct pl_gateway_call *call = call_of(x);
    if (pl_machine_is_away(&machine, call->state)) {
        pl_gateway_call_become(call, PL_GW_LEFT);
        return;
    }
    call->has_left = true;
    if (call->own || (call->vendor && !call->status) || (call->status >= 200 && call->status < 300))
        pl_gateway_call_count(call);
    pl_gateway_call_finish(call);
}

/* --- asking ---------------------------------------------------------------------------------- */

void pl_gateway_call_work(struct pl_gateway_call *call, size_t n_bytes,
                          void (*work)(struct pl_exchange *x), void (*after)(struct pl_exchange *x))
{
    if (n_bytes <= PL_GATEWAY_HERE_BYTES) {
        work(call->x);
        after(call->x);
        return;
    }
    pl_gateway_call_give_tree_back(call);
    pl_gateway_call_lend(call);
    call->x->n_doc = n_bytes == SIZE_MAX ? 0 : n_bytes;
    pl_exchange_compute(call->x, work, after);
}

/* Headers of the client that are passed to a vendor of the same kind. */
static const char *const passed_on[] = {"anthropic-beta", "anthropic-version", "openai-beta"};

static bool make_headers(struct pl_gateway_call *call, const char *ret_headers[5])
{
    size_t n = 0;
    struct pl_exchange *x = call->x;
    for (size_t i = 0; pl_gateway_call_is_same(call) && i < sizeof passed_on / sizeof *passed_on;
         i++) {
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
    const char *trace = pl_gateway_call_traceparent(call);
    if (trace)
        ret_headers[n++] = trace;
    ret_headers[n] = NULL;
    return true;
}

/* While a model thinks, which may take minutes, the request is not needed, unless another model may
 * be called or the exchange is stored. */
void pl_gateway_call_let_go(struct pl_gateway_call *call)
{
    if (call->is_kept || call->i + 1 < call->n_targets)
        return;
    pl_buf_deinit(&call->body);
    call->n_pieces = 0;
    call->text = (struct pl_str){0};
    call->doc = (struct pl_json_doc){0};
    pl_exchange_let_body_go(call->x);
}

static void ask_vendor(struct pl_gateway_call *call)
{
    struct pl_shard *shard = call->x->shard;
    struct pl_error err = {0};
    const char *headers[5];
    enum pl_status status = make_headers(call, headers) ? PL_OK : PL_NOMEM;
    if (status == PL_OK)
        status = pl_vendor_upstreams(shard->loop, &shard->upstreams, &err);
    struct pl_vendor_request request = {
        .target = pl_gateway_call_target(call),
        .body = call->n_pieces ? NULL : &call->body,
        .pieces = call->pieces,
        .n_pieces = call->n_pieces,
        .is_stream = call->is_stream,
        .is_embedding = call->options.is_embedding,
        .extra_headers = headers,
        .owner = call->x->caller.user_id,
        .pass = call->pass,
    };
    if (status == PL_OK) {
        call->pass = PL_PASS_NONE;
        status = pl_vendor_start(shard->upstreams, &request, &pl_gateway_call_vendor_ops, call,
                                 &call->vendor, &err);
    }
    if (status == PL_OK) {
        pl_gateway_call_become(call, PL_GW_ASKED);
        if (pl_vendor_is_sent(call->vendor))
            pl_gateway_call_let_go(call);
        return;
    }
    pl_gateway_call_fail(call, 503, NULL, "The model's server cannot be called: %s.", err.message);
    if (!pl_gateway_call_next(call))
        pl_gateway_call_finish(call);
}

void pl_gateway_call_log_losses(const struct pl_gateway_call *call)
{
    if (call->loss.len)
        pl_log_say(call->x->shard->server->log, call->x->shard, PL_LOG_INFO,
                   "gateway: %s called as %s, request %s: %.*s",
                   pl_gateway_call_target(call)->vendor->name, call->options.speech->name,
                   call->x->request_id, (int)call->loss.len, call->loss.ptr);
}

/* No model was called. */
static void finish_unasked(struct pl_gateway_call *call)
{
    if (call->retry_after[0])
        pl_exchange_header(call->x, "Retry-After", "%s", call->retry_after);
    pl_gateway_call_finish(call);
}

static void ask(struct pl_exchange *x)
{
    struct pl_gateway_call *call = call_of(x);
    if (pl_gateway_call_is_back(call) || x->is_problem) {
        finish_unasked(call);
        return;
    }
    if (!pl_gateway_call_admit(call)) {
        finish_unasked(call);
        return;
    }
    pl_exchange_must_end(x); /* a paid answer is not thrown away */
    call->status = 0;
    call->retry_after[0] = 0;
    call->is_counted = false;
    pl_buf_clear(&call->answer);
    pl_gateway_call_give_tree_back(call);
    pl_gateway_call_begin_span(call);
    x->shard->gateway->was_converted[call->habit] = !pl_gateway_call_is_same(call);
    if (pl_gateway_call_target(call)->vendor) {
        pl_gateway_call_log_losses(call);
        ask_vendor(call);
    } else if (call->options.is_embedding) {
        pl_gateway_call_end_embedding(call);
    } else {
        pl_gateway_call_ask_own(call);
    }
}

/* --- the request ----------------------------------------------------------------------------- */

/* Replays, data that a request refers to, and limits that several nodes share are read from the
 * store; a loop must not wait. */
static bool needs_store(struct pl_gateway_call *call)
{
    if (call->refers || pl_gateway_call_needs_fetch(call))
        return true;
    return !pl_gateway_call_target(call)->vendor && pl_gateway_call_target(call)->info->is_family;
}

/* Chooses the first target of the chain that is not in cooldown. False after
 * pl_gateway_call_fail. */
static bool choose(struct pl_gateway_call *call)
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
    pl_gateway_call_fail(
        call, 503, NULL,
        "All models of %.*s are busy or out of reach; the first one is tried again in "
        "%lld s.",
        PL_STR_ARG(call->model), (long long)rest_s);
    return false;
}

static void make_body(struct pl_exchange *x)
{
    struct pl_gateway_call *call = call_of(x);
    if ((!call->refers || pl_gateway_call_resolve(call)) && choose(call))
        (void)pl_gateway_call_make_body(call);
    pl_gateway_call_fetch(call);
}

static void make_and_ask(struct pl_gateway_call *call)
{
    if (!call->refers && !choose(call)) {
        finish_unasked(call);
        return;
    }
    pl_gateway_call_work(call, needs_store(call) ? SIZE_MAX : call->text.len, make_body, ask);
}

bool pl_gateway_call_next(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    enum pl_cooldown_pass pass = PL_PASS_NONE;
    size_t i = pl_targets_enter(call->targets, call->n_targets, call->i + 1, &pass);
    if (i >= call->n_targets)
        return false;
    pl_log_say(x->shard->server->log, x->shard, PL_LOG_WARNING,
               "gateway: %.*s of %.*s failed, trying the next; request %s",
               PL_STR_ARG(pl_gateway_call_target(call)->model), PL_STR_ARG(call->model),
               x->request_id);
    pl_gateway_call_end_span(call);
    give_pass_back(call);
    pl_gateway_call_note_failure(call);
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

/* A worker that has read the body also makes the target's body. */
static void read_body(struct pl_exchange *x)
{
    struct pl_gateway_call *call = call_of(x);
    if (!pl_gateway_call_read(call))
        return;
    call->is_kept = pl_gateway_call_wants_keeping(call);
    if (call->is_on_worker)
        make_body(x);
}

static void read_done(struct pl_exchange *x)
{
    struct pl_gateway_call *call = call_of(x);
    if (call->is_on_worker || x->is_problem)
        ask(x);
    else
        make_and_ask(call);
}

/* Parsing only the first level is fast and enough to pass a request on; if the request is
 * converted, it is parsed twice. The model decides whether it is converted, and its name may be
 * anywhere in the body. So the client's previous request is the best guess. */
static void recall_habit(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    uint64_t hash = pl_hash(x->caller.key_id) + (uintptr_t)call->options.speech / 64;
    call->habit = hash % PL_GATEWAY_HABITS;
    call->is_whole_likely = x->shard->gateway->was_converted[call->habit];
}

void pl_gateway_run(struct pl_exchange *x, const struct pl_gateway_options *options)
{
    struct pl_gateway_call *call = pl_arena_zalloc(&x->arena, 1, sizeof *call);
    if (!call)
        pl_speech_fail(options->speech, x, 503, NULL,
                       "There is not enough memory for this request.");
    if (!call) {
        pl_exchange_finish(x);
        return;
    }
    call->x = x;
    call->options = *options;
    call->text = x->body_text;
    recall_habit(call);
    call->counts = (struct pl_counts){-1, -1, -1, -1, -1, -1, -1};
    pl_buf_init(&call->body, 0);
    pl_buf_init(&call->loss, 0);
    pl_buf_init(&call->answer, PL_GATEWAY_MAX_ANSWER);
    pl_buf_init(&call->last, 0);
    if (options->speech == &pl_speech_openai_responses) {
        struct pl_id_seed seed = pl_shard_seed(x->shard);
        call->id = pl_id_take(&seed, "resp_");
    }
    x->state = call;
    pl_exchange_watch(x, gone);
    pl_gateway_call_work(call, x->body_text.len, read_body, read_done);
}

/* --- of a shard ------------------------------------------------------------------------------ */

enum pl_status pl_gateway_create(struct pl_gateway **ret_gateway)
{
    struct pl_gateway *gateway = pl_mem_alloc(1, sizeof *gateway);
    if (!gateway)
        return PL_NOMEM;
    pl_workspace_init(&gateway->workspace);
    pl_converted_init(&gateway->converted);
    pl_arena_init(&gateway->trees, 0);
    memset(gateway->was_converted, 0, sizeof gateway->was_converted);
    *ret_gateway = gateway;
    return PL_OK;
}

void pl_gateway_destroy(struct pl_gateway *gateway)
{
    if (!gateway)
        return;
    pl_workspace_deinit(&gateway->workspace);
    pl_converted_deinit(&gateway->converted);
    pl_arena_deinit(&gateway->trees);
    pl_mem_free(gateway);
}

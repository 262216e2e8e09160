/* Runs under way. All items of a request begin together and end one by one; the exchange ends with
 * the last.
 *
 *     machine draft_run
 *
 *     NEW -> ASKED -> OVER
 *     NEW -> OVER                     it may not begin, or could not
 *
 * A client that disconnects stops them all: nobody would read their answers. */
#include "service/runs/draft_run.h"

#include "access/model_list.h"
#include "agent/running_turns.h"
#include "base/table.h"
#include "http/json_members.h"
#include "io/move.h"
#include "json/number.h"
#include "json/text.h"
#include "model/vendor/vendor.h"
#include "service/runs/routes.h"
#include "shard/setup.h"

#include <stdio.h>

enum { BYTES_PER_TOKEN = 4, MAX_SAID = 4 << 20, MAX_UNREAD = 8 << 20 };

#define TO(name) PL_TO(PL_DRAFT_RUN_##name)
static const struct pl_state states[] = {
    [PL_DRAFT_RUN_NEW] = {"new", TO(ASKED) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                          .why = "the worker that plans always comes back"},
    [PL_DRAFT_RUN_ASKED] = {"asked", TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                            .why = "upstream_answer_ms, one clock for all runs of the request"},
    [PL_DRAFT_RUN_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("draft_run", states);

static void become(struct pl_draft_run *run, enum pl_draft_run_state to)
{
    run->state = (enum pl_draft_run_state)pl_move(&machine, run, run->state, to);
}

/* --- what is told ---------------------------------------------------------------------------- */

static void write_error(struct pl_json_out *out, const struct pl_draft_run *run)
{
    pl_json_out_key(out, "error");
    if (!run->error.len) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_open(out, '{');
    pl_put_text(out, "code", run->error_code);
    pl_put_text(out, "detail", run->error);
    pl_put_bool(out, "retryable", run->is_retryable);
    pl_put_number(out, "retry_after_ms", run->retry_after_ms);
    pl_put_number(out, "vendor_status", run->vendor_status);
    pl_json_out_close(out, '}');
}

/* The members of a run that is over. */
static void write_end(struct pl_json_out *out, const struct pl_draft_run *run)
{
    pl_put_text(out, "status", pl_str_of(run->status));
    pl_put_text(out, "answered_by", run->answered_by);
    pl_put_raw(out, "usage", run->usage.len ? run->usage : PL_STR("null"));
    pl_put_raw(out, "timing", run->timing.len ? run->timing : PL_STR("null"));
    pl_put_raw(out, "metadata", run->about.len ? run->about : PL_STR("null"));
    write_error(out, run);
}

static struct pl_json_out event_begin(struct pl_draft_run *run, const char *event)
{
    struct pl_exchange *x = run->all->x;
    pl_buf_addf(&x->reply, "event: %s\ndata: ", event);
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "run_id", pl_str_of(run->id.text));
    pl_put_int(&out, "index", (int64_t)run->index);
    return out;
}

static void event_end(struct pl_draft_run *run, struct pl_json_out *out)
{
    struct pl_exchange *x = run->all->x;
    pl_json_out_close(out, '}');
    pl_buf_adds(&x->reply, "\n\n");
    pl_exchange_flow_more(x);
}

static void write_item(struct pl_json_out *out, const struct pl_draft_run *run)
{
    pl_json_out_open(out, '{');
    pl_put_text(out, "run_id", pl_str_of(run->id.text));
    pl_put_int(out, "index", (int64_t)run->index);
    pl_put_text(out, "model", run->model);
    pl_put_text(out, "text", run->text.len ? pl_buf_str(&run->text) : PL_STR(""));
    pl_put_text(out, "thinking", run->thinking.len ? pl_buf_str(&run->thinking) : PL_STR(""));
    pl_json_out_key(out, "calls");
    pl_json_out_open(out, '[');
    if (run->calls.len)
        pl_json_out_raw(out, pl_buf_str(&run->calls));
    pl_json_out_close(out, ']');
    write_end(out, run);
    pl_json_out_close(out, '}');
}

static void answer_whole(struct pl_draft_runs *runs)
{
    struct pl_json_out out = pl_json_out(&runs->x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < runs->n_items; i++)
        write_item(&out, &runs->items[i]);
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

/* --- the end --------------------------------------------------------------------------------- */

static void clean_up(struct pl_draft_runs *runs)
{
    for (size_t i = 0; i < runs->n_items; i++) {
        struct pl_draft_run *run = &runs->items[i];
        pl_model_prepared_destroy(PL_TAKE(run->prepared));
        pl_buf_deinit(&run->text);
        pl_buf_deinit(&run->thinking);
        pl_buf_deinit(&run->calls);
    }
}

static void finish(struct pl_draft_runs *runs)
{
    struct pl_exchange *x = runs->x;
    pl_timer_stop(x->shard->loop, &runs->limit);
    if (!runs->is_stream && !runs->has_left)
        answer_whole(runs);
    clean_up(runs);
    if (!pl_exchange_is_flowing(x)) {
        pl_exchange_finish(x);
        return;
    }
    pl_buf_adds(&x->reply, "event: run:over\ndata: {}\n\n");
    pl_exchange_flow_end(x);
}

static int64_t count_of(const struct pl_json_doc *doc, const char *name)
{
    const struct pl_json_node *node = pl_json_get(doc, doc->root, pl_str_of(name));
    int64_t n = -1;
    bool is_int = node && pl_json_kind(node) == PL_JSON_NUMBER &&
                  pl_json_number_int64(pl_json_span(doc, node), &n);
    return is_int ? n : -1;
}

/* Settles with the reported usage, or with an estimate. */
static void settle(struct pl_draft_run *run, enum pl_meter_outcome outcome)
{
    struct pl_exchange *x = run->all->x;
    struct pl_json_doc doc = {0};
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_str by = run->answered_by.len ? run->answered_by : run->model;
    struct pl_counts counts = {
        run->used.input, (int64_t)(run->n_said / BYTES_PER_TOKEN), -1, -1, -1, -1, -1};
    if (run->usage.len &&
        pl_json_parse(&x->arena, run->usage, &pl_json_made, &doc, NULL) == PL_OK && doc.root) {
        counts.input = count_of(&doc, "input_tokens");
        counts.output = count_of(&doc, "output_tokens");
        counts.cache_read = count_of(&doc, "cache_read_tokens");
        counts.cache_write = count_of(&doc, "cache_write_tokens");
    }
    size_t n = pl_model_targets(x->setup->models, by, targets);
    run->used.outcome = outcome == PL_METER_FAILED && run->n_said ? PL_METER_ABORTED : outcome;
    run->used.model = run->answered_by;
    run->used.input = counts.input;
    run->used.output = counts.output;
    run->used.cached = counts.cache_read;
    run->used.cost_micro = n && targets[0].vendor ? pl_target_cost(&targets[0], &counts) : 0;
    run->used.error = outcome == PL_METER_FAILED ? "model_failed" : NULL;
    pl_exchange_add_used(x, by, run->used.input, run->used.output);
    pl_meter_settle(x->shard->server->meter, x->shard, &run->meter, &run->used, NULL,
                    pl_loop_unix_ms(x->shard->loop));
}

/* Must be the last call of a function: it may free the runs. */
static void end(struct pl_draft_run *run, const char *status, enum pl_meter_outcome outcome)
{
    struct pl_draft_runs *runs = run->all;
    struct pl_exchange *x = runs->x;
    if (run->state == PL_DRAFT_RUN_ASKED) {
        pl_draft_run_leave(run);
        settle(run, outcome);
        pl_running_change(x->shard->server, x->caller.user_id, -1);
    }
    become(run, PL_DRAFT_RUN_OVER);
    run->status = status;
    if (pl_exchange_is_flowing(x) && !runs->has_left) {
        struct pl_json_out out = event_begin(run, "run:end");
        write_end(&out, run);
        event_end(run, &out);
    }
    if (--runs->n_open == 0)
        finish(runs);
}

static void fail(struct pl_draft_run *run, const char *code, struct pl_str reason)
{
    run->error_code = pl_str_of(code);
    run->error = pl_arena_dup(&run->all->x->arena, reason);
    if (!run->error.ptr)
        run->error = PL_STR("The model failed.");
    end(run, "failed", PL_METER_FAILED);
}

void pl_draft_run_stop(struct pl_draft_run *run)
{
    pl_model_cancel(PL_TAKE(run->call));
    end(run, "stopped", PL_METER_ABORTED);
}

static void stop_all(struct pl_draft_runs *runs)
{
    runs->n_open++; /* keeps the runs until the last one was checked */
    for (size_t i = 0; i < runs->n_items; i++)
        if (runs->items[i].state == PL_DRAFT_RUN_ASKED)
            pl_draft_run_stop(&runs->items[i]);
    if (--runs->n_open == 0)
        finish(runs);
}

static void gone(struct pl_exchange *x)
{
    struct pl_draft_runs *runs = x->state;
    runs->has_left = true;
    if (runs->n_open)
        stop_all(runs);
}

static void too_late(struct pl_timer *timer)
{
    struct pl_draft_runs *runs = PL_CONTAINER_OF(timer, struct pl_draft_runs, limit);
    runs->n_open++;
    for (size_t i = 0; i < runs->n_items; i++) {
        struct pl_draft_run *run = &runs->items[i];
        if (run->state != PL_DRAFT_RUN_ASKED)
            continue;
        pl_model_cancel(PL_TAKE(run->call));
        fail(run, "timeout",
             PL_STR("The answer took longer than this server allows (upstream_answer_ms)."));
    }
    if (--runs->n_open == 0)
        finish(runs);
}

/* --- what the models say --------------------------------------------------------------------- */

static void note_said(struct pl_draft_run *run, size_t n)
{
    if (!run->used.first_at_ms)
        run->used.first_at_ms = pl_loop_unix_ms(run->all->x->shard->loop);
    run->n_said += n;
}

/* True: the run was ended, because its output is too large to keep. */
static bool is_too_much(struct pl_draft_run *run)
{
    const struct pl_exchange *x = run->all->x;
    if (run->n_said <= MAX_SAID && x->reply.len <= MAX_UNREAD)
        return false;
    pl_model_cancel(PL_TAKE(run->call));
    if (run->n_said > MAX_SAID)
        fail(run, "answer_too_long", PL_STR("The answer is longer than 4 MiB."));
    else
        fail(run, "too_slow", PL_STR("The events are not read fast enough."));
    return true;
}

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct pl_draft_run *run = ctx;
    note_said(run, text.len);
    if (is_too_much(run))
        return;
    if (!run->all->is_stream) {
        pl_buf_add(is_thinking ? &run->thinking : &run->text, text);
        return;
    }
    struct pl_json_out out = event_begin(run, "run:text");
    pl_put_text(&out, "kind", is_thinking ? PL_STR("thinking") : PL_STR("text"));
    pl_put_text(&out, "text", text);
    event_end(run, &out);
}

static void write_call(struct pl_json_out *out, struct pl_str tool_name, struct pl_str arguments)
{
    pl_put_text(out, "tool_name", tool_name);
    pl_put_raw(out, "arguments", arguments.len ? arguments : PL_STR("{}"));
}

/* No tool is run: the call itself is the answer. */
static void on_call(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof)
{
    struct pl_draft_run *run = ctx;
    (void)proof;
    note_said(run, arguments.len);
    if (is_too_much(run))
        return;
    if (run->all->is_stream) {
        struct pl_json_out out = event_begin(run, "run:call");
        write_call(&out, tool_name, arguments);
        event_end(run, &out);
        return;
    }
    struct pl_json_out out = pl_json_out(&run->calls);
    if (run->calls.len)
        pl_buf_addc(&run->calls, ',');
    pl_json_out_open(&out, '{');
    write_call(&out, tool_name, arguments);
    pl_json_out_close(&out, '}');
}

/* Only a session shows whole blocks; here a block's text is output. */
static void on_block(void *ctx, const struct pl_model_block *block)
{
    struct pl_draft_run *run = ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_str text;
    pl_arena_init(&arena, 0);
    bool is_thinking = pl_str_eq(block->type, PL_STR("thinking"));
    bool is_text = is_thinking || pl_str_eq(block->type, PL_STR("text"));
    if (is_text && block->content.len &&
        pl_json_parse(&arena, block->content, &pl_json_own, &doc, NULL) == PL_OK &&
        pl_json_kind(doc.root) == PL_JSON_STRING &&
        pl_json_text(&arena, &doc, doc.root, &text) == PL_OK)
        on_text(run, is_thinking, text);
}

static void on_about(void *ctx, struct pl_str metadata)
{
    struct pl_draft_run *run = ctx;
    run->about = pl_arena_dup(&run->all->x->arena, metadata);
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct pl_draft_run *run = ctx;
    struct pl_arena *arena = &run->all->x->arena;
    run->call = NULL;
    run->answered_by = model.len ? pl_arena_dup(arena, model) : (struct pl_str){0};
    run->usage = pl_arena_dup(arena, usage);
    run->timing = pl_arena_dup(arena, timing);
    end(run, "completed", PL_METER_DONE);
}

static void on_failed(void *ctx, const struct pl_model_failure *failure)
{
    struct pl_draft_run *run = ctx;
    run->call = NULL;
    run->retry_after_ms = failure->retry_after_ms;
    run->vendor_status = failure->vendor_status;
    run->is_retryable = pl_model_failure_is_retryable(failure);
    fail(run, pl_model_failure_code(failure), failure->reason);
}

static const struct pl_model_ops ops = {
    .on_text = on_text,
    .on_block = on_block,
    .on_call = on_call,
    .on_end = on_end,
    .on_failed = on_failed,
    .on_about = on_about,
};

/* --- the beginning --------------------------------------------------------------------------- */

/* Whether the key's list has the requested name, or the names of all its targets. */
static bool may_use(const struct pl_exchange *x, const struct pl_draft_run *run,
                    const struct pl_model_target *targets, size_t n)
{
    bool may = n > 0;
    if (pl_model_list_has(x->caller.models, run->model))
        return true;
    for (size_t i = 0; i < n && may; i++) {
        char name[PL_METER_MODEL_MAX];
        pl_target_name(&targets[i], name, sizeof name);
        may = pl_model_list_has(x->caller.models, pl_str_of(name));
    }
    return may;
}

/* False: the run has failed, and the reason was reported. */
static bool admit(struct pl_draft_run *run)
{
    struct pl_draft_runs *runs = run->all;
    struct pl_exchange *x = runs->x;
    struct pl_server *server = x->shard->server;
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_meter_refusal refusal;
    char name[PL_METER_MODEL_MAX];
    size_t n = pl_model_targets(x->setup->models, run->model, targets);
    int64_t quota = pl_meter_quota(server->meter, x->caller.user_id, PL_LIMIT_TURNS);
    size_t most = quota > 0 && quota < PL_MAX_RUNNING ? (size_t)quota : PL_MAX_RUNNING;
    if (!n || !may_use(x, run, targets, n)) {
        fail(run, "forbidden", PL_STR("This key may not use this model."));
        return false;
    }
    if (pl_running_of(server, x->caller.user_id) >= most) {
        fail(run, "rate_limited",
             PL_STR("As many answers as allowed are being written for you; "
                    "wait for one to end."));
        return false;
    }
    struct pl_str body = pl_model_prepared_body(run->prepared, &(const struct pl_format *){0});
    size_t n_bytes = body.len ? body.len : runs->turns.len;
    struct pl_counts counts = {
        (int64_t)(n_bytes / BYTES_PER_TOKEN), PL_METER_OUTPUT_TOKENS, -1, -1, -1, -1, -1};
    pl_target_name(&targets[0], name, sizeof name);
    struct pl_meter_ask ask = {
        .about = {.source = "prompt",
                  .prompt_id = runs->prompt_id,
                  .version = runs->version,
                  .run_id = pl_str_of(run->id.text)},
        .user_id = x->caller.user_id,
        .key_id = x->caller.key_id,
        .model = pl_str_of(name),
        .tokens = counts.input + counts.output,
        .cost_micro = targets[0].vendor ? pl_target_cost(&targets[0], &counts) : 0,
        .is_paid = targets[0].vendor,
        .allows_unpriced = x->setup->config.allows_unpriced,
        .now_ms = pl_loop_unix_ms(x->shard->loop),
    };
    run->used.input = counts.input;
    if (pl_meter_begin(server->meter, x->shard, &ask, &run->meter, &refusal))
        return true;
    fail(run, refusal.why == PL_METER_MONEY ? "budget_exceeded" : "rate_limited",
         pl_str_of(refusal.sentence));
    return false;
}

static void ask(struct pl_draft_run *run)
{
    struct pl_draft_runs *runs = run->all;
    struct pl_exchange *x = runs->x;
    struct pl_error err = {0};
    if (!admit(run))
        return;
    struct pl_model_request request = pl_draft_run_request(run);
    request.traceparent = pl_str_of(x->traceparent);
    request.upstreams = &x->shard->upstreams;
    request.prepared = PL_TAKE(run->prepared);
    pl_running_change(x->shard->server, x->caller.user_id, 1);
    become(run, PL_DRAFT_RUN_ASKED);
    pl_draft_run_enter(run);
    enum pl_status status = pl_model_start(x->shard->loop, &request, &ops, run, &run->call, &err);
    if (status != PL_OK)
        fail(run, "model_failed", pl_str_of(err.message[0] ? err.message : "Out of memory."));
}

static void begin_stream(struct pl_draft_runs *runs)
{
    struct pl_exchange *x = runs->x;
    x->content_type = "text/event-stream";
    pl_exchange_header(x, "Cache-Control", "no-store");
    pl_exchange_header(x, "X-Accel-Buffering", "no");
    pl_exchange_flow(x, NULL);
    for (size_t i = 0; i < runs->n_items; i++) {
        struct pl_json_out out = event_begin(&runs->items[i], "run:start");
        pl_put_text(&out, "model", runs->items[i].model);
        event_end(&runs->items[i], &out);
    }
}

static void planned(struct pl_exchange *x)
{
    struct pl_draft_runs *runs = x->state;
    if (x->is_problem || runs->has_left) {
        clean_up(runs);
        pl_exchange_finish(x);
        return;
    }
    pl_exchange_let_body_go(x);
    runs->n_open = runs->n_items + 1;
    if (runs->is_stream)
        begin_stream(runs);
    pl_timer_start(x->shard->loop, &runs->limit, x->setup->config.answer_ms, too_late);
    for (size_t i = 0; i < runs->n_items; i++)
        if (runs->has_left)
            end(&runs->items[i], "stopped", PL_METER_ABORTED);
        else
            ask(&runs->items[i]);
    if (--runs->n_open == 0)
        finish(runs);
}

void pl_draft_runs_start(struct pl_exchange *x)
{
    struct pl_draft_runs *runs = pl_exchange_room(x, sizeof *runs);
    if (!runs)
        return;
    runs->x = x;
    x->state = runs;
    pl_exchange_watch(x, gone);
    pl_exchange_work(x, pl_draft_runs_plan, planned);
}

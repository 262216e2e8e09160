#include "base/mem.h"
#include "json/text.h"
#include "json/write.h"
#include "server/context.h"
#include "server/recall.h"
#include "server/replay.h"
#include "server/run_int.h"
#include "server/summarising.h"
#include "server/tools.h"
#include "store/library.h"

#include <stdio.h>

/* --- life ------------------------------------------------------------------------------------ */

static void destroy(struct pl_run *run)
{
    pl_model_prepared_destroy(run->prepared);
    pl_buf_deinit(&run->text);
    pl_buf_deinit(&run->tools);
    pl_buf_deinit(&run->said);
    pl_arena_deinit(&run->arena);
    pl_setup_release(run->shard, run->setup);
    pl_mem_free(run);
}

static void leave(struct pl_run *run)
{
    if (!run->driver)
        return;
    if (run->prev)
        run->prev->next = run->next;
    else
        run->driver->runs = run->next;
    if (run->next)
        run->next->prev = run->prev;
    pl_driver_settle(run->driver);
    run->driver = NULL;
}

void pl_run_end(struct pl_run *run)
{
    leave(run);
    pl_timer_stop(run->loop, &run->timer);
    pl_model_cancel(PL_TAKE(run->call));
    if (!run->is_away)
        destroy(run);
}

void pl_runs_cancel(struct pl_driver *driver)
{
    while (driver->runs)
        pl_run_end(driver->runs);
}

static struct pl_run *create(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    struct pl_run *run = pl_mem_alloc(1, sizeof *run);
    if (!run)
        return NULL;
    struct pl_shard *shard = driver->drivers->shard;
    *run = (struct pl_run){
        .server = shard->server,
        .shard = shard,
        .setup = pl_setup_hold(shard),
        .loop = shard->loop,
    };
    run->started_ms = pl_loop_now_ms(shard->loop);
    pl_arena_init(&run->arena, 0);
    pl_buf_init(&run->text, 0);
    pl_buf_init(&run->tools, 0);
    pl_buf_init(&run->said, 0);
    run->session_id = pl_arena_dup(&run->arena, driver->link.key);
    run->user_id = pl_arena_dup(&run->arena, pl_session_record(driver->session)->user_id);
    run->is_remembering = pl_session_record(driver->session)->memory_enabled;
    bool is_whole = run->session_id.ptr && run->user_id.ptr &&
                    pl_effect_copy(&run->arena, effect, &run->effect);
    if (!is_whole) {
        destroy(run);
        return NULL;
    }
    run->driver = driver;
    run->next = driver->runs;
    if (driver->runs)
        driver->runs->prev = run;
    driver->runs = run;
    return run;
}

static void give_up(struct pl_run *run);

static void on_worked(struct pl_job *job)
{
    struct pl_run *run = PL_CONTAINER_OF(job, struct pl_run, job);
    run->is_away = false;
    if (!run->driver)
        destroy(run);
    else if (job->is_refused || run->driver->is_overdue)
        give_up(run);
    else
        run->after(run);
}

void pl_run_work(struct pl_run *run, void (*work)(struct pl_job *), void (*after)(struct pl_run *))
{
    run->is_away = true;
    run->after = after;
    run->job = (struct pl_job){
        .owner = pl_owner_of(run->user_id),
        .wait_ms = pl_turn_limit_left_ms(run->driver),
        .run = work,
        .done = on_worked,
    };
    pl_workers_submit(run->server->workers, run->loop, &run->job);
}

/* Brings something; the run may be gone when this returns. */
static void bring(struct pl_run *run, const struct pl_session_event *event)
{
    if (run->driver)
        pl_driver_apply(run->driver, event);
}

/* The run stays until the event is applied: its strings are in there. */
void pl_run_bring_last(struct pl_run *run, const struct pl_session_event *event)
{
    struct pl_driver *driver = run->driver;
    run->is_away = true;
    leave(run);
    pl_driver_apply(driver, event);
    run->is_away = false;
    pl_run_end(run);
}

/* --- models ---------------------------------------------------------------------------------- */

static struct pl_session_event model_event(const struct pl_run *run,
                                           enum pl_session_event_kind kind)
{
    struct pl_session_event event = {.kind = kind};
    event.model.loop_id = run->effect.loop_id;
    event.model.turn_id = run->effect.turn_id;
    return event;
}

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_TEXT);
    event.model.is_thinking = is_thinking;
    event.model.text = text;
    bring(ctx, &event);
}

static void on_block(void *ctx, const struct pl_model_block *block)
{
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_BLOCK);
    event.model.type = block->type;
    event.model.content = block->content;
    event.model.tool_call_id = block->tool_call_id;
    event.model.tool_name = block->tool_name;
    event.model.display_name = block->display_name;
    bring(ctx, &event);
}

static void on_call(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof)
{
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_CALL);
    event.model.tool_name = tool_name;
    event.model.display_name = tool_name;
    event.model.arguments = arguments;
    event.model.proof = proof;
    bring(ctx, &event);
}

static void on_proof(void *ctx, bool is_thinking, struct pl_str proof)
{
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_PROOF);
    event.model.is_thinking = is_thinking;
    event.model.proof = proof;
    bring(ctx, &event);
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct pl_run *run = ctx;
    struct pl_session_event event = model_event(run, PL_SE_MODEL_END);
    event.model.model = model.len ? model : run->effect.model;
    event.model.usage = usage;
    event.model.timing = timing;
    run->call = NULL;
    pl_run_bring_last(run, &event);
}

static void fail_model(struct pl_run *run, struct pl_str reason, bool is_overflow)
{
    struct pl_session_event event = model_event(run, PL_SE_MODEL_FAILED);
    event.model.reason = reason;
    event.model.is_overflow = is_overflow;
    pl_run_bring_last(run, &event);
}

static void on_failed(void *ctx, struct pl_str reason, bool is_overflow)
{
    struct pl_run *run = ctx;
    run->call = NULL;
    fail_model(run, reason, is_overflow);
}

static const struct pl_model_ops model_ops = {on_text, on_block,  on_call,
                                              on_end,  on_failed, on_proof};

static void on_patience_end(struct pl_timer *timer)
{
    struct pl_run *run = PL_CONTAINER_OF(timer, struct pl_run, timer);
    char reason[96];
    snprintf(reason, sizeof reason,
             "The answer took longer than this server allows (upstream_answer_ms: %lld).",
             (long long)run->setup->config.answer_ms);
    pl_model_cancel(PL_TAKE(run->call));
    fail_model(run, pl_str_of(reason), false);
}

/* What the call is told: the memories its user's words call up, and the turns. */
static enum pl_status read_context(struct pl_run *run)
{
    struct pl_store *store = run->server->store;
    struct pl_context context;
    enum pl_status status = pl_context_read(store, &run->arena, run->session_id,
                                            run->effect.loop_id, &context, &run->err);
    if (status == PL_OK)
        status = pl_context_find_asked(store, &run->arena, run->session_id, run->effect.loop_id,
                                       &context, &run->err);
    if (status == PL_OK && run->has_memory)
        status = pl_recall_read(store, &run->arena, run->user_id, &context, run->unix_ms,
                                &run->recall, &run->err);
    return status == PL_OK ? pl_context_write(&context, run->recall.text, &run->text) : status;
}

static struct pl_model_request model_request(const struct pl_run *run)
{
    return (struct pl_model_request){
        .models = run->setup->models,
        .model = run->effect.model,
        .turns = pl_buf_str(&run->text),
        .tools = pl_buf_str(&run->tools),
        .owner = run->user_id,
        .is_planning = run->effect.mode == PL_MODE_PLANNING,
        .speed = run->speed,
    };
}

static void model_run(struct pl_job *job)
{
    struct pl_run *run = PL_CONTAINER_OF(job, struct pl_run, job);
    if (pl_model_replayed(run->effect.model).len)
        run->status =
            pl_replay_write(run->server->store, &run->arena, run->session_id, run->effect.loop_id,
                            run->effect.model, &run->text, &run->speed, &run->err);
    else
        run->status = read_context(run);
    pl_tools_define(run->effect.model, run->is_remembering, &run->tools);
    if (run->status == PL_OK)
        run->status = run->tools.status;
    struct pl_model_request request = model_request(run);
    if (run->status == PL_OK)
        run->status = pl_model_prepare(&request, &run->prepared, &run->err);
}

/* Those that went along are told, and counted as hit in the same transaction: once for a turn,
 * since a session takes them once. The run may be gone when this returns. */
static void bring_memories(struct pl_run *run)
{
    struct pl_driver *driver = run->driver;
    struct pl_session_event event = model_event(run, PL_SE_MEMORY);
    struct pl_error err = {0};
    if (!run->recall.n || driver->state != PL_DRIVER_READY)
        return;
    event.model.memory_refs = run->recall.refs;
    enum pl_status status = pl_line_apply(driver, event, &err);
    bool is_taken = status == PL_OK && driver->drivers->out.frames.len;
    struct pl_batch *batch = is_taken ? pl_line_batch(driver) : NULL;
    if (status != PL_OK || (is_taken && !batch)) {
        pl_driver_break(driver, pl_problem_of(status != PL_OK ? status : PL_NOMEM), &err);
        return;
    }
    for (size_t i = 0; is_taken && i < run->recall.n; i++)
        pl_batch_hit_memory(batch, run->user_id, run->recall.ids[i], run->unix_ms);
    pl_line_carry_out(driver, NULL, false);
}

static void model_ready(struct pl_run *run)
{
    struct pl_model_request request = model_request(run);
    request.upstreams = &run->driver->drivers->shard->upstreams;
    request.prepared = PL_TAKE(run->prepared);
    if (run->status == PL_OK)
        run->status = pl_model_start(run->loop, &request, &model_ops, run, &run->call, &run->err);
    if (run->status != PL_OK) {
        fail_model(run, pl_str_of(run->err.message[0] ? run->err.message : "Out of memory."),
                   false);
        return;
    }
    pl_buf_deinit(&run->text);
    pl_timer_start(run->loop, &run->timer, run->setup->config.answer_ms, on_patience_end);
    bring_memories(run);
}

static void start_model(struct pl_run *run)
{
    run->has_memory =
        run->is_remembering && pl_recall_is_for(run->effect.loop_id, run->effect.model);
    run->unix_ms = pl_loop_unix_ms(run->loop);
    pl_run_work(run, model_run, model_ready);
}

/* --- tools ----------------------------------------------------------------------------------- */

void pl_run_finish_tool(struct pl_run *run, struct pl_str result_json, bool is_error)
{
    struct pl_session_event event = {.kind = PL_SE_TOOL_RESULT};
    event.tool.tool_call_id = run->effect.tool_call_id;
    event.tool.result = result_json;
    event.tool.is_error = is_error;
    event.tool.duration_ms = pl_loop_now_ms(run->loop) - run->started_ms;
    pl_run_bring_last(run, &event);
}

void pl_run_fail_tool(struct pl_run *run, const char *message)
{
    struct pl_buf result PL_CLEANUP_BUF;
    pl_buf_init(&result, 0);
    pl_json_quote(&result, pl_str_of(message));
    bool is_whole = result.status == PL_OK;
    pl_run_finish_tool(run, is_whole ? pl_buf_str(&result) : PL_STR("\"Out of memory.\""), true);
}

/* --- at the end of the time ------------------------------------------------------------------ */

static void give_up(struct pl_run *run)
{
    char reason[96];
    snprintf(reason, sizeof reason,
             "The work on one message took longer than this server allows (turn_ms: %lld).",
             (long long)run->setup->config.turn_ms);
    pl_model_cancel(PL_TAKE(run->call));
    if (run->effect.kind == PL_EFFECT_CALL_MODEL)
        fail_model(run, pl_str_of(reason), false);
    else if (run->effect.kind == PL_EFFECT_RUN_TOOL)
        pl_run_fail_tool(run, reason);
    else
        pl_summarise_give_up(run, reason);
}

/* What one of them brings may end others, and begin new ones, which are away. */
void pl_runs_give_up(struct pl_driver *driver)
{
    for (struct pl_run *run = driver->runs; run;) {
        if (run->is_away) {
            run = run->next;
            continue;
        }
        give_up(run);
        run = driver->runs;
    }
}

/* --- beginning and cancelling ---------------------------------------------------------------- */

static void on_begin(struct pl_letter *letter)
{
    struct pl_run *run = PL_CONTAINER_OF(letter, struct pl_run, letter);
    static void (*const starts[])(struct pl_run *) = {
        [PL_EFFECT_CALL_MODEL] = start_model,
        [PL_EFFECT_RUN_TOOL] = pl_tool_run,
        [PL_EFFECT_SUMMARISE] = pl_summarise,
    };
    run->is_away = false;
    if (!run->driver)
        destroy(run);
    else if (run->driver->is_overdue)
        give_up(run);
    else
        starts[run->effect.kind](run);
}

static void begin(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    struct pl_run *run = create(driver, effect);
    if (!run) {
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    run->is_away = true;
    run->letter.open = on_begin;
    pl_loop_post(run->loop, &run->letter);
}

/* A summary is the model's work too: it is named by its compaction. */
static bool is_meant(const struct pl_run *run, const struct pl_session_effect *effect)
{
    if (effect->kind == PL_EFFECT_CANCEL_TOOL)
        return run->effect.kind == PL_EFFECT_RUN_TOOL &&
               pl_str_eq(run->effect.tool_call_id, effect->tool_call_id);
    if (effect->compaction_id.len)
        return run->effect.kind == PL_EFFECT_SUMMARISE &&
               pl_str_eq(run->effect.compaction_id, effect->compaction_id);
    return run->effect.kind == PL_EFFECT_CALL_MODEL &&
           pl_str_eq(run->effect.turn_id, effect->turn_id);
}

static void cancel(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    for (struct pl_run *run = driver->runs, *next; run; run = next) {
        next = run->next;
        if (is_meant(run, effect))
            pl_run_end(run);
    }
}

void pl_effect_run(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    if (effect->kind == PL_EFFECT_CANCEL_MODEL || effect->kind == PL_EFFECT_CANCEL_TOOL)
        cancel(driver, effect);
    else
        begin(driver, effect);
}

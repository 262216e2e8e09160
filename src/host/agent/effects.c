/* Executes the effects of a session: model calls, tools, summaries. An effect in progress is an
 * activity.
 *
 *     machine activity
 *
 *     NEW -> POSTED -> HOME -> WORKING -> HOME -> CALLING -> BRINGING -> OVER
 *     CALLING -> WORKING                 a model's summary is counted
 *     HOME -> BRINGING                   a tool has its result; or it failed before
 *     POSTED, WORKING -> LEFT -> OVER    cancelled while it was away
 *     NEW, HOME, CALLING -> OVER         cancelled
 *
 * Every activity ends with an event to its session (BRINGING), except a cancelled one. */
#include "access/auth.h"
#include "agent/context/ask_how.h"
#include "agent/context/replay_source.h"
#include "agent/summary/summary_run.h"
#include "agent/activity_int.h"
#include "agent/hooks/hooks.h"
#include "agent/tools/ext_tool.h"
#include "agent/tools/card_keep.h"
#include "agent/tools/offer.h"
#include "agent/tools/tools.h"
#include "base/mem.h"
#include "io/move.h"
#include "http/json_members.h"
#include "json/text.h"
#include "json/write.h"
#include "store/library.h"

#include <stdio.h>

#define TO(name) PL_TO(PL_ACTIVITY_##name)
static const struct pl_state states[] = {
    [PL_ACTIVITY_NEW] = {"new", TO(POSTED) | TO(OVER)},
    [PL_ACTIVITY_POSTED] = {"posted", TO(HOME) | TO(LEFT), PL_WAIT_OPEN, PL_CANCEL_LATER,
                            .why = "its letter is opened in the next turn of the loop"},
    [PL_ACTIVITY_HOME] = {"home", TO(WORKING) | TO(CALLING) | TO(BRINGING) | TO(OVER), PL_WAIT_SET,
                          PL_CANCEL_ENDS, .why = "turn_ms, for all work on one message"},
    [PL_ACTIVITY_WORKING] =
        {"working", TO(HOME) | TO(LEFT), PL_WAIT_SET, PL_CANCEL_LATER,
         .why = "it waits for its turn within turn_ms; a worker always comes back"},
    [PL_ACTIVITY_CALLING] = {"calling", TO(WORKING) | TO(BRINGING) | TO(OVER), PL_WAIT_SET,
                             PL_CANCEL_ENDS,
                             .why = "upstream_answer_ms; five minutes for a summary"},
    [PL_ACTIVITY_BRINGING] = {"bringing", TO(OVER)},
    [PL_ACTIVITY_LEFT] = {"left", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                          .why = "its letter is opened, or the worker comes back"},
    [PL_ACTIVITY_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("activity", states);

static void become(struct pl_activity *activity, enum pl_activity_state to)
{
    activity->state = (enum pl_activity_state)pl_move(&machine, activity, activity->state, to);
}

/* --- life ------------------------------------------------------------------------------------ */

static void destroy(struct pl_activity *activity)
{
    become(activity, PL_ACTIVITY_OVER);
    pl_model_prepared_destroy(activity->prepared);
    pl_buf_deinit(&activity->text);
    pl_buf_deinit(&activity->said);
    pl_buf_deinit(&activity->update);
    pl_arena_deinit(&activity->arena);
    pl_setup_release(activity->shard, activity->setup);
    pl_mem_free(activity);
}

static void leave(struct pl_activity *activity)
{
    if (!activity->driver)
        return;
    if (activity->prev)
        activity->prev->next = activity->next;
    else
        activity->driver->activities = activity->next;
    if (activity->next)
        activity->next->prev = activity->prev;
    pl_driver_settle(activity->driver);
    activity->driver = NULL;
}

void pl_activity_end(struct pl_activity *activity)
{
    pl_activity_end_span(activity);
    pl_activity_settle(activity, NULL);
    leave(activity);
    pl_timer_stop(activity->loop, &activity->timer);
    pl_timer_stop(activity->loop, &activity->update_timer);
    pl_model_cancel(PL_TAKE(activity->call));
    pl_ext_ask_cancel(PL_TAKE(activity->ask));
    pl_ext_chain_cancel(PL_TAKE(activity->chain));
    pl_ext_wake_cancel(PL_TAKE(activity->wake));
    if (pl_machine_is_away(&machine, activity->state))
        become(activity, PL_ACTIVITY_LEFT);
    else
        destroy(activity);
}

void pl_activities_cancel(struct pl_driver *driver)
{
    while (driver->activities)
        pl_activity_end(driver->activities);
}

static struct pl_activity *create(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    struct pl_activity *activity = pl_mem_alloc(1, sizeof *activity);
    if (!activity)
        return NULL;
    struct pl_shard *shard = driver->drivers->shard;
    *activity = (struct pl_activity){
        .server = shard->server,
        .shard = shard,
        .setup = pl_setup_hold(shard),
        .loop = shard->loop,
    };
    activity->started_ms = pl_loop_now_ms(shard->loop);
    pl_arena_init(&activity->arena, 0);
    pl_buf_init(&activity->text, 0);
    pl_buf_init(&activity->said, 0);
    pl_buf_init(&activity->update, 0);
    activity->session_id = pl_arena_dup(&activity->arena, driver->link.key);
    activity->user_id = pl_arena_dup(&activity->arena, pl_session_record(driver->session)->user_id);
    activity->is_remembering = pl_session_record(driver->session)->memory_enabled;
    struct pl_ask_how how = {0};
    bool knows_how = effect->kind != PL_EFFECT_RUN_TOOL ||
                     pl_ask_how_read(&activity->arena, pl_session_record(driver->session),
                                     PL_STR("root"), &how, &activity->err) == PL_OK;
    activity->offer =
        how.tools.len ? pl_arena_dup(&activity->arena, how.tools) : (struct pl_str){0};
    knows_how &= !how.tools.len || activity->offer.ptr;
    bool is_whole = knows_how && activity->session_id.ptr && activity->user_id.ptr &&
                    pl_effect_copy(&activity->arena, effect, &activity->effect);
    if (!is_whole) {
        destroy(activity);
        return NULL;
    }
    pl_activity_begin_span(activity, driver);
    activity->driver = driver;
    activity->next = driver->activities;
    if (driver->activities)
        driver->activities->prev = activity;
    driver->activities = activity;
    return activity;
}

static void give_up(struct pl_activity *activity);

static void on_worked(struct pl_job *job)
{
    struct pl_activity *activity = PL_CONTAINER_OF(job, struct pl_activity, job);
    if (activity->state == PL_ACTIVITY_LEFT) {
        destroy(activity);
        return;
    }
    become(activity, PL_ACTIVITY_HOME);
    if (job->is_refused || activity->driver->is_overdue)
        give_up(activity);
    else
        activity->after(activity);
}

void pl_activity_work(struct pl_activity *activity, void (*work)(struct pl_job *),
                      void (*after)(struct pl_activity *))
{
    become(activity, PL_ACTIVITY_WORKING);
    activity->after = after;
    activity->job = (struct pl_job){
        .owner = pl_owner_of(activity->user_id),
        .wait_ms = pl_turn_limit_left_ms(activity->driver),
        .run = work,
        .done = on_worked,
    };
    pl_workers_submit(activity->server->workers, activity->loop, &activity->job);
}

/* Delivers an event; the activity may be gone when this returns. */
static void bring(struct pl_activity *activity, const struct pl_session_event *event)
{
    if (activity->driver)
        pl_driver_apply(activity->driver, event);
}

/* The activity stays until the event is applied: it owns the event's strings. */
void pl_activity_bring_last(struct pl_activity *activity, const struct pl_session_event *event)
{
    struct pl_driver *driver = activity->driver;
    become(activity, PL_ACTIVITY_BRINGING);
    pl_activity_end_span(activity);
    leave(activity);
    pl_activity_settle(activity, driver);
    pl_driver_apply(driver, event);
    pl_activity_end(activity);
}

void pl_activity_call(struct pl_activity *activity, int64_t limit_ms,
                      void (*late)(struct pl_timer *timer))
{
    become(activity, PL_ACTIVITY_CALLING);
    pl_move_limit(&machine, activity->state, activity->loop, &activity->timer, limit_ms, late);
}

/* --- models ---------------------------------------------------------------------------------- */

static struct pl_session_event model_event(const struct pl_activity *activity,
                                           enum pl_session_event_kind kind)
{
    struct pl_session_event event = {.kind = kind};
    event.model.loop_id = activity->effect.loop_id;
    event.model.turn_id = activity->effect.turn_id;
    return event;
}

static void note_first(struct pl_activity *activity)
{
    if (!activity->first_at_ms)
        activity->first_at_ms = pl_loop_unix_ms(activity->loop);
}

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    note_first(ctx);
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_TEXT);
    event.model.is_thinking = is_thinking;
    event.model.text = text;
    ((struct pl_activity *)ctx)->n_said += (int64_t)text.len;
    pl_hook_update(ctx, is_thinking, text);
    bring(ctx, &event);
}

static void on_block(void *ctx, const struct pl_model_block *block)
{
    note_first(ctx);
    pl_hook_update_break(ctx);
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_BLOCK);
    event.model.type = block->type;
    event.model.content = block->content;
    event.model.tool_call_id = block->tool_call_id;
    event.model.tool_name = block->tool_name;
    event.model.display_name = block->display_name;
    bring(ctx, &event);
}

/* If a list limits the offered tools, no other tool is run. */
static bool is_unknown(const struct pl_activity *activity, struct pl_str tool_name)
{
    return activity->request.is_limited && !pl_offer_has(activity->request.tools, tool_name);
}

static void on_call(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof)
{
    note_first(ctx);
    pl_hook_update_break(ctx);
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_CALL);
    event.model.tool_name = tool_name;
    event.model.display_name =
        pl_tools_has(tool_name)
            ? pl_tool_display_name(tool_name, ((struct pl_activity *)ctx)->effect.language)
            : pl_ext_tool_label(ctx, tool_name);
    event.model.arguments = arguments;
    event.model.proof = proof;
    event.model.is_unknown = is_unknown(ctx, tool_name);
    bring(ctx, &event);
}

static void on_proof(void *ctx, bool is_thinking, struct pl_str proof)
{
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_PROOF);
    event.model.is_thinking = is_thinking;
    event.model.proof = proof;
    bring(ctx, &event);
}

static void on_played_call(void *ctx, const struct pl_model_played *call)
{
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_CALL);
    event.model.tool_name = call->tool_name;
    event.model.display_name = call->display_name;
    event.model.arguments = call->arguments;
    event.model.is_recorded = true;
    bring(ctx, &event);
}

static void on_played_result(void *ctx, const struct pl_model_played *call)
{
    struct pl_session_event event = model_event(ctx, PL_SE_MODEL_RESULT);
    event.model.call = call->call;
    event.model.result = call->result;
    event.model.is_error = call->is_error;
    event.model.duration_ms = call->duration_ms;
    bring(ctx, &event);
}

/* If memory is short, only the metadata is lost, not the answer. */
static void on_about(void *ctx, struct pl_str metadata)
{
    struct pl_activity *activity = ctx;
    activity->metadata = pl_arena_dup(&activity->arena, metadata);
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct pl_activity *activity = ctx;
    struct pl_session_event event = model_event(activity, PL_SE_MODEL_END);
    event.model.model = model.len ? model : activity->effect.model;
    event.model.usage = usage;
    event.model.timing = timing;
    event.model.is_last = activity->is_last;
    event.model.metadata = activity->metadata;
    activity->call = NULL;
    pl_hook_update_end(activity);
    pl_activity_count(activity, model, usage);
    pl_activity_bring_last(activity, &event);
}

/* {"code", "detail", "retryable", …}, for programs. */
static void write_info(const struct pl_model_failure *failure, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "code", pl_str_of(pl_model_failure_code(failure)));
    pl_put_text(&out, "detail", failure->reason);
    pl_put_bool(&out, "retryable", pl_model_failure_is_retryable(failure));
    pl_put_number(&out, "retry_after_ms", failure->retry_after_ms);
    pl_put_number(&out, "vendor_status", failure->vendor_status);
    pl_put_text(&out, "request_id",
                failure->request_id.len ? failure->request_id : (struct pl_str){0});
    pl_json_out_close(&out, '}');
}

static void fail_call(struct pl_activity *activity, const struct pl_model_failure *failure)
{
    PL_CLEANUP_BUF struct pl_buf info;
    pl_buf_init(&info, 0);
    write_info(failure, &info);
    activity->span_error = failure->is_overflow ? "context_length_exceeded" : "model_failed";
    struct pl_session_event event = model_event(activity, PL_SE_MODEL_FAILED);
    event.model.reason = failure->reason;
    event.model.is_overflow = failure->is_overflow;
    event.model.error_info = info.status == PL_OK ? pl_buf_str(&info) : (struct pl_str){0};
    pl_activity_bring_last(activity, &event);
}

static void fail_model(struct pl_activity *activity, struct pl_str reason, const char *code)
{
    fail_call(activity, &(struct pl_model_failure){.reason = reason, .code = code});
}

static void on_failed(void *ctx, const struct pl_model_failure *failure)
{
    struct pl_activity *activity = ctx;
    activity->call = NULL;
    if (!activity->n_said)
        activity->used = (struct pl_meter_used){.outcome = PL_METER_FAILED,
                                                .error = pl_model_failure_code(failure)};
    fail_call(activity, failure);
}

static const struct pl_model_ops model_ops = {
    on_text,  on_block,       on_call,          on_end,   on_failed,
    on_proof, on_played_call, on_played_result, on_about,
};

static void on_patience_end(struct pl_timer *timer)
{
    struct pl_activity *activity = PL_CONTAINER_OF(timer, struct pl_activity, timer);
    char reason[96];
    snprintf(reason, sizeof reason,
             "The answer took longer than this server allows (upstream_answer_ms: %lld).",
             (long long)activity->setup->config.answer_ms);
    pl_model_cancel(PL_TAKE(activity->call));
    fail_model(activity, pl_str_of(reason), "upstream_timeout");
}

enum pl_status pl_activity_read_request(struct pl_activity *activity, bool is_answering,
                                        struct pl_str summary, struct pl_request *ret_request)
{
    struct pl_store *store = activity->server->store;
    struct pl_session_record record;
    enum pl_status status = pl_store_session_get(store, &activity->arena, activity->user_id,
                                                 activity->session_id, &record, &activity->err);
    if (status != PL_OK)
        return status;
    struct pl_request_query query = {
        .record = &record,
        .loop_id = activity->effect.loop_id,
        .model = activity->effect.model,
        .models = activity->setup->models,
        .is_planning = activity->effect.mode == PL_CHAT_MODE_PLANNING,
        .is_answering = is_answering,
        .unix_ms = activity->unix_ms,
        .summary = summary,
        .agent_start = activity->agent_start,
        .ext = activity->server->ext,
    };
    return pl_request_read(store, &activity->arena, &query, ret_request, &activity->err);
}

/* A replay has its own input. */
static enum pl_status read_replay(struct pl_activity *activity)
{
    struct pl_str model = activity->effect.model;
    enum pl_status status = pl_replay_write(
        activity->server->store, &activity->arena, activity->session_id, activity->effect.loop_id,
        model, &activity->text, &activity->pace, &activity->is_last, &activity->err);
    activity->request = (struct pl_request){.model = model, .turns = pl_buf_str(&activity->text)};
    return status;
}

static struct pl_model_request model_request(struct pl_activity *activity)
{
    struct pl_model_request request = pl_request_ask(&activity->request, activity->setup->models);
    request.owner = activity->user_id;
    request.speed = activity->pace.speed;
    request.is_paused = activity->pace.is_paused;
    request.traceparent = pl_activity_traceparent(activity);
    return request;
}

void pl_activity_prepare(struct pl_activity *activity)
{
    struct pl_model_request request = model_request(activity);
    pl_model_prepared_destroy(PL_TAKE(activity->prepared));
    activity->status = pl_model_prepare(&request, &activity->prepared, &activity->err);
}

static void model_run(struct pl_job *job)
{
    struct pl_activity *activity = PL_CONTAINER_OF(job, struct pl_activity, job);
    activity->status =
        pl_model_replayed(activity->effect.model).len
            ? read_replay(activity)
            : pl_activity_read_request(activity, true, (struct pl_str){0}, &activity->request);
    if (activity->status == PL_OK)
        pl_activity_prepare(activity);
    if (activity->status == PL_OK)
        pl_activity_fetch(activity);
}

/* Reports the memories in the request, and counts them as hits in the same transaction: once per
 * turn, because a session accepts them once. The activity may be gone when this returns. */
static void bring_memories(struct pl_activity *activity)
{
    struct pl_driver *driver = activity->driver;
    struct pl_session_event event = model_event(activity, PL_SE_MEMORY);
    struct pl_error err = {0};
    if (!activity->request.recall.n || !pl_driver_is_loaded(driver))
        return;
    event.model.memory_refs = activity->request.recall.refs;
    enum pl_status status = pl_commit_queue_apply(driver, event, &err);
    bool is_taken = status == PL_OK && driver->drivers->out.frames.len;
    struct pl_batch *batch = is_taken ? pl_commit_queue_batch(driver) : NULL;
    if (status != PL_OK || (is_taken && !batch)) {
        pl_driver_break(driver, pl_problem_of(status != PL_OK ? status : PL_NOMEM), &err);
        return;
    }
    for (size_t i = 0; is_taken && i < activity->request.recall.n; i++)
        pl_batch_hit_memory(batch, activity->user_id, activity->request.recall.ids[i],
                            activity->unix_ms);
    pl_commit_queue_carry_out(driver, NULL, false);
}

static void model_ready(struct pl_activity *activity)
{
    struct pl_str why;
    bool is_admitted = activity->status == PL_OK && pl_activity_admit(activity, &why);
    struct pl_model_request request = model_request(activity);
    request.upstreams = &activity->driver->drivers->shard->upstreams;
    request.prepared = PL_TAKE(activity->prepared);
    if (activity->status == PL_OK && !is_admitted) {
        pl_model_prepared_destroy(request.prepared);
        fail_model(activity, why, "not_admitted");
        return;
    }
    if (activity->status == PL_OK)
        activity->status = pl_model_start(activity->loop, &request, &model_ops, activity,
                                          &activity->call, &activity->err);
    if (activity->status != PL_OK)
        activity->used = (struct pl_meter_used){.outcome = PL_METER_FAILED};
    if (activity->status != PL_OK) {
        fail_model(activity,
                   pl_str_of(activity->err.message[0] ? activity->err.message : "Out of memory."),
                   "not_asked");
        return;
    }
    pl_buf_deinit(&activity->text);
    pl_hook_update_begin(activity);
    pl_activity_call(activity, activity->setup->config.answer_ms, on_patience_end);
    bring_memories(activity);
}

static void model_built(struct pl_activity *activity)
{
    pl_hook_request(activity, model_ready);
}

/* Extensions that never ran for this user have now reported their tools, or failed. */
static void on_awake(void *ctx)
{
    struct pl_activity *activity = ctx;
    activity->wake = NULL;
    pl_activity_work(activity, model_run, model_built);
}

static void start_model(struct pl_activity *activity)
{
    activity->unix_ms = pl_loop_unix_ms(activity->loop);
    if (!pl_auth_is_active(activity->server->auth, activity->user_id)) {
        fail_model(activity, PL_STR("The user of this session is disabled."), "not_admitted");
        return;
    }
    if (!pl_hook_agent_recall(activity)) {
        fail_model(activity, PL_STR("Out of memory."), "not_asked");
        return;
    }
    activity->wake = pl_ext_wake_start(activity->shard, activity->user_id, on_awake, activity);
    if (!activity->wake)
        pl_activity_work(activity, model_run, model_built);
}

/* --- tools ----------------------------------------------------------------------------------- */

void pl_activity_finish_tool(struct pl_activity *activity, struct pl_str result_json, bool is_error)
{
    if (!pl_tool_result_hook(activity, result_json, is_error))
        pl_activity_give_result(activity, result_json, is_error);
}

void pl_activity_give_result(struct pl_activity *activity, struct pl_str result_json, bool is_error)
{
    pl_tool_tell_end(activity, is_error);
    struct pl_session_event event = {.kind = PL_SE_TOOL_RESULT};
    event.tool.tool_call_id = activity->effect.tool_call_id;
    event.tool.result = result_json;
    event.tool.is_error = is_error;
    event.tool.duration_ms = pl_loop_now_ms(activity->loop) - activity->started_ms;
    PL_CLEANUP_BUF struct pl_buf with_card;
    pl_buf_init(&with_card, 0);
    struct pl_driver *driver = activity->driver;
    struct pl_batch *batch =
        driver && !is_error && pl_driver_is_loaded(driver) ? pl_commit_queue_batch(driver) : NULL;
    if (batch &&
        pl_card_keep(&activity->arena, activity->session_id, result_json, batch, &with_card))
        event.tool.result = pl_buf_str(&with_card);
    if (is_error)
        activity->span_error = "tool_failed";
    pl_activity_bring_last(activity, &event);
}

void pl_activity_fail_tool(struct pl_activity *activity, enum pl_tool_error error,
                           const char *message)
{
    struct pl_buf result PL_CLEANUP_BUF;
    pl_buf_init(&result, 0);
    pl_tool_error_write(&result, error, pl_str_of(message));
    bool is_whole = result.status == PL_OK;
    pl_activity_finish_tool(activity, is_whole ? pl_buf_str(&result) : PL_STR("\"Out of memory.\""),
                            true);
}

/* --- at the end of the time ------------------------------------------------------------------ */

static void give_up(struct pl_activity *activity)
{
    char reason[96];
    snprintf(reason, sizeof reason,
             "The work on one message took longer than this server allows (turn_ms: %lld).",
             (long long)activity->setup->config.turn_ms);
    pl_model_cancel(PL_TAKE(activity->call));
    if (activity->effect.kind == PL_EFFECT_CALL_MODEL)
        fail_model(activity, pl_str_of(reason), "upstream_timeout");
    else if (activity->effect.kind == PL_EFFECT_RUN_TOOL)
        pl_activity_fail_tool(activity, PL_TOOL_ERROR_TIMEOUT, reason);
    else
        pl_summarise_give_up(activity, reason);
}

/* The output of one may end others, and start new ones, which are away. */
void pl_activities_give_up(struct pl_driver *driver)
{
    for (struct pl_activity *activity = driver->activities; activity;) {
        if (pl_machine_is_away(&machine, activity->state)) {
            activity = activity->next;
            continue;
        }
        give_up(activity);
        activity = driver->activities;
    }
}

void pl_activities_pace(struct pl_driver *driver)
{
    struct pl_replay_pace pace;
    if (pl_replay_read_pace(pl_session_record(driver->session)->replay_state, &pace) != PL_OK)
        return;
    for (struct pl_activity *activity = driver->activities; activity; activity = activity->next) {
        activity->pace = pace;
        pl_model_pace(activity->call, pace.speed, pace.is_paused);
    }
}

/* --- beginning and cancelling ---------------------------------------------------------------- */

static void on_begin(struct pl_letter *letter)
{
    struct pl_activity *activity = PL_CONTAINER_OF(letter, struct pl_activity, letter);
    static void (*const starts[])(struct pl_activity *) = {
        [PL_EFFECT_CALL_MODEL] = start_model,
        [PL_EFFECT_RUN_TOOL] = pl_tool_begin,
        [PL_EFFECT_SUMMARISE] = pl_summarise,
    };
    if (activity->state == PL_ACTIVITY_LEFT) {
        destroy(activity);
        return;
    }
    become(activity, PL_ACTIVITY_HOME);
    if (activity->driver->is_overdue)
        give_up(activity);
    else
        starts[activity->effect.kind](activity);
}

static void begin(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    struct pl_activity *activity = create(driver, effect);
    if (!activity) {
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    become(activity, PL_ACTIVITY_POSTED);
    activity->letter.open = on_begin;
    pl_loop_post(activity->loop, &activity->letter);
}

/* A summary is a model call too; its compaction identifies it. */
static bool is_meant(const struct pl_activity *activity, const struct pl_session_effect *effect)
{
    if (effect->kind == PL_EFFECT_CANCEL_TOOL)
        return activity->effect.kind == PL_EFFECT_RUN_TOOL &&
               pl_str_eq(activity->effect.tool_call_id, effect->tool_call_id);
    if (effect->compaction_id.len)
        return activity->effect.kind == PL_EFFECT_SUMMARISE &&
               pl_str_eq(activity->effect.compaction_id, effect->compaction_id);
    return activity->effect.kind == PL_EFFECT_CALL_MODEL &&
           pl_str_eq(activity->effect.turn_id, effect->turn_id);
}

static void cancel(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    for (struct pl_activity *activity = driver->activities, *next; activity; activity = next) {
        next = activity->next;
        if (is_meant(activity, effect))
            pl_activity_end(activity);
    }
}

void pl_effect_run(struct pl_driver *driver, const struct pl_session_effect *effect)
{
    if (effect->kind == PL_EFFECT_TELL_ASIDE) {
        pl_ext_question_tell(driver->drivers->shard, effect->tool_call_id, effect->arguments);
        return;
    }
    if (effect->kind == PL_EFFECT_CANCEL_MODEL || effect->kind == PL_EFFECT_CANCEL_TOOL)
        cancel(driver, effect);
    else
        begin(driver, effect);
}

/* Executes SUMMARISE in three steps: the fallback summary on a worker, the call of the model, and
 * the token count of its text on a worker.
 *
 * If a step fails, the fallback is used. So a full context never ends a chat because no summary
 * could be written. */
#include "access/auth.h"
#include "agent/summary/summary_run.h"

#include "agent/context/context.h"
#include "agent/summary/summary.h"
#include "agent/activity_int.h"
#include "agent/hooks/hooks.h"
#include "ext/run/ext.h"
#include "io/clock.h"
#include "json/text.h"
#include "json/write.h"

#define PATIENCE_MS (5 * 60 * 1000) /* or the limit of any answer, if that is less */
#define MAX_SUMMARY (64u << 10)     /* bytes kept of the model's text */
#define BYTES_PER_TOKEN                                                                            \
    3                          /* less than in most texts: a short request is better than one that
                                  is too long */
#define MAX_REQUEST (1u << 20) /* bytes, for a model with an unknown window */

/* --- before the model ------------------------------------------------------------------------ */

/* The tokens of the request with this summary instead of the turns; {NULL, 0}: of the current
 * request. */
static enum pl_status count_request(struct pl_activity *activity, struct pl_str summary,
                                    int64_t *ret_tokens)
{
    struct pl_request request;
    struct pl_segments segments;
    bool is_answering = !pl_str_eq(activity->effect.trigger, PL_STR("manual"));
    activity->unix_ms = pl_clock_unix_ms();
    enum pl_status status = pl_activity_read_request(activity, is_answering, summary, &request);
    if (status == PL_OK)
        status = pl_request_count(&request, activity->setup->models, &segments, &activity->err);
    if (status == PL_OK)
        *ret_tokens = (int64_t)segments.counted.n_tokens;
    return status;
}

static bool can_write(struct pl_str model)
{
    return model.len && !pl_str_starts(model, PL_STR("demo/")) && !pl_model_replayed(model).len;
}

/* As much of the conversation as fits the window; after an overflow less than half of it, because
 * the token count was unreliable. */
static size_t room_for(const struct pl_activity *activity, size_t n_context)
{
    const struct pl_model_info *info =
        pl_model_find(activity->setup->models, activity->effect.model);
    bool is_retry = pl_str_eq(activity->effect.trigger, PL_STR("forced_retry"));
    int64_t window = info ? info->context_window : 0;
    size_t room =
        window > 0 ? (size_t)window / 100 * (is_retry ? 40 : 70) * BYTES_PER_TOKEN : MAX_REQUEST;
    return is_retry && room > n_context / 2 ? n_context / 2 : room;
}

static enum pl_status prepare(struct pl_activity *activity, struct pl_str context)
{
    struct pl_buf turns PL_CLEANUP_BUF;
    pl_buf_init(&turns, 0);
    enum pl_status status = pl_summary_ask(&activity->arena, context,
                                           room_for(activity, context.len), &turns, &activity->err);
    struct pl_model_request request = {
        .models = activity->setup->models,
        .model = activity->effect.model,
        .turns = pl_buf_str(&turns),
    };
    return status == PL_OK ? pl_model_prepare(&request, &activity->prepared, &activity->err)
                           : status;
}

static enum pl_status read_context(struct pl_activity *activity, struct pl_buf *to)
{
    struct pl_store *store = activity->server->store;
    struct pl_context context;
    enum pl_status status = pl_context_read(store, &activity->arena, activity->session_id,
                                            activity->effect.loop_id, &context, &activity->err);
    if (status != PL_OK)
        return status;
    activity->n_turns = (int64_t)context.n_turns;
    status = pl_context_find_asked(store, &activity->arena, activity->session_id,
                                   activity->effect.loop_id, &context, &activity->err);
    return status == PL_OK ? pl_context_write(&context, NULL, 0, 0, to) : status;
}

/* Whether even the shortest summary would save nothing: then no model is called. */
static bool is_useless(struct pl_activity *activity)
{
    int64_t n_least = 0;
    activity->status = count_request(activity, PL_STR("."), &n_least);
    return n_least >= activity->tokens_before;
}

/* On a worker: the fallback summary, and the request for a better one. */
static void summary_run(struct pl_job *job)
{
    struct pl_activity *activity = PL_CONTAINER_OF(job, struct pl_activity, job);
    struct pl_buf context PL_CLEANUP_BUF;
    pl_buf_init(&context, 0);
    activity->status = read_context(activity, &context);
    if (activity->status == PL_OK)
        pl_activity_fetch(activity);
    if (activity->status == PL_OK)
        activity->status = count_request(activity, (struct pl_str){0}, &activity->tokens_before);
    if (activity->status == PL_OK)
        activity->status = pl_summary_write(&activity->arena, pl_buf_str(&context),
                                            activity->n_turns, &activity->text, &activity->err);
    if (activity->status == PL_OK)
        activity->status =
            count_request(activity, pl_buf_str(&activity->text), &activity->tokens_after);
    /* A request that cannot be made is not a failure: see the top. */
    if (activity->status == PL_OK && can_write(activity->effect.model) && !is_useless(activity) &&
        activity->status == PL_OK && prepare(activity, pl_buf_str(&context)) != PL_OK)
        activity->prepared = NULL;
}

/* --- the model ------------------------------------------------------------------------------- */

static void finish(struct pl_activity *activity)
{
    bool is_ok = activity->status == PL_OK;
    struct pl_session_event event = {.kind = is_ok ? PL_SE_SUMMARY : PL_SE_SUMMARY_FAILED};
    event.summary.loop_id = activity->effect.loop_id;
    event.summary.compaction_id = activity->effect.compaction_id;
    event.summary.summary = pl_buf_str(&activity->text);
    event.summary.reason = pl_str_of(activity->err.message);
    event.summary.model = activity->writer;
    event.summary.usage = activity->usage;
    event.summary.timing = activity->timing;
    event.summary.tokens_before = activity->tokens_before;
    event.summary.tokens_after = activity->tokens_after;
    event.summary.archived_count = activity->n_turns;
    pl_activity_bring_last(activity, &event);
}

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct pl_activity *activity = ctx;
    if (!is_thinking && activity->said.len + text.len <= MAX_SUMMARY)
        pl_buf_add(&activity->said, text);
}

static void on_block(void *ctx, const struct pl_model_block *block)
{
    (void)ctx;
    (void)block;
}

static void on_call(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof)
{
    (void)ctx;
    (void)tool_name;
    (void)arguments;
    (void)proof;
}

/* On a worker: the model's text replaces the fallback, unless only the fallback saves tokens. */
static void take_said(struct pl_job *job)
{
    struct pl_activity *activity = PL_CONTAINER_OF(job, struct pl_activity, job);
    int64_t tokens_after = 0;
    activity->status = count_request(activity, pl_buf_str(&activity->said), &tokens_after);
    if (tokens_after >= activity->tokens_before && activity->tokens_after < activity->tokens_before)
        return;
    activity->tokens_after = tokens_after;
    pl_buf_clear(&activity->text);
    pl_buf_add(&activity->text, pl_buf_str(&activity->said));
    if (activity->status == PL_OK)
        activity->status = activity->text.status;
}

/* Also for a call without output: it costs money too. */
static void keep_end(struct pl_activity *activity, struct pl_str model, struct pl_str usage,
                     struct pl_str timing)
{
    activity->writer = pl_arena_dup(&activity->arena, model.len ? model : activity->effect.model);
    activity->usage = pl_arena_dup(&activity->arena, usage);
    activity->timing = pl_arena_dup(&activity->arena, timing);
    if (!activity->writer.ptr || !activity->usage.ptr || !activity->timing.ptr)
        activity->status = pl_fail(&activity->err, PL_NOMEM, "Out of memory.");
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct pl_activity *activity = ctx;
    activity->call = NULL;
    pl_timer_stop(activity->loop, &activity->timer);
    pl_activity_count(activity, model, usage);
    keep_end(activity, model, usage, timing);
    if (activity->status == PL_OK && activity->said.len && activity->said.status == PL_OK)
        pl_activity_work(activity, take_said, finish);
    else
        finish(activity);
}

static void on_failed(void *ctx, const struct pl_model_failure *failure)
{
    struct pl_activity *activity = ctx;
    (void)failure;
    activity->call = NULL;
    activity->used = (struct pl_meter_used){.outcome = PL_METER_FAILED};
    finish(activity);
}

static const struct pl_model_ops summary_ops = {on_text, on_block,  on_call,
                                                on_end,  on_failed, NULL};

static void on_patience_end(struct pl_timer *timer)
{
    struct pl_activity *activity = PL_CONTAINER_OF(timer, struct pl_activity, timer);
    pl_model_cancel(PL_TAKE(activity->call));
    finish(activity);
}

static void ask_hooked(struct pl_activity *activity)
{
    struct pl_error err = {0};
    struct pl_str why;
    bool is_admitted = activity->prepared && activity->status == PL_OK &&
                       pl_auth_is_active(activity->server->auth, activity->user_id) &&
                       pl_activity_admit(activity, &why);
    struct pl_model_request request = {
        .models = activity->setup->models,
        .model = activity->effect.model,
        .owner = activity->user_id,
        .traceparent = pl_activity_traceparent(activity),
        .upstreams = &activity->driver->drivers->shard->upstreams,
        .prepared = PL_TAKE(activity->prepared),
    };
    int64_t answer_ms = activity->setup->config.answer_ms;
    bool is_asked = is_admitted && request.prepared && activity->status == PL_OK &&
                    pl_model_start(activity->loop, &request, &summary_ops, activity,
                                   &activity->call, &err) == PL_OK;
    if (is_asked) {
        pl_activity_call(activity, answer_ms < PATIENCE_MS ? answer_ms : PATIENCE_MS,
                         on_patience_end);
    } else {
        if (!is_admitted)
            pl_model_prepared_destroy(request.prepared);
        activity->used = (struct pl_meter_used){.outcome = PL_METER_FAILED};
        finish(activity);
    }
}

static void ask(struct pl_activity *activity)
{
    if (activity->prepared)
        pl_hook_provider_request(activity, ask_hooked);
    else
        ask_hooked(activity);
}

void pl_summarise_give_up(struct pl_activity *activity, const char *reason)
{
    if (activity->status == PL_OK && !activity->text.len)
        activity->status = pl_fail(&activity->err, PL_LIMIT, "%s", reason);
    finish(activity);
}

/* If an extension has written a summary, it replaces the fallback, as a model's would. */
static void take_given(struct pl_activity *activity)
{
    if (activity->status == PL_OK && activity->said.len)
        pl_activity_work(activity, take_said, finish);
    else
        ask(activity);
}

static void on_ruling(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_activity *activity = ctx;
    struct pl_json_doc doc;
    activity->chain = NULL;
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK) {
        activity->status =
            pl_fail(&activity->err, PL_INVALID, "Blocked by %.*s: %.*s", PL_STR_ARG(ruling->by),
                    (int)(ruling->why.len < 300 ? ruling->why.len : 300),
                    ruling->why.len ? ruling->why.ptr : "no reason was given");
        finish(activity);
        return;
    }
    struct pl_str data = pl_arena_dup(&activity->arena, ruling->data), text = {0};
    if (ruling->is_changed && data.ptr &&
        pl_json_parse(&activity->arena, data, &pl_json_own, &doc, NULL) == PL_OK) {
        const struct pl_json_node *summary =
            pl_json_member(&doc, doc.root, "summary", PL_JSON_STRING);
        if (summary && pl_json_text(&activity->arena, &doc, summary, &text) == PL_OK)
            pl_buf_add(&activity->said, pl_str_slice(text, 0, MAX_SUMMARY));
    }
    pl_activity_work(activity, summary_run, take_given);
}

static bool start_hook(struct pl_activity *activity)
{
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, activity->session_id);
    pl_json_out_key(&out, "loop_id");
    pl_json_out_text(&out, activity->effect.loop_id);
    pl_json_out_key(&out, "trigger");
    pl_json_out_text(&out, activity->effect.trigger);
    pl_json_out_close(&out, '}');
    struct pl_ext_chain_query query = {
        .user_id = activity->user_id,
        .session_id = activity->session_id,
        .loop_id = activity->effect.loop_id,
        .hook = PL_EXT_HOOK_SESSION_BEFORE_COMPACT,
        .data = pl_buf_str(&data),
    };
    if (data.status == PL_OK)
        activity->chain = pl_ext_chain_start(activity->shard, &query, on_ruling, activity);
    return activity->chain;
}

void pl_summarise(struct pl_activity *activity)
{
    struct pl_ext_server *ext = activity->server->ext;
    if (!pl_ext_server_has_any(ext) ||
        !pl_ext_wants(ext, activity->user_id, PL_EXT_HOOK_SESSION_BEFORE_COMPACT,
                      (struct pl_str){0})) {
        pl_activity_work(activity, summary_run, ask);
    } else if (!start_hook(activity)) {
        activity->status = pl_fail(&activity->err, PL_NOMEM, "Out of memory.");
        finish(activity);
    }
}

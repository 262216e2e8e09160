#include "server/summarising.h"

#include "format/count_document.h"
#include "server/context.h"
#include "server/run_int.h"
#include "server/summary.h"

#define PATIENCE_MS     (5 * 60 * 1000) /* or as for any answer, if that is less */
#define MAX_SUMMARY     (64u << 10)     /* bytes of what the model writes that are kept */
#define BYTES_PER_TOKEN 3               /* fewer than most texts have: rather too short a request */
#define MAX_REQUEST     (1u << 20)      /* bytes told to a model whose window is not known */

/* --- before the model ------------------------------------------------------------------------ */

static int64_t count_tokens(struct pl_run *run, struct pl_str turns)
{
    struct pl_counted counted;
    enum pl_status status = pl_count_document(turns, pl_format_find(PL_STR("turns")),
                                              &(struct pl_count_choice){0}, &counted, &run->err);
    return status == PL_OK ? (int64_t)counted.n_tokens : (int64_t)(turns.len / 4);
}

/* How long the summary is as part of a context. */
static enum pl_status count_summary(struct pl_run *run, struct pl_str summary)
{
    struct pl_buf as_turn PL_CLEANUP_BUF;
    pl_buf_init(&as_turn, 0);
    enum pl_status status = pl_context_write(&(struct pl_context){0}, summary, &as_turn);
    if (status == PL_OK)
        run->tokens_after = count_tokens(run, pl_buf_str(&as_turn));
    return status;
}

static bool can_write(struct pl_str model)
{
    return model.len && !pl_str_starts(model, PL_STR("demo/")) && !pl_model_replayed(model).len;
}

/* So much of the conversation that the request fits the window; after an overflow less than half of
 * it, since what was counted was not to be trusted. */
static size_t room_for(const struct pl_run *run, size_t n_context)
{
    const struct pl_model_info *info = pl_model_find(run->setup->models, run->effect.model);
    bool is_retry = pl_str_eq(run->effect.trigger, PL_STR("forced_retry"));
    int64_t window = info ? info->context_window : 0;
    size_t room =
        window > 0 ? (size_t)window / 100 * (is_retry ? 40 : 70) * BYTES_PER_TOKEN : MAX_REQUEST;
    return is_retry && room > n_context / 2 ? n_context / 2 : room;
}

static enum pl_status prepare(struct pl_run *run, struct pl_str context)
{
    struct pl_buf turns PL_CLEANUP_BUF;
    pl_buf_init(&turns, 0);
    enum pl_status status =
        pl_summary_ask(&run->arena, context, room_for(run, context.len), &turns, &run->err);
    struct pl_model_request request = {
        .models = run->setup->models,
        .model = run->effect.model,
        .turns = pl_buf_str(&turns),
    };
    return status == PL_OK ? pl_model_prepare(&request, &run->prepared, &run->err) : status;
}

static enum pl_status read_context(struct pl_run *run, struct pl_buf *to)
{
    struct pl_store *store = run->server->store;
    struct pl_context context;
    enum pl_status status = pl_context_read(store, &run->arena, run->session_id,
                                            run->effect.loop_id, &context, &run->err);
    if (status != PL_OK)
        return status;
    run->n_turns = (int64_t)context.n_turns;
    status = pl_context_find_asked(store, &run->arena, run->session_id, run->effect.loop_id,
                                   &context, &run->err);
    return status == PL_OK ? pl_context_write(&context, (struct pl_str){0}, to) : status;
}

/* On a worker: the summary that is to be had in any case, and the request for a better one. */
static void summary_run(struct pl_job *job)
{
    struct pl_run *run = PL_CONTAINER_OF(job, struct pl_run, job);
    struct pl_buf context PL_CLEANUP_BUF;
    pl_buf_init(&context, 0);
    run->status = read_context(run, &context);
    if (run->status != PL_OK)
        return;
    run->tokens_before = count_tokens(run, pl_buf_str(&context));
    run->status =
        pl_summary_write(&run->arena, pl_buf_str(&context), run->n_turns, &run->text, &run->err);
    if (run->status == PL_OK)
        run->status = count_summary(run, pl_buf_str(&run->text));
    /* A request that cannot be made is no failure: see the top. */
    if (run->status == PL_OK && can_write(run->effect.model) &&
        prepare(run, pl_buf_str(&context)) != PL_OK)
        run->prepared = NULL;
}

/* --- the model ------------------------------------------------------------------------------- */

static void finish(struct pl_run *run)
{
    bool is_ok = run->status == PL_OK;
    struct pl_session_event event = {.kind = is_ok ? PL_SE_SUMMARY : PL_SE_SUMMARY_FAILED};
    event.summary.loop_id = run->effect.loop_id;
    event.summary.compaction_id = run->effect.compaction_id;
    event.summary.summary = pl_buf_str(&run->text);
    event.summary.reason = pl_str_of(run->err.message);
    event.summary.model = run->writer;
    event.summary.usage = run->usage;
    event.summary.timing = run->timing;
    event.summary.tokens_before = run->tokens_before;
    event.summary.tokens_after = run->tokens_after;
    event.summary.archived_count = run->n_turns;
    pl_run_bring_last(run, &event);
}

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct pl_run *run = ctx;
    if (!is_thinking && run->said.len + text.len <= MAX_SUMMARY)
        pl_buf_add(&run->said, text);
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

/* On a worker: what the model wrote takes the place of the first words. */
static void take_said(struct pl_job *job)
{
    struct pl_run *run = PL_CONTAINER_OF(job, struct pl_run, job);
    run->status = count_summary(run, pl_buf_str(&run->said));
    pl_buf_clear(&run->text);
    pl_buf_add(&run->text, pl_buf_str(&run->said));
    if (run->status == PL_OK)
        run->status = run->text.status;
}

/* Also of a call that said nothing: it has to be paid for. */
static void keep_end(struct pl_run *run, struct pl_str model, struct pl_str usage,
                     struct pl_str timing)
{
    run->writer = pl_arena_dup(&run->arena, model.len ? model : run->effect.model);
    run->usage = pl_arena_dup(&run->arena, usage);
    run->timing = pl_arena_dup(&run->arena, timing);
    if (!run->writer.ptr || !run->usage.ptr || !run->timing.ptr)
        run->status = pl_fail(&run->err, PL_NOMEM, "Out of memory.");
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct pl_run *run = ctx;
    run->call = NULL;
    pl_timer_stop(run->loop, &run->timer);
    keep_end(run, model, usage, timing);
    if (run->status == PL_OK && run->said.len && run->said.status == PL_OK)
        pl_run_work(run, take_said, finish);
    else
        finish(run);
}

static void on_failed(void *ctx, struct pl_str reason, bool is_overflow)
{
    struct pl_run *run = ctx;
    (void)reason;
    (void)is_overflow;
    run->call = NULL;
    finish(run);
}

static const struct pl_model_ops summary_ops = {on_text, on_block,  on_call,
                                                on_end,  on_failed, NULL};

static void on_patience_end(struct pl_timer *timer)
{
    struct pl_run *run = PL_CONTAINER_OF(timer, struct pl_run, timer);
    pl_model_cancel(PL_TAKE(run->call));
    finish(run);
}

static void ask(struct pl_run *run)
{
    struct pl_error err = {0};
    struct pl_model_request request = {
        .models = run->setup->models,
        .model = run->effect.model,
        .owner = run->user_id,
        .upstreams = &run->driver->drivers->shard->upstreams,
        .prepared = PL_TAKE(run->prepared),
    };
    int64_t answer_ms = run->setup->config.answer_ms;
    bool is_asked =
        request.prepared && run->status == PL_OK &&
        pl_model_start(run->loop, &request, &summary_ops, run, &run->call, &err) == PL_OK;
    if (is_asked)
        pl_timer_start(run->loop, &run->timer, answer_ms < PATIENCE_MS ? answer_ms : PATIENCE_MS,
                       on_patience_end);
    else
        finish(run);
}

void pl_summarise_give_up(struct pl_run *run, const char *reason)
{
    if (run->status == PL_OK && !run->text.len)
        run->status = pl_fail(&run->err, PL_LIMIT, "%s", reason);
    finish(run);
}

void pl_summarise(struct pl_run *run)
{
    pl_run_work(run, summary_run, ask);
}

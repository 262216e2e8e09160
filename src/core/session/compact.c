/* Compaction: a summary replaces the earlier turns. The host gets the summary from a model; this
 * file decides when one is due, prevents endless compaction, and makes the turn that reports it. */
#include "session/session_int.h"

#include <stdio.h>

void pl_agent_loop_summarise(struct pl_step *x, struct pl_agent_loop *loop, const char *trigger)
{
    struct pl_str name = pl_str_of(trigger);
    loop->summary.id = pl_id_take(x->event->seed, "comp_");
    loop->summary.started_ms = x->now_ms;
    memset(loop->summary.trigger, 0, sizeof loop->summary.trigger);
    memcpy(loop->summary.trigger, name.ptr,
           name.len < sizeof loop->summary.trigger ? name.len : sizeof loop->summary.trigger - 1);
    struct pl_session_effect effect = {
        .kind = PL_EFFECT_SUMMARISE,
        .loop_id = pl_str_of(loop->id.text),
        .model = loop->model ? pl_str_of(loop->model) : (struct pl_str){0},
        .compaction_id = pl_str_of(loop->summary.id.text),
        .trigger = name,
        .mode = x->s->mode,
        .trace_id = pl_str_of(x->s->trace_id),
        .key_id = pl_str_of(x->s->key_id),
    };
    pl_step_want(x, &effect);
}

static const char *trigger_of(struct pl_str text)
{
    static const char *const triggers[] = {"manual", "auto", "forced_retry"};
    for (size_t i = 0; i < sizeof triggers / sizeof *triggers; i++)
        if (pl_str_eq(pl_str_of(triggers[i]), text))
            return triggers[i];
    return NULL;
}

enum pl_status pl_step_compact(struct pl_step *x)
{
    struct pl_session *s = x->s;
    struct pl_str id = x->event->compact.loop_id;
    id = id.len ? id : PL_STR("root");
    const char *trigger = trigger_of(x->event->compact.trigger);
    struct pl_agent_loop *loop = pl_agent_loop_find(s, id);
    bool is_manual = trigger && pl_str_eq(pl_str_of(trigger), PL_STR("manual"));
    if (!trigger)
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "The trigger must be manual, auto or forced_retry");
    if (!loop && !pl_str_eq(id, PL_STR("root")))
        return pl_step_refuse(x, PL_NOT_FOUND, PL_REFUSAL_NOT_FOUND, "There is no such loop");
    if (loop && (is_manual || loop->summary.id.text[0]))
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_BUSY,
                              "The session is busy; compact it when it is idle");
    if (loop) { /* compact between two turns, as if the loop had found its window full */
        loop->is_full = true;
        pl_step_reply(x, "compaction_id", (struct pl_str){0});
        return PL_OK;
    }
    loop = pl_agent_loop_add(x, NULL, (struct pl_str){0}, s->record.model, s->context_window);
    if (!loop)
        return PL_OK;
    pl_agent_loop_summarise(x, loop, trigger);
    pl_step_reply(x, "compaction_id", pl_str_of(loop->summary.id.text));
    return PL_OK;
}

/* The loop that waits for this summary. NULL: the summary is late, and no loop waits for it. */
static struct pl_agent_loop *waiting_loop(struct pl_step *x)
{
    struct pl_str id = x->event->summary.loop_id;
    struct pl_agent_loop *loop = pl_agent_loop_find(x->s, id.len ? id : PL_STR("root"));
    struct pl_str wanted = loop ? pl_str_of(loop->summary.id.text) : (struct pl_str){0};
    return wanted.len && pl_str_eq(wanted, x->event->summary.compaction_id) ? loop : NULL;
}

static int64_t not_negative(int64_t n)
{
    return n > 0 ? n : 0;
}

/* The cost of the summary is reported like that of an answer. */
static void set_end(struct pl_turn *turn, const struct pl_turn_end *end)
{
    struct pl_turn_end kept = pl_turn_keep_end(turn, end);
    turn->model = kept.model;
    turn->usage = kept.usage;
    turn->timing = kept.timing;
}

static void tell_summary(struct pl_step *x, struct pl_agent_loop *loop,
                         const struct pl_turn_end *end)
{
    struct pl_turn *turn = pl_turn_create(x, loop, PL_TURN_ROLE_SYSTEM);
    if (!turn)
        return;
    struct pl_str summary = x->event->summary.summary;
    turn->is_compaction = true;
    set_end(turn, end);
    if (turn->model.ptr)
        pl_turn_set_metadata(turn, x->s->record.id);
    turn->started_ms = loop->summary.started_ms;
    turn->duration_ms = not_negative(x->now_ms - loop->summary.started_ms);
    turn->compaction = (struct pl_compaction){
        .id = pl_turn_keep(turn, pl_str_of(loop->summary.id.text)),
        .summary = pl_turn_keep(turn, summary.len ? summary : PL_STR("")),
        .trigger = pl_turn_keep(turn, pl_str_of(loop->summary.trigger)),
        .archived_count = not_negative(x->event->summary.archived_count),
        .tokens_before = not_negative(x->event->summary.tokens_before),
        .tokens_after = not_negative(x->event->summary.tokens_after),
    };
    struct pl_block *block = pl_turn_add_block(turn, PL_BLOCK_TEXT);
    if (block) {
        pl_buf_add(&block->text, summary);
        turn->is_oom |= block->text.status != PL_OK;
    }
    pl_turn_say(x, turn);
}

static void fail_summary(struct pl_step *x, struct pl_agent_loop *loop, struct pl_str reason);

/* A summary as long as the text it replaces is useless. */
static bool saves_nothing(const struct pl_session_event *event)
{
    return event->summary.tokens_before > 0 &&
           event->summary.tokens_after >= event->summary.tokens_before;
}

static struct pl_str say_nothing_saved(struct pl_step *x)
{
    char text[200];
    int n = snprintf(text, sizeof text,
                     "Not compacted: a summary would save nothing (%lld tokens before, %lld after)",
                     (long long)x->event->summary.tokens_before,
                     (long long)x->event->summary.tokens_after);
    return pl_step_keep(x, (struct pl_str){text, (size_t)n});
}

enum pl_status pl_step_summary(struct pl_step *x)
{
    struct pl_agent_loop *loop = waiting_loop(x);
    struct pl_turn_end end;
    if (!loop)
        return PL_OK;
    if (x->event->summary.summary.len > PL_SESSION_MAX_TURN_TEXT)
        return pl_step_refuse(x, PL_LIMIT, PL_REFUSAL_INVALID,
                              "The summary is over 4 MiB; a summary must be shorter");
    enum pl_status status = pl_step_read_end(x, x->event->summary.model, x->event->summary.usage,
                                             x->event->summary.timing, (struct pl_str){0}, &end);
    if (status != PL_OK)
        return status;
    if (saves_nothing(x->event)) {
        loop->is_tight = true;
        fail_summary(x, loop, say_nothing_saved(x));
        return PL_OK;
    }
    tell_summary(x, loop, &end);
    loop->summary.id = (struct pl_id){0};
    loop->is_full = false;
    if (x->s->is_chatting) {
        loop->n_compactions++;
        pl_agent_loop_call_model(x, loop);
    } else {
        loop->n_compactions = 0;
        loop->is_done = true;
        x->may_start_next = true;
    }
    return PL_OK;
}

static void notify(struct pl_step *x, struct pl_str text)
{
    struct pl_json_out out = pl_frame_begin(x, PL_FRAME_NOTIFICATION, false);
    pl_out_member(&out, "text", text);
    pl_frame_end(x, &out);
    x->has_durable = true; /* only the row prevents a second use of this sequence */
}

enum pl_status pl_step_notice(struct pl_step *x)
{
    notify(x, x->event->notice.text.len ? x->event->notice.text : PL_STR(""));
    return PL_OK;
}

/* Nothing was archived: the loop continues with the whole conversation. */
static void fail_summary(struct pl_step *x, struct pl_agent_loop *loop, struct pl_str reason)
{
    bool was_auto = pl_str_eq(pl_str_of(loop->summary.trigger), PL_STR("auto"));
    loop->summary.id = (struct pl_id){0};
    loop->is_full = false;
    if (!x->s->is_chatting) {
        loop->is_done = true;
        x->may_start_next = true;
        notify(x, reason);
    } else if (was_auto) { /* a fifth of the window is left: continue without a summary */
        loop->n_compactions += !loop->is_tight;
        pl_agent_loop_call_model(x, loop);
    } else {
        pl_agent_loop_fail(x, loop, reason);
    }
}

enum pl_status pl_step_summary_failed(struct pl_step *x)
{
    struct pl_agent_loop *loop = waiting_loop(x);
    struct pl_str reason = x->event->summary.reason;
    if (loop)
        fail_summary(x, loop,
                     reason.len ? reason : PL_STR("The conversation could not be summarised"));
    return PL_OK;
}

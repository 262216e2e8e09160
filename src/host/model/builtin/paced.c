/* Emits prepared content, slice by slice.
 *
 *     machine paced
 *
 *     START -> POSTED -> PLAYING -> GONE
 *     START -> RESTING -> PLAYING
 *     PLAYING -> POSTED                   the next slice, in the next turn of the loop
 *     PLAYING -> RESTING                  the next slice, after a while
 *     POSTED, PLAYING -> CANCELLED -> GONE
 *     START, RESTING -> GONE
 *
 * A posted letter cannot be recalled, and a callback may cancel the call while a slice is emitted.
 * In both cases the memory is freed afterwards. */
#include "model/builtin/paced.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "io/clock.h"
#include "io/move.h"

#define TO(name) PL_TO(PL_PACED_##name)
static const struct pl_state states[] = {
    [PL_PACED_START] = {"start", TO(POSTED) | TO(RESTING) | TO(GONE)},
    [PL_PACED_POSTED] = {"posted", TO(PLAYING) | TO(CANCELLED), PL_WAIT_OPEN, PL_CANCEL_LATER,
                         .why = "its letter is opened in the next turn of the loop"},
    [PL_PACED_RESTING] = {"resting", TO(PLAYING) | TO(GONE), PL_WAIT_SET, PL_CANCEL_ENDS,
                          .why = "the pace of what is said"},
    [PL_PACED_PLAYING] = {"playing", TO(POSTED) | TO(RESTING) | TO(CANCELLED) | TO(GONE),
                          PL_WAIT_NONE, PL_CANCEL_LATER},
    [PL_PACED_CANCELLED] = {"cancelled", TO(GONE), PL_WAIT_OPEN, PL_CANCEL_LATER,
                            .why = "its letter, or the slice that is being said"},
    [PL_PACED_GONE] = {"gone", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("paced", states);

static void become(struct pl_paced *call, enum pl_paced_state to)
{
    call->state = (enum pl_paced_state)pl_move(&machine, call, call->state, to);
}

void pl_paced_destroy(struct pl_paced *call)
{
    become(call, PL_PACED_GONE);
    pl_timer_stop(call->loop, &call->timer);
    call->kind->deinit(call);
    pl_arena_deinit(&call->arena);
    pl_mem_free(call);
}

static void cancel(struct pl_model_call *base)
{
    struct pl_paced *call = PL_CONTAINER_OF(base, struct pl_paced, base);
    if (pl_machine_is_away(&machine, call->state))
        become(call, PL_PACED_CANCELLED);
    else
        pl_paced_destroy(call);
}

void pl_paced_init(struct pl_paced *call, const struct pl_paced_kind *kind, struct pl_loop *loop,
                   const struct pl_model_ops *ops, void *ctx)
{
    *call = (struct pl_paced){
        .base.cancel = cancel,
        .kind = kind,
        .loop = loop,
        .ops = ops,
        .ctx = ctx,
        .started_ms = pl_clock_ms(),
    };
    pl_arena_init(&call->arena, 0);
}

static void slice(struct pl_paced *call)
{
    become(call, PL_PACED_PLAYING);
    int64_t delay_ms = call->kind->play(call);
    if (pl_paced_is_cancelled(call))
        pl_paced_destroy(call);
    else if (delay_ms == PL_PACED_OVER)
        call->kind->finish(call);
    else
        pl_paced_go_on(call, delay_ms);
}

static void on_letter(struct pl_letter *letter)
{
    struct pl_paced *call = PL_CONTAINER_OF(letter, struct pl_paced, letter);
    if (pl_paced_is_cancelled(call))
        pl_paced_destroy(call);
    else
        slice(call);
}

static void on_timer(struct pl_timer *timer)
{
    slice(PL_CONTAINER_OF(timer, struct pl_paced, timer));
}

void pl_paced_go_on(struct pl_paced *call, int64_t delay_ms)
{
    become(call, delay_ms <= 0 ? PL_PACED_POSTED : PL_PACED_RESTING);
    if (delay_ms <= 0) {
        call->letter.open = on_letter;
        pl_loop_post(call->loop, &call->letter);
    } else {
        pl_timer_start(call->loop, &call->timer, delay_ms, on_timer);
    }
}

void pl_paced_wake(struct pl_paced *call)
{
    if (call->state == PL_PACED_RESTING)
        pl_timer_start(call->loop, &call->timer, 0, on_timer);
}

void pl_paced_say(struct pl_paced *call, bool is_thinking, struct pl_str text)
{
    if (!call->n_words++)
        call->first_ms = pl_clock_ms();
    call->ops->on_text(call->ctx, is_thinking, text);
}

/* The strings may point into the arena, so report first and destroy afterwards. The callee was told
 * that the call is over, so it does not use the call any more. */
void pl_paced_end(struct pl_paced *call, struct pl_str model, struct pl_str usage)
{
    struct pl_buf timing PL_CLEANUP_BUF;
    pl_buf_init(&timing, 0);
    pl_buf_addf(&timing, "{\"ttft_ms\":%lld,\"total_ms\":%lld,\"cost_usd\":0}",
                (long long)(call->n_words ? call->first_ms - call->started_ms : 0),
                (long long)(pl_clock_ms() - call->started_ms));
    if (timing.status == PL_OK)
        call->ops->on_end(call->ctx, model, usage, pl_buf_str(&timing));
    else
        call->ops->on_failed(call->ctx, &(struct pl_model_failure){
                                            .reason = PL_STR("The model ran out of memory.")});
    pl_paced_destroy(call);
}

void pl_paced_fail(struct pl_paced *call, const struct pl_model_failure *failure)
{
    call->ops->on_failed(call->ctx, failure);
    pl_paced_destroy(call);
}

struct pl_str pl_word_take(struct pl_str *rest)
{
    size_t n = 0;
    while (n < rest->len && rest->ptr[n] != ' ' && rest->ptr[n] != '\n')
        n++;
    while (n < rest->len && (rest->ptr[n] == ' ' || rest->ptr[n] == '\n'))
        n++;
    struct pl_str word = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, n, rest->len);
    return word;
}

/* A call that knows its whole answer and emits it in slices, so that a long answer does not block
 * the loop. A slice runs for a while and then returns to the loop; the next one is started by a
 * letter to itself or, to keep a pace, by a timer. */
#ifndef PL_MODEL_PACED_H
#define PL_MODEL_PACED_H

#include "base/arena.h"
#include "model/model_int.h"

#define PL_PACED_SLICE 64   /* words and blocks per slice */
#define PL_PACED_OVER  (-1) /* no next slice */

struct pl_paced;

/* The diagram is in paced.c. */
enum pl_paced_state {
    PL_PACED_START,
    PL_PACED_POSTED,  /* its letter is in flight */
    PL_PACED_RESTING, /* its timer is running */
    PL_PACED_PLAYING, /* a slice is being emitted */
    PL_PACED_CANCELLED,
    PL_PACED_GONE,
};

struct pl_paced_kind {
    /* Emits one slice through the ops and returns the delay of the next one in milliseconds, or
     * PL_PACED_OVER. The ops may cancel the call: it exists until play returns, which should be
     * soon after the cancellation. */
    int64_t (*play)(struct pl_paced *call);
    /* Called after PL_PACED_OVER: calls pl_paced_end or pl_paced_fail. */
    void (*finish)(struct pl_paced *call);
    /* Frees everything that the kind allocated outside of the arena. */
    void (*deinit)(struct pl_paced *call);
};

/* The first member of such a call, which is one allocation. */
struct pl_paced {
    struct pl_model_call base;
    const struct pl_paced_kind *kind;
    struct pl_loop *loop; /* borrowed */
    const struct pl_model_ops *ops;
    void *ctx;
    struct pl_arena arena;   /* the content to emit */
    struct pl_letter letter; /* the next slice */
    struct pl_timer timer;
    int64_t started_ms, first_ms;
    int64_t n_words;
    enum pl_paced_state state;
};

static inline bool pl_paced_is_cancelled(const struct pl_paced *call)
{
    return call->state == PL_PACED_CANCELLED;
}

void pl_paced_init(struct pl_paced *call, const struct pl_paced_kind *kind, struct pl_loop *loop,
                   const struct pl_model_ops *ops, void *ctx);
void pl_paced_destroy(struct pl_paced *call);
/* Schedules the next slice, at once (0) or later. */
void pl_paced_go_on(struct pl_paced *call, int64_t delay_ms);
/* Plays the next slice of a resting call now, because something changed. */
void pl_paced_wake(struct pl_paced *call);
void pl_paced_say(struct pl_paced *call, bool is_thinking, struct pl_str text);
/* Reports the end, with the elapsed time, and destroys the call. */
void pl_paced_end(struct pl_paced *call, struct pl_str model, struct pl_str usage);
void pl_paced_fail(struct pl_paced *call, const struct pl_model_failure *failure);

/* Takes a word and the white space after it off the front of *rest. */
struct pl_str pl_word_take(struct pl_str *rest);

#endif

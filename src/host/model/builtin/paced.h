/* A call that has all it will say and says it in slices, so that one that says a lot does not hold
 * up the loop: a slice plays for a while and then lets the loop turn, by a letter to itself or, to
 * keep a pace, by a timer. */
#ifndef PL_MODEL_PACED_H
#define PL_MODEL_PACED_H

#include "base/arena.h"
#include "model/model_int.h"

#define PL_PACED_SLICE 64   /* words and blocks at once */
#define PL_PACED_OVER  (-1) /* there is no next slice */

struct pl_paced;

/* The diagram is in paced.c. */
enum pl_paced_state {
    PL_PACED_START,
    PL_PACED_POSTED,  /* its letter is on its way */
    PL_PACED_RESTING, /* its timer is on */
    PL_PACED_PLAYING, /* a slice is being said */
    PL_PACED_CANCELLED,
    PL_PACED_GONE,
};

struct pl_paced_kind {
    /* One slice: says something by the ops and returns in how many milliseconds to go on, or
     * PL_PACED_OVER. The ops may cancel the call: it stays until play returns, which it should do
     * soon once it is cancelled. */
    int64_t (*play)(struct pl_paced *call);
    /* After PL_PACED_OVER: pl_paced_end or pl_paced_fail. */
    void (*finish)(struct pl_paced *call);
    /* Frees what the kind has beyond the arena. */
    void (*deinit)(struct pl_paced *call);
};

/* The first member of a call of this sort, which is one allocation. */
struct pl_paced {
    struct pl_model_call base;
    const struct pl_paced_kind *kind;
    struct pl_loop *loop; /* borrowed */
    const struct pl_model_ops *ops;
    void *ctx;
    struct pl_arena arena;   /* what it says */
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
/* The next slice, at once (0) or later. */
void pl_paced_go_on(struct pl_paced *call, int64_t delay_ms);
/* Plays the next slice of a resting call now, because something has changed. */
void pl_paced_wake(struct pl_paced *call);
void pl_paced_say(struct pl_paced *call, bool is_thinking, struct pl_str text);
/* Says that it is over, with the time it took, and destroys it. */
void pl_paced_end(struct pl_paced *call, struct pl_str model, struct pl_str usage);
void pl_paced_fail(struct pl_paced *call, const struct pl_model_failure *failure);

/* A word with the white space after it, off the front of *rest. */
struct pl_str pl_word_take(struct pl_str *rest);

#endif

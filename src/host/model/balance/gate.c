/* A lock protects the queue of a gate; everything else of a wait belongs to its loop. A call that
 * leaves passes its place to the first waiter, by a letter to the waiter's loop.
 *
 *     machine gate-wait
 *
 *     WAITING -> CALLED -> OVER      its turn: a letter is in flight
 *     WAITING -> OVER                too late, or cancelled
 *     CALLED -> LEFT -> OVER         cancelled while the letter is in flight
 *
 * Other threads change only WAITING, under the lock. */
#include "model/balance/gate.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"

#include <pthread.h>
#include <stdatomic.h>

enum state { WAIT_WAITING, WAIT_CALLED, WAIT_LEFT, WAIT_OVER };

#define TO(name) PL_TO(WAIT_##name)
#define LETTER   "its letter arrives, or is opened when the loop ends"
static const struct pl_state states[] = {
    [WAIT_WAITING] = {"waiting", TO(CALLED) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                      .why = "queue_ms of the provider"},
    [WAIT_CALLED] = {"called", TO(LEFT) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = LETTER},
    [WAIT_LEFT] = {"left", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = LETTER},
    [WAIT_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("gate-wait", states);

struct pl_gate {
    _Atomic(size_t) n_refs;
    pthread_mutex_t lock; /* protects the following members */
    struct pl_gate_limits limits;
    size_t n_in, n_waiting;
    int64_t n_refused;
    struct pl_gate_wait *first, *last;
};

struct pl_gate_wait {
    struct pl_letter letter;
    struct pl_timer timer;
    enum state state;     /* protected by the lock of the gate */
    struct pl_gate *gate; /* a reference */
    struct pl_loop *loop; /* borrowed */
    struct pl_gate_wait *prev, *next;
    pl_gate_turn_fn *on_turn;
    void *ctx;
};

static void become(struct pl_gate_wait *wait, enum state to)
{
    wait->state = (enum state)pl_move(&machine, wait, wait->state, to);
}

struct pl_gate *pl_gate_create(const struct pl_gate_limits *limits)
{
    struct pl_gate *gate = pl_mem_alloc(1, sizeof *gate);
    if (!gate)
        return NULL;
    *gate = (struct pl_gate){.limits = *limits, .lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_init(&gate->n_refs, 1);
    return gate;
}

struct pl_gate *pl_gate_ref(struct pl_gate *gate)
{
    atomic_fetch_add(&gate->n_refs, 1);
    return gate;
}

void pl_gate_unref(struct pl_gate *gate)
{
    if (!gate || atomic_fetch_sub(&gate->n_refs, 1) != 1)
        return;
    pthread_mutex_destroy(&gate->lock);
    pl_mem_free(gate);
}

enum pl_gate_answer pl_gate_decide(const struct pl_gate_limits *limits, size_t n_in,
                                   size_t n_waiting)
{
    if (n_in < limits->max && !n_waiting)
        return PL_GATE_IN;
    return n_waiting < limits->max_waiting ? PL_GATE_WAITS : PL_GATE_FULL;
}

/* --- under the lock -------------------------------------------------------------------------- */

static void append(struct pl_gate *gate, struct pl_gate_wait *wait)
{
    wait->prev = gate->last;
    if (gate->last)
        gate->last->next = wait;
    else
        gate->first = wait;
    gate->last = wait;
    gate->n_waiting++;
}

static void unlink_wait(struct pl_gate *gate, struct pl_gate_wait *wait)
{
    *(wait->prev ? &wait->prev->next : &gate->first) = wait->next;
    *(wait->next ? &wait->next->prev : &gate->last) = wait->prev;
    wait->prev = wait->next = NULL;
    gate->n_waiting--;
}

/* Calls the waiters that have room now. Their letters are posted under the lock, so that none is
 * freed before. */
static void call_waiting(struct pl_gate *gate)
{
    while (gate->first && gate->n_in < gate->limits.max) {
        struct pl_gate_wait *wait = gate->first;
        unlink_wait(gate, wait);
        gate->n_in++;
        become(wait, WAIT_CALLED);
        pl_loop_post(wait->loop, &wait->letter);
    }
}

/* --- a wait ---------------------------------------------------------------------------------- */

static void destroy(struct pl_gate_wait *wait)
{
    pl_timer_stop(wait->loop, &wait->timer);
    pl_gate_unref(wait->gate);
    pl_mem_free(wait);
}

static void on_letter(struct pl_letter *letter)
{
    struct pl_gate_wait *wait = PL_CONTAINER_OF(letter, struct pl_gate_wait, letter);
    pl_gate_turn_fn *on_turn = wait->on_turn;
    void *ctx = wait->ctx;
    pthread_mutex_lock(&wait->gate->lock);
    bool has_left = wait->state == WAIT_LEFT;
    become(wait, WAIT_OVER);
    pthread_mutex_unlock(&wait->gate->lock);
    if (has_left)
        pl_gate_leave(wait->gate);
    destroy(wait);
    if (!has_left)
        on_turn(ctx, true);
}

static void on_late(struct pl_timer *timer)
{
    struct pl_gate_wait *wait = PL_CONTAINER_OF(timer, struct pl_gate_wait, timer);
    struct pl_gate *gate = wait->gate;
    pl_gate_turn_fn *on_turn = wait->on_turn;
    void *ctx = wait->ctx;
    pthread_mutex_lock(&gate->lock);
    bool is_late = wait->state == WAIT_WAITING;
    if (is_late) {
        unlink_wait(gate, wait);
        become(wait, WAIT_OVER);
        gate->n_refused++;
    }
    pthread_mutex_unlock(&gate->lock);
    if (!is_late)
        return;
    destroy(wait);
    on_turn(ctx, false);
}

enum pl_gate_answer pl_gate_enter(struct pl_gate *gate, struct pl_loop *loop,
                                  pl_gate_turn_fn *on_turn, void *ctx,
                                  struct pl_gate_wait **ret_wait)
{
    struct pl_gate_wait *wait = pl_mem_alloc(1, sizeof *wait);
    pthread_mutex_lock(&gate->lock);
    enum pl_gate_answer answer = pl_gate_decide(&gate->limits, gate->n_in, gate->n_waiting);
    if (answer == PL_GATE_WAITS && !wait)
        answer = PL_GATE_FULL;
    int64_t wait_ms = gate->limits.wait_ms;
    gate->n_in += answer == PL_GATE_IN;
    gate->n_refused += answer == PL_GATE_FULL;
    if (answer == PL_GATE_WAITS) {
        *wait = (struct pl_gate_wait){.letter.open = on_letter,
                                      .gate = pl_gate_ref(gate),
                                      .loop = loop,
                                      .on_turn = on_turn,
                                      .ctx = ctx};
        append(gate, wait);
        *ret_wait = wait;
    }
    pthread_mutex_unlock(&gate->lock);
    if (answer == PL_GATE_WAITS)
        pl_timer_start(loop, &wait->timer, wait_ms, on_late);
    else
        pl_mem_free(wait);
    return answer;
}

void pl_gate_leave(struct pl_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->n_in--;
    call_waiting(gate);
    pthread_mutex_unlock(&gate->lock);
}

void pl_gate_set(struct pl_gate *gate, const struct pl_gate_limits *limits)
{
    pthread_mutex_lock(&gate->lock);
    gate->limits = *limits;
    call_waiting(gate);
    pthread_mutex_unlock(&gate->lock);
}

void pl_gate_cancel(struct pl_gate_wait *wait)
{
    if (!wait)
        return;
    struct pl_gate *gate = wait->gate;
    pthread_mutex_lock(&gate->lock);
    bool is_waiting = wait->state == WAIT_WAITING;
    if (is_waiting)
        unlink_wait(gate, wait);
    become(wait, is_waiting ? WAIT_OVER : WAIT_LEFT);
    pthread_mutex_unlock(&gate->lock);
    if (is_waiting)
        destroy(wait);
}

struct pl_gate_numbers pl_gate_look(struct pl_gate *gate)
{
    struct pl_gate_numbers numbers = {0};
    if (!gate)
        return numbers;
    pthread_mutex_lock(&gate->lock);
    numbers = (struct pl_gate_numbers){gate->n_in, gate->n_waiting, gate->n_refused};
    pthread_mutex_unlock(&gate->lock);
    return numbers;
}

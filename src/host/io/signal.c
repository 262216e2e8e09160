/* Signals as calls on a loop. The handler records the signal and rings the loop's door. Only one
 * loop of the process receives signals. */
#include "io/loop_int.h"

#include "base/mem.h"

#include <signal.h>

struct pl_loop_signal {
    struct pl_loop_signal *next;
    int number;
    struct sigaction before;
    void (*fn)(void *ctx, int signal);
    void *ctx; /* borrowed */
};

static _Atomic(struct pl_loop *) hearing; /* borrowed; the receiving loop; NULL: none */
static atomic_uint_fast64_t arrived;      /* one bit per signal */

/* Signals are numbered from 1 to 64. */
static uint64_t bit_of(int number)
{
    return UINT64_C(1) << (number - 1);
}

static void note(int number)
{
    struct pl_loop *loop = atomic_load_explicit(&hearing, memory_order_acquire);
    atomic_fetch_or_explicit(&arrived, bit_of(number), memory_order_release);
    if (loop)
        pl_loop_knock(loop);
}

enum pl_status pl_loop_on_signal(struct pl_loop *loop, int signal,
                                 void (*fn)(void *ctx, int signal), void *ctx)
{
    struct pl_loop_signal *sig = pl_mem_alloc(1, sizeof *sig);
    if (!sig)
        return PL_NOMEM;
    *sig = (struct pl_loop_signal){.next = loop->signals, .number = signal, .fn = fn, .ctx = ctx};
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    atomic_store_explicit(&hearing, loop, memory_order_release);
    if (sigaction(signal, &action, &sig->before) != 0) {
        pl_mem_free(sig);
        if (!loop->signals)
            atomic_store_explicit(&hearing, NULL, memory_order_release);
        return PL_IO;
    }
    loop->signals = sig;
    return PL_OK;
}

void pl_loop_tell_signals(struct pl_loop *loop)
{
    if (!loop->signals)
        return;
    uint64_t numbers = atomic_exchange_explicit(&arrived, 0, memory_order_acq_rel);
    for (struct pl_loop_signal *sig = loop->signals; sig; sig = sig->next)
        if (numbers & bit_of(sig->number))
            sig->fn(sig->ctx, sig->number);
}

void pl_loop_forget_signals(struct pl_loop *loop)
{
    while (loop->signals) {
        struct pl_loop_signal *sig = loop->signals;
        loop->signals = sig->next;
        sigaction(sig->number, &sig->before, NULL);
        pl_mem_free(sig);
        if (!loop->signals)
            atomic_store_explicit(&hearing, NULL, memory_order_release);
    }
}

/* The environment of a simulated run: one thread of the system, a clock that only the simulation
 * advances, and a seed that decides the order of steps. docs/internals/sim.md.
 *
 *     threads of the program   fibers: they yield where a thread would wait
 *     everything else          events: one function at a time
 *
 * Fibers and memory belong to an owner: the world (0), or a node. A killed node loses both at once.
 * Memory that outlives a run belongs to the process. */
#ifndef PL_TESTS_SIM_KERNEL_H
#define PL_TESTS_SIM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_WORLD = 0, SIM_PROCESS = 15, SIM_OWNERS = 16, SIM_MS = 1000, SIM_S = 1000000 };

/* --- a run ----------------------------------------------------------------------------------- */

/* Called once, before everything else. */
void sim_start(void);
/* Lines of a trace are kept for sim_print_trace, or printed at once. Most runs need none: the same
 * seed gives the same run. */
enum sim_tracing { SIM_UNTRACED, SIM_KEPT, SIM_PRINTED };
void sim_begin(uint64_t seed, enum sim_tracing tracing);
/* Drops everything of the run: fibers, events, memory. */
void sim_end(void);
/* The first violation in the run; NULL: none. */
const char *sim_failure(void);
__attribute__((format(printf, 1, 2))) void sim_fail(const char *format, ...);
__attribute__((format(printf, 1, 2))) void sim_trace(const char *format, ...);
void sim_print_trace(void);

/* --- randomness ------------------------------------------------------------------------------ */

uint64_t sim_random(void);
/* 0 … n - 1 */
uint64_t sim_below(uint64_t n);
int64_t sim_between(int64_t from, int64_t to);
/* True in one of n cases. */
bool sim_one_in(uint64_t n);

/* --- time ------------------------------------------------------------------------------------ */

int64_t sim_now_us(void);
/* Sets how far an owner's clocks are ahead of the world's. */
void sim_set_clock(int owner, int64_t ahead_us);
int64_t sim_clock_us(int owner);
/* Calls fn at that time, outside any fiber: it must not wait. */
void sim_at(int64_t at_us, void (*fn)(void *ctx), void *ctx);
/* Runs the world until then, or until a failure. */
void sim_run_until(int64_t until_us);

/* --- fibers ---------------------------------------------------------------------------------- */

struct sim_fiber;
/* name: static. */
struct sim_fiber *sim_fiber_start(int owner, const char *name, void *(*fn)(void *), void *arg);
/* NULL: the world itself is running. */
struct sim_fiber *sim_fiber_now(void);
/* Never 0, and unique in a run. */
uint64_t sim_fiber_id(const struct sim_fiber *fiber);
/* Waits until the fiber has ended. */
void sim_fiber_join(uint64_t id);
/* Waits until sim_wake for `what`, or until the time (by the world's clock; INT64_MAX: for ever).
 * False: timed out. */
bool sim_wait(const void *what, int64_t until_us);
void sim_wake(const void *what);     /* all fibers that wait for it */
void sim_wake_one(const void *what); /* any one of them */
void sim_yield(void);
/* Sometimes lets another fiber run first. */
void sim_maybe_yield(void);

/* --- owners ---------------------------------------------------------------------------------- */

/* The owner of the running code. */
int sim_owner(void);
/* Later allocations belong to this owner; returns the previous one. */
int sim_set_owner(int owner);
/* Zeroed memory of the world, until the run ends or pl_mem_free. */
void *sim_alloc(size_t n_bytes);
void sim_freeze(int owner, bool is_frozen);
bool sim_is_frozen(int owner);
/* Ends all its fibers where they are, and frees all its memory. */
void sim_kill(int owner);

#endif

/* Fibers, events, randomness and memory of a run: see kernel.h.
 *
 * The seed chooses the next step among the runnable fibers. If there is none, the clock advances to
 * the next event or the next timeout. A step takes a few microseconds of virtual time, so nothing
 * runs for ever. */
#include "kernel.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#endif

enum {
    FIBERS_MAX = 512,
    STACK_BYTES = 1 << 20,
    EVENTS_MAX = 1 << 16,
    TRACE_LINES = 4000,
    TRACE_BYTES = 200,
    STEPS_MAX = 4000000,
};

enum fiber_state { FIBER_NONE, FIBER_READY, FIBER_WAITING, FIBER_OVER };

struct sim_fiber {
    enum fiber_state state;
    int owner;
    uint64_t id;
    const char *name;
    ucontext_t context;
    char *stack; /* kept with the slot */
    void *fake_stack;
    void *(*fn)(void *);
    void *arg;
    const void *waits_for;
    int64_t until_us;
    bool was_woken;
};

struct event {
    int64_t at_us;
    uint64_t number;
    void (*fn)(void *ctx);
    void *ctx;
};

/* Header of every block. */
struct block {
    struct block *prev, *next;
    size_t size;
    size_t pad;
};

static struct {
    uint64_t random[2];
    int64_t now_us;
    enum sim_tracing tracing;
    char failure[1024];
    uint64_t n_steps, n_events_ever, n_lines, n_fibers_ever;
    size_t n_events;
    int owner;
    struct sim_fiber *running;
    int64_t ahead_us[SIM_OWNERS];
    bool is_frozen[SIM_OWNERS];
} world;
static struct event events[EVENTS_MAX]; /* a heap */

static struct block blocks[SIM_OWNERS]; /* heads of rings */

static struct sim_fiber fibers[FIBERS_MAX];
static size_t n_fibers; /* slots used so far */
static ucontext_t main_context;
static char lines[TRACE_LINES][TRACE_BYTES];
#ifdef HAS_ASAN
static const void *main_bottom;
static size_t main_size;
#endif

/* --- memory ---------------------------------------------------------------------------------- */

static void *hook(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    struct block *block = ptr ? (struct block *)ptr - 1 : NULL;
    if (block) {
        block->prev->next = block->next;
        block->next->prev = block->prev;
    }
    if (!size) {
        free(block);
        return NULL;
    }
    block = realloc(block, sizeof *block + size);
    if (!block)
        abort();
    struct block *head = &blocks[world.owner];
    block->size = size;
    block->prev = head;
    block->next = head->next;
    head->next->prev = block;
    head->next = block;
    return block + 1;
}

static void free_all(int owner)
{
    struct block *head = &blocks[owner];
    while (head->next && head->next != head) {
        struct block *block = head->next;
        head->next = block->next;
        block->next->prev = head;
        free(block);
    }
}

int sim_owner(void)
{
    return world.owner;
}

int sim_set_owner(int owner)
{
    int before = world.owner;
    world.owner = owner;
    return before;
}

void *sim_alloc(size_t n_bytes)
{
    int owner = sim_set_owner(SIM_WORLD);
    void *made = pl_mem_alloc(1, n_bytes);
    sim_set_owner(owner);
    memset(made, 0, n_bytes);
    return made;
}

/* --- traces ---------------------------------------------------------------------------------- */

void sim_trace(const char *format, ...)
{
    if (world.tracing == SIM_UNTRACED)
        return;
    char *line = lines[world.n_lines++ % TRACE_LINES];
    int n = snprintf(line, TRACE_BYTES, "%10.3f ", (double)world.now_us / 1000);
    va_list args;
    va_start(args, format);
    vsnprintf(line + n, TRACE_BYTES - (size_t)n, format, args);
    va_end(args);
    if (world.tracing == SIM_PRINTED)
        fprintf(stderr, "%s\n", line);
}

void sim_fail(const char *format, ...)
{
    if (world.failure[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(world.failure, sizeof world.failure, format, args);
    va_end(args);
    sim_trace("BROKEN: %s", world.failure);
}

const char *sim_failure(void)
{
    return world.failure[0] ? world.failure : NULL;
}

void sim_print_trace(void)
{
    uint64_t from = world.n_lines > TRACE_LINES ? world.n_lines - TRACE_LINES : 0;
    for (uint64_t i = from; i < world.n_lines; i++)
        printf("# %s\n", lines[i % TRACE_LINES]);
}

/* --- randomness: xoroshiro128+ --------------------------------------------------------------- */

static uint64_t mix(uint64_t *at)
{
    uint64_t z = (*at += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static uint64_t turned(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t sim_random(void)
{
    uint64_t a = world.random[0], b = world.random[1], sum = a + b;
    b ^= a;
    world.random[0] = turned(a, 24) ^ b ^ (b << 16);
    world.random[1] = turned(b, 37);
    return sum;
}

uint64_t sim_below(uint64_t n)
{
    return (uint64_t)(((unsigned __int128)sim_random() * n) >> 64);
}

int64_t sim_between(int64_t from, int64_t to)
{
    return from + (int64_t)sim_below((uint64_t)(to - from + 1));
}

bool sim_one_in(uint64_t n)
{
    return sim_below(n) == 0;
}

/* --- events ---------------------------------------------------------------------------------- */

int64_t sim_now_us(void)
{
    return world.now_us;
}

void sim_set_clock(int owner, int64_t ahead_us)
{
    world.ahead_us[owner] = ahead_us;
}

int64_t sim_clock_us(int owner)
{
    return world.now_us + world.ahead_us[owner];
}

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->number < b->number;
}

void sim_at(int64_t at_us, void (*fn)(void *ctx), void *ctx)
{
    if (world.n_events == EVENTS_MAX) {
        sim_fail("too many events wait");
        return;
    }
    size_t i = world.n_events++;
    struct event event = {at_us < world.now_us ? world.now_us : at_us, world.n_events_ever++, fn,
                          ctx};
    for (; i && is_before(&event, &events[(i - 1) / 2]); i = (i - 1) / 2)
        events[i] = events[(i - 1) / 2];
    events[i] = event;
}

static struct event take_event(void)
{
    struct event first = events[0], last = events[--world.n_events];
    size_t i = 0;
    for (;;) {
        size_t next = 2 * i + 1;
        if (next + 1 < world.n_events && is_before(&events[next + 1], &events[next]))
            next++;
        if (next >= world.n_events || !is_before(&events[next], &last))
            break;
        events[i] = events[next];
        i = next;
    }
    events[i] = last;
    return first;
}

/* --- fibers ---------------------------------------------------------------------------------- */

/* The C library's own: the sanitizer's version clears the shadow of the whole stack each time,
 * which is unnecessary here. */
static int (*swap)(ucontext_t *from, const ucontext_t *to);

static void switch_to(struct sim_fiber *fiber)
{
    world.running = fiber;
    int owner = sim_set_owner(fiber->owner);
#ifdef HAS_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, fiber->stack, STACK_BYTES);
#endif
    swap(&main_context, &fiber->context);
#ifdef HAS_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
    sim_set_owner(owner);
    world.running = NULL;
}

static void switch_back(struct sim_fiber *fiber)
{
#ifdef HAS_ASAN
    __sanitizer_start_switch_fiber(fiber->state == FIBER_OVER ? NULL : &fiber->fake_stack,
                                   main_bottom, main_size);
#endif
    swap(&fiber->context, &main_context);
#ifdef HAS_ASAN
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &main_bottom, &main_size);
#endif
}

static void run_fiber(void)
{
    struct sim_fiber *fiber = world.running;
#ifdef HAS_ASAN
    __sanitizer_finish_switch_fiber(NULL, &main_bottom, &main_size);
#endif
    (void)fiber->fn(fiber->arg);
    fiber->state = FIBER_OVER;
    sim_wake(fiber);
    switch_back(fiber);
}

struct sim_fiber *sim_fiber_start(int owner, const char *name, void *(*fn)(void *), void *arg)
{
    size_t i = 0;
    while (i < n_fibers && fibers[i].state != FIBER_NONE)
        i++;
    if (i == FIBERS_MAX)
        abort();
    if (i == n_fibers)
        n_fibers++;
    struct sim_fiber *fiber = &fibers[i];
    if (!fiber->stack) {
        fiber->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (fiber->stack == MAP_FAILED)
            abort();
    }
#ifdef HAS_ASAN
    __asan_unpoison_memory_region(fiber->stack, STACK_BYTES);
#endif
    char *stack = fiber->stack;
    *fiber = (struct sim_fiber){FIBER_READY, owner,     ++world.n_fibers_ever, name, .stack = stack,
                                .fn = fn,    .arg = arg};
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, run_fiber, 0);
    return fiber;
}

struct sim_fiber *sim_fiber_now(void)
{
    return world.running;
}

uint64_t sim_fiber_id(const struct sim_fiber *fiber)
{
    return fiber->id;
}

void sim_fiber_join(uint64_t id)
{
    for (size_t i = 0; i < n_fibers; i++)
        while (fibers[i].state != FIBER_NONE && fibers[i].state != FIBER_OVER && fibers[i].id == id)
            (void)sim_wait(&fibers[i], INT64_MAX);
}

bool sim_wait(const void *what, int64_t until_us)
{
    struct sim_fiber *fiber = world.running;
    if (!fiber)
        abort(); /* an event must not wait */
    fiber->state = FIBER_WAITING;
    fiber->waits_for = what;
    fiber->until_us = until_us;
    fiber->was_woken = false;
    switch_back(fiber);
    return fiber->was_woken;
}

static void wake(struct sim_fiber *fiber)
{
    fiber->was_woken = true;
    fiber->state = FIBER_READY;
}

void sim_wake(const void *what)
{
    for (size_t i = 0; i < n_fibers; i++)
        if (fibers[i].state == FIBER_WAITING && fibers[i].waits_for == what)
            wake(&fibers[i]);
}

void sim_wake_one(const void *what)
{
    size_t found[FIBERS_MAX], n = 0;
    for (size_t i = 0; i < n_fibers; i++)
        if (fibers[i].state == FIBER_WAITING && fibers[i].waits_for == what)
            found[n++] = i;
    if (n)
        wake(&fibers[found[sim_below(n)]]);
}

void sim_yield(void)
{
    if (!world.running)
        return;
    world.running->state = FIBER_READY;
    switch_back(world.running);
}

void sim_maybe_yield(void)
{
    if (world.running && sim_one_in(24))
        sim_yield();
}

/* --- owners ---------------------------------------------------------------------------------- */

void sim_freeze(int owner, bool is_frozen)
{
    world.is_frozen[owner] = is_frozen;
}

bool sim_is_frozen(int owner)
{
    return world.is_frozen[owner];
}

void sim_kill(int owner)
{
    for (size_t i = 0; i < n_fibers; i++)
        if (fibers[i].state != FIBER_NONE && fibers[i].owner == owner)
            fibers[i].state = FIBER_NONE;
    world.is_frozen[owner] = false;
    free_all(owner);
}

/* --- the run --------------------------------------------------------------------------------- */

void sim_start(void)
{
    void *found = dlsym(RTLD_NEXT, "swapcontext");
    memcpy(&swap, &found, sizeof swap);
    if (!swap)
        abort();
    for (size_t i = 0; i < SIM_OWNERS; i++)
        blocks[i].prev = blocks[i].next = &blocks[i];
    world.owner = SIM_PROCESS;
    pl_mem_set_hook(hook, NULL);
}

void sim_begin(uint64_t seed, enum sim_tracing tracing)
{
    memset(&world, 0, sizeof world);
    world.random[0] = mix(&seed);
    world.random[1] = mix(&seed);
    world.tracing = tracing;
    world.now_us = SIM_S;
}

void sim_end(void)
{
    for (int owner = 0; owner < SIM_PROCESS; owner++)
        sim_kill(owner);
    world.n_events = 0;
    world.owner = SIM_PROCESS;
}

/* Wakes the fibers whose wait has timed out. */
static int64_t next_wait_us(void)
{
    int64_t next_us = INT64_MAX;
    for (size_t i = 0; i < n_fibers; i++) {
        struct sim_fiber *fiber = &fibers[i];
        if (fiber->state != FIBER_WAITING || world.is_frozen[fiber->owner])
            continue;
        if (fiber->until_us <= world.now_us)
            fiber->state = FIBER_READY;
        else if (fiber->until_us < next_us)
            next_us = fiber->until_us;
    }
    return next_us;
}

static struct sim_fiber *choose(void)
{
    size_t ready[FIBERS_MAX], n = 0;
    for (size_t i = 0; i < n_fibers; i++)
        if (fibers[i].state == FIBER_READY && !world.is_frozen[fibers[i].owner])
            ready[n++] = i;
    return n ? &fibers[ready[n > 1 ? sim_below(n) : 0]] : NULL;
}

void sim_run_until(int64_t until_us)
{
    while (!world.failure[0] && world.now_us < until_us) {
        if (world.n_events && events[0].at_us <= world.now_us) {
            struct event event = take_event();
            event.fn(event.ctx);
            continue;
        }
        int64_t next_us = next_wait_us();
        struct sim_fiber *fiber = choose();
        if (fiber) {
            if (++world.n_steps > STEPS_MAX)
                sim_fail("the run does not come to an end: %s of %d runs for ever", fiber->name,
                         fiber->owner);
            world.now_us += (int64_t)sim_below(20);
            switch_to(fiber);
            if (fiber->state == FIBER_OVER)
                fiber->state = FIBER_NONE;
            continue;
        }
        if (world.n_events && events[0].at_us < next_us)
            next_us = events[0].at_us;
        world.now_us = next_us < until_us ? next_us : until_us;
    }
}

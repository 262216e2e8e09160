/* Threads of the program as fibers: the linker replaces the C library's functions by these
 * (--wrap). A mutex is a word: the fiber that has it. The kernel does the waiting. */
#include "kernel.h"

#include "base/str.h"
#include "io/system/sink.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { WALL_S = 1790000000 }; /* the world's wall clock at time 0 */

int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *),
                          void *arg)
{
    (void)attr;
    *ret = (pthread_t)sim_fiber_id(sim_fiber_start(sim_owner(), "thread", fn, arg));
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret)
{
    sim_fiber_join((uint64_t)thread);
    if (ret)
        *ret = NULL;
    return 0;
}

int __wrap_pthread_detach(pthread_t thread)
{
    (void)thread;
    return 0;
}

/* --- mutexes --------------------------------------------------------------------------------- */

static uint64_t *word_of(pthread_mutex_t *mutex)
{
    return (uint64_t *)(void *)mutex;
}

static uint64_t myself(void)
{
    return sim_fiber_now() ? sim_fiber_id(sim_fiber_now()) : UINT64_MAX;
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    (void)attr;
    memset(mutex, 0, sizeof *mutex);
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (*word_of(mutex))
        abort();
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    sim_maybe_yield();
    while (*word_of(mutex)) {
        if (*word_of(mutex) == myself() || !sim_fiber_now())
            abort();
        (void)sim_wait(mutex, INT64_MAX);
    }
    *word_of(mutex) = myself();
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (*word_of(mutex))
        return EBUSY;
    *word_of(mutex) = myself();
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (*word_of(mutex) != myself())
        abort();
    *word_of(mutex) = 0;
    sim_wake(mutex);
    return 0;
}

/* --- conditions ------------------------------------------------------------------------------ */

int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    memset(cond, 0, sizeof *cond);
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static int wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until_us)
{
    __wrap_pthread_mutex_unlock(mutex);
    bool was_woken = sim_wait(cond, until_us);
    while (*word_of(mutex))
        (void)sim_wait(mutex, INT64_MAX);
    *word_of(mutex) = myself();
    return was_woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait_until(cond, mutex, INT64_MAX);
}

/* All conditions with a timeout use the monotonic clock. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    int64_t ahead_us = sim_clock_us(sim_owner()) - sim_now_us();
    return wait_until(cond, mutex,
                      (int64_t)until->tv_sec * SIM_S + (until->tv_nsec + 999) / 1000 - ahead_us);
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
    sim_wake_one(cond);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
    sim_wake(cond);
    return 0;
}

/* --- clocks ---------------------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
    int64_t us = sim_clock_us(sim_owner());
    if (clock == CLOCK_REALTIME)
        us += (int64_t)WALL_S * SIM_S;
    ret->tv_sec = us / SIM_S;
    ret->tv_nsec = us % SIM_S * 1000;
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    static const char nothing;
    (void)sim_wait(&nothing, sim_now_us() + (int64_t)time->tv_sec * SIM_S + time->tv_nsec / 1000);
    return 0;
}

/* --- randomness ------------------------------------------------------------------------------ */

static void fill(void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = (unsigned char)sim_random();
}

ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags)
{
    (void)flags;
    fill(to, n);
    return (ssize_t)n;
}

void __wrap_randombytes_buf(void *to, size_t n)
{
    fill(to, n);
}

/* --- the log --------------------------------------------------------------------------------- */

/* Lines go into the trace at once: there is no slow reader here. */
struct pl_sink *pl_sink_create(const struct pl_sink_config *config)
{
    static char sink;
    (void)config;
    return (struct pl_sink *)&sink;
}

void pl_sink_put(struct pl_sink *sink, struct pl_str line)
{
    (void)sink;
    sim_trace("[%d] log: %.*s", sim_owner(), (int)(line.len ? line.len - 1 : 0), line.ptr);
}

void pl_sink_wake(struct pl_sink *sink)
{
    (void)sink;
}

uint64_t pl_sink_n_dropped(struct pl_sink *sink)
{
    (void)sink;
    return 0;
}

bool pl_sink_flush(struct pl_sink *sink, int64_t wait_ms)
{
    (void)sink, (void)wait_ms;
    return true;
}

void pl_sink_destroy(struct pl_sink *sink, int64_t wait_ms)
{
    (void)sink, (void)wait_ms;
}

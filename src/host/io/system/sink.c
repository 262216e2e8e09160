/* There are two buffers: all threads append to one, under the lock; the sink's own thread writes
 * the other, without the lock. When it has written it, it swaps the two.
 *
 *     machine sink
 *
 *     NEW -> RUNNING -> ENDING -> OVER    the thread starts with the first line
 *     NEW -> OVER                         there was no line
 *
 * A sink whose descriptor accepts nothing stays in ENDING: its thread is detached. */
#include "io/system/sink.h"

#include "base/mem.h"
#include "io/move.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum sink_state { SINK_NEW, SINK_RUNNING, SINK_ENDING, SINK_OVER };

#define TO(name) PL_TO(SINK_##name)
static const struct pl_state states[] = {
    [SINK_NEW] = {"new", TO(RUNNING) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                  .why = "its owner gives it lines, or destroys it"},
    [SINK_RUNNING] = {"running", TO(ENDING), PL_WAIT_OPEN, PL_CANCEL_LATER,
                      .why = "its owner destroys it"},
    [SINK_ENDING] = {"ending", TO(OVER), PL_WAIT_SET, PL_CANCEL_NONE,
                     .why = "wait_ms of pl_sink_destroy"},
    [SINK_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("sink", states);

struct pl_sink {
    struct pl_sink_config config;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t has_lines, is_empty;
    struct pl_buf lines;   /* owned; lines that wait to be written */
    struct pl_buf writing; /* owned; used by the thread while is_writing */
    uint64_t n_dropped;    /* total */
    uint64_t n_told;       /* dropped lines that a notice has reported */
    enum sink_state state;
    bool is_writing, is_woken;
    pthread_t thread; /* from RUNNING on */
    bool is_mid_line; /* used by the thread: a write stopped within a line; begin a new one */
};

/* Called with the lock held. */
static void become(struct pl_sink *sink, enum sink_state to)
{
    sink->state = (enum sink_state)pl_move(&machine, sink, sink->state, to);
}

struct pl_sink *pl_sink_create(const struct pl_sink_config *config)
{
    struct pl_sink *sink = pl_mem_alloc(1, sizeof *sink);
    if (!sink)
        return NULL;
    *sink = (struct pl_sink){.config = *config};
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&sink->lock, NULL);
    pthread_cond_init(&sink->has_lines, &attr);
    pthread_cond_init(&sink->is_empty, &attr);
    pthread_condattr_destroy(&attr);
    pl_buf_init(&sink->lines, 0);
    pl_buf_init(&sink->writing, 0);
    return sink;
}

/* --- the thread ------------------------------------------------------------------------------ */

static uint64_t n_lines_of(struct pl_str bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes.len; i++)
        n += bytes.ptr[i] == '\n';
    return n;
}

/* Returns the bytes that could not be written. Another process may have made the descriptor
 * non-blocking. */
static struct pl_str write_all(int fd, struct pl_str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            (void)poll(&ready, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        bytes = pl_str_slice(bytes, (size_t)n, bytes.len);
    }
    return bytes;
}

/* Called without the lock. Returns the number of lost lines. */
static uint64_t write_lines(struct pl_sink *sink)
{
    struct pl_str all = pl_buf_str(&sink->writing);
    if (sink->config.write)
        return n_lines_of(sink->config.write(sink->config.ctx, all));
    if (sink->is_mid_line && write_all(sink->config.fd, PL_STR("\n")).len)
        return n_lines_of(all);
    sink->is_mid_line = false;
    struct pl_str rest = write_all(sink->config.fd, all);
    sink->is_mid_line = rest.len && rest.len < all.len && rest.ptr[-1] != '\n';
    return n_lines_of(rest);
}

/* Called with the lock held. The dropped lines came after the queued ones, so the notice is last.
 * Returns whether there is one. */
static bool take_lines(struct pl_sink *sink)
{
    struct pl_buf empty = sink->writing;
    sink->writing = sink->lines;
    sink->lines = empty;
    pl_buf_clear(&sink->lines);
    bool has_notice = sink->n_dropped > sink->n_told;
    if (has_notice)
        sink->config.say_dropped(sink->n_dropped - sink->n_told, &sink->writing);
    sink->n_told = sink->n_dropped;
    sink->is_writing = true;
    return has_notice;
}

static void *run(void *arg)
{
    struct pl_sink *sink = arg;
    pthread_mutex_lock(&sink->lock);
    for (;;) {
        while (sink->state != SINK_ENDING && !sink->is_woken)
            pthread_cond_wait(&sink->has_lines, &sink->lock);
        sink->is_woken = false;
        while (sink->lines.len) {
            uint64_t n_told = sink->n_told;
            bool has_notice = take_lines(sink);
            pthread_mutex_unlock(&sink->lock);
            uint64_t n_lost = write_lines(sink);
            pthread_mutex_lock(&sink->lock);
            /* The notice is the last line: if any line is lost, the notice is lost too and is
             * repeated. */
            if (n_lost && has_notice) {
                sink->n_told = n_told;
                n_lost--;
            }
            sink->n_dropped += n_lost;
            sink->is_writing = false;
        }
        pthread_cond_broadcast(&sink->is_empty);
        if (sink->state == SINK_ENDING)
            break;
    }
    become(sink, SINK_OVER);
    pthread_cond_broadcast(&sink->is_empty);
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}

/* Called with the lock held. Blocks signals in the thread: they are for the loops. */
static void start_thread(struct pl_sink *sink)
{
    sigset_t all, before;
    if (sink->state != SINK_NEW)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&sink->thread, NULL, run, sink) == 0)
        become(sink, SINK_RUNNING);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- everybody else -------------------------------------------------------------------------- */

void pl_sink_put(struct pl_sink *sink, struct pl_str line)
{
    pthread_mutex_lock(&sink->lock);
    start_thread(sink);
    size_t n_before = sink->lines.len;
    if (line.len > sink->config.max_bytes - n_before) {
        sink->n_dropped++;
    } else {
        pl_buf_add(&sink->lines, line);
        if (sink->lines.status != PL_OK) {
            sink->n_dropped++;
            sink->lines.status = PL_OK; /* only whole lines are in it; there may be memory later */
        }
    }
    pthread_mutex_unlock(&sink->lock);
}

void pl_sink_wake(struct pl_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    bool is_needed = !sink->is_woken && sink->lines.len;
    sink->is_woken = sink->is_woken || is_needed;
    pthread_mutex_unlock(&sink->lock);
    if (is_needed)
        pthread_cond_signal(&sink->has_lines);
}

uint64_t pl_sink_n_dropped(struct pl_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    uint64_t n = sink->n_dropped;
    pthread_mutex_unlock(&sink->lock);
    return n;
}

static struct timespec moment_in(int64_t wait_ms)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    int64_t ns = moment.tv_nsec + wait_ms % 1000 * 1000000;
    moment.tv_sec += wait_ms / 1000 + ns / 1000000000;
    moment.tv_nsec = ns % 1000000000;
    return moment;
}

/* Called with the lock held. Wakes the thread and waits until all lines are written or, in ENDING,
 * until the thread is over. False: timeout. */
static bool await(struct pl_sink *sink, int64_t wait_ms)
{
    struct timespec until = moment_in(wait_ms);
    int failure = 0;
    sink->is_woken = true;
    pthread_cond_signal(&sink->has_lines);
    while (!failure && (sink->state == SINK_RUNNING ? sink->lines.len || sink->is_writing
                                                    : sink->state != SINK_OVER))
        failure = pthread_cond_timedwait(&sink->is_empty, &sink->lock, &until);
    return sink->state == SINK_RUNNING ? !sink->lines.len && !sink->is_writing
                                       : sink->state == SINK_OVER;
}

bool pl_sink_flush(struct pl_sink *sink, int64_t wait_ms)
{
    pthread_mutex_lock(&sink->lock);
    bool is_done = sink->state == SINK_NEW ? !sink->lines.len : await(sink, wait_ms);
    pthread_mutex_unlock(&sink->lock);
    return is_done;
}

void pl_sink_destroy(struct pl_sink *sink, int64_t wait_ms)
{
    if (!sink)
        return;
    pthread_mutex_lock(&sink->lock);
    bool has_thread = sink->state != SINK_NEW;
    become(sink, has_thread ? SINK_ENDING : SINK_OVER);
    bool is_stuck = has_thread && !await(sink, wait_ms);
    pthread_mutex_unlock(&sink->lock);
    if (is_stuck) {
        pthread_detach(sink->thread);
        return;
    }
    if (has_thread)
        pthread_join(sink->thread, NULL);
    pthread_cond_destroy(&sink->is_empty);
    pthread_cond_destroy(&sink->has_lines);
    pthread_mutex_destroy(&sink->lock);
    if (sink->config.close)
        sink->config.close(sink->config.ctx);
    pl_buf_deinit(&sink->lines);
    pl_buf_deinit(&sink->writing);
    pl_mem_free(sink);
}

/* The loop itself: its turns, its start and its end. */
#include "io/clock.h"
#include "io/net/conn.h"
#include "io/loop_int.h"

#include "base/mem.h"
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Letters per turn; then the sockets are served. */
enum { LETTERS_PER_TURN = 256 };

/* --- the turn ----------------------------------------------------------------------------------
 */

/* The eventfd is not read: with the edge trigger every ring is an event. */
static void on_door(struct pl_watch *door, uint32_t events)
{
    struct pl_loop *loop = PL_CONTAINER_OF(door, struct pl_loop, door);
    (void)events;
    atomic_exchange_explicit(&loop->is_knocked, false, memory_order_acq_rel);
    pl_loop_tell_signals(loop);
    if (pl_mailbox_open(&loop->mailbox, LETTERS_PER_TURN) == LETTERS_PER_TURN)
        pl_loop_knock(loop);
    else if (atomic_load_explicit(&loop->is_stopping, memory_order_acquire))
        loop->has_stopped = true;
}

void pl_loop_hurry(struct pl_loop *loop)
{
    loop->is_hurried = true;
}

/* Hooks added during these calls run in the next turn. */
static void call_turn_ends(struct pl_loop *loop)
{
    if (!loop->ends)
        return;
    loop->ends_called = loop->ends;
    loop->ends_called->link = &loop->ends_called;
    loop->ends = NULL;
    loop->ends_tail = &loop->ends;
    while (loop->ends_called) {
        struct pl_loop_hook *end = loop->ends_called;
        pl_loop_hook_remove(loop, end);
        end->fn(end);
    }
}

/* The timerfd is not read: with the edge trigger every expiry is an event. */
static void on_bell(struct pl_watch *bell, uint32_t events)
{
    struct pl_loop *loop = PL_CONTAINER_OF(bell, struct pl_loop, bell);
    (void)events;
    loop->bell_ms = INT64_MAX;
}

/* A timeout for epoll_wait makes the kernel start and stop a timer in every turn, which is a tenth
 * of the cost of a small turn. The alarm rarely changes, so we set a timerfd instead. The time is
 * relative, because libfaketime shifts absolute ones even where it leaves the clock alone. False:
 * the timer could not be set. */
static bool set_bell(struct pl_loop *loop, int64_t left_ms)
{
    struct itimerspec after = {
        .it_value = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000}};
    if (timerfd_settime(loop->bell.fd, 0, &after, NULL) != 0)
        return false;
    loop->bell_ms = loop->alarm_ms;
    return true;
}

/* How long this turn may sleep; -1: until something happens. */
static int sleep_ms(struct pl_loop *loop)
{
    if (loop->is_hurried)
        return 0;
    if (loop->bell_ms <= loop->alarm_ms)
        return -1;
    int64_t left_ms = loop->alarm_ms - pl_clock_ms();
    if (left_ms <= 0)
        return 0;
    return set_bell(loop, left_ms) ? -1 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void turn(struct pl_loop *loop)
{
    loop->now_ms = pl_clock_ms();
    pl_loop_turn_wheel(loop);
    pl_watch_wait(loop, sleep_ms(loop));
    call_turn_ends(loop);
    pl_watch_bury(loop);
    loop->is_hurried = loop->ends != NULL;
}

void pl_loop_hook_add(struct pl_loop *loop, struct pl_loop_hook *end)
{
    if (end->is_waiting)
        return;
    end->is_waiting = true;
    end->next = NULL;
    end->link = loop->ends_tail;
    *loop->ends_tail = end;
    loop->ends_tail = &end->next;
    pl_loop_hurry(loop);
}

void pl_loop_hook_remove(struct pl_loop *loop, struct pl_loop_hook *end)
{
    if (!end->is_waiting)
        return;
    *end->link = end->next;
    if (end->next)
        end->next->link = end->link;
    else if (loop->ends_tail == &end->next)
        loop->ends_tail = end->link;
    end->is_waiting = false;
}

/* --- from beginning to end ---------------------------------------------------------------------
 */

/* Watches a descriptor of the loop's own; returns errno. */
static int listen_to(struct pl_loop *loop, struct pl_watch *watch, int fd,
                     void (*fn)(struct pl_watch *, uint32_t))
{
    if (fd < 0)
        return errno;
    if (pl_watch_start(loop, watch, fd, EPOLLIN | EPOLLET, fn) == PL_OK)
        return 0;
    int error = errno;
    close(fd);
    return error;
}

/* Opens the door and the bell. */
static int open_ears(struct pl_loop *loop)
{
    int error = listen_to(loop, &loop->door, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), on_door);
    if (error != 0)
        return error;
    error = listen_to(loop, &loop->bell,
                      timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), on_bell);
    if (error != 0)
        close(loop->door.fd);
    return error;
}

enum pl_status pl_loop_create(struct pl_loop **ret_loop, struct pl_error *err)
{
    struct pl_loop *loop = pl_mem_alloc(1, sizeof *loop);
    if (!loop)
        return pl_fail(err, PL_NOMEM, "out of memory for an event loop");
    memset(loop, 0, offsetof(struct pl_loop, write_buffer));
    loop->read_buffer = pl_mem_alloc(1, PL_READ_BYTES);
    if (!loop->read_buffer) {
        pl_mem_free(loop);
        return pl_fail(err, PL_NOMEM, "out of memory for an event loop");
    }
    loop->ends_tail = &loop->ends;
    loop->alarm_ms = loop->bell_ms = INT64_MAX;
    loop->now_ms = pl_clock_ms();
    pl_mailbox_init(&loop->mailbox);
    pl_wheel_init(&loop->wheel, loop->now_ms);

    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int error = loop->epoll_fd < 0 ? errno : open_ears(loop);
    if (error != 0) {
        if (loop->epoll_fd >= 0)
            close(loop->epoll_fd);
        pl_mem_free(loop->read_buffer);
        pl_mem_free(loop);
        return pl_fail(err, PL_IO, "an event loop cannot be created: %s", strerror(error));
    }
    *ret_loop = loop;
    return PL_OK;
}

void pl_loop_destroy(struct pl_loop *loop)
{
    if (!loop)
        return;
    /* Threads that work for a loop must end before it. */
    assert(atomic_load_explicit(&loop->n_expected, memory_order_acquire) == 0);
    (void)pl_loop_settle(loop);
    while (loop->listeners)
        pl_listener_stop(loop->listeners);
    pl_watch_bury(loop);
    assert(loop->n_conns == 0); /* the owner of a connection closes it before the loop ends */

    pl_loop_forget_signals(loop);
    close(loop->door.fd);
    close(loop->bell.fd);
    close(loop->epoll_fd);
    pl_mem_free(loop->read_buffer);
    pl_mem_free(loop->spare_buffer);
    pl_mem_free(loop);
}

void pl_loop_run(struct pl_loop *loop)
{
    loop->has_stopped = false;
    while (!loop->has_stopped)
        turn(loop);
    atomic_store_explicit(&loop->is_stopping, false, memory_order_release);
}

void pl_loop_stop(struct pl_loop *loop)
{
    atomic_store_explicit(&loop->is_stopping, true, memory_order_release);
    pl_loop_knock(loop);
}

bool pl_loop_settle(struct pl_loop *loop)
{
    bool has_done = false;
    while (pl_mailbox_open(&loop->mailbox, SIZE_MAX) || loop->ends) {
        call_turn_ends(loop);
        has_done = true;
    }
    return has_done;
}

/* --- the clock ---------------------------------------------------------------------------------
 */

int64_t pl_loop_now_ms(const struct pl_loop *loop)
{
    return loop->now_ms;
}

/* Read at the first request in a turn (to the millisecond), minus the time since the start of the
 * turn. Casting away const is safe: callers cannot see the cache. */
int64_t pl_loop_unix_ms(const struct pl_loop *loop)
{
    int64_t now_ms = pl_loop_now_ms(loop);
    struct pl_loop *own = (struct pl_loop *)loop;
    if (own->unix_at_ms != now_ms) {
        own->unix_ms = pl_clock_unix_ms() - (pl_clock_ms() - now_ms);
        own->unix_at_ms = now_ms;
    }
    return own->unix_ms;
}

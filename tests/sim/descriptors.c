/* Simulates eventfd, timerfd, epoll and poll: see descriptors.h. Only the parts that loops and
 * PostgreSQL's driver use. */
#include "descriptors.h"

#include "kernel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { FIRST = 1 << 20, FDS_MAX = 4096, WATCHED_MAX = 4 };

static struct fd {
    bool is_open, is_readable, is_writable;
    int watcher; /* the epoll set it is in; 0: none */
    uint32_t events;
    epoll_data_t data;
    int64_t rings_us; /* of a timer; 0: it does not */
} fds[FDS_MAX];
static int n_fds;

static struct fd *find(int fd)
{
    return fd >= FIRST && fd < FIRST + n_fds ? &fds[fd - FIRST] : NULL;
}

int sim_fd_open(void)
{
    int i = 0;
    while (i < n_fds && fds[i].is_open)
        i++;
    if (i == FDS_MAX)
        abort();
    if (i == n_fds)
        n_fds++;
    fds[i] = (struct fd){.is_open = true};
    return FIRST + i;
}

void sim_fd_close(int fd)
{
    find(fd)->is_open = false;
}

void sim_fd_forget_all(void)
{
    n_fds = 0;
}

void sim_fd_set(int number, bool is_readable, bool is_writable)
{
    struct fd *fd = find(number);
    fd->is_readable = is_readable;
    fd->is_writable = is_writable;
    if (is_readable || is_writable)
        sim_wake(fd);
    if (fd->watcher)
        sim_wake(find(fd->watcher));
}

/* --- eventfd and epoll ----------------------------------------------------------------------- */

int __wrap_eventfd(unsigned first, int flags)
{
    (void)first, (void)flags;
    return sim_fd_open();
}

int __wrap_epoll_create1(int flags)
{
    (void)flags;
    return sim_fd_open();
}

int __wrap_epoll_ctl(int set, int what, int number, struct epoll_event *event)
{
    struct fd *fd = find(number);
    if (!fd)
        abort();
    fd->watcher = what == EPOLL_CTL_DEL ? 0 : set;
    if (event) {
        fd->events = event->events;
        fd->data = event->data;
    }
    return 0;
}

int __wrap_timerfd_create(int clock, int flags)
{
    (void)clock, (void)flags;
    return sim_fd_open();
}

/* Loops set a duration, not an instant. */
int __wrap_timerfd_settime(int number, int flags, const struct itimerspec *after,
                           struct itimerspec *before)
{
    (void)flags, (void)before;
    int64_t us = (int64_t)after->it_value.tv_sec * SIM_S + (after->it_value.tv_nsec + 999) / 1000;
    find(number)->rings_us = us ? sim_now_us() + us : 0;
    return 0;
}

/* Edge-triggered: each event is reported once. *ret_next_us: when a timer of the set expires. */
static int take_ready(int set, struct epoll_event *to, int max, int64_t *ret_next_us)
{
    int n = 0;
    for (int i = 0; i < n_fds && n < max; i++) {
        struct fd *fd = &fds[i];
        if (!fd->is_open || fd->watcher != set)
            continue;
        bool rings = fd->rings_us && fd->rings_us <= sim_now_us();
        if (rings)
            fd->rings_us = 0;
        else if (fd->rings_us && fd->rings_us < *ret_next_us)
            *ret_next_us = fd->rings_us;
        if (fd->is_readable || rings)
            to[n++] = (struct epoll_event){.events = EPOLLIN, .data = fd->data};
        fd->is_readable = false;
    }
    return n;
}

int __wrap_epoll_wait(int set, struct epoll_event *to, int max, int ms)
{
    int64_t until_us = ms < 0 ? INT64_MAX : sim_now_us() + (int64_t)ms * SIM_MS;
    sim_yield();
    for (;;) {
        int64_t next_us = until_us;
        int n = take_ready(set, to, max, &next_us);
        if (n || sim_now_us() >= until_us)
            return n;
        (void)sim_wait(find(set), next_us);
    }
}

ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    if (!find(fd))
        return __real_write(fd, from, n);
    sim_fd_set(fd, true, false);
    return (ssize_t)n;
}

int __real_close(int fd);
int __wrap_close(int fd)
{
    if (!find(fd))
        return __real_close(fd);
    sim_fd_close(fd);
    return 0;
}

/* --- poll ------------------------------------------------------------------------------------ */

int __wrap_poll(struct pollfd *wanted, nfds_t n, int ms)
{
    int64_t until_us = ms < 0 ? INT64_MAX : sim_now_us() + (int64_t)ms * SIM_MS;
    struct fd *fd = find(wanted[0].fd);
    if (n != 1 || !fd)
        abort();
    for (;;) {
        wanted[0].revents = (short)((fd->is_readable ? wanted[0].events & POLLIN : 0) |
                                    (fd->is_writable ? wanted[0].events & POLLOUT : 0));
        if (wanted[0].revents)
            return 1;
        if (sim_now_us() >= until_us)
            return 0;
        (void)sim_wait(fd, until_us);
    }
}

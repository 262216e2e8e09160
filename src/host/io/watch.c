#include "io/clock.h"
#include "io/loop_int.h"

#include <errno.h>
#include <sys/epoll.h>

enum { BATCH = 256 };

/* EPOLLHUP and EPOLLERR are always reported, even if no events are requested, and again in every
 * turn. The edge trigger reports them only once. */
static struct epoll_event wish(struct pl_watch *watch)
{
    return (struct epoll_event){.events = watch->events ? watch->events : EPOLLET,
                                .data.ptr = watch};
}

enum pl_status pl_watch_start(struct pl_loop *loop, struct pl_watch *watch, int fd, uint32_t events,
                              void (*fn)(struct pl_watch *, uint32_t))
{
    *watch = (struct pl_watch){.fn = fn, .fd = fd, .events = events};
    struct epoll_event event = wish(watch);
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        watch->fd = -1;
        return errno == ENOMEM ? PL_NOMEM : PL_IO;
    }
    return PL_OK;
}

void pl_watch_want(struct pl_loop *loop, struct pl_watch *watch, uint32_t events)
{
    if (watch->fd < 0 || watch->events == events)
        return;
    watch->events = events;
    struct epoll_event event = wish(watch);
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

void pl_watch_end(struct pl_loop *loop, struct pl_watch *watch, void (*bury)(struct pl_watch *))
{
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->fd = -1;
    watch->bury = bury;
    watch->next = loop->graves;
    loop->graves = watch;
    pl_loop_hurry(loop);
}

void pl_watch_wait(struct pl_loop *loop, int max_ms)
{
    /* Not zeroed in every turn (-ftrivial-auto-var-init): the kernel fills all entries that we
     * read. */
    __attribute__((uninitialized)) struct epoll_event events[BATCH];
    int n = epoll_wait(loop->epoll_fd, events, BATCH, max_ms);
    loop->now_ms = pl_clock_ms();
    for (int i = 0; i < n; i++) {
        struct pl_watch *watch = events[i].data.ptr;
        if (watch->fd >= 0)
            watch->fn(watch, events[i].events);
    }
}

void pl_watch_bury(struct pl_loop *loop)
{
    while (loop->graves) {
        struct pl_watch *watch = loop->graves;
        loop->graves = watch->next;
        watch->bury(watch);
    }
}

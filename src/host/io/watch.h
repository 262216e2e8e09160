/* A descriptor that a loop watches; embedded in a connection or a listener: 40 bytes. All of them
 * are in one epoll set per loop; a change of interest is one system call.
 *
 * The struct a watch is in may be freed only at the end of the turn, since the batch of events
 * being handed out may name it: pl_watch_end sees to that. */
#ifndef PL_IO_WATCH_H
#define PL_IO_WATCH_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct pl_loop;

struct pl_watch {
    /* With EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP in `events`. */
    void (*fn)(struct pl_watch *self, uint32_t events);
    void (*bury)(struct pl_watch *self); /* set by pl_watch_end */
    struct pl_watch *next;               /* the loop's */
    int fd;                              /* borrowed; -1 once it is ended */
    uint32_t events;                     /* what the kernel was asked for */
};

/* PL_IO or PL_NOMEM: the kernel does not watch any more descriptors. */
enum pl_status pl_watch_start(struct pl_loop *loop, struct pl_watch *watch, int fd, uint32_t events,
                              void (*fn)(struct pl_watch *, uint32_t));
/* Changes what to wait for, 0 for nothing. Takes no memory and cannot fail. */
void pl_watch_want(struct pl_loop *loop, struct pl_watch *watch, uint32_t events);
/* No more calls; the descriptor may be closed after this. `bury`, which frees it, is called at the
 * end of the turn.
 */
void pl_watch_end(struct pl_loop *loop, struct pl_watch *watch, void (*bury)(struct pl_watch *));

/* Waits, no longer than max_ms (-1: for ever), and hands out what happened. Called by the loop. */
void pl_watch_wait(struct pl_loop *loop, int max_ms);
/* Frees ended watches. Called by the loop. */
void pl_watch_bury(struct pl_loop *loop);

#endif

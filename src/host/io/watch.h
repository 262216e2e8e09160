/* A descriptor that a loop watches; embedded in a connection or a listener: 40 bytes. Each loop has
 * one epoll set; a change of interest is one system call.
 *
 * The struct that contains a watch may be freed only at the end of the turn, since the current
 * batch of events may refer to it: pl_watch_end takes care of that. */
#ifndef PL_IO_WATCH_H
#define PL_IO_WATCH_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct pl_loop;

struct pl_watch {
    /* `events` has EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP. */
    void (*fn)(struct pl_watch *self, uint32_t events);
    void (*bury)(struct pl_watch *self); /* set by pl_watch_end */
    struct pl_watch *next;               /* the loop's */
    int fd;                              /* borrowed; -1 once it is ended */
    uint32_t events;                     /* the events requested from the kernel */
};

/* PL_IO or PL_NOMEM: the kernel refuses to watch another descriptor. */
enum pl_status pl_watch_start(struct pl_loop *loop, struct pl_watch *watch, int fd, uint32_t events,
                              void (*fn)(struct pl_watch *, uint32_t));
/* Changes the events to wait for; 0: none. Takes no memory and cannot fail. */
void pl_watch_want(struct pl_loop *loop, struct pl_watch *watch, uint32_t events);
/* No more calls; the descriptor may be closed after this. `bury` is called at the end of the turn
 * and frees the watch. */
void pl_watch_end(struct pl_loop *loop, struct pl_watch *watch, void (*bury)(struct pl_watch *));

/* Waits for events, at most max_ms (-1: for ever), and calls the watches. Called by the loop. */
void pl_watch_wait(struct pl_loop *loop, int max_ms);
/* Frees ended watches. Called by the loop. */
void pl_watch_bury(struct pl_loop *loop);

#endif

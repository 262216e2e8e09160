/* The internals of a loop, for the files of io only.
 *
 *     one turn:   timers  ->  wait  ->  letters, sockets, signals  ->  turn ends, graves
 *
 * The wait is epoll_wait on one set: all connections, the listeners, the door (an eventfd), and a
 * timerfd for the wheel's next tick (docs/adr/0013-epoll.md). */
#ifndef PL_IO_LOOP_INT_H
#define PL_IO_LOOP_INT_H

#include "io/loop.h"
#include "io/watch.h"
#include "io/wheel.h"

enum {
    PL_READ_BYTES = 64 << 10,  /* one read of any connection */
    PL_RECORD_BYTES = 16 << 10 /* the maximum size of a TLS record */
};

/* Many senders, one receiver, no lock (Vyukov's intrusive queue). `last` is where senders append;
 * the receiver takes from `first`. The stub keeps the queue from ever being empty. */
struct pl_mailbox {
    _Atomic(struct pl_letter *) last;
    struct pl_letter *first;
    struct pl_letter stub;
};

struct pl_loop {
    int epoll_fd;         /* owned */
    struct pl_watch door; /* an eventfd, owned: rung for letters, for signals and to stop */
    int64_t now_ms;       /* the clock of the turn */
    bool is_hurried;      /* this turn must not sleep */
    bool has_stopped;     /* this turn is the last one */

    struct pl_mailbox mailbox;
    atomic_bool is_knocked;   /* the door was rung and the loop has not seen it yet */
    atomic_bool is_stopping;  /* set by any thread */
    atomic_size_t n_expected; /* letters that other threads will still post */

    struct pl_wheel wheel;
    int64_t alarm_ms; /* when the wheel is due next; INT64_MAX: never */
    struct pl_watch
        bell;        /* a timerfd, owned: fires at bell_ms, so that epoll_wait needs no timeout */
    int64_t bell_ms; /* INT64_MAX: not set */

    /* The hooks of this turn, and those being called. */
    struct pl_loop_hook *ends, **ends_tail;
    struct pl_loop_hook *ends_called;

    struct pl_watch *graves;        /* closed watches; freed at the end of the turn */
    struct pl_listener *listeners;  /* owned */
    struct pl_loop_signal *signals; /* owned */
    size_t n_conns;

    int64_t unix_at_ms, unix_ms; /* the wall clock, read once a turn: see pl_loop_unix_ms */

    /* Owned; PL_READ_BYTES each. Pages that are never read into take no memory. */
    char *read_buffer;
    char *spare_buffer;                 /* the next read_buffer; NULL: none */
    char write_buffer[PL_RECORD_BYTES]; /* here TLS gathers small pieces into one record */
};

/* letter.c */
void pl_mailbox_init(struct pl_mailbox *mailbox);
/* Opens at most `max` letters and returns how many. If it returns `max`, there may be more. Only
 * the loop's thread. */
size_t pl_mailbox_open(struct pl_mailbox *mailbox, size_t max);
/* Wakes the loop, so that it looks at its mailbox and at is_stopping. Any thread. */
void pl_loop_knock(struct pl_loop *loop);

/* loop.c: this turn must end without sleeping. */
void pl_loop_hurry(struct pl_loop *loop);

/* timer.c: calls the due timers. */
void pl_loop_turn_wheel(struct pl_loop *loop);

/* signal.c. The first calls the handlers of arrived signals; the second restores the old
 * handlers. */
void pl_loop_tell_signals(struct pl_loop *loop);
void pl_loop_forget_signals(struct pl_loop *loop);

#endif

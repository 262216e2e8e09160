/* What a loop is made of. Only the files of this room see it.
 *
 *     one turn:   timers  ->  wait  ->  letters, sockets, signals  ->  turn ends, graves
 *
 * The wait is epoll itself: one set with all connections, listeners and the door, and the wheel's
 * next tick as a timer among them (docs/adr/0013-epoll.md). */
#ifndef PL_IO_LOOP_INT_H
#define PL_IO_LOOP_INT_H

#include "io/loop.h"
#include "io/watch.h"
#include "io/wheel.h"

enum {
    PL_READ_BYTES = 64 << 10,  /* one read, of any connection */
    PL_RECORD_BYTES = 16 << 10 /* the most that one TLS record carries */
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
    struct pl_watch door; /* an eventfd, owned: rung for letters, signals and to stop */
    int64_t now_ms;       /* the clock of the turn */
    bool is_hurried;      /* this turn does not sleep */
    bool has_stopped;     /* this turn is the last */

    struct pl_mailbox mailbox;
    atomic_bool is_knocked;   /* the door was rung and has not been answered yet */
    atomic_bool is_stopping;  /* set by any thread */
    atomic_size_t n_expected; /* letters that other threads will still post */

    struct pl_wheel wheel;
    int64_t alarm_ms; /* the next time of the wheel; INT64_MAX: never */
    struct pl_watch
        bell;        /* a timerfd, owned: rings at bell_ms, so a turn needs no time of its own */
    int64_t bell_ms; /* INT64_MAX: it is not set */

    /* Those of the present turn, and those that are being called. */
    struct pl_loop_hook *ends, **ends_tail;
    struct pl_loop_hook *ends_called;

    struct pl_watch *graves;        /* closed; freed at the end of the turn */
    struct pl_listener *listeners;  /* owned */
    struct pl_loop_signal *signals; /* owned */
    size_t n_conns;

    int64_t unix_at_ms, unix_ms; /* the wall clock, read once a turn: see pl_loop_unix_ms */

    char *
        read_buffer; /* owned; PL_READ_BYTES, of which pages that are never read into stay unused */
    char write_buffer[PL_RECORD_BYTES]; /* where TLS gathers small pieces into one record */
};

/* letter.c */
void pl_mailbox_init(struct pl_mailbox *mailbox);
/* Opens at most `max` letters; returns how many there were, and `max` means that there may be more.
 * Only the loop's thread. */
size_t pl_mailbox_open(struct pl_mailbox *mailbox, size_t max);
/* Rings, so that the loop looks at its mailbox and at is_stopping. Any thread. */
void pl_loop_knock(struct pl_loop *loop);

/* loop.c: the end of this turn must come without sleeping first. */
void pl_loop_hurry(struct pl_loop *loop);

/* timer.c: calls the due timers. */
void pl_loop_turn_wheel(struct pl_loop *loop);

/* signal.c: calls the handlers of the signals that have come, and restores the old handlers. */
void pl_loop_tell_signals(struct pl_loop *loop);
void pl_loop_forget_signals(struct pl_loop *loop);

#endif

/* What a loop is made of. Only the files of this room see it, and with it libuv.
 *
 *     one turn of libuv:   timers  ->  wait  ->  letters, sockets, signals  ->  turn ends, graves
 *
 * libuv watches three things for us: the door (letters and stop), the alarm (the wheel's next tick)
 * and one epoll set, in which all connections and listeners are (watch.h says why). */
#ifndef PL_IO_LOOP_INT_H
#define PL_IO_LOOP_INT_H

#include "io/loop.h"
#include "io/watch.h"
#include "io/wheel.h"

#include <uv.h>

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
    uv_loop_t uv;
    uv_async_t door;
    uv_timer_t alarm;
    uv_idle_t hurry;   /* on while a turn end waits: libuv then does not sleep before `after` */
    uv_check_t after;  /* the end of the turn */
    uv_poll_t sockets; /* readable when something in epoll_fd is */
    int epoll_fd;      /* owned */

    struct pl_mailbox mailbox;
    atomic_bool is_knocked;  /* the door was rung and has not been answered yet */
    atomic_bool is_stopping; /* set by any thread */

    struct pl_wheel wheel;
    int64_t alarm_ms; /* what the alarm is set to; INT64_MAX: off */

    /* Those of the present turn, and those that are being called. */
    struct pl_turn_end *ends, **ends_tail;
    struct pl_turn_end *ends_called;

    struct pl_watch *graves;        /* closed; freed at the end of the turn */
    struct pl_listener *listeners;  /* owned */
    struct pl_loop_signal *signals; /* owned */
    size_t n_conns;

    int64_t unix_at_ms, unix_ms; /* the wall clock, read once a turn: see pl_loop_unix_ms */

    char read_buffer[PL_READ_BYTES];    /* pages that nobody reads into stay unused */
    char write_buffer[PL_RECORD_BYTES]; /* where TLS gathers small pieces into one record */
};

/* letter.c */
void pl_mailbox_init(struct pl_mailbox *mailbox);
/* Opens at most `max` letters; returns whether there may be more. Only the loop's thread. */
bool pl_mailbox_open(struct pl_mailbox *mailbox, size_t max);
/* Rings, so that the loop looks at its mailbox and at is_stopping. Any thread. */
void pl_loop_knock(struct pl_loop *loop);

/* loop.c: the end of this turn must come without sleeping first. */
void pl_loop_hurry(struct pl_loop *loop);

/* timer.c: the alarm's callback. */
void pl_loop_on_alarm(uv_timer_t *alarm);

#endif

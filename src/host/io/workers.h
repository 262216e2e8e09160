/* Threads for work that blocks or takes long, in lanes: what waits for the store does not hold up
 * what computes, and neither is held up by a name server that says nothing. Everything waits in a
 * queue of its lane, which is fair: owners with jobs there take turns, and none has all threads of
 * a lane. Only as many jobs that need much memory run at once as the lane has room for, in the
 * order of their turns; the others pass them. Any thread may call this. */
#ifndef PL_IO_WORKERS_H
#define PL_IO_WORKERS_H

#include "io/loop.h"

#define PL_WORK_ROOM_BYTES ((size_t)24 << 20) /* of a lane, for each of its threads */

/* X(name, "name", threads, threads of one owner): 0 threads is the number pl_workers_create gets, 0
 * of one owner all but one. */
#define PL_WORK_TABLE(X)                                                                           \
    X(STORE, "store", 0, 0)    /* reads records; what a row or an index costs */                   \
    X(CPU, "cpu", 0, 0)        /* computes: parses, checks, converts, counts */                    \
    X(FILE, "file", 2, 2)      /* rare and slow: backups, what /metrics asks the kernel */         \
    X(LOOKUP, "lookup", 16, 4) /* names; getaddrinfo cannot be stopped, only left alone */

enum pl_work {
#define X(name, text, n_threads, n_of_owner) PL_WORK_##name,
    PL_WORK_TABLE(X)
#undef X
        PL_WORK_COUNT,
};

/* `run` must not touch what a loop owns, except what the job holds. `done` is called on the loop
 * that submitted it, always, also when the loop is stopping.
 *
 * No job waits for ever, in one of two ways; pl_workers_submit asserts that it is one of them:
 *
 * - It has a deadline (wait_ms), after which it comes home without having run. So do the server's
 *   own (owner 0), which try again later or say in the log what is left undone.
 * - It ends what was begun (is_begun), and there is no way back. It goes before whatever its owner
 *   has not begun. So it waits only for what he had begun before, which is as much as was admitted
 *   by jobs with a deadline, and for the turns of others. */
struct pl_job {
    struct pl_letter letter; /* brings it home */
    struct pl_job *next;     /* the lane's */
    void *flow;              /* the lane's */
    struct pl_loop *home;    /* borrowed */
    int64_t since_ms;        /* the lane's: submitted then */
    enum pl_work lane;
    uint64_t owner;  /* for whom: the hash of a user's id; 0: the server itself */
    int64_t wait_ms; /* in the queue at most; then it comes home without having run */
    bool is_begun;   /* completes work in progress; wait_ms is 0 */
    size_t n_bytes;  /* approximate memory it takes while it runs; 0: too little to count */
    bool is_refused; /* for done: it did not run */
    void (*run)(struct pl_job *self);  /* on a worker */
    void (*done)(struct pl_job *self); /* back home */
    /* In the lane LOOKUP, whose threads are left behind when the workers are destroyed: on such a
     * thread, in place of `done`. Frees the job and touches nothing else. */
    void (*abandon)(struct pl_job *self);
};

/* How many threads a lane has at most where pl_workers_create gets n. */
size_t pl_work_threads(enum pl_work lane, size_t n);

struct pl_workers; /* owned */
/* Threads are started when there is work for them. */
enum pl_status pl_workers_create(size_t n, struct pl_workers **ret_workers, struct pl_error *err);
/* Finishes what was submitted, then joins; jobs of LOOKUP that wait are refused, and those that run
 * are abandoned. Accepts NULL. */
void pl_workers_destroy(struct pl_workers *workers);
/* Returns when every job that was submitted has run and was sent home; more may be submitted then.
 * Of LOOKUP nothing is waited for: its jobs are dealt with as in pl_workers_destroy, and further
 * ones are refused. */
void pl_workers_finish(struct pl_workers *workers);
/* Where no thread at all can be started, the job runs here and now. */
void pl_workers_submit(struct pl_workers *workers, struct pl_loop *home, struct pl_job *job);

struct pl_work_state {
    const char *name;
    size_t n_waiting;
    int64_t oldest_ms; /* how long the job has waited that has waited longest; 0: none does */
    uint64_t n_run, n_refused;
};
void pl_workers_look(struct pl_workers *workers, enum pl_work lane,
                     struct pl_work_state *ret_state);

#endif

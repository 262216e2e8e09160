/* Worker threads for work that blocks or takes long. They are divided into lanes, so that a job
 * that waits for the store does not delay one that computes, and a silent name server delays
 * neither. Each lane has a fair queue: owners take turns, and no owner gets all threads of a lane.
 * Large jobs run only while the lane has memory for them, in the order of their turns; small jobs
 * pass them. Any thread may call this. */
#ifndef PL_IO_WORKERS_H
#define PL_IO_WORKERS_H

#include "io/loop.h"

#define PL_WORK_ROOM_BYTES ((size_t)24 << 20) /* of a lane, per thread */

/* X(name, "name", threads, threads of one owner): 0 threads means the number given to
 * pl_workers_create; 0 of one owner means all but one. */
#define PL_WORK_TABLE(X)                                                                           \
    X(STORE, "store", 0, 0)    /* reads records: one row or one index */                           \
    X(CPU, "cpu", 0, 0)        /* computes: parses, checks, converts, counts */                    \
    X(FILE, "file", 2, 2)      /* rare and slow: backups, kernel data for /metrics */              \
    X(LOOKUP, "lookup", 16, 4) /* name resolution; getaddrinfo cannot be stopped, only abandoned */

enum pl_work {
#define X(name, text, n_threads, n_of_owner) PL_WORK_##name,
    PL_WORK_TABLE(X)
#undef X
        PL_WORK_COUNT,
};

/* `run` must not access a loop's data, except data that the job holds. `done` is always called on
 * the loop that submitted the job, even when that loop is stopping.
 *
 * No job waits for ever. It must be of one of two kinds (asserted in pl_workers_submit):
 *
 * - It has a deadline (wait_ms), after which it comes home without having run. The server's own
 *   jobs (owner 0) have one too: they are retried later, or the log says what was not done.
 * - It completes work in progress (is_begun) that cannot be undone. It runs before all jobs of its
 *   owner without is_begun. So it waits only for earlier is_begun jobs of its owner, whose number
 *   is limited by the jobs with a deadline that admitted them, and for the turns of other owners.
 */
struct pl_job {
    struct pl_letter letter; /* sends it home */
    struct pl_job *next;     /* the lane's */
    void *flow;              /* the lane's */
    struct pl_loop *home;    /* borrowed; the loop that submitted it */
    int64_t since_ms;        /* the lane's: when it was submitted */
    enum pl_work lane;
    uint64_t owner;  /* the hash of a user's id; 0: the server itself */
    int64_t wait_ms; /* maximum time in the queue; then it comes home without having run */
    bool is_begun;   /* completes work in progress; wait_ms is 0 */
    size_t n_bytes;  /* approximate memory while it runs; 0: too little to count */
    bool is_refused; /* for done: it did not run */
    void (*run)(struct pl_job *self);  /* on a worker */
    void (*done)(struct pl_job *self); /* on the home loop */
    /* Only for the LOOKUP lane, whose threads are abandoned when the workers are destroyed: called
     * on such a thread in place of `done`. Frees the job and accesses nothing else. */
    void (*abandon)(struct pl_job *self);
};

/* The maximum number of threads of a lane if pl_workers_create gets n. */
size_t pl_work_threads(enum pl_work lane, size_t n);

struct pl_workers; /* owned */
/* Threads are started when there is work for them. */
enum pl_status pl_workers_create(size_t n, struct pl_workers **ret_workers, struct pl_error *err);
/* Finishes all submitted jobs, then joins the threads. In LOOKUP, waiting jobs are refused and
 * running ones abandoned. Accepts NULL. */
void pl_workers_destroy(struct pl_workers *workers);
/* Returns when every submitted job has run and was sent home; more may be submitted then. It does
 * not wait for LOOKUP: its jobs end as in pl_workers_destroy, and further ones are refused. */
void pl_workers_finish(struct pl_workers *workers);
/* If no thread at all can be started, the job runs here and now. */
void pl_workers_submit(struct pl_workers *workers, struct pl_loop *home, struct pl_job *job);

struct pl_work_state {
    const char *name;
    size_t n_waiting;
    int64_t oldest_ms; /* the longest time that a job has waited; 0: none waits */
    uint64_t n_run, n_refused;
};
void pl_workers_look(struct pl_workers *workers, enum pl_work lane,
                     struct pl_work_state *ret_state);

#endif

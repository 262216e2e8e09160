/* Lanes of threads, each with a fair queue: jobs of one owner are a flow, and flows that have jobs
 * and may use another thread form a ring. A thread takes the first job of the first flow, and the
 * flow moves to the end of the ring. So an owner with a thousand jobs delays another owner by one
 * job only.
 *
 * Owners are told apart by a hash (stochastic fair queueing), so submitting a job needs no memory.
 * Two owners that share a flow by chance only share their turns. Jobs come home by letter. One more
 * thread, the watch, refuses jobs that have waited too long; it sleeps unless jobs wait. */
#include "io/workers.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/clock.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { N_FLOWS = 256, N_PLACES = 16, MAX_THREADS = 256, LOOK_MS = 50 };

/* The state of a flow. It is in RING or ASIDE exactly if it has jobs and may use another thread.
 *
 *     NOWHERE -- a job comes, or one ends --> RING -- its turn --> NOWHERE
 *     RING -- its turn, but there is no room for its job --> ASIDE -- room is made --> RING */
enum standing { NOWHERE, RING, ASIDE };

/* is_begun jobs come first; both kinds are in the order of their submission. */
struct flow {
    struct pl_job *first, **begun_end, **last;
    struct flow *next; /* in the ring, or aside */
    enum standing standing;
    uint64_t owner; /* the owner of its jobs; 0: the server */
    size_t n_running;
};

struct lane {
    struct pl_workers *workers; /* borrowed */
    const char *name;
    bool is_left;         /* its threads are abandoned at the end, not joined */
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t has_work;
    pthread_cond_t is_quiet;        /* no job waits and none runs */
    struct flow flows[N_FLOWS + 1]; /* the last one is the server's own */
    struct flow *ring, **ring_end;
    struct flow *aside, **aside_end; /* flows that wait for memory, in the order of their turns */
    size_t n_bytes, max_bytes;       /* memory of the running large jobs */
    size_t n_waiting;                /* jobs in the queue */
    size_t n_running;                /* jobs being run */
    size_t n_idle;                   /* threads that wait for a job */
    size_t n_threads, max_threads, max_of_flow;
    uint64_t n_run, n_refused;
    bool is_closing;
    pthread_t threads[MAX_THREADS];
};

struct pl_workers {
    struct lane lanes[PL_WORK_COUNT];
    _Atomic(size_t) n_holders; /* the owner and the abandoned threads */
    pthread_mutex_t lock;      /* protects the fields below */
    pthread_cond_t is_needed_now;
    pthread_t watch;
    bool has_watch, is_closing;
    _Atomic(bool) is_watch_needed; /* changed under the lock, read without it */
};

static const struct {
    const char *name;
    size_t n_threads, n_of_owner;
} kinds[] = {
#define X(name, text, n_threads, n_of_owner) {text, n_threads, n_of_owner},
    PL_WORK_TABLE(X)
#undef X
};

/* --- the queue of a lane; all with its lock -------------------------------------------------- */

static bool is_used(const struct flow *flow)
{
    return flow->first || flow->n_running || flow->standing != NOWHERE;
}

/* Owners share a flow only if all places of the later one are taken: otherwise the work of one
 * would count against the share of the other. */
static struct flow *choose_flow(struct lane *lane, uint64_t owner)
{
    struct flow *unused = NULL;
    if (!owner)
        return &lane->flows[N_FLOWS];
    for (size_t i = 0; i < N_PLACES; i++) {
        struct flow *flow = &lane->flows[(owner + i) % N_FLOWS];
        if (is_used(flow) && flow->owner == owner)
            return flow;
        if (!is_used(flow) && !unused)
            unused = flow;
    }
    if (!unused)
        return &lane->flows[owner % N_FLOWS];
    unused->owner = owner;
    return unused;
}

/* The server's own flow has no limit of threads. */
static void enter_ring(struct lane *lane, struct flow *flow)
{
    bool may_run = flow == &lane->flows[N_FLOWS] || flow->n_running < lane->max_of_flow;
    if (flow->standing != NOWHERE || !flow->first || !may_run)
        return;
    flow->standing = RING;
    flow->next = NULL;
    *lane->ring_end = flow;
    lane->ring_end = &flow->next;
}

/* A job that is larger than the whole room runs if no other large job is running. While flows are
 * aside, no large job may pass them, or they would wait for ever. */
static bool has_room(const struct lane *lane, const struct pl_job *job)
{
    if (!job->n_bytes)
        return true;
    return !lane->aside && (!lane->n_bytes || (lane->n_bytes <= lane->max_bytes &&
                                               job->n_bytes <= lane->max_bytes - lane->n_bytes));
}

static void step_aside(struct lane *lane, struct flow *flow)
{
    flow->standing = ASIDE;
    flow->next = NULL;
    *lane->aside_end = flow;
    lane->aside_end = &flow->next;
}

/* Memory was freed: the flows aside get the next turns. */
static void call_back(struct lane *lane)
{
    if (!lane->aside)
        return;
    for (struct flow *flow = lane->aside; flow; flow = flow->next)
        flow->standing = RING;
    *lane->aside_end = lane->ring;
    if (!lane->ring)
        lane->ring_end = lane->aside_end;
    lane->ring = lane->aside;
    lane->aside = NULL;
    lane->aside_end = &lane->aside;
    pthread_cond_broadcast(&lane->has_work);
}

static void add_job(struct lane *lane, struct pl_job *job)
{
    struct flow *flow = job->flow;
    struct pl_job **link = job->is_begun ? flow->begun_end : flow->last;
    job->next = *link;
    *link = job;
    if (flow->last == link)
        flow->last = &job->next;
    if (job->is_begun)
        flow->begun_end = &job->next;
    lane->n_waiting++;
    enter_ring(lane, flow);
}

/* Removes the job that `link` points to. */
static struct pl_job *unlink_job(struct flow *flow, struct pl_job **link)
{
    struct pl_job *job = *link;
    *link = job->next;
    if (flow->begun_end == &job->next)
        flow->begun_end = link;
    if (flow->last == &job->next)
        flow->last = link;
    return job;
}

static struct pl_job *take_job(struct lane *lane)
{
    struct pl_job *job = NULL;
    while (lane->ring && !job) {
        struct flow *flow = lane->ring;
        lane->ring = flow->next;
        if (!lane->ring)
            lane->ring_end = &lane->ring;
        flow->standing = NOWHERE;
        job = flow->first; /* NULL: all its jobs have been refused in the meantime */
        if (job && !has_room(lane, job)) {
            step_aside(lane, flow);
            job = NULL;
        }
        if (!job)
            continue;
        (void)unlink_job(flow, &flow->first);
        flow->n_running++;
        lane->n_running++;
        lane->n_bytes += job->n_bytes;
        lane->n_waiting--;
        lane->n_run++;
        enter_ring(lane, flow);
    }
    return job;
}

/* --- the end of a job; all with the lock of its lane ------------------------------------------ */

static void open_job(struct pl_letter *letter)
{
    struct pl_job *job = PL_CONTAINER_OF(letter, struct pl_job, letter);
    job->done(job);
}

/* Threads of an abandoned lane may never return, so their letters are not announced to the loop. */
static void send_home(const struct lane *lane, struct pl_job *job)
{
    job->letter.open = open_job;
    if (lane->is_left)
        pl_loop_post(job->home, &job->letter);
    else
        pl_loop_deliver(job->home, &job->letter);
}

static void refuse(const struct lane *lane, struct pl_job *job)
{
    job->is_refused = true;
    send_home(lane, job);
}

static void tell_quiet(struct lane *lane)
{
    if (!lane->n_waiting && !lane->n_running)
        pthread_cond_broadcast(&lane->is_quiet);
}

/* Refuses the flow's jobs that have waited too long, or all of them. */
static void refuse_late_of(struct lane *lane, struct flow *flow, int64_t now_ms, bool is_all)
{
    struct pl_job **link = &flow->first;
    while (*link) {
        struct pl_job *job = *link;
        if (!is_all && (!job->wait_ms || now_ms - job->since_ms < job->wait_ms)) {
            link = &job->next;
            continue;
        }
        lane->n_waiting--;
        lane->n_refused++;
        refuse(lane, unlink_job(flow, link));
    }
}

/* Returns the number of jobs that still wait. */
static size_t refuse_late(struct lane *lane, bool is_all)
{
    int64_t now_ms = pl_clock_ms();
    for (size_t i = 0; lane->n_waiting && i <= N_FLOWS; i++)
        if (lane->flows[i].first)
            refuse_late_of(lane, &lane->flows[i], now_ms, is_all);
    tell_quiet(lane);
    return lane->n_waiting;
}

/* --- threads of a lane ----------------------------------------------------------------------- */

static void destroy(struct pl_workers *workers)
{
    for (size_t i = 0; i < PL_WORK_COUNT; i++) {
        pthread_cond_destroy(&workers->lanes[i].has_work);
        pthread_cond_destroy(&workers->lanes[i].is_quiet);
        pthread_mutex_destroy(&workers->lanes[i].lock);
    }
    pthread_cond_destroy(&workers->is_needed_now);
    pthread_mutex_destroy(&workers->lock);
    pl_mem_free(workers);
}

static void let_go(struct pl_workers *workers)
{
    if (atomic_fetch_sub(&workers->n_holders, 1) == 1)
        destroy(workers);
}

/* NULL: the lane is closing and has no more jobs. Called with the lock held. */
static struct pl_job *await_job(struct lane *lane)
{
    struct pl_job *job;
    lane->n_idle++;
    while (!(job = take_job(lane)) && !(lane->is_closing && !lane->n_waiting))
        pthread_cond_wait(&lane->has_work, &lane->lock);
    lane->n_idle--;
    return job;
}

/* Called with the lock held, because the thread that destroys the workers, and then the loops,
 * waits for it. */
static void end_job(struct lane *lane, struct flow *flow, struct pl_job *job)
{
    size_t n_bytes = job->n_bytes; /* the job may be gone once it is sent home */
    if (lane->is_left && lane->is_closing)
        job->abandon(job);
    else
        send_home(lane, job);
    flow->n_running--;
    lane->n_running--;
    assert(lane->n_bytes >= n_bytes);
    lane->n_bytes -= n_bytes;
    enter_ring(lane, flow);
    if (n_bytes)
        call_back(lane);
    /* Threads that wait for the last job may end, or one may run the next job of this flow. */
    if (lane->is_closing)
        pthread_cond_broadcast(&lane->has_work);
    tell_quiet(lane);
}

static bool start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, before; /* blocked: signals are for the loops */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failure;
}

/* --- the watch ------------------------------------------------------------------------------- */

static void *watch(void *arg)
{
    struct pl_workers *workers = arg;
    pthread_mutex_lock(&workers->lock);
    while (!workers->is_closing) {
        if (!workers->is_watch_needed) {
            pthread_cond_wait(&workers->is_needed_now, &workers->lock);
            continue;
        }
        workers->is_watch_needed = false;
        pthread_mutex_unlock(&workers->lock);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
        size_t n_left = 0;
        for (size_t i = 0; i < PL_WORK_COUNT; i++) {
            pthread_mutex_lock(&workers->lanes[i].lock);
            n_left += refuse_late(&workers->lanes[i], false);
            pthread_mutex_unlock(&workers->lanes[i].lock);
        }
        pthread_mutex_lock(&workers->lock);
        workers->is_watch_needed = workers->is_watch_needed || n_left;
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* Called when jobs wait. */
static void call_watch(struct pl_workers *workers)
{
    if (workers->is_watch_needed)
        return;
    pthread_mutex_lock(&workers->lock);
    if (!workers->has_watch)
        workers->has_watch = start(&workers->watch, watch, workers);
    if (!workers->is_watch_needed) {
        workers->is_watch_needed = true;
        pthread_cond_signal(&workers->is_needed_now);
    }
    pthread_mutex_unlock(&workers->lock);
}

/* --- more threads of a lane ------------------------------------------------------------------- */

static void *work(void *arg)
{
    struct lane *lane = arg;
    pthread_mutex_lock(&lane->lock);
    for (struct pl_job *job; (job = await_job(lane));) {
        struct flow *flow = job->flow;
        /* A job that this thread could have taken may now have to wait. */
        bool do_others_wait = lane->n_waiting && !lane->is_closing;
        pthread_mutex_unlock(&lane->lock);
        if (do_others_wait)
            call_watch(lane->workers);
        job->run(job);
        pthread_mutex_lock(&lane->lock);
        end_job(lane, flow, job);
    }
    pthread_mutex_unlock(&lane->lock);
    if (lane->is_left)
        let_go(lane->workers);
    return NULL;
}

/* Starts one more thread if all are busy and the limit allows it. Called with the lock held. */
static bool start_thread(struct lane *lane)
{
    if (lane->n_idle >= lane->n_waiting || lane->n_threads == lane->max_threads || !lane->ring)
        return false;
    if (lane->is_left)
        atomic_fetch_add(&lane->workers->n_holders, 1);
    bool is_started = start(&lane->threads[lane->n_threads], work, lane);
    if (is_started)
        lane->n_threads++;
    else if (lane->is_left)
        atomic_fetch_sub(&lane->workers->n_holders, 1);
    return is_started;
}

/* --- for everybody --------------------------------------------------------------------------- */

size_t pl_work_threads(enum pl_work lane, size_t n)
{
    return kinds[lane].n_threads ? kinds[lane].n_threads : n;
}

static void init_lane(struct pl_workers *workers, enum pl_work kind, size_t n)
{
    struct lane *lane = &workers->lanes[kind];
    lane->workers = workers;
    lane->name = kinds[kind].name;
    lane->is_left = kind == PL_WORK_LOOKUP;
    lane->max_threads = pl_work_threads(kind, n);
    lane->max_of_flow = kinds[kind].n_of_owner ? kinds[kind].n_of_owner : lane->max_threads - 1;
    if (!lane->max_of_flow)
        lane->max_of_flow = 1;
    lane->ring_end = &lane->ring;
    lane->aside_end = &lane->aside;
    lane->max_bytes = lane->max_threads * PL_WORK_ROOM_BYTES;
    for (size_t i = 0; i <= N_FLOWS; i++)
        lane->flows[i].last = lane->flows[i].begun_end = &lane->flows[i].first;
    pthread_mutex_init(&lane->lock, NULL); /* without attributes none of these can fail */
    pthread_cond_init(&lane->has_work, NULL);
    pthread_cond_init(&lane->is_quiet, NULL);
}

enum pl_status pl_workers_create(size_t n, struct pl_workers **ret_workers, struct pl_error *err)
{
    if (n == 0 || n > MAX_THREADS)
        return pl_fail(err, PL_USAGE, "%zu is not a valid number of worker threads; use 1 to %d", n,
                       MAX_THREADS);
    struct pl_workers *workers = pl_mem_alloc(1, sizeof *workers);
    if (!workers)
        return pl_fail(err, PL_NOMEM, "out of memory for %zu worker threads", n);
    memset(workers, 0, sizeof *workers);
    workers->n_holders = 1;
    for (size_t i = 0; i < PL_WORK_COUNT; i++)
        init_lane(workers, (enum pl_work)i, n);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->is_needed_now, NULL);
    *ret_workers = workers;
    return PL_OK;
}

/* After this, running jobs of an abandoned lane no longer come home. */
static void close_lane(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->is_closing = true;
    if (lane->is_left)
        (void)refuse_late(lane, true);
    pthread_cond_broadcast(&lane->has_work);
    pthread_mutex_unlock(&lane->lock);
}

void pl_workers_finish(struct pl_workers *workers)
{
    for (size_t i = 0; i < PL_WORK_COUNT; i++) {
        struct lane *lane = &workers->lanes[i];
        if (lane->is_left) {
            close_lane(lane);
            continue;
        }
        pthread_mutex_lock(&lane->lock);
        while (lane->n_waiting || lane->n_running)
            pthread_cond_wait(&lane->is_quiet, &lane->lock);
        pthread_mutex_unlock(&lane->lock);
    }
}

static void end_threads(struct lane *lane)
{
    for (size_t i = 0; i < lane->n_threads; i++) {
        if (lane->is_left)
            pthread_detach(lane->threads[i]);
        else
            pthread_join(lane->threads[i], NULL);
    }
}

void pl_workers_destroy(struct pl_workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->is_closing = true;
    pthread_cond_signal(&workers->is_needed_now);
    pthread_mutex_unlock(&workers->lock);
    if (workers->has_watch)
        pthread_join(workers->watch, NULL);
    for (size_t i = 0; i < PL_WORK_COUNT; i++) {
        close_lane(&workers->lanes[i]);
        end_threads(&workers->lanes[i]);
    }
    let_go(workers);
}

void pl_workers_submit(struct pl_workers *workers, struct pl_loop *home, struct pl_job *job)
{
    struct lane *lane = &workers->lanes[job->lane];
    /* No job waits for ever (workers.h). */
    assert(job->is_begun ? !job->wait_ms : job->wait_ms > 0);
    job->home = home;
    job->is_refused = false;
    job->since_ms = pl_clock_ms();
    if (!lane->is_left)
        pl_loop_expect(home);
    pthread_mutex_lock(&lane->lock);
    if (lane->is_closing) {
        refuse(lane, job);
        pthread_mutex_unlock(&lane->lock);
        return;
    }
    struct flow *flow = job->flow = choose_flow(lane, job->owner);
    add_job(lane, job);
    bool is_taken = start_thread(lane) || lane->n_waiting <= lane->n_idle;
    bool is_alone = lane->n_threads == 0; /* if so, the queue was empty before */
    bool must_wait = job->wait_ms && (!is_taken || flow->standing != RING || job->n_bytes);
    if (is_alone)
        job = take_job(lane);
    pthread_mutex_unlock(&lane->lock);
    if (!is_alone) /* after unlocking, or the worker would wake only to wait for the lock */
        pthread_cond_signal(&lane->has_work);
    if (is_alone) {
        job->run(job);
        pthread_mutex_lock(&lane->lock);
        end_job(lane, flow, job);
        pthread_mutex_unlock(&lane->lock);
    } else if (must_wait) {
        call_watch(workers);
    }
}

/* The submission time of the oldest waiting job; `now_ms` if there is none. */
static int64_t oldest_of(const struct flow *flow, int64_t now_ms)
{
    const struct pl_job *begun = flow->first, *other = *flow->begun_end;
    int64_t since_ms = begun && begun->since_ms < now_ms ? begun->since_ms : now_ms;
    return other && other->since_ms < since_ms ? other->since_ms : since_ms;
}

void pl_workers_look(struct pl_workers *workers, enum pl_work kind, struct pl_work_state *ret_state)
{
    struct lane *lane = &workers->lanes[kind];
    int64_t now_ms = pl_clock_ms(), since_ms = now_ms;
    pthread_mutex_lock(&lane->lock);
    for (size_t i = 0; lane->n_waiting && i <= N_FLOWS; i++)
        since_ms = oldest_of(&lane->flows[i], since_ms);
    *ret_state = (struct pl_work_state){
        .name = lane->name,
        .n_waiting = lane->n_waiting,
        .oldest_ms = now_ms - since_ms,
        .n_run = lane->n_run,
        .n_refused = lane->n_refused,
    };
    pthread_mutex_unlock(&lane->lock);
}

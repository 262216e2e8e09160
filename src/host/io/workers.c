/* A pool of threads for work that blocks: one queue, one lock, and threads that start when a job
 * would otherwise wait. Jobs come home by letter. */
#include "io/loop.h"

#include "base/mem.h"
#include "base/table.h"

#include <pthread.h>
#include <signal.h>

struct pl_workers {
    pthread_mutex_t lock; /* holds everything below */
    pthread_cond_t has_work;
    struct pl_job *first, **last;
    size_t n_waiting; /* jobs in the queue */
    size_t n_idle;    /* threads that wait for one */
    bool is_closing;
    size_t n_threads, max_threads;
    pthread_t threads[];
};

static void open_job(struct pl_letter *letter)
{
    struct pl_job *job = PL_CONTAINER_OF(letter, struct pl_job, letter);
    job->done(job);
}

static void do_job(struct pl_job *job)
{
    job->run(job);
    job->letter.open = open_job;
    pl_loop_post(job->home, &job->letter);
}

/* NULL: the pool closes, and nothing is left to do. Called with the lock held. */
static struct pl_job *await_job(struct pl_workers *workers)
{
    workers->n_idle++;
    while (!workers->first && !workers->is_closing)
        pthread_cond_wait(&workers->has_work, &workers->lock);
    workers->n_idle--;
    struct pl_job *job = workers->first;
    if (job) {
        workers->first = job->next;
        if (!workers->first)
            workers->last = &workers->first;
        workers->n_waiting--;
    }
    return job;
}

static void *work(void *arg)
{
    struct pl_workers *workers = arg;
    for (;;) {
        pthread_mutex_lock(&workers->lock);
        struct pl_job *job = await_job(workers);
        pthread_mutex_unlock(&workers->lock);
        if (!job)
            return NULL;
        do_job(job);
    }
}

enum pl_status pl_workers_create(size_t n, struct pl_workers **ret_workers, struct pl_error *err)
{
    size_t n_bytes;
    if (n == 0 || __builtin_mul_overflow(n, sizeof(pthread_t), &n_bytes) ||
        __builtin_add_overflow(n_bytes, sizeof(struct pl_workers), &n_bytes))
        return pl_fail(err, PL_USAGE, "%zu is no number of worker threads; ask for 1 or more", n);
    struct pl_workers *workers = pl_mem_alloc(1, n_bytes);
    if (!workers)
        return pl_fail(err, PL_NOMEM, "out of memory for %zu worker threads", n);
    *workers = (struct pl_workers){.max_threads = n, .last = &workers->first};
    pthread_mutex_init(&workers->lock, NULL); /* neither can fail without attributes */
    pthread_cond_init(&workers->has_work, NULL);
    *ret_workers = workers;
    return PL_OK;
}

void pl_workers_destroy(struct pl_workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->is_closing = true;
    pthread_cond_broadcast(&workers->has_work);
    pthread_mutex_unlock(&workers->lock);
    for (size_t i = 0; i < workers->n_threads; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->has_work);
    pthread_mutex_destroy(&workers->lock);
    pl_mem_free(workers);
}

/* One more thread, where all are taken and there may be more; signals are for the loops. Called
 * with the lock held. */
static void start_thread(struct pl_workers *workers)
{
    if (workers->n_idle >= workers->n_waiting || workers->n_threads == workers->max_threads)
        return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&workers->threads[workers->n_threads], NULL, work, workers) == 0)
        workers->n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pl_workers_submit(struct pl_workers *workers, struct pl_loop *home, struct pl_job *job)
{
    job->home = home;
    job->next = NULL;
    pthread_mutex_lock(&workers->lock);
    struct pl_job **place = workers->last;
    *place = job;
    workers->last = &job->next;
    workers->n_waiting++;
    start_thread(workers);
    bool is_alone = workers->n_threads == 0;
    if (is_alone) { /* then the queue was empty too */
        workers->first = NULL;
        workers->last = &workers->first;
        workers->n_waiting = 0;
    } else {
        pthread_cond_signal(&workers->has_work);
    }
    pthread_mutex_unlock(&workers->lock);
    if (is_alone)
        do_job(job);
}

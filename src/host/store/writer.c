/* The writer thread. It takes all waiting batches, commits them together and posts the result to
 * each submitter. The next group collects during a commit: an idle store commits a single batch at
 * once, a busy one all that came during one fsync.
 *
 * Sessions that write repeatedly all return a moment after their commit, and the first one would
 * form a group of its own. So a group that is smaller than the last one waits for the others, for a
 * part of the time that the last one took. A single batch never waits.
 *
 *     submit ──> queue ──(take all)──> group ──> driver's commit ──> letters ──> tidy
 *
 * After a failed fsync nothing can be guaranteed any more: the failure is kept, and reported once
 * to the service and then to every batch. */
#include "store/store_int.h"

#include "base/table.h"
#include "io/clock.h"

#include <errno.h>
#include <time.h>

/* The wait as a part of the last group's time, and its maximum. */
enum { COMPANY_PART = 2, COMPANY_MAX_NS = 1000000 };

static void settle(struct pl_store *store, struct pl_batch *batch)
{
    if (batch->home) {
        pl_loop_deliver(batch->home, &batch->letter);
        return;
    }
    struct pl_store_writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    batch->is_done = true;
    pthread_cond_broadcast(&writer->is_settled);
    pthread_mutex_unlock(&writer->lock);
}

static void close_group(struct pl_store_writer *writer, size_t n)
{
    pthread_mutex_lock(&writer->lock);
    writer->n_open -= n;
    if (!writer->n_open)
        pthread_cond_broadcast(&writer->is_settled);
    pthread_mutex_unlock(&writer->lock);
}

void pl_store_flush(struct pl_store *store)
{
    struct pl_store_writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    while (writer->n_open)
        pthread_cond_wait(&writer->is_settled, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
}

/* Moves batches from the list to the group until it is full; returns their number. */
static size_t take_group(struct pl_store_writer *writer, struct pl_batch **list)
{
    size_t n = 0, n_bytes = 0;
    while (*list && n < PL_GROUP_MAX && n_bytes < PL_GROUP_BYTES) {
        struct pl_batch *batch = *list;
        *list = batch->next;
        n_bytes += batch->n_bytes;
        writer->group[n++] = batch;
    }
    return n;
}

void pl_store_writer_halt(struct pl_store *store, const struct pl_error *err)
{
    struct pl_store_writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    bool is_first = writer->fatal.status == PL_OK;
    if (is_first)
        writer->fatal = *err;
    pthread_mutex_unlock(&writer->lock);
    if (is_first && store->on_fatal)
        store->on_fatal(store->ctx, err);
}

/* Returns why no commit is possible now. PL_OK: a commit begins, and end_commit must follow. */
static struct pl_error begin_commit(struct pl_store_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    struct pl_error refusal = writer->fatal;
    if (refusal.status == PL_OK && writer->is_fenced)
        (void)pl_fail(&refusal, PL_CONFLICT, "this node was taken over by another one");
    writer->is_committing = refusal.status == PL_OK;
    pthread_mutex_unlock(&writer->lock);
    atomic_store_explicit(&writer->busy_since_ms, refusal.status == PL_OK ? pl_clock_ms() : 0,
                          memory_order_relaxed);
    return refusal;
}

static void end_commit(struct pl_store_writer *writer)
{
    atomic_store_explicit(&writer->busy_since_ms, 0, memory_order_relaxed);
    pthread_mutex_lock(&writer->lock);
    writer->is_committing = false;
    pthread_cond_broadcast(&writer->is_settled);
    pthread_mutex_unlock(&writer->lock);
}

/* Batches are in the order of submission, so the oldest are first. */
void pl_store_writer_expire(struct pl_store *store, int64_t submitted_before_ms,
                            const struct pl_error *err)
{
    struct pl_store_writer *writer = &store->writer;
    struct pl_batch *list = NULL, **end = &list;
    size_t n = 0;
    pthread_mutex_lock(&writer->lock);
    while (writer->first && writer->first->submitted_ms < submitted_before_ms) {
        *end = writer->first;
        end = &(*end)->next;
        writer->first = writer->first->next;
        n++;
    }
    *end = NULL;
    if (!writer->first)
        writer->end = &writer->first;
    writer->n_waiting -= n;
    pthread_mutex_unlock(&writer->lock);
    while (list) {
        struct pl_batch *batch = list;
        list = batch->next;
        if (batch->status == PL_OK)
            batch->status = pl_fail(&batch->err, PL_IO, "%s", err->message);
        settle(store, batch);
    }
    close_group(writer, n);
}

/* A fenced writer stores nothing until the service enters again (store.h). */
static bool note_fence(struct pl_store *store, enum pl_status status)
{
    struct pl_store_writer *writer = &store->writer;
    if (status != PL_CONFLICT || !store->on_fenced)
        return false;
    pthread_mutex_lock(&writer->lock);
    bool is_first = !writer->is_fenced;
    writer->is_fenced = true;
    pthread_mutex_unlock(&writer->lock);
    if (is_first)
        store->on_fenced(store->ctx);
    return true;
}

enum pl_status pl_store_enter_again(struct pl_store *store, struct pl_error *err)
{
    struct pl_store_writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    writer->is_fenced = true; /* the node may have found out first */
    while (writer->is_committing)
        pthread_cond_wait(&writer->is_settled, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
    /* Now the writer's thread does not use its connection. */
    enum pl_status status = store->ops->ready(writer->db, err);
    if (status != PL_OK)
        return status;
    pthread_mutex_lock(&writer->lock);
    writer->is_fenced = false;
    pthread_mutex_unlock(&writer->lock);
    return PL_OK;
}

int64_t pl_store_busy_since_ms(struct pl_store *store)
{
    return atomic_load_explicit(&store->writer.busy_since_ms, memory_order_relaxed);
}

static enum pl_status commit_good(struct pl_store *store, struct pl_batch **good, size_t n_good,
                                  struct pl_error *err)
{
    struct pl_db *db = store->writer.db;
    if (db)
        return store->ops->commit(db, good, n_good, err);
    enum pl_status status = pl_pool_take(store, &db, err);
    if (status != PL_OK)
        return status;
    status = store->ops->commit(db, good, n_good, err);
    pl_pool_give(store, db);
    return status;
}

static void commit_group(struct pl_store *store, size_t n)
{
    struct pl_store_writer *writer = &store->writer;
    struct pl_batch *good[PL_GROUP_MAX];
    size_t n_good = 0;
    for (size_t i = 0; i < n; i++)
        if (writer->group[i]->status == PL_OK)
            good[n_good++] = writer->group[i];
    struct pl_error err = n_good ? begin_commit(writer) : (struct pl_error){0};
    enum pl_status status = err.status;
    bool is_fenced = status == PL_CONFLICT;
    if (n_good && status == PL_OK) {
        status = commit_good(store, good, n_good, &err);
        end_commit(writer);
        is_fenced = note_fence(store, status);
        if (status != PL_OK && !is_fenced)
            pl_store_writer_halt(store, &err);
    }
    for (size_t i = 0; status != PL_OK && i < n_good; i++)
        good[i]->status =
            is_fenced
                ? pl_fail(&good[i]->err, PL_IO, "%s", err.message)
                : pl_fail(&good[i]->err, PL_IO,
                          "the store has stopped and stores nothing more: %.400s", err.message);
    for (size_t i = 0; i < n; i++)
        settle(store, writer->group[i]);
    close_group(writer, n);
    if (n_good && status == PL_OK && writer->db && store->ops->tidy &&
        store->ops->tidy(writer->db, &err) != PL_OK)
        pl_store_writer_halt(store, &err);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Called with the lock held. Waits until as many batches wait as were committed last, or the time
 * is over. */
static void wait_for_company(struct pl_store_writer *writer)
{
    int64_t most_ns = writer->last_ns / COMPANY_PART;
    int64_t until_ns = now_ns() + (most_ns < COMPANY_MAX_NS ? most_ns : COMPANY_MAX_NS);
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    writer->n_wanted = writer->n_last;
    while (writer->n_waiting < writer->n_wanted && !writer->is_closing)
        if (pthread_cond_timedwait(&writer->has_work, &writer->lock, &until) == ETIMEDOUT)
            break;
    writer->n_wanted = 1;
}

/* Takes the waiting batches that fit into a group; 0: the store is closing. The rest stays in the
 * queue, where it can still be refused if the database is away. */
static size_t take_some(struct pl_store_writer *writer)
{
    size_t n = 0;
    pthread_mutex_lock(&writer->lock);
    while (!n && (writer->first || !writer->is_closing)) {
        while (!writer->first && !writer->is_closing)
            pthread_cond_wait(&writer->has_work, &writer->lock);
        if (writer->n_waiting < writer->n_last)
            wait_for_company(writer);
        n = take_group(writer, &writer->first);
    }
    if (!writer->first)
        writer->end = &writer->first;
    writer->n_waiting -= n;
    writer->n_last = n;
    pthread_mutex_unlock(&writer->lock);
    return n;
}

const int64_t pl_store_bounds_us[PL_STORE_N_BOUNDS] = {250,   500,   1000,   2500,   5000,
                                                       10000, 50000, 250000, 1000000};

static void count_commit(struct pl_store_writer *writer, size_t n, int64_t us)
{
    size_t bucket = 0;
    while (bucket < PL_STORE_N_BOUNDS && us > pl_store_bounds_us[bucket])
        bucket++;
    atomic_fetch_add_explicit(&writer->n_within[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&writer->n_commits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&writer->n_batches, (int64_t)n, memory_order_relaxed);
    atomic_fetch_add_explicit(&writer->commit_us, us, memory_order_relaxed);
}

void pl_store_look(struct pl_store *store, struct pl_store_state *ret_state)
{
    struct pl_store_writer *writer = &store->writer;
    struct pl_store_state state = {0};
    pthread_mutex_lock(&writer->lock);
    state.n_waiting = writer->n_waiting;
    if (writer->first)
        state.oldest_ms = pl_clock_ms() - writer->first->submitted_ms;
    pthread_mutex_unlock(&writer->lock);
    state.n_commits = atomic_load_explicit(&writer->n_commits, memory_order_relaxed);
    state.n_batches = atomic_load_explicit(&writer->n_batches, memory_order_relaxed);
    state.commit_us = atomic_load_explicit(&writer->commit_us, memory_order_relaxed);
    for (size_t i = 0; i <= PL_STORE_N_BOUNDS; i++)
        state.n_within[i] = atomic_load_explicit(&writer->n_within[i], memory_order_relaxed);
    *ret_state = state;
}

static void *write_all(void *arg)
{
    struct pl_store *store = arg;
    struct pl_store_writer *writer = &store->writer;
    for (size_t n; (n = take_some(writer));) {
        int64_t start_ns = now_ns();
        commit_group(store, n);
        writer->last_ns = now_ns() - start_ns;
        count_commit(writer, n, writer->last_ns / 1000);
    }
    return NULL;
}

static void open_letter(struct pl_letter *letter)
{
    struct pl_batch *batch = PL_CONTAINER_OF(letter, struct pl_batch, letter);
    batch->done(batch->ctx, batch->status, &batch->err);
    pl_batch_destroy(batch);
}

static void enqueue(struct pl_store *store, struct pl_batch *batch)
{
    struct pl_store_writer *writer = &store->writer;
    batch->next = NULL;
    batch->submitted_ms = pl_clock_ms();
    pthread_mutex_lock(&writer->lock);
    *writer->end = batch;
    writer->end = &batch->next;
    writer->n_open++;
    bool is_enough = ++writer->n_waiting == writer->n_wanted;
    pthread_mutex_unlock(&writer->lock);
    if (is_enough) /* after unlocking, or the writer would wake only to wait for the lock */
        pthread_cond_signal(&writer->has_work);
}

void pl_store_submit(struct pl_store *store, struct pl_loop *home, struct pl_batch *batch,
                     pl_batch_done_fn *done, void *ctx)
{
    batch->home = home;
    batch->done = done;
    batch->ctx = ctx;
    batch->letter.open = open_letter;
    pl_loop_expect(home);
    enqueue(store, batch);
}

enum pl_status pl_store_commit(struct pl_store *store, struct pl_batch *batch, struct pl_error *err)
{
    struct pl_store_writer *writer = &store->writer;
    enqueue(store, batch);
    pthread_mutex_lock(&writer->lock);
    while (!batch->is_done)
        pthread_cond_wait(&writer->is_settled, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
    enum pl_status status = batch->status;
    if (status != PL_OK && err)
        *err = batch->err;
    pl_batch_destroy(batch);
    return status;
}

enum pl_status pl_store_writer_start(struct pl_store *store, struct pl_error *err)
{
    struct pl_store_writer *writer = &store->writer;
    int code = pthread_create(&writer->thread, NULL, write_all, store);
    if (code)
        return pl_fail(err, PL_NOMEM, "the writer's thread cannot be started: %s", strerror(code));
    writer->is_running = true;
    return PL_OK;
}

void pl_store_writer_stop(struct pl_store *store)
{
    struct pl_store_writer *writer = &store->writer;
    if (!writer->is_running)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->is_closing = true;
    pthread_cond_signal(&writer->has_work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
}

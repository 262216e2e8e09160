/* Readers: a few connections, opened on demand, shared by the workers. */
#include "store/store_int.h"

#include <errno.h>
#include <time.h>

/* Called with the lock held. Waits until a connection is idle or may be opened. False: a remote
 * database did not provide one in time. */
static bool wait_for_idle(struct pl_store *store, struct pl_pool *pool)
{
    struct timespec until;
    int64_t answer_ms = store->place.answer_ms;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += answer_ms / 1000 + 1;
    while (!pool->n_idle && pool->n_open == pool->max) {
        if (!store->ops->probe)
            pthread_cond_wait(&pool->has_idle, &pool->lock);
        else if (pthread_cond_timedwait(&pool->has_idle, &pool->lock, &until) == ETIMEDOUT)
            return false;
    }
    return true;
}

static enum pl_status fail_away(struct pl_error *err)
{
    return pl_fail(err, PL_IO, "the database does not answer at the moment: try again");
}

enum pl_status pl_pool_take(struct pl_store *store, struct pl_db **ret_db, struct pl_error *err)
{
    struct pl_pool *pool = &store->pool;
    if (pl_store_is_away(store))
        return fail_away(err);
    pthread_mutex_lock(&pool->lock);
    if (!wait_for_idle(store, pool)) {
        pthread_mutex_unlock(&pool->lock);
        return fail_away(err);
    }
    if (pool->n_idle) {
        *ret_db = pool->idle[--pool->n_idle];
        pthread_mutex_unlock(&pool->lock);
        return PL_OK;
    }
    pool->n_open++;
    pthread_mutex_unlock(&pool->lock);
    enum pl_status status = store->ops->open(&store->place, PL_DB_READER, ret_db, err);
    if (status == PL_OK)
        return PL_OK;
    pthread_mutex_lock(&pool->lock);
    pool->n_open--;
    pthread_cond_signal(&pool->has_idle);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

void pl_pool_give(struct pl_store *store, struct pl_db *db)
{
    struct pl_pool *pool = &store->pool;
    pthread_mutex_lock(&pool->lock);
    pool->idle[pool->n_idle++] = db;
    pthread_cond_signal(&pool->has_idle);
    pthread_mutex_unlock(&pool->lock);
}

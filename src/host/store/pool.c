/* Readers: a few connections, opened when they are needed, handed from worker to worker. */
#include "store/store_int.h"

enum pl_status pl_pool_take(struct pl_store *store, struct pl_db **ret_db, struct pl_error *err)
{
    struct pl_pool *pool = &store->pool;
    pthread_mutex_lock(&pool->lock);
    while (!pool->n_idle && pool->n_open == pool->max)
        pthread_cond_wait(&pool->has_idle, &pool->lock);
    if (pool->n_idle) {
        *ret_db = pool->idle[--pool->n_idle];
        pthread_mutex_unlock(&pool->lock);
        return PL_OK;
    }
    pool->n_open++;
    pthread_mutex_unlock(&pool->lock);
    enum pl_status status = store->ops->open(store->url, PL_DB_READER, ret_db, err);
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

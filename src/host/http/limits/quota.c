/* A table of shares by owner, under a lock. An owner without a share has no entry. */
#include "http/limits/quota.h"

#include "base/mem.h"
#include "base/table.h"

#include <assert.h>
#include <pthread.h>

/* The share of one owner; exists while it is not 0. */
struct pl_share {
    struct pl_table_link link; /* key: the owner, after this struct */
    int64_t n;
};

struct pl_quota {
    pthread_mutex_t lock;
    struct pl_table shares; /* under the lock, like the sum */
    int64_t n_all;
};

struct pl_quota *pl_quota_create(void)
{
    struct pl_quota *quota = pl_mem_alloc(1, sizeof *quota);
    if (!quota)
        return NULL;
    *quota = (struct pl_quota){0};
    pthread_mutex_init(&quota->lock, NULL);
    return quota;
}

void pl_quota_destroy(struct pl_quota *quota)
{
    if (!quota)
        return;
    for (struct pl_table_link *link = pl_table_next(&quota->shares, NULL), *next; link;
         link = next) {
        next = pl_table_next(&quota->shares, link);
        pl_mem_free(PL_CONTAINER_OF(link, struct pl_share, link));
    }
    pl_table_deinit(&quota->shares);
    pthread_mutex_destroy(&quota->lock);
    pl_mem_free(quota);
}

static struct pl_share *find(const struct pl_quota *quota, struct pl_str owner)
{
    struct pl_table_link *link = pl_table_get(&quota->shares, owner);
    return link ? PL_CONTAINER_OF(link, struct pl_share, link) : NULL;
}

static struct pl_share *make(struct pl_quota *quota, struct pl_str owner)
{
    struct pl_share *share = pl_mem_alloc(1, sizeof *share + owner.len);
    if (!share)
        return NULL;
    *share = (struct pl_share){0};
    memcpy(share + 1, owner.ptr, owner.len);
    share->link.key = (struct pl_str){(const char *)(share + 1), owner.len};
    if (pl_table_put(&quota->shares, &share->link))
        return share;
    pl_mem_free(share);
    return NULL;
}

static enum pl_taking judge(const struct pl_quota *quota, const struct pl_share *share, int64_t n,
                            struct pl_quota_limits limits)
{
    if (n > limits.own - (share ? share->n : 0))
        return PL_TAKING_OVER_OWN;
    return n > limits.all - quota->n_all ? PL_TAKING_OVER_ALL : PL_TAKING_DONE;
}

enum pl_taking pl_quota_take(struct pl_quota *quota, struct pl_hold *hold, struct pl_str owner,
                             int64_t n, struct pl_quota_limits limits)
{
    if (n == 0)
        return PL_TAKING_DONE;
    pthread_mutex_lock(&quota->lock);
    struct pl_share *share = hold->share ? hold->share : find(quota, owner);
    enum pl_taking taking = judge(quota, share, n, limits);
    if (taking == PL_TAKING_DONE && !share && !(share = make(quota, owner)))
        taking = PL_TAKING_NO_MEMORY;
    if (taking == PL_TAKING_DONE) {
        share->n += n;
        quota->n_all += n;
        hold->share = share;
        hold->n += n;
    }
    pthread_mutex_unlock(&quota->lock);
    return taking;
}

enum pl_taking pl_quota_ask(struct pl_quota *quota, struct pl_str owner, int64_t n,
                            struct pl_quota_limits limits)
{
    pthread_mutex_lock(&quota->lock);
    enum pl_taking taking = judge(quota, find(quota, owner), n, limits);
    pthread_mutex_unlock(&quota->lock);
    return taking;
}

void pl_quota_give(struct pl_quota *quota, struct pl_hold *hold, int64_t n)
{
    struct pl_share *over = NULL;
    assert(n <= hold->n);
    if (n == 0)
        return;
    pthread_mutex_lock(&quota->lock);
    hold->share->n -= n;
    quota->n_all -= n;
    if (hold->share->n == 0) {
        over = hold->share;
        pl_table_remove(&quota->shares, &over->link);
    }
    pthread_mutex_unlock(&quota->lock);
    hold->n -= n;
    if (hold->n == 0)
        hold->share = NULL;
    pl_mem_free(over);
}

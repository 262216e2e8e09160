#include "http/limits/body_memory.h"

#include "shard/setup.h"

#include <stdio.h>

static int64_t budget_of(const struct pl_shard *shard)
{
    return (int64_t)shard->setup->config.body_memory_mib << 20;
}

size_t pl_body_memory_most(const struct pl_shard *shard)
{
    return (size_t)budget_of(shard) / 4;
}

struct pl_body_owner pl_body_owner(struct pl_str user_id, const struct pl_conn *conn)
{
    struct pl_body_owner owner = {0};
    struct pl_network network = {0};
    if (!user_id.len && conn)
        network = pl_conn_network(conn);
    struct pl_str who =
        user_id.len ? user_id : (struct pl_str){(const char *)network.bytes, network.n};
    owner.text[0] = user_id.len ? 'u' : 'a';
    owner.n = 1 + (who.len < sizeof owner.text - 1 ? who.len : sizeof owner.text - 1);
    if (who.len)
        memcpy(owner.text + 1, who.ptr, owner.n - 1);
    return owner;
}

/* Small bodies may use the reserve of the budget and of the owner. */
static struct pl_quota_limits limits_of(const struct pl_shard *shard, size_t n_body)
{
    int64_t all = budget_of(shard), own = (int64_t)pl_body_memory_most(shard);
    if (n_body <= PL_BODY_SMALL_BYTES)
        return (struct pl_quota_limits){own + own / 8, all};
    return (struct pl_quota_limits){own, all - all / 8};
}

enum pl_taking pl_body_memory_take(struct pl_shard *shard, struct pl_hold *hold,
                                   const struct pl_body_owner *owner, size_t n, size_t n_body)
{
    enum pl_taking taking =
        pl_quota_take(shard->server->bodies, hold, (struct pl_str){owner->text, owner->n},
                      (int64_t)n, limits_of(shard, n_body));
    if (taking == PL_TAKING_DONE)
        pl_metric_add(&shard->metrics, PL_METRIC_body_bytes, (int64_t)n);
    return taking;
}

enum pl_taking pl_body_memory_keep(struct pl_shard *shard, struct pl_hold *hold,
                                   const struct pl_body_owner *owner, size_t n, size_t n_request,
                                   bool must_go_on)
{
    int64_t all = budget_of(shard), alone = (int64_t)n_request;
    struct pl_quota_limits limits = {alone > all / 2 ? alone : all / 2,
                                     alone > 2 * all ? alone : 2 * all};
    if (must_go_on)
        limits = (struct pl_quota_limits){INT64_MAX, INT64_MAX};
    enum pl_taking taking = pl_quota_take(
        shard->server->bodies, hold, (struct pl_str){owner->text, owner->n}, (int64_t)n, limits);
    if (taking == PL_TAKING_DONE)
        pl_metric_add(&shard->metrics, PL_METRIC_body_bytes, (int64_t)n);
    return taking;
}

enum pl_taking pl_body_memory_ask(struct pl_shard *shard, const struct pl_body_owner *owner,
                                  size_t n_body)
{
    return pl_quota_ask(shard->server->bodies, (struct pl_str){owner->text, owner->n},
                        (int64_t)n_body, limits_of(shard, n_body));
}

void pl_body_memory_give(struct pl_shard *shard, struct pl_hold *hold, size_t n)
{
    pl_quota_give(shard->server->bodies, hold, (int64_t)n);
    pl_metric_add(&shard->metrics, PL_METRIC_body_bytes, -(int64_t)n);
}

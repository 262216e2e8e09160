#include "service/burying.h"

#include "io/clock.h"

bool pl_exchange_keeps_deleted(const struct pl_exchange *x)
{
    return x->setup->config.deleted_days > 0;
}

bool pl_exchange_bury(struct pl_exchange *x, struct pl_batch *batch, enum pl_deleted_kind kind,
                      struct pl_str id)
{
    if (!pl_exchange_keeps_deleted(x))
        return false;
    pl_batch_bury(batch, kind, x->caller.user_id, id, pl_clock_unix_ms());
    return true;
}

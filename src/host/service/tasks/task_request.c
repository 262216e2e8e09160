#include "service/tasks/task_request.h"

bool pl_task_find(struct pl_exchange *x, struct pl_task_row *ret_task)
{
    struct pl_error err = {0};
    enum pl_status status = pl_store_task_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                              x->args[0], ret_task, &err);
    if (status == PL_NOT_FOUND || status == PL_INVALID)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "You have no task with this id.");
    else if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

bool pl_task_read_when(struct pl_exchange *x, struct pl_str cron, struct pl_str zone,
                       struct pl_task_when *ret_when)
{
    struct pl_error err = {0};
    enum pl_status status = pl_task_when(x->shard->server->zones, cron, zone, ret_when, &err);
    if (status == PL_INVALID)
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err, NULL);
    else if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

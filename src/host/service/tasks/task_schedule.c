#include "service/tasks/task_schedule.h"

static enum pl_status point(enum pl_status status, const char *pointer, struct pl_error *err)
{
    if (status == PL_NOMEM)
        return status;
    err->status = PL_INVALID;
    pl_error_point(err, "%s", pointer);
    return PL_INVALID;
}

enum pl_status pl_task_when(struct pl_zones *zones, struct pl_str cron, struct pl_str zone,
                            struct pl_task_when *ret_when, struct pl_error *err)
{
    struct pl_task_when when;
    enum pl_status status = pl_cron_parse(cron, &when.cron, err);
    if (status != PL_OK)
        return point(status, "/cron", err);
    status = pl_zones_find(zones, zone, &when.zone, err);
    if (status != PL_OK)
        return point(status, "/timezone", err);
    *ret_when = when;
    return PL_OK;
}

int64_t pl_task_next_ms(const struct pl_task_when *when, int64_t after_s, int64_t expires_ms)
{
    int64_t next_s;
    bool is_due = pl_cron_next(&when->cron, when->zone, after_s, &next_s);
    int64_t next_ms = is_due ? next_s * 1000 : INT64_MAX;
    return expires_ms && expires_ms < next_ms ? expires_ms : next_ms;
}

/* The wall clock was set back, or a server starts and does not know the earlier time. Tasks that
 * were advanced by the later clock would wait for that time again, so each gets its next time by
 * the present clock. An occurrence that ran has its row, so it does not run again; the task only
 * advances. */
#include "service/tasks/scheduler_int.h"

struct late {
    struct late *next;
    struct pl_task_row task;
    int64_t next_ms;
};

static enum pl_status look_at_task(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                                   struct late **first)
{
    struct pl_due_scan *looking = &scheduler->look;
    struct pl_task_when when;
    enum pl_status status =
        pl_task_when(scheduler->server->zones, task->cron, task->timezone, &when, &looking->err);
    if (status == PL_INVALID)
        return PL_OK; /* it is disabled when it is due */
    int64_t next_ms = status == PL_OK
                          ? pl_task_next_ms(&when, looking->rewind_ms / 1000, task->expires_ms)
                          : INT64_MAX;
    if (status != PL_OK || next_ms >= task->next_ms)
        return status;
    struct late *late = pl_arena_zalloc(&looking->arena, 1, sizeof *late);
    if (!late)
        return PL_NOMEM;
    *late = (struct late){*first, *task, next_ms};
    *first = late;
    looking->n_items++;
    return PL_OK;
}

static enum pl_status look_at_user(struct pl_scheduler *scheduler, struct pl_str user_id,
                                   struct late **first)
{
    struct pl_due_scan *looking = &scheduler->look;
    struct pl_task_query query = {.user_id = user_id, .is_enabled = 1, .limit = 100};
    struct pl_task_page page = {.has_more = true};
    enum pl_status status = PL_OK;
    while (status == PL_OK && page.has_more) {
        status = pl_store_task_list(scheduler->server->store, &looking->arena, &query, &page,
                                    &looking->err);
        for (size_t i = 0; status == PL_OK && i < page.n_items; i++)
            status = look_at_task(scheduler, &page.items[i], first);
        if (status == PL_OK && page.n_items)
            query.after_id = page.items[page.n_items - 1].id;
    }
    return status;
}

enum pl_status pl_scheduler_find_late(struct pl_scheduler *scheduler)
{
    struct pl_due_scan *looking = &scheduler->look;
    struct late *first = NULL;
    struct pl_user_row *users;
    size_t n_users = 0, i = 0;
    looking->n_items = 0;
    enum pl_status status = pl_store_user_list(scheduler->server->store, &looking->arena, &users,
                                               &n_users, &looking->err);
    for (size_t u = 0; status == PL_OK && u < n_users; u++)
        status = look_at_user(scheduler, users[u].id, &first);
    if (status == PL_OK && first) {
        looking->items = pl_arena_zalloc(&looking->arena, looking->n_items, sizeof *looking->items);
        status = looking->items ? PL_OK : PL_NOMEM;
    }
    if (status != PL_OK) {
        looking->n_items = 0;
        return status;
    }
    for (struct late *late = first; late; late = late->next)
        looking->items[i++] = (struct pl_due_task){
            .task = late->task, .act = PL_DUE_REWIND, .next_ms = late->next_ms};
    return PL_OK;
}

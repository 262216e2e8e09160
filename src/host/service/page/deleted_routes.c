/* Things that the caller has deleted and can restore: listing, restoring, deleting for good. */
#include "access/meter/meter.h"
#include "http/json_members.h"
#include "live/lists.h"
#include "service/burying.h"
#include "service/page/routes.h"
#include "store/library.h"
#include "store/work.h"
#include "transaction/change.h"

#include <stdio.h>

#define DAY_MS (24 * 60 * 60 * INT64_C(1000))

/* --- the list -------------------------------------------------------------------------------- */

static bool read_rows(struct pl_exchange *x, struct pl_str kind, struct pl_deleted_row **ret_rows,
                      size_t *ret_n)
{
    struct pl_error err = {0};
    enum pl_status status = pl_store_deleted_list(x->shard->server->store, &x->arena,
                                                  x->caller.user_id, kind, ret_rows, ret_n, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

static void write_row(struct pl_json_out *out, const struct pl_deleted_row *row, int64_t kept_ms)
{
    pl_json_out_open(out, '{');
    pl_put_text(out, "kind", pl_str_of(pl_deleted_kind_name(row->kind)));
    pl_put_text(out, "id", row->id);
    pl_put_text(out, "title", row->title);
    pl_put_time(out, "deleted_at", row->deleted_ms);
    pl_put_time(out, "expires_at", row->deleted_ms + kept_ms);
    pl_json_out_close(out, '}');
}

static void list_work(struct pl_exchange *x)
{
    struct pl_deleted_row *rows;
    size_t n;
    int64_t n_days = (int64_t)x->setup->config.deleted_days;
    if (!read_rows(x, pl_target_param(&x->target, "kind"), &rows, &n))
        return;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < n; i++)
        write_row(&out, &rows[i], n_days * DAY_MS);
    pl_json_out_close(&out, ']');
    pl_put_int(&out, "kept_days", n_days);
    pl_json_out_close(&out, '}');
}

static void deleted_list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

/* --- one of them ----------------------------------------------------------------------------- */

/* Finds the one named in the path; false after making a problem. */
static bool find(struct pl_exchange *x, struct pl_deleted_row *ret_row)
{
    struct pl_deleted_row *rows;
    enum pl_deleted_kind kind;
    size_t n = 0, i = 0;
    bool has_kind = pl_deleted_kind_of(x->args[0], &kind);
    if (has_kind && !read_rows(x, pl_str_of(pl_deleted_kind_name(kind)), &rows, &n))
        return false;
    while (i < n && !pl_str_eq(rows[i].id, x->args[0]))
        i++;
    if (i < n)
        *ret_row = rows[i];
    else
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL,
                            "Nothing that you have deleted has this id; it may be gone for good.");
    return i < n;
}

/* Counts the caller's things of this kind. */
static enum pl_status count(struct pl_exchange *x, enum pl_deleted_kind kind, int64_t *ret_n,
                            struct pl_error *err)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_session_query sessions = {
        .user_id = x->caller.user_id, .status = PL_SESSION_STATUS_COUNT, .limit = 1};
    struct pl_task_query tasks = {.user_id = x->caller.user_id, .is_enabled = -1, .limit = 1};
    struct pl_session_page session_page = {0};
    struct pl_task_page task_page = {0};
    enum pl_status status = PL_OK;
    switch (kind) {
    case PL_DELETED_SESSION:
        status = pl_store_session_list(store, &x->arena, &sessions, &session_page, err);
        *ret_n = session_page.total;
        break;
    case PL_DELETED_TASK:
        status = pl_store_task_list(store, &x->arena, &tasks, &task_page, err);
        *ret_n = task_page.total;
        break;
    case PL_DELETED_MEMORY:
        status = pl_store_memory_count(store, x->caller.user_id, ret_n, err);
        break;
    default:
        *ret_n = 0;
    }
    return status;
}

/* Deleting and restoring must not exceed the quota. The batch checks again, because another
 * request may commit first. */
static bool check_quota(struct pl_exchange *x, struct pl_batch *batch, enum pl_deleted_kind kind)
{
    static const enum pl_usage_limit limits[PL_DELETED_KINDS] = {
        [PL_DELETED_SESSION] = PL_LIMIT_SESSIONS, [PL_DELETED_TASK] = PL_LIMIT_TASKS};
    bool has_limit = kind == PL_DELETED_SESSION || kind == PL_DELETED_TASK;
    int64_t most = kind == PL_DELETED_MEMORY ? PL_MEMORY_MAX_PER_USER : 0, n = 0;
    struct pl_error err = {0};
    if (has_limit)
        most = pl_meter_quota(x->shard->server->meter, x->caller.user_id, limits[kind]);
    enum pl_status status = most > 0 ? count(x, kind, &n, &err) : PL_OK;
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (most > 0 && n >= most)
        pl_exchange_problem(
            x, PL_PROBLEM_CONFLICT, NULL,
            "You have as many of this kind (%s) as allowed (%lld); delete some first.",
            pl_deleted_kind_name(kind), (long long)most);
    else if (has_limit)
        pl_batch_check_quota(batch, x->caller.user_id, limits[kind], most);
    return !x->is_problem;
}

static void plan_restore(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_deleted_row *row = ctx;
    if (!find(x, row))
        return;
    pl_batch_raise(batch, row->kind, x->caller.user_id, row->id);
    if (!check_quota(x, batch, row->kind))
        return;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "kind", pl_str_of(pl_deleted_kind_name(row->kind)));
    pl_put_text(&out, "id", row->id);
    pl_json_out_close(&out, '}');
}

/* Lists that clients follow show it again. */
static void tell_restored(struct pl_exchange *x, void *ctx)
{
    const struct pl_deleted_row *row = ctx;
    PL_CLEANUP_BUF struct pl_buf data;
    char event[40];
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "id", row->id);
    pl_put_text(&out, "revision", (struct pl_str){0});
    pl_put_text(&out, "operation", pl_str_of(x->route->id));
    pl_json_out_close(&out, '}');
    snprintf(event, sizeof event, "%s:updated", pl_deleted_kind_name(row->kind));
    if (data.status == PL_OK)
        pl_lists_tell(x->shard->server, x->caller.user_id, event, pl_buf_str(&data));
}

static void deleted_restore(struct pl_exchange *x)
{
    struct pl_deleted_row *row = pl_exchange_room(x, sizeof *row);
    if (row)
        pl_exchange_change(x, plan_restore, tell_restored, row);
}

static void plan_drop(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_deleted_row row;
    (void)ctx;
    if (!find(x, &row))
        return;
    pl_batch_drop_deleted(batch, row.kind, x->caller.user_id, row.id);
    x->status = 204;
}

static void deleted_drop(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_drop, NULL, NULL);
}

static void plan_empty(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    pl_batch_empty_deleted(batch, x->caller.user_id);
    x->status = 204;
}

static void deleted_empty(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_empty, NULL, NULL);
}

static const struct pl_route_param list_params[] = {
    {"kind", "{\"enum\":[\"session\",\"prompt\",\"task\",\"memory\"]}",
     "Only objects of this kind"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_deleted[] = {
    {PL_METHOD_GET, "/api/deleted", 0, PL_FOR_READ, deleted_list, "deleted_list",
     "List your deleted objects that can be restored", "page", NULL, "DeletedList", 200,
     list_params},
    {PL_METHOD_POST, "/api/deleted/{id}/restore", 0, PL_FOR_ALL, deleted_restore, "deleted_restore",
     "Restore a deleted object; a task comes back disabled", "page", NULL, "Restored", 200, NULL},
    {PL_METHOD_DELETE, "/api/deleted/{id}", 0, PL_FOR_ALL, deleted_drop, "deleted_drop",
     "Delete a deleted object permanently", "page", NULL, NULL, 204, NULL},
    {PL_METHOD_DELETE, "/api/deleted", 0, PL_FOR_ALL, deleted_empty, "deleted_empty",
     "Delete all deleted objects permanently", "page", NULL, NULL, 204, NULL},
    {0},
};

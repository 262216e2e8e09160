/* Scheduled tasks and their runs. */
#include "store/store_int.h"
#include "store/work.h"

/* --- writing --------------------------------------------------------------------------------- */

/* The columns that create and change a task, from its id to disabled_reason. */
static void add_task(struct pl_params *params, const struct pl_task_row *task)
{
    pl_params_id(params, task->id, "task_");
    pl_params_id(params, task->user_id, "user_");
    pl_params_text(params, task->title);
    pl_params_text(params, task->prompt);
    pl_params_text(params, task->prompt_ref);
    pl_params_text(params, task->cron);
    pl_params_text(params, task->timezone);
    pl_params_text(params, task->model);
    pl_params_text(params, task->overlap);
    pl_params_int(params, task->enabled);
    pl_params_int(params, task->skip_confirmations);
    pl_params_int(params, task->expires_ms);
    pl_params_int(params, task->next_ms);
    pl_params_int(params, task->last_ms);
    pl_params_text(params, task->disabled_reason);
    pl_params_int(params, task->revision);
}

static void use_blobs(struct pl_batch *batch, const struct pl_task_row *task)
{
    pl_blobs_use(batch, PL_BLOB_OF_TASK, task->id, task->prompt);
    pl_blobs_use(batch, PL_BLOB_OF_TASK, task->id, task->prompt_ref);
}

void pl_batch_create_task(struct pl_batch *batch, const struct pl_task_row *task)
{
    struct pl_params params = {.err = &batch->err};
    add_task(&params, task);
    pl_params_int(&params, task->created_ms);
    pl_params_int(&params, task->updated_ms);
    pl_batch_write(batch, PL_SQL_TASK_CREATE, &params);
    use_blobs(batch, task);
}

void pl_batch_update_task(struct pl_batch *batch, const struct pl_task_row *task)
{
    struct pl_params params = {.err = &batch->err};
    add_task(&params, task);
    pl_params_int(&params, task->n_failures);
    pl_params_int(&params, task->updated_ms);
    pl_batch_write(batch, PL_SQL_TASK_UPDATE, &params);
    pl_batch_write_of(batch, PL_SQL_TASK_EXPECT, task->id, "task_", task->user_id);
    use_blobs(batch, task);
}

void pl_batch_delete_task(struct pl_batch *batch, struct pl_str user_id, struct pl_str id)
{
    pl_blobs_release(batch, PL_BLOB_OF_TASK, id, user_id);
    pl_batch_write_of(batch, PL_SQL_TASK_DELETE, id, "task_", user_id);
}

void pl_batch_advance_task(struct pl_batch *batch, struct pl_str id, int64_t revision,
                           int64_t last_ms, int64_t next_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, "task_");
    pl_params_int(&params, revision);
    pl_params_int(&params, last_ms);
    pl_params_int(&params, next_ms);
    pl_batch_write(batch, PL_SQL_TASK_ADVANCE, &params);
}

void pl_batch_rewind_task(struct pl_batch *batch, struct pl_str id, int64_t revision,
                          int64_t next_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, "task_");
    pl_params_int(&params, revision);
    pl_params_int(&params, next_ms);
    pl_batch_write(batch, PL_SQL_TASK_REWIND, &params);
}

void pl_batch_count_task(struct pl_batch *batch, struct pl_str id, bool has_failed, int64_t limit,
                         struct pl_str disabled_reason, int64_t now_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, "task_");
    pl_params_int(&params, has_failed);
    pl_params_int(&params, limit);
    pl_params_text(&params, disabled_reason);
    pl_params_int(&params, now_ms);
    pl_batch_write(batch, PL_SQL_TASK_COUNT_FAILURE, &params);
}

void pl_batch_create_run(struct pl_batch *batch, const struct pl_task_run_row *run)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, run->task_id, "task_");
    pl_params_id(&params, run->id, "run_");
    pl_params_id(&params, run->session_id, "sess_");
    pl_params_text(&params, run->status);
    pl_params_text(&params, run->error);
    pl_params_int(&params, run->due_ms);
    pl_params_int(&params, run->is_manual);
    pl_params_int(&params, run->n_missed);
    pl_params_int(&params, run->triggered_ms);
    pl_params_int(&params, run->finished_ms);
    pl_batch_write(batch, PL_SQL_RUN_CREATE, &params);
}

static void write_run(struct pl_batch *batch, enum pl_sql sql, const struct pl_task_run_row *run)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, run->id, "run_");
    pl_params_id(&params, run->session_id, "sess_");
    pl_params_text(&params, run->status);
    pl_params_text(&params, run->error);
    pl_params_int(&params, run->finished_ms);
    pl_batch_write(batch, sql, &params);
}

void pl_batch_update_run(struct pl_batch *batch, const struct pl_task_run_row *run)
{
    write_run(batch, PL_SQL_RUN_UPDATE, run);
}

/* The first statement locks the row. */
void pl_batch_start_run(struct pl_batch *batch, const struct pl_task_run_row *run)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, run->id, "run_");
    pl_batch_write(batch, PL_SQL_RUN_HOLD, &params);
    pl_batch_write(batch, PL_SQL_RUN_EXPECT_QUEUED, &params);
    write_run(batch, PL_SQL_RUN_UPDATE, run);
}

void pl_batch_adopt_run(struct pl_batch *batch, struct pl_str id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, "run_");
    pl_batch_write(batch, PL_SQL_RUN_ADOPT, &params);
}

void pl_batch_settle_runs(struct pl_batch *batch, struct pl_str error, int64_t now_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, error);
    pl_params_int(&params, now_ms);
    pl_batch_write(batch, PL_SQL_RUN_SETTLE, &params);
}

/* --- reading tasks --------------------------------------------------------------------------- */

/* SQL_TASK_COLUMNS */
static void read_task(struct pl_read *read, struct pl_task_row *ret_task)
{
    *ret_task = (struct pl_task_row){
        .id = pl_read_id(read, 0, "task_"),
        .user_id = pl_read_id(read, 1, "user_"),
        .title = pl_read_text(read, 2),
        .prompt = pl_read_text(read, 3),
        .prompt_ref = pl_read_text(read, 4),
        .cron = pl_read_text(read, 5),
        .timezone = pl_read_text(read, 6),
        .model = pl_read_text(read, 7),
        .overlap = pl_read_text(read, 8),
        .enabled = pl_read_int(read, 9),
        .skip_confirmations = pl_read_int(read, 10),
        .expires_ms = pl_read_int(read, 11),
        .next_ms = pl_read_int(read, 12),
        .last_ms = pl_read_int(read, 13),
        .disabled_reason = pl_read_text(read, 14),
        .revision = pl_read_int(read, 15),
        .created_ms = pl_read_int(read, 16),
        .updated_ms = pl_read_int(read, 17),
        .n_failures = pl_read_int(read, 18),
    };
}

enum pl_status pl_store_task_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str id,
                                 struct pl_task_row *ret_task, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, id, "task_");
    pl_params_id(&params, user_id, "user_");
    struct pl_task_row task = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_TASK_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_task(&read, &task);
    enum pl_status status = pl_read_end_one(&read, was_found, "scheduled task");
    if (status == PL_OK)
        *ret_task = task;
    return status;
}

/* Reads the page, then the total. */
static enum pl_status read_tasks(struct pl_read *read, enum pl_sql list_sql,
                                 const struct pl_params *some, size_t limit, enum pl_sql count_sql,
                                 const struct pl_params *all, struct pl_task_page *ret_page)
{
    struct pl_task_page page = {0};
    struct pl_list list = {.size = sizeof(struct pl_task_row)};
    pl_read_query(read, list_sql, some);
    while (pl_read_next_of(read, list.n, limit, &page.has_more)) {
        struct pl_task_row *task = pl_read_add(read, &list);
        if (task)
            read_task(read, task);
    }
    page.items = list.items;
    page.n_items = list.n;
    page.total = pl_read_number(read, count_sql, all);
    enum pl_status status = pl_read_end(read);
    if (status == PL_OK)
        *ret_page = page;
    return status;
}

/* SQL_TASK_FILTER */
static void filter_tasks(struct pl_params *params, const struct pl_task_query *query,
                         const struct pl_buf *pattern)
{
    pl_params_id(params, query->user_id, "user_");
    pl_params_int(params, query->is_enabled);
    pl_params_text(params, pattern->len ? pl_buf_str(pattern) : PL_STR(""));
}

/* Ids are ordered by time, so the newest is the greatest. */
enum pl_status pl_store_task_list(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_task_query *query, struct pl_task_page *ret_page,
                                  struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf pattern;
    pl_buf_init(&pattern, 0);
    pl_pattern_write(query->text, &pattern);
    if (pattern.status != PL_OK)
        return pl_fail(err, pattern.status, "out of memory while reading the list of tasks");
    struct pl_params some = {.err = err}, all = {.err = err};
    filter_tasks(&some, query, &pattern);
    pl_params_id_bound(&some, query->after_id, "task_");
    pl_params_int(&some, (int64_t)query->limit + 1);
    pl_params_int(&some, query->offset);
    filter_tasks(&all, query, &pattern);
    if (some.status != PL_OK)
        return some.status;
    struct pl_read read = pl_read_begin(store, arena, err);
    read.max_bytes = query->max_bytes;
    return read_tasks(&read, PL_SQL_TASK_LIST, &some, query->limit, PL_SQL_TASK_COUNT, &all,
                      ret_page);
}

enum pl_status pl_store_task_due(struct pl_store *store, struct pl_arena *arena, int64_t now_ms,
                                 size_t limit, struct pl_task_page *ret_page, struct pl_error *err)
{
    struct pl_params some = {0}, all = {0};
    pl_params_int(&some, now_ms);
    pl_params_int(&some, (int64_t)limit + 1);
    pl_params_int(&all, now_ms);
    struct pl_read read = pl_read_begin(store, arena, err);
    return read_tasks(&read, PL_SQL_TASK_DUE, &some, limit, PL_SQL_TASK_COUNT_DUE, &all, ret_page);
}

enum pl_status pl_store_task_next(struct pl_store *store, int64_t *ret_next_ms,
                                  struct pl_error *err)
{
    struct pl_read read = pl_read_begin(store, NULL, err);
    int64_t next_ms = pl_read_number(&read, PL_SQL_TASK_NEXT, &(struct pl_params){0});
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_next_ms = next_ms;
    return status;
}

/* --- reading runs ---------------------------------------------------------------------------- */

/* A row of PL_SQL_RUN_LIST; the task is known. */
static void read_run(struct pl_read *read, struct pl_str task_id, struct pl_task_run_row *ret_run)
{
    *ret_run = (struct pl_task_run_row){
        .id = pl_read_id(read, 0, "run_"),
        .task_id = task_id,
        .session_id = pl_read_id(read, 1, "sess_"),
        .status = pl_read_text(read, 2),
        .error = pl_read_text(read, 3),
        .due_ms = pl_read_int(read, 4),
        .is_manual = pl_read_int(read, 5),
        .n_missed = pl_read_int(read, 6),
        .triggered_ms = pl_read_int(read, 7),
        .finished_ms = pl_read_int(read, 8),
        .is_elsewhere = pl_read_int(read, 9),
    };
}

/* SQL_RUN_FILTER */
static void filter_runs(struct pl_params *params, const struct pl_task_run_query *query)
{
    pl_params_id(params, query->task_id, "task_");
    pl_params_text(params, query->status.len ? query->status : PL_STR(""));
    pl_params_int(params, query->due_after_ms);
    pl_params_int(params, query->due_before_ms);
}

enum pl_status pl_store_run_list(struct pl_store *store, struct pl_arena *arena,
                                 const struct pl_task_run_query *query,
                                 struct pl_task_run_page *ret_page, struct pl_error *err)
{
    struct pl_params some = {.err = err}, all = {.err = err};
    unsigned char writer[PL_UUID_BYTES] = {0};
    filter_runs(&some, query);
    pl_params_int(&some, (int64_t)query->limit + 1);
    pl_params_int(&some, query->offset);
    if (store->ops->line)
        store->ops->line->writer(store->writer.db, writer);
    pl_params_bytes(&some, (struct pl_str){(const char *)writer, sizeof writer});
    filter_runs(&all, query);
    struct pl_task_run_page page = {0};
    struct pl_list list = {.size = sizeof(struct pl_task_run_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    struct pl_str task_id = pl_read_keep(&read, query->task_id);
    pl_read_query(&read, PL_SQL_RUN_LIST, &some);
    while (pl_read_next_of(&read, list.n, query->limit, &page.has_more)) {
        struct pl_task_run_row *run = pl_read_add(&read, &list);
        if (run)
            read_run(&read, task_id, run);
    }
    page.items = list.items;
    page.n_items = list.n;
    page.total = pl_read_number(&read, PL_SQL_RUN_COUNT, &all);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = page;
    return status;
}

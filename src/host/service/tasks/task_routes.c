/* Scheduled tasks: create, change, start, stop, run by hand. Their times are in
 * task_time_routes.c. */
#include "agent/chat_message.h"
#include "access/meter/meter.h"
#include "base/text/utc.h"
#include "base/text/uuid.h"
#include "http/exchange.h"
#include "http/json_members.h"
#include "http/trace.h"
#include "service/burying.h"
#include "service/prompts/prompt_json.h"
#include "service/prompts/prompt_run.h"
#include "service/request_options.h"
#include "service/tasks/routes.h"
#include "service/tasks/scheduler.h"
#include "service/tasks/task_json.h"
#include "service/tasks/task_request.h"
#include "transaction/change.h"
#include "transaction/idempotency.h"

/* State of a change until it is durable. */
struct changing {
    struct pl_id_seed seed;
    struct pl_id id;         /* of a new task */
    struct pl_task_row task; /* the new values */
    int enabled;             /* start and stop: 1 and 0; -1: as in the body */
};

/* --- what a body says ------------------------------------------------------------------------ */

static bool is_given(struct pl_exchange *x, const char *name)
{
    struct pl_str raw = pl_body_raw(x, name);
    return raw.len && !pl_str_eq(raw, PL_STR("null"));
}

static void check_prompt_ref(struct pl_exchange *x, struct pl_str json)
{
    struct pl_json_doc doc;
    struct pl_str id, version;
    struct pl_prompt_row prompt;
    struct pl_error err = {0};
    int64_t number;
    enum pl_status status = pl_json_parse(&x->arena, json, NULL, &doc, &err);
    if (status == PL_OK)
        status = pl_member_text(&x->arena, &doc, doc.root, "prompt_id", &id);
    if (status == PL_OK)
        status = pl_store_prompt_get(x->shard->server->store, &x->arena, x->caller.user_id, id,
                                     &prompt, &err);
    if (status == PL_NOT_FOUND || status == PL_INVALID) {
        pl_option_refuse(x, "You have no prompt with this id.", "/prompt_ref/prompt_id");
        return;
    }
    const struct pl_json_node *node =
        status == PL_OK ? pl_json_get(&doc, doc.root, PL_STR("version")) : NULL;
    if (status == PL_OK && node && pl_json_kind(node) == PL_JSON_NUMBER)
        version = pl_json_span(&doc, node);
    else if (status == PL_OK)
        status = pl_member_text(&x->arena, &doc, doc.root, "version", &version);
    if (status == PL_OK)
        status = pl_prompt_version_number(&x->arena, &prompt, version, &number);
    if (status == PL_NOT_FOUND) {
        pl_option_refuse(x, "The prompt has no such version or label.", "/prompt_ref/version");
        return;
    }
    /* Refused only here: a prompt that loses a variable later does not stop the task. */
    struct pl_render_opts opts = {.refuses_unknown = true};
    struct pl_prompt_version_row row;
    if (status == PL_OK)
        status =
            pl_vars_read(&x->arena, &doc, pl_json_get(&doc, doc.root, PL_STR("variables")), &opts);
    if (status == PL_OK)
        status = pl_store_prompt_version_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                             id, number, &row, &err);
    struct pl_prompt_text text =
        status == PL_OK ? pl_prompt_text_of(&row) : (struct pl_prompt_text){0};
    if (status == PL_OK)
        status = pl_prompt_check_vars(&x->arena, &text, &opts, &err);
    if (status == PL_INVALID)
        pl_option_refuse(x, err.message, "/prompt_ref/variables");
    else if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

/* A text or a prompt of the library, never both. */
static void read_prompt(struct pl_exchange *x, struct pl_task_row *task)
{
    bool has_text = is_given(x, "prompt"), has_ref = is_given(x, "prompt_ref");
    if (has_text && has_ref) {
        pl_option_refuse(x, "A task has a prompt or a prompt_ref, not both.", "/prompt");
        return;
    }
    if (has_text) {
        task->prompt = pl_body_text(x, "prompt");
        task->prompt_ref = (struct pl_str){0};
    } else if (has_ref) {
        task->prompt = (struct pl_str){0};
        task->prompt_ref = pl_body_raw(x, "prompt_ref");
        check_prompt_ref(x, task->prompt_ref);
    } else if (pl_body_has(x, "prompt_ref")) {
        task->prompt_ref = (struct pl_str){0};
    }
    if (!x->is_problem && !task->prompt.len && !task->prompt_ref.len)
        pl_option_refuse(x, "A task needs a prompt, or a prompt_ref to one of the library.",
                         "/prompt");
}

static void read_model(struct pl_exchange *x, struct pl_task_row *task)
{
    struct pl_str name = pl_body_text(x, "model");
    if (!pl_body_has(x, "model"))
        return;
    task->model = (struct pl_str){0};
    if (name.len)
        (void)pl_option_model(x, name, "/model", &task->model);
}

static void read_expiry(struct pl_exchange *x, struct pl_task_row *task, int64_t now_ms)
{
    int64_t unix_us;
    if (!pl_body_has(x, "expires_at"))
        return;
    task->expires_ms = 0;
    if (!is_given(x, "expires_at"))
        return;
    if (!pl_utc_read(pl_body_text(x, "expires_at"), &unix_us))
        pl_option_refuse(x, "An instant must look like 2026-03-29T00:00:00Z.", "/expires_at");
    else if (unix_us / 1000 <= now_ms)
        pl_option_refuse(x, "expires_at must be in the future.", "/expires_at");
    else
        task->expires_ms = unix_us / 1000;
}

/* Members that need no further checks; missing members stay unchanged. */
static void read_plain(struct pl_exchange *x, struct pl_task_row *task)
{
    const struct {
        const char *name;
        struct pl_str *to;
    } texts[] = {
        {"title", &task->title},
        {"cron", &task->cron},
        {"timezone", &task->timezone},
        {"overlap", &task->overlap},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (pl_body_has(x, texts[i].name))
            *texts[i].to = pl_body_text(x, texts[i].name);
    task->skip_confirmations = pl_body_bool(x, "skip_confirmations", task->skip_confirmations);
}

/* Computes the next time from now on: earlier occurrences are not made up for. */
static void set_time(struct pl_exchange *x, struct changing *changing)
{
    struct pl_task_row *task = &changing->task;
    struct pl_task_when when;
    if (!pl_task_read_when(x, task->cron, task->timezone, &when))
        return;
    int64_t now_s = changing->seed.unix_ms / 1000;
    task->next_ms = task->enabled ? pl_task_next_ms(&when, now_s, task->expires_ms) : INT64_MAX;
}

/* The answer is made before the commit, because it is stored with the change. */
static void write_changed(struct pl_exchange *x, const struct changing *changing)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    x->status = x->route->status;
    pl_task_write(&out, &changing->task);
    if (x->status == 201)
        pl_exchange_header(x, "Location", "/api/scheduled-tasks/%s", changing->id.text);
}

/* --- making ---------------------------------------------------------------------------------- */

/* Two requests at once may both find room. Then the batch of one fails, and it checks again. */
static bool has_room(struct pl_exchange *x, struct pl_str user_id)
{
    int64_t most = pl_meter_quota(x->shard->server->meter, user_id, PL_LIMIT_TASKS);
    struct pl_task_query query = {.user_id = user_id, .is_enabled = -1, .limit = 1};
    struct pl_task_page page;
    struct pl_error err = {0};
    if (!most)
        return true;
    enum pl_status status =
        pl_store_task_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (page.total >= most)
        pl_exchange_problem(
            x, PL_PROBLEM_CONFLICT, NULL,
            "You have as many scheduled tasks as allowed (%lld); delete some first.",
            (long long)most);
    return !x->is_problem;
}

static void plan_create(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct changing *changing = ctx;
    struct pl_task_row *task = &changing->task;
    int64_t now_ms = changing->seed.unix_ms;
    *task = (struct pl_task_row){
        .id = pl_str_of(changing->id.text),
        .user_id = x->caller.user_id,
        .timezone = PL_STR("UTC"),
        .overlap = PL_STR("skip"),
        .enabled = pl_body_bool(x, "enabled", true),
        .revision = 1,
        .created_ms = now_ms,
        .updated_ms = now_ms,
    };
    read_plain(x, task);
    read_expiry(x, task, now_ms);
    if (!x->is_problem)
        set_time(x, changing);
    if (!x->is_problem)
        read_prompt(x, task);
    if (!x->is_problem)
        read_model(x, task);
    if (x->is_problem)
        return;
    if (!has_room(x, task->user_id))
        return;
    pl_batch_create_task(batch, task);
    pl_batch_check_quota(batch, task->user_id, PL_LIMIT_TASKS,
                         pl_meter_quota(x->shard->server->meter, task->user_id, PL_LIMIT_TASKS));
    write_changed(x, changing);
}

static void tell_changed(struct pl_exchange *x, void *ctx)
{
    const struct changing *changing = ctx;
    pl_task_tell(x->shard->server, &changing->task, NULL);
    pl_scheduler_wake(x->shard->server);
}

static void change(struct pl_exchange *x, pl_change_plan_fn *plan, int enabled)
{
    struct changing *changing = pl_exchange_room(x, sizeof *changing);
    if (!changing)
        return;
    changing->seed = pl_shard_seed(x->shard);
    changing->id = pl_id_take(&changing->seed, "task_");
    changing->enabled = enabled;
    pl_exchange_change(x, plan, tell_changed, changing);
}

static void create(struct pl_exchange *x)
{
    change(x, plan_create, -1);
}

/* --- looking --------------------------------------------------------------------------------- */

static void get_work(struct pl_exchange *x)
{
    struct pl_task_row task;
    if (!pl_task_find(x, &task))
        return;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_task_write(&out, &task);
}

static void get(struct pl_exchange *x)
{
    pl_exchange_work(x, get_work, NULL);
}

/* The cursor is the id of the last item. */
static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_str enabled = pl_target_param(&x->target, "enabled");
    struct pl_error err = {0};
    if (!pl_exchange_page_args(x, &args))
        return;
    if (args.cursor.len && !pl_id_is(args.cursor, "task_")) {
        (void)pl_exchange_refuse_cursor(x);
        return;
    }
    struct pl_task_query query = {
        .user_id = x->caller.user_id,
        .is_enabled = enabled.ptr ? pl_str_eq(enabled, PL_STR("true")) : -1,
        .text = pl_target_param(&x->target, "q"),
        .limit = args.limit,
        .max_bytes = PL_PAGE_BYTES,
        .offset = args.offset,
        .after_id = args.cursor,
    };
    struct pl_task_page page;
    enum pl_status status =
        pl_store_task_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (pl_list_walk_next(&walk, x))
        pl_task_write(&out, &page.items[walk.n - 1]);
    pl_exchange_list_end(x, &args, page.total,
                         walk.has_more ? page.items[walk.n - 1].id : (struct pl_str){0});
}

static void list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

/* --- changing -------------------------------------------------------------------------------- */

static bool has_any(struct pl_exchange *x, const char *const *names)
{
    while (*names && !pl_body_has(x, *names))
        names++;
    return *names != NULL;
}

static void set_enabled(struct pl_task_row *task, bool enabled)
{
    if (enabled)
        task->n_failures = 0;
    task->enabled = enabled;
    task->disabled_reason = (struct pl_str){0};
}

static void plan_update(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    static const char *const of_time[] = {"cron", "timezone", "enabled", "expires_at", NULL};
    static const char *const of_prompt[] = {"prompt", "prompt_ref", NULL};
    struct changing *changing = ctx;
    struct pl_task_row *task = &changing->task;
    if (!pl_task_find(x, task))
        return;
    task->updated_ms = changing->seed.unix_ms;
    if (changing->enabled >= 0) {
        set_enabled(task, changing->enabled);
    } else {
        read_plain(x, task);
        read_expiry(x, task, task->updated_ms);
        if (pl_body_has(x, "enabled"))
            set_enabled(task, pl_body_bool(x, "enabled", true));
    }
    if (!x->is_problem && task->enabled && changing->enabled >= 0 && task->expires_ms &&
        task->expires_ms <= task->updated_ms)
        pl_option_refuse(x, "The task has expired; change expires_at first.", "/expires_at");
    if (!x->is_problem && (changing->enabled >= 0 || has_any(x, of_time)))
        set_time(x, changing);
    if (!x->is_problem && has_any(x, of_prompt))
        read_prompt(x, task);
    if (!x->is_problem)
        read_model(x, task);
    if (x->is_problem)
        return;
    pl_batch_update_task(batch, task);
    write_changed(x, changing);
}

static void update(struct pl_exchange *x)
{
    change(x, plan_update, -1);
}

static void start(struct pl_exchange *x)
{
    change(x, plan_update, 1);
}

static void stop(struct pl_exchange *x)
{
    change(x, plan_update, 0);
}

static void plan_delete(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_task_row task;
    (void)ctx;
    x->status = 204;
    if (pl_task_find(x, &task) && !pl_exchange_bury(x, batch, PL_DELETED_TASK, task.id))
        pl_batch_delete_task(batch, x->caller.user_id, x->args[0]);
}

static void delete (struct pl_exchange *x)
{
    pl_exchange_change(x, plan_delete, NULL, NULL);
}

/* --- a run by hand --------------------------------------------------------------------------- */

static void fill_started(struct pl_task_start *start)
{
    struct pl_exchange *x = start->ctx;
    x->status = 202;
    pl_buf_clear(&x->reply);
    pl_buf_add(&x->reply, pl_buf_str(&start->reply));
}

static void on_started(struct pl_task_start *start)
{
    struct pl_exchange *x = start->ctx;
    if (start->problem != PL_PROBLEM_COUNT) {
        pl_exchange_problem(x, start->problem, &start->err, NULL);
    } else {
        fill_started(start);
        if (start->reply.status != PL_OK)
            pl_exchange_fail(x, start->reply.status, NULL);
    }
    pl_buf_deinit(&start->reply);
    pl_exchange_finish(x);
}

static void claim(struct pl_task_start *start, struct pl_batch *batch)
{
    struct pl_exchange *x = start->ctx;
    if (!pl_exchange_claim(x)->key.len)
        return;
    fill_started(start);
    pl_claim_add(x, batch);
}

static void run_work(struct pl_exchange *x)
{
    struct pl_task_start *start = x->state;
    (void)pl_task_find(x, &start->task);
}

static void run_found(struct pl_exchange *x)
{
    if (x->is_problem)
        pl_exchange_finish(x);
    else
        pl_task_start_send(x->state);
}

static void run(struct pl_exchange *x)
{
    struct pl_task_start *start = pl_exchange_room(x, sizeof *start);
    if (!start)
        return;
    start->home = x->shard;
    start->extend = claim;
    start->done = on_started;
    start->ctx = x;
    start->trace_id = pl_trace_id(x);
    pl_buf_init(&start->reply, 0);
    x->state = start;
    pl_exchange_work(x, run_work, run_found);
}

static const struct pl_route_param list_params[] = {
    PL_PARAMS_OF_PAGE,
    {"enabled", "{\"type\":\"boolean\"}", "Only enabled tasks, or only others"},
    {"q", "{\"type\":\"string\"}", "Words of the title"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_tasks[] = {
    {PL_METHOD_POST, "/api/scheduled-tasks", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, create,
     "scheduled_task_create", "Create a scheduled task", "tasks", "ScheduledTaskCreate",
     "ScheduledTask", 201, NULL},
    {PL_METHOD_GET, "/api/scheduled-tasks", 0, PL_FOR_READ, list, "scheduled_task_list",
     "List your tasks, newest first", "tasks", NULL, "ScheduledTaskList", 200, list_params},
    {PL_METHOD_GET, "/api/scheduled-tasks/{id}", 0, PL_FOR_READ, get, "scheduled_task_get",
     "Get a task", "tasks", NULL, "ScheduledTask", 200, NULL},
    {PL_METHOD_PATCH, "/api/scheduled-tasks/{id}", 0, PL_FOR_ALL, update, "scheduled_task_update",
     "Change a task; a new schedule applies from now on", "tasks", "ScheduledTaskUpdate",
     "ScheduledTask", 200, NULL},
    {PL_METHOD_DELETE, "/api/scheduled-tasks/{id}", 0, PL_FOR_ALL, delete, "scheduled_task_delete",
     "Delete a task and its run history; the sessions of its runs stay", "tasks", NULL, NULL, 204,
     NULL, .tells = "task:deleted"},
    {PL_METHOD_POST, "/api/scheduled-tasks/{id}/start", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, start,
     "scheduled_task_start", "Enable a task and reset its failures", "tasks", NULL, "ScheduledTask",
     200, NULL},
    {PL_METHOD_POST, "/api/scheduled-tasks/{id}/stop", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, stop,
     "scheduled_task_stop", "Disable a task; running runs continue", "tasks", NULL, "ScheduledTask",
     200, NULL},
    {PL_METHOD_POST, "/api/scheduled-tasks/{id}/run", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, run,
     "scheduled_task_run", "Run a task now, even if another run is active", "tasks", NULL,
     "ScheduledTaskRun", 202, NULL},
    {0},
};

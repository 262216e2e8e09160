/* The times of scheduled tasks, past and future: occurrences, runs, and the meaning of an
 * expression. */
#include "base/text/utc.h"
#include "cron/explain.h"
#include "http/json_members.h"
#include "http/routes/route.h"
#include "io/clock.h"
#include "service/request_options.h"
#include "service/tasks/routes.h"
#include "service/tasks/task_json.h"
#include "service/tasks/task_request.h"

enum { N_EXPLAINED = 10 };

/* --- what an expression means ---------------------------------------------------------------- */

static void write_words(struct pl_exchange *x, struct pl_json_out *out, const char *name,
                        const struct pl_cron *cron, enum pl_cron_lang lang)
{
    struct pl_buf words PL_CLEANUP_BUF;
    pl_buf_init(&words, 0);
    pl_cron_explain(&words, cron, lang);
    if (words.status != PL_OK)
        pl_exchange_fail(x, words.status, NULL);
    pl_put_text(out, name, pl_buf_str(&words));
}

static void explain_work(struct pl_exchange *x)
{
    struct pl_str cron = pl_target_param(&x->target, "cron");
    struct pl_str zone = pl_target_param(&x->target, "timezone");
    struct pl_task_when when;
    int64_t at_s = pl_clock_unix_ms() / 1000;
    if (!zone.ptr)
        zone = PL_STR("UTC");
    if (!pl_task_read_when(x, cron, zone, &when))
        return;
    struct pl_buf made PL_CLEANUP_BUF;
    pl_buf_init(&made, 0);
    struct pl_json_out out = pl_json_out(&made);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "cron", cron);
    pl_put_text(&out, "timezone", zone);
    write_words(x, &out, "en", &when.cron, PL_CRON_EN);
    write_words(x, &out, "zh", &when.cron, PL_CRON_ZH);
    pl_json_out_key(&out, "next");
    pl_json_out_open(&out, '[');
    for (int i = 0; i < N_EXPLAINED && pl_cron_next(&when.cron, when.zone, at_s, &at_s); i++) {
        char text[PL_UTC_SIZE];
        pl_utc_write(text, at_s * 1000);
        pl_json_out_text(&out, (struct pl_str){text, sizeof text});
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    if (!x->is_problem)
        pl_buf_add(&x->reply, pl_buf_str(&made));
}

static void explain(struct pl_exchange *x)
{
    pl_exchange_work(x, explain_work, NULL);
}

/* --- of one task ----------------------------------------------------------------------------- */

static void occurrences_work(struct pl_exchange *x)
{
    struct pl_task_row task;
    struct pl_task_when when;
    struct pl_page_args args;
    int64_t from_ms, to_ms;
    if (!pl_exchange_page_args(x, &args) ||
        !pl_param_time(x, "from", pl_clock_unix_ms(), &from_ms) ||
        !pl_param_time(x, "to", INT64_MAX, &to_ms) || !pl_task_find(x, &task) ||
        !pl_task_read_when(x, task.cron, task.timezone, &when))
        return;
    if (task.expires_ms && task.expires_ms < to_ms)
        to_ms = task.expires_ms;
    struct pl_json_out out = pl_exchange_list_begin(x);
    int64_t at_s =
        pl_task_seconds(from_ms) - (from_ms % 1000 == 0); /* an occurrence at `from` is included */
    for (size_t i = 0; i < args.limit && pl_cron_next(&when.cron, when.zone, at_s, &at_s) &&
                       at_s < to_ms / 1000 + (to_ms % 1000 > 0);
         i++) {
        pl_json_out_open(&out, '{');
        pl_task_write_instant(&out, when.zone, at_s);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

static void occurrences(struct pl_exchange *x)
{
    pl_exchange_work(x, occurrences_work, NULL);
}

static void runs_work(struct pl_exchange *x)
{
    struct pl_task_row task;
    struct pl_page_args args;
    struct pl_task_run_page page;
    struct pl_error err = {0};
    if (!pl_exchange_counted_args(x, &args) || !pl_task_find(x, &task))
        return;
    struct pl_task_run_query query = {
        .task_id = task.id,
        .status = pl_target_param(&x->target, "status"),
        .due_after_ms = -1,
        .due_before_ms = INT64_MAX,
        .limit = args.limit,
        .offset = args.offset,
    };
    enum pl_status status =
        pl_store_run_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (pl_list_walk_next(&walk, x))
        pl_task_run_write(&out, &page.items[walk.n - 1]);
    pl_exchange_counted_end(x, &args, page.total, &walk);
}

static void runs(struct pl_exchange *x)
{
    pl_exchange_work(x, runs_work, NULL);
}

#define INSTANT "{\"type\":\"string\",\"format\":\"date-time\"}"
static const struct pl_route_param explain_params[] = {
    {"cron", "{\"type\":\"string\",\"maxLength\":128}", "The expression"},
    {"timezone", "{\"type\":\"string\"}", "A name like Europe/Berlin; UTC by default"},
    {NULL, NULL, NULL},
};
static const struct pl_route_param occurrence_params[] = {
    {"from", INSTANT, "The beginning; now by default"},
    {"to", INSTANT, "The end"},
    PL_PARAM_LIMIT,
    {NULL, NULL, NULL},
};
static const struct pl_route_param run_params[] = {
    PL_PARAMS_OF_PAGE,
    {"status",
     "{\"enum\":[\"running\",\"completed\",\"failed\",\"missed\",\"skipped\",\"queued\"]}",
     "Only runs with this status"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_task_times[] = {
    {PL_METHOD_GET, "/api/scheduled-tasks/explain", 0, PL_FOR_READ, explain,
     "scheduled_task_explain",
     "Explain a cron expression in English and Chinese, with its next ten times", "tasks", NULL,
     "CronExplained", 200, explain_params},
    {PL_METHOD_GET, "/api/scheduled-tasks/{id}/runs", 0, PL_FOR_READ, runs, "scheduled_task_runs",
     "List the runs of a task, newest first", "tasks", NULL, "ScheduledTaskRunList", 200,
     run_params},
    {PL_METHOD_GET, "/api/scheduled-tasks/{id}/occurrences", 0, PL_FOR_READ, occurrences,
     "scheduled_task_occurrences", "List the next times of a task", "tasks", NULL, "Occurrences",
     200, occurrence_params},
    {0},
};

/* The times of scheduled tasks, past and future: occurrences, runs, the calendar, and the meaning
 * of an expression. */
#include "base/text/utc.h"
#include "cron/explain.h"
#include "http/json_members.h"
#include "http/route.h"
#include "io/clock.h"
#include "service/request_options.h"
#include "service/tasks/routes.h"
#include "service/tasks/task_json.h"
#include "service/tasks/task_request.h"

#include <stdlib.h>

enum {
    N_EXPLAINED = 10,
    MAX_DAYS = 62,
    DEFAULT_DAYS = 7,
    MAX_ENTRIES = 1000,
    MAX_TASKS = 1000, /* that a calendar looks at */
    MAX_RUNS = 20000, /* that it reads */
    PAGE = 100,
};
#define DAY_MS (INT64_C(86400) * 1000)

/* Seconds are cut, not rounded to zero. */
static int64_t seconds(int64_t unix_ms)
{
    return unix_ms / 1000 - (unix_ms % 1000 < 0);
}

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
    int64_t at_s = seconds(from_ms) - (from_ms % 1000 == 0); /* one at `from` belongs to it */
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

/* --- the calendar ---------------------------------------------------------------------------- */

/* One of the user's tasks, and when it is due next in the part that is still to come. */
struct dated {
    struct pl_task_row task;
    struct pl_task_when when;
    bool is_due;
    int64_t next_s;
};

struct entry {
    const struct dated *task;
    int64_t at_ms;
    const struct pl_task_run_row *run; /* of what is past */
};

struct calendar {
    struct pl_exchange *x;
    int64_t from_ms, to_ms, now_ms;
    struct dated *tasks; /* arena */
    size_t n_tasks;
    struct entry *entries; /* arena; what was run, then what is to come */
    size_t n_entries, n_runs;
    bool is_complete;
};

static bool load_tasks(struct calendar *calendar)
{
    struct pl_exchange *x = calendar->x;
    struct pl_task_query query = {.user_id = x->caller.user_id, .is_enabled = -1, .limit = PAGE};
    struct pl_task_page page = {.has_more = true};
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    calendar->tasks = pl_arena_alloc(&x->arena, MAX_TASKS, sizeof *calendar->tasks);
    if (!calendar->tasks)
        status = PL_NOMEM;
    while (status == PL_OK && page.has_more && calendar->n_tasks < MAX_TASKS) {
        status = pl_store_task_list(x->shard->server->store, &x->arena, &query, &page, &err);
        for (size_t i = 0; status == PL_OK && i < page.n_items; i++) {
            calendar->tasks[calendar->n_tasks++] = (struct dated){.task = page.items[i]};
            query.after_id = page.items[i].id;
        }
    }
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    calendar->is_complete = !page.has_more;
    return status == PL_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    return (one->at_ms > other->at_ms) - (one->at_ms < other->at_ms);
}

/* Runs of one task among those of the others, of which the earliest stay. */
static bool add_runs(struct calendar *calendar, const struct dated *task)
{
    struct pl_exchange *x = calendar->x;
    struct pl_task_run_query query = {
        .task_id = task->task.id,
        .due_after_ms = calendar->from_ms - 1,
        .due_before_ms = calendar->to_ms,
        .limit = MAX_ENTRIES,
    };
    struct pl_task_run_page page;
    struct pl_error err = {0};
    enum pl_status status =
        pl_store_run_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return false;
    }
    for (size_t i = 0; i < page.n_items; i++)
        calendar->entries[calendar->n_entries++] =
            (struct entry){task, page.items[i].due_ms, &page.items[i]};
    calendar->n_runs += page.n_items;
    if (calendar->n_entries > MAX_ENTRIES || page.has_more) {
        qsort(calendar->entries, calendar->n_entries, sizeof *calendar->entries, by_time);
        calendar->is_complete = false;
    }
    if (calendar->n_entries > MAX_ENTRIES)
        calendar->n_entries = MAX_ENTRIES;
    return true;
}

static bool add_past(struct calendar *calendar)
{
    for (size_t i = 0; i < calendar->n_tasks; i++) {
        if (calendar->n_runs >= MAX_RUNS) {
            calendar->is_complete = false;
            break;
        }
        if (!add_runs(calendar, &calendar->tasks[i]))
            return false;
    }
    qsort(calendar->entries, calendar->n_entries, sizeof *calendar->entries, by_time);
    return true;
}

static void find_next(const struct calendar *calendar, struct dated *task, int64_t after_s)
{
    int64_t end_ms = calendar->to_ms;
    if (task->task.expires_ms && task->task.expires_ms < end_ms)
        end_ms = task->task.expires_ms;
    task->is_due = pl_cron_next(&task->when.cron, task->when.zone, after_s, &task->next_s) &&
                   task->next_s * 1000 < end_ms;
}

static struct dated *earliest(struct calendar *calendar)
{
    struct dated *found = NULL;
    for (size_t i = 0; i < calendar->n_tasks; i++) {
        struct dated *task = &calendar->tasks[i];
        if (task->is_due && (!found || task->next_s < found->next_s))
            found = task;
    }
    return found;
}

/* All tasks in parallel, so that a task of every minute costs no more than the shown part. */
static void add_future(struct calendar *calendar)
{
    struct pl_zones *zones = calendar->x->shard->server->zones;
    int64_t from_ms = calendar->from_ms > calendar->now_ms ? calendar->from_ms : calendar->now_ms;
    int64_t after_s = seconds(from_ms) - (from_ms % 1000 == 0 && from_ms != calendar->now_ms);
    struct dated *task;
    for (size_t i = 0; i < calendar->n_tasks; i++) {
        task = &calendar->tasks[i];
        struct pl_error err = {0};
        if (task->task.enabled &&
            pl_task_when(zones, task->task.cron, task->task.timezone, &task->when, &err) == PL_OK)
            find_next(calendar, task, after_s);
    }
    while ((task = earliest(calendar))) {
        if (calendar->n_entries == MAX_ENTRIES) {
            calendar->is_complete = false;
            return;
        }
        calendar->entries[calendar->n_entries++] = (struct entry){task, task->next_s * 1000, NULL};
        find_next(calendar, task, task->next_s);
    }
}

static void write_entry(struct pl_json_out *out, const struct entry *entry,
                        const struct pl_tzif *zone)
{
    pl_json_out_open(out, '{');
    pl_put_text(out, "task_id", entry->task->task.id);
    pl_put_text(out, "title", entry->task->task.title);
    pl_task_write_instant(out, zone, seconds(entry->at_ms));
    pl_json_out_key(out, "run");
    if (entry->run)
        pl_task_run_write(out, entry->run);
    else
        pl_json_out_null(out);
    pl_json_out_close(out, '}');
}

static void write_calendar(struct calendar *calendar)
{
    struct pl_exchange *x = calendar->x;
    struct pl_json_out out = pl_exchange_list_begin(x);
    for (size_t i = 0; i < calendar->n_entries; i++) {
        const struct pl_tzif *zone = NULL;
        struct pl_error err = {0};
        /* A zone that is gone is shown as UTC. */
        if (pl_zones_find(x->shard->server->zones, calendar->entries[i].task->task.timezone, &zone,
                          &err) != PL_OK)
            zone = NULL;
        write_entry(&out, &calendar->entries[i], zone);
    }
    pl_json_out_close(&out, ']');
    pl_put_bool(&out, "is_complete", calendar->is_complete);
    pl_json_out_close(&out, '}');
}

static void calendar_work(struct pl_exchange *x)
{
    struct calendar calendar = {.x = x, .now_ms = pl_clock_unix_ms()};
    if (!pl_param_time(x, "from", calendar.now_ms, &calendar.from_ms) ||
        !pl_param_time(x, "to", calendar.from_ms + DEFAULT_DAYS * DAY_MS, &calendar.to_ms))
        return;
    if (calendar.to_ms <= calendar.from_ms ||
        calendar.to_ms - calendar.from_ms > MAX_DAYS * DAY_MS) {
        pl_option_refuse(x, "It must be after `from`, by at most 62 days.", "/to");
        return;
    }
    calendar.entries = pl_arena_alloc(&x->arena, 2 * MAX_ENTRIES, sizeof *calendar.entries);
    if (!calendar.entries) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return;
    }
    if (!load_tasks(&calendar) || !add_past(&calendar))
        return;
    add_future(&calendar);
    write_calendar(&calendar);
}

static void show_calendar(struct pl_exchange *x)
{
    pl_exchange_work(x, calendar_work, NULL);
}

#define INSTANT "{\"type\":\"string\",\"format\":\"date-time\"}"
static const struct pl_route_param explain_params[] = {
    {"cron", "{\"type\":\"string\",\"maxLength\":128}", "The expression"},
    {"timezone", "{\"type\":\"string\"}", "A name like Europe/Berlin; UTC by default"},
    {NULL, NULL, NULL},
};
static const struct pl_route_param calendar_params[] = {
    {"from", INSTANT, "The beginning; now by default"},
    {"to", INSTANT, "The end, at most 62 days later; 7 days by default"},
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
    {PL_METHOD_GET, "/api/scheduled-tasks/calendar", 0, PL_FOR_READ, show_calendar,
     "scheduled_task_calendar", "List past and future runs of your tasks between two instants",
     "tasks", NULL, "Calendar", 200, calendar_params},
    {PL_METHOD_GET, "/api/scheduled-tasks/{id}/runs", 0, PL_FOR_READ, runs, "scheduled_task_runs",
     "List the runs of a task, newest first", "tasks", NULL, "ScheduledTaskRunList", 200,
     run_params},
    {PL_METHOD_GET, "/api/scheduled-tasks/{id}/occurrences", 0, PL_FOR_READ, occurrences,
     "scheduled_task_occurrences", "List the next times of a task", "tasks", NULL, "Occurrences",
     200, occurrence_params},
    {0},
};

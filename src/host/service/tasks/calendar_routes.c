/* The calendar: past and future runs of all tasks of a user between two instants. */
#include "http/json_members.h"
#include "http/routes/route.h"
#include "io/clock.h"
#include "service/request_options.h"
#include "service/tasks/routes.h"
#include "service/tasks/task_json.h"
#include "service/tasks/task_request.h"

#include <stdlib.h>

enum {
    MAX_DAYS = 62,
    DEFAULT_DAYS = 7,
    MAX_ENTRIES = 1000,
    N_ROOM = 4 * MAX_ENTRIES, /* for runs; reduced to the earliest from time to time */
    MAX_TASKS = 1000,         /* that it considers */
    MAX_RUNS = 20000,         /* that it reads */
    PAGE = 100,
};
#define DAY_MS (INT64_C(86400) * 1000)

/* A task of the user, and its next time in the future part. */
struct dated {
    struct pl_task_row task;
    struct pl_task_when when;
    int64_t next_s;
};

struct entry {
    const struct dated *task;
    int64_t at_ms;
    const struct pl_task_run_row *run; /* of a past entry */
};

struct calendar {
    struct pl_exchange *x;
    int64_t from_ms, to_ms, now_ms;
    struct dated *tasks; /* arena */
    size_t n_tasks;
    struct dated **due; /* arena; heap of tasks with a future time, earliest first */
    size_t n_due;
    struct entry *entries; /* arena; past runs, then future occurrences */
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
    calendar->due = pl_arena_alloc(&x->arena, MAX_TASKS, sizeof *calendar->due);
    if (!calendar->tasks || !calendar->due)
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

/* --- what was run ----------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    return (one->at_ms > other->at_ms) - (one->at_ms < other->at_ms);
}

static void keep_earliest(struct calendar *calendar)
{
    qsort(calendar->entries, calendar->n_entries, sizeof *calendar->entries, by_time);
    if (calendar->n_entries > MAX_ENTRIES) {
        calendar->n_entries = MAX_ENTRIES;
        calendar->is_complete = false;
    }
}

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
    if (page.has_more)
        calendar->is_complete = false;
    if (calendar->n_entries + page.n_items > N_ROOM)
        keep_earliest(calendar);
    for (size_t i = 0; i < page.n_items; i++)
        calendar->entries[calendar->n_entries++] =
            (struct entry){task, page.items[i].due_ms, &page.items[i]};
    calendar->n_runs += page.n_items;
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
    keep_earliest(calendar);
    return true;
}

/* --- future occurrences ---------------------------------------------------------------------- */

/* At the same second, the task that was listed first is first. */
static bool is_before(const struct dated *one, const struct dated *other)
{
    return one->next_s != other->next_s ? one->next_s < other->next_s : one < other;
}

static void swap(struct calendar *calendar, size_t i, size_t j)
{
    struct dated *kept = calendar->due[i];
    calendar->due[i] = calendar->due[j];
    calendar->due[j] = kept;
}

static void push(struct calendar *calendar, struct dated *task)
{
    size_t i = calendar->n_due++;
    calendar->due[i] = task;
    for (; i > 0 && is_before(calendar->due[i], calendar->due[(i - 1) / 2]); i = (i - 1) / 2)
        swap(calendar, i, (i - 1) / 2);
}

static struct dated *pop(struct calendar *calendar)
{
    struct dated *first = calendar->due[0];
    calendar->due[0] = calendar->due[--calendar->n_due];
    for (size_t i = 0, child; (child = 2 * i + 1) < calendar->n_due; i = child) {
        if (child + 1 < calendar->n_due &&
            is_before(calendar->due[child + 1], calendar->due[child]))
            child++;
        if (!is_before(calendar->due[child], calendar->due[i]))
            break;
        swap(calendar, i, child);
    }
    return first;
}

static void push_next(struct calendar *calendar, struct dated *task, int64_t after_s)
{
    int64_t end_ms = calendar->to_ms;
    if (task->task.expires_ms && task->task.expires_ms < end_ms)
        end_ms = task->task.expires_ms;
    if (pl_cron_next(&task->when.cron, task->when.zone, after_s, &task->next_s) &&
        task->next_s * 1000 < end_ms)
        push(calendar, task);
}

/* All tasks side by side, so that a task that runs every minute costs no more than the shown
 * part. */
static void add_future(struct calendar *calendar)
{
    struct pl_zones *zones = calendar->x->shard->server->zones;
    int64_t from_ms = calendar->from_ms > calendar->now_ms ? calendar->from_ms : calendar->now_ms;
    int64_t after_s =
        pl_task_seconds(from_ms) - (from_ms % 1000 == 0 && from_ms != calendar->now_ms);
    for (size_t i = 0; i < calendar->n_tasks; i++) {
        struct dated *task = &calendar->tasks[i];
        struct pl_error err = {0};
        if (task->task.enabled &&
            pl_task_when(zones, task->task.cron, task->task.timezone, &task->when, &err) == PL_OK)
            push_next(calendar, task, after_s);
    }
    while (calendar->n_due) {
        if (calendar->n_entries == MAX_ENTRIES) {
            calendar->is_complete = false;
            return;
        }
        struct dated *task = pop(calendar);
        calendar->entries[calendar->n_entries++] = (struct entry){task, task->next_s * 1000, NULL};
        push_next(calendar, task, task->next_s);
    }
}

/* --- the answer ------------------------------------------------------------------------------ */

static void write_entry(struct pl_json_out *out, const struct entry *entry,
                        const struct pl_tzif *zone)
{
    pl_json_out_open(out, '{');
    pl_put_text(out, "task_id", entry->task->task.id);
    pl_put_text(out, "title", entry->task->task.title);
    pl_task_write_instant(out, zone, pl_task_seconds(entry->at_ms));
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
        /* A zone that no longer exists is shown as UTC. */
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
    calendar.entries = pl_arena_alloc(&x->arena, N_ROOM, sizeof *calendar.entries);
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
static const struct pl_route_param calendar_params[] = {
    {"from", INSTANT, "The beginning; now by default"},
    {"to", INSTANT, "The end, at most 62 days later; 7 days by default"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_calendar[] = {
    {PL_METHOD_GET, "/api/scheduled-tasks/calendar", 0, PL_FOR_READ, show_calendar,
     "scheduled_task_calendar", "List past and future runs of your tasks between two instants",
     "tasks", NULL, "Calendar", 200, calendar_params},
    {0},
};

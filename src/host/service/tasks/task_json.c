/* Writes ScheduledTask and ScheduledTaskRun objects. Stored statuses are mapped to those of seed
 * 003 here. */
#include "service/tasks/task_json.h"

#include "base/text/utc.h"
#include "http/json_members.h"

#include <stdio.h>

void pl_task_write_instant(struct pl_json_out *out, const struct pl_tzif *zone, int64_t unix_s)
{
    char text[48];
    int32_t offset_s = pl_tzif_era(zone, unix_s).offset_s;
    struct pl_civil civil = pl_civil_of(unix_s + offset_s);
    unsigned away_s = (unsigned)(offset_s < 0 ? -offset_s : offset_s);
    snprintf(text, sizeof text, "%04d-%02u-%02uT%02u:%02u:%02u%c%02u:%02u", (int)civil.year,
             civil.month, civil.day, civil.hour, civil.minute, civil.second,
             offset_s < 0 ? '-' : '+', away_s / 3600, away_s / 60 % 60);
    pl_put_time(out, "at", unix_s * 1000);
    pl_put_text(out, "local", pl_str_of(text));
}

void pl_task_write(struct pl_json_out *out, const struct pl_task_row *task)
{
    pl_json_out_open(out, '{');
    pl_put_text(out, "id", task->id);
    pl_put_text(out, "title", task->title);
    /* Seed 003 requires a text here. */
    pl_put_text(out, "prompt", task->prompt.ptr ? task->prompt : PL_STR(""));
    pl_put_text(out, "cron", task->cron);
    pl_put_text(out, "timezone", task->timezone);
    pl_put_bool(out, "enabled", task->enabled);
    pl_put_time(out, "expires_at", task->expires_ms);
    pl_put_bool(out, "skip_confirmations", task->skip_confirmations);
    pl_put_text(out, "model", task->model);
    pl_put_raw(out, "prompt_ref", task->prompt_ref);
    pl_put_text(out, "overlap", task->overlap);
    /* At its expiry a task is only examined, not run. */
    bool is_due = task->enabled && !(task->expires_ms && task->next_ms >= task->expires_ms);
    pl_put_time(out, "next_run_at", is_due ? task->next_ms : INT64_MAX);
    pl_put_time(out, "last_run_at", task->last_ms);
    pl_put_int(out, "failures", task->n_failures);
    pl_put_text(out, "disabled_reason", task->disabled_reason);
    pl_put_time(out, "created_at", task->created_ms);
    pl_put_time(out, "updated_at", task->updated_ms);
    pl_json_out_close(out, '}');
}

/* Stored statuses and their names in seed 003, where a run is running, completed or failed. */
static const struct {
    const char *status, *told;
    bool is_reason;
} statuses[] = {
    {"running", "running", false}, {"completed", "completed", false}, {"failed", "failed", false},
    {"queued", "running", true},   {"missed", "failed", true},        {"skipped", "failed", true},
};

void pl_task_run_write(struct pl_json_out *out, const struct pl_task_run_row *run)
{
    const char *told = "failed";
    bool is_reason = false;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (pl_str_eq(run->status, pl_str_of(statuses[i].status))) {
            told = statuses[i].told;
            is_reason = statuses[i].is_reason;
        }
    pl_json_out_open(out, '{');
    pl_put_text(out, "id", run->id);
    pl_put_text(out, "task_id", run->task_id);
    pl_put_text(out, "session_id", run->session_id);
    pl_put_text(out, "status", pl_str_of(told));
    pl_put_text(out, "error", run->error);
    pl_put_time(out, "triggered_at", run->triggered_ms);
    pl_put_time(out, "finished_at", run->finished_ms);
    pl_put_time(out, "due_at", run->due_ms);
    pl_put_bool(out, "is_manual", run->is_manual);
    pl_put_text(out, "reason", is_reason ? run->status : (struct pl_str){0});
    pl_put_int(out, "missed_count", run->n_missed);
    pl_json_out_close(out, '}');
}

static enum pl_status copy_all(struct pl_arena *arena, struct pl_str *const strings[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct pl_str kept = pl_arena_dup(arena, *strings[i]);
        if (!kept.ptr && strings[i]->len)
            return PL_NOMEM;
        /* An empty text stays a text, and null stays null. */
        if (strings[i]->len)
            *strings[i] = kept;
        else if (strings[i]->ptr)
            *strings[i] = PL_STR("");
    }
    return PL_OK;
}

enum pl_status pl_task_copy(struct pl_arena *arena, const struct pl_task_row *task,
                            struct pl_task_row *ret_copy)
{
    struct pl_task_row copy = *task;
    struct pl_str *const strings[] = {
        &copy.id,   &copy.user_id,  &copy.title, &copy.prompt,  &copy.prompt_ref,
        &copy.cron, &copy.timezone, &copy.model, &copy.overlap, &copy.disabled_reason};
    enum pl_status status = copy_all(arena, strings, sizeof strings / sizeof *strings);
    if (status == PL_OK)
        *ret_copy = copy;
    return status;
}

enum pl_status pl_task_run_copy(struct pl_arena *arena, const struct pl_task_run_row *run,
                                struct pl_task_run_row *ret_copy)
{
    struct pl_task_run_row copy = *run;
    struct pl_str *const strings[] = {&copy.id, &copy.task_id, &copy.session_id, &copy.status,
                                      &copy.error};
    enum pl_status status = copy_all(arena, strings, sizeof strings / sizeof *strings);
    if (status == PL_OK)
        *ret_copy = copy;
    return status;
}

/* parley task: scheduled tasks of a server. */
#include "app/chat/follow.h"
#include "app/prompt/prompt_int.h"
#include "app/library/task_due.h"
#include "app/chat/turn_show.h"

#include "base/text/utc.h"
#include "io/clock.h"

#include <stdio.h>

enum { MAX_LIMIT = 100, TITLE_WIDTH = 40, ERROR_WIDTH = 60, DAY_S = 86400 };

static enum pl_exit print_or(struct pl_deed *deed, enum pl_exit code,
                             enum pl_exit (*print)(struct pl_deed *deed))
{
    if (code != PL_EXIT_OK)
        return code;
    return deed->api.is_json ? pl_deed_print(deed) : print(deed);
}

/* --- looking --------------------------------------------------------------------------------- */

static enum pl_exit print_list(struct pl_deed *deed)
{
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "no task found; \"parley task new\" creates one");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        bool is_on = pl_json_member(&deed->answer, one, "enabled", PL_JSON_TRUE);
        pl_columns_add(&columns, pl_deed_text(deed, one, "id"));
        pl_columns_add(&columns, pl_line_of(texts, pl_deed_text(deed, one, "title"), TITLE_WIDTH));
        pl_columns_add(&columns, is_on ? PL_STR("started") : PL_STR("stopped"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "cron"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "timezone"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "next_run_at")));
    }
    return pl_deed_print_table(deed, &columns, "--limit shows more, --query TEXT filters.");
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {
        {PL_OPT_QUERY, "q"}, {PL_OPT_LIMIT, "limit"}, {0}};
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_query(deed, "/api/scheduled-tasks", params));
    return print_or(deed, code, print_list);
}

static void show_prompt(struct pl_deed *deed)
{
    const struct pl_json_node *ref =
        pl_json_member(&deed->answer, deed->answer.root, "prompt_ref", PL_JSON_OBJECT);
    if (ref) {
        pl_show_member(deed->console, "uses", pl_json_span(&deed->answer, ref));
        return;
    }
    pl_console_puts(deed->console, "\n");
    pl_show_text(deed->console, pl_deed_text(deed, deed->answer.root, "prompt"), 0);
    pl_console_puts(deed->console, "\n");
}

static enum pl_exit print_task(struct pl_deed *deed)
{
    /* Times are shown in a shorter form. */
    static const struct {
        const char *label, *name;
        bool is_time;
    } lines[] = {
        {"title", "title", false},       {"cron", "cron", false},
        {"zone", "timezone", false},     {"model", "model", false},
        {"overlap", "overlap", false},   {"stopped", "disabled_reason", false},
        {"next", "next_run_at", true},   {"last", "last_run_at", true},
        {"expires", "expires_at", true}, {"made", "created_at", true},
    };
    const struct pl_json_node *task = deed->answer.root;
    pl_console_put_safe(deed->console, pl_deed_text(deed, task, "id"));
    pl_console_puts(deed->console, "\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct pl_str value = pl_deed_text(deed, task, lines[i].name);
        if (value.len)
            pl_show_member(deed->console, lines[i].label,
                           lines[i].is_time ? pl_time_of(&deed->api.texts, value) : value);
    }
    pl_show_member(deed->console, "state",
                   pl_json_member(&deed->answer, task, "enabled", PL_JSON_TRUE)
                       ? PL_STR("started")
                       : PL_STR("stopped"));
    if (pl_json_member(&deed->answer, task, "skip_confirmations", PL_JSON_TRUE))
        pl_show_member(deed->console, "asks", PL_STR("nothing: confirmations are skipped"));
    if (pl_api_int(&deed->answer, task, "failures", 0))
        pl_show_member(deed->console, "failures", pl_deed_number(deed, task, "failures"));
    show_prompt(deed);
    return PL_EXIT_OK;
}

static enum pl_exit run_show(struct pl_deed *deed)
{
    return print_or(deed, pl_deed_ask(deed, "GET", pl_deed_path(deed, "/api/scheduled-tasks/%")),
                    print_task);
}

static enum pl_exit print_runs(struct pl_deed *deed)
{
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "it has not run yet");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        struct pl_str reason = pl_deed_text(deed, one, "reason");
        struct pl_str session = pl_deed_text(deed, one, "session_id");
        struct pl_str due = pl_deed_text(deed, one, "due_at");
        pl_columns_add(&columns,
                       pl_time_of(texts, due.len ? due : pl_deed_text(deed, one, "triggered_at")));
        pl_columns_add(&columns, reason.len ? reason : pl_deed_text(deed, one, "status"));
        pl_columns_add(&columns, session.len ? session : PL_STR("-"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "finished_at")));
        struct pl_str error = pl_deed_text(deed, one, "error");
        pl_columns_add(&columns, error.len ? pl_line_of(texts, error, ERROR_WIDTH) : PL_STR("-"));
    }
    return pl_deed_print_table(deed, &columns, "--limit shows more.");
}

static enum pl_exit run_runs(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_LIMIT, "limit"}, {0}};
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    const char *path = pl_deed_path(deed, "/api/scheduled-tasks/%/runs");
    if (code == PL_EXIT_OK)
        code = path ? pl_deed_ask(deed, "GET", pl_deed_query(deed, path, params))
                    : pl_deed_stop(deed, PL_NOMEM);
    return print_or(deed, code, print_runs);
}

static enum pl_exit print_occurrences(struct pl_deed *deed)
{
    struct pl_columns columns;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "it will not be due again");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_text(deed, one, "at"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "local"));
    }
    return pl_deed_print_table(deed, &columns, NULL);
}

static enum pl_exit run_occurrences(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {
        {PL_OPT_COUNT, "limit"}, {PL_OPT_FROM, "from"}, {PL_OPT_TO, "to"}, {0}};
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_COUNT, MAX_LIMIT);
    bool has_count = pl_args_has(deed->args, PL_OPT_COUNT);
    const char *path =
        pl_deed_path(deed, has_count ? "/api/scheduled-tasks/%/occurrences"
                                     : "/api/scheduled-tasks/%/occurrences?limit=10");
    if (code == PL_EXIT_OK)
        code = path ? pl_deed_ask(deed, "GET", pl_deed_query(deed, path, params))
                    : pl_deed_stop(deed, PL_NOMEM);
    return print_or(deed, code, print_occurrences);
}

/* --- the calendar ---------------------------------------------------------------------------- */

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};

static void put_due(struct pl_deed *deed, const struct pl_json_node *item,
                    const struct pl_civil *civil)
{
    const struct pl_json_node *run = pl_json_member(&deed->answer, item, "run", PL_JSON_OBJECT);
    struct pl_str reason = pl_deed_text(deed, run, "reason");
    struct pl_str title = pl_deed_text(deed, item, "title");
    pl_console_putf(deed->console, "  %02u:%02u  ", civil->hour, civil->minute);
    pl_console_put_safe(deed->console, pl_line_of(&deed->api.texts, title, TITLE_WIDTH));
    if (run) {
        pl_console_puts(deed->console, "  (");
        pl_console_put_safe(deed->console, reason.len ? reason : pl_deed_text(deed, run, "status"));
        pl_console_puts(deed->console, ")");
    }
    pl_console_puts(deed->console, "\n");
}

/* Prints a heading for each day in the zone, and below it the runs that are due or done. */
static void put_days(struct pl_deed *deed, const struct pl_tzif *zone)
{
    int64_t day = INT64_MIN;
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        int64_t at_us = 0;
        if (!pl_utc_read(pl_deed_text(deed, one, "at"), &at_us))
            continue;
        int64_t local_s = at_us / 1000000 + pl_tzif_era(zone, at_us / 1000000).offset_s;
        struct pl_civil civil = pl_civil_of(local_s);
        if (local_s / DAY_S != day) {
            pl_console_puts(deed->console, day == INT64_MIN ? "" : "\n");
            pl_console_style(deed->console, PL_STYLE_BOLD);
            pl_console_putf(deed->console, "%04d-%02u-%02u %s", (int)civil.year, civil.month,
                            civil.day, weekdays[civil.weekday]);
            pl_console_style(deed->console, PL_STYLE_PLAIN);
            pl_console_puts(deed->console, "\n");
            day = local_s / DAY_S;
        }
        put_due(deed, one, &civil);
    }
}

static void print_calendar(struct pl_deed *deed, const struct pl_tzif *zone)
{
    put_days(deed, zone);
    if (!pl_deed_item(deed, NULL))
        pl_console_say(deed->console, "nothing is due in this period");
    if (pl_json_member(&deed->answer, deed->answer.root, "is_complete", PL_JSON_FALSE))
        pl_console_hint(deed->console, "There is more; choose a shorter period with --to.");
}

/* A date "2026-11-16" means its first instant in the zone. */
static enum pl_exit read_instant(struct pl_deed *deed, enum pl_option_id id,
                                 const struct pl_tzif *zone, int64_t otherwise_s, int64_t *ret_s)
{
    const struct pl_option_use *use = pl_args_find(deed->args, id);
    char text[64];
    int64_t unix_us = otherwise_s * 1000000;
    bool is_date = use && strlen(use->values[0]) == sizeof "2026-11-16" - 1;
    if (use) {
        snprintf(text, sizeof text, "%.40s%s", use->values[0], is_date ? "T00:00:00Z" : "");
        if (!pl_utc_read(pl_str_of(text), &unix_us))
            return pl_deed_usage(deed,
                                 "--%s must be a date such as 2026-11-16 or an instant such as "
                                 "2026-11-16T09:00:00Z, not \"%s\"",
                                 use->option->name, use->values[0]);
    }
    *ret_s = unix_us / 1000000;
    if (is_date)
        *ret_s = pl_tzif_instant(zone, *ret_s).unix_s;
    return PL_EXIT_OK;
}

static enum pl_exit ask_calendar(struct pl_deed *deed, const struct pl_tzif *zone)
{
    char from[PL_UTC_SIZE + 1] = "", to[PL_UTC_SIZE + 1] = "";
    int64_t now_s = pl_clock_unix_s(), from_s = 0, to_s = 0;
    int64_t local_s = now_s + pl_tzif_era(zone, now_s).offset_s;
    int64_t today_s = pl_tzif_instant(zone, local_s - local_s % DAY_S).unix_s;
    enum pl_exit code = read_instant(deed, PL_OPT_FROM, zone, today_s, &from_s);
    if (code == PL_EXIT_OK)
        code = read_instant(deed, PL_OPT_TO, zone, from_s + 7 * DAY_S, &to_s);
    if (code != PL_EXIT_OK)
        return code;
    pl_utc_write(from, from_s * 1000);
    pl_utc_write(to, to_s * 1000);
    return pl_deed_ask(
        deed, "GET",
        pl_api_path(&deed->api, "/api/scheduled-tasks/calendar?from=%&to=%", from, to, NULL));
}

static enum pl_exit run_calendar(struct pl_deed *deed)
{
    struct pl_zones *zones = NULL;
    const struct pl_tzif *zone = NULL;
    enum pl_exit code =
        pl_task_zone_open(deed->console, pl_deed_option(deed, PL_OPT_ZONE), &zones, &zone);
    if (code == PL_EXIT_OK)
        code = ask_calendar(deed, zone);
    if (code == PL_EXIT_OK && deed->api.is_json)
        code = pl_deed_print(deed);
    else if (code == PL_EXIT_OK)
        print_calendar(deed, zone);
    pl_zones_destroy(zones);
    return code;
}

/* --- writing --------------------------------------------------------------------------------- */

/* --use PROMPT[@LABEL]: a label or a version follows the last "@". */
static enum pl_exit out_prompt_ref(struct pl_deed *deed, const char *use)
{
    const char *at = strrchr(use, '@'), *id = NULL;
    const char *word =
        pl_deed_keep(deed, at ? (struct pl_str){use, (size_t)(at - use)} : pl_str_of(use));
    struct pl_buf body = deed->body; /* set aside while the prompt is searched */
    struct pl_json_out out = deed->out;
    pl_buf_init(&deed->body, 0);
    deed->out = pl_json_out(&deed->body);
    enum pl_exit code = word ? pl_named_prompt_find(deed, word, &id) : pl_deed_stop(deed, PL_NOMEM);
    pl_buf_deinit(&deed->body);
    deed->body = body;
    deed->out = out;
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_key(&deed->out, "prompt_ref");
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "prompt_id");
    pl_json_out_text(&deed->out, pl_str_of(id));
    pl_deed_out_version(deed, at && at[1] ? at + 1 : NULL);
    pl_json_out_key(&deed->out, "variables");
    code = pl_deed_out_variables(deed);
    pl_json_out_close(&deed->out, '}');
    return code;
}

static enum pl_exit out_prompt(struct pl_deed *deed)
{
    const char *prompt = pl_deed_option(deed, PL_OPT_PROMPT),
               *use = pl_deed_option(deed, PL_OPT_USE);
    struct pl_str text;
    if (prompt && use)
        return pl_deed_usage(deed, "give --prompt TEXT or --use PROMPT, not both");
    if (!use && pl_args_has(deed->args, PL_OPT_VAR))
        return pl_deed_usage(deed, "--var needs --use: a text has no variables");
    if (use)
        return out_prompt_ref(deed, use);
    if (!prompt)
        return PL_EXIT_OK;
    enum pl_exit code = pl_deed_read_text(deed, prompt, true, &text);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_key(&deed->out, "prompt");
    pl_json_out_text(&deed->out, text);
    return PL_EXIT_OK;
}

/* Writes null for an empty value. */
static void out_nullable(struct pl_deed *deed, enum pl_option_id id, const char *name)
{
    const char *value = pl_deed_option(deed, id);
    if (!value)
        return;
    pl_json_out_key(&deed->out, name);
    if (*value)
        pl_json_out_text(&deed->out, pl_str_of(value));
    else
        pl_json_out_null(&deed->out);
}

static enum pl_exit out_members(struct pl_deed *deed)
{
    pl_api_out_option(&deed->out, deed->args, PL_OPT_CRON, "cron");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_ZONE, "timezone");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_OVERLAP, "overlap");
    out_nullable(deed, PL_OPT_MODEL, "model");
    out_nullable(deed, PL_OPT_EXPIRES, "expires_at");
    if (pl_args_has(deed->args, PL_OPT_SKIP_CONFIRMATIONS)) {
        pl_json_out_key(&deed->out, "skip_confirmations");
        pl_json_out_bool(&deed->out, true);
    }
    return out_prompt(deed);
}

static enum pl_exit run_new(struct pl_deed *deed)
{
    if (!pl_args_has(deed->args, PL_OPT_CRON))
        return pl_deed_usage(deed, "the task needs a cron expression; give --cron EXPRESSION in "
                                   "quotes: --cron '0 9 * * MON-FRI'");
    if (!pl_args_has(deed->args, PL_OPT_PROMPT) && !pl_args_has(deed->args, PL_OPT_USE))
        return pl_deed_usage(deed, "the task needs a prompt; give --prompt TEXT (- for standard "
                                   "input), or --use PROMPT of the library");
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "title");
    pl_json_out_text(&deed->out, pl_str_of(deed->words[0]));
    if (pl_args_has(deed->args, PL_OPT_STOPPED)) {
        pl_json_out_key(&deed->out, "enabled");
        pl_json_out_bool(&deed->out, false);
    }
    enum pl_exit code = out_members(deed);
    pl_json_out_close(&deed->out, '}');
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "POST", "/api/scheduled-tasks");
    return code == PL_EXIT_OK ? pl_deed_print_made(deed, "id") : code;
}

static enum pl_exit run_edit(struct pl_deed *deed)
{
    pl_json_out_open(&deed->out, '{');
    pl_api_out_option(&deed->out, deed->args, PL_OPT_TITLE, "title");
    enum pl_exit code = out_members(deed);
    pl_json_out_close(&deed->out, '}');
    if (code == PL_EXIT_OK && pl_str_eq(pl_buf_str(&deed->body), PL_STR("{}")))
        return pl_deed_usage(deed, "nothing to change; give --cron, --zone, --prompt, --title or "
                                   "another option");
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "PATCH", pl_deed_path(deed, "/api/scheduled-tasks/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "changed") : code;
}

/* Starts the task and prints when it is due next. */
static enum pl_exit run_start(struct pl_deed *deed)
{
    enum pl_exit code =
        pl_deed_ask(deed, "POST", pl_deed_path(deed, "/api/scheduled-tasks/%/start"));
    if (code != PL_EXIT_OK)
        return code;
    struct pl_str next = pl_deed_text(deed, deed->answer.root, "next_run_at");
    struct pl_str shown = pl_time_of(&deed->api.texts, next);
    return next.len ? pl_deed_done(deed, "started; next due at %.*s", PL_STR_ARG(shown))
                    : pl_deed_done(deed, "started");
}

static enum pl_exit run_stop(struct pl_deed *deed)
{
    enum pl_exit code =
        pl_deed_ask(deed, "POST", pl_deed_path(deed, "/api/scheduled-tasks/%/stop"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "stopped") : code;
}

/* Prints why a run has no session. */
static enum pl_exit tell_no_session(struct pl_deed *deed)
{
    struct pl_str reason = pl_deed_text(deed, deed->answer.root, "reason");
    struct pl_str error = pl_deed_text(deed, deed->answer.root, "error");
    if (pl_str_eq(reason, PL_STR("queued")))
        return pl_deed_done(deed, "the run is queued until the previous one ends");
    (void)pl_deed_done(deed, "no session was created: %.*s",
                       PL_STR_ARG(error.len    ? error
                                  : reason.len ? reason
                                               : PL_STR("the server does not say why")));
    return PL_EXIT_NO;
}

static enum pl_exit run_now(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_ask(deed, "POST", pl_deed_path(deed, "/api/scheduled-tasks/%/run"));
    if (code != PL_EXIT_OK)
        return code;
    struct pl_str session = pl_deed_text(deed, deed->answer.root, "session_id");
    const char *kept = session.len ? pl_deed_keep(deed, session) : NULL;
    if (!kept)
        return tell_no_session(deed);
    if (pl_args_has(deed->args, PL_OPT_FOLLOW))
        return pl_follow_new(&deed->api, kept);
    return pl_deed_print_made(deed, "session_id");
}

static enum pl_exit run_delete(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_confirm(deed, "Delete the task %s?", deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "DELETE", pl_deed_path(deed, "/api/scheduled-tasks/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "deleted %s", deed->words[0]) : code;
}

const struct pl_verb pl_task_verbs[] = {
    {"next", "EXPRESSION", 1, 1,
     "Explain a cron expression and list its next times; needs no server", pl_verb_task_next, true},
    {"explain", "EXPRESSION", 1, 1, "The same in English and in Chinese; needs no server",
     pl_verb_task_explain, true},
    {"list", "", 0, 0, "List tasks, newest first", run_list,
     .columns = "id,title,state,cron,zone,next"},
    {"show", "ID", 1, 1, "Show all fields of a task", run_show, .offers = "tasks"},
    {"new", "TITLE", 1, 1,
     "Create a task that sends --prompt, or --use of the library, at the times of --cron, and "
     "print its id",
     run_new},
    {"edit", "ID", 1, 1, "Change the given fields", run_edit, .offers = "tasks"},
    {"start", "ID", 1, 1, "Enable the schedule of a task", run_start, .offers = "tasks"},
    {"stop", "ID", 1, 1, "Disable the schedule of a task", run_stop, .offers = "tasks"},
    {"run", "ID", 1, 1, "Run a task now, and print the session; with --follow, the answer", run_now,
     .offers = "tasks"},
    {"runs", "ID", 1, 1, "List the runs, newest first", run_runs,
     .columns = "due,status,session,ended,error", .offers = "tasks"},
    {"occurrences", "ID", 1, 1, "List the next times", run_occurrences, .columns = "utc,local",
     .offers = "tasks"},
    {"calendar", "", 0, 0, "List by day what is due and what ran, between --from and --to",
     run_calendar},
    {"delete", "ID", 1, 1, "Delete a task; the sessions of its runs stay", run_delete,
     .offers = "tasks"},
    {0},
};

/* Finished calls of models: single ones, and their sums over time. */
#include "base/text/decimal.h"
#include "http/exchange.h"
#include "http/json_members.h"
#include "http/reply/base64url.h"
#include "io/clock.h"
#include "live/lists.h"
#include "service/request_options.h"
#include "service/runs/draft_run.h"
#include "service/runs/routes.h"
#include "store/page.h"

#include <stdio.h>

#define HOUR_MS INT64_C(3600000)
#define DAY_MS  (24 * HOUR_MS)
enum { MAX_SUMS = 10000 };

/* --- one ------------------------------------------------------------------------------------- */

static void put_cost(struct pl_json_out *out, const char *key, int64_t micro)
{
    char text[40];
    pl_json_out_key(out, key);
    if (micro < 0) {
        pl_json_out_null(out);
        return;
    }
    int n = snprintf(text, sizeof text, "%lld.%06lld", (long long)(micro / 1000000),
                     (long long)(micro % 1000000));
    pl_json_out_raw(out, (struct pl_str){text, (size_t)n});
}

static void put_ms(struct pl_json_out *out, const char *key, int64_t ms)
{
    pl_json_out_key(out, key);
    if (ms < 0)
        pl_json_out_null(out);
    else
        pl_json_out_int(out, ms);
}

static void write_run(struct pl_json_out *out, const struct pl_model_run *run)
{
    pl_json_out_open(out, '{');
    pl_put_text(out, "id", run->id);
    pl_put_text(out, "source", run->source);
    pl_put_text(out, "status", run->status);
    pl_put_text(out, "model", run->model);
    pl_put_time(out, "started_at", run->started_ms);
    put_ms(out, "ttft_ms", run->first_ms);
    pl_put_int(out, "total_ms", run->total_ms);
    pl_put_int(out, "input_tokens", run->input_tokens);
    pl_put_int(out, "output_tokens", run->output_tokens);
    pl_put_int(out, "cached_tokens", run->cached_tokens);
    put_cost(out, "cost_usd", run->cost_micro);
    pl_put_text(out, "key_id", run->key_id.len ? run->key_id : (struct pl_str){0});
    pl_put_text(out, "session_id", run->session_id);
    pl_put_text(out, "turn_id", run->turn_id);
    pl_put_text(out, "prompt_id", run->prompt_id);
    pl_put_number(out, "version", run->version);
    pl_put_text(out, "error", run->error);
    pl_json_out_close(out, '}');
}

void pl_run_tell(struct pl_server *server, const struct pl_model_run *run)
{
    PL_CLEANUP_BUF struct pl_buf data;
    if (!pl_lists_are_followed(server))
        return;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "run");
    write_run(&out, run);
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_lists_tell(server, run->user_id, "run:updated", pl_buf_str(&data));
}

static void get_work(struct pl_exchange *x)
{
    struct pl_model_run run;
    struct pl_error err = {0};
    enum pl_status status = pl_store_model_run_get(x->shard->server->store, &x->arena,
                                                   x->caller.user_id, x->args[0], &run, &err);
    struct pl_json_out out = pl_json_out(&x->reply);
    if (status == PL_OK)
        write_run(&out, &run);
    else if (status == PL_NOT_FOUND || status == PL_INVALID)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no such run.");
    else
        pl_exchange_fail(x, status, &err);
}

static void run_get(struct pl_exchange *x)
{
    pl_exchange_work(x, get_work, NULL);
}

/* A finished run is not changed, and is returned. */
static void run_stop(struct pl_exchange *x)
{
    if (!pl_draft_run_stop_anywhere(x->shard->server, x->caller.user_id, x->args[0])) {
        pl_exchange_work(x, get_work, NULL);
        return;
    }
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "id", x->args[0]);
    pl_put_text(&out, "status", PL_STR("stopping"));
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

/* --- many ------------------------------------------------------------------------------------ */

static bool read_filter(struct pl_exchange *x, struct pl_model_run_query *query)
{
    *query = (struct pl_model_run_query){
        .user_id = x->caller.user_id,
        .model = pl_target_param(&x->target, "model"),
        .prompt_id = pl_target_param(&x->target, "prompt_id"),
        .source = pl_target_param(&x->target, "source"),
        .status = pl_target_param(&x->target, "status"),
        .before_ms = INT64_MAX,
    };
    return pl_param_time(x, "from", 0, &query->from_ms) &&
           pl_param_time(x, "to", INT64_MAX, &query->to_ms);
}

/* "ms id" of the last item. */
static bool read_cursor(struct pl_exchange *x, struct pl_str cursor,
                        struct pl_model_run_query *query)
{
    const char *space = cursor.len ? memchr(cursor.ptr, ' ', cursor.len) : NULL;
    if (!cursor.len)
        return true;
    size_t n = space ? (size_t)(space - cursor.ptr) : 0;
    query->before_id = space ? pl_str_slice(cursor, n + 1, cursor.len) : (struct pl_str){0};
    bool is_good = space && pl_decimal_read(pl_str_slice(cursor, 0, n), &query->before_ms) &&
                   pl_id_is(query->before_id, "run_");
    return is_good || pl_exchange_refuse_cursor(x);
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_model_run_query query;
    struct pl_model_run_page page;
    struct pl_error err = {0};
    char cursor[96] = "";
    if (!pl_exchange_page_args(x, &args) || !read_filter(x, &query) ||
        !read_cursor(x, args.cursor, &query))
        return;
    if (query.prompt_id.len && !pl_id_is(query.prompt_id, "prompt_")) {
        pl_option_refuse(x, "This is not the id of a prompt.", "/prompt_id");
        return;
    }
    query.limit = args.limit;
    enum pl_status status =
        pl_store_model_run_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (pl_list_walk_next(&walk, x))
        write_run(&out, &page.items[walk.n - 1]);
    if (walk.has_more)
        snprintf(cursor, sizeof cursor, "%lld %.*s", (long long)page.items[walk.n - 1].started_ms,
                 PL_STR_ARG(page.items[walk.n - 1].id));
    pl_exchange_list_end(x, &args, page.total, pl_str_of(cursor));
}

static void run_list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

static void write_sum(struct pl_json_out *out, const struct pl_model_run_sum *sum)
{
    pl_json_out_open(out, '{');
    pl_put_time(out, "at", sum->at_ms);
    pl_put_text(out, "group", sum->group);
    pl_put_int(out, "runs", sum->n);
    pl_put_int(out, "failed", sum->n_failed);
    pl_put_int(out, "input_tokens", sum->input_tokens);
    pl_put_int(out, "output_tokens", sum->output_tokens);
    put_cost(out, "cost_usd", sum->cost_micro);
    put_ms(out, "ttft_ms", sum->n_first ? sum->first_sum_ms / sum->n_first : -1);
    put_ms(out, "total_ms", sum->n ? sum->total_sum_ms / sum->n : -1);
    pl_json_out_close(out, '}');
}

/* Minutes east of Greenwich, for days that begin at the reader's midnight. */
static bool read_offset(struct pl_exchange *x, int64_t *ret_ms)
{
    struct pl_str text = pl_target_param(&x->target, "utc_offset");
    bool is_west = text.len && text.ptr[0] == '-';
    int64_t minutes = 0;
    *ret_ms = 0;
    if (!text.ptr)
        return true;
    if (!pl_decimal_read(pl_str_slice(text, is_west, text.len), &minutes) || minutes > 14 * 60) {
        pl_option_refuse(x, "must be whole minutes from -840 to 840.", "/utc_offset");
        return false;
    }
    *ret_ms = (is_west ? -minutes : minutes) * 60000;
    return true;
}

static void series_work(struct pl_exchange *x)
{
    struct pl_model_run_query query;
    struct pl_model_run_sum *sums = NULL;
    struct pl_error err = {0};
    bool has_more = false;
    size_t n = 0;
    bool is_hourly = pl_str_eq(pl_target_param(&x->target, "bucket"), PL_STR("hour"));
    struct pl_model_run_series series = {
        .which = &query,
        .bucket_ms = is_hourly ? HOUR_MS : DAY_MS,
        .group = pl_target_param(&x->target, "group"),
        .limit = MAX_SUMS,
    };
    if (!read_filter(x, &query) || !read_offset(x, &series.offset_ms))
        return;
    if (query.prompt_id.len && !pl_id_is(query.prompt_id, "prompt_")) {
        pl_option_refuse(x, "This is not the id of a prompt.", "/prompt_id");
        return;
    }
    if (pl_str_eq(series.group, PL_STR("none")))
        series.group = (struct pl_str){0};
    enum pl_status status = pl_store_model_run_sums(x->shard->server->store, &x->arena, &series,
                                                    &sums, &n, &has_more, &err);
    if (status == PL_OK && has_more)
        pl_exchange_problem(x, PL_PROBLEM_PAYLOAD_TOO_LARGE, NULL,
                            "The series would have more than %d points; ask for a shorter time or "
                            "longer buckets.",
                            MAX_SUMS);
    else if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    if (x->is_problem)
        return;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "bucket", is_hourly ? PL_STR("hour") : PL_STR("day"));
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < n; i++)
        write_sum(&out, &sums[i]);
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

static void run_series(struct pl_exchange *x)
{
    pl_exchange_work(x, series_work, NULL);
}

#define FILTER                                                                                     \
    {"from", "{\"type\":\"string\",\"format\":\"date-time\"}",                                     \
     "Only runs that began then or later"},                                                        \
        {"to", "{\"type\":\"string\",\"format\":\"date-time\"}", "Only runs that began before"},   \
        {"model", "{\"type\":\"string\"}", "Only runs of this model"},                             \
        {"prompt_id", "{\"type\":\"string\"}", "Only runs of this prompt"},                        \
        {"source",                                                                                 \
         "{\"enum\":[\"chat\",\"prompt\",\"task\",\"gateway\",\"replay\",\"import\",\"fork\","     \
         "\"handoff\"]}",                                                                          \
         "Only runs from this source"},                                                            \
    {                                                                                              \
        "status", "{\"enum\":[\"completed\",\"failed\",\"stopped\"]}",                             \
            "Only runs with this status"                                                           \
    }

static const struct pl_route_param list_params[] = {
    PL_PARAM_LIMIT,
    PL_PARAM_CURSOR,
    FILTER,
    {NULL, NULL, NULL},
};

static const struct pl_route_param series_params[] = {
    {"bucket", "{\"enum\":[\"hour\",\"day\"]}", "The length of a bucket; a day by default"},
    {"group", "{\"enum\":[\"model\",\"source\",\"status\",\"none\"]}",
     "A line for each of them; none by default"},
    {"utc_offset", "{\"type\":\"integer\",\"minimum\":-840,\"maximum\":840}",
     "Minutes east of UTC: decides when days begin"},
    FILTER,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_runs[] = {
    {PL_METHOD_POST, "/api/run", PL_ROUTE_ANY_REPLY, PL_FOR_ALL, pl_draft_runs_start, "draft_run",
     "Run a prompt, saved or not, with several models at once", "runs", "DraftRun",
     "DraftRunResult", 200, NULL},
    {PL_METHOD_GET, "/api/runs", 0, PL_FOR_READ, run_list, "run_list",
     "List your calls of models, newest first", "runs", NULL, "RunList", 200, list_params},
    {PL_METHOD_GET, "/api/runs/series", 0, PL_FOR_READ, run_series, "run_series",
     "Get sums of your calls of models over time", "runs", NULL, "RunSeries", 200, series_params},
    {PL_METHOD_GET, "/api/runs/{id}", 0, PL_FOR_READ, run_get, "run_get", "Get a call of a model",
     "runs", NULL, "Run", 200, NULL},
    {PL_METHOD_POST, "/api/runs/{id}/stop", 0, PL_FOR_ALL, run_stop, "run_stop",
     "Stop a run that POST /api/run began", "runs", NULL, "RunStopped", 200, NULL},
    {0},
};

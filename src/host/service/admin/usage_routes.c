/* What was used through the gateway: GET /api/usage. */
#include "base/utc.h"
#include "json/write.h"
#include "server/gateway/meter.h"
#include "server/key_json.h"
#include "server/route.h"

#include <stdio.h>

enum { MAX_ROWS = 10000, DEFAULT_DAYS = 30 };

/* "2026-11-16" */
static bool read_day(struct pl_str text, int64_t *ret_day)
{
    char whole[32];
    int64_t unix_us;
    if (text.len != 10)
        return false;
    snprintf(whole, sizeof whole, "%.*sT00:00:00Z", PL_STR_ARG(text));
    if (!pl_utc_read(pl_str_of(whole), &unix_us))
        return false;
    *ret_day = pl_meter_day(unix_us / 1000);
    return true;
}

static bool read_day_param(struct pl_exchange *x, const char *name, int64_t otherwise,
                           int64_t *ret_day)
{
    struct pl_str text = pl_target_param(&x->target, name);
    *ret_day = otherwise;
    if (!text.ptr || read_day(text, ret_day))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The parameter %s must be a day such as 2026-11-16.", name);
    return false;
}

static bool read_group(struct pl_exchange *x, enum pl_usage_group *ret_group)
{
    static const char *const words[] = {
        [PL_USAGE_BY_KEY] = "key", [PL_USAGE_BY_MODEL] = "model", [PL_USAGE_BY_DAY] = "day"};
    struct pl_str text = pl_target_param(&x->target, "group");
    *ret_group = PL_USAGE_BY_MODEL;
    if (!text.ptr)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pl_str_eq(text, pl_str_of(words[i]))) {
            *ret_group = (enum pl_usage_group)i;
            return true;
        }
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The parameter group is key, model or day.");
    return false;
}

static void write_name(struct pl_json_out *out, const char *key, struct pl_str text, bool is_known)
{
    pl_json_out_key(out, key);
    if (is_known)
        pl_json_out_text(out, text);
    else
        pl_json_out_null(out);
}

static void write_row(struct pl_json_out *out, const struct pl_usage_row *row,
                      enum pl_usage_group group)
{
    char day[PL_UTC_SIZE];
    pl_utc_write(day, row->day * INT64_C(86400000));
    pl_json_out_open(out, '{');
    write_name(out, "key_id", row->key_id, group == PL_USAGE_BY_KEY && row->key_id.len);
    write_name(out, "model", row->model, group == PL_USAGE_BY_MODEL);
    write_name(out, "day", (struct pl_str){day, 10}, group == PL_USAGE_BY_DAY);
    const struct {
        const char *name;
        int64_t n;
    } counters[] = {{"requests", row->n_requests},
                    {"input_tokens", row->input_tokens},
                    {"output_tokens", row->output_tokens},
                    {"cached_tokens", row->cached_tokens}};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        pl_json_out_key(out, counters[i].name);
        pl_json_out_int(out, counters[i].n);
    }
    pl_json_out_key(out, "cost_usd");
    pl_usd_write(out, row->cost_micro);
    pl_json_out_close(out, '}');
}

static void list_work(struct pl_exchange *x)
{
    struct pl_usage_query query = {.user_id = x->caller.user_id, .limit = MAX_ROWS};
    struct pl_usage_row *rows = NULL;
    struct pl_error err = {0};
    size_t n = 0;
    const int64_t *today = x->state;
    if (!read_day_param(x, "to", *today, &query.to_day) ||
        !read_day_param(x, "from", query.to_day - DEFAULT_DAYS + 1, &query.from_day) ||
        !read_group(x, &query.group))
        return;
    enum pl_status status =
        pl_store_usage_list(x->shard->server->store, &x->arena, &query, &rows, &n, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < n; i++)
        write_row(&out, &rows[i], query.group);
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

static void list_usage(struct pl_exchange *x)
{
    int64_t *today = pl_arena_zalloc(&x->arena, 1, sizeof *today);
    x->state = today;
    if (!today) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        pl_exchange_finish(x);
        return;
    }
    *today = pl_meter_day(pl_loop_unix_ms(x->shard->loop));
    pl_exchange_work(x, list_work, NULL);
}

static const struct pl_route_param params[] = {
    {"from", "{\"type\":\"string\",\"format\":\"date\"}", "First day, UTC; 30 days by default"},
    {"to", "{\"type\":\"string\",\"format\":\"date\"}", "Last day, UTC; today by default"},
    {"group", "{\"enum\":[\"key\",\"model\",\"day\"],\"default\":\"model\"}",
     "What an item is about"},
    {0},
};

const struct pl_route pl_routes_usage[] = {
    {PL_METHOD_GET, "/api/usage", 0, list_usage, "usage_list",
     "What your keys have used through the gateway", "gateway", NULL, "UsageList", 200, params},
    {0},
};

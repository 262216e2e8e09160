/* What was used through the gateway: GET /api/usage. */
#include "access/meter.h"
#include "base/decimal.h"
#include "base/utc.h"
#include "http/route.h"
#include "json/write.h"
#include "service/admin/limits_json.h"
#include "service/admin/routes.h"

#include <stdio.h>

enum { DEFAULT_DAYS = 30 };

static const char *const group_words[] = {
    [PL_USAGE_BY_KEY] = "key", [PL_USAGE_BY_MODEL] = "model", [PL_USAGE_BY_DAY] = "day"};

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
    struct pl_str text = pl_target_param(&x->target, "group");
    *ret_group = PL_USAGE_BY_MODEL;
    if (!text.ptr)
        return true;
    for (size_t i = 0; i < sizeof group_words / sizeof *group_words; i++)
        if (pl_str_eq(text, pl_str_of(group_words[i]))) {
            *ret_group = (enum pl_usage_group)i;
            return true;
        }
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The parameter group must be key, model or day.");
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

/* A cursor is the word of the group and what the last item was about: "model:demo/echo",
 * "day:20774". */
static bool read_cursor(struct pl_exchange *x, const struct pl_page_args *args,
                        enum pl_usage_group group, struct pl_usage_row *ret_after)
{
    char prefix[16];
    struct pl_str text;
    snprintf(prefix, sizeof prefix, "%s:", group_words[group]);
    if (!pl_exchange_cursor_text(x, args, prefix, &text))
        return false;
    *ret_after = (struct pl_usage_row){.day = -1, .model = PL_STR(""), .key_id = PL_STR("")};
    switch (group) {
    case PL_USAGE_BY_KEY:
        ret_after->key_id = text;
        return true;
    case PL_USAGE_BY_MODEL:
        ret_after->model = text;
        return true;
    case PL_USAGE_BY_DAY:
        return pl_decimal_read(text, &ret_after->day) || pl_exchange_refuse_cursor(x);
    }
    return false;
}

static void write_cursor(struct pl_buf *to, const struct pl_usage_row *last,
                         enum pl_usage_group group)
{
    pl_buf_addf(to, "%s:", group_words[group]);
    if (group == PL_USAGE_BY_DAY)
        pl_buf_addf(to, "%lld", (long long)last->day);
    else
        pl_buf_add(to, group == PL_USAGE_BY_KEY ? last->key_id : last->model);
}

static enum pl_status write_page(struct pl_exchange *x, const struct pl_usage_page *page,
                                 enum pl_usage_group group)
{
    PL_CLEANUP_BUF struct pl_buf cursor;
    pl_buf_init(&cursor, 0);
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page->n_rows, page->has_more, 0};
    while (pl_list_walk_next(&walk, x))
        write_row(&out, &page->rows[walk.n - 1], group);
    if (walk.has_more)
        write_cursor(&cursor, &page->rows[walk.n - 1], group);
    pl_exchange_sums_end(x, pl_buf_str(&cursor));
    return cursor.status;
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_usage_query query = {.user_id = x->caller.user_id};
    struct pl_usage_row after;
    struct pl_usage_page page;
    struct pl_error err = {0};
    const int64_t *today = x->state;
    if (!read_day_param(x, "to", *today, &query.to_day) ||
        !read_day_param(x, "from", query.to_day - DEFAULT_DAYS + 1, &query.from_day) ||
        !read_group(x, &query.group) || !pl_exchange_sums_args(x, &args) ||
        (args.cursor.len && !read_cursor(x, &args, query.group, &after)))
        return;
    query.after = args.cursor.len ? &after : NULL;
    query.limit = args.limit;
    enum pl_status status =
        pl_store_usage_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status == PL_OK)
        status = write_page(x, &page, query.group);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
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
     "How to group the items"},
    PL_PARAMS_OF_SUMS,
    {0},
};

const struct pl_route pl_routes_usage[] = {
    {PL_METHOD_GET, "/api/usage", 0, PL_FOR_READ, list_usage, "usage_list",
     "Get the usage of your keys through the gateway", "gateway", NULL, "UsageList", 200, params},
    {0},
};

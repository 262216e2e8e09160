/* GET /api/usage: the usage of sessions, tasks, prompts and the gateway. */
#include "access/meter/meter.h"
#include "base/text/decimal.h"
#include "base/text/utc.h"
#include "http/routes/route.h"
#include "json/write.h"
#include "service/admin/keys/limits_json.h"
#include "service/admin/routes.h"

#include <stdio.h>

enum { DEFAULT_DAYS = 30 };

static const char *const group_words[PL_USAGE_GROUPS] = {
    [PL_USAGE_BY_KEY] = "key",   [PL_USAGE_BY_MODEL] = "model",       [PL_USAGE_BY_DAY] = "day",
    [PL_USAGE_BY_USER] = "user", [PL_USAGE_BY_PROVIDER] = "provider",
};

/* Reads "2026-11-16". */
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

/* Reads both days; the last one is included. */
static bool read_days(struct pl_exchange *x, int64_t today, struct pl_usage_query *query)
{
    char last[PL_UTC_SIZE];
    if (!read_day_param(x, "to", today, &query->to_day) ||
        !read_day_param(x, "from", query->to_day - DEFAULT_DAYS + 1, &query->from_day))
        return false;
    if (query->from_day <= query->to_day)
        return true;
    pl_utc_write(last, query->to_day * INT64_C(86400000));
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The parameter from is after the last day, %.10s: exchange from and to, or "
                        "leave one out.",
                        last);
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
                        "The parameter group must be user, key, model, provider or day.");
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
    write_name(out, "user_id", row->user_id, group == PL_USAGE_BY_USER);
    write_name(out, "key_id", row->key_id, group == PL_USAGE_BY_KEY && row->key_id.len);
    write_name(out, "model", row->model, group == PL_USAGE_BY_MODEL);
    write_name(out, "provider", row->model, group == PL_USAGE_BY_PROVIDER);
    write_name(out, "day", (struct pl_str){day, 10}, group == PL_USAGE_BY_DAY);
    const struct {
        const char *name;
        int64_t n;
    } counters[] = {{"requests", row->n_requests},        {"failed", row->n_failed},
                    {"aborted", row->n_aborted},          {"unpriced", row->n_unpriced},
                    {"input_tokens", row->input_tokens},  {"output_tokens", row->output_tokens},
                    {"cached_tokens", row->cached_tokens}};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        pl_json_out_key(out, counters[i].name);
        pl_json_out_int(out, counters[i].n);
    }
    pl_json_out_key(out, "cost_usd");
    pl_usd_write(out, row->cost_micro);
    pl_json_out_close(out, '}');
}

/* A cursor is the group's word and the key of the last item: "model:demo/echo", "day:20774". */
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
    case PL_USAGE_BY_PROVIDER:
        ret_after->model = text;
        return true;
    case PL_USAGE_BY_USER:
        ret_after->user_id = text;
        return true;
    case PL_USAGE_GROUPS:
        break;
    case PL_USAGE_BY_DAY:
        return pl_decimal_read(text, &ret_after->day) || pl_exchange_refuse_cursor(x);
    }
    return false;
}

static struct pl_str name_of(const struct pl_usage_row *row, enum pl_usage_group group)
{
    return group == PL_USAGE_BY_KEY    ? row->key_id
           : group == PL_USAGE_BY_USER ? row->user_id
                                       : row->model;
}

static void write_cursor(struct pl_buf *to, const struct pl_usage_row *last,
                         enum pl_usage_group group)
{
    pl_buf_addf(to, "%s:", group_words[group]);
    if (group == PL_USAGE_BY_DAY)
        pl_buf_addf(to, "%lld", (long long)last->day);
    else
        pl_buf_add(to, name_of(last, group));
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

/* A field of CSV (RFC 4180). A field that a spreadsheet would take for a formula gets a quote in
 * front. */
static void csv_text(struct pl_buf *to, struct pl_str text)
{
    bool is_formula = text.len && strchr("=+-@\t\r", text.ptr[0]);
    pl_buf_addc(to, '"');
    if (is_formula)
        pl_buf_addc(to, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            pl_buf_addc(to, '"');
        pl_buf_addc(to, text.ptr[i]);
    }
    pl_buf_addc(to, '"');
}

static void csv_row(struct pl_buf *to, const struct pl_usage_row *row, enum pl_usage_group group)
{
    char day[PL_UTC_SIZE];
    pl_utc_write(day, row->day * INT64_C(86400000));
    csv_text(to, group == PL_USAGE_BY_DAY ? (struct pl_str){day, 10} : name_of(row, group));
    pl_buf_addf(to, ",%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld.%06lld\r\n",
                (long long)row->n_requests, (long long)row->n_failed, (long long)row->n_aborted,
                (long long)row->n_unpriced, (long long)row->input_tokens,
                (long long)row->output_tokens, (long long)row->cached_tokens,
                (long long)(row->cost_micro / 1000000), (long long)(row->cost_micro % 1000000));
}

/* All rows, page by page. */
static enum pl_status write_csv(struct pl_exchange *x, struct pl_usage_query query,
                                struct pl_error *err)
{
    struct pl_usage_page page = {0};
    enum pl_status status = PL_OK;
    x->content_type = "text/csv; charset=utf-8";
    pl_buf_addf(&x->reply,
                "%s,requests,failed,aborted,unpriced,input_tokens,output_tokens,cached_tokens,"
                "cost_usd\r\n",
                group_words[query.group]);
    do {
        status = pl_store_usage_list(x->shard->server->store, &x->arena, &query, &page, err);
        for (size_t i = 0; i < page.n_rows && status == PL_OK; i++)
            csv_row(&x->reply, &page.rows[i], query.group);
        query.after = page.n_rows ? &page.rows[page.n_rows - 1] : NULL;
    } while (status == PL_OK && page.has_more && x->reply.status == PL_OK);
    return status;
}

/* An administrator may ask for another user or for all. False after making a problem. */
static bool read_user(struct pl_exchange *x, enum pl_usage_group group, struct pl_str *ret_user)
{
    struct pl_str user = pl_target_param(&x->target, "user");
    *ret_user = x->caller.user_id;
    if (!user.ptr && group != PL_USAGE_BY_USER)
        return true;
    bool is_own = user.ptr && pl_str_eq(user, x->caller.user_id);
    if (!x->caller.is_admin && !is_own) {
        if (!user.ptr)
            return true;
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                            "Only an administrator sees the usage of others.");
        return false;
    }
    *ret_user = !user.ptr || pl_str_eq(user, PL_STR("all")) ? (struct pl_str){0} : user;
    return true;
}

static bool wants_csv(struct pl_exchange *x, bool *ret_csv)
{
    struct pl_str format = pl_target_param(&x->target, "format");
    *ret_csv = format.ptr && pl_str_eq(format, PL_STR("csv"));
    if (!format.ptr || *ret_csv || pl_str_eq(format, PL_STR("json")))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The parameter format must be json or csv.");
    return false;
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    bool is_csv;
    struct pl_usage_query query = {0};
    struct pl_usage_row after;
    struct pl_usage_page page;
    struct pl_error err = {0};
    const int64_t *today = x->state;
    if (!read_days(x, *today, &query) || !read_group(x, &query.group) ||
        !read_user(x, query.group, &query.user_id) || !wants_csv(x, &is_csv) ||
        !pl_exchange_sums_args(x, &args) ||
        (args.cursor.len && !read_cursor(x, &args, query.group, &after)))
        return;
    query.after = args.cursor.len ? &after : NULL;
    query.limit = args.limit;
    enum pl_status status =
        is_csv ? write_csv(x, query, &err)
               : pl_store_usage_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status == PL_OK && !is_csv)
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
    {"group", "{\"enum\":[\"user\",\"key\",\"model\",\"provider\",\"day\"],\"default\":\"model\"}",
     "How to group the items; an administrator's group user is over all users"},
    {"user", "{\"type\":\"string\"}", "For administrators: a user's id, or all"},
    {"format", "{\"enum\":[\"json\",\"csv\"],\"default\":\"json\"}", "csv has all items"},
    PL_PARAMS_OF_SUMS,
    {0},
};

const struct pl_route pl_routes_usage[] = {
    {PL_METHOD_GET, "/api/usage", PL_ROUTE_ANY_REPLY, PL_FOR_READ, list_usage, "usage_list",
     "Get the usage of sessions, tasks, prompts and the gateway", "usage", NULL, "UsageList", 200,
     params},
    {0},
};

/* Buckets and budgets of the keys that have limits, and a table of the usage since the last
 * commit, both under one lock. A timer on the first shard commits the table once a second. */
#include "access/meter.h"

#include "base/mem.h"
#include "base/table.h"
#include "base/utc.h"
#include "base/uuid.h"
#include "shard/log.h"

#include <pthread.h>
#include <stdio.h>

enum { FLUSH_MS = 1000, MAX_NAME = 512 };

#define DAY_MS    INT64_C(86400000)
#define MINUTE_MS 60000.0

/* A bucket: `level` may become negative, if an answer was longer than the rest. */
struct bucket {
    double level;
    int64_t at_ms;
};

/* A key that has limits. */
struct limited {
    struct pl_table_link link; /* by key_id */
    char key_id[PL_ID_MAX], user_id[PL_ID_MAX];
    struct pl_limits limits;          /* without its strings */
    uint64_t changes[PL_LIMIT_COUNT]; /* the numbers of those that are in it */
    struct bucket requests, tokens;
    int64_t day, month_start; /* those that are counted */
    int64_t spent_day, spent_month;
};

/* The usage since the last commit. */
struct used {
    struct pl_table_link link; /* by name */
    struct pl_usage_row row;   /* its strings are views of name */
    size_t n_name;
    char name[]; /* user, key, model and day, each but the last after its NUL */
};

struct pl_meter {
    struct pl_server *server; /* borrowed */
    pthread_mutex_t lock;
    struct pl_table limited, used; /* under the lock; owned */
    struct pl_timer timer;         /* the first shard's */
    bool is_committing;            /* the first shard's */
};

int64_t pl_meter_day(int64_t unix_ms)
{
    return unix_ms / DAY_MS;
}

int64_t pl_meter_month_start(int64_t unix_ms)
{
    return pl_meter_day(unix_ms) - (pl_civil_of(unix_ms / 1000).day - 1);
}

/* --- limits ---------------------------------------------------------------------------------- */

static struct limited *find_limited(struct pl_meter *meter, struct pl_str key_id)
{
    struct pl_table_link *link = key_id.len ? pl_table_get(&meter->limited, key_id) : NULL;
    return link ? PL_CONTAINER_OF(link, struct limited, link) : NULL;
}

static struct limited *add_limited(struct pl_meter *meter, const struct pl_limits *limits)
{
    struct limited *limited = pl_mem_alloc(1, sizeof *limited);
    if (!limited)
        return NULL;
    *limited = (struct limited){0};
    snprintf(limited->key_id, sizeof limited->key_id, "%.*s", PL_STR_ARG(limits->key_id));
    snprintf(limited->user_id, sizeof limited->user_id, "%.*s", PL_STR_ARG(limits->user_id));
    limited->link.key = pl_str_of(limited->key_id);
    if (pl_table_put(&meter->limited, &limited->link))
        return limited;
    pl_mem_free(limited);
    return NULL;
}

/* What is named is set, unless a newer change was heard of before. */
static void set_values(struct limited *limited, const struct pl_limits *limits, uint64_t number)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        if (limits->values[i] < 0 || number < limited->changes[i])
            continue;
        limited->limits.values[i] = limits->values[i];
        limited->changes[i] = number;
        if (i == PL_LIMIT_RPM)
            limited->requests = (struct bucket){.level = (double)limits->values[i]};
        if (i == PL_LIMIT_TPM)
            limited->tokens = (struct bucket){.level = (double)limits->values[i]};
    }
}

enum pl_status pl_meter_set_limits(struct pl_meter *meter, const struct pl_limits *limits,
                                   int64_t spent_day_micro, int64_t spent_month_micro,
                                   uint64_t number)
{
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, limits->key_id);
    bool is_new = !limited;
    if (is_new)
        limited = add_limited(meter, limits);
    if (limited)
        set_values(limited, limits, number);
    if (limited && is_new) {
        limited->spent_day = spent_day_micro;
        limited->spent_month = spent_month_micro;
    }
    pthread_mutex_unlock(&meter->lock);
    return limited ? PL_OK : PL_NOMEM;
}

bool pl_meter_limits(struct pl_meter *meter, struct pl_str key_id, struct pl_limits *ret_limits)
{
    pthread_mutex_lock(&meter->lock);
    const struct limited *limited = find_limited(meter, key_id);
    bool has_some = false;
    if (limited)
        *ret_limits = limited->limits;
    for (int i = 0; limited && i < PL_LIMIT_COUNT; i++)
        has_some |= limited->limits.values[i] > 0;
    pthread_mutex_unlock(&meter->lock);
    return has_some;
}

void pl_meter_forget(struct pl_meter *meter, struct pl_str key_id)
{
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, key_id);
    if (limited)
        pl_table_remove(&meter->limited, &limited->link);
    pthread_mutex_unlock(&meter->lock);
    pl_mem_free(limited);
}

void pl_meter_forget_user(struct pl_meter *meter, struct pl_str user_id)
{
    pthread_mutex_lock(&meter->lock);
    for (struct pl_table_link *link = pl_table_next(&meter->limited, NULL), *next; link;
         link = next) {
        struct limited *limited = PL_CONTAINER_OF(link, struct limited, link);
        next = pl_table_next(&meter->limited, link);
        if (pl_str_eq(pl_str_of(limited->user_id), user_id)) {
            pl_table_remove(&meter->limited, link);
            pl_mem_free(limited);
        }
    }
    for (struct pl_table_link *link = pl_table_next(&meter->used, NULL), *next; link; link = next) {
        struct used *used = PL_CONTAINER_OF(link, struct used, link);
        next = pl_table_next(&meter->used, link);
        if (pl_str_eq(used->row.user_id, user_id)) {
            pl_table_remove(&meter->used, link);
            pl_mem_free(used);
        }
    }
    pthread_mutex_unlock(&meter->lock);
}

static void fill(struct bucket *bucket, int64_t per_minute, int64_t now_ms)
{
    /* A clock that was put back gives nothing, and takes nothing either. */
    int64_t passed_ms = now_ms > bucket->at_ms ? now_ms - bucket->at_ms : 0;
    double grown = (double)passed_ms * (double)per_minute / MINUTE_MS;
    bucket->level = grown > 0 ? bucket->level + grown : bucket->level;
    if (bucket->level > (double)per_minute)
        bucket->level = (double)per_minute;
    bucket->at_ms = now_ms;
}

/* A new day, a new month. */
static void turn_over(struct limited *limited, int64_t now_ms)
{
    int64_t day = pl_meter_day(now_ms), month_start = pl_meter_month_start(now_ms);
    if (limited->day && limited->day != day)
        limited->spent_day = 0;
    if (limited->month_start && limited->month_start != month_start)
        limited->spent_month = 0;
    limited->day = day;
    limited->month_start = month_start;
}

/* Seconds until the bucket holds this much. */
static int64_t wait_s(const struct bucket *bucket, double wanted, int64_t per_minute)
{
    double ms = (wanted - bucket->level) * MINUTE_MS / (double)per_minute;
    return (int64_t)(ms / 1000) + 1;
}

static int64_t next_month_s(int64_t now_ms)
{
    struct pl_civil civil = pl_civil_of(now_ms / 1000);
    int64_t n_days = pl_civil_month_days(civil.year, civil.month) - civil.day + 1;
    return ((pl_meter_day(now_ms) + n_days) * DAY_MS - now_ms) / 1000 + 1;
}

static bool is_spent(const struct limited *limited, int64_t now_ms, struct pl_meter_refusal *ret)
{
    const struct pl_limits *limits = &limited->limits;
    bool is_month = limits->values[PL_LIMIT_BUDGET_MONTH] &&
                    limited->spent_month >= limits->values[PL_LIMIT_BUDGET_MONTH];
    bool is_day = limits->values[PL_LIMIT_BUDGET_DAY] &&
                  limited->spent_day >= limits->values[PL_LIMIT_BUDGET_DAY];
    if (!is_month && !is_day)
        return false;
    ret->is_money = true;
    ret->retry_after_s =
        is_month ? next_month_s(now_ms) : ((pl_meter_day(now_ms) + 1) * DAY_MS - now_ms) / 1000 + 1;
    snprintf(ret->sentence, sizeof ret->sentence, "The budget of this key for the %s is used up.",
             is_month ? "month" : "day");
    return true;
}

static bool is_too_fast(struct limited *limited, struct pl_meter_refusal *ret)
{
    const struct pl_limits *limits = &limited->limits;
    bool has_no_request = limits->values[PL_LIMIT_RPM] && limited->requests.level < 1;
    bool has_no_token = limits->values[PL_LIMIT_TPM] && limited->tokens.level <= 0;
    if (!has_no_request && !has_no_token)
        return false;
    ret->is_money = false;
    ret->retry_after_s = has_no_request
                             ? wait_s(&limited->requests, 1, limits->values[PL_LIMIT_RPM])
                             : wait_s(&limited->tokens, 1, limits->values[PL_LIMIT_TPM]);
    snprintf(
        ret->sentence, sizeof ret->sentence, "This key may use %lld %s a minute.",
        (long long)(has_no_request ? limits->values[PL_LIMIT_RPM] : limits->values[PL_LIMIT_TPM]),
        has_no_request ? "requests" : "tokens");
    return true;
}

bool pl_meter_admit(struct pl_meter *meter, const struct pl_caller *caller, int64_t now_ms,
                    struct pl_meter_refusal *ret_refusal)
{
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, caller->key_id);
    bool is_refused = false;
    if (limited) {
        turn_over(limited, now_ms);
        fill(&limited->requests, limited->limits.values[PL_LIMIT_RPM], now_ms);
        fill(&limited->tokens, limited->limits.values[PL_LIMIT_TPM], now_ms);
        is_refused = is_spent(limited, now_ms, ret_refusal) || is_too_fast(limited, ret_refusal);
        if (!is_refused)
            limited->requests.level -= 1;
    }
    pthread_mutex_unlock(&meter->lock);
    return !is_refused;
}

/* --- usage ----------------------------------------------------------------------------------- */

static struct pl_str put_name(char **at, struct pl_str text)
{
    struct pl_str name = {*at, text.len};
    if (text.len)
        memcpy(*at, text.ptr, text.len);
    (*at)[text.len] = 0;
    *at += text.len + 1;
    return name;
}

static struct used *find_used(struct pl_meter *meter, const struct pl_caller *caller,
                              struct pl_str model, int64_t day)
{
    char name[MAX_NAME], *at = name;
    if (caller->user_id.len + caller->key_id.len + model.len + 32 > sizeof name)
        return NULL;
    (void)put_name(&at, caller->user_id);
    (void)put_name(&at, caller->key_id);
    (void)put_name(&at, model);
    at += snprintf(at, 24, "%lld", (long long)day);
    size_t n = (size_t)(at - name);
    struct pl_table_link *link = pl_table_get(&meter->used, (struct pl_str){name, n});
    if (link)
        return PL_CONTAINER_OF(link, struct used, link);
    struct used *used = pl_mem_alloc(1, sizeof *used + n);
    if (!used)
        return NULL;
    memcpy(used->name, name, n);
    used->link = (struct pl_table_link){.key = {used->name, n}};
    used->row = (struct pl_usage_row){.day = day};
    at = used->name;
    used->row.user_id = put_name(&at, caller->user_id);
    used->row.key_id = put_name(&at, caller->key_id);
    used->row.model = put_name(&at, model);
    if (pl_table_put(&meter->used, &used->link))
        return used;
    pl_mem_free(used);
    return NULL;
}

static int64_t known(int64_t n)
{
    return n > 0 ? n : 0;
}

void pl_meter_count(struct pl_meter *meter, const struct pl_caller *caller, struct pl_str model,
                    struct pl_meter_tokens tokens, int64_t cost_micro, int64_t now_ms)
{
    pthread_mutex_lock(&meter->lock);
    struct used *used = find_used(meter, caller, model, pl_meter_day(now_ms));
    struct limited *limited = find_limited(meter, caller->key_id);
    if (used) {
        used->row.n_requests++;
        used->row.input_tokens += known(tokens.input);
        used->row.output_tokens += known(tokens.output);
        used->row.cached_tokens += known(tokens.cached);
        used->row.cost_micro += known(cost_micro);
    }
    if (limited) {
        turn_over(limited, now_ms);
        limited->tokens.level -= (double)(known(tokens.input) + known(tokens.output));
        limited->spent_day += known(cost_micro);
        limited->spent_month += known(cost_micro);
    }
    pthread_mutex_unlock(&meter->lock);
}

/* Everything used so far, as a batch; NULL: nothing, or no memory, and then it stays. */
static struct pl_batch *take_used(struct pl_meter *meter)
{
    pthread_mutex_lock(&meter->lock);
    struct pl_batch *batch = meter->used.n_links ? pl_batch_create() : NULL;
    struct pl_table_link *link = batch ? pl_table_next(&meter->used, NULL) : NULL;
    while (link) {
        struct used *used = PL_CONTAINER_OF(link, struct used, link);
        link = pl_table_next(&meter->used, link);
        pl_batch_add_usage(batch, &used->row);
        pl_table_remove(&meter->used, &used->link);
        pl_mem_free(used);
    }
    pthread_mutex_unlock(&meter->lock);
    return batch;
}

static void committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_meter *meter = ctx;
    meter->is_committing = false;
    if (status != PL_OK)
        pl_log_say(meter->server->log, meter->server->shards[0], PL_LOG_WARNING,
                   "a second of usage could not be stored: %s", err->message);
}

static void on_timer(struct pl_timer *timer)
{
    struct pl_meter *meter = PL_CONTAINER_OF(timer, struct pl_meter, timer);
    struct pl_loop *loop = meter->server->shards[0]->loop;
    struct pl_batch *batch = meter->is_committing ? NULL : take_used(meter);
    if (batch) {
        meter->is_committing = true;
        pl_store_submit(meter->server->store, loop, batch, committed, meter);
    }
    pl_timer_start(loop, timer, FLUSH_MS, on_timer);
}

/* --- life ------------------------------------------------------------------------------------ */

static enum pl_status load(struct pl_meter *meter, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_store *store = meter->server->store;
    struct pl_limits *limits = NULL;
    size_t n = 0;
    int64_t now_ms = meter->server->started_ms;
    enum pl_status status = pl_store_limits_list(store, &arena, &limits, &n, err);
    for (size_t i = 0; i < n && status == PL_OK; i++) {
        int64_t day = 0, month = 0;
        status = pl_store_usage_spent(store, limits[i].user_id, limits[i].key_id,
                                      pl_meter_day(now_ms), &day, err);
        if (status == PL_OK)
            status = pl_store_usage_spent(store, limits[i].user_id, limits[i].key_id,
                                          pl_meter_month_start(now_ms), &month, err);
        if (status == PL_OK)
            status = pl_meter_set_limits(meter, &limits[i], day, month, 0);
    }
    return status;
}

enum pl_status pl_meter_create(struct pl_server *server, struct pl_meter **ret_meter,
                               struct pl_error *err)
{
    struct pl_meter *meter = pl_mem_alloc(1, sizeof *meter);
    if (!meter)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *meter = (struct pl_meter){.server = server};
    pthread_mutex_init(&meter->lock, NULL);
    enum pl_status status = load(meter, err);
    if (status == PL_OK)
        *ret_meter = meter;
    else
        pl_meter_destroy(meter);
    return status;
}

void pl_meter_start(struct pl_meter *meter)
{
    pl_timer_start(meter->server->shards[0]->loop, &meter->timer, FLUSH_MS, on_timer);
}

void pl_meter_stop(struct pl_meter *meter)
{
    struct pl_error err = {0};
    if (!meter || !meter->server->n_shards)
        return;
    pl_timer_stop(meter->server->shards[0]->loop, &meter->timer);
    struct pl_batch *batch = take_used(meter);
    if (batch && pl_store_commit(meter->server->store, batch, &err) != PL_OK)
        pl_log_say(meter->server->log, NULL, PL_LOG_WARNING,
                   "the last usage could not be stored: %s", err.message);
}

void pl_meter_destroy(struct pl_meter *meter)
{
    if (!meter)
        return;
    for (struct pl_table_link *link; (link = pl_table_next(&meter->limited, NULL));) {
        pl_table_remove(&meter->limited, link);
        pl_mem_free(PL_CONTAINER_OF(link, struct limited, link));
    }
    for (struct pl_table_link *link; (link = pl_table_next(&meter->used, NULL));) {
        pl_table_remove(&meter->used, link);
        pl_mem_free(PL_CONTAINER_OF(link, struct used, link));
    }
    pl_table_deinit(&meter->limited);
    pl_table_deinit(&meter->used);
    pthread_mutex_destroy(&meter->lock);
    pl_mem_free(meter);
}

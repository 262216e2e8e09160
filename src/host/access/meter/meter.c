/* Rate limits and budgets of keys and users, and the free usage since the last commit, all under
 * one lock. A timer on the first shard commits the free usage once a second. Paid usage goes to the
 * journal of its shard. */
#include "access/meter/meter.h"
#include "access/meter/meter_grants.h"
#include "access/meter/meter_journal.h"
#include "access/meter/meter_runs.h"
#include "access/meter/meter_sums.h"

#include "base/mem.h"
#include "base/table.h"
#include "base/text/utc.h"
#include "base/text/utf8.h"
#include "base/text/uuid.h"
#include "cluster/sharing.h"
#include "io/clock.h"
#include "shard/log.h"

#include <pthread.h>
#include <stdio.h>

enum { FLUSH_MS = 1000 };

#define DAY_MS    INT64_C(86400000)
#define MINUTE_MS 60000.0

/* A token bucket. `level` becomes negative if an answer is longer than the rest. */
struct bucket {
    double level;
    int64_t at_ms;
};

/* A key or a user that has limits. */
struct limited {
    struct pl_table_link link; /* by id */
    char id[PL_ID_MAX], user_id[PL_ID_MAX];
    struct pl_limits limits;          /* without its strings */
    uint64_t changes[PL_LIMIT_COUNT]; /* numbers of the applied changes */
    struct bucket requests, tokens;
    int64_t day, month_start; /* the day and month being counted */
    int64_t spent_day, spent_month;
    int64_t reserved;           /* micro-dollars, for running calls */
    bool is_stored;             /* during a refresh: the store has it */
    struct pl_grant granted[2]; /* shared store: grants for PL_LIMIT_RPM and PL_LIMIT_TPM */
    int64_t synced_ms;          /* when the spending of all nodes was last read */
};

/* The sockets of a user. */
struct sockets {
    struct pl_table_link link; /* by user_id */
    int64_t n;
    char user_id[PL_ID_MAX];
};

struct pl_meter {
    struct pl_server *server; /* borrowed */
    pthread_mutex_t lock;
    struct pl_table limited, sockets; /* under the lock; owned */
    struct pl_meter_sums used;        /* under the lock: the free usage since the last commit */
    struct pl_meter_runs runs;        /* under the lock, except expired_ms and taken */
    struct pl_timer timer;            /* the first shard's */
    bool is_committing;               /* the first shard's */
    _Atomic(size_t) n_nodes;          /* running nodes; 0: the store is not shared */
    pthread_mutex_t grants_lock;      /* protects: */
    struct pl_grant_line *grants;     /* owned; NULL until used */
    bool is_stopped;                  /* no more grants */
    struct pl_meter_journal
        *journals[PL_MAX_SHARDS]; /* owned; used only by its shard; NULL until used */
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

static struct limited *find_limited(struct pl_meter *meter, struct pl_str id)
{
    struct pl_table_link *link = id.len ? pl_table_get(&meter->limited, id) : NULL;
    return link ? PL_CONTAINER_OF(link, struct limited, link) : NULL;
}

static struct pl_str id_of(const struct pl_limits *limits)
{
    return limits->key_id.len ? limits->key_id : limits->user_id;
}

static struct limited *add_limited(struct pl_meter *meter, const struct pl_limits *limits)
{
    struct limited *limited = pl_mem_alloc(1, sizeof *limited);
    if (!limited)
        return NULL;
    *limited = (struct limited){0};
    snprintf(limited->id, sizeof limited->id, "%.*s", PL_STR_ARG(id_of(limits)));
    snprintf(limited->user_id, sizeof limited->user_id, "%.*s", PL_STR_ARG(limits->user_id));
    limited->link.key = pl_str_of(limited->id);
    if (pl_table_put(&meter->limited, &limited->link))
        return limited;
    pl_mem_free(limited);
    return NULL;
}

static void set_value(struct limited *limited, int i, int64_t value)
{
    limited->limits.values[i] = value;
    if (i == PL_LIMIT_RPM)
        limited->requests = (struct bucket){.level = (double)value};
    if (i == PL_LIMIT_TPM)
        limited->tokens = (struct bucket){.level = (double)value};
}

/* Sets the given values, unless a newer change was applied before. */
static void set_values(struct limited *limited, const struct pl_limits *limits, uint64_t number)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        if (limits->values[i] < 0 || number < limited->changes[i])
            continue;
        limited->changes[i] = number;
        set_value(limited, i, limits->values[i]);
    }
}

enum pl_status pl_meter_set_limits(struct pl_meter *meter, const struct pl_limits *limits,
                                   int64_t spent_day_micro, int64_t spent_month_micro,
                                   uint64_t number)
{
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, id_of(limits));
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

/* Sets the stored limits. A bucket keeps its level if its limit is the same. */
static bool refresh_one(struct pl_meter *meter, const struct pl_meter_row *row)
{
    struct limited *limited = find_limited(meter, id_of(&row->limits));
    bool is_new = !limited;
    if (is_new)
        limited = add_limited(meter, &row->limits);
    if (!limited)
        return false;
    limited->is_stored = true;
    for (int i = 0; i < PL_LIMIT_COUNT; i++)
        if (is_new || limited->limits.values[i] != row->limits.values[i])
            set_value(limited, i, row->limits.values[i]);
    if (is_new) {
        limited->spent_day = row->spent_day;
        limited->spent_month = row->spent_month;
    }
    return true;
}

enum pl_status pl_meter_refresh(struct pl_meter *meter, const struct pl_meter_row *rows, size_t n)
{
    bool is_whole = true;
    struct pl_table_link *link, *next;
    pthread_mutex_lock(&meter->lock);
    for (link = pl_table_next(&meter->limited, NULL); link;
         link = pl_table_next(&meter->limited, link))
        PL_CONTAINER_OF(link, struct limited, link)->is_stored = false;
    for (size_t i = 0; i < n; i++)
        is_whole = refresh_one(meter, &rows[i]) && is_whole;
    for (link = pl_table_next(&meter->limited, NULL); link; link = next) {
        struct limited *limited = PL_CONTAINER_OF(link, struct limited, link);
        next = pl_table_next(&meter->limited, link);
        if (!limited->is_stored) {
            pl_table_remove(&meter->limited, link);
            pl_mem_free(limited);
        }
    }
    pthread_mutex_unlock(&meter->lock);
    return is_whole ? PL_OK : PL_NOMEM;
}

bool pl_meter_limits(struct pl_meter *meter, struct pl_str id, struct pl_limits *ret_limits)
{
    pthread_mutex_lock(&meter->lock);
    const struct limited *limited = find_limited(meter, id);
    bool has_some = false;
    if (limited)
        *ret_limits = limited->limits;
    for (int i = 0; limited && i < PL_LIMIT_COUNT; i++)
        has_some |= limited->limits.values[i] > 0;
    pthread_mutex_unlock(&meter->lock);
    return has_some;
}

int64_t pl_meter_quota(struct pl_meter *meter, struct pl_str user_id, enum pl_usage_limit limit)
{
    pthread_mutex_lock(&meter->lock);
    const struct limited *limited = find_limited(meter, user_id);
    int64_t most = limited ? limited->limits.values[limit] : 0;
    pthread_mutex_unlock(&meter->lock);
    return most;
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
    pl_meter_sums_forget_user(&meter->used, user_id);
    pthread_mutex_unlock(&meter->lock);
}

static void fill(struct bucket *bucket, int64_t per_minute, int64_t now_ms)
{
    /* A clock that was set back adds nothing and removes nothing. */
    int64_t passed_ms = now_ms > bucket->at_ms ? now_ms - bucket->at_ms : 0;
    double grown = (double)passed_ms * (double)per_minute / MINUTE_MS;
    bucket->level = grown > 0 ? bucket->level + grown : bucket->level;
    if (bucket->level > (double)per_minute)
        bucket->level = (double)per_minute;
    bucket->at_ms = now_ms;
}

/* Starts a new day or month. */
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

/* "key" or "user", for messages. */
static const char *kind_of(const struct limited *limited)
{
    return strcmp(limited->id, limited->user_id) == 0 ? "user" : "key";
}

static bool has_budget(const struct limited *limited)
{
    return limited->limits.values[PL_LIMIT_BUDGET_DAY] ||
           limited->limits.values[PL_LIMIT_BUDGET_MONTH];
}

/* Reservations count as spent. So concurrent calls exceed a budget by at most one estimate. */
static bool is_spent(const struct limited *limited, int64_t now_ms, struct pl_meter_refusal *ret)
{
    int64_t day = limited->limits.values[PL_LIMIT_BUDGET_DAY];
    int64_t month = limited->limits.values[PL_LIMIT_BUDGET_MONTH];
    bool is_month = month && limited->spent_month + limited->reserved >= month;
    bool is_day = day && limited->spent_day + limited->reserved >= day;
    if (!is_month && !is_day)
        return false;
    /* Other calls' reservations may be released. */
    bool is_waiting =
        (!is_month || limited->spent_month < month) && (!is_day || limited->spent_day < day);
    ret->why = PL_METER_MONEY;
    ret->retry_after_s = is_waiting ? 1
                         : is_month ? next_month_s(now_ms)
                                    : ((pl_meter_day(now_ms) + 1) * DAY_MS - now_ms) / 1000 + 1;
    snprintf(ret->sentence, sizeof ret->sentence, "The budget of this %s for the %s is used up%s.",
             kind_of(limited), is_month ? "month" : "day",
             is_waiting ? " by calls that are under way" : "");
    return true;
}

static bool is_shared(const struct pl_meter *meter)
{
    return atomic_load_explicit(&meter->n_nodes, memory_order_relaxed) > 0;
}

static bool is_too_fast(const struct pl_meter *meter, struct limited *limited, int64_t now_ms,
                        struct pl_meter_refusal *ret)
{
    const int64_t *limits = limited->limits.values;
    struct pl_grant *granted = limited->granted;
    bool shares = is_shared(meter);
    bool has_request =
        shares ? pl_grant_left(&granted[PL_LIMIT_RPM], now_ms) >= 1 : limited->requests.level >= 1;
    bool has_token =
        shares ? pl_grant_left(&granted[PL_LIMIT_TPM], now_ms) > 0 : limited->tokens.level > 0;
    bool has_no_request = limits[PL_LIMIT_RPM] && !has_request;
    bool has_no_token = limits[PL_LIMIT_TPM] && !has_token;
    if (!has_no_request && !has_no_token)
        return false;
    enum pl_usage_limit which = has_no_request ? PL_LIMIT_RPM : PL_LIMIT_TPM;
    const struct bucket *bucket = has_no_request ? &limited->requests : &limited->tokens;
    ret->why = PL_METER_RATE;
    ret->retry_after_s =
        shares ? pl_grant_wait_s(&granted[which], now_ms) : wait_s(bucket, 1, limits[which]);
    snprintf(ret->sentence, sizeof ret->sentence, "This %s may use %lld %s a minute.",
             kind_of(limited), (long long)limits[which], has_no_request ? "requests" : "tokens");
    return true;
}

static bool is_unpriced(const struct limited *limited, const struct pl_meter_ask *ask,
                        struct pl_meter_refusal *ret)
{
    if (ask->cost_micro >= 0 || ask->allows_unpriced || !has_budget(limited))
        return false;
    ret->why = PL_METER_NO_PRICE;
    ret->retry_after_s = 0;
    snprintf(ret->sentence, sizeof ret->sentence,
             "The model %.*s has no price, so the budget of this %s cannot count it; the "
             "configuration may give it one (prices of its provider).",
             (int)(ask->model.len < 80 ? ask->model.len : 80), ask->model.ptr, kind_of(limited));
    return true;
}

static bool is_refused(const struct pl_meter *meter, struct limited *limited,
                       const struct pl_meter_ask *ask, struct pl_meter_refusal *ret)
{
    if (!limited)
        return false;
    turn_over(limited, ask->now_ms);
    fill(&limited->requests, limited->limits.values[PL_LIMIT_RPM], ask->now_ms);
    fill(&limited->tokens, limited->limits.values[PL_LIMIT_TPM], ask->now_ms);
    return is_unpriced(limited, ask, ret) || is_spent(limited, ask->now_ms, ret) ||
           is_too_fast(meter, limited, ask->now_ms, ret);
}

static void reserve(struct limited *limited, const struct pl_meter_call *call)
{
    if (!limited)
        return;
    limited->requests.level -= 1;
    limited->tokens.level -= (double)call->tokens;
    limited->reserved += call->cost_micro;
}

/* A call that begins uses its grant; the grant of a refused call is free again. */
static void use_grants(struct limited *limited, const struct pl_meter_call *call)
{
    if (!limited)
        return;
    pl_grant_use(&limited->granted[PL_LIMIT_RPM], 1, call->is_open);
    pl_grant_use(&limited->granted[PL_LIMIT_TPM], call->tokens, call->is_open ? call->tokens : 0);
}

/* NULL: out of memory. */
static struct pl_meter_journal *journal_of(struct pl_meter *meter, struct pl_shard *shard)
{
    struct pl_meter_journal **journal = &meter->journals[shard->index];
    if (!*journal)
        *journal = pl_meter_journal_create(shard);
    return *journal;
}

/* A database would refuse a name that is cut within a character, and the whole batch with it. */
static struct pl_str whole_characters(struct pl_str name)
{
    return (struct pl_str){name.ptr, pl_utf8_valid_prefix(name)};
}

bool pl_meter_begin(struct pl_meter *meter, struct pl_shard *shard, const struct pl_meter_ask *ask,
                    struct pl_meter_call *ret_call, struct pl_meter_refusal *ret_refusal)
{
    struct pl_meter_call call = {.shard = shard,
                                 .tokens = ask->tokens,
                                 .cost_micro = ask->cost_micro > 0 ? ask->cost_micro : 0};
    pl_meter_keep(call.user_id, sizeof call.user_id, ask->user_id);
    pl_meter_keep(call.key_id, sizeof call.key_id, ask->key_id);
    pl_meter_keep(call.model, sizeof call.model, ask->model);
    call.model[whole_characters(pl_str_of(call.model)).len] = 0;
    pl_meter_run_begin(shard, ask, &call);
    pthread_mutex_lock(&meter->lock);
    struct limited *key = find_limited(meter, ask->key_id);
    struct limited *user = find_limited(meter, ask->user_id);
    call.is_open =
        !is_refused(meter, key, ask, ret_refusal) && !is_refused(meter, user, ask, ret_refusal);
    if (call.is_open) {
        reserve(key, &call);
        reserve(user, &call);
    }
    use_grants(key, &call);
    use_grants(user, &call);
    pthread_mutex_unlock(&meter->lock);
    struct pl_meter_journal *journal =
        call.is_open && ask->is_paid ? journal_of(meter, shard) : NULL;
    if (journal)
        pl_meter_journal_begin(journal, &call);
    *ret_call = call;
    return call.is_open;
}

/* --- several nodes ---------------------------------------------------------------------------- */

enum { SYNC_MS = 1000 };

void pl_meter_hear_nodes(struct pl_meter *meter, size_t n_nodes)
{
    atomic_store(&meter->n_nodes, n_nodes);
}

static bool has_shared_limit(const struct limited *limited)
{
    return limited && (limited->limits.values[PL_LIMIT_RPM] ||
                       limited->limits.values[PL_LIMIT_TPM] || has_budget(limited));
}

bool pl_meter_needs_fetch(struct pl_meter *meter, struct pl_str user_id, struct pl_str key_id)
{
    if (!is_shared(meter))
        return false;
    pthread_mutex_lock(&meter->lock);
    bool needs = has_shared_limit(find_limited(meter, key_id)) ||
                 has_shared_limit(find_limited(meter, user_id));
    pthread_mutex_unlock(&meter->lock);
    return needs;
}

/* Asks the store for part of a limit. False: the store does not answer, or out of memory. */
static bool take_grant(struct pl_meter *meter, const struct pl_grant_ask *ask, int64_t *ret_given,
                       int64_t *ret_lasts_ms)
{
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (pl_store_is_away(meter->server->store))
        return false;
    pthread_mutex_lock(&meter->grants_lock);
    if (meter->is_stopped)
        status = PL_IO;
    else if (!meter->grants)
        status = pl_grant_line_open(meter->server->store, &meter->grants, &err);
    if (status == PL_OK)
        status = pl_grant_line_take(meter->grants, ask, ret_given, ret_lasts_ms, &err);
    pthread_mutex_unlock(&meter->grants_lock);
    return status == PL_OK;
}

/* How much of a limit a call still needs; 0: nothing, or there is no limit. */
static int64_t missing(struct pl_meter *meter, struct pl_str id, enum pl_usage_limit which,
                       int64_t n, int64_t now_ms, int64_t *ret_limit)
{
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, id);
    *ret_limit = limited ? limited->limits.values[which] : 0;
    int64_t want = *ret_limit ? pl_grant_want(&limited->granted[which], n, now_ms) : 0;
    pthread_mutex_unlock(&meter->lock);
    return want;
}

static void fetch_grant(struct pl_meter *meter, struct pl_str id, enum pl_usage_limit which,
                        int64_t n, int64_t now_ms)
{
    int64_t limit = 0, given = 0, lasts_ms = 0;
    int64_t want = missing(meter, id, which, n, now_ms, &limit);
    int64_t size = pl_grant_size(limit, atomic_load(&meter->n_nodes));
    struct pl_grant_ask ask = {.id = id,
                               .kind = which == PL_LIMIT_RPM ? "rpm" : "tpm",
                               .limit = limit,
                               .size = want > size ? want : size};
    if (!want || !take_grant(meter, &ask, &given, &lasts_ms))
        return;
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, id);
    if (limited)
        pl_grant_add(&limited->granted[which], given, now_ms + lasts_ms);
    pthread_mutex_unlock(&meter->lock);
}

/* Whether to read the spending again: once a second, and before each call near the limit. */
static bool must_sync(struct pl_meter *meter, struct pl_str id, int64_t now_ms,
                      char ret_user[PL_ID_MAX])
{
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, id);
    bool must = limited && has_budget(limited);
    if (must) {
        int64_t day = limited->limits.values[PL_LIMIT_BUDGET_DAY];
        int64_t month = limited->limits.values[PL_LIMIT_BUDGET_MONTH];
        bool is_near = (day && limited->spent_day + limited->reserved > day / 20 * 19) ||
                       (month && limited->spent_month + limited->reserved > month / 20 * 19);
        must = is_near || now_ms - limited->synced_ms >= SYNC_MS || now_ms < limited->synced_ms;
        memcpy(ret_user, limited->user_id, PL_ID_MAX);
    }
    pthread_mutex_unlock(&meter->lock);
    return must;
}

/* The store has the usage of all nodes; usage that this node has not stored yet is added. */
static void fetch_spent(struct pl_meter *meter, struct pl_str id, bool is_key, int64_t now_ms)
{
    char user[PL_ID_MAX];
    int64_t day = 0, month = 0;
    struct pl_str key_id = is_key ? id : PL_STR("");
    if (!must_sync(meter, id, now_ms, user))
        return;
    struct pl_store *store = meter->server->store;
    if (pl_store_usage_spent(store, pl_str_of(user), key_id, pl_meter_day(now_ms), &day, NULL) !=
            PL_OK ||
        pl_store_usage_spent(store, pl_str_of(user), key_id, pl_meter_month_start(now_ms), &month,
                             NULL) != PL_OK)
        return;
    pthread_mutex_lock(&meter->lock);
    struct limited *limited = find_limited(meter, id);
    if (limited) {
        turn_over(limited, now_ms);
        limited->spent_day = day > limited->spent_day ? day : limited->spent_day;
        limited->spent_month = month > limited->spent_month ? month : limited->spent_month;
        limited->synced_ms = now_ms;
    }
    pthread_mutex_unlock(&meter->lock);
}

void pl_meter_fetch(struct pl_meter *meter, struct pl_str user_id, struct pl_str key_id,
                    int64_t tokens, int64_t now_ms)
{
    const struct pl_str ids[] = {key_id, user_id};
    for (size_t i = 0; i < 2 && is_shared(meter); i++) {
        if (!ids[i].len)
            continue;
        fetch_grant(meter, ids[i], PL_LIMIT_RPM, 1, now_ms);
        fetch_grant(meter, ids[i], PL_LIMIT_TPM, tokens, now_ms);
        fetch_spent(meter, ids[i], i == 0, now_ms);
    }
}

/* --- usage ----------------------------------------------------------------------------------- */

static int64_t known(int64_t n)
{
    return n > 0 ? n : 0;
}

static void release(struct limited *limited, const struct pl_meter_call *call,
                    const struct pl_usage_row *row, int64_t now_ms)
{
    if (!limited)
        return;
    turn_over(limited, now_ms);
    limited->tokens.level += (double)(call->tokens - row->input_tokens - row->output_tokens);
    limited->granted[PL_LIMIT_TPM].left += call->tokens - row->input_tokens - row->output_tokens;
    limited->reserved -=
        call->cost_micro < limited->reserved ? call->cost_micro : limited->reserved;
    limited->spent_day += row->cost_micro;
    limited->spent_month += row->cost_micro;
}

/* Stores the usage in the batch of the call's result. */
static void store_in(struct pl_meter *meter, const struct pl_meter_call *call,
                     const struct pl_usage_row *row, const struct pl_model_run *run,
                     struct pl_batch *batch)
{
    pl_batch_add_usage(batch, row);
    pl_batch_put_model_run(batch, run);
    if (call->number)
        pl_meter_journal_end_in(meter->journals[call->shard->index], call, batch);
    if (meter->server->tell_run)
        meter->server->tell_run(meter->server, run);
}

void pl_meter_settle(struct pl_meter *meter, struct pl_shard *shard, struct pl_meter_call *call,
                     const struct pl_meter_used *used, struct pl_batch *batch, int64_t now_ms)
{
    if (!call->is_open)
        return;
    call->is_open = false;
    bool is_unknown = used->cost_micro < 0 && used->outcome != PL_METER_FAILED;
    struct pl_usage_row row = {
        .user_id = pl_str_of(call->user_id),
        .key_id = pl_str_of(call->key_id),
        .model = used->model.len ? whole_characters(used->model) : pl_str_of(call->model),
        .day = pl_meter_day(now_ms),
        .n_requests = 1,
        .input_tokens = known(used->input),
        .output_tokens = known(used->output),
        .cached_tokens = known(used->cached),
        .cost_micro = known(used->cost_micro),
        .n_failed = used->outcome == PL_METER_FAILED,
        .n_aborted = used->outcome == PL_METER_ABORTED,
        .n_unpriced = is_unknown,
    };
    struct pl_model_run run = pl_meter_run_row(call, used, &row, now_ms);
    bool is_summed = !batch && !call->number;
    if (meter->server->meter_watch && shard)
        meter->server->meter_watch->settled(shard, &row);
    pthread_mutex_lock(&meter->lock);
    release(find_limited(meter, row.key_id), call, &row, now_ms);
    release(find_limited(meter, row.user_id), call, &row, now_ms);
    if (is_summed) {
        (void)pl_meter_sums_add(&meter->used, &row);
        pl_meter_runs_add(&meter->runs, &run);
    }
    pthread_mutex_unlock(&meter->lock);
    if (batch)
        store_in(meter, call, &row, &run, batch);
    else if (call->number)
        pl_meter_journal_end(meter->journals[call->shard->index], call, &row, &run);
}

void pl_meter_note_failed(struct pl_meter *meter, const struct pl_meter_call *call,
                          struct pl_str model, int64_t now_ms)
{
    struct pl_usage_row row = {
        .user_id = pl_str_of(call->user_id),
        .key_id = pl_str_of(call->key_id),
        .model = model,
        .day = pl_meter_day(now_ms),
        .n_requests = 1,
        .n_failed = 1,
    };
    pthread_mutex_lock(&meter->lock);
    if (call->is_open)
        (void)pl_meter_sums_add(&meter->used, &row);
    pthread_mutex_unlock(&meter->lock);
    if (call->is_open && meter->server->meter_watch && call->shard)
        meter->server->meter_watch->passed_over(call->shard, model);
}

/* --- sockets --------------------------------------------------------------------------------- */

static struct sockets *find_sockets(struct pl_meter *meter, struct pl_str user_id)
{
    struct pl_table_link *link = pl_table_get(&meter->sockets, user_id);
    return link ? PL_CONTAINER_OF(link, struct sockets, link) : NULL;
}

static struct sockets *make_sockets(struct pl_meter *meter, struct pl_str user_id)
{
    struct sockets *sockets = find_sockets(meter, user_id);
    if (sockets)
        return sockets;
    sockets = pl_mem_alloc(1, sizeof *sockets);
    if (!sockets)
        return NULL;
    *sockets = (struct sockets){0};
    snprintf(sockets->user_id, sizeof sockets->user_id, "%.*s", PL_STR_ARG(user_id));
    sockets->link.key = pl_str_of(sockets->user_id);
    if (pl_table_put(&meter->sockets, &sockets->link))
        return sockets;
    pl_mem_free(sockets);
    return NULL;
}

bool pl_meter_enter_socket(struct pl_meter *meter, struct pl_str user_id)
{
    pthread_mutex_lock(&meter->lock);
    const struct limited *limited = find_limited(meter, user_id);
    int64_t most = limited ? limited->limits.values[PL_LIMIT_SOCKETS] : 0;
    struct sockets *sockets = make_sockets(meter, user_id);
    bool may_enter = sockets && (!most || sockets->n < most);
    if (may_enter)
        sockets->n++;
    pthread_mutex_unlock(&meter->lock);
    return may_enter;
}

void pl_meter_leave_socket(struct pl_meter *meter, struct pl_str user_id)
{
    pthread_mutex_lock(&meter->lock);
    struct sockets *sockets = find_sockets(meter, user_id);
    if (sockets && --sockets->n <= 0) {
        pl_table_remove(&meter->sockets, &sockets->link);
        pl_mem_free(sockets);
    }
    pthread_mutex_unlock(&meter->lock);
}

/* --- commits --------------------------------------------------------------------------------- */

/* All free usage so far, as a batch. NULL: nothing, or out of memory; then it stays. */
static struct pl_batch *take_used(struct pl_meter *meter)
{
    pthread_mutex_lock(&meter->lock);
    bool has_any = meter->used.rows.n_links || meter->runs.n;
    struct pl_batch *batch = has_any ? pl_batch_create() : NULL;
    if (batch) {
        (void)pl_meter_sums_put(&meter->used, batch);
        pl_meter_sums_deinit(&meter->used);
        (void)pl_meter_runs_take(&meter->runs, batch);
    }
    pthread_mutex_unlock(&meter->lock);
    return batch;
}

static void committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_meter *meter = ctx;
    meter->is_committing = false;
    pl_meter_runs_tell(&meter->runs, meter->server, status == PL_OK);
    if (status != PL_OK)
        pl_log_say(meter->server->log, meter->server->shards[0], PL_LOG_WARNING,
                   "a second of usage could not be stored: %s", err->message);
}

static void on_timer(struct pl_timer *timer)
{
    struct pl_meter *meter = PL_CONTAINER_OF(timer, struct pl_meter, timer);
    struct pl_loop *loop = meter->server->shards[0]->loop;
    struct pl_batch *batch = meter->is_committing ? NULL : take_used(meter);
    if (batch)
        pl_meter_runs_expire(&meter->runs, batch, pl_loop_unix_ms(loop));
    if (batch) {
        meter->is_committing = true;
        pl_store_submit(meter->server->store, loop, batch, committed, meter);
    }
    pl_timer_start(loop, timer, FLUSH_MS, on_timer);
}

/* --- life ------------------------------------------------------------------------------------ */

enum pl_status pl_meter_read_rows(struct pl_meter *meter, struct pl_arena *arena,
                                  struct pl_meter_row **ret_rows, size_t *ret_n,
                                  struct pl_error *err)
{
    struct pl_store *store = meter->server->store;
    struct pl_limits *limits = NULL;
    size_t n = 0;
    int64_t now_ms = pl_clock_unix_ms();
    enum pl_status status = pl_store_limits_list(store, arena, &limits, &n, err);
    struct pl_meter_row *rows = pl_arena_zalloc(arena, n + 1, sizeof *rows);
    if (status == PL_OK && !rows)
        status = pl_fail(err, PL_NOMEM, "out of memory");
    for (size_t i = 0; i < n && status == PL_OK; i++) {
        rows[i].limits = limits[i];
        status = pl_store_usage_spent(store, limits[i].user_id, limits[i].key_id,
                                      pl_meter_day(now_ms), &rows[i].spent_day, err);
        if (status == PL_OK)
            status = pl_store_usage_spent(store, limits[i].user_id, limits[i].key_id,
                                          pl_meter_month_start(now_ms), &rows[i].spent_month, err);
    }
    if (status == PL_OK) {
        *ret_rows = rows;
        *ret_n = n;
    }
    return status;
}

static enum pl_status load(struct pl_meter *meter, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_meter_row *rows = NULL;
    size_t n = 0;
    struct pl_batch *lost = pl_batch_create();
    if (!lost)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_batch_count_lost_calls(lost);
    enum pl_status status = pl_store_commit(meter->server->store, lost, err);
    if (status == PL_OK)
        status = pl_meter_read_rows(meter, &arena, &rows, &n, err);
    return status == PL_OK ? pl_meter_refresh(meter, rows, n) : status;
}

enum pl_status pl_meter_create(struct pl_server *server, struct pl_meter **ret_meter,
                               struct pl_error *err)
{
    struct pl_meter *meter = pl_mem_alloc(1, sizeof *meter);
    if (!meter)
        return pl_fail(err, PL_NOMEM, "out of memory");
    /* A node that knows no others yet must not count alone: it would exceed the shared limit. */
    *meter = (struct pl_meter){.server = server, .n_nodes = pl_store_is_shared(server->store)};
    pthread_mutex_init(&meter->lock, NULL);
    pthread_mutex_init(&meter->grants_lock, NULL);
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

/* False: the batch is lost. */
static bool commit_rest(struct pl_meter *meter, struct pl_batch *batch, struct pl_error *err)
{
    return !batch || pl_store_commit(meter->server->store, batch, err) == PL_OK;
}

static bool commit_journal(struct pl_meter *meter, struct pl_meter_journal *journal,
                           struct pl_error *err)
{
    if (!journal)
        return true;
    bool is_stored = commit_rest(meter, pl_meter_journal_take(journal), err);
    if (!pl_meter_journal_is_empty(journal))
        is_stored = pl_fail(err, PL_NOMEM, "out of memory") == PL_OK;
    return is_stored;
}

/* Call before the store is closed: the connection belongs to it. */
static void close_grants(struct pl_meter *meter)
{
    pthread_mutex_lock(&meter->grants_lock);
    meter->is_stopped = true;
    pl_grant_line_close(PL_TAKE(meter->grants));
    pthread_mutex_unlock(&meter->grants_lock);
}

void pl_meter_stop(struct pl_meter *meter)
{
    struct pl_error err = {0};
    if (!meter || !meter->server->n_shards)
        return;
    pl_timer_stop(meter->server->shards[0]->loop, &meter->timer);
    bool is_stored = commit_rest(meter, take_used(meter), &err);
    for (size_t i = 0; i < PL_MAX_SHARDS; i++)
        is_stored = commit_journal(meter, meter->journals[i], &err) && is_stored;
    if (!is_stored)
        pl_log_say(meter->server->log, NULL, PL_LOG_WARNING,
                   "the last usage could not be stored: %s", err.message);
    close_grants(meter);
}

void pl_meter_destroy(struct pl_meter *meter)
{
    if (!meter)
        return;
    for (struct pl_table_link *link; (link = pl_table_next(&meter->limited, NULL));) {
        pl_table_remove(&meter->limited, link);
        pl_mem_free(PL_CONTAINER_OF(link, struct limited, link));
    }
    for (struct pl_table_link *link; (link = pl_table_next(&meter->sockets, NULL));) {
        pl_table_remove(&meter->sockets, link);
        pl_mem_free(PL_CONTAINER_OF(link, struct sockets, link));
    }
    for (size_t i = 0; i < PL_MAX_SHARDS; i++)
        pl_meter_journal_destroy(meter->journals[i]);
    pl_meter_runs_deinit(&meter->runs);
    pl_table_deinit(&meter->sockets);
    pl_table_deinit(&meter->limited);
    pl_meter_sums_deinit(&meter->used);
    close_grants(meter);
    pthread_mutex_destroy(&meter->lock);
    pthread_mutex_destroy(&meter->grants_lock);
    pl_mem_free(meter);
}

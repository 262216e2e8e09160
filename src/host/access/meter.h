/* What keys may use and what they have used. One for the server; thread-safe.
 *
 * Requests and tokens a minute are buckets in memory, one per key and node: they hold what a minute
 * allows and fill evenly. Money is counted per day and month (UTC), from the store on. Usage is
 * summed in memory and committed once a second, so kill -9 costs at most a second of it. */
#ifndef PL_ACCESS_METER_H
#define PL_ACCESS_METER_H

#include "http/exchange.h"
#include "store/gateway.h"

struct pl_meter; /* owned */

/* Loads the limits of keys and what those have spent. */
enum pl_status pl_meter_create(struct pl_server *server, struct pl_meter **ret_meter,
                               struct pl_error *err);
/* Begins to commit, on the first shard; ends that. */
void pl_meter_start(struct pl_meter *meter);
/* Commits the rest, blocking: after the loops have ended. Accepts NULL. */
void pl_meter_stop(struct pl_meter *meter);
void pl_meter_destroy(struct pl_meter *meter); /* accepts NULL */

struct pl_meter_refusal {
    bool is_money; /* a budget is used up; otherwise a rate */
    int64_t retry_after_s;
    char sentence[160];
};
/* Takes one request off the key's minute; false: it may not ask now. */
bool pl_meter_admit(struct pl_meter *meter, const struct pl_caller *caller, int64_t now_ms,
                    struct pl_meter_refusal *ret_refusal);
/* Counts a call. Unknown counters (-1) count as 0, an unknown cost (-1) as none. */
struct pl_meter_tokens {
    int64_t input, output, cached;
};
void pl_meter_count(struct pl_meter *meter, const struct pl_caller *caller, struct pl_str model,
                    struct pl_meter_tokens tokens, int64_t cost_micro, int64_t now_ms);

/* The limits from now on, those that are not -1; they are already stored. spent_* come from the
 * store. `number` is the change's (key_table.h): one that comes late does not undo a newer one. */
enum pl_status pl_meter_set_limits(struct pl_meter *meter, const struct pl_limits *limits,
                                   int64_t spent_day_micro, int64_t spent_month_micro,
                                   uint64_t number);
/* False: this key has none. The strings are not set. */
bool pl_meter_limits(struct pl_meter *meter, struct pl_str key_id, struct pl_limits *ret_limits);
/* A user who was erased: limits of all keys, and usage that is not stored yet. */
void pl_meter_forget_user(struct pl_meter *meter, struct pl_str user_id);
void pl_meter_forget(struct pl_meter *meter, struct pl_str key_id);

/* Days since 1970 of an instant, and of the first of its month. */
int64_t pl_meter_day(int64_t unix_ms);
int64_t pl_meter_month_start(int64_t unix_ms);

#endif

/* Limits and usage of keys and users. Every call of a model is admitted and counted here, whether a
 * session, a task, a prompt, a summary or the gateway makes it. One per server; thread-safe.
 *
 *     begin: checks the limits of the key and of its user, and reserves an estimate
 *     settle: replaces the reservation by the actual usage
 *
 * Requests and tokens per minute are token buckets in memory, one per key and user. If nodes share
 * the store, they are grants that a node takes from the store each minute (meter_grants.h), and the
 * node reads the spending of other nodes: pl_meter_fetch, on a worker, before a call begins. Money
 * is counted per day and month (UTC), starting from the sums in the store. A paid call is stored
 * with its estimate soon after it begins, and again when it ends, in one transaction with its
 * result (meter_journal.h). Free calls are summed in memory and committed once a second. */
#ifndef PL_ACCESS_METER_METER_H
#define PL_ACCESS_METER_METER_H

#include "base/text/uuid.h"
#include "http/exchange.h"
#include "store/gateway.h"

struct pl_meter; /* owned */

/* Counts calls that a crash has cut off; loads the limits of keys and users, and their spending. */
enum pl_status pl_meter_create(struct pl_server *server, struct pl_meter **ret_meter,
                               struct pl_error *err);
/* Starts the periodic commits, on the first shard. */
void pl_meter_start(struct pl_meter *meter);
/* Commits the rest, blocking: after the loops have ended. Accepts NULL. */
void pl_meter_stop(struct pl_meter *meter);
void pl_meter_destroy(struct pl_meter *meter); /* accepts NULL */

/* --- calls ----------------------------------------------------------------------------------- */

enum {
    PL_METER_MODEL_MAX = 320,
    PL_METER_OUTPUT_TOKENS = 1000, /* estimate for an answer that is not known yet */
};

/* The purpose of a call, stored with it as a run (store/page.h). Empty strings: not set. */
struct pl_meter_about {
    const char *source; /* static: "chat", "prompt", "gateway" … */
    struct pl_str session_id, turn_id, prompt_id;
    struct pl_str run_id; /* "run_…", if it is known already; empty: a new one */
    int64_t version;      /* of the prompt */
};

struct pl_meter_ask {
    struct pl_meter_about about;
    struct pl_str user_id, key_id; /* key_id empty: none */
    struct pl_str model;           /* "vendor/model" */
    int64_t tokens;                /* estimates: of input and output */
    int64_t cost_micro;            /* -1: the model has no price */
    bool is_paid;                  /* a vendor is called; the call is stored while it runs */
    bool allows_unpriced;          /* models without a price may pass a budget */
    int64_t now_ms;
};

/* A call between begin and settle, in its owner's memory. */
struct pl_meter_call {
    char user_id[PL_ID_MAX], key_id[PL_ID_MAX];
    char model[PL_METER_MODEL_MAX];
    int64_t tokens, cost_micro;
    bool is_open;
    bool is_run_known; /* a client may read its run as soon as it ends */
    uint64_t number;   /* in the journal of its shard; 0: none */
    const char *source;
    char session_id[PL_ID_MAX], turn_id[PL_ID_MAX], prompt_id[PL_ID_MAX], run_id[PL_ID_MAX];
    int64_t version, started_ms;
    struct pl_shard *shard; /* borrowed: where it began */
};

enum pl_meter_why { PL_METER_RATE, PL_METER_MONEY, PL_METER_NO_PRICE };
struct pl_meter_refusal {
    enum pl_meter_why why;
    int64_t retry_after_s; /* 0: waiting does not help */
    char sentence[240];
};
/* False: the call may not begin now. The shard is the caller's. */
bool pl_meter_begin(struct pl_meter *meter, struct pl_shard *shard, const struct pl_meter_ask *ask,
                    struct pl_meter_call *ret_call, struct pl_meter_refusal *ret_refusal);

/* Sets the number of running nodes, including this one. Any thread. */
void pl_meter_hear_nodes(struct pl_meter *meter, size_t n_nodes);
/* Whether a call needs pl_meter_fetch before it begins: never if the store is not shared. A single
 * node of a shared store takes grants as well, since another may start in the same minute. */
bool pl_meter_needs_fetch(struct pl_meter *meter, struct pl_str user_id, struct pl_str key_id);
/* Takes grants for a call of about this many tokens, and reads the spending of other nodes. On a
 * worker. If that fails, the call is refused when it begins. */
void pl_meter_fetch(struct pl_meter *meter, struct pl_str user_id, struct pl_str key_id,
                    int64_t tokens, int64_t now_ms);

enum pl_meter_outcome { PL_METER_DONE, PL_METER_FAILED, PL_METER_ABORTED };
struct pl_meter_used {
    enum pl_meter_outcome outcome;
    struct pl_str model;           /* the model that answered; empty: the requested one */
    int64_t input, output, cached; /* tokens; -1 counts as 0 */
    int64_t cost_micro;            /* -1: not known */
    int64_t first_at_ms;           /* unix: time of the first word; 0: none came */
    const char *error;             /* static: a code; NULL: none */
};
/* Accepts a call that is not open. Adds the usage to the batch, so that it is durable with the
 * call's result. batch NULL: stores it separately. */
void pl_meter_settle(struct pl_meter *meter, struct pl_shard *shard, struct pl_meter_call *call,
                     const struct pl_meter_used *used, struct pl_batch *batch, int64_t now_ms);
/* Counts an attempt that failed before another model was called instead. */
void pl_meter_note_failed(struct pl_meter *meter, const struct pl_meter_call *call,
                          struct pl_str model, int64_t now_ms);

/* Called for each call that ends, on its shard; server/ supplies it, for /metrics. The row is valid
 * during the call. */
struct pl_meter_watch {
    void (*settled)(struct pl_shard *shard, const struct pl_usage_row *row);
    /* Another model was called instead of this one. */
    void (*passed_over)(struct pl_shard *shard, struct pl_str model);
};

/* --- limits ---------------------------------------------------------------------------------- */

/* Sets the limits that are not -1; they are already stored. spent_* come from the store. `number`
 * is the change's (key_table.h): a late change does not undo a newer one. */
enum pl_status pl_meter_set_limits(struct pl_meter *meter, const struct pl_limits *limits,
                                   int64_t spent_day_micro, int64_t spent_month_micro,
                                   uint64_t number);
/* Replaces the limits of all keys and users by the stored ones, with their spending
 * (rows[i].spent_* are needed for new ones). Other limits are removed. PL_NOMEM: one was left out,
 * the others are set. */
struct pl_meter_row {
    struct pl_limits limits;
    int64_t spent_day, spent_month;
};
enum pl_status pl_meter_read_rows(struct pl_meter *meter, struct pl_arena *arena,
                                  struct pl_meter_row **ret_rows, size_t *ret_n,
                                  struct pl_error *err);
enum pl_status pl_meter_refresh(struct pl_meter *meter, const struct pl_meter_row *rows, size_t n);
/* The limits of a key or a user. False: there are none. The strings are not set. */
bool pl_meter_limits(struct pl_meter *meter, struct pl_str id, struct pl_limits *ret_limits);
/* A user's quota; 0: none. */
int64_t pl_meter_quota(struct pl_meter *meter, struct pl_str user_id, enum pl_usage_limit limit);
/* Removes an erased user: the limits of all keys, and usage that is not stored yet. */
void pl_meter_forget_user(struct pl_meter *meter, struct pl_str user_id);
void pl_meter_forget(struct pl_meter *meter, struct pl_str key_id);

/* A socket of this user opens; false: the user has too many. Each socket that entered must
 * leave. */
bool pl_meter_enter_socket(struct pl_meter *meter, struct pl_str user_id);
void pl_meter_leave_socket(struct pl_meter *meter, struct pl_str user_id);

/* The days since 1970 of an instant, and of the first of its month. */
int64_t pl_meter_day(int64_t unix_ms);
int64_t pl_meter_month_start(int64_t unix_ms);

#endif

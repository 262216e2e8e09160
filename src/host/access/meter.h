/* What keys and users may use, and what they have used: the one place where a call of a model is
 * admitted and counted, whether a session, a task, a prompt, a summary or the gateway makes it. One
 * for the server; thread-safe.
 *
 *     begin: the limits of the key and of its user are looked at, and an estimate is reserved
 *     settle: the reservation becomes what was really used
 *
 * Requests and tokens a minute are buckets in memory, one per key and user. If nodes share the store,
 * they are grants that a node takes from the store by the minute (meter_grants.h), and the node reads
 * the money that others have spent: pl_meter_fetch, on a worker, before a call begins. Money is counted
 * per day and month (UTC), starting from the sums in the store. A call that costs money is stored soon
 * after it began, with its estimate, and again when it ends, in one transaction with its result
 * (meter_journal.h). Calls that cost nothing are summed in memory and committed once a second. */
#ifndef PL_ACCESS_METER_H
#define PL_ACCESS_METER_H

#include "base/text/uuid.h"
#include "http/exchange.h"
#include "store/gateway.h"

struct pl_meter; /* owned */

/* Counts what a crash has cut off; loads the limits of keys and users, and what those have spent. */
enum pl_status pl_meter_create(struct pl_server *server, struct pl_meter **ret_meter,
                               struct pl_error *err);
/* Begins to commit, on the first shard; ends that. */
void pl_meter_start(struct pl_meter *meter);
/* Commits the rest, blocking: after the loops have ended. Accepts NULL. */
void pl_meter_stop(struct pl_meter *meter);
void pl_meter_destroy(struct pl_meter *meter); /* accepts NULL */

/* --- calls ----------------------------------------------------------------------------------- */

enum {
    PL_METER_MODEL_MAX = 320,
    PL_METER_OUTPUT_TOKENS = 1000, /* of an answer nobody knows yet */
};

/* What a call is for: kept with it as a run (store/page.h). Strings that are empty are none. */
struct pl_meter_about {
    const char *source; /* static: "chat", "prompt", "gateway" … */
    struct pl_str session_id, turn_id, prompt_id;
    struct pl_str run_id; /* "run_…", where somebody knows it already; empty: a new one */
    int64_t version;      /* of the prompt */
};

struct pl_meter_ask {
    struct pl_meter_about about;
    struct pl_str user_id, key_id; /* key_id empty: none */
    struct pl_str model;           /* "vendor/model" */
    int64_t tokens;                /* estimates: of input and output */
    int64_t cost_micro;            /* -1: the model has no price */
    bool is_paid;                  /* somebody else is asked: it is stored while it runs */
    bool allows_unpriced;          /* the configuration lets models without a price pass a budget */
    int64_t now_ms;
};

/* A call between begin and settle; its owner's memory. */
struct pl_meter_call {
    char user_id[PL_ID_MAX], key_id[PL_ID_MAX];
    char model[PL_METER_MODEL_MAX];
    int64_t tokens, cost_micro;
    bool is_open;
    bool is_run_known; /* somebody may ask for its run as soon as it is over */
    uint64_t number;   /* in the journal of its shard; 0: none */
    const char *source;
    char session_id[PL_ID_MAX], turn_id[PL_ID_MAX], prompt_id[PL_ID_MAX], run_id[PL_ID_MAX];
    int64_t version, started_ms;
    struct pl_shard *shard; /* borrowed: where it was begun */
};

enum pl_meter_why { PL_METER_RATE, PL_METER_MONEY, PL_METER_NO_PRICE };
struct pl_meter_refusal {
    enum pl_meter_why why;
    int64_t retry_after_s; /* 0: waiting does not help */
    char sentence[240];
};
/* False: it may not begin now. The shard is the caller's. */
bool pl_meter_begin(struct pl_meter *meter, struct pl_shard *shard, const struct pl_meter_ask *ask,
                    struct pl_meter_call *ret_call, struct pl_meter_refusal *ret_refusal);

/* How many nodes are up, this one among them. Any thread. */
void pl_meter_hear_nodes(struct pl_meter *meter, size_t n_nodes);
/* Whether a call needs pl_meter_fetch before it may begin: never where a store has no nodes. One that is
 * alone takes grants as well, since another may come in the same minute. */
bool pl_meter_needs_fetch(struct pl_meter *meter, struct pl_str user_id, struct pl_str key_id);
/* Gets what a call of about so many tokens needs, and what other nodes have spent. On a worker. What
 * cannot be got is refused when the call begins. */
void pl_meter_fetch(struct pl_meter *meter, struct pl_str user_id, struct pl_str key_id,
                    int64_t tokens, int64_t now_ms);

enum pl_meter_outcome { PL_METER_DONE, PL_METER_FAILED, PL_METER_ABORTED };
struct pl_meter_used {
    enum pl_meter_outcome outcome;
    struct pl_str model;           /* who really answered; empty: who was asked */
    int64_t input, output, cached; /* tokens; -1 counts as 0 */
    int64_t cost_micro;            /* -1: not known */
    int64_t first_at_ms;           /* unix: when the first word came; 0: none came */
    const char *error;             /* static: a code; NULL: none */
};
/* Accepts a call that is not open. Into the batch, where there is one: what was used is durable with
 * what it brought. NULL: by itself. */
void pl_meter_settle(struct pl_meter *meter, struct pl_shard *shard, struct pl_meter_call *call,
                     const struct pl_meter_used *used, struct pl_batch *batch, int64_t now_ms);
/* An attempt that failed before another model was asked in its place: counted, and nothing else. */
void pl_meter_note_failed(struct pl_meter *meter, const struct pl_meter_call *call,
                          struct pl_str model, int64_t now_ms);

/* Told of each call that ends, on the shard it was made on: server/ hands one over, for /metrics. The
 * row is valid during the call. */
struct pl_meter_watch {
    void (*settled)(struct pl_shard *shard, const struct pl_usage_row *row);
    /* Another model was asked in the place of this one. */
    void (*passed_over)(struct pl_shard *shard, struct pl_str model);
};

/* --- limits ---------------------------------------------------------------------------------- */

/* The limits from now on, those that are not -1; they are already stored. spent_* come from the
 * store. `number` is the change's (key_table.h): one that comes late does not undo a newer one. */
enum pl_status pl_meter_set_limits(struct pl_meter *meter, const struct pl_limits *limits,
                                   int64_t spent_day_micro, int64_t spent_month_micro,
                                   uint64_t number);
/* The limits of all keys and users as the store has them, with what each has spent (rows[i].spent_* are
 * needed for those that are new). Limits of others are forgotten. No memory for one: PL_NOMEM, and the
 * others are set. */
struct pl_meter_row {
    struct pl_limits limits;
    int64_t spent_day, spent_month;
};
enum pl_status pl_meter_read_rows(struct pl_meter *meter, struct pl_arena *arena,
                                  struct pl_meter_row **ret_rows, size_t *ret_n,
                                  struct pl_error *err);
enum pl_status pl_meter_refresh(struct pl_meter *meter, const struct pl_meter_row *rows, size_t n);
/* Of a key or a user. False: there are none. The strings are not set. */
bool pl_meter_limits(struct pl_meter *meter, struct pl_str id, struct pl_limits *ret_limits);
/* A user's quota; 0: none. */
int64_t pl_meter_quota(struct pl_meter *meter, struct pl_str user_id, enum pl_usage_limit limit);
/* A user who was erased: limits of all keys, and usage that is not stored yet. */
void pl_meter_forget_user(struct pl_meter *meter, struct pl_str user_id);
void pl_meter_forget(struct pl_meter *meter, struct pl_str key_id);

/* A socket of this user opens: false if the user has as many as allowed. Leaving is for each that
 * has entered. */
bool pl_meter_enter_socket(struct pl_meter *meter, struct pl_str user_id);
void pl_meter_leave_socket(struct pl_meter *meter, struct pl_str user_id);

/* Days since 1970 of an instant, and of the first of its month. */
int64_t pl_meter_day(int64_t unix_ms);
int64_t pl_meter_month_start(int64_t unix_ms);

#endif

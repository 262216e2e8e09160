/* Data of the gateway (store.h): usage per key, model and day; limits of keys; the session that has
 * the conversation of an answer. */
#ifndef PL_STORE_GATEWAY_H
#define PL_STORE_GATEWAY_H

#include "store/store.h"

struct pl_usage_row {
    struct pl_str user_id;
    struct pl_str key_id; /* empty: through the control socket; in a list: all keys */
    struct pl_str model;  /* in a list grouped by provider: the provider; empty: all models */
    int64_t day;          /* since 1970, UTC; -1 in a list: all days */
    int64_t n_requests, input_tokens, output_tokens, cached_tokens;
    int64_t cost_micro;                      /* micro-dollars */
    int64_t n_failed, n_aborted, n_unpriced; /* of the requests */
};

/* Adds to the stored counts for this user, key, model and day. */
void pl_batch_add_usage(struct pl_batch *batch, const struct pl_usage_row *usage);

enum pl_usage_group {
    PL_USAGE_BY_KEY,
    PL_USAGE_BY_MODEL,
    PL_USAGE_BY_DAY,
    PL_USAGE_BY_USER,
    PL_USAGE_BY_PROVIDER, /* the part of the model before the slash */
    PL_USAGE_GROUPS,
};

struct pl_usage_query {
    struct pl_str user_id;    /* {NULL, 0}: all users */
    int64_t from_day, to_day; /* both included */
    enum pl_usage_group group;
    const struct pl_usage_row *after; /* last row of the previous page; NULL: none */
    size_t limit;
};
struct pl_usage_page {
    struct pl_usage_row *rows; /* arena; sorted by day, model or key */
    size_t n_rows;
    bool has_more;
};
enum pl_status pl_store_usage_list(struct pl_store *store, struct pl_arena *arena,
                                   const struct pl_usage_query *query,
                                   struct pl_usage_page *ret_page, struct pl_error *err);
/* The cost in micro-dollars of a key (empty: of all keys of the user) since that day. */
enum pl_status pl_store_usage_spent(struct pl_store *store, struct pl_str user_id,
                                    struct pl_str key_id, int64_t from_day, int64_t *ret_micro,
                                    struct pl_error *err);

/* Limits of a key or a user: 0 is no limit. In a change, -1 keeps the old value. */
enum pl_usage_limit {
    PL_LIMIT_RPM,          /* requests a minute */
    PL_LIMIT_TPM,          /* tokens a minute, in and out */
    PL_LIMIT_BUDGET_DAY,   /* micro-dollars a day, UTC */
    PL_LIMIT_BUDGET_MONTH, /* … a calendar month */
    PL_LIMIT_OF_KEYS,      /* limits above also apply to keys; limits from here on only to users: */
    PL_LIMIT_TURNS = PL_LIMIT_OF_KEYS, /* running at the same time */
    PL_LIMIT_SESSIONS,
    PL_LIMIT_BLOB_BYTES,
    PL_LIMIT_KEYS,
    PL_LIMIT_TASKS,
    PL_LIMIT_SOCKETS, /* open at the same time, including event streams */
    PL_LIMIT_COUNT,
};
struct pl_limits {
    struct pl_str user_id;
    struct pl_str key_id; /* empty: of the user */
    int64_t values[PL_LIMIT_COUNT];
};

/* A call in progress, with its estimate. */
struct pl_open_call {
    struct pl_str id; /* "call_" and a UUID */
    struct pl_str user_id, key_id, model;
    int64_t day, tokens, cost_micro;
};
void pl_batch_open_call(struct pl_batch *batch, const struct pl_open_call *call);
/* Put its usage into the same batch. */
void pl_batch_close_call(struct pl_batch *batch, struct pl_str id);
/* Counts calls that a crash interrupted, with their estimates, as aborted. */
void pl_batch_count_lost_calls(struct pl_batch *batch);

/* Fails the batch with PL_CONFLICT and a message if the user has more than `most` sessions, bytes
 * of blobs, keys or tasks. Put it after the writes that add them. */
void pl_batch_check_quota(struct pl_batch *batch, struct pl_str user_id, enum pl_usage_limit limit,
                          int64_t most);
void pl_batch_put_limits(struct pl_batch *batch, const struct pl_limits *limits);
/* The limits of all keys and users that have some. */
enum pl_status pl_store_limits_list(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_limits **ret_limits, size_t *ret_n,
                                    struct pl_error *err);

/* An answer that can be fetched and continued. */
struct pl_kept_response {
    struct pl_str id;         /* "resp_…" */
    struct pl_str session_id; /* has its conversation; in the store, or in the same batch */
    struct pl_str body;       /* JSON, as it was sent; {NULL, 0}: from before bodies were stored */
    int64_t n_input;          /* the number of the session's turns in the request */
};
void pl_batch_keep_response(struct pl_batch *batch, struct pl_str user_id,
                            const struct pl_kept_response *response);
enum pl_status pl_store_response_find(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str user_id, struct pl_str response_id,
                                      struct pl_kept_response *ret_response, struct pl_error *err);

#endif

/* What the gateway counts and keeps (store.h): usage per key, model and day; limits of keys; which
 * session has the conversation of an answer. */
#ifndef PL_STORE_GATEWAY_H
#define PL_STORE_GATEWAY_H

#include "store/store.h"

struct pl_usage_row {
    struct pl_str user_id;
    struct pl_str key_id; /* empty: by the control socket; in a list: of all keys */
    struct pl_str model;  /* in a list grouped by provider: the provider; empty: of all models */
    int64_t day;          /* since 1970, UTC; -1 in a list: of all days */
    int64_t n_requests, input_tokens, output_tokens, cached_tokens;
    int64_t cost_micro;                      /* micro-dollars */
    int64_t n_failed, n_aborted, n_unpriced; /* of the requests */
};

/* Adds to what is there for this user, key, model and day. */
void pl_batch_add_usage(struct pl_batch *batch, const struct pl_usage_row *usage);

enum pl_usage_group {
    PL_USAGE_BY_KEY,
    PL_USAGE_BY_MODEL,
    PL_USAGE_BY_DAY,
    PL_USAGE_BY_USER,
    PL_USAGE_BY_PROVIDER, /* what is before the slash of a model */
    PL_USAGE_GROUPS,
};

struct pl_usage_query {
    struct pl_str user_id;    /* {NULL, 0}: of all users */
    int64_t from_day, to_day; /* both included */
    enum pl_usage_group group;
    const struct pl_usage_row *after; /* the last one of the page before; NULL: from the first on */
    size_t limit;
};
struct pl_usage_page {
    struct pl_usage_row *rows; /* arena; by day, model or key */
    size_t n_rows;
    bool has_more;
};
enum pl_status pl_store_usage_list(struct pl_store *store, struct pl_arena *arena,
                                   const struct pl_usage_query *query,
                                   struct pl_usage_page *ret_page, struct pl_error *err);
/* Micro-dollars a key (empty: a user, with all keys) has cost since that day. */
enum pl_status pl_store_usage_spent(struct pl_store *store, struct pl_str user_id,
                                    struct pl_str key_id, int64_t from_day, int64_t *ret_micro,
                                    struct pl_error *err);

/* What a key or a user may use: 0 is no limit. In a change, -1 stays as it is. */
enum pl_usage_limit {
    PL_LIMIT_RPM,          /* requests a minute */
    PL_LIMIT_TPM,          /* tokens a minute, in and out */
    PL_LIMIT_BUDGET_DAY,   /* micro-dollars a day, UTC */
    PL_LIMIT_BUDGET_MONTH, /* … a calendar month */
    PL_LIMIT_OF_KEYS, /* those before it are limits of keys, too; from here on of users only: */
    PL_LIMIT_TURNS = PL_LIMIT_OF_KEYS, /* at work at once */
    PL_LIMIT_SESSIONS,
    PL_LIMIT_BLOB_BYTES,
    PL_LIMIT_KEYS,
    PL_LIMIT_TASKS,
    PL_LIMIT_SOCKETS, /* open at once, with event streams */
    PL_LIMIT_COUNT,
};
struct pl_limits {
    struct pl_str user_id;
    struct pl_str key_id; /* empty: of the user */
    int64_t values[PL_LIMIT_COUNT];
};

/* A call that is under way, with its estimate. */
struct pl_open_call {
    struct pl_str id; /* "call_" and a UUID */
    struct pl_str user_id, key_id, model;
    int64_t day, tokens, cost_micro;
};
void pl_batch_open_call(struct pl_batch *batch, const struct pl_open_call *call);
/* Its usage is counted in the same batch. */
void pl_batch_close_call(struct pl_batch *batch, struct pl_str id);
/* Calls that a crash has cut off count as estimated, and as broken off. */
void pl_batch_count_lost_calls(struct pl_batch *batch);

/* Fails the batch with PL_CONFLICT, and a sentence, where the user has more than this: of sessions,
 * bytes of blobs, keys, tasks. After what the batch adds. */
void pl_batch_check_quota(struct pl_batch *batch, struct pl_str user_id, enum pl_usage_limit limit,
                          int64_t most);
void pl_batch_put_limits(struct pl_batch *batch, const struct pl_limits *limits);
/* Those of all keys that have some. */
enum pl_status pl_store_limits_list(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_limits **ret_limits, size_t *ret_n,
                                    struct pl_error *err);

/* An answer that can be fetched and gone on from. */
struct pl_kept_response {
    struct pl_str id;         /* "resp_…" */
    struct pl_str session_id; /* which has its conversation; in the store, or in the same batch */
    struct pl_str body;       /* JSON, as it was given; {NULL, 0}: kept before there was a place */
    int64_t n_input;          /* turns of the session that the request had */
};
void pl_batch_keep_response(struct pl_batch *batch, struct pl_str user_id,
                            const struct pl_kept_response *response);
enum pl_status pl_store_response_find(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str user_id, struct pl_str response_id,
                                      struct pl_kept_response *ret_response, struct pl_error *err);

#endif

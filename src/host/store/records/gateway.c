/* Writes and reads usage, limits and kept responses. */
#include "store/gateway.h"

#include "store/store_int.h"

void pl_batch_add_usage(struct pl_batch *batch, const struct pl_usage_row *usage)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, usage->user_id, "user_");
    pl_params_text(&params, usage->key_id.ptr ? usage->key_id : PL_STR(""));
    pl_params_text(&params, usage->model);
    pl_params_int(&params, usage->day);
    pl_params_int(&params, usage->n_requests);
    pl_params_int(&params, usage->input_tokens);
    pl_params_int(&params, usage->output_tokens);
    pl_params_int(&params, usage->cached_tokens);
    pl_params_int(&params, usage->cost_micro);
    pl_params_int(&params, usage->n_failed);
    pl_params_int(&params, usage->n_aborted);
    pl_params_int(&params, usage->n_unpriced);
    pl_batch_write(batch, PL_SQL_USAGE_ADD, &params);
}

enum pl_status pl_store_usage_list(struct pl_store *store, struct pl_arena *arena,
                                   const struct pl_usage_query *query,
                                   struct pl_usage_page *ret_page, struct pl_error *err)
{
    static const struct pl_usage_row before_all = {
        .day = -2, .model = PL_STR(""), .key_id = PL_STR("")};
    static const char *const words[PL_USAGE_GROUPS] = {[PL_USAGE_BY_KEY] = "key",
                                                       [PL_USAGE_BY_MODEL] = "model",
                                                       [PL_USAGE_BY_DAY] = "day",
                                                       [PL_USAGE_BY_USER] = "user",
                                                       [PL_USAGE_BY_PROVIDER] = "provider"};
    const struct pl_usage_row *after = query->after ? query->after : &before_all;
    bool is_by_key = query->group == PL_USAGE_BY_KEY, is_by_user = query->group == PL_USAGE_BY_USER;
    struct pl_usage_page result = {0};
    struct pl_list list = {.size = sizeof(struct pl_usage_row)};
    struct pl_params params = {0};
    pl_params_id(&params, query->user_id, "user_");
    pl_params_int(&params, query->from_day);
    pl_params_int(&params, query->to_day);
    pl_params_text(&params, pl_str_of(words[query->group]));
    pl_params_int(&params, after->day);
    pl_params_text(&params, is_by_key ? after->key_id : after->model);
    pl_params_id(&params, after->user_id.len ? after->user_id : (struct pl_str){0}, "user_");
    pl_params_int(&params, (int64_t)query->limit + 1);
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, query->user_id.ptr ? PL_SQL_USAGE_LIST : PL_SQL_USAGE_LIST_ALL, &params);
    while (pl_read_next_of(&read, list.n, query->limit, &result.has_more)) {
        struct pl_usage_row *row = pl_read_add(&read, &list);
        if (!row)
            break;
        struct pl_str text = pl_read_text(&read, 1);
        *row = (struct pl_usage_row){
            .user_id = is_by_user ? pl_read_id(&read, 0, "user_") : PL_STR(""),
            .key_id = is_by_key ? text : PL_STR(""),
            .model = is_by_key ? PL_STR("") : text,
            .day = pl_read_int(&read, 2),
            .n_requests = pl_read_int(&read, 3),
            .input_tokens = pl_read_int(&read, 4),
            .output_tokens = pl_read_int(&read, 5),
            .cached_tokens = pl_read_int(&read, 6),
            .cost_micro = pl_read_int(&read, 7),
            .n_failed = pl_read_int(&read, 8),
            .n_aborted = pl_read_int(&read, 9),
            .n_unpriced = pl_read_int(&read, 10),
        };
    }
    result.rows = list.items;
    result.n_rows = list.n;
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

enum pl_status pl_store_usage_spent(struct pl_store *store, struct pl_str user_id,
                                    struct pl_str key_id, int64_t from_day, int64_t *ret_micro,
                                    struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_params params = {0};
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, key_id);
    pl_params_int(&params, from_day);
    struct pl_read read = pl_read_begin(store, &arena, err);
    int64_t micro =
        pl_read_number(&read, key_id.len ? PL_SQL_USAGE_SPENT : PL_SQL_USAGE_SPENT_USER, &params);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_micro = micro;
    return status;
}

void pl_batch_put_limits(struct pl_batch *batch, const struct pl_limits *limits)
{
    struct pl_params params = {.err = &batch->err};
    bool is_key = limits->key_id.len;
    if (is_key)
        pl_params_id(&params, limits->key_id, "key_");
    else
        pl_params_id(&params, limits->user_id, "user_");
    for (int i = 0; i < (is_key ? PL_LIMIT_OF_KEYS : PL_LIMIT_COUNT); i++)
        pl_params_int(&params, limits->values[i]);
    if (is_key)
        pl_params_id(&params, limits->user_id, "user_");
    pl_batch_write(batch, is_key ? PL_SQL_LIMITS_PUT : PL_SQL_USER_LIMITS_PUT, &params);
}

static void read_limits(struct pl_read *read, struct pl_list *list, bool is_key)
{
    pl_read_query(read, is_key ? PL_SQL_LIMITS_LIST : PL_SQL_USER_LIMITS_LIST,
                  &(struct pl_params){0});
    while (pl_read_next(read)) {
        struct pl_limits *limits = pl_read_add(read, list);
        if (!limits)
            return;
        size_t at = 0;
        limits->key_id = is_key ? pl_read_id(read, at++, "key_") : PL_STR("");
        limits->user_id = pl_read_id(read, at++, "user_");
        for (int i = 0; i < (is_key ? PL_LIMIT_OF_KEYS : PL_LIMIT_COUNT); i++)
            limits->values[i] = pl_read_int(read, at++);
    }
}

enum pl_status pl_store_limits_list(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_limits **ret_limits, size_t *ret_n,
                                    struct pl_error *err)
{
    struct pl_list list = {.size = sizeof(struct pl_limits)};
    struct pl_read read = pl_read_begin(store, arena, err);
    read_limits(&read, &list, true);
    read_limits(&read, &list, false);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK) {
        *ret_limits = list.items;
        *ret_n = list.n;
    }
    return status;
}

void pl_batch_open_call(struct pl_batch *batch, const struct pl_open_call *call)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, call->id, "call_");
    pl_params_id(&params, call->user_id, "user_");
    pl_params_text(&params, call->key_id.ptr ? call->key_id : PL_STR(""));
    pl_params_text(&params, call->model);
    pl_params_int(&params, call->day);
    pl_params_int(&params, call->tokens);
    pl_params_int(&params, call->cost_micro);
    pl_batch_write(batch, PL_SQL_CALL_OPEN, &params);
}

void pl_batch_close_call(struct pl_batch *batch, struct pl_str id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, "call_");
    pl_batch_write(batch, PL_SQL_CALL_CLOSE, &params);
}

void pl_batch_count_lost_calls(struct pl_batch *batch)
{
    pl_batch_write(batch, PL_SQL_CALL_COUNT_LOST, &(struct pl_params){.err = &batch->err});
    pl_batch_write(batch, PL_SQL_CALL_FORGET_LOST, &(struct pl_params){.err = &batch->err});
}

void pl_batch_check_quota(struct pl_batch *batch, struct pl_str user_id, enum pl_usage_limit limit,
                          int64_t most)
{
    static const enum pl_sql checks[PL_LIMIT_COUNT] = {
        [PL_LIMIT_SESSIONS] = PL_SQL_QUOTA_SESSIONS,
        [PL_LIMIT_BLOB_BYTES] = PL_SQL_QUOTA_BLOBS,
        [PL_LIMIT_KEYS] = PL_SQL_QUOTA_KEYS,
        [PL_LIMIT_TASKS] = PL_SQL_QUOTA_TASKS,
    };
    struct pl_params params = {.err = &batch->err};
    if (most <= 0)
        return;
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, most);
    pl_batch_write(batch, checks[limit], &params);
}

void pl_batch_keep_response(struct pl_batch *batch, struct pl_str user_id,
                            const struct pl_kept_response *response)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, response->session_id, "sess_");
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, response->id);
    pl_params_text(&params, response->body);
    pl_params_int(&params, response->n_input);
    pl_batch_write(batch, PL_SQL_RESPONSE_KEEP, &params);
    pl_blobs_use(batch, PL_BLOB_OF_SESSION, response->session_id, response->body);
}

enum pl_status pl_store_response_find(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str user_id, struct pl_str response_id,
                                      struct pl_kept_response *ret_response, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_kept_response found = {.id = response_id};
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, response_id);
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_RESPONSE_FIND, &params);
    bool was_found = pl_read_next(&read);
    if (was_found) {
        found.session_id = pl_read_id(&read, 0, "sess_");
        found.body = pl_read_text(&read, 1);
        found.n_input = pl_read_int(&read, 2);
    }
    enum pl_status status = pl_read_end_one(&read, was_found, "response");
    if (status == PL_OK)
        *ret_response = found;
    return status;
}

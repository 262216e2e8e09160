/* Calls of models, one by one. */
#include "store/page.h"
#include "store/store_int.h"

static void write_run(struct pl_batch *batch, enum pl_sql sql, const struct pl_model_run *run)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, run->id, "run_");
    pl_params_id(&params, run->user_id, "user_");
    pl_params_int(&params, run->started_ms);
    pl_params_int(&params, run->first_ms);
    pl_params_int(&params, run->total_ms);
    pl_params_int(&params, run->input_tokens);
    pl_params_int(&params, run->output_tokens);
    pl_params_int(&params, run->cached_tokens);
    pl_params_int(&params, run->cost_micro);
    pl_params_int(&params, run->version);
    pl_params_id(&params, run->session_id, "sess_");
    pl_params_id(&params, run->turn_id, "turn_");
    pl_params_id(&params, run->prompt_id, "prompt_");
    pl_params_text(&params, run->source);
    pl_params_text(&params, run->status);
    pl_params_text(&params, run->model);
    pl_params_text(&params, run->key_id.ptr ? run->key_id : PL_STR(""));
    pl_params_text(&params, run->error);
    pl_batch_write(batch, sql, &params);
}

void pl_batch_put_model_run(struct pl_batch *batch, const struct pl_model_run *run)
{
    write_run(batch, PL_SQL_MODEL_RUN_PUT, run);
}

void pl_batch_add_model_run(struct pl_batch *batch, const struct pl_model_run *run)
{
    write_run(batch, PL_SQL_MODEL_RUN_ADD, run);
}

void pl_batch_drop_gone_model_runs(struct pl_batch *batch, struct pl_str user_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, PL_SQL_MODEL_RUN_DROP_GONE, &params);
}

void pl_batch_expire_model_runs(struct pl_batch *batch, int64_t before_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, before_ms);
    pl_batch_write(batch, PL_SQL_MODEL_RUN_EXPIRE, &params);
}

/* SQL_MODEL_RUN_COLUMNS */
static void read_run(struct pl_read *read, struct pl_model_run *ret_run)
{
    *ret_run = (struct pl_model_run){
        .id = pl_read_id(read, 0, "run_"),
        .user_id = pl_read_id(read, 1, "user_"),
        .started_ms = pl_read_int(read, 2),
        .first_ms = pl_read_int(read, 3),
        .total_ms = pl_read_int(read, 4),
        .input_tokens = pl_read_int(read, 5),
        .output_tokens = pl_read_int(read, 6),
        .cached_tokens = pl_read_int(read, 7),
        .cost_micro = pl_read_int(read, 8),
        .version = pl_read_int(read, 9),
        .session_id = pl_read_id(read, 10, "sess_"),
        .turn_id = pl_read_id(read, 11, "turn_"),
        .prompt_id = pl_read_id(read, 12, "prompt_"),
        .source = pl_read_text(read, 13),
        .status = pl_read_text(read, 14),
        .model = pl_read_text(read, 15),
        .key_id = pl_read_text(read, 16),
        .error = pl_read_text(read, 17),
    };
}

/* SQL_MODEL_RUN_FILTER */
static void add_filter(struct pl_params *params, const struct pl_model_run_query *query)
{
    pl_params_id(params, query->user_id, "user_");
    pl_params_int(params, query->from_ms);
    pl_params_int(params, query->to_ms);
    pl_params_text(params, query->model.len ? query->model : PL_STR(""));
    pl_params_id(params, query->prompt_id.len ? query->prompt_id : (struct pl_str){0}, "prompt_");
    pl_params_text(params, query->source.len ? query->source : PL_STR(""));
    pl_params_text(params, query->status.len ? query->status : PL_STR(""));
}

enum pl_status pl_store_model_run_list(struct pl_store *store, struct pl_arena *arena,
                                       const struct pl_model_run_query *query,
                                       struct pl_model_run_page *ret_page, struct pl_error *err)
{
    struct pl_model_run_page page = {0};
    struct pl_list list = {.size = sizeof(struct pl_model_run)};
    struct pl_params all = {0}, params = {0};
    add_filter(&all, query);
    add_filter(&params, query);
    pl_params_int(&params, query->before_ms);
    pl_params_id_bound(&params, query->before_id, "run_");
    pl_params_int(&params, (int64_t)query->limit + 1);
    struct pl_read read = pl_read_begin(store, arena, err);
    page.total = pl_read_number(&read, PL_SQL_MODEL_RUN_COUNT, &all);
    pl_read_query(&read, PL_SQL_MODEL_RUN_LIST, &params);
    while (pl_read_next_of(&read, list.n, query->limit, &page.has_more)) {
        struct pl_model_run *run = pl_read_add(&read, &list);
        if (!run)
            break;
        read_run(&read, run);
    }
    page.items = list.items;
    page.n_items = list.n;
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = page;
    return status;
}

enum pl_status pl_store_model_run_get(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str user_id, struct pl_str id,
                                      struct pl_model_run *ret_run, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_model_run run = {0};
    pl_params_id(&params, id, "run_");
    pl_params_id(&params, user_id, "user_");
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_MODEL_RUN_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_run(&read, &run);
    enum pl_status status = pl_read_end_one(&read, was_found, "run");
    if (status == PL_OK)
        *ret_run = run;
    return status;
}

enum pl_status pl_store_model_run_sums(struct pl_store *store, struct pl_arena *arena,
                                       const struct pl_model_run_series *series,
                                       struct pl_model_run_sum **ret_sums, size_t *ret_n,
                                       bool *ret_has_more, struct pl_error *err)
{
    struct pl_list list = {.size = sizeof(struct pl_model_run_sum)};
    struct pl_params params = {0};
    bool has_more = false;
    add_filter(&params, series->which);
    pl_params_int(&params, series->offset_ms);
    pl_params_int(&params, series->bucket_ms);
    pl_params_text(&params, series->group.len ? series->group : PL_STR(""));
    pl_params_int(&params, (int64_t)series->limit + 1);
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_MODEL_RUN_SERIES, &params);
    while (pl_read_next_of(&read, list.n, series->limit, &has_more)) {
        struct pl_model_run_sum *sum = pl_read_add(&read, &list);
        if (!sum)
            break;
        *sum = (struct pl_model_run_sum){
            .at_ms = pl_read_int(&read, 0),
            .group = pl_read_text(&read, 1),
            .n = pl_read_int(&read, 2),
            .n_failed = pl_read_int(&read, 3),
            .input_tokens = pl_read_int(&read, 4),
            .output_tokens = pl_read_int(&read, 5),
            .cost_micro = pl_read_int(&read, 6),
            .first_sum_ms = pl_read_int(&read, 7),
            .n_first = pl_read_int(&read, 8),
            .total_sum_ms = pl_read_int(&read, 9),
        };
    }
    enum pl_status status = pl_read_end(&read);
    if (status != PL_OK)
        return status;
    *ret_sums = list.items;
    *ret_n = list.n;
    *ret_has_more = has_more;
    return PL_OK;
}

enum pl_status pl_store_session_sums(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str session_id, int64_t *ret_cost_micro,
                                     int64_t *ret_n_questions, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, session_id, "sess_");
    struct pl_read read = pl_read_begin(store, arena, err);
    int64_t cost_micro = pl_read_number(&read, PL_SQL_SESSION_COST, &params);
    int64_t n_questions = pl_read_number(&read, PL_SQL_SESSION_ASKS, &params);
    enum pl_status status = pl_read_end(&read);
    if (status != PL_OK)
        return status;
    *ret_cost_micro = cost_micro;
    *ret_n_questions = n_questions;
    return PL_OK;
}

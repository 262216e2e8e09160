/* Data of the service itself: answers to requests that may be repeated, and named values. */
#include "store/store_int.h"

void pl_batch_claim_idempotency(struct pl_batch *batch, const struct pl_idempotency_row *row)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, row->user_id, "user_");
    pl_params_text(&params, row->key);
    pl_params_bytes(&params, row->request_hash);
    pl_params_int(&params, row->status);
    pl_params_bytes(&params, row->answer);
    pl_params_int(&params, row->created_ms);
    pl_batch_write(batch, PL_SQL_IDEMPOTENCY_CLAIM, &params);
}

void pl_batch_settle_idempotency(struct pl_batch *batch, const struct pl_idempotency_row *row)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, row->user_id, "user_");
    pl_params_text(&params, row->key);
    pl_params_int(&params, row->status);
    pl_params_bytes(&params, row->answer);
    pl_batch_write(batch, PL_SQL_IDEMPOTENCY_SETTLE, &params);
}

void pl_batch_expire_idempotency(struct pl_batch *batch, int64_t created_before_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, created_before_ms);
    pl_batch_write(batch, PL_SQL_IDEMPOTENCY_EXPIRE, &params);
}

enum pl_status pl_store_idempotency_get(struct pl_store *store, struct pl_arena *arena,
                                        struct pl_str user_id, struct pl_str key,
                                        struct pl_idempotency_row *ret_row, struct pl_error *err)
{
    unsigned char writer[PL_UUID_BYTES] = {0};
    struct pl_params params = {0};
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, key);
    if (store->ops->line)
        store->ops->line->writer(store->writer.db, writer);
    pl_params_bytes(&params, (struct pl_str){(const char *)writer, sizeof writer});
    struct pl_idempotency_row row = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_IDEMPOTENCY_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        row = (struct pl_idempotency_row){
            .user_id = pl_read_keep(&read, user_id),
            .key = pl_read_keep(&read, key),
            .request_hash = pl_read_text(&read, 0),
            .status = pl_read_int(&read, 1),
            .answer = pl_read_text(&read, 2),
            .created_ms = pl_read_int(&read, 3),
            .is_elsewhere = pl_read_int(&read, 4),
        };
    enum pl_status status = pl_read_end_one(&read, was_found, "idempotency key");
    if (status == PL_OK)
        *ret_row = row;
    return status;
}

void pl_batch_put_setting(struct pl_batch *batch, struct pl_str name, struct pl_str value)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, name);
    pl_params_bytes(&params, value.ptr ? value : PL_STR(""));
    pl_batch_write(batch, PL_SQL_SETTING_PUT, &params);
}

void pl_batch_add_setting(struct pl_batch *batch, struct pl_str name, struct pl_str value)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, name);
    pl_params_bytes(&params, value.ptr ? value : PL_STR(""));
    pl_batch_write(batch, PL_SQL_SETTING_ADD, &params);
}

enum pl_status pl_store_setting_get(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str name, struct pl_str *ret_value,
                                    struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_text(&params, name);
    struct pl_str value = {NULL, 0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_SETTING_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        value = pl_read_text(&read, 0);
    enum pl_status status = pl_read_end_one(&read, was_found, "setting");
    if (status == PL_OK)
        *ret_value = value;
    return status;
}

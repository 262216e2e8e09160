/* The rows of the audit log. */
#include "store/audit.h"

#include "store/store_int.h"

static struct pl_str or_empty(struct pl_str text)
{
    return text.ptr ? text : PL_STR("");
}

/* Once per transaction, however many rows it adds. */
static void lock(struct pl_batch *batch)
{
    if (batch->locks_audit)
        return;
    batch->locks_audit = true;
    pl_batch_write(batch, PL_SQL_AUDIT_LOCK, &(struct pl_params){.err = &batch->err});
}

void pl_batch_add_audit(struct pl_batch *batch, const struct pl_audit_row *row)
{
    struct pl_params params = {.err = &batch->err};
    lock(batch);
    pl_params_int(&params, row->at_ms);
    pl_params_text(&params, or_empty(row->user_id));
    pl_params_text(&params, or_empty(row->key_id));
    pl_params_text(&params, row->action);
    pl_params_text(&params, or_empty(row->object));
    pl_params_text(&params, or_empty(row->detail));
    pl_batch_write(batch, PL_SQL_AUDIT_ADD, &params);
}

void pl_batch_begin_seal(struct pl_batch *batch, struct pl_str setting, struct pl_str head)
{
    struct pl_params params = {.err = &batch->err};
    lock(batch);
    pl_params_text(&params, setting);
    pl_params_bytes(&params, head.len ? head : PL_STR(""));
    pl_batch_write(batch, PL_SQL_AUDIT_EXPECT_HEAD, &params);
}

void pl_batch_seal_audit(struct pl_batch *batch, int64_t number, struct pl_str hash)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, number);
    pl_params_bytes(&params, hash);
    pl_batch_write(batch, PL_SQL_AUDIT_SEAL, &params);
}

static struct pl_audit_row read_row(struct pl_read *read)
{
    return (struct pl_audit_row){
        .number = pl_read_int(read, 0),
        .at_ms = pl_read_int(read, 1),
        .user_id = pl_read_text(read, 2),
        .key_id = pl_read_text(read, 3),
        .action = pl_read_text(read, 4),
        .object = pl_read_text(read, 5),
        .detail = pl_read_text(read, 6),
        .hash = pl_read_text(read, 7),
    };
}

enum pl_status pl_store_audit_list(struct pl_store *store, struct pl_arena *arena,
                                   enum pl_audit_order order, int64_t number, size_t limit,
                                   struct pl_audit_page *ret_page, struct pl_error *err)
{
    static const enum pl_sql orders[] = {[PL_AUDIT_OLDEST] = PL_SQL_AUDIT_OLDEST,
                                         [PL_AUDIT_NEWEST] = PL_SQL_AUDIT_NEWEST,
                                         [PL_AUDIT_UNSEALED] = PL_SQL_AUDIT_UNSEALED};
    struct pl_audit_page page = {0};
    struct pl_list list = {.size = sizeof(struct pl_audit_row)};
    struct pl_params params = {0};
    pl_params_int(&params, number);
    pl_params_int(&params, (int64_t)limit + 1);
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, orders[order], &params);
    while (pl_read_next_of(&read, list.n, limit, &page.has_more)) {
        struct pl_audit_row *row = pl_read_add(&read, &list);
        if (row)
            *row = read_row(&read);
    }
    page.rows = list.items;
    page.n_rows = list.n;
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = page;
    return status;
}

enum pl_status pl_store_audit_last(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_audit_row *ret_row, struct pl_error *err)
{
    struct pl_audit_row row = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_AUDIT_LAST, &(struct pl_params){0});
    if (pl_read_next(&read))
        row = read_row(&read);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_row = row;
    return status;
}

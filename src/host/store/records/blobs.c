/* Blobs. Pieces of bytes belong to the upload that brought them; blob_contents has one row per
 * hash, and blobs one per user who has it. The statements (statements_work.h) decide by themselves
 * whose pieces stay, so a batch need not read the store first. */
#include "store/store_int.h"
#include "store/work.h"
#include "base/text/search.h"
#include "base/text/uuid.h"
#include "io/clock.h"

/* --- writing --------------------------------------------------------------------------------- */

static void write_upload(struct pl_batch *batch, enum pl_sql sql, struct pl_str blob_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, blob_id, "blob_");
    pl_batch_write(batch, sql, &params);
}

static void write_timed(struct pl_batch *batch, enum pl_sql sql, struct pl_str blob_id, int64_t ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, blob_id, "blob_");
    pl_params_int(&params, ms);
    pl_batch_write(batch, sql, &params);
}

/* Only the first piece begins an upload. If the upload was swept in the meantime, a later piece has
 * nothing to belong to, and the batch fails. */
void pl_batch_put_piece(struct pl_batch *batch, struct pl_str blob_id, int64_t i,
                        struct pl_str bytes, int64_t now_ms)
{
    write_timed(batch, i == 0 ? PL_SQL_UPLOAD_BEGIN : PL_SQL_UPLOAD_TOUCH, blob_id, now_ms);
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, blob_id, "blob_");
    pl_params_int(&params, i);
    pl_params_bytes(&params, bytes.len ? bytes : PL_STR(""));
    pl_batch_write(batch, PL_SQL_UPLOAD_PIECE, &params);
}

static void enter_bytes(struct pl_batch *batch, const struct pl_blob_row *blob)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, blob->id, "blob_");
    pl_params_bytes(&params, blob->hash);
    pl_params_int(&params, blob->n_bytes);
    pl_batch_write(batch, PL_SQL_BLOB_ENTER, &params);
}

/* Uses the upload for the hash, or the existing bytes if others brought them before; adds the
 * user's row; then deletes the rest of the upload. */
void pl_batch_create_blob(struct pl_batch *batch, const struct pl_blob_row *blob)
{
    if (!blob->n_bytes)
        write_timed(batch, PL_SQL_UPLOAD_BEGIN, blob->id, blob->created_ms);
    enter_bytes(batch, blob);
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, blob->id, "blob_");
    pl_params_id(&params, blob->user_id, "user_");
    pl_params_bytes(&params, blob->hash);
    pl_params_text(&params, blob->content_type);
    pl_params_text(&params, blob->name);
    pl_params_int(&params, blob->created_ms);
    pl_params_int(&params, blob->is_servers ? blob->created_ms : 0);
    pl_batch_write(batch, PL_SQL_BLOB_CREATE, &params);
    write_upload(batch, PL_SQL_UPLOAD_END, blob->id);
    write_upload(batch, PL_SQL_UPLOAD_DROP, blob->id);
}

void pl_batch_delete_blob(struct pl_batch *batch, struct pl_str user_id, struct pl_str id)
{
    pl_batch_write_of(batch, PL_SQL_BLOB_HOLD, id, "blob_", user_id);
    pl_batch_write_of(batch, PL_SQL_BLOB_DROP_LAST, id, "blob_", user_id);
    pl_batch_write_of(batch, PL_SQL_BLOB_DELETE, id, "blob_", user_id);
}

void pl_batch_drop_upload(struct pl_batch *batch, struct pl_str blob_id)
{
    write_upload(batch, PL_SQL_UPLOAD_DROP, blob_id);
}

void pl_batch_sweep_uploads(struct pl_batch *batch, int64_t begun_before_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, begun_before_ms);
    pl_batch_write(batch, PL_SQL_UPLOAD_SWEEP, &params);
}

/* --- what refers to them --------------------------------------------------------------------- */

/* The statements of each kind of owner. */
static const struct {
    const char *prefix; /* of its ids */
    enum pl_sql use, release;
} owners[] = {
    [PL_BLOB_OF_SESSION] = {"sess_", PL_SQL_BLOB_USE_SESSION, PL_SQL_BLOB_RELEASE_SESSION},
    [PL_BLOB_OF_PROMPT] = {"prompt_", PL_SQL_BLOB_USE_PROMPT, PL_SQL_BLOB_RELEASE_PROMPT},
    [PL_BLOB_OF_TASK] = {"task_", PL_SQL_BLOB_USE_TASK, PL_SQL_BLOB_RELEASE_TASK},
};

/* Finds an id anywhere in the text, as a JSON value or in a URL. */
void pl_blobs_use(struct pl_batch *batch, enum pl_blob_owner owner, struct pl_str owner_id,
                  struct pl_str text)
{
    static const char prefix[] = "blob_";
    const size_t n_id = sizeof prefix - 1 + PL_UUID_SIZE;
    struct pl_str last = {NULL, 0};
    for (;;) {
        size_t at = pl_str_search(text, PL_STR(prefix));
        if (at == SIZE_MAX)
            return;
        struct pl_str id = pl_str_slice(text, at, at + n_id);
        text = pl_str_slice(text, at + sizeof prefix - 1, text.len);
        struct pl_params params = {0};
        pl_params_id(&params, owner_id, owners[owner].prefix);
        pl_params_id(&params, id, prefix);
        /* Text that only begins like an id is skipped. */
        if (params.status != PL_OK || pl_str_eq(id, last))
            continue;
        pl_batch_write(batch, owners[owner].use, &params);
        last = id;
    }
}

void pl_blobs_release(struct pl_batch *batch, enum pl_blob_owner owner, struct pl_str owner_id,
                      struct pl_str user_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, owner_id, owners[owner].prefix);
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, pl_clock_unix_ms());
    pl_batch_write(batch, owners[owner].release, &params);
}

void pl_batch_touch_blob(struct pl_batch *batch, struct pl_str id, int64_t now_ms)
{
    write_timed(batch, PL_SQL_BLOB_TOUCH, id, now_ms);
}

void pl_batch_settle_blob(struct pl_batch *batch, const struct pl_unused_blob *blob)
{
    write_timed(batch, PL_SQL_BLOB_SETTLE, blob->id, blob->unused_ms);
}

void pl_batch_collect_blob(struct pl_batch *batch, const struct pl_unused_blob *blob)
{
    write_timed(batch, PL_SQL_BLOB_EXPECT_UNUSED, blob->id, blob->unused_ms);
    pl_batch_delete_blob(batch, blob->user_id, blob->id);
}

enum pl_status pl_store_blob_unused(struct pl_store *store, struct pl_arena *arena,
                                    int64_t until_ms, size_t limit,
                                    struct pl_unused_blob **ret_blobs, size_t *ret_n,
                                    struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_int(&params, until_ms);
    pl_params_int(&params, (int64_t)limit);
    struct pl_list list = {.size = sizeof(struct pl_unused_blob)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_BLOB_UNUSED, &params);
    while (pl_read_next(&read)) {
        struct pl_unused_blob *blob = pl_read_add(&read, &list);
        if (blob)
            *blob = (struct pl_unused_blob){
                .id = pl_read_id(&read, 0, "blob_"),
                .user_id = pl_read_id(&read, 1, "user_"),
                .n_bytes = pl_read_int(&read, 2),
                .unused_ms = pl_read_int(&read, 3),
                .is_used = pl_read_int(&read, 4),
            };
    }
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK) {
        *ret_blobs = list.items;
        *ret_n = list.n;
    }
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

/* SQL_BLOB_COLUMNS */
static void read_blob(struct pl_read *read, struct pl_blob_row *ret_blob)
{
    *ret_blob = (struct pl_blob_row){
        .id = pl_read_id(read, 0, "blob_"),
        .user_id = pl_read_id(read, 1, "user_"),
        .hash = pl_read_text(read, 2),
        .n_bytes = pl_read_int(read, 3),
        .content_type = pl_read_text(read, 4),
        .name = pl_read_text(read, 5),
        .created_ms = pl_read_int(read, 6),
        .unused_ms = pl_read_int(read, 7),
    };
}

static enum pl_status read_one(struct pl_read read, enum pl_sql sql, const struct pl_params *params,
                               struct pl_blob_row *ret_blob)
{
    struct pl_blob_row blob = {0};
    pl_read_query(&read, sql, params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_blob(&read, &blob);
    enum pl_status status = pl_read_end_one(&read, was_found, "blob");
    if (status == PL_OK)
        *ret_blob = blob;
    return status;
}

enum pl_status pl_store_blob_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str id,
                                 struct pl_blob_row *ret_blob, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, id, "blob_");
    pl_params_id(&params, user_id, "user_");
    return read_one(pl_read_begin(store, arena, err), PL_SQL_BLOB_GET, &params, ret_blob);
}

enum pl_status pl_store_blob_find(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str hash,
                                  struct pl_blob_row *ret_blob, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, user_id, "user_");
    pl_params_bytes(&params, hash);
    return read_one(pl_read_begin(store, arena, err), PL_SQL_BLOB_FIND, &params, ret_blob);
}

enum pl_status pl_store_blob_piece(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str hash, int64_t i, struct pl_str *ret_bytes,
                                   struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_bytes(&params, hash);
    pl_params_int(&params, i);
    struct pl_str bytes = {NULL, 0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_BLOB_PIECE, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        bytes = pl_read_text(&read, 0);
    enum pl_status status = pl_read_end_one(&read, was_found, "piece of a blob");
    if (status == PL_OK)
        *ret_bytes = bytes;
    return status;
}

enum pl_status pl_store_blob_list(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, size_t limit, int64_t offset,
                                  struct pl_blob_page *ret_page, struct pl_error *err)
{
    struct pl_params some = {0}, all = {0};
    pl_params_id(&some, user_id, "user_");
    pl_params_int(&some, (int64_t)limit + 1);
    pl_params_int(&some, offset);
    pl_params_id(&all, user_id, "user_");
    struct pl_blob_page page = {0};
    struct pl_list list = {.size = sizeof(struct pl_blob_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_BLOB_LIST, &some);
    while (pl_read_next_of(&read, list.n, limit, &page.has_more)) {
        struct pl_blob_row *blob = pl_read_add(&read, &list);
        if (blob)
            read_blob(&read, blob);
    }
    page.items = list.items;
    page.n_items = list.n;
    page.total = pl_read_number(&read, PL_SQL_BLOB_COUNT, &all);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = page;
    return status;
}

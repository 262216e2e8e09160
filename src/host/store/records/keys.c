/* Users, their keys, and the links that they share. */
#include "store/node/shared.h"
#include "store/store_int.h"

static void write_user(struct pl_batch *batch, enum pl_sql sql, struct pl_str id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, "user_");
    pl_batch_write(batch, sql, &params);
}

void pl_batch_create_user(struct pl_batch *batch, const struct pl_user_row *user)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, user->id, "user_");
    pl_params_text(&params, user->name);
    pl_params_int(&params, user->is_admin);
    pl_params_int(&params, user->created_ms);
    pl_batch_write(batch, PL_SQL_USER_CREATE, &params);
}

/* Creating a user raises the version, whose row stays locked until the commit: of two concurrent
 * transactions, the second waits before it counts. */
void pl_batch_create_first_user(struct pl_batch *batch, const struct pl_user_row *user)
{
    pl_batch_create_user(batch, user);
    pl_batch_write(batch, PL_SQL_USER_EXPECT_FIRST, &(struct pl_params){.err = &batch->err});
}

void pl_batch_change_user(struct pl_batch *batch, const struct pl_user_change *change)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, change->id, "user_");
    pl_params_text(&params, change->name);
    pl_params_int(&params, change->is_admin);
    pl_params_int(&params, change->disabled_ms);
    pl_batch_write(batch, PL_SQL_USER_CHANGE, &params);
    write_user(batch, PL_SQL_USER_EXPECT, change->id);
    pl_batch_write(batch, PL_SQL_USER_ADMIN_LEFT, &(struct pl_params){.err = &batch->err});
}

void pl_batch_erase_user(struct pl_batch *batch, struct pl_str id)
{
    /* An index is emptied before its rows; bytes are deleted with their last blob. */
    static const enum pl_sql steps[] = {
        PL_SQL_USER_EXPECT,
        PL_SQL_USER_GONE,
        PL_SQL_USER_GONE_SESSIONS,
        PL_SQL_PROMPT_GONE_INDEX,
        PL_SQL_PROMPT_GONE,
        PL_SQL_MEMORY_GONE_INDEX,
        PL_SQL_MEMORY_GONE,
        PL_SQL_TASK_GONE,
        PL_SQL_BLOB_GONE_HOLD,
        PL_SQL_BLOB_GONE_LAST,
        PL_SQL_BLOB_GONE,
        PL_SQL_USER_GONE_KEYS,
        PL_SQL_USER_GONE_IDEMPOTENCY,
        PL_SQL_USER_GONE_IDENTITIES,
        PL_SQL_USAGE_GONE,
        PL_SQL_CALL_GONE,
        PL_SQL_USER_GONE_MODEL_RUNS,
        PL_SQL_USER_GONE_SETTINGS,
        PL_SQL_EXTENSION_ANSWERS_GONE,
        PL_SQL_EXTENSION_QUARANTINES_GONE,
        PL_SQL_USER_DELETE,
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        write_user(batch, steps[i], id);
    pl_batch_write(batch, PL_SQL_USER_ADMIN_LEFT, &(struct pl_params){.err = &batch->err});
}

enum pl_status pl_store_user_list(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_user_row **ret_users, size_t *ret_n,
                                  struct pl_error *err)
{
    struct pl_list list = {.size = sizeof(struct pl_user_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_USER_LIST, &(struct pl_params){0});
    while (pl_read_next(&read)) {
        struct pl_user_row *user = pl_read_add(&read, &list);
        if (user)
            *user = (struct pl_user_row){
                .id = pl_read_id(&read, 0, "user_"),
                .name = pl_read_text(&read, 1),
                .is_admin = pl_read_int(&read, 2),
                .created_ms = pl_read_int(&read, 3),
                .disabled_ms = pl_read_int(&read, 4),
            };
    }
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK) {
        *ret_users = list.items;
        *ret_n = list.n;
    }
    return status;
}

void pl_batch_create_identity(struct pl_batch *batch, const struct pl_identity_row *identity)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, identity->issuer);
    pl_params_text(&params, identity->subject);
    pl_params_id(&params, identity->user_id, "user_");
    pl_params_int(&params, identity->created_ms);
    pl_batch_write(batch, PL_SQL_IDENTITY_CREATE, &params);
}

enum pl_status pl_store_identity_find(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str issuer, struct pl_str subject,
                                      struct pl_str *ret_user_id, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_text(&params, issuer);
    pl_params_text(&params, subject);
    struct pl_str user_id = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_IDENTITY_FIND, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        user_id = pl_read_id(&read, 0, "user_");
    enum pl_status status = pl_read_end_one(&read, was_found, "user of this provider");
    if (status == PL_OK)
        *ret_user_id = user_id;
    return status;
}

enum pl_status pl_store_identity_count(struct pl_store *store, struct pl_str issuer,
                                       struct pl_str user_id, int64_t *ret_n, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_params params = {0};
    pl_params_text(&params, issuer);
    pl_params_id(&params, user_id, "user_");
    struct pl_read read = pl_read_begin(store, &arena, err);
    pl_read_query(&read, PL_SQL_IDENTITY_COUNT, &params);
    int64_t n = pl_read_next(&read) ? pl_read_int(&read, 0) : 0;
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_n = n;
    return status;
}

void pl_batch_create_key(struct pl_batch *batch, const struct pl_key_row *key)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, key->id, "key_");
    pl_params_id(&params, key->user_id, "user_");
    pl_params_text(&params, key->name);
    pl_params_bytes(&params, key->hash);
    pl_params_text(&params, key->last4);
    pl_params_int(&params, key->created_ms);
    pl_params_int(&params, key->last_used_ms);
    pl_params_text(&params, key->scope.len ? key->scope : PL_STR("all"));
    pl_params_int(&params, key->is_admin);
    pl_params_text(&params, key->models.ptr ? key->models : PL_STR(""));
    pl_params_int(&params, key->expires_ms);
    pl_params_int(&params, key->is_login);
    pl_batch_write(batch, PL_SQL_KEY_CREATE, &params);
    if (key->is_admin)
        pl_batch_end_login_code(batch);
}

void pl_batch_change_key(struct pl_batch *batch, const struct pl_key_patch *patch)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, patch->id, "key_");
    pl_params_id(&params, patch->user_id, "user_");
    pl_params_text(&params, patch->name);
    pl_params_text(&params, patch->scope);
    pl_params_text(&params, patch->models);
    pl_params_int(&params, patch->expires_ms);
    pl_batch_write(batch, PL_SQL_KEY_CHANGE, &params);
    pl_batch_write_of(batch, PL_SQL_KEY_EXPECT, patch->id, "key_", patch->user_id);
}

void pl_batch_rotate_key(struct pl_batch *batch, const struct pl_key_row *key, int64_t old_until_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, key->id, "key_");
    pl_params_id(&params, key->user_id, "user_");
    pl_params_bytes(&params, key->hash);
    pl_params_text(&params, key->last4);
    pl_params_int(&params, old_until_ms);
    pl_batch_write(batch, PL_SQL_KEY_ROTATE, &params);
    pl_batch_write_of(batch, PL_SQL_KEY_EXPECT, key->id, "key_", key->user_id);
}

void pl_batch_use_key(struct pl_batch *batch, struct pl_str id, int64_t used_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, "key_");
    pl_params_int(&params, used_ms);
    pl_batch_write(batch, PL_SQL_KEY_USED, &params);
}

void pl_batch_delete_key(struct pl_batch *batch, struct pl_str user_id, struct pl_str id)
{
    pl_batch_write_of(batch, PL_SQL_KEY_DELETE, id, "key_", user_id);
}

void pl_batch_expire_logins(struct pl_batch *batch, int64_t ended_by_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, ended_by_ms);
    pl_batch_write(batch, PL_SQL_KEY_EXPIRE_LOGINS, &params);
}

enum pl_status pl_store_key_list(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_key_row **ret_keys, size_t *ret_n,
                                 struct pl_error *err)
{
    struct pl_list list = {.size = sizeof(struct pl_key_row)};
    struct pl_params params = {0};
    if (user_id.ptr)
        pl_params_id(&params, user_id, "user_");
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, user_id.ptr ? PL_SQL_KEY_LIST : PL_SQL_KEY_LIST_ALL, &params);
    while (pl_read_next(&read)) {
        struct pl_key_row *key = pl_read_add(&read, &list);
        if (key)
            *key = (struct pl_key_row){
                .id = pl_read_id(&read, 0, "key_"),
                .user_id = pl_read_id(&read, 1, "user_"),
                .name = pl_read_text(&read, 2),
                .hash = pl_read_text(&read, 3),
                .last4 = pl_read_text(&read, 4),
                .created_ms = pl_read_int(&read, 5),
                .last_used_ms = pl_read_int(&read, 6),
                .scope = pl_read_text(&read, 7),
                .is_admin = pl_read_int(&read, 8),
                .models = pl_read_text(&read, 9),
                .expires_ms = pl_read_int(&read, 10),
                .old_hash = pl_read_text(&read, 11),
                .old_until_ms = pl_read_int(&read, 12),
                .is_login = pl_read_int(&read, 13),
            };
    }
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK) {
        *ret_keys = list.items;
        *ret_n = list.n;
    }
    return status;
}

void pl_batch_put_share(struct pl_batch *batch, const struct pl_share_row *share)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, share->session_id, "sess_");
    pl_params_id(&params, share->user_id, "user_");
    pl_params_id(&params, share->id, "share_");
    pl_params_bytes(&params, share->hash);
    pl_params_int(&params, share->created_ms);
    pl_batch_write(batch, PL_SQL_SHARE_PUT, &params);
}

void pl_batch_delete_shares(struct pl_batch *batch, struct pl_str user_id, struct pl_str session_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, session_id, "sess_");
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, PL_SQL_SHARE_DELETE, &params);
}

enum pl_status pl_store_share_find(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str hash, struct pl_share_row *ret_share,
                                   struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_bytes(&params, hash);
    struct pl_share_row share = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_SHARE_FIND, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        share = (struct pl_share_row){
            .id = pl_read_id(&read, 0, "share_"),
            .user_id = pl_read_id(&read, 1, "user_"),
            .session_id = pl_read_id(&read, 2, "sess_"),
            .hash = pl_read_text(&read, 3),
            .created_ms = pl_read_int(&read, 4),
        };
    enum pl_status status = pl_read_end_one(&read, was_found, "share link");
    if (status == PL_OK)
        *ret_share = share;
    return status;
}

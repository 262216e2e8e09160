/* The table of users and keys. Every secret of a key, the current one and the one before a
 * rotation, is an entry of a sorted array. A change goes to the store first, then to this table. */
#include "access/auth_int.h"

#include "base/mem.h"

#include <string.h>

void pl_auth_copy_text(char *to, size_t size, struct pl_str text)
{
    size_t n = text.len < size ? text.len : size - 1;
    if (n)
        memcpy(to, text.ptr, n);
    to[n] = 0;
}

/* --- finding --------------------------------------------------------------------------------- */

/* The index of the hash, or the index to insert it at. */
size_t pl_auth_find_hash(const struct pl_auth *auth, const uint8_t hash[32])
{
    size_t from = 0, to = auth->secrets.len;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (memcmp(auth->secrets.ptr[middle].hash, hash, 32) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct pl_auth_user *pl_auth_user_at(const struct pl_auth *auth, struct pl_str id)
{
    for (size_t i = 0; i < auth->users.len; i++)
        if (!auth->users.ptr[i]->is_gone && pl_str_eq(pl_str_of(auth->users.ptr[i]->id), id))
            return auth->users.ptr[i];
    return NULL;
}

struct pl_auth_key *pl_auth_key_at(const struct pl_auth *auth, struct pl_str user_id,
                                   struct pl_str id)
{
    for (size_t i = 0; i < auth->keys.len; i++) {
        struct pl_auth_key *key = auth->keys.ptr[i];
        if (pl_str_eq(pl_str_of(key->id), id) && pl_str_eq(pl_str_of(key->user->id), user_id))
            return key;
    }
    return NULL;
}

/* --- secrets --------------------------------------------------------------------------------- */

static enum pl_status add_secret(struct pl_auth *auth, struct pl_auth_key *key,
                                 const uint8_t hash[32], int64_t until_ms)
{
    struct pl_auth_secret secret = {.key = key, .until_ms = until_ms};
    memcpy(secret.hash, hash, 32);
    if (!pl_vec_push(&auth->secrets, secret))
        return PL_NOMEM;
    auth->secrets.len--;
    size_t at = pl_auth_find_hash(auth, hash);
    memmove(&auth->secrets.ptr[at + 1], &auth->secrets.ptr[at],
            (auth->secrets.len - at) * sizeof *auth->secrets.ptr);
    auth->secrets.ptr[at] = secret;
    auth->secrets.len++;
    return PL_OK;
}

static void drop_secrets(struct pl_auth *auth, const struct pl_auth_key *key)
{
    size_t n = 0;
    for (size_t i = 0; i < auth->secrets.len; i++)
        if (auth->secrets.ptr[i].key != key)
            auth->secrets.ptr[n++] = auth->secrets.ptr[i];
    auth->secrets.len = n;
}

static enum pl_status put_secrets(struct pl_auth *auth, struct pl_auth_key *key,
                                  const struct pl_key_row *row)
{
    drop_secrets(auth, key);
    memcpy(key->hash, row->hash.ptr, 32);
    pl_auth_copy_text(key->last4, sizeof key->last4, row->last4);
    key->old_until_ms = row->old_until_ms;
    enum pl_status status = add_secret(auth, key, key->hash, 0);
    if (status == PL_OK && row->old_hash.len == 32 && row->old_until_ms)
        status = add_secret(auth, key, (const uint8_t *)row->old_hash.ptr, row->old_until_ms);
    return status;
}

/* --- adding ---------------------------------------------------------------------------------- */

struct pl_auth_user *pl_auth_make_user(const struct pl_user_row *row)
{
    struct pl_auth_user *user = pl_mem_alloc(1, sizeof *user);
    if (!user)
        return NULL;
    *user = (struct pl_auth_user){
        .is_admin = row->is_admin,
        .created_ms = row->created_ms,
        .disabled_ms = row->disabled_ms,
    };
    pl_auth_copy_text(user->id, sizeof user->id, row->id);
    pl_auth_copy_text(user->name, sizeof user->name, row->name);
    return user;
}

enum pl_status pl_auth_put_user(struct pl_auth *auth, const struct pl_user_row *row)
{
    struct pl_auth_user *user = pl_auth_make_user(row);
    if (user && pl_vec_push(&auth->users, user))
        return PL_OK;
    pl_mem_free(user);
    return PL_NOMEM;
}

/* A copy with a NUL; NULL when out of memory. */
static char *copy_of(struct pl_str text)
{
    char *copy = pl_mem_alloc(text.len + 1, 1);
    if (copy)
        pl_auth_copy_text(copy, text.len + 1, text);
    return copy;
}

void pl_auth_free_key(struct pl_auth_key *key)
{
    if (key)
        pl_mem_free(key->models);
    pl_mem_free(key);
}

/* False: this version does not know the scope, and nothing was set. */
static bool set_scope(struct pl_auth_key *key, struct pl_str word)
{
    enum pl_scope scope;
    if (!pl_scope_find(word, &scope))
        return false;
    key->scope = scope;
    pl_auth_copy_text(key->scope_word, sizeof key->scope_word, word);
    return true;
}

struct pl_auth_key *pl_auth_make_key(const struct pl_auth_user *user, const struct pl_key_row *row)
{
    struct pl_auth_key *key = pl_mem_alloc(1, sizeof *key);
    if (!key)
        return NULL;
    *key = (struct pl_auth_key){
        .user = user,
        .created_ms = row->created_ms,
        .is_admin = row->is_admin,
        .is_login = row->is_login,
        .expires_ms = row->expires_ms,
        .models = copy_of(row->models),
    };
    /* A key with an unknown scope is never valid. */
    if (!set_scope(key, row->scope.len ? row->scope : PL_STR("all")))
        key->expires_ms = 1;
    pl_auth_copy_text(key->id, sizeof key->id, row->id);
    pl_auth_copy_text(key->name, sizeof key->name, row->name);
    memcpy(key->hash, row->hash.ptr, 32);
    pl_auth_copy_text(key->last4, sizeof key->last4, row->last4);
    key->old_until_ms = row->old_until_ms;
    atomic_init(&key->last_used_ms, row->last_used_ms);
    atomic_init(&key->stored_used_ms, row->last_used_ms);
    if (key->models)
        return key;
    pl_auth_free_key(key);
    return NULL;
}

enum pl_status pl_auth_put_key(struct pl_auth *auth, const struct pl_key_row *row)
{
    struct pl_auth_user *user = pl_auth_user_at(auth, row->user_id);
    if (!user || row->hash.len != 32)
        return PL_OK;
    struct pl_auth_key *key = pl_auth_make_key(user, row);
    if (!key)
        return PL_NOMEM;
    bool is_in = pl_vec_push(&auth->keys, key);
    if (is_in && put_secrets(auth, key, row) == PL_OK)
        return PL_OK;
    if (is_in) {
        drop_secrets(auth, key);
        auth->keys.len--;
    }
    pl_auth_free_key(key);
    return PL_NOMEM;
}

/* Tells other nodes about a change that is stored and applied here. */
static void applied(struct pl_auth *auth)
{
    auth->n_applied++;
    pthread_rwlock_unlock(&auth->lock);
    if (auth->on_change)
        auth->on_change(auth->on_change_ctx);
}

void pl_auth_watch(struct pl_auth *auth, void (*on_change)(void *ctx), void *ctx)
{
    auth->on_change = on_change;
    auth->on_change_ctx = ctx;
}

/* If the user exists already, a refresh has read it from the store meanwhile. */
enum pl_status pl_auth_add_user(struct pl_auth *auth, const struct pl_user_row *row)
{
    pthread_rwlock_wrlock(&auth->lock);
    enum pl_status status = pl_auth_user_at(auth, row->id) ? PL_OK : pl_auth_put_user(auth, row);
    applied(auth);
    return status;
}

enum pl_status pl_auth_add_key(struct pl_auth *auth, const struct pl_key_row *row)
{
    pthread_rwlock_wrlock(&auth->lock);
    bool is_there = pl_auth_key_at(auth, row->user_id, row->id) != NULL;
    enum pl_status status = is_there ? PL_OK : pl_auth_put_key(auth, row);
    const struct pl_auth_user *user = pl_auth_user_at(auth, row->user_id);
    bool is_admin = status == PL_OK && user && user->is_admin && row->is_admin;
    applied(auth);
    if (is_admin)
        pl_auth_end_first_code(auth);
    return status;
}

/* --- removing -------------------------------------------------------------------------------- */

/* Removes all keys of a user (key NULL), or one key. */
static void remove_keys(struct pl_auth *auth, const struct pl_auth_user *user,
                        const struct pl_auth_key *key)
{
    size_t n = 0;
    for (size_t i = 0; i < auth->keys.len; i++) {
        struct pl_auth_key *one = auth->keys.ptr[i];
        if (one == key || one->user == user) {
            drop_secrets(auth, one);
            pl_auth_free_key(one);
        } else {
            auth->keys.ptr[n++] = one;
        }
    }
    auth->keys.len = n;
}

void pl_auth_remove_key(struct pl_auth *auth, struct pl_str user_id, struct pl_str id)
{
    pthread_rwlock_wrlock(&auth->lock);
    struct pl_auth_key *key = pl_auth_key_at(auth, user_id, id);
    if (key)
        remove_keys(auth, NULL, key);
    applied(auth);
}

void pl_auth_remove_logins(struct pl_auth *auth, int64_t ended_by_ms,
                           void (*fn)(void *ctx, struct pl_str key_id), void *ctx)
{
    size_t n = 0;
    pthread_rwlock_wrlock(&auth->lock);
    for (size_t i = 0; i < auth->keys.len; i++) {
        struct pl_auth_key *key = auth->keys.ptr[i];
        if (key->is_login && key->expires_ms && key->expires_ms <= ended_by_ms) {
            fn(ctx, pl_str_of(key->id));
            drop_secrets(auth, key);
            pl_auth_free_key(key);
        } else {
            auth->keys.ptr[n++] = key;
        }
    }
    auth->keys.len = n;
    pthread_rwlock_unlock(&auth->lock);
}

/* The struct stays: copies of keys refer to it. */
void pl_auth_remove_user(struct pl_auth *auth, struct pl_str id)
{
    pthread_rwlock_wrlock(&auth->lock);
    struct pl_auth_user *user = pl_auth_user_at(auth, id);
    if (user) {
        remove_keys(auth, user, NULL);
        auth->n_gone += !user->is_gone;
        user->is_gone = true;
        memset(user->name, 0, sizeof user->name);
    }
    applied(auth);
}

void pl_auth_free_table(struct pl_auth *auth)
{
    for (size_t i = 0; i < auth->keys.len; i++)
        pl_auth_free_key(auth->keys.ptr[i]);
    for (size_t i = 0; i < auth->users.len; i++)
        pl_mem_free(auth->users.ptr[i]);
    pl_vec_deinit(&auth->secrets);
    pl_vec_deinit(&auth->keys);
    pl_vec_deinit(&auth->users);
}

/* --- changing -------------------------------------------------------------------------------- */

uint64_t pl_auth_begin_change(struct pl_auth *auth)
{
    pthread_mutex_lock(&auth->changes_lock);
    return ++auth->n_changes;
}

void pl_auth_end_change(struct pl_auth *auth)
{
    pthread_mutex_unlock(&auth->changes_lock);
}

/* Whether a change is newer than the applied one. If so, its number is noted. */
static bool is_news(uint64_t *last, uint64_t number)
{
    if (number < *last)
        return false;
    *last = number;
    return true;
}

enum pl_status pl_auth_change_user(struct pl_auth *auth, const struct pl_user_change *change,
                                   uint64_t number)
{
    pthread_rwlock_wrlock(&auth->lock);
    struct pl_auth_user *user = pl_auth_user_at(auth, change->id);
    if (user && change->name.ptr && is_news(&user->name_change, number))
        pl_auth_copy_text(user->name, sizeof user->name, change->name);
    if (user && change->is_admin >= 0 && is_news(&user->role_change, number))
        user->is_admin = change->is_admin;
    if (user && change->disabled_ms >= 0 && is_news(&user->disabled_change, number))
        user->disabled_ms = change->disabled_ms;
    applied(auth);
    return user ? PL_OK : PL_NOT_FOUND;
}

static enum pl_status change_key(struct pl_auth_key *key, const struct pl_key_change *change)
{
    const struct pl_key_patch *patch = &change->patch;
    if (patch->name.ptr && is_news(&key->name_change, change->number))
        pl_auth_copy_text(key->name, sizeof key->name, patch->name);
    if (patch->scope.ptr && is_news(&key->scope_change, change->number))
        (void)set_scope(key, patch->scope);
    if (patch->expires_ms >= 0 && is_news(&key->expires_change, change->number))
        key->expires_ms = patch->expires_ms;
    if (patch->models.ptr && is_news(&key->models_change, change->number)) {
        char *models = copy_of(patch->models);
        if (!models)
            return PL_NOMEM;
        pl_mem_free(key->models);
        key->models = models;
    }
    /* The meter orders the changes of each limit. */
    return change->set_limits ? change->set_limits(change->ctx) : PL_OK;
}

enum pl_status pl_auth_change_key(struct pl_auth *auth, struct pl_str user_id, struct pl_str id,
                                  const struct pl_key_change *change)
{
    pthread_rwlock_wrlock(&auth->lock);
    struct pl_auth_key *key = pl_auth_key_at(auth, user_id, id);
    enum pl_status status = key ? change_key(key, change) : PL_NOT_FOUND;
    applied(auth);
    return status;
}

enum pl_status pl_auth_rotate_key(struct pl_auth *auth, const struct pl_key_row *row,
                                  uint64_t number)
{
    pthread_rwlock_wrlock(&auth->lock);
    struct pl_auth_key *key = pl_auth_key_at(auth, row->user_id, row->id);
    enum pl_status status = key ? PL_OK : PL_NOT_FOUND;
    if (key && is_news(&key->secret_change, number))
        status = put_secrets(auth, key, row);
    applied(auth);
    return status;
}

/* --- looking --------------------------------------------------------------------------------- */

struct pl_key_row pl_auth_key_row(const struct pl_auth_key *key)
{
    return (struct pl_key_row){
        .id = pl_str_of(key->id),
        .user_id = pl_str_of(key->user->id),
        .name = pl_str_of(key->name),
        .hash = {(const char *)key->hash, 32},
        .last4 = pl_str_of(key->last4),
        .created_ms = key->created_ms,
        .last_used_ms = atomic_load(&key->last_used_ms),
        .scope = pl_str_of(key->scope_word),
        .is_admin = key->is_admin,
        .models = pl_str_of(key->models),
        .expires_ms = key->expires_ms,
        .old_until_ms = key->old_until_ms,
        .is_login = key->is_login,
    };
}

/* Copies all strings of the row to the arena. */
static bool keep_row(struct pl_arena *arena, struct pl_key_row *row)
{
    struct pl_str *const texts[] = {&row->id,    &row->user_id, &row->name,  &row->hash,
                                    &row->last4, &row->scope,   &row->models};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = texts[i]->len ? pl_arena_dup(arena, *texts[i]) : PL_STR("");
        if (!texts[i]->ptr)
            return false;
    }
    return true;
}

enum pl_status pl_auth_get_key(struct pl_auth *auth, struct pl_arena *arena, struct pl_str user_id,
                               struct pl_str id, struct pl_key_row *ret_row)
{
    pthread_rwlock_rdlock(&auth->lock);
    const struct pl_auth_key *key = pl_auth_key_at(auth, user_id, id);
    enum pl_status status = key ? PL_OK : PL_NOT_FOUND;
    if (key) {
        *ret_row = pl_auth_key_row(key);
        status = keep_row(arena, ret_row) ? PL_OK : PL_NOMEM;
    }
    pthread_rwlock_unlock(&auth->lock);
    return status;
}

bool pl_auth_find_user(struct pl_auth *auth, struct pl_str id, struct pl_auth_user *ret_user)
{
    pthread_rwlock_rdlock(&auth->lock);
    const struct pl_auth_user *user = pl_auth_user_at(auth, id);
    if (user)
        *ret_user = *user;
    pthread_rwlock_unlock(&auth->lock);
    return user != NULL;
}

bool pl_auth_is_active(struct pl_auth *auth, struct pl_str user_id)
{
    pthread_rwlock_rdlock(&auth->lock);
    const struct pl_auth_user *user = pl_auth_user_at(auth, user_id);
    bool is_active = user && !user->disabled_ms;
    pthread_rwlock_unlock(&auth->lock);
    return is_active;
}

void pl_auth_each_key(struct pl_auth *auth, struct pl_str user_id,
                      void (*fn)(void *ctx, const struct pl_auth_key *key), void *ctx)
{
    pthread_rwlock_rdlock(&auth->lock);
    for (size_t i = 0; i < auth->keys.len; i++)
        if (pl_str_eq(pl_str_of(auth->keys.ptr[i]->user->id), user_id))
            fn(ctx, auth->keys.ptr[i]);
    pthread_rwlock_unlock(&auth->lock);
}

void pl_auth_each_user(struct pl_auth *auth, void (*fn)(void *ctx, const struct pl_auth_user *user),
                       void *ctx)
{
    pthread_rwlock_rdlock(&auth->lock);
    for (size_t i = 0; i < auth->users.len; i++)
        if (!auth->users.ptr[i]->is_gone)
            fn(ctx, auth->users.ptr[i]);
    pthread_rwlock_unlock(&auth->lock);
}

size_t pl_auth_page_users(struct pl_auth *auth, size_t from, size_t n,
                          void (*fn)(void *ctx, const struct pl_auth_user *user), void *ctx)
{
    pthread_rwlock_rdlock(&auth->lock);
    /* If nobody was erased, the index is known. */
    size_t i = auth->n_gone ? 0 : from, n_before = i, n_told = 0;
    for (; i < auth->users.len && n_told < n; i++) {
        if (auth->users.ptr[i]->is_gone || n_before++ < from)
            continue;
        fn(ctx, auth->users.ptr[i]);
        n_told++;
    }
    size_t n_all = auth->users.len - auth->n_gone;
    pthread_rwlock_unlock(&auth->lock);
    return n_all;
}

size_t pl_auth_put_used(struct pl_auth *auth, struct pl_batch *batch)
{
    size_t n = 0;
    pthread_rwlock_rdlock(&auth->lock);
    for (size_t i = 0; i < auth->keys.len; i++) {
        struct pl_auth_key *key = auth->keys.ptr[i];
        int64_t used_ms = atomic_load(&key->last_used_ms);
        if (used_ms == atomic_load(&key->stored_used_ms))
            continue;
        atomic_store(&key->stored_used_ms, used_ms);
        pl_batch_use_key(batch, pl_str_of(key->id), used_ms);
        n++;
    }
    pthread_rwlock_unlock(&auth->lock);
    return n;
}

void pl_auth_each_expired(struct pl_auth *auth, int64_t after_ms, int64_t until_ms,
                          void (*fn)(void *ctx, struct pl_str key_id), void *ctx)
{
    pthread_rwlock_rdlock(&auth->lock);
    for (size_t i = 0; i < auth->keys.len; i++) {
        int64_t expires_ms = auth->keys.ptr[i]->expires_ms;
        if (expires_ms > after_ms && expires_ms <= until_ms)
            fn(ctx, pl_str_of(auth->keys.ptr[i]->id));
    }
    pthread_rwlock_unlock(&auth->lock);
}

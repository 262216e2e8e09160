/* Identifies callers. Keys are found by their hash in a sorted array (key_table.c): a look-up is a
 * BLAKE2b of 56 bytes and a few comparisons under a shared lock. A key is 256 random bits, so its
 * hash needs no salt and need not be slow. */
#include "access/auth_int.h"

#include "base/mem.h"
#include "base/text/uuid.h"
#include "http/reply/base64url.h"
#include "io/clock.h"
#include "store/node/shared.h"

#include <sodium/core.h>
#include <sodium/crypto_generichash.h>
#include <sodium/crypto_verify_32.h>
#include <sodium/randombytes.h>
#include <stdio.h>

enum { USED_EVERY_MS = 60000 };

void pl_secret_hash(struct pl_str secret, uint8_t ret_hash[32])
{
    crypto_generichash(ret_hash, 32, (const unsigned char *)secret.ptr, secret.len, NULL, 0);
}

bool pl_secret_make(char ret_text[PL_TICKET_SIZE + 1])
{
    uint8_t random[32];
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    randombytes_buf(random, sizeof random);
    pl_base64url_encode(&text, (struct pl_str){(const char *)random, sizeof random});
    if (text.status != PL_OK || text.len != PL_TICKET_SIZE)
        return false;
    memcpy(ret_text, text.ptr, text.len);
    ret_text[text.len] = 0;
    return true;
}

bool pl_key_make(char ret_plain[PL_KEY_SIZE + 1], uint8_t ret_hash[32])
{
    struct pl_str prefix = PL_STR(PL_KEY_PREFIX);
    if (sodium_init() < 0 || !pl_secret_make(ret_plain + prefix.len))
        return false;
    memcpy(ret_plain, prefix.ptr, prefix.len);
    pl_secret_hash((struct pl_str){ret_plain, PL_KEY_SIZE}, ret_hash);
    return true;
}

/* --- callers --------------------------------------------------------------------------------- */

static enum pl_status fill_caller(struct pl_arena *arena, const struct pl_auth_user *user,
                                  const struct pl_auth_key *key, struct pl_caller *ret_caller)
{
    struct pl_str key_id = key ? pl_str_of(key->id) : (struct pl_str){0};
    struct pl_str models = key ? pl_str_of(key->models) : (struct pl_str){0};
    struct pl_str extension =
        key ? pl_scope_extension(pl_str_of(key->scope_word)) : (struct pl_str){0};
    struct pl_caller caller = {
        .user_id = pl_arena_dup(arena, pl_str_of(user->id)),
        .key_id = key ? pl_arena_dup(arena, key_id) : key_id,
        .is_admin = user->is_admin && (!key || key->is_admin),
        .scope = key ? key->scope : PL_SCOPE_ALL,
        .is_restricted = key && (key->scope != PL_SCOPE_ALL || models.len ||
                                 (key->expires_ms && !key->is_login)),
        .models = models.len ? pl_arena_dup(arena, models) : (struct pl_str){0},
        .extension_id = extension.len ? pl_arena_dup(arena, extension) : (struct pl_str){0},
    };
    if (!caller.user_id.ptr || (key_id.len && !caller.key_id.ptr) ||
        (models.len && !caller.models.ptr) || (extension.len && !caller.extension_id.ptr))
        return PL_NOMEM;
    *ret_caller = caller;
    return PL_OK;
}

/* The reason why a known key is refused; NULL: it is valid. */
static const char *why_closed(const struct pl_auth_user *user, const struct pl_auth_key *key,
                              int64_t now_ms)
{
    if (user->disabled_ms)
        return "The user of this key is disabled; ask an administrator.";
    if (key && key->expires_ms && now_ms >= key->expires_ms)
        return "This key has expired; create a new one.";
    return NULL;
}

enum pl_status pl_auth_check_key(struct pl_auth *auth, struct pl_arena *arena, struct pl_str text,
                                 bool is_cookie, int64_t now_ms, struct pl_caller *ret_caller,
                                 const char **ret_why)
{
    uint8_t hash[32];
    enum pl_status status = PL_NOT_FOUND;
    *ret_why = "This key is unknown or was revoked.";
    if (text.len != PL_KEY_SIZE || !pl_str_starts(text, PL_STR(PL_KEY_PREFIX)))
        return status;
    pl_secret_hash(text, hash);
    pthread_rwlock_rdlock(&auth->lock);
    size_t at = pl_auth_find_hash(auth, hash);
    if (at < auth->secrets.len && crypto_verify_32(auth->secrets.ptr[at].hash, hash) == 0) {
        const struct pl_auth_secret *secret = &auth->secrets.ptr[at];
        struct pl_auth_key *key = secret->key;
        const char *why =
            key->is_login != is_cookie ? *ret_why : why_closed(key->user, key, now_ms);
        if (!why && secret->until_ms && now_ms >= secret->until_ms)
            why = "This key was rotated, and its time is over; use the new one.";
        if (now_ms - atomic_load_explicit(&key->last_used_ms, memory_order_relaxed) >=
            USED_EVERY_MS)
            atomic_store_explicit(&key->last_used_ms, now_ms, memory_order_relaxed);
        if (why)
            *ret_why = why;
        else
            status = fill_caller(arena, key->user, key, ret_caller);
    }
    pthread_rwlock_unlock(&auth->lock);
    return status;
}

enum pl_status pl_auth_local_caller(struct pl_auth *auth, struct pl_arena *arena,
                                    struct pl_caller *ret_caller)
{
    enum pl_status status = PL_NOT_FOUND;
    pthread_rwlock_rdlock(&auth->lock);
    for (size_t i = 0; i < auth->users.len && status == PL_NOT_FOUND; i++) {
        const struct pl_auth_user *user = auth->users.ptr[i];
        if (user->is_admin && !user->disabled_ms && !user->is_gone)
            status = fill_caller(arena, user, NULL, ret_caller);
    }
    pthread_rwlock_unlock(&auth->lock);
    return status;
}

enum pl_status pl_auth_caller_of(struct pl_auth *auth, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str key_id, int64_t unix_ms,
                                 struct pl_caller *ret_caller)
{
    pthread_rwlock_rdlock(&auth->lock);
    const struct pl_auth_user *user = pl_auth_user_at(auth, user_id);
    const struct pl_auth_key *key = key_id.len ? pl_auth_key_at(auth, user_id, key_id) : NULL;
    bool is_open = user && (key || !key_id.len) && !why_closed(user, key, unix_ms);
    enum pl_status status = is_open ? fill_caller(arena, user, key, ret_caller) : PL_NOT_FOUND;
    pthread_rwlock_unlock(&auth->lock);
    return status;
}

/* --- the first start ------------------------------------------------------------------------- */

bool pl_auth_has_admin_key(const struct pl_auth *auth)
{
    int64_t now_ms = pl_clock_unix_ms();
    for (size_t i = 0; i < auth->keys.len; i++) {
        const struct pl_auth_key *key = auth->keys.ptr[i];
        if (key->is_admin && key->user->is_admin && !why_closed(key->user, key, now_ms))
            return true;
    }
    return false;
}

static enum pl_status make_first_user(struct pl_auth *auth, struct pl_store *store,
                                      struct pl_error *err)
{
    struct pl_id_seed seed = {.unix_ms = pl_clock_unix_ms()};
    randombytes_buf(seed.random, sizeof seed.random);
    struct pl_id id = pl_id_take(&seed, "user_");
    struct pl_user_row row = {
        .id = pl_str_of(id.text),
        .name = PL_STR("admin"),
        .is_admin = true,
        .created_ms = seed.unix_ms,
    };
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_batch_create_first_user(batch, &row);
    enum pl_status status = pl_store_commit(store, batch, err);
    return status == PL_OK ? pl_auth_put_user(auth, &row) : status;
}

/* If several servers start on an empty store, one creates the first user and the others read it. */
static enum pl_status read_users(struct pl_auth *auth, struct pl_store *store,
                                 struct pl_arena *arena, size_t *ret_n, struct pl_error *err)
{
    struct pl_user_row *users = NULL;
    enum pl_status status = pl_store_user_list(store, arena, &users, ret_n, err);
    for (size_t i = 0; status == PL_OK && i < *ret_n; i++)
        status = pl_auth_put_user(auth, &users[i]);
    return status;
}

static enum pl_status load(struct pl_auth *auth, struct pl_store *store, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_key_row *keys = NULL;
    size_t n_users = 0, n_keys = 0;
    int64_t version = 0;
    enum pl_status status = pl_store_auth_version(store, &version, err);
    if (status == PL_OK)
        status = read_users(auth, store, &arena, &n_users, err);
    if (status == PL_OK && n_users == 0)
        status = make_first_user(auth, store, err);
    if (status == PL_NOT_FOUND)
        status = read_users(auth, store, &arena, &n_users, err);
    if (status == PL_OK)
        status = pl_store_key_list(store, &arena, (struct pl_str){0}, &keys, &n_keys, err);
    for (size_t i = 0; status == PL_OK && i < n_keys; i++)
        status = pl_auth_put_key(auth, &keys[i]);
    if (status == PL_OK && !pl_auth_has_admin_key(auth) && pl_secret_make(auth->first_code)) {
        pl_auth_first_code_become(auth, PL_FIRST_CODE_OPEN);
        auth->first_code_until_ms = pl_clock_unix_ms() + PL_FIRST_CODE_MS;
    }
    auth->version = version;
    return status;
}

enum pl_status pl_auth_create(struct pl_store *store, struct pl_auth **ret_auth,
                              struct pl_error *err)
{
    if (sodium_init() < 0)
        return pl_fail(err, PL_INTERNAL, "the system provides no random bytes");
    struct pl_auth *auth = pl_mem_alloc(1, sizeof *auth);
    struct pl_auth_ticket *tickets = pl_mem_alloc(PL_MAX_TICKETS, sizeof *tickets);
    if (!auth || !tickets) {
        pl_mem_free(auth);
        pl_mem_free(tickets);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    memset(tickets, 0, PL_MAX_TICKETS * sizeof *tickets);
    *auth = (struct pl_auth){.tickets = tickets, .store = pl_store_is_shared(store) ? store : NULL};
    pthread_rwlock_init(&auth->lock, NULL);
    pthread_mutex_init(&auth->tickets_lock, NULL);
    pthread_mutex_init(&auth->changes_lock, NULL);
    enum pl_status status = load(auth, store, err);
    if (status != PL_OK) {
        pl_auth_destroy(auth);
        return status;
    }
    *ret_auth = auth;
    return PL_OK;
}

void pl_auth_destroy(struct pl_auth *auth)
{
    if (!auth)
        return;
    pl_auth_free_table(auth);
    pthread_rwlock_destroy(&auth->lock);
    pthread_mutex_destroy(&auth->tickets_lock);
    pthread_mutex_destroy(&auth->changes_lock);
    pl_vec_deinit(&auth->news);
    pl_mem_free(auth->tickets);
    pl_mem_free(auth);
}

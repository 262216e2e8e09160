/* All users and keys are read again, because a revoked key leaves no row. Everything that can fail
 * happens before the table is changed.
 *
 * A change made here is stored first and applied to the table a moment later. Rows read in between
 * would undo it, so they are dropped and read again (n_applied). */
#include "access/auth_int.h"
#include "access/meter/meter.h"

#include "base/mem.h"
#include "io/clock.h"
#include "store/node/shared.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 8, LOOKS_A_SECOND = 10 };

struct rows {
    struct pl_user_row *users; /* arena */
    struct pl_key_row *keys;   /* arena */
    size_t n_users, n_keys;
    int64_t version;
};

/* The next table, while it is built. */
struct fresh {
    PL_VEC(struct pl_auth_user *)
    users;                             /* existing ones borrowed, new ones owned */
    PL_VEC(bool) is_new;               /* of users */
    PL_VEC(struct pl_auth_key *) keys; /* owned */
    PL_VEC(struct pl_auth_secret) secrets;
    PL_VEC(struct pl_auth_news) news;
};

static enum pl_status read_rows(struct pl_store *store, struct pl_arena *arena, struct rows *rows,
                                struct pl_error *err)
{
    enum pl_status status = pl_store_user_list(store, arena, &rows->users, &rows->n_users, err);
    if (status == PL_OK)
        status =
            pl_store_key_list(store, arena, (struct pl_str){0}, &rows->keys, &rows->n_keys, err);
    return status;
}

/* --- sorting ---------------------------------------------------------------------------------- */

/* Users and keys have different layouts, so each needs its own comparison. */
static int by_user_id(const void *a, const void *b)
{
    const struct pl_auth_user *const *one = a, *const *other = b;
    return strcmp((*one)->id, (*other)->id);
}

static int by_key_id(const void *a, const void *b)
{
    const struct pl_auth_key *const *one = a, *const *other = b;
    return strcmp((*one)->id, (*other)->id);
}

static int by_hash(const void *a, const void *b)
{
    const struct pl_auth_secret *one = a, *other = b;
    return memcmp(one->hash, other->hash, sizeof one->hash);
}

/* A sorted copy of n pointers; NULL when out of memory. */
static void *sorted(const void *pointers, size_t n, int (*by)(const void *, const void *))
{
    void *copy = pl_mem_alloc(n + 1, sizeof(void *));
    if (!copy)
        return NULL;
    if (n) {
        memcpy(copy, pointers, n * sizeof(void *));
        qsort(copy, n, sizeof(void *), by);
    }
    return copy;
}

static struct pl_auth_user *find_user(struct pl_auth_user **users, size_t n, struct pl_str id)
{
    struct pl_auth_user wanted = {0}, *key = &wanted;
    pl_auth_copy_text(wanted.id, sizeof wanted.id, id);
    struct pl_auth_user **found =
        n ? bsearch(&key, users, n, sizeof(struct pl_auth_user *), by_user_id) : NULL;
    return found ? *found : NULL;
}

static struct pl_auth_key *find_key(struct pl_auth_key **keys, size_t n, const char *id)
{
    struct pl_auth_key wanted = {0}, *key = &wanted;
    pl_auth_copy_text(wanted.id, sizeof wanted.id, pl_str_of(id));
    struct pl_auth_key **found =
        n ? bsearch(&key, keys, n, sizeof(struct pl_auth_key *), by_key_id) : NULL;
    return found ? *found : NULL;
}

/* --- making the next table --------------------------------------------------------------------- */

static bool tell(struct fresh *fresh, enum pl_auth_news_kind kind, const char *id)
{
    struct pl_auth_news news = {.kind = kind};
    pl_auth_copy_text(news.id, sizeof news.id, pl_str_of(id));
    return pl_vec_push(&fresh->news, news);
}

/* Finds the user of each row: an existing one, or a new one. */
static bool gather_users(const struct pl_auth *auth, const struct rows *rows, struct fresh *fresh)
{
    struct pl_auth_user **old = sorted(auth->users.ptr, auth->users.len, by_user_id);
    bool is_good = old != NULL;
    for (size_t i = 0; is_good && i < rows->n_users; i++) {
        struct pl_auth_user *user = find_user(old, auth->users.len, rows->users[i].id);
        bool is_new = !user;
        if (is_new)
            user = pl_auth_make_user(&rows->users[i]);
        is_good = user && pl_vec_push(&fresh->users, user);
        if (is_good && !pl_vec_push(&fresh->is_new, is_new)) {
            fresh->users.len--;
            is_good = false;
        }
        if (!is_good && is_new)
            pl_mem_free(user);
        if (is_good && !is_new && !user->disabled_ms && rows->users[i].disabled_ms)
            is_good = tell(fresh, PL_AUTH_USER_DISABLED, user->id);
    }
    pl_mem_free(old);
    return is_good;
}

/* Reports users that other nodes have erased. */
static bool tell_gone_users(const struct pl_auth *auth, struct fresh *fresh,
                            struct pl_auth_user **users)
{
    bool is_good = true;
    for (size_t i = 0; is_good && i < auth->users.len; i++) {
        const struct pl_auth_user *user = auth->users.ptr[i];
        if (!user->is_gone && !find_user(users, fresh->users.len, pl_str_of(user->id)))
            is_good = tell(fresh, PL_AUTH_USER_GONE, user->id);
    }
    return is_good;
}

static bool add_secret(struct fresh *fresh, struct pl_auth_key *key, struct pl_str hash,
                       int64_t until_ms)
{
    struct pl_auth_secret secret = {.key = key, .until_ms = until_ms};
    memcpy(secret.hash, hash.ptr, sizeof secret.hash);
    return pl_vec_push(&fresh->secrets, secret);
}

static bool add_key(struct fresh *fresh, const struct pl_auth_user *user,
                    const struct pl_key_row *row)
{
    struct pl_auth_key *key = pl_auth_make_key(user, row);
    if (!key || !pl_vec_push(&fresh->keys, key)) {
        pl_auth_free_key(key);
        return false;
    }
    return add_secret(fresh, key, row->hash, 0) &&
           (row->old_hash.len != 32 || !row->old_until_ms ||
            add_secret(fresh, key, row->old_hash, row->old_until_ms));
}

/* Copies data that only this process has about a key. */
static void carry_over(const struct pl_auth_key *from, struct pl_auth_key *to)
{
    int64_t used_ms = atomic_load(&from->last_used_ms);
    if (used_ms > atomic_load(&to->last_used_ms))
        atomic_store(&to->last_used_ms, used_ms);
    to->name_change = from->name_change;
    to->scope_change = from->scope_change;
    to->models_change = from->models_change;
    to->expires_change = from->expires_change;
    to->secret_change = from->secret_change;
}

static bool gather_keys(const struct pl_auth *auth, const struct rows *rows, struct fresh *fresh)
{
    struct pl_auth_user **users = sorted(fresh->users.ptr, fresh->users.len, by_user_id);
    bool is_good = users && tell_gone_users(auth, fresh, users);
    for (size_t i = 0; is_good && i < rows->n_keys; i++) {
        const struct pl_auth_user *user = find_user(users, fresh->users.len, rows->keys[i].user_id);
        if (user && rows->keys[i].hash.len == 32)
            is_good = add_key(fresh, user, &rows->keys[i]);
    }
    pl_mem_free(users);
    if (is_good && fresh->secrets.len)
        qsort(fresh->secrets.ptr, fresh->secrets.len, sizeof *fresh->secrets.ptr, by_hash);
    return is_good;
}

static bool compare_keys(const struct pl_auth *auth, struct fresh *fresh)
{
    struct pl_auth_key **keys = sorted(fresh->keys.ptr, fresh->keys.len, by_key_id);
    bool is_good = keys != NULL;
    for (size_t i = 0; is_good && i < auth->keys.len; i++) {
        struct pl_auth_key *same = find_key(keys, fresh->keys.len, auth->keys.ptr[i]->id);
        if (same)
            carry_over(auth->keys.ptr[i], same);
        else
            is_good = tell(fresh, PL_AUTH_KEY_GONE, auth->keys.ptr[i]->id);
    }
    pl_mem_free(keys);
    return is_good;
}

/* Reserves memory for everything that will be added. */
static bool reserve(struct pl_auth *auth, const struct fresh *fresh)
{
    size_t n_new = 0;
    for (size_t i = 0; i < fresh->is_new.len; i++)
        n_new += fresh->is_new.ptr[i];
    return pl_vec_reserve(&auth->users, auth->users.len + n_new) &&
           pl_vec_reserve(&auth->news, auth->news.len + fresh->news.len);
}

/* --- putting it in place ------------------------------------------------------------------------ */

static void put_users(struct pl_auth *auth, const struct rows *rows, struct fresh *fresh)
{
    for (size_t i = 0; i < rows->n_users; i++) {
        struct pl_auth_user *user = fresh->users.ptr[i];
        const struct pl_user_row *row = &rows->users[i];
        user->is_admin = row->is_admin;
        user->disabled_ms = row->disabled_ms;
        pl_auth_copy_text(user->name, sizeof user->name, row->name);
        if (fresh->is_new.ptr[i])
            auth->users.ptr[auth->users.len++] = user;
        fresh->is_new.ptr[i] = false;
    }
    for (size_t i = 0; i < fresh->news.len; i++) {
        struct pl_auth_user *user = fresh->news.ptr[i].kind == PL_AUTH_USER_GONE
                                        ? pl_auth_user_at(auth, pl_str_of(fresh->news.ptr[i].id))
                                        : NULL;
        if (!user)
            continue;
        user->is_gone = true;
        auth->n_gone++;
        memset(user->name, 0, sizeof user->name);
    }
}

/* The old keys go to `fresh`, which frees them. */
static void put_keys(struct pl_auth *auth, struct fresh *fresh)
{
    struct pl_auth_key **keys = fresh->keys.ptr;
    struct pl_auth_secret *secrets = fresh->secrets.ptr;
    size_t n_keys = fresh->keys.len, cap_keys = fresh->keys.cap, n_secrets = fresh->secrets.len,
           cap_secrets = fresh->secrets.cap;
    fresh->keys.ptr = auth->keys.ptr;
    fresh->keys.len = auth->keys.len;
    fresh->keys.cap = auth->keys.cap;
    fresh->secrets.ptr = auth->secrets.ptr;
    fresh->secrets.len = auth->secrets.len;
    fresh->secrets.cap = auth->secrets.cap;
    auth->keys.ptr = keys;
    auth->keys.len = n_keys;
    auth->keys.cap = cap_keys;
    auth->secrets.ptr = secrets;
    auth->secrets.len = n_secrets;
    auth->secrets.cap = cap_secrets;
    for (size_t i = 0; i < fresh->news.len; i++)
        auth->news.ptr[auth->news.len++] = fresh->news.ptr[i];
}

static void deinit(struct fresh *fresh)
{
    for (size_t i = 0; i < fresh->keys.len; i++)
        pl_auth_free_key(fresh->keys.ptr[i]);
    for (size_t i = 0; i < fresh->is_new.len; i++)
        if (fresh->is_new.ptr[i])
            pl_mem_free(fresh->users.ptr[i]);
    pl_vec_deinit(&fresh->users);
    pl_vec_deinit(&fresh->is_new);
    pl_vec_deinit(&fresh->keys);
    pl_vec_deinit(&fresh->secrets);
    pl_vec_deinit(&fresh->news);
}

/* Under the lock. */
static enum pl_status apply(struct pl_auth *auth, const struct rows *rows)
{
    struct fresh fresh = {0};
    bool is_good = gather_users(auth, rows, &fresh) && gather_keys(auth, rows, &fresh) &&
                   compare_keys(auth, &fresh) && reserve(auth, &fresh);
    if (is_good) {
        put_users(auth, rows, &fresh);
        put_keys(auth, &fresh);
        auth->n_refreshed = auth->n_applied;
        auth->version = rows->version;
    }
    deinit(&fresh);
    return is_good ? PL_OK : PL_NOMEM;
}

/* --- asking ------------------------------------------------------------------------------------- */

bool pl_auth_is_behind(struct pl_auth *auth, int64_t version)
{
    if (!auth->store)
        return false;
    pthread_rwlock_rdlock(&auth->lock);
    bool is_behind = version > auth->version || version > auth->more_version ||
                     auth->n_applied != auth->n_refreshed || auth->news.len;
    pthread_rwlock_unlock(&auth->lock);
    return is_behind;
}

static bool is_current(struct pl_auth *auth, int64_t version, bool has_more,
                       uint64_t *ret_n_applied)
{
    pthread_rwlock_rdlock(&auth->lock);
    *ret_n_applied = auth->n_applied;
    bool is_current = version == auth->version && (!has_more || version == auth->more_version) &&
                      auth->n_applied == auth->n_refreshed;
    pthread_rwlock_unlock(&auth->lock);
    return is_current;
}

static enum pl_status try_once(struct pl_auth *auth, const struct pl_auth_more *more,
                               struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct rows rows = {0};
    uint64_t n_applied = 0;
    pl_arena_init(&arena, 0);
    /* Read the version first: the rows are then at least as new. */
    enum pl_status status = pl_store_auth_version(auth->store, &rows.version, err);
    if (status != PL_OK || is_current(auth, rows.version, more, &n_applied))
        return status;
    status = read_rows(auth->store, &arena, &rows, err);
    if (status == PL_OK && more)
        status = more->read(more->ctx, err);
    if (status != PL_OK)
        return status;
    pthread_rwlock_wrlock(&auth->lock);
    /* Two concurrent refreshes may end in the other order. */
    if (auth->n_applied != n_applied || rows.version < auth->version)
        status = PL_CONFLICT;
    else
        status = apply(auth, &rows);
    if (status == PL_OK && more) {
        more->set(more->ctx);
        auth->more_version = rows.version;
    }
    bool has_admin_key = status == PL_OK && pl_auth_has_admin_key(auth);
    pthread_rwlock_unlock(&auth->lock);
    if (has_admin_key)
        pl_auth_end_first_code(auth);
    return status == PL_NOMEM ? pl_fail(err, status, "out of memory") : status;
}

static enum pl_status try_all(struct pl_auth *auth, const struct pl_auth_more *more,
                              struct pl_error *err)
{
    enum pl_status status = auth->store ? PL_CONFLICT : PL_OK;
    for (int i = 0; status == PL_CONFLICT && i < MAX_TRIES; i++)
        status = try_once(auth, more, err);
    return status == PL_CONFLICT ? pl_fail(err, status, "users and keys change all the time")
                                 : status;
}

/* Limits are read with the keys: without its limits a key would be unlimited. */
struct limits {
    struct pl_meter *meter; /* borrowed */
    struct pl_arena arena;
    struct pl_meter_row *rows; /* arena */
    size_t n_rows;
};

static enum pl_status read_limits(void *ctx, struct pl_error *err)
{
    struct limits *limits = ctx;
    pl_arena_reset(&limits->arena);
    return pl_meter_read_rows(limits->meter, &limits->arena, &limits->rows, &limits->n_rows, err);
}

static void set_limits(void *ctx)
{
    struct limits *limits = ctx;
    (void)pl_meter_refresh(limits->meter, limits->rows, limits->n_rows);
}

void pl_auth_share_limits(struct pl_auth *auth, struct pl_meter *meter)
{
    auth->meter = meter;
}

enum pl_status pl_auth_refresh(struct pl_auth *auth, const struct pl_auth_more *more,
                               struct pl_error *err)
{
    if (more || !auth->meter)
        return try_all(auth, more, err);
    struct limits limits = {.meter = auth->meter};
    pl_arena_init(&limits.arena, 0);
    enum pl_status status =
        try_all(auth, &(struct pl_auth_more){read_limits, set_limits, &limits}, err);
    pl_arena_deinit(&limits.arena);
    return status;
}

bool pl_auth_begin_hearing(struct pl_auth *auth)
{
    return !atomic_exchange(&auth->is_hearing, true);
}

void pl_auth_end_hearing(struct pl_auth *auth)
{
    atomic_store(&auth->is_hearing, false);
}

bool pl_auth_take_news(struct pl_auth *auth, struct pl_auth_news *ret_news)
{
    pthread_rwlock_wrlock(&auth->lock);
    bool has_some = auth->news.len;
    if (has_some)
        *ret_news = auth->news.ptr[--auth->news.len];
    pthread_rwlock_unlock(&auth->lock);
    return has_some;
}

static bool is_known(struct pl_auth *auth, struct pl_str secret)
{
    uint8_t hash[32];
    pl_secret_hash(secret, hash);
    pthread_rwlock_rdlock(&auth->lock);
    size_t at = pl_auth_find_hash(auth, hash);
    bool is_known =
        at < auth->secrets.len && memcmp(auth->secrets.ptr[at].hash, hash, sizeof hash) == 0;
    pthread_rwlock_unlock(&auth->lock);
    return is_known;
}

bool pl_auth_may_look(struct pl_auth *auth, struct pl_str secret, int64_t now_ms)
{
    if (!auth->store || secret.len != PL_KEY_SIZE ||
        !pl_str_starts(secret, PL_STR(PL_KEY_PREFIX)) || is_known(auth, secret))
        return false;
    pthread_mutex_lock(&auth->tickets_lock);
    if (auth->look_s != now_ms / 1000) {
        auth->look_s = now_ms / 1000;
        auth->n_looks = 0;
    }
    bool may_look = auth->n_looks < LOOKS_A_SECOND;
    auth->n_looks += may_look;
    pthread_mutex_unlock(&auth->tickets_lock);
    return may_look;
}

/* Keys are found by their hash in a sorted array: one look-up is a BLAKE2b of 56 bytes and a few
 * comparisons under a lock that readers share. A key is 256 bits of randomness, so its hash needs
 * no salt and no slowness.
 *
 * Who changes a key tells the store first and this table when that is durable. */
#include "access/auth_int.h"

#include "base/mem.h"
#include "base/text/uuid.h"
#include "http/reply/base64url.h"
#include "io/clock.h"

#include <sodium/core.h>
#include <sodium/crypto_generichash.h>
#include <sodium/crypto_verify_32.h>
#include <sodium/randombytes.h>
#include <stdio.h>

enum {
    MAX_TICKETS = 2048,
    MAX_USER_TICKETS = 64,
    TICKET_MS = 30000,
    USED_EVERY_MS = 60000,
    FIRST_CODE_MS = 3600000
};

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

/* --- the table ------------------------------------------------------------------------------- */

static void copy_text(char *to, size_t size, struct pl_str text)
{
    size_t n = text.len < size ? text.len : size - 1;
    memcpy(to, text.ptr, n);
    to[n] = 0;
}

/* Where the hash is, or where it would be put. */
static size_t find_hash(const struct pl_auth *auth, const uint8_t hash[32])
{
    size_t from = 0, to = auth->keys.len;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (memcmp(auth->keys.ptr[middle]->hash, hash, 32) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static const struct pl_auth_user *find_user(const struct pl_auth *auth, struct pl_str id)
{
    for (size_t i = 0; i < auth->users.len; i++)
        if (pl_str_eq(pl_str_of(auth->users.ptr[i]->id), id))
            return auth->users.ptr[i];
    return NULL;
}

static enum pl_status add_user(struct pl_auth *auth, const struct pl_user_row *row)
{
    struct pl_auth_user *user = pl_mem_alloc(1, sizeof *user);
    if (!user || !pl_vec_push(&auth->users, user)) {
        pl_mem_free(user);
        return PL_NOMEM;
    }
    copy_text(user->id, sizeof user->id, row->id);
    copy_text(user->name, sizeof user->name, row->name);
    user->is_admin = row->is_admin;
    user->created_ms = row->created_ms;
    return PL_OK;
}

static enum pl_status add_key(struct pl_auth *auth, const struct pl_key_row *row)
{
    const struct pl_auth_user *user = find_user(auth, row->user_id);
    if (!user || row->hash.len != 32)
        return PL_OK;
    struct pl_auth_key *key = pl_mem_alloc(1, sizeof *key);
    if (!key || !pl_vec_push(&auth->keys, key)) {
        pl_mem_free(key);
        return PL_NOMEM;
    }
    memcpy(key->hash, row->hash.ptr, 32);
    copy_text(key->id, sizeof key->id, row->id);
    copy_text(key->name, sizeof key->name, row->name);
    copy_text(key->last4, sizeof key->last4, row->last4);
    key->user = user;
    key->name_change = key->limits_change = 0;
    key->created_ms = row->created_ms;
    atomic_init(&key->last_used_ms, row->last_used_ms);
    atomic_init(&key->stored_used_ms, row->last_used_ms);
    auth->keys.len--;
    size_t at = find_hash(auth, key->hash);
    memmove(&auth->keys.ptr[at + 1], &auth->keys.ptr[at],
            (auth->keys.len - at) * sizeof *auth->keys.ptr);
    auth->keys.ptr[at] = key;
    auth->keys.len++;
    return PL_OK;
}

enum pl_status pl_auth_add_user(struct pl_auth *auth, const struct pl_user_row *row)
{
    pthread_rwlock_wrlock(&auth->lock);
    enum pl_status status = add_user(auth, row);
    pthread_rwlock_unlock(&auth->lock);
    return status;
}

static void end_first_code(struct pl_auth *auth)
{
    pthread_mutex_lock(&auth->tickets_lock);
    if (auth->first_code_state != PL_FIRST_CODE_NONE)
        auth->first_code_state = PL_FIRST_CODE_OVER;
    pthread_mutex_unlock(&auth->tickets_lock);
}

enum pl_status pl_auth_add_key(struct pl_auth *auth, const struct pl_key_row *row)
{
    pthread_rwlock_wrlock(&auth->lock);
    enum pl_status status = add_key(auth, row);
    const struct pl_auth_user *user = find_user(auth, row->user_id);
    bool is_admin = status == PL_OK && user && user->is_admin;
    pthread_rwlock_unlock(&auth->lock);
    if (is_admin)
        end_first_code(auth);
    return status;
}

/* The place of a user's key; keys.len when there is none. */
static size_t find_key(const struct pl_auth *auth, struct pl_str user_id, struct pl_str id)
{
    size_t at = 0;
    while (at < auth->keys.len && !(pl_str_eq(pl_str_of(auth->keys.ptr[at]->id), id) &&
                                    pl_str_eq(pl_str_of(auth->keys.ptr[at]->user->id), user_id)))
        at++;
    return at;
}

/* Member by member: the times of use may move meanwhile. */
static void copy_key(const struct pl_auth_key *from, struct pl_auth_key *to)
{
    memcpy(to, from, offsetof(struct pl_auth_key, last_used_ms));
    atomic_init(&to->last_used_ms, atomic_load(&from->last_used_ms));
    atomic_init(&to->stored_used_ms, atomic_load(&from->stored_used_ms));
}

bool pl_auth_has_key(struct pl_auth *auth, struct pl_str user_id, struct pl_str id,
                     struct pl_auth_key *ret_key)
{
    pthread_rwlock_rdlock(&auth->lock);
    size_t at = find_key(auth, user_id, id);
    bool is_there = at < auth->keys.len;
    if (is_there)
        copy_key(auth->keys.ptr[at], ret_key);
    pthread_rwlock_unlock(&auth->lock);
    return is_there;
}

void pl_auth_remove_key(struct pl_auth *auth, struct pl_str user_id, struct pl_str id)
{
    pthread_rwlock_wrlock(&auth->lock);
    size_t at = find_key(auth, user_id, id);
    if (at < auth->keys.len) {
        pl_mem_free(auth->keys.ptr[at]);
        auth->keys.len--;
        memmove(&auth->keys.ptr[at], &auth->keys.ptr[at + 1],
                (auth->keys.len - at) * sizeof *auth->keys.ptr);
    }
    pthread_rwlock_unlock(&auth->lock);
}

uint64_t pl_auth_begin_change(struct pl_auth *auth)
{
    pthread_mutex_lock(&auth->changes_lock);
    return ++auth->n_changes;
}

void pl_auth_end_change(struct pl_auth *auth)
{
    pthread_mutex_unlock(&auth->changes_lock);
}

static enum pl_status change_key(struct pl_auth_key *key, const struct pl_key_change *change)
{
    if (change->name.ptr && change->number > key->name_change) {
        copy_text(key->name, sizeof key->name, change->name);
        key->name_change = change->number;
    }
    if (!change->set_limits || change->number < key->limits_change)
        return PL_OK;
    key->limits_change = change->number;
    return change->set_limits(change->ctx);
}

enum pl_status pl_auth_change_key(struct pl_auth *auth, struct pl_str user_id, struct pl_str id,
                                  const struct pl_key_change *change)
{
    pthread_rwlock_wrlock(&auth->lock);
    size_t at = find_key(auth, user_id, id);
    enum pl_status status =
        at < auth->keys.len ? change_key(auth->keys.ptr[at], change) : PL_NOT_FOUND;
    pthread_rwlock_unlock(&auth->lock);
    return status;
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
        fn(ctx, auth->users.ptr[i]);
    pthread_rwlock_unlock(&auth->lock);
}

bool pl_auth_find_user(struct pl_auth *auth, struct pl_str id, struct pl_auth_user *ret_user)
{
    pthread_rwlock_rdlock(&auth->lock);
    const struct pl_auth_user *user = find_user(auth, id);
    if (user)
        *ret_user = *user;
    pthread_rwlock_unlock(&auth->lock);
    return user != NULL;
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
    };
}

/* --- who is asking --------------------------------------------------------------------------- */

static enum pl_status fill_caller(struct pl_arena *arena, struct pl_str user_id,
                                  struct pl_str key_id, bool is_admin, struct pl_caller *ret_caller)
{
    struct pl_caller caller = {pl_arena_dup(arena, user_id), pl_arena_dup(arena, key_id), is_admin};
    if (!caller.user_id.ptr || (key_id.len && !caller.key_id.ptr))
        return PL_NOMEM;
    *ret_caller = caller;
    return PL_OK;
}

enum pl_status pl_auth_check_key(struct pl_auth *auth, struct pl_arena *arena, struct pl_str text,
                                 int64_t now_ms, struct pl_caller *ret_caller)
{
    uint8_t hash[32];
    enum pl_status status = PL_NOT_FOUND;
    if (text.len != PL_KEY_SIZE || !pl_str_starts(text, PL_STR(PL_KEY_PREFIX)))
        return status;
    pl_secret_hash(text, hash);
    pthread_rwlock_rdlock(&auth->lock);
    size_t at = find_hash(auth, hash);
    if (at < auth->keys.len && crypto_verify_32(auth->keys.ptr[at]->hash, hash) == 0) {
        struct pl_auth_key *key = auth->keys.ptr[at];
        if (now_ms - atomic_load_explicit(&key->last_used_ms, memory_order_relaxed) >=
            USED_EVERY_MS)
            atomic_store_explicit(&key->last_used_ms, now_ms, memory_order_relaxed);
        status = fill_caller(arena, pl_str_of(key->user->id), pl_str_of(key->id),
                             key->user->is_admin, ret_caller);
    }
    pthread_rwlock_unlock(&auth->lock);
    return status;
}

enum pl_status pl_auth_local_caller(struct pl_auth *auth, struct pl_arena *arena,
                                    struct pl_caller *ret_caller)
{
    enum pl_status status = PL_NOT_FOUND;
    pthread_rwlock_rdlock(&auth->lock);
    for (size_t i = 0; i < auth->users.len && status == PL_NOT_FOUND; i++)
        if (auth->users.ptr[i]->is_admin)
            status = fill_caller(arena, pl_str_of(auth->users.ptr[i]->id), (struct pl_str){0}, true,
                                 ret_caller);
    pthread_rwlock_unlock(&auth->lock);
    return status;
}

/* --- tickets --------------------------------------------------------------------------------- */

/* A place for one more ticket of this user: a free one, or that of the user's own oldest ticket if
 * the user has many or no place is free. Tickets of one user never displace those of another. NULL:
 * all places are taken by others. */
static struct pl_auth_ticket *ticket_place(struct pl_auth *auth, struct pl_str user_id,
                                           int64_t now_ms)
{
    struct pl_auth_ticket *empty = NULL, *oldest = NULL;
    size_t n_own = 0;
    for (size_t i = 0; i < MAX_TICKETS; i++) {
        struct pl_auth_ticket *ticket = &auth->tickets[i];
        if (ticket->until_ms <= now_ms) {
            empty = empty ? empty : ticket;
        } else if (pl_str_eq(pl_str_of(ticket->user_id), user_id)) {
            n_own++;
            if (!oldest || ticket->number < oldest->number)
                oldest = ticket;
        }
    }
    return empty && n_own < MAX_USER_TICKETS ? empty : oldest;
}

enum pl_status pl_auth_ticket_make(struct pl_auth *auth, const struct pl_caller *caller,
                                   int64_t now_ms, char ret_ticket[PL_TICKET_SIZE + 1])
{
    char text[PL_TICKET_SIZE + 1];
    if (!pl_secret_make(text))
        return PL_NOMEM;
    pthread_mutex_lock(&auth->tickets_lock);
    struct pl_auth_ticket *ticket = ticket_place(auth, caller->user_id, now_ms);
    if (!ticket) {
        pthread_mutex_unlock(&auth->tickets_lock);
        return PL_LIMIT;
    }
    pl_secret_hash((struct pl_str){text, PL_TICKET_SIZE}, ticket->hash);
    copy_text(ticket->user_id, sizeof ticket->user_id, caller->user_id);
    copy_text(ticket->key_id, sizeof ticket->key_id, caller->key_id);
    ticket->is_admin = caller->is_admin;
    ticket->until_ms = now_ms + TICKET_MS;
    ticket->number = auth->n_tickets_made++;
    pthread_mutex_unlock(&auth->tickets_lock);
    memcpy(ret_ticket, text, sizeof text);
    return PL_OK;
}

/* A ticket is worth what its key is worth: not when that was revoked meanwhile. */
static bool is_key_alive(struct pl_auth *auth, const struct pl_auth_ticket *ticket)
{
    struct pl_auth_key key;
    return !ticket->key_id[0] ||
           pl_auth_has_key(auth, pl_str_of(ticket->user_id), pl_str_of(ticket->key_id), &key);
}

enum pl_status pl_auth_ticket_take(struct pl_auth *auth, struct pl_arena *arena, struct pl_str text,
                                   int64_t now_ms, struct pl_caller *ret_caller)
{
    uint8_t hash[32];
    struct pl_auth_ticket found = {0};
    if (text.len != PL_TICKET_SIZE)
        return PL_NOT_FOUND;
    pl_secret_hash(text, hash);
    pthread_mutex_lock(&auth->tickets_lock);
    for (size_t i = 0; i < MAX_TICKETS; i++) {
        struct pl_auth_ticket *ticket = &auth->tickets[i];
        if (ticket->until_ms <= now_ms || crypto_verify_32(ticket->hash, hash) != 0)
            continue;
        found = *ticket;
        ticket->until_ms = 0;
        break;
    }
    pthread_mutex_unlock(&auth->tickets_lock);
    if (found.until_ms <= now_ms || !is_key_alive(auth, &found))
        return PL_NOT_FOUND;
    return fill_caller(arena, pl_str_of(found.user_id), pl_str_of(found.key_id), found.is_admin,
                       ret_caller);
}

/* --- the first start ------------------------------------------------------------------------- */

const char *pl_auth_first_code(const struct pl_auth *auth)
{
    return auth->first_code[0] ? auth->first_code : NULL;
}

bool pl_auth_take_first_code(struct pl_auth *auth, struct pl_str code, int64_t now_ms)
{
    uint8_t given[32], right[32];
    pl_secret_hash(code, given);
    pthread_mutex_lock(&auth->tickets_lock);
    pl_secret_hash(pl_str_of(auth->first_code), right);
    if (auth->first_code_state == PL_FIRST_CODE_OPEN && now_ms >= auth->first_code_until_ms)
        auth->first_code_state = PL_FIRST_CODE_OVER;
    bool is_right =
        auth->first_code_state == PL_FIRST_CODE_OPEN && crypto_verify_32(given, right) == 0;
    if (is_right)
        auth->first_code_state = PL_FIRST_CODE_TAKEN;
    pthread_mutex_unlock(&auth->tickets_lock);
    return is_right;
}

void pl_auth_return_first_code(struct pl_auth *auth)
{
    pthread_mutex_lock(&auth->tickets_lock);
    if (auth->first_code_state == PL_FIRST_CODE_TAKEN)
        auth->first_code_state = PL_FIRST_CODE_OPEN;
    pthread_mutex_unlock(&auth->tickets_lock);
}

static bool has_admin_key(const struct pl_auth *auth)
{
    size_t at = 0;
    while (at < auth->keys.len && !auth->keys.ptr[at]->user->is_admin)
        at++;
    return at < auth->keys.len;
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
    pl_batch_create_user(batch, &row);
    enum pl_status status = pl_store_commit(store, batch, err);
    return status == PL_OK ? add_user(auth, &row) : status;
}

static enum pl_status load(struct pl_auth *auth, struct pl_store *store, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_user_row *users = NULL;
    struct pl_key_row *keys = NULL;
    size_t n_users = 0, n_keys = 0;
    enum pl_status status = pl_store_user_list(store, &arena, &users, &n_users, err);
    for (size_t i = 0; status == PL_OK && i < n_users; i++)
        status = add_user(auth, &users[i]);
    if (status == PL_OK && n_users == 0)
        status = make_first_user(auth, store, err);
    if (status == PL_OK)
        status = pl_store_key_list(store, &arena, (struct pl_str){0}, &keys, &n_keys, err);
    for (size_t i = 0; status == PL_OK && i < n_keys; i++)
        status = add_key(auth, &keys[i]);
    if (status == PL_OK && !has_admin_key(auth) && pl_secret_make(auth->first_code)) {
        auth->first_code_state = PL_FIRST_CODE_OPEN;
        auth->first_code_until_ms = pl_clock_unix_ms() + FIRST_CODE_MS;
    }
    return status;
}

enum pl_status pl_auth_create(struct pl_store *store, struct pl_auth **ret_auth,
                              struct pl_error *err)
{
    if (sodium_init() < 0)
        return pl_fail(err, PL_INTERNAL, "the system provides no random bytes");
    struct pl_auth *auth = pl_mem_alloc(1, sizeof *auth);
    struct pl_auth_ticket *tickets = pl_mem_alloc(MAX_TICKETS, sizeof *tickets);
    if (!auth || !tickets) {
        pl_mem_free(auth);
        pl_mem_free(tickets);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    memset(tickets, 0, MAX_TICKETS * sizeof *tickets);
    *auth = (struct pl_auth){.tickets = tickets};
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
    for (size_t i = 0; i < auth->keys.len; i++)
        pl_mem_free(auth->keys.ptr[i]);
    for (size_t i = 0; i < auth->users.len; i++)
        pl_mem_free(auth->users.ptr[i]);
    pl_vec_deinit(&auth->keys);
    pl_vec_deinit(&auth->users);
    pthread_rwlock_destroy(&auth->lock);
    pthread_mutex_destroy(&auth->tickets_lock);
    pthread_mutex_destroy(&auth->changes_lock);
    pl_mem_free(auth->tickets);
    pl_mem_free(auth);
}

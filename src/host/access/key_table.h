/* The table of users and keys, for the routes that change it. */
#ifndef PL_ACCESS_KEY_TABLE_H
#define PL_ACCESS_KEY_TABLE_H

#include "access/auth.h"
#include "base/text/uuid.h"
#include "store/store.h"

#define PL_NAME_MAX 401 /* 100 code points and a NUL */

struct pl_auth_user {
    char id[PL_ID_MAX];
    char name[PL_NAME_MAX];
    bool is_admin;
    bool is_gone; /* erased: never found */
    int64_t created_ms, disabled_ms;
    uint64_t name_change, role_change, disabled_change; /* numbers of the applied changes */
};

struct pl_auth_key {
    uint8_t hash[32];
    char id[PL_ID_MAX];
    char name[PL_NAME_MAX];
    char last4[8];
    const struct pl_auth_user *user; /* borrowed: the struct stays until the end */
    int64_t created_ms;
    bool is_admin, is_login;
    enum pl_scope scope;
    char scope_word[PL_SCOPE_WORD_MAX]; /* as stored: "extension:ID" */
    char *models;                       /* owned; one name per line */
    int64_t expires_ms, old_until_ms;
    /* The numbers of the applied changes. */
    uint64_t name_change, scope_change, models_change, expires_change, secret_change;
    _Atomic(int64_t) last_used_ms;   /* 0: never; updated at most once a minute */
    _Atomic(int64_t) stored_used_ms; /* the stored value */
};

/* 32 random bytes as 43 characters; false when out of memory. */
bool pl_secret_make(char ret_text[PL_TICKET_SIZE + 1]);
/* BLAKE2b-256: the stored form of a secret. */
void pl_secret_hash(struct pl_str secret, uint8_t ret_hash[32]);

/* `on_change` is called after each function below that changes the table, to tell other nodes. Any
 * thread, without a lock. Set it before the first change. */
void pl_auth_watch(struct pl_auth *auth, void (*on_change)(void *ctx), void *ctx);

/* Call after the store has it. */
enum pl_status pl_auth_add_user(struct pl_auth *auth, const struct pl_user_row *row);
enum pl_status pl_auth_add_key(struct pl_auth *auth, const struct pl_key_row *row);
/* PL_NOT_FOUND: erased meanwhile. `number`: see below. */
enum pl_status pl_auth_change_user(struct pl_auth *auth, const struct pl_user_change *change,
                                   uint64_t number);
/* Removes a user with all keys. */
void pl_auth_remove_user(struct pl_auth *auth, struct pl_str id);
void pl_auth_remove_key(struct pl_auth *auth, struct pl_str user_id, struct pl_str id);
/* Removes sign-ins that ended at this instant or before. Calls as pl_auth_each_key does. */
void pl_auth_remove_logins(struct pl_auth *auth, int64_t ended_by_ms,
                           void (*fn)(void *ctx, struct pl_str key_id), void *ctx);

/* Any shard submits changes of keys, so the results may come back in another order than the
 * store's. A change takes its number under a lock that is held until it is submitted: numbers have
 * the order of the store, and a late result does not undo a newer change. */
uint64_t pl_auth_begin_change(struct pl_auth *auth);
void pl_auth_end_change(struct pl_auth *auth);

struct pl_key_change {
    uint64_t number;
    struct pl_key_patch patch; /* without its ids */
    /* Sets the limits, under the lock: must not call back in here. NULL: they do not change. */
    enum pl_status (*set_limits)(void *ctx);
    void *ctx;
};
/* Call after the store has it. PL_NOT_FOUND: the key was revoked meanwhile, and stays revoked. */
enum pl_status pl_auth_change_key(struct pl_auth *auth, struct pl_str user_id, struct pl_str id,
                                  const struct pl_key_change *change);

/* The row has the new secret, and the hash of the old one with its end. */
enum pl_status pl_auth_rotate_key(struct pl_auth *auth, const struct pl_key_row *row,
                                  uint64_t number);

/* A copy of a user's key, in the arena: PL_NOT_FOUND; PL_NOMEM. */
enum pl_status pl_auth_get_key(struct pl_auth *auth, struct pl_arena *arena, struct pl_str user_id,
                               struct pl_str id, struct pl_key_row *ret_row);
/* A copy of a user; false: no such user. */
bool pl_auth_find_user(struct pl_auth *auth, struct pl_str id, struct pl_auth_user *ret_user);
/* A view of a key, under the lock. */
struct pl_key_row pl_auth_key_row(const struct pl_auth_key *key);

/* Calls fn under the lock: it must not call back in here. */
void pl_auth_each_key(struct pl_auth *auth, struct pl_str user_id,
                      void (*fn)(void *ctx, const struct pl_auth_key *key), void *ctx);
/* Calls fn for a page of users, oldest first; returns the number of all users. */
size_t pl_auth_page_users(struct pl_auth *auth, size_t from, size_t n,
                          void (*fn)(void *ctx, const struct pl_auth_user *user), void *ctx);
void pl_auth_each_user(struct pl_auth *auth, void (*fn)(void *ctx, const struct pl_auth_user *user),
                       void *ctx);

/* Adds times of last use that are not stored yet to the batch; returns the number of keys. */
size_t pl_auth_put_used(struct pl_auth *auth, struct pl_batch *batch);

/* Keys that expire after after_ms and not after until_ms. Calls as pl_auth_each_key does. */
void pl_auth_each_expired(struct pl_auth *auth, int64_t after_ms, int64_t until_ms,
                          void (*fn)(void *ctx, struct pl_str key_id), void *ctx);

/* Takes the first-start code: true if it is right and was not used before. The second function
 * makes the code usable again if the key could not be made. */
bool pl_auth_take_first_code(struct pl_auth *auth, struct pl_str code, int64_t now_ms);
void pl_auth_return_first_code(struct pl_auth *auth);

#endif

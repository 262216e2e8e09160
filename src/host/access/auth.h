/* Keys and users. All of them are in memory, so checking a key costs a hash and a look-up. A change
 * is stored first, and then made here. Thread-safe. */
#ifndef PL_ACCESS_AUTH_H
#define PL_ACCESS_AUTH_H

#include "http/exchange.h"

struct pl_auth; /* owned */

/* Loads users and keys; makes the first user where there is none. */
enum pl_status pl_auth_create(struct pl_store *store, struct pl_auth **ret_auth,
                              struct pl_error *err);
void pl_auth_destroy(struct pl_auth *auth);

/* "sk-parley-v1-…" to its owner. PL_NOT_FOUND: it opens nothing, and *ret_why is a sentence that
 * says why; PL_NOMEM, which says nothing about the key. A sign-in opens only from a cookie, and a key
 * only without one. The strings are copied to the arena. */
enum pl_status pl_auth_check_key(struct pl_auth *auth, struct pl_arena *arena, struct pl_str key,
                                 bool is_cookie, int64_t now_ms, struct pl_caller *ret_caller,
                                 const char **ret_why);
/* The user commands on the control socket act as; fails alike. */
enum pl_status pl_auth_local_caller(struct pl_auth *auth, struct pl_arena *arena,
                                    struct pl_caller *ret_caller);

/* Whether the user is there and not disabled. */
bool pl_auth_is_active(struct pl_auth *auth, struct pl_str user_id);

/* Whether tickets and the code of the first start are rows that other nodes see: then the functions that
 * make and take them wait for the store, and are for workers. */
bool pl_auth_is_shared(const struct pl_auth *auth);

/* A ticket for one socket, good for 30 s and once: 43 characters. */
#define PL_TICKET_SIZE 43
/* A user has 64 at most: one more takes the place of the user's own oldest. PL_LIMIT: other users
 * have taken all there are; PL_NOMEM; where it is a row, whatever the store says. */
enum pl_status pl_auth_ticket_make(struct pl_auth *auth, const struct pl_caller *caller,
                                   int64_t now_ms, char ret_ticket[PL_TICKET_SIZE + 1]);
/* A ticket is worth what its key and its user are worth now. Fails as pl_auth_check_key does, or as the
 * store does. */
enum pl_status pl_auth_ticket_take(struct pl_auth *auth, struct pl_arena *arena,
                                   struct pl_str ticket, int64_t now_ms,
                                   struct pl_caller *ret_caller);

/* The one-time link of the first start: a code that can be exchanged for a key once, within an hour
 * and until an administrator has a key. NULL when one had it already. */
const char *pl_auth_first_code(const struct pl_auth *auth);
/* At the start of a server: all nodes have the same code. */
enum pl_status pl_auth_share_first_code(struct pl_auth *auth, struct pl_error *err);
/* Whether it can still be used. */
bool pl_auth_first_code_is_open(struct pl_auth *auth, int64_t unix_ms);

/* A new key: its row (which the caller stores) and the plaintext, which is stored nowhere. */
#define PL_KEY_PREFIX "sk-parley-v1-"
#define PL_KEY_SIZE   56 /* the prefix and 43 characters of base64url */
bool pl_key_make(char ret_plain[PL_KEY_SIZE + 1], uint8_t ret_hash[32]);

#endif

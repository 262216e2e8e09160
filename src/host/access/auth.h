/* Keys and users. All are in memory, so checking a key costs a hash and a look-up. A change is
 * stored first, then applied here. Thread-safe. */
#ifndef PL_ACCESS_AUTH_H
#define PL_ACCESS_AUTH_H

#include "http/exchange.h"

struct pl_auth; /* owned */

/* Loads users and keys; creates the first user if there is none. */
enum pl_status pl_auth_create(struct pl_store *store, struct pl_auth **ret_auth,
                              struct pl_error *err);
void pl_auth_destroy(struct pl_auth *auth);

/* Finds the owner of "sk-parley-v1-…". PL_NOT_FOUND: the key is not valid, and *ret_why is a
 * sentence that says why. PL_NOMEM says nothing about the key. A sign-in is valid only from a
 * cookie, a key only without one. The strings are copied to the arena. */
enum pl_status pl_auth_check_key(struct pl_auth *auth, struct pl_arena *arena, struct pl_str key,
                                 bool is_cookie, int64_t now_ms, struct pl_caller *ret_caller,
                                 const char **ret_why);
/* The user for commands on the control socket. Fails the same way. */
enum pl_status pl_auth_local_caller(struct pl_auth *auth, struct pl_arena *arena,
                                    struct pl_caller *ret_caller);

/* Whether the user exists and is not disabled. */
bool pl_auth_is_active(struct pl_auth *auth, struct pl_str user_id);

/* Whether tickets and the first-start code are rows that other nodes see. The functions that make
 * and take them then wait for the store: call them on workers. */
bool pl_auth_is_shared(const struct pl_auth *auth);

/* A ticket for one socket, valid once within 30 s: 43 characters. */
#define PL_TICKET_SIZE 43
/* A user has at most 64: one more replaces the user's oldest. PL_LIMIT: other users hold all
 * tickets; PL_NOMEM; for a row, any status of the store. */
enum pl_status pl_auth_ticket_make(struct pl_auth *auth, const struct pl_caller *caller,
                                   int64_t now_ms, char ret_ticket[PL_TICKET_SIZE + 1]);
/* A ticket is valid only while its key and user are. Fails like pl_auth_check_key, or like the
 * store. */
enum pl_status pl_auth_ticket_take(struct pl_auth *auth, struct pl_arena *arena,
                                   struct pl_str ticket, int64_t now_ms,
                                   struct pl_caller *ret_caller);

/* The one-time link of the first start: a code that can be exchanged for a key once, within an hour
 * and until an administrator has a key. NULL if an administrator had one already. */
const char *pl_auth_first_code(const struct pl_auth *auth);
/* Called when a server starts, so that all nodes have the same code. */
enum pl_status pl_auth_share_first_code(struct pl_auth *auth, struct pl_error *err);
/* Whether the code can still be used. */
bool pl_auth_first_code_is_open(struct pl_auth *auth, int64_t unix_ms);

/* A new key: its row, which the caller stores, and the plaintext, which is never stored. */
#define PL_KEY_PREFIX "sk-parley-v1-"
#define PL_KEY_SIZE   56 /* prefix + 43 characters of base64url */
bool pl_key_make(char ret_plain[PL_KEY_SIZE + 1], uint8_t ret_hash[32]);

#endif

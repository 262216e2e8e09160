/* Keys, users and tickets in memory. */
#ifndef PL_ACCESS_AUTH_INT_H
#define PL_ACCESS_AUTH_INT_H

#include "access/auth_refresh.h"
#include "access/key_table.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PL_MAX_TICKETS = 2048, PL_FIRST_CODE_MS = 3600000 };

struct pl_auth_ticket {
    uint8_t hash[32];
    char user_id[PL_ID_MAX], key_id[PL_ID_MAX];
    int64_t until_ms; /* 0: free */
    uint64_t number;  /* order of creation: many are made in one millisecond */
};

/* The first-start code; tickets.c has the diagram. */
enum pl_first_code {
    PL_FIRST_CODE_NONE, /* an administrator already had a key */
    PL_FIRST_CODE_OPEN,
    PL_FIRST_CODE_TAKEN, /* it was used, and the key is being made */
    PL_FIRST_CODE_OVER,
};

/* A secret of a key. */
struct pl_auth_secret {
    uint8_t hash[32];
    struct pl_auth_key *key; /* borrowed */
    int64_t until_ms;        /* end of the secret before a rotation; 0: current secret */
};

struct pl_auth {
    pthread_rwlock_t lock;
    PL_VEC(struct pl_auth_user *) users;   /* owned; oldest first; under the lock */
    size_t n_gone;                         /* erased users */
    PL_VEC(struct pl_auth_key *) keys;     /* owned; oldest first; under the lock */
    PL_VEC(struct pl_auth_secret) secrets; /* by hash; under the lock */
    pthread_mutex_t tickets_lock;
    struct pl_auth_ticket *tickets; /* owned; under this lock, like the code */
    uint64_t n_tickets_made;
    enum pl_first_code first_code_state; /* under tickets_lock */
    int64_t first_code_until_ms;         /* unix */
    char first_code[PL_TICKET_SIZE + 1];
    /* For changes by other nodes (auth_refresh.c). */
    struct pl_store *store; /* borrowed; NULL: not shared */
    struct pl_meter *meter; /* borrowed; NULL: limits are not read with the keys */
    uint64_t n_applied,
        n_refreshed; /* under the lock: changes made here; the same at the last refresh */
    int64_t version, more_version; /* under the lock: versions of the rows here and of the limits */
    PL_VEC(struct pl_auth_news) news; /* under the lock; owned; not delivered yet */
    _Atomic(bool) is_hearing;         /* a refresh is running */
    int64_t look_s;                   /* under tickets_lock: in this second … */
    int n_looks;                      /* … the store was queried so often */
    void (*on_change)(void *ctx);     /* NULL: no listener */
    void *on_change_ctx;
    pthread_mutex_t changes_lock; /* from numbering a change to submitting it */
    uint64_t n_changes;           /* under changes_lock */
};

void pl_auth_copy_text(char *to, size_t size, struct pl_str text);
/* All of these: under the lock. */
size_t pl_auth_find_hash(const struct pl_auth *auth, const uint8_t hash[32]);
struct pl_auth_user *pl_auth_user_at(const struct pl_auth *auth, struct pl_str id);
struct pl_auth_key *pl_auth_key_at(const struct pl_auth *auth, struct pl_str user_id,
                                   struct pl_str id);
enum pl_status pl_auth_put_user(struct pl_auth *auth, const struct pl_user_row *row);
enum pl_status pl_auth_put_key(struct pl_auth *auth, const struct pl_key_row *row);
void pl_auth_free_table(struct pl_auth *auth);
/* A key that is in no table yet, without its secrets; NULL when out of memory. */
struct pl_auth_key *pl_auth_make_key(const struct pl_auth_user *user, const struct pl_key_row *row);
struct pl_auth_user *pl_auth_make_user(const struct pl_user_row *row);
void pl_auth_free_key(struct pl_auth_key *key); /* accepts NULL */
/* Whether an administrator has a valid key. */
bool pl_auth_has_admin_key(const struct pl_auth *auth);

/* Under tickets_lock, or before other threads know `auth`. */
void pl_auth_first_code_become(struct pl_auth *auth, enum pl_first_code to);
/* An administrator has a key: the first-start code ends. */
void pl_auth_end_first_code(struct pl_auth *auth);

/* The caller for a user who showed a key before (key_id empty: none). PL_NOT_FOUND if the key was
 * revoked or the user disabled since. */
enum pl_status pl_auth_caller_of(struct pl_auth *auth, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str key_id, int64_t unix_ms,
                                 struct pl_caller *ret_caller);

#endif

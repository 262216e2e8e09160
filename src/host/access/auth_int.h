/* How keys, users and tickets are held in memory. */
#ifndef PL_ACCESS_AUTH_INT_H
#define PL_ACCESS_AUTH_INT_H

#include "access/key_table.h"
#include "base/vec.h"

#include <pthread.h>

struct pl_auth_ticket {
    uint8_t hash[32];
    char user_id[PL_ID_MAX], key_id[PL_ID_MAX];
    bool is_admin;
    int64_t until_ms; /* 0: taken, or none */
    uint64_t number;  /* in the order they were made: many are made in one millisecond */
};

/* The code of the first start. NONE: an administrator already had a key. OPEN -> TAKEN: the code
 * was used, and the key is being made; back to OPEN if that failed. OPEN, TAKEN -> OVER: an
 * administrator has a key, however it was made, or the hour is over. */
enum pl_first_code {
    PL_FIRST_CODE_NONE,
    PL_FIRST_CODE_OPEN,
    PL_FIRST_CODE_TAKEN,
    PL_FIRST_CODE_OVER,
};

struct pl_auth {
    pthread_rwlock_t lock;
    PL_VEC(struct pl_auth_user *) users; /* owned; oldest first; under the lock */
    PL_VEC(struct pl_auth_key *) keys;   /* owned; by hash; under the lock */
    pthread_mutex_t tickets_lock;
    struct pl_auth_ticket *tickets; /* owned; under its lock, as the code */
    uint64_t n_tickets_made;
    enum pl_first_code first_code_state; /* under the lock of the tickets */
    int64_t first_code_until_ms;         /* unix */
    char first_code[PL_TICKET_SIZE + 1];
    pthread_mutex_t changes_lock; /* from the number of a change to its submission */
    uint64_t n_changes;           /* under its lock */
};

#endif

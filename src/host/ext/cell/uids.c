/* A range of user ids, and which of them are in use. */
#include "ext/cell/uids.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uid_t first_uid = 400000;
static size_t n_uids = 1000;
static size_t next_one; /* so that a released one is reused last */
static bool is_used[PL_CELL_MAX_UIDS];

enum pl_status pl_cell_uids_read(const char *text, uid_t *ret_first, size_t *ret_n,
                                 struct pl_error *err)
{
    unsigned long long first = 0, last = 0;
    int n_read = 0;
    bool is_range = sscanf(text, "%9llu-%9llu%n", &first, &last, &n_read) == 2 && !text[n_read];
    bool is_one = !is_range && sscanf(text, "%9llu%n", &first, &n_read) == 1 && !text[n_read];
    if (is_one)
        last = first;
    if ((!is_range && !is_one) || text[0] < '0' || text[0] > '9')
        return pl_fail(err, PL_USAGE,
                       "\"%.40s\" is not a range of user ids; give FIRST-LAST, such as %s", text,
                       PL_CELL_UIDS);
    if (!first || last < first)
        return pl_fail(
            err, PL_USAGE,
            "the user ids %.40s contain root, or end before they begin; give FIRST-LAST, "
            "such as %s",
            text, PL_CELL_UIDS);
    if (last - first >= PL_CELL_MAX_UIDS)
        return pl_fail(err, PL_USAGE, "%.40s are more than %d user ids", text, PL_CELL_MAX_UIDS);
    *ret_first = (uid_t)first;
    *ret_n = (size_t)(last - first + 1);
    return PL_OK;
}

void pl_cell_uids_set(uid_t first, size_t n)
{
    pthread_mutex_lock(&lock);
    first_uid = first;
    n_uids = n;
    next_one = 0;
    memset(is_used, 0, sizeof is_used);
    pthread_mutex_unlock(&lock);
}

uid_t pl_cell_uids_first(void)
{
    pthread_mutex_lock(&lock);
    uid_t uid = first_uid;
    pthread_mutex_unlock(&lock);
    return uid;
}

uid_t pl_cell_uid_take(void)
{
    uid_t uid = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_uids && !uid; i++) {
        size_t at = (next_one + i) % n_uids;
        if (is_used[at])
            continue;
        is_used[at] = true;
        next_one = at + 1;
        uid = first_uid + (uid_t)at;
    }
    pthread_mutex_unlock(&lock);
    return uid;
}

void pl_cell_uid_give(uid_t uid)
{
    pthread_mutex_lock(&lock);
    if (uid >= first_uid && uid - first_uid < n_uids)
        is_used[uid - first_uid] = false;
    pthread_mutex_unlock(&lock);
}

/* Refreshes users and keys that other nodes, or the command line, have changed in the store.
 *
 * A version in the store grows with every change. On a larger version everything is read again, and
 * removed users and keys become news: the receiver of the news closes their sockets. */
#ifndef PL_ACCESS_AUTH_REFRESH_H
#define PL_ACCESS_AUTH_REFRESH_H

#include "access/auth.h"
#include "base/text/uuid.h"

enum pl_auth_news_kind {
    PL_AUTH_KEY_GONE,
    PL_AUTH_USER_DISABLED,
    PL_AUTH_USER_GONE,
};

struct pl_auth_news {
    enum pl_auth_news_kind kind;
    char id[PL_ID_MAX];
};

/* There was a change, but its version is not known. */
#define PL_AUTH_VERSION_UNKNOWN INT64_MAX

/* Whether the store may have newer data, or news is waiting. Any thread; never blocks. */
bool pl_auth_is_behind(struct pl_auth *auth, int64_t version);
/* Data about users and keys that another room keeps, read together with them: the limits. */
struct pl_auth_more {
    /* Called after the version was read, before any change; may be called again. */
    enum pl_status (*read)(void *ctx, struct pl_error *err);
    /* Called when users and keys are in place, under the lock: must not call back in here. */
    void (*set)(void *ctx);
    void *ctx;
};
/* From now on the limits are read with users and keys. Call it before the first refresh. */
void pl_auth_share_limits(struct pl_auth *auth, struct pl_meter *meter);
/* Reads users and keys, and `more` (NULL: the limits, if they are shared), if the version is newer.
 * PL_CONFLICT: they keep changing here; PL_IO; PL_NOMEM. On a worker. Does nothing if the store is
 * not shared. */
enum pl_status pl_auth_refresh(struct pl_auth *auth, const struct pl_auth_more *more,
                               struct pl_error *err);
/* Marks a refresh as running, because one at a time is enough; false: one is running already. */
bool pl_auth_begin_hearing(struct pl_auth *auth);
void pl_auth_end_hearing(struct pl_auth *auth);
/* Takes one piece of news; false: there is no more. */
bool pl_auth_take_news(struct pl_auth *auth, struct pl_auth_news *ret_news);

/* Whether to ask the store for an unknown key or cookie. At most ten times a second in all. */
bool pl_auth_may_look(struct pl_auth *auth, struct pl_str secret, int64_t now_ms);

#endif

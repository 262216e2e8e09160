/* Users and keys that other nodes, or the command line, have changed in the same store.
 *
 * A version in the store grows with every change. Who hears of a larger one reads everything again, and
 * finds out who is gone: those sockets are closed by whoever takes the news. */
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

/* Somebody said that there is a change, and not which. */
#define PL_AUTH_VERSION_UNKNOWN INT64_MAX

/* Whether the store may have more than this knows, or news were not taken yet. Any thread; never
 * waits. */
bool pl_auth_is_behind(struct pl_auth *auth, int64_t version);
/* Data about users and keys that another room keeps and that is read together with them: the
 * limits. */
struct pl_auth_more {
    /* After the version, before anything is changed; may be called again. */
    enum pl_status (*read)(void *ctx, struct pl_error *err);
    /* When users and keys are in place, under the lock: must not call back in here. */
    void (*set)(void *ctx);
    void *ctx;
};
/* From now on the limits are read with users and keys. Before the first refresh. */
void pl_auth_share_limits(struct pl_auth *auth, struct pl_meter *meter);
/* Reads users and keys, and more (NULL: the limits, if they are shared), if there is a newer version. PL_CONFLICT: they change
 * here all the time; PL_IO; PL_NOMEM. On a worker. Nothing where nobody else uses the store. */
enum pl_status pl_auth_refresh(struct pl_auth *auth, const struct pl_auth_more *more,
                               struct pl_error *err);
/* One reading at a time is enough: false while another is under way. */
bool pl_auth_begin_hearing(struct pl_auth *auth);
void pl_auth_end_hearing(struct pl_auth *auth);
/* What was found; false: there is nothing more. */
bool pl_auth_take_news(struct pl_auth *auth, struct pl_auth_news *ret_news);

/* An unknown key or cookie: whether it is worth a look into the store. At most ten a second are, of all
 * together. */
bool pl_auth_may_look(struct pl_auth *auth, struct pl_str secret, int64_t now_ms);

#endif

#include "access/guard.h"

#include "access/auth.h"
#include "access/auth_refresh.h"
#include "access/host_origin.h"
#include "access/sign_in.h"
#include "http/connection.h"

static enum pl_status identify_cookie(struct pl_exchange *x, struct pl_str cookie,
                                      const char **ret_why)
{
    char csrf[PL_CSRF_SIZE + 1];
    enum pl_status status = pl_auth_check_key(x->shard->server->auth, &x->arena, cookie, true,
                                              pl_loop_unix_ms(x->shard->loop), &x->caller, ret_why);
    if (status != PL_OK) {
        *ret_why = "You are not signed in any more; sign in again.";
        return status;
    }
    if (pl_sign_in_csrf(cookie, csrf))
        x->caller.csrf = pl_arena_dup(&x->arena, pl_str_of(csrf));
    return x->caller.csrf.ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status identify(struct pl_exchange *x, struct pl_str key, const char **ret_why)
{
    struct pl_auth *auth = x->shard->server->auth;
    if (key.len)
        return pl_auth_check_key(auth, &x->arena, key, false, pl_loop_unix_ms(x->shard->loop),
                                 &x->caller, ret_why);
    if (x->conn->is_control)
        return pl_auth_local_caller(auth, &x->arena, &x->caller);
    struct pl_str cookie = pl_sign_in_cookie(x);
    return cookie.len ? identify_cookie(x, cookie, ret_why) : PL_NOT_FOUND;
}

static bool may_find(struct pl_exchange *x, struct pl_str key)
{
    return pl_auth_may_look(x->shard->server->auth, key.len ? key : pl_sign_in_cookie(x),
                            pl_loop_unix_ms(x->shard->loop));
}

/* If the store does not answer, the table in memory decides. */
static void find(struct pl_exchange *x)
{
    (void)pl_auth_refresh(x->shard->server->auth, NULL, NULL);
}

const struct pl_guard pl_access_guard = {
    .check_host = pl_access_check_host,
    .check_origin = pl_access_check_origin,
    .is_cors = pl_access_is_cors,
    .identify = identify,
    .may_find = may_find,
    .find = find,
};

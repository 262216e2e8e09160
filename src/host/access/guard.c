#include "access/guard.h"

#include "access/auth.h"
#include "access/host_origin.h"
#include "http/connection.h"

static enum pl_status identify(struct pl_exchange *x, struct pl_str key, const char **ret_why)
{
    struct pl_auth *auth = x->shard->server->auth;
    if (key.len)
        return pl_auth_check_key(auth, &x->arena, key, pl_loop_unix_ms(x->shard->loop), &x->caller,
                                 ret_why);
    if (x->conn->is_control)
        return pl_auth_local_caller(auth, &x->arena, &x->caller);
    return PL_NOT_FOUND;
}

const struct pl_guard pl_access_guard = {
    .check_host = pl_access_check_host,
    .check_origin = pl_access_check_origin,
    .is_cors = pl_access_is_cors,
    .identify = identify,
};

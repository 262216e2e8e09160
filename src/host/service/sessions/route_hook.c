#include "service/sessions/route_hook.h"

#include "ext/run/ext.h"

#include <stdio.h>

struct hooking {
    struct pl_exchange *x; /* borrowed */
    void (*go)(struct pl_exchange *x);
};

static void on_ruling(void *ctx, const struct pl_ext_ruling *ruling)
{
    const struct hooking *hooking = ctx;
    if (ruling->verdict != PL_EXT_VERDICT_BLOCK) {
        hooking->go(hooking->x);
        return;
    }
    pl_exchange_problem(hooking->x, PL_PROBLEM_FORBIDDEN, NULL, "Blocked by %.*s: %.*s",
                        PL_STR_ARG(ruling->by),
                        (int)(ruling->why.len < 300 ? ruling->why.len : 300),
                        ruling->why.len ? ruling->why.ptr : "no reason was given");
    pl_exchange_finish(hooking->x);
}

void pl_exchange_hook(struct pl_exchange *x, enum pl_ext_hook hook, struct pl_str session_id,
                      const char *reason, void (*go)(struct pl_exchange *x))
{
    struct pl_ext_server *ext = x->shard->server->ext;
    char data[160];
    if (!pl_ext_server_has_any(ext) || (session_id.len && !pl_id_is(session_id, "sess_")) ||
        !pl_ext_wants(ext, x->caller.user_id, hook, (struct pl_str){0})) {
        go(x);
        return;
    }
    int n = session_id.len
                ? snprintf(data, sizeof data, "{\"session_id\":\"%.*s\",\"reason\":\"%s\"}",
                           PL_STR_ARG(session_id), reason)
                : snprintf(data, sizeof data, "{\"reason\":\"%s\"}", reason);
    struct pl_ext_chain_query query = {
        .user_id = x->caller.user_id,
        .session_id = session_id,
        .hook = hook,
        .data = {data, (size_t)n},
        .has_person = true,
    };
    struct hooking *hooking = pl_arena_zalloc(&x->arena, 1, sizeof *hooking);
    if (hooking)
        *hooking = (struct hooking){x, go};
    if (hooking && pl_ext_chain_start(x->shard, &query, on_ruling, hooking))
        return;
    pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

/* POST /api/admin/reload: SIGHUP with an answer. Only on the control socket, because errors in a
 * file of the server's machine are for the user who runs it. */
#include "http/connection.h"
#include "http/exchange.h"
#include "json/write.h"
#include "service/admin/routes.h"
#include "shard/reloading.h"

struct reload {
    struct pl_reload_ask ask;
    struct pl_exchange *x;
};

/* Writes "a, b" as ["a","b"]. */
static void write_names(struct pl_json_out *out, const char *key, struct pl_str names)
{
    pl_json_out_key(out, key);
    pl_json_out_open(out, '[');
    while (names.len) {
        const char *comma = memchr(names.ptr, ',', names.len);
        size_t n = comma ? (size_t)(comma - names.ptr) : names.len;
        pl_json_out_text(out, pl_str_slice(names, 0, n));
        names = pl_str_slice(names, n + 2, names.len);
    }
    pl_json_out_close(out, ']');
}

static void reloaded(struct pl_reload_ask *ask)
{
    struct reload *reload = (struct reload *)ask;
    struct pl_exchange *x = reload->x;
    if (ask->status == PL_CONFLICT)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "%s", ask->err.message);
    else if (ask->status == PL_NOMEM || ask->changed.status != PL_OK || ask->kept.status != PL_OK)
        pl_exchange_fail(x, PL_NOMEM, NULL);
    else if (ask->status != PL_OK)
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "%s", ask->err.message);
    else {
        struct pl_json_out out = pl_json_out(&x->reply);
        pl_json_out_open(&out, '{');
        write_names(&out, "changed", pl_buf_str(&ask->changed));
        write_names(&out, "needs_restart", pl_buf_str(&ask->kept));
        pl_json_out_close(&out, '}');
    }
    pl_buf_deinit(&ask->changed);
    pl_buf_deinit(&ask->kept);
    pl_exchange_finish(x);
}

static void reload(struct pl_exchange *x)
{
    if (!x->conn->is_control) {
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                            "The configuration is reloaded only over the control socket (parley "
                            "reload on the server's machine) or by SIGHUP.");
        pl_exchange_finish(x);
        return;
    }
    struct reload *state = pl_exchange_room(x, sizeof *state);
    if (!state)
        return;
    pl_exchange_must_end(x);
    state->x = x;
    state->ask.shard = x->shard;
    state->ask.done = reloaded;
    pl_buf_init(&state->ask.changed, 0);
    pl_buf_init(&state->ask.kept, 0);
    x->shard->server->reloader->ask(&state->ask);
}

const struct pl_route pl_routes_reload[] = {
    {PL_METHOD_POST, "/api/admin/reload", PL_ROUTE_ADMIN, PL_FOR_ALL, reload, "config_reload",
     "Read the configuration again; over the control socket only", "service", NULL, "Reload", 200,
     NULL},
    {0},
};

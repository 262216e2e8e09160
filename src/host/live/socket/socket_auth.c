/* The first message of a socket that was opened without a key: a key or a ticket. Usually it can be
 * checked at once. A worker looks for a ticket that is a row, and for a key that another node may
 * have just made; meanwhile later messages of the client wait (pl_socket_hold). */
#include "live/socket/socket.h"

#include "access/auth_refresh.h"
#include "access/meter/meter.h"
#include "base/mem.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "live/socket/socket_int.h"
#include "shard/setup.h"

/* The credentials that a worker checks. */
struct entering {
    struct pl_job job;
    struct pl_arena arena;
    struct pl_ws_live *ws; /* held by pl_socket_begin_answer */
    struct pl_str id, key, ticket;
    struct pl_caller caller;
    enum pl_status status;
};

static void enter(struct pl_ws_live *ws, struct pl_str id, enum pl_status status,
                  const struct pl_caller *caller)
{
    struct pl_live *live = &ws->live;
    if (status != PL_OK && status != PL_NOT_FOUND) {
        pl_socket_fail(ws, id, PL_PROBLEM_OVERLOADED, NULL, NULL);
        return;
    }
    bool is_scope = pl_scope_reaches(caller->scope, PL_FOR_SESSIONS | PL_FOR_READ);
    if (status != PL_OK || live->who || !is_scope) {
        live->kind->close(live, PL_WS_CLOSE_UNAUTHORIZED,
                          live->who         ? "already authenticated"
                          : status != PL_OK ? "the key or ticket is not valid"
                                            : "the scope of the key opens no socket");
        return;
    }
    if (!pl_meter_enter_socket(live->shard->server->meter, caller->user_id)) {
        live->kind->close(live, PL_WS_CLOSE_UNAUTHORIZED, "as many sockets as allowed are open");
        return;
    }
    live->scope = caller->scope;
    live->who = pl_live_who(caller);
    live->is_metered = live->who != NULL;
    if (!live->who) {
        pl_meter_leave_socket(live->shard->server->meter, caller->user_id);
        live->kind->close(live, PL_WS_CLOSE_INTERNAL, "out of memory");
        return;
    }
    if (live->state == PL_LIVE_GREETING)
        pl_live_become(live, PL_LIVE_OPEN);
    ws->ws.max_message = PL_WS_MAX_MESSAGE;
    pl_timer_stop(live->shard->loop, &ws->deadline);
    pl_socket_ack(live, id, (struct pl_str){0});
}

static enum pl_status check(struct pl_auth *auth, struct pl_arena *arena, struct pl_str key,
                            struct pl_str ticket, struct pl_caller *ret_caller)
{
    const char *why;
    enum pl_status status = PL_NOT_FOUND;
    if (key.len)
        status = pl_auth_check_key(auth, arena, key, false, pl_clock_unix_ms(), ret_caller, &why);
    if (status == PL_NOT_FOUND && ticket.len)
        status = pl_auth_ticket_take(auth, arena, ticket, pl_clock_ms(), ret_caller);
    return status;
}

/* --- on a worker ----------------------------------------------------------------------------- */

static void look(struct pl_job *job)
{
    struct entering *entering = PL_CONTAINER_OF(job, struct entering, job);
    struct pl_auth *auth = entering->ws->live.shard->server->auth;
    if (entering->key.len)
        (void)pl_auth_refresh(auth, NULL, NULL);
    entering->status =
        check(auth, &entering->arena, entering->key, entering->ticket, &entering->caller);
}

static void looked(struct pl_job *job)
{
    struct entering *entering = PL_CONTAINER_OF(job, struct entering, job);
    struct pl_ws_live *ws = entering->ws;
    if (pl_socket_end_answer(ws)) {
        if (!pl_live_is_closing(&ws->live))
            enter(ws, entering->id, job->is_refused ? PL_IO : entering->status, &entering->caller);
        pl_socket_release(ws);
    }
    pl_arena_deinit(&entering->arena);
    pl_mem_free(entering);
}

/* False: out of memory. */
static bool ask(struct pl_ws_live *ws, struct pl_str id, struct pl_str key, struct pl_str ticket)
{
    struct pl_shard *shard = ws->live.shard;
    struct entering *entering = pl_mem_alloc(1, sizeof *entering);
    if (!entering)
        return false;
    *entering = (struct entering){.ws = ws, .status = PL_NOT_FOUND};
    pl_arena_init(&entering->arena, 0);
    struct pl_str *const to[] = {&entering->id, &entering->key, &entering->ticket};
    const struct pl_str from[] = {id, key, ticket};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        *to[i] = from[i].len ? pl_arena_dup(&entering->arena, from[i]) : (struct pl_str){0};
        if (from[i].len && !to[i]->ptr) {
            pl_arena_deinit(&entering->arena);
            pl_mem_free(entering);
            return false;
        }
    }
    entering->job = (struct pl_job){.lane = PL_WORK_STORE,
                                    .owner = pl_owner_of((struct pl_str){0}),
                                    .wait_ms = shard->setup->config.queue_wait_ms,
                                    .run = look,
                                    .done = looked};
    pl_socket_hold(ws);
    pl_socket_begin_answer(ws);
    pl_workers_submit(shard->server->workers, shard->loop, &entering->job);
    return true;
}

/* --- the message ----------------------------------------------------------------------------- */

void pl_socket_on_auth(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    struct pl_auth *auth = ws->live.shard->server->auth;
    struct pl_caller caller = {0};
    struct pl_str key, ticket;
    if (pl_member_text(m->arena, &m->doc, m->data, "key", &key) != PL_OK ||
        pl_member_text(m->arena, &m->doc, m->data, "ticket", &ticket) != PL_OK)
        return pl_socket_fail(ws, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    bool has_row = ticket.len && pl_auth_is_shared(auth);
    enum pl_status status =
        check(auth, m->arena, key, has_row ? (struct pl_str){0} : ticket, &caller);
    bool may_be = status == PL_NOT_FOUND && !ws->live.who &&
                  (has_row || pl_auth_may_look(auth, key, pl_loop_unix_ms(ws->live.shard->loop)));
    if (!may_be)
        enter(ws, m->id, status, &caller);
    else if (!ask(ws, m->id, key, ticket))
        pl_socket_fail(ws, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
}

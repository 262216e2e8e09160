/* A session that begins as a copy of another: forks and replays. */
#include "agent/context/replay_source.h"
#include "http/routes/route.h"
#include "service/sessions/copies/copying.h"
#include "service/sessions/route_hook.h"
#include "service/sessions/routes.h"
#include "service/sessions/session_request.h"

#define PAGE 1000

/* Iterates over all finished turns of a session before a position. */
static enum pl_status walk_turns(struct pl_store *store, struct pl_str session_id, int64_t before,
                                 enum pl_status (*each)(struct pl_turn_walk *,
                                                        const struct pl_turn_row *),
                                 void *ctx, struct pl_error *err)
{
    struct pl_turn_walk walk = {
        .query =
            {
                .session_id = session_id,
                .before = before,
                .after = -1,
                .changed_after = -1,
                .limit = PAGE,
                .is_terminal_only = true,
            },
        .each = each,
        .ctx = ctx,
    };
    return pl_turn_walk(&walk, store, err);
}

/* --- fork ------------------------------------------------------------------------------------ */

static enum pl_status copy_turn(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    pl_session_copy_add(walk->ctx, row);
    return PL_OK;
}

static void fork_work(struct pl_exchange *x)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_str turn_id = pl_body_text(x, "turn_id"), intent = pl_body_text(x, "intent");
    struct pl_session_copy *copying = pl_copying_begin(x);
    if (!copying)
        return;
    struct pl_error err = {0};
    struct pl_session_record record;
    struct pl_turn_row last = {.sequence = INT64_MAX - 1};
    enum pl_status status =
        pl_store_session_get(store, &x->arena, x->caller.user_id, x->args[0], &record, &err);
    if (status == PL_OK && turn_id.len)
        status = pl_store_turn_get(store, &x->arena, x->args[0], turn_id, &last, &err);
    if (status == PL_OK)
        status = walk_turns(store, x->args[0], last.sequence + 1, copy_turn, copying, &err);
    if (status != PL_OK) {
        pl_copying_fail(x, copying, status, &err);
        return;
    }
    copying->record.source = PL_STR("fork");
    copying->record.intent = intent.ptr ? intent : record.intent;
    copying->record.model = record.model;
    copying->record.solution_id = record.solution_id;
    copying->record.biz_role_id = record.biz_role_id;
    copying->record.memory_enabled = record.memory_enabled;
    copying->record.is_planning = record.is_planning;
    copying->record.system_prompt = record.system_prompt;
    copying->record.settings = record.settings;
    copying->record.tools = record.tools;
    copying->record.handoff = record.handoff;
}

static void fork_go(struct pl_exchange *x)
{
    pl_exchange_work(x, fork_work, pl_copying_finish);
}

/* Extensions may refuse it. The session and its owner are checked after that. */
static void session_fork(struct pl_exchange *x)
{
    pl_exchange_hook(x, PL_EXT_HOOK_SESSION_BEFORE_FORK, x->args[0], "fork", fork_go);
}

/* --- replay ---------------------------------------------------------------------------------- */

static void replay_work(struct pl_exchange *x)
{
    struct pl_replay_plan *plan = pl_arena_zalloc(&x->arena, 1, sizeof *plan);
    struct pl_replay_options options = {
        .user_id = x->caller.user_id,
        .source_id = x->args[0],
        .from = pl_body_text(x, "from"),
        .speed = pl_body_raw(x, "speed"),
    };
    struct pl_error err = {0};
    x->state = plan;
    enum pl_status status =
        plan ? pl_replay_plan(x->shard->server->store, &x->arena, &options, plan, &err) : PL_NOMEM;
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void replay_planned(struct pl_exchange *x)
{
    const struct pl_replay_plan *plan = x->state;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    struct pl_session_command *command = pl_exchange_ask_create(x, NULL);
    if (!command)
        return;
    struct pl_str intent = pl_body_text(x, "intent");
    command->record.source = PL_STR("replay");
    command->record.intent = intent.ptr ? intent : plan->intent;
    command->record.model = plan->model;
    command->record.replay_state = plan->replay_state;
    command->says = plan->says;
    command->n_says = plan->n_says;
    pl_session_command_send(command);
}

static void replay_go(struct pl_exchange *x)
{
    pl_exchange_work(x, replay_work, replay_planned);
}

static void session_replay(struct pl_exchange *x)
{
    pl_exchange_hook(x, PL_EXT_HOOK_SESSION_BEFORE_SWITCH, x->args[0], "replay", replay_go);
}

const struct pl_route pl_routes_forks[] = {
    {PL_METHOD_POST, "/api/sessions/{id}/fork", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS, session_fork,
     "session_fork", "Copy a session up to a turn", "copies", "ForkRequest", "Session", 201, NULL,
     .tells = "session:updated"},
    {PL_METHOD_POST, "/api/sessions/{id}/replay", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS,
     session_replay, "session_replay",
     "Replay a session in a new one; no tool and no model is called", "copies", "ReplayRequest",
     "Session", 201, NULL},
    {0},
};

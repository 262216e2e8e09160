/* Sessions themselves: make, list, look, change, delete. */
#include "model/model.h"
#include "server/asking.h"
#include "server/pinned.h"
#include "server/replay.h"
#include "server/route.h"
#include "server/turn_page.h"

/* --- making ---------------------------------------------------------------------------------- */

/* True when the named model is one there is; NULL for no name. */
static bool check_model(struct pl_exchange *x, struct pl_str *model)
{
    if (!model->len)
        return true;
    const struct pl_model_info *info = pl_model_find(x->setup->models, *model);
    if (!info) {
        struct pl_error err = {0};
        (void)pl_model_missing(x->setup->models, *model, &err);
        pl_error_point(&err, "/model");
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err, NULL);
        pl_exchange_finish(x);
        return false;
    }
    *model = pl_model_name(info, *model);
    return true;
}

static void make_session(struct pl_exchange *x)
{
    struct pl_str *model = x->state;
    struct pl_ask *ask = x->is_problem ? NULL : pl_exchange_ask_create(x);
    if (x->is_problem)
        pl_exchange_finish(x);
    if (!ask)
        return;
    struct pl_str intent = pl_body_text(x, "intent");
    ask->record.intent = intent.ptr ? intent : PL_STR("");
    ask->record.solution_id = pl_body_text(x, "solution_id");
    ask->record.biz_role_id = pl_body_text(x, "biz_role_id");
    ask->record.model = *model;
    ask->record.memory_enabled = pl_body_bool(x, "memory_enabled", true);
    ask->record.is_persistent = pl_body_bool(x, "is_persistent", false);
    pl_ask_send(ask);
}

/* Whether the session a model plays is the caller's; a change of a session that is there is looked
 * at by its driver. */
static void check_replay(struct pl_exchange *x)
{
    const struct pl_str *model = x->state;
    struct pl_error err = {0};
    enum pl_status status =
        pl_replay_check(x->shard->server->store, &x->arena, x->caller.user_id, *model, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void session_create(struct pl_exchange *x)
{
    struct pl_str *model = pl_arena_alloc(&x->arena, 1, sizeof *model);
    if (!model) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is no memory for this now.");
        pl_exchange_finish(x);
        return;
    }
    *model = pl_body_text(x, "model");
    if (!check_model(x, model))
        return;
    x->state = model;
    if (pl_model_replayed(*model).len)
        pl_exchange_work(x, check_replay, make_session);
    else
        make_session(x);
}

/* --- listing --------------------------------------------------------------------------------- */

static bool read_cursor(struct pl_str cursor, struct pl_session_query *query)
{
    struct pl_pinned place = {0};
    query->has_cursor = pl_pinned_read(cursor, "sess_", &place);
    query->cursor_is_pinned = place.is_pinned;
    query->cursor_updated_ms = place.updated_ms;
    query->cursor_id = place.id;
    return query->has_cursor;
}

static bool read_query(struct pl_exchange *x, const struct pl_page_args *args,
                       struct pl_session_query *query)
{
    struct pl_str status = pl_target_param(&x->target, "status");
    struct pl_str pinned = pl_target_param(&x->target, "pinned");
    *query = (struct pl_session_query){
        .user_id = x->caller.user_id,
        .status = PL_SESSION_STATUS_COUNT,
        .text = pl_target_param(&x->target, "q"),
        .limit = args->limit,
        .max_bytes = PL_PAGE_BYTES,
        .offset = args->offset,
        .has_pinned = pinned.ptr != NULL,
        .is_pinned = pl_str_eq(pinned, PL_STR("true")),
    };
    if (status.ptr)
        query->status = pl_session_status_of(status);
    if (status.ptr && query->status == PL_SESSION_STATUS_COUNT)
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "There is no status %.*s.",
                            (int)(status.len < 80 ? status.len : 80), status.ptr);
    else if (args->cursor.len && !read_cursor(args->cursor, query))
        return pl_exchange_refuse_cursor(x);
    else
        return true;
    return false;
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_session_query query;
    if (!pl_exchange_page_args(x, &args) || !read_query(x, &args, &query))
        return;
    struct pl_session_page page;
    struct pl_error err = {0};
    enum pl_status status =
        pl_store_session_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (pl_list_walk_next(&walk, x)) {
        if (walk.n > 1)
            pl_buf_addc(&x->reply, ',');
        pl_session_record_write(&page.items[walk.n - 1], &x->reply);
    }
    struct pl_buf cursor PL_CLEANUP_BUF;
    pl_buf_init(&cursor, 0);
    if (walk.has_more) {
        const struct pl_session_record *last = &page.items[walk.n - 1];
        pl_pinned_write(&cursor, &(struct pl_pinned){last->is_pinned, last->updated_ms, last->id});
    }
    pl_exchange_list_end(x, &args, page.total, pl_buf_str(&cursor));
}

static void session_list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

/* --- looking, changing, deleting -------------------------------------------------------------- */

static void got(struct pl_exchange *x, struct pl_ask *ask)
{
    struct pl_look look;
    struct pl_error err = {0};
    pl_exchange_position(x, ask);
    enum pl_status status =
        pl_look_read(&x->arena, pl_buf_str(&ask->reply), ask->position, &look, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (pl_exchange_etag(x, ask->version))
        pl_buf_add(&x->reply, pl_look_member(&look, "session"));
    pl_ask_deinit(ask);
    pl_exchange_finish(x);
}

static void session_get(struct pl_exchange *x)
{
    pl_exchange_look(x, got);
}

static void changed(struct pl_exchange *x, struct pl_ask *ask)
{
    (void)pl_exchange_etag(x, ask->version);
    pl_exchange_answer(x, ask);
}

static struct pl_ask *begin_change(struct pl_exchange *x)
{
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_EVENT, x->args[0], changed);
    if (!ask)
        return NULL;
    ask->event.kind = PL_SE_SETTINGS;
    ask->if_version = pl_exchange_if_match_version(x);
    return ask;
}

static void session_patch(struct pl_exchange *x)
{
    struct pl_str model = pl_body_text(x, "model");
    if (!check_model(x, &model))
        return;
    struct pl_ask *ask = begin_change(x);
    if (!ask)
        return;
    struct pl_session_settings *settings = &ask->event.settings;
    settings->has_intent = pl_body_has(x, "intent");
    settings->intent = pl_body_text(x, "intent");
    settings->has_model = pl_body_has(x, "model");
    settings->model = model;
    settings->has_pinned = pl_body_has(x, "is_pinned");
    settings->is_pinned = pl_body_bool(x, "is_pinned", false);
    settings->has_memory = pl_body_has(x, "memory_enabled");
    settings->memory_enabled = pl_body_bool(x, "memory_enabled", true);
    settings->has_persistent = pl_body_has(x, "is_persistent");
    settings->is_persistent = pl_body_bool(x, "is_persistent", false);
    pl_ask_send(ask);
}

static void session_pin(struct pl_exchange *x)
{
    struct pl_ask *ask = begin_change(x);
    if (!ask)
        return;
    ask->event.settings.has_pinned = true;
    ask->event.settings.is_pinned = pl_body_bool(x, "is_pinned", true);
    pl_ask_send(ask);
}

static void session_memory(struct pl_exchange *x)
{
    struct pl_ask *ask = begin_change(x);
    if (!ask)
        return;
    ask->event.settings.has_memory = true;
    ask->event.settings.memory_enabled = pl_body_bool(x, "memory_enabled", true);
    pl_ask_send(ask);
}

/* Links that were given out end with the sharing. */
static void end_shares(struct pl_ask *ask, struct pl_batch *batch)
{
    pl_batch_delete_shares(batch, ask->user_id, ask->session_id);
}

static void session_sharing(struct pl_exchange *x)
{
    struct pl_ask *ask = begin_change(x);
    if (!ask)
        return;
    ask->event.settings.has_shared = true;
    ask->event.settings.shared = pl_body_bool(x, "shared", false);
    if (!ask->event.settings.shared)
        ask->extend = end_shares;
    pl_ask_send(ask);
}

static void deleted(struct pl_exchange *x, struct pl_ask *ask)
{
    x->status = 204;
    pl_ask_deinit(ask);
    pl_exchange_finish(x);
}

static void session_delete(struct pl_exchange *x)
{
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_DELETE, x->args[0], deleted);
    if (!ask)
        return;
    ask->if_version = pl_exchange_if_match_version(x);
    pl_ask_send(ask);
}

static const struct pl_route_param list_params[] = {
    PL_PARAMS_OF_PAGE,
    {"status", "{\"type\":\"string\"}", "Only sessions in this status"},
    {"pinned", "{\"type\":\"boolean\"}", "Only pinned ones, or only others"},
    {"q", "{\"type\":\"string\"}", "Words of the intent"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_sessions[] = {
    {PL_METHOD_POST, "/api/sessions", PL_ROUTE_IDEMPOTENT, session_create, "session_create",
     "Make a session", "sessions", "SessionCreate", "Session", 201, NULL},
    {PL_METHOD_GET, "/api/sessions", 0, session_list, "session_list",
     "List your sessions: pinned first, then by the last change", "sessions", NULL, "SessionList",
     200, list_params},
    {PL_METHOD_GET, "/api/sessions/{id}", 0, session_get, "session_get", "Look at a session",
     "sessions", NULL, "Session", 200, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}", 0, session_patch, "session_patch",
     "Change intent, model, pin, memory or persistence", "sessions", "SessionUpdate", "Session",
     200, NULL},
    {PL_METHOD_DELETE, "/api/sessions/{id}", 0, session_delete, "session_delete",
     "Stop a session and delete it with all its turns", "sessions", NULL, NULL, 204, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}/pin", 0, session_pin, "session_pin",
     "Pin a session, or unpin it", "sessions", "SessionPin", "Session", 200, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}/sharing", 0, session_sharing, "session_sharing",
     "Share a session, or end all its links", "sessions", "SessionSharing", "Session", 200, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}/memory", 0, session_memory, "session_memory",
     "Use memory in a session, or not", "sessions", "SessionMemory", "Session", 200, NULL},
    {0},
};

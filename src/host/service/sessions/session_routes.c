/* Sessions themselves: create, list, read, change, delete. */
#include "access/audit.h"
#include "agent/context/replay_source.h"
#include "agent/tools/offer.h"
#include "http/reply/page_cursor.h"
#include "http/routes/route.h"
#include "io/clock.h"
#include "json/merge.h"
#include "live/turn_page.h"
#include "model/model.h"
#include "service/burying.h"
#include "service/sessions/route_hook.h"
#include "service/sessions/routes.h"
#include "service/sessions/view/view.h"
#include "service/sessions/session_request.h"
#include "service/sessions/share_link.h"
#include "service/sessions/solution.h"

/* --- making ---------------------------------------------------------------------------------- */

/* Whether the named model exists; *model becomes its full name. */
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

/* A session that is being created or changed: x->state. */
struct making {
    struct pl_str model;
    struct pl_solution solution; /* the start of the session */
    struct pl_str system_prompt; /* with the role; from the solution or the body */
    struct pl_str settings, tools;
    bool has_prompt; /* CHANGE: the solution or the role changes */
    const struct pl_share_link *link;
};

static struct making *begin_making(struct pl_exchange *x)
{
    struct making *making = pl_exchange_room(x, sizeof *making);
    if (making)
        *making = (struct making){.model = pl_body_text(x, "model")};
    return making;
}

/* Adds the first turns and the link to the transaction that creates the session. */
static void extend_made(struct pl_session_command *command, struct pl_batch *batch)
{
    struct pl_exchange *x = pl_session_command_exchange(command);
    const struct making *making = x->state;
    struct pl_id_seed seed = pl_seed_draw();
    for (size_t i = 0; i < making->solution.n_turns; i++) {
        struct pl_id turn_id = pl_id_take(&seed, "turn_");
        struct pl_session_row row = {.kind = PL_ROW_TURN, .turn = making->solution.turns[i]};
        row.turn.session_id = command->session_id;
        row.turn.sequence = (int64_t)i;
        row.turn.turn_id = pl_str_of(turn_id.text);
        row.turn.last_event = 0;
        pl_batch_put_row(batch, &row);
    }
    if (making->link)
        pl_share_link_keep(making->link, command, batch);
    else
        pl_session_command_claim(command, batch);
}

/* Makes the link for the answer; false after answering with a problem. */
static bool share(struct pl_exchange *x, struct pl_session_command *command)
{
    struct making *making = x->state;
    making->link = pl_share_link_make(x, command->session_id);
    if (making->link && command->kind != PL_COMMAND_CREATE)
        command->writes.share = pl_share_link_row(making->link, x->caller.user_id);
    else
        command->extend = extend_made;
    if (making->link)
        return true;
    pl_session_command_deinit(command);
    pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is not enough memory for this.");
    pl_exchange_finish(x);
    return false;
}

/* A member of the body as JSON; empty if null or absent. */
static struct pl_str json_of(struct pl_exchange *x, const char *name)
{
    struct pl_str json = pl_body_raw(x, name);
    return pl_str_eq(json, PL_STR("null")) ? (struct pl_str){0} : json;
}

/* Whether the tools exist. */
static bool check_tools(struct pl_exchange *x)
{
    struct pl_error err = {0};
    const struct pl_json_node *tools =
        x->body.root ? pl_json_get(&x->body, x->body.root, PL_STR("tools")) : NULL;
    enum pl_status status = pl_offer_check(&x->arena, &x->body, tools, "/tools",
                                           x->shard->server->ext, x->caller.user_id, &err);
    if (status == PL_OK)
        return true;
    pl_exchange_fail(x, status, &err);
    pl_exchange_finish(x);
    return false;
}

static void made(struct pl_exchange *x, struct pl_session_command *command)
{
    const struct making *making = x->state;
    if (making->link)
        pl_share_link_tell(making->link, command);
    pl_exchange_answer(x, command);
}

static void make_session(struct pl_exchange *x)
{
    const struct making *making = x->state;
    struct pl_session_command *command = x->is_problem ? NULL : pl_exchange_ask_create(x, made);
    if (x->is_problem)
        pl_exchange_finish(x);
    if (!command)
        return;
    struct pl_str intent = pl_body_text(x, "intent");
    command->record.intent = intent.ptr ? intent : PL_STR("");
    command->record.solution_id = pl_body_text(x, "solution_id");
    command->record.biz_role_id = pl_body_text(x, "biz_role_id");
    command->record.source = PL_STR("chat");
    command->record.model = making->model;
    command->record.memory_enabled = pl_body_bool(x, "memory_enabled", true);
    command->record.is_persistent = pl_body_bool(x, "is_persistent", false);
    command->record.system_prompt = making->system_prompt;
    command->record.settings = making->settings;
    command->record.tools = making->tools;
    command->record.is_pinned = pl_body_bool(x, "is_pinned", false);
    command->record.shared = pl_body_bool(x, "shared", false);
    command->record.next_entry = (int64_t)making->solution.n_turns;
    if (making->solution.n_turns)
        command->extend = extend_made;
    if (command->record.shared && !share(x, command))
        return;
    pl_session_command_send(command);
}

/* Merges the settings of the body into those of the solution. */
static enum pl_status merge_settings(struct pl_exchange *x, struct pl_str base,
                                     struct pl_str *ret_settings)
{
    const struct pl_json_node *own =
        x->body.root ? pl_json_get(&x->body, x->body.root, PL_STR("settings")) : NULL;
    struct pl_json_doc doc;
    *ret_settings = base.len ? base : json_of(x, "settings");
    if (!base.len || !pl_json_is(own, PL_JSON_OBJECT))
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = pl_json_parse(&x->arena, base, &pl_json_own, &doc, NULL);
    if (status == PL_OK)
        status = pl_json_merge_write(&x->arena, &text, &doc, doc.root, &x->body, own);
    *ret_settings = pl_arena_dup(&x->arena, pl_buf_str(&text));
    return status == PL_OK && !ret_settings->ptr ? PL_NOMEM : status;
}

/* Reads the solution, then the role, which follows its system prompt; members of the body
 * override both. */
static enum pl_status read_solution(struct pl_exchange *x, struct pl_str solution_id,
                                    struct pl_str biz_role_id, struct pl_error *err)
{
    struct making *making = x->state;
    struct pl_solution role = {0};
    int64_t now_ms = pl_clock_unix_ms();
    enum pl_status status =
        pl_solution_read(x->shard->server, x->setup->models, &x->arena, x->caller.user_id,
                         "solution_id", solution_id, now_ms, &making->solution, err);
    if (status == PL_OK)
        status = pl_solution_read(x->shard->server, x->setup->models, &x->arena, x->caller.user_id,
                                  "biz_role_id", biz_role_id, now_ms, &role, err);
    struct pl_str own = pl_body_text(x, "system_prompt");
    if (status == PL_OK)
        status = pl_solution_join(&x->arena, own.len ? own : making->solution.system_prompt,
                                  role.system_prompt, &making->system_prompt);
    if (status == PL_OK)
        status = merge_settings(x, making->solution.settings, &making->settings);
    making->tools = pl_body_has(x, "tools") ? json_of(x, "tools") : making->solution.tools;
    if (!making->model.len && !pl_body_has(x, "model"))
        making->model = making->solution.model;
    return status;
}

/* Checks that a replayed session is the caller's. For a change of an existing session, its
 * driver checks this. */
static void prepare_session(struct pl_exchange *x)
{
    const struct making *making = x->state;
    struct pl_error err = {0};
    enum pl_status status =
        pl_replay_check(x->shard->server->store, &x->arena, x->caller.user_id, making->model, &err);
    if (status == PL_OK)
        status =
            read_solution(x, pl_body_text(x, "solution_id"), pl_body_text(x, "biz_role_id"), &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void create_go(struct pl_exchange *x)
{
    struct making *making = x->state;
    if (pl_model_replayed(making->model).len || pl_body_text(x, "solution_id").len ||
        pl_body_text(x, "biz_role_id").len) {
        pl_exchange_work(x, prepare_session, make_session);
        return;
    }
    making->system_prompt = pl_body_text(x, "system_prompt");
    making->settings = json_of(x, "settings");
    making->tools = json_of(x, "tools");
    make_session(x);
}

/* Creating a session leaves the previous one, which extensions may refuse. */
static void session_create(struct pl_exchange *x)
{
    struct making *making = begin_making(x);
    if (!making || !check_tools(x) || !check_model(x, &making->model))
        return;
    x->state = making;
    pl_exchange_hook(x, PL_EXT_HOOK_SESSION_BEFORE_SWITCH, (struct pl_str){0}, "new", create_go);
}

/* --- listing --------------------------------------------------------------------------------- */

static bool read_cursor(struct pl_str cursor, struct pl_session_query *query)
{
    struct pl_page_cursor place = {0};
    query->has_cursor = pl_page_cursor_read(cursor, "sess_", &place);
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
        .solution_id = pl_target_param(&x->target, "solution_id"),
        .biz_role_id = pl_target_param(&x->target, "biz_role_id"),
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
    bool has_details = pl_str_eq(pl_target_param(&x->target, "details"), PL_STR("true"));
    enum pl_status status =
        pl_store_session_list(x->shard->server->store, &x->arena, &query, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (status == PL_OK && pl_list_walk_next(&walk, x)) {
        if (walk.n > 1)
            pl_buf_addc(&x->reply, ',');
        if (has_details)
            status = pl_session_write_details(x->shard->server->store, &x->arena,
                                              &page.items[walk.n - 1], &x->reply, &err);
        else
            pl_session_record_write(&page.items[walk.n - 1], &x->reply);
    }
    if (status != PL_OK) {
        pl_buf_clear(&x->reply);
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_buf cursor PL_CLEANUP_BUF;
    pl_buf_init(&cursor, 0);
    if (walk.has_more) {
        const struct pl_session_record *last = &page.items[walk.n - 1];
        pl_page_cursor_write(&cursor,
                             &(struct pl_page_cursor){last->is_pinned, last->updated_ms, last->id});
    }
    pl_exchange_list_end(x, &args, page.total, pl_buf_str(&cursor));
}

static void session_list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

/* --- looking, changing, deleting -------------------------------------------------------------- */

static void got(struct pl_exchange *x, struct pl_session_command *command)
{
    struct pl_session_snapshot look;
    struct pl_error err = {0};
    pl_exchange_position(x, command);
    enum pl_status status = pl_session_snapshot_read(&x->arena, pl_buf_str(&command->reply),
                                                     command->position, &look, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (pl_exchange_etag(x, command->version))
        pl_buf_add(&x->reply, pl_session_snapshot_member(&look, "session"));
    pl_session_command_deinit(command);
    pl_exchange_finish(x);
}

static void session_get(struct pl_exchange *x)
{
    pl_exchange_look(x, got);
}

static void changed(struct pl_exchange *x, struct pl_session_command *command)
{
    (void)pl_exchange_etag(x, command->version);
    const struct making *making = x->state;
    if (making && making->link)
        pl_share_link_tell(making->link, command);
    pl_exchange_answer(x, command);
}

static struct pl_session_command *begin_change(struct pl_exchange *x)
{
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_EVENT, x->args[0], changed);
    if (!command)
        return NULL;
    command->event.kind = PL_SE_SETTINGS;
    command->if_version = pl_exchange_if_match_version(x);
    return command;
}

/* True creates a link, which is answered; false ends all links. Returns false after answering
 * with a problem. */
static bool change_sharing(struct pl_exchange *x, struct pl_session_command *command)
{
    command->event.settings.has_shared = pl_body_has(x, "shared");
    command->event.settings.shared = pl_body_bool(x, "shared", false);
    if (!command->event.settings.has_shared)
        return true;
    pl_audit_tell(x, command->event.settings.shared ? "session.share" : "session.unshare",
                  x->args[0]);
    if (command->event.settings.shared)
        return share(x, command);
    command->writes.ends_shares = true;
    return true;
}

static void change_session(struct pl_exchange *x)
{
    const struct making *making = x->state;
    struct pl_session_command *command = x->is_problem ? NULL : begin_change(x);
    if (x->is_problem)
        pl_exchange_finish(x);
    if (!command)
        return;
    struct pl_session_settings *settings = &command->event.settings;
    bool is_other = making->has_prompt && pl_body_has(x, "solution_id");
    settings->has_intent = pl_body_has(x, "intent");
    settings->intent = pl_body_text(x, "intent");
    settings->has_model = pl_body_has(x, "model") || (is_other && making->model.len);
    settings->model = making->model;
    settings->has_pinned = pl_body_has(x, "is_pinned");
    settings->is_pinned = pl_body_bool(x, "is_pinned", false);
    settings->has_memory = pl_body_has(x, "memory_enabled");
    settings->memory_enabled = pl_body_bool(x, "memory_enabled", true);
    settings->has_persistent = pl_body_has(x, "is_persistent");
    settings->is_persistent = pl_body_bool(x, "is_persistent", false);
    settings->has_system_prompt = making->has_prompt || pl_body_has(x, "system_prompt");
    settings->system_prompt =
        making->has_prompt ? making->system_prompt : pl_body_text(x, "system_prompt");
    settings->has_settings = is_other || pl_body_has(x, "settings");
    settings->settings = is_other ? making->settings : json_of(x, "settings");
    settings->has_tools = is_other || pl_body_has(x, "tools");
    settings->tools = is_other ? making->tools : json_of(x, "tools");
    settings->has_solution = pl_body_has(x, "solution_id");
    settings->solution_id = pl_body_text(x, "solution_id");
    settings->has_biz_role = pl_body_has(x, "biz_role_id");
    settings->biz_role_id = pl_body_text(x, "biz_role_id");
    if (change_sharing(x, command))
        pl_session_command_send(command);
}

/* Reads the new solution and role; the body may name only one of them. */
static void prepare_change(struct pl_exchange *x)
{
    struct pl_session_record record;
    struct pl_error err = {0};
    struct pl_str names[] = {pl_body_text(x, "solution_id"), pl_body_text(x, "biz_role_id")};
    enum pl_status status = pl_store_session_get(x->shard->server->store, &x->arena,
                                                 x->caller.user_id, x->args[0], &record, &err);
    if (status == PL_OK && !pl_body_has(x, "solution_id"))
        names[0] = record.solution_id;
    if (status == PL_OK && !pl_body_has(x, "biz_role_id"))
        names[1] = record.biz_role_id;
    if (status == PL_OK)
        status = read_solution(x, names[0], names[1], &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void session_patch(struct pl_exchange *x)
{
    struct making *making = begin_making(x);
    if (!making || !check_tools(x) || !check_model(x, &making->model))
        return;
    x->state = making;
    making->has_prompt = pl_body_has(x, "solution_id") || pl_body_has(x, "biz_role_id");
    if (making->has_prompt)
        pl_exchange_work(x, prepare_change, change_session);
    else
        change_session(x);
}

static void session_pin(struct pl_exchange *x)
{
    struct pl_session_command *command = begin_change(x);
    if (!command)
        return;
    command->event.settings.has_pinned = true;
    command->event.settings.is_pinned = pl_body_bool(x, "is_pinned", true);
    pl_session_command_send(command);
}

static void session_memory(struct pl_exchange *x)
{
    struct pl_session_command *command = begin_change(x);
    if (!command)
        return;
    command->event.settings.has_memory = true;
    command->event.settings.memory_enabled = pl_body_bool(x, "memory_enabled", true);
    pl_session_command_send(command);
}

static void session_sharing(struct pl_exchange *x)
{
    x->state = begin_making(x);
    struct pl_session_command *command = x->state ? begin_change(x) : NULL;
    if (command && change_sharing(x, command))
        pl_session_command_send(command);
}

/* Changes a running replay: slower, faster, paused, resumed. */
static void session_replay_change(struct pl_exchange *x)
{
    struct pl_session_command *command = begin_change(x);
    if (!command)
        return;
    struct pl_session_settings *settings = &command->event.settings;
    struct pl_str status = pl_body_text(x, "status");
    settings->has_replay_paused = status.len;
    settings->replay_paused = pl_str_eq(status, PL_STR("paused"));
    settings->has_replay_speed = pl_body_has(x, "speed");
    settings->replay_speed = pl_body_raw(x, "speed");
    pl_session_command_send(command);
}

static void deleted(struct pl_exchange *x, struct pl_session_command *command)
{
    x->status = 204;
    pl_session_command_deinit(command);
    pl_exchange_finish(x);
}

static void session_delete(struct pl_exchange *x)
{
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_DELETE, x->args[0], deleted);
    if (!command)
        return;
    command->if_version = pl_exchange_if_match_version(x);
    command->is_kept = pl_exchange_keeps_deleted(x);
    pl_session_command_send(command);
}

static const struct pl_route_param list_params[] = {
    PL_PARAMS_OF_PAGE,
    {"status", "{\"type\":\"string\"}", "Only sessions with this status"},
    {"pinned", "{\"type\":\"boolean\"}", "Only pinned sessions, or only others"},
    {"q", "{\"type\":\"string\"}", "Words of the intent"},
    {"solution_id", "{\"type\":\"string\"}", "Only sessions of this solution"},
    {"biz_role_id", "{\"type\":\"string\"}", "Only sessions of this role"},
    {"details", "{\"type\":\"boolean\"}",
     "With preview, turns, cost_usd and open_questions of each"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_sessions[] = {
    {PL_METHOD_POST, "/api/sessions", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS, session_create,
     "session_create", "Create a session", "sessions", "SessionCreate", "Session", 201, NULL},
    {PL_METHOD_GET, "/api/sessions", 0, PL_FOR_SESSIONS | PL_FOR_READ, session_list, "session_list",
     "List your sessions: pinned first, then by the last change", "sessions", NULL, "SessionList",
     200, list_params},
    {PL_METHOD_GET, "/api/sessions/{id}", 0, PL_FOR_SESSIONS | PL_FOR_READ, session_get,
     "session_get", "Get a session", "sessions", NULL, "Session", 200, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}", 0, PL_FOR_SESSIONS, session_patch, "session_patch",
     "Change intent, model, solution, role, pin, sharing, memory, persistence, system prompt, "
     "settings or tools",
     "sessions", "SessionUpdate", "Session", 200, NULL},
    {PL_METHOD_DELETE, "/api/sessions/{id}", 0, PL_FOR_SESSIONS, session_delete, "session_delete",
     "Stop a session and delete it with all its turns; it can be restored for a while", "sessions",
     NULL, NULL, 204, NULL, .tells = "session:deleted"},
    {PL_METHOD_PATCH, "/api/sessions/{id}/pin", 0, PL_FOR_SESSIONS, session_pin, "session_pin",
     "Pin a session, or unpin it", "sessions", "SessionPin", "Session", 200, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}/sharing", 0, PL_FOR_SESSIONS, session_sharing,
     "session_sharing", "Share a session, or delete all its links", "sessions", "SessionSharing",
     "Session", 200, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}/replay", 0, PL_FOR_SESSIONS, session_replay_change,
     "session_replay_change", "Pause or resume a replay, or change its speed", "sessions",
     "ReplayChange", "Session", 200, NULL},
    {PL_METHOD_PATCH, "/api/sessions/{id}/memory", 0, PL_FOR_SESSIONS, session_memory,
     "session_memory", "Turn memory on or off in a session", "sessions", "SessionMemory", "Session",
     200, NULL},
    {0},
};

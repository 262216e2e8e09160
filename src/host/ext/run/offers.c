/* The offers of extensions to a user's sessions: tools and commands, from their last registration,
 * running or not; and their subscriptions. */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "base/vec.h"

/* Calls `each` for the registration of every extension that is not disabled, for this user,
 * until it returns false. */
static void for_each(struct pl_ext_server *host, struct pl_str user_id, bool with_quarantined,
                     bool (*each)(void *ctx, const struct pl_ext_known *known,
                                  const struct pl_ext_registered *registered),
                     void *ctx)
{
    if (!pl_ext_server_has_any(host))
        return;
    struct pl_ext_set *set = pl_ext_set_hold(host);
    bool goes_on = true;
    for (size_t i = 0; i < set->n && goes_on; i++) {
        struct pl_ext_known *known = set->items[i];
        enum pl_ext_state state = pl_ext_known_state(known, user_id);
        bool counts = state == PL_EXT_STATE_ENABLED ||
                      (with_quarantined && state == PL_EXT_STATE_QUARANTINED);
        if (!counts)
            continue;
        struct pl_ext_registered *registered = pl_ext_registered_of(host, known, user_id);
        if (registered)
            goes_on = each(ctx, known, registered);
        pl_ext_registered_release(registered);
    }
    pl_ext_set_release(set);
}

/* --- tools ------------------------------------------------------------------------------------ */

struct gathering {
    struct pl_arena *arena; /* borrowed */
    struct pl_str name;     /* wanted; empty: all */
    PL_VEC(struct pl_ext_offered) tools;
    PL_VEC(struct pl_ext_offered_command) commands;
    bool is_oom;
};

static struct pl_str copy(struct gathering *g, struct pl_str text)
{
    struct pl_str kept = pl_arena_dup(g->arena, text);
    g->is_oom |= !kept.ptr && text.len;
    return kept;
}

static bool gather_tools(void *ctx, const struct pl_ext_known *known,
                         const struct pl_ext_registered *r)
{
    struct gathering *g = ctx;
    for (size_t i = 0; i < r->said.n_tools && !g->is_oom; i++) {
        const struct pl_ext_tool *tool = &r->said.tools[i];
        bool is_wanted =
            g->name.len ? pl_str_eq(g->name, tool->name) : tool->exposure != PL_EXT_EXPOSURE_HIDDEN;
        if (!is_wanted || tool->refusal || r->is_withheld[i])
            continue;
        struct pl_ext_offered offered = {
            .extension_id = copy(g, known->package.id),
            .name = copy(g, tool->name),
            .label = copy(g, tool->label),
            .description = copy(g, tool->description),
            .schema = copy(g, tool->parameters ? pl_json_span(&r->doc, tool->parameters)
                                               : PL_STR("{\"type\":\"object\"}")),
            .is_deferred = tool->exposure == PL_EXT_EXPOSURE_DEFERRED ||
                           known->package.runtime == PL_EXT_RUNTIME_MCP,
            .is_sequential = tool->is_sequential,
            .timeout_ms = tool->timeout_ms,
        };
        g->is_oom |= !pl_vec_push(&g->tools, offered);
    }
    return !g->is_oom && !(g->name.len && g->tools.len);
}

enum pl_status pl_ext_tools_of(struct pl_ext_server *host, struct pl_arena *arena,
                               struct pl_str user_id, struct pl_ext_offered **ret_tools,
                               size_t *ret_n)
{
    struct gathering g = {.arena = arena};
    for_each(host, user_id, false, gather_tools, &g);
    *ret_n = g.tools.len;
    *ret_tools = pl_arena_alloc(arena, g.tools.len + 1, sizeof **ret_tools);
    if (*ret_tools && g.tools.len)
        memcpy(*ret_tools, g.tools.ptr, g.tools.len * sizeof **ret_tools);
    g.is_oom |= !*ret_tools;
    pl_vec_deinit(&g.tools);
    return g.is_oom ? PL_NOMEM : PL_OK;
}

enum pl_status pl_ext_tool_find(struct pl_ext_server *host, struct pl_arena *arena,
                                struct pl_str user_id, struct pl_str name,
                                struct pl_ext_offered *ret_tool)
{
    struct gathering g = {.arena = arena, .name = name};
    if (name.len)
        for_each(host, user_id, false, gather_tools, &g);
    enum pl_status status = g.is_oom ? PL_NOMEM : g.tools.len ? PL_OK : PL_NOT_FOUND;
    if (status == PL_OK)
        *ret_tool = g.tools.ptr[0];
    pl_vec_deinit(&g.tools);
    return status;
}

enum pl_status pl_ext_keep_media(struct pl_server *server, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str document,
                                 struct pl_str *ret_document, struct pl_error *err)
{
    return server->ext->above->keep_media(server, arena, user_id, document, ret_document, err);
}

/* --- commands --------------------------------------------------------------------------------- */

static bool gather_commands(void *ctx, const struct pl_ext_known *known,
                            const struct pl_ext_registered *r)
{
    struct gathering *g = ctx;
    for (size_t i = 0; i < r->said.n_commands && !g->is_oom; i++) {
        struct pl_ext_offered_command one = {
            .extension_id = copy(g, known->package.id),
            .name = copy(g, r->said.commands[i].name),
            .description = copy(g, r->said.commands[i].description),
        };
        g->is_oom |= !pl_vec_push(&g->commands, one);
    }
    return !g->is_oom;
}

enum pl_status pl_ext_commands_of(struct pl_ext_server *host, struct pl_arena *arena,
                                  struct pl_str user_id,
                                  struct pl_ext_offered_command **ret_commands, size_t *ret_n)
{
    struct gathering g = {.arena = arena};
    for_each(host, user_id, false, gather_commands, &g);
    *ret_n = g.commands.len;
    *ret_commands = pl_arena_alloc(arena, g.commands.len + 1, sizeof **ret_commands);
    if (*ret_commands && g.commands.len)
        memcpy(*ret_commands, g.commands.ptr, g.commands.len * sizeof **ret_commands);
    g.is_oom |= !*ret_commands;
    pl_vec_deinit(&g.commands);
    return g.is_oom ? PL_NOMEM : PL_OK;
}

/* --- events ----------------------------------------------------------------------------------- */

struct event {
    struct pl_shard *home; /* borrowed; NULL: only finds out whether anybody wants it */
    struct pl_str user_id, session_id, tool_name, data;
    enum pl_ext_hook hook;
    bool is_wanted;
};

static bool look(void *ctx, const struct pl_ext_known *known, const struct pl_ext_registered *r)
{
    struct event *event = ctx;
    (void)known;
    event->is_wanted = pl_ext_registered_wants(r, event->hook, event->tool_name, NULL);
    return !event->is_wanted;
}

bool pl_ext_wants(struct pl_ext_server *host, struct pl_str user_id, enum pl_ext_hook hook,
                  struct pl_str tool_name)
{
    struct event event = {.user_id = user_id, .hook = hook, .tool_name = tool_name};
    for_each(host, user_id, true, look, &event);
    return event.is_wanted;
}

static void on_told(struct pl_ext_ask *ask)
{
    (void)ask;
}

static bool tell(void *ctx, const struct pl_ext_known *known, const struct pl_ext_registered *r)
{
    const struct event *event = ctx;
    if (!pl_ext_registered_wants(r, event->hook, event->tool_name, NULL))
        return true;
    struct pl_ext_ask *ask = pl_ext_ask_create(event->home, PL_EXT_ASK_EVENT);
    if (!ask)
        return false;
    ask->extension_id = pl_ext_ask_keep(ask, known->package.id);
    ask->user_id = pl_ext_ask_keep(ask, event->user_id);
    ask->session_id = pl_ext_ask_keep(ask, event->session_id);
    ask->input = pl_ext_ask_keep(ask, event->data);
    ask->hook = event->hook;
    ask->done = on_told;
    pl_ext_ask_send(ask);
    return true;
}

void pl_ext_tell(struct pl_shard *home, struct pl_str user_id, struct pl_str session_id,
                 enum pl_ext_hook hook, struct pl_str tool_name, struct pl_str data)
{
    struct event event = {home, user_id, session_id, tool_name, data, hook, false};
    for_each(home->server->ext, user_id, false, tell, &event);
}

static bool emit(void *ctx, const struct pl_ext_known *known, const struct pl_ext_registered *r)
{
    const struct event *event = ctx;
    bool is_wanted = false;
    for (size_t i = 0; i < r->said.n_subscriptions && !is_wanted; i++)
        is_wanted = r->said.subscriptions[i].hook == PL_EXT_HOOK_COUNT &&
                    pl_str_eq(r->said.subscriptions[i].glob, event->tool_name);
    struct pl_ext_ask *ask = is_wanted ? pl_ext_ask_create(event->home, PL_EXT_ASK_EVENT) : NULL;
    if (!ask)
        return true;
    PL_CLEANUP_BUF struct pl_buf name;
    pl_buf_init(&name, 0);
    pl_buf_addf(&name, "bus:%.*s", PL_STR_ARG(event->tool_name));
    ask->extension_id = pl_ext_ask_keep(ask, known->package.id);
    ask->user_id = pl_ext_ask_keep(ask, event->user_id);
    ask->session_id = pl_ext_ask_keep(ask, event->session_id);
    ask->input = pl_ext_ask_keep(ask, event->data);
    ask->name = pl_ext_ask_keep(ask, pl_buf_str(&name));
    ask->done = on_told;
    pl_ext_ask_send(ask);
    return true;
}

void pl_ext_emit(struct pl_shard *home, struct pl_str user_id, struct pl_str session_id,
                 struct pl_str topic, struct pl_str data)
{
    struct event event = {home, user_id, session_id, topic, data, PL_EXT_HOOK_COUNT, false};
    for_each(home->server->ext, user_id, false, emit, &event);
}

/* --- waking ----------------------------------------------------------------------------------- */

struct pl_ext_wake {
    void (*done)(void *ctx);
    void *ctx;
    size_t n_away;
    struct pl_ext_ask *asks[]; /* they own themselves; NULL: returned */
};

static void on_awake(struct pl_ext_ask *ask)
{
    struct pl_ext_wake *wake = ask->ctx;
    if (!wake)
        return;
    for (size_t i = 0; wake->asks[i]; i++)
        if (wake->asks[i] == ask) {
            size_t last = wake->n_away - 1;
            wake->asks[i] = wake->asks[last];
            wake->asks[last] = NULL;
            break;
        }
    if (--wake->n_away)
        return;
    void (*done)(void *ctx) = wake->done;
    void *ctx = wake->ctx;
    pl_mem_free(wake);
    done(ctx);
}

struct pl_ext_wake *pl_ext_wake_start(struct pl_shard *home, struct pl_str user_id,
                                      void (*done)(void *ctx), void *ctx)
{
    struct pl_ext_server *host = home->server->ext;
    if (!pl_ext_server_has_any(host))
        return NULL;
    struct pl_ext_set *set = pl_ext_set_hold(host);
    struct pl_ext_wake *wake = pl_mem_alloc(1, sizeof *wake + (set->n + 1) * sizeof *wake->asks);
    if (wake)
        *wake = (struct pl_ext_wake){.done = done, .ctx = ctx};
    for (size_t i = 0; wake && i < set->n; i++) {
        struct pl_ext_known *known = set->items[i];
        struct pl_ext_registered *registered = pl_ext_registered_of(host, known, user_id);
        pl_ext_registered_release(registered);
        /* A remote extension connects by itself. */
        bool is_due =
            !registered && known->package.state == PL_EXT_STATE_ENABLED && known->package.dir.len;
        struct pl_ext_ask *ask = is_due ? pl_ext_ask_create(home, PL_EXT_ASK_WAKE) : NULL;
        if (!ask)
            continue;
        ask->extension_id = pl_ext_ask_keep(ask, known->package.id);
        ask->user_id = pl_ext_ask_keep(ask, user_id);
        ask->done = on_awake;
        ask->ctx = wake;
        wake->asks[wake->n_away++] = ask;
    }
    pl_ext_set_release(set);
    if (!wake || !wake->n_away) {
        pl_mem_free(wake);
        return NULL;
    }
    wake->asks[wake->n_away] = NULL;
    for (size_t i = 0; i < wake->n_away; i++)
        pl_ext_ask_send(wake->asks[i]);
    return wake;
}

void pl_ext_wake_cancel(struct pl_ext_wake *wake)
{
    if (!wake)
        return;
    for (size_t i = 0; i < wake->n_away; i++)
        pl_ext_ask_cancel(wake->asks[i]);
    pl_mem_free(wake);
}

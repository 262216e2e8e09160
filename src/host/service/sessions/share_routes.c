/* Links that let anybody read a session. */
#include "access/audit.h"
#include "access/key_table.h"
#include "agent/session_copy.h"
#include "http/json_members.h"
#include "http/routes/route.h"
#include "live/turn_page.h"
#include "service/blobs/blob_json.h"
#include "service/request_options.h"
#include "service/sessions/routes.h"
#include "service/sessions/session_request.h"
#include "service/sessions/share_link.h"
#include "transaction/commit.h"

#include <stdio.h>

/* False if out of memory. */
static bool keep_without_token(struct pl_exchange *x)
{
    PL_CLEANUP_BUF struct pl_buf kept;
    pl_buf_init(&kept, 0);
    struct pl_json_out out = pl_json_out(&kept);
    pl_share_link_write(x->state, false, &out);
    x->status = 201;
    if (kept.status == PL_OK)
        pl_exchange_keep_instead(x, pl_arena_dup(&x->arena, pl_buf_str(&kept)));
    return pl_exchange_kept_reply(x).ptr != NULL;
}

static void shared(struct pl_exchange *x, struct pl_session_command *command)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_share_link_write(x->state, true, &out);
    pl_session_command_deinit(command);
    pl_exchange_finish(x);
}

static void session_share(struct pl_exchange *x)
{
    x->state = pl_share_link_make(x, x->args[0]);
    struct pl_session_command *command =
        x->state ? pl_exchange_ask(x, PL_COMMAND_EVENT, x->args[0], shared) : NULL;
    if (x->state && !command)
        return; /* answered already */
    if (command)
        pl_audit_tell(x, "session.share", x->args[0]);
    if (!command) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, NULL);
        pl_exchange_finish(x);
        return;
    }
    if (!keep_without_token(x)) {
        pl_session_command_deinit(command);
        pl_exchange_fail(x, PL_NOMEM, NULL);
        pl_exchange_finish(x);
        return;
    }
    command->event.kind = PL_SE_SETTINGS;
    command->event.settings.has_shared = true;
    command->event.settings.shared = true;
    pl_session_command_add_claim(command);
    command->writes.share = pl_share_link_row(x->state, x->caller.user_id);
    pl_session_command_send(command);
}

/* Finds the session of the link in the route. */
static enum pl_status find_shared(struct pl_exchange *x, struct pl_session_record *ret_record,
                                  struct pl_error *err)
{
    struct pl_store *store = x->shard->server->store;
    uint8_t hash[32];
    struct pl_share_row share = {0};
    pl_secret_hash(x->args[0], hash);
    enum pl_status status = pl_store_share_find(
        store, &x->arena, (struct pl_str){(const char *)hash, sizeof hash}, &share, err);
    if (status == PL_OK)
        status = pl_store_session_get(store, &x->arena, share.user_id, share.session_id, ret_record,
                                      err);
    bool is_open = status == PL_OK && ret_record->shared &&
                   pl_auth_is_active(x->shard->server->auth, share.user_id);
    return status == PL_OK && !is_open ? PL_NOT_FOUND : status;
}

static void share_work(struct pl_exchange *x)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_page_args args;
    if (!pl_exchange_page_args(x, &args))
        return;
    struct pl_session_record record = {0};
    struct pl_error err = {0};
    enum pl_status status = find_shared(x, &record, &err);
    struct pl_turn_query query = {
        .session_id = record.id,
        .before = INT64_MAX,
        .after = -1,
        .changed_after = -1,
        .limit = args.limit,
        .max_bytes = PL_PAGE_BYTES,
        .is_newest_first = true,
        .is_terminal_only = true,
    };
    if (!pl_param_sequence(x, "before", &query.before))
        return;
    struct pl_turn_page page;
    if (status == PL_OK)
        status = pl_store_turn_list(store, &x->arena, &query, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "intent");
    pl_json_out_text(&out, record.intent);
    pl_json_out_key(&out, "status");
    pl_json_out_text(&out, pl_str_of(pl_session_status_text(record.status)));
    pl_json_out_close(&out, '}');
    pl_json_out_key(&out, "has_more");
    pl_json_out_bool(&out, page.has_more);
    pl_json_out_key(&out, "turns");
    pl_buf_addc(&x->reply, '[');
    for (size_t i = 0; i < page.n_items && status == PL_OK; i++) {
        if (i)
            pl_buf_addc(&x->reply, ',');
        status = pl_turn_row_write_shared(&page.items[i], &x->reply);
    }
    pl_buf_adds(&x->reply, "]}");
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void share_get(struct pl_exchange *x)
{
    pl_exchange_work(x, share_work, NULL);
}

/* --- media of a shared session --------------------------------------------------------------- */

struct naming {
    struct pl_str mark; /* the blob's reference in a turn */
    bool is_named;
};

static enum pl_status look_for(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct naming *naming = walk->ctx;
    naming->is_named = pl_str_find(row->body, naming->mark) != SIZE_MAX;
    walk->is_over = naming->is_named;
    return PL_OK;
}

/* A link shows only the media of its session, no other blob of the owner. */
static enum pl_status check_named(struct pl_exchange *x, const struct pl_session_record *record,
                                  struct pl_error *err)
{
    char mark[PL_ID_MAX + 16];
    snprintf(mark, sizeof mark, "\"blob\":\"%.*s\"", PL_STR_ARG(x->args[1]));
    struct naming naming = {.mark = pl_str_of(mark)};
    struct pl_turn_walk walk = {
        .query = {.session_id = record->id,
                  .before = INT64_MAX,
                  .after = -1,
                  .changed_after = -1,
                  .limit = 100,
                  .is_terminal_only = true},
        .each = look_for,
        .ctx = &naming,
    };
    enum pl_status status = pl_turn_walk(&walk, x->shard->server->store, err);
    return status == PL_OK && !naming.is_named ? PL_NOT_FOUND : status;
}

static void share_blob_work(struct pl_exchange *x)
{
    struct pl_session_record record = {0};
    struct pl_error err = {0};
    struct pl_blob_row *blob = pl_arena_zalloc(&x->arena, 1, sizeof *blob);
    enum pl_status status = !blob                           ? PL_NOMEM
                            : pl_id_is(x->args[1], "blob_") ? find_shared(x, &record, &err)
                                                            : PL_NOT_FOUND;
    if (status == PL_OK)
        status = check_named(x, &record, &err);
    if (status == PL_OK)
        status = pl_store_blob_get(x->shard->server->store, &x->arena, record.user_id, x->args[1],
                                   blob, &err);
    if (status == PL_OK)
        pl_blob_send(x, blob);
    else
        pl_exchange_fail(x, status, &err);
}

static void share_blob(struct pl_exchange *x)
{
    pl_exchange_work(x, share_blob_work, NULL);
}

static const struct pl_route_param share_params[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}",
     "The maximum number; 20 by default"},
    {"before", "{\"type\":\"integer\",\"minimum\":0}", "Only turns before this sequence"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_shares[] = {
    {PL_METHOD_POST, "/api/sessions/{id}/share", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS,
     session_share, "session_share", "Create a link with which anybody can read the session",
     "copies", NULL, "ShareLink", 201, NULL},
    {PL_METHOD_GET, "/api/share/{token}", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, share_get, "share_get",
     "Read a shared session", "copies", NULL, "SharedSession", 200, share_params},
    {PL_METHOD_GET, "/api/share/{token}/blobs/{id}", PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY,
     PL_FOR_ANYBODY, share_blob, "share_blob",
     "Get the bytes of an image or file in a shared session", "copies", NULL, NULL, 200, NULL},
    {0},
};

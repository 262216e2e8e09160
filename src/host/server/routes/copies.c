/* A session leaving and coming: export, import, fork, replay, handoff, share links. */
#include "base/utc.h"
#include "conv/handoff.h"
#include "format/convert.h"
#include "format/source.h"
#include "io/clock.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"
#include "server/asking.h"
#include "server/auth_int.h"
#include "server/copying.h"
#include "server/exchange_int.h"
#include "server/handing.h"
#include "server/media_store.h"
#include "server/members.h"
#include "server/replay.h"
#include "server/route.h"
#include "server/turn_page.h"
#include "server/wishes.h"

#define PAGE 1000

/* All finished turns of a session up to a place. */
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

/* --- export ---------------------------------------------------------------------------------- */

static void export_work(struct pl_exchange *x)
{
    struct pl_str name = pl_target_param(&x->target, "format");
    const struct pl_format *format = pl_format_find(name.len ? name : PL_STR("turns"));
    struct pl_error err = {0};
    if (!format) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "There is no format %.*s.",
                            (int)(name.len < 80 ? name.len : 80), name.ptr);
        return;
    }
    struct pl_buf turns PL_CLEANUP_BUF;
    pl_buf_init(&turns, 0);
    enum pl_status status = pl_turns_write_all(x->shard->server->store, x->args[0], &turns, &err);
    struct pl_converted converted;
    pl_converted_init(&converted);
    const struct pl_format *own = pl_format_find(PL_STR("turns"));
    if (status == PL_OK && format == own) {
        pl_buf_add(&x->reply, pl_buf_str(&turns));
    } else if (status == PL_OK) {
        struct pl_convert_opts opts = {.from = own, .to = format};
        status = pl_convert(pl_buf_str(&turns), &opts, &converted, &err);
        pl_buf_add(&x->reply, pl_buf_str(&converted.out));
    }
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    pl_converted_deinit(&converted);
}

static void export_looked(struct pl_exchange *x, struct pl_ask *ask)
{
    pl_exchange_position(x, ask);
    pl_ask_deinit(ask);
    pl_exchange_compute(x, export_work, NULL);
}

static void session_export(struct pl_exchange *x)
{
    pl_exchange_look(x, export_looked);
}

/* --- import ---------------------------------------------------------------------------------- */

/* A document given as a JSON string (gpt-oss, YAML …) or as JSON itself. */
static enum pl_status document_of(struct pl_exchange *x, struct pl_str *ret_text)
{
    const struct pl_json_node *node = pl_json_get(&x->body, x->body.root, PL_STR("document"));
    if (pl_json_kind(node) == PL_JSON_STRING)
        return pl_json_text(&x->arena, &x->body, node, ret_text);
    *ret_text = pl_json_span(&x->body, node);
    return PL_OK;
}

struct importing {
    struct pl_media media;
    struct pl_copying *copying; /* once the links are there */
};

/* What the document links to, fetched and kept, where that is wanted: false, links are to be
 * fetched first. What cannot be read is told by the conversion. */
static bool store_media(struct pl_exchange *x, const struct pl_format *from,
                        struct pl_str *document, enum pl_status *ret_status)
{
    struct importing *importing = x->state;
    struct pl_str media = pl_body_text(x, "media");
    struct pl_media_wish wish = {
        .from = from,
        .is_expiring_only = pl_str_eq(media, PL_STR("store_expiring")),
    };
    struct pl_media_stored stored;
    if (!media.len || pl_str_eq(media, PL_STR("keep")))
        return true;
    enum pl_status status =
        pl_media_store(&importing->media, &x->arena, *document, &wish, &stored, NULL);
    if (status != PL_OK) {
        *ret_status = status == PL_NOMEM ? status : PL_OK;
        return true;
    }
    if (pl_media_wants(&importing->media))
        return false;
    pl_exchange_header(x, "X-Media-Stored", "%zu", stored.n_stored);
    pl_exchange_header(x, "X-Media-Failed", "%zu", stored.n_notes);
    *document = stored.text;
    return true;
}

static void finish_copying(struct pl_exchange *x)
{
    if (x->is_problem)
        pl_exchange_finish(x);
    else
        pl_copying_finish(x->state, x);
}

static struct pl_copying *begin_copying(struct pl_exchange *x)
{
    struct pl_copying *copying = pl_arena_zalloc(&x->arena, 1, sizeof *copying);
    x->state = copying;
    if (copying && pl_copying_begin(copying, x) == PL_OK)
        return copying;
    pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is no memory for this now.");
    return NULL;
}

static void fail_copying(struct pl_exchange *x, struct pl_copying *copying, enum pl_status status,
                         const struct pl_error *err)
{
    pl_batch_destroy(copying->batch);
    pl_exchange_fail(x, status, err);
}

static void import_work(struct pl_exchange *x)
{
    struct pl_str from = pl_body_text(x, "from"), intent = pl_body_text(x, "intent"), document;
    struct pl_convert_opts opts = {
        .max_items = PL_MAX_ITEMS,
        .from = from.len ? pl_format_find(from) : NULL,
        .to = pl_format_find(PL_STR("turns")),
        .says_links = true, /* a turn has no other place for media */
        .needs_no_carry = true,
    };
    if (from.len && !opts.from) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "There is no format %.*s.",
                            (int)(from.len < 80 ? from.len : 80), from.ptr);
        return;
    }
    struct importing *importing = x->state;
    enum pl_status status = document_of(x, &document);
    if (status == PL_OK && !store_media(x, opts.from, &document, &status))
        return;
    struct pl_copying *copying = begin_copying(x);
    importing->copying = copying;
    x->state = importing;
    if (!copying)
        return;
    struct pl_error err = {0};
    struct pl_converted converted;
    pl_converted_init(&converted);
    if (status == PL_OK)
        status = pl_convert(document, &opts, &converted, &err);
    struct pl_str turns =
        status == PL_OK ? pl_arena_dup(&x->arena, pl_buf_str(&converted.out)) : (struct pl_str){0};
    if (status == PL_OK)
        status = turns.ptr ? pl_copying_add_document(copying, &x->arena, turns, &err) : PL_NOMEM;
    pl_converted_deinit(&converted);
    copying->record.intent = intent.ptr ? intent : PL_STR("Imported conversation");
    copying->record.model = pl_body_text(x, "model");
    if (status != PL_OK)
        fail_copying(x, copying, status, &err);
}

static void read_import(struct pl_exchange *x);

static void import_is_read(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    if (!x->is_problem && pl_media_wants(&importing->media)) {
        pl_media_fetch(&importing->media, x, read_import);
        return;
    }
    x->state = importing->copying;
    finish_copying(x);
}

static void read_import(struct pl_exchange *x)
{
    if (x->is_problem)
        import_is_read(x);
    else
        pl_exchange_compute(x, import_work, import_is_read);
}

static void session_import(struct pl_exchange *x)
{
    x->state = pl_exchange_room(x, sizeof(struct importing));
    if (x->state)
        read_import(x);
}

/* --- fork ------------------------------------------------------------------------------------ */

static enum pl_status copy_turn(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    pl_copying_add(walk->ctx, row);
    return PL_OK;
}

static void fork_work(struct pl_exchange *x)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_str turn_id = pl_body_text(x, "turn_id"), intent = pl_body_text(x, "intent");
    struct pl_copying *copying = begin_copying(x);
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
        fail_copying(x, copying, status, &err);
        return;
    }
    copying->record.intent = intent.ptr ? intent : record.intent;
    copying->record.model = record.model;
    copying->record.solution_id = record.solution_id;
    copying->record.biz_role_id = record.biz_role_id;
    copying->record.memory_enabled = record.memory_enabled;
    copying->record.is_planning = record.is_planning;
}

static void session_fork(struct pl_exchange *x)
{
    pl_exchange_work(x, fork_work, finish_copying);
}

/* --- replay ---------------------------------------------------------------------------------- */

static void replay_work(struct pl_exchange *x)
{
    struct pl_replay_plan *plan = pl_arena_zalloc(&x->arena, 1, sizeof *plan);
    struct pl_replay_wish wish = {
        .user_id = x->caller.user_id,
        .source_id = x->args[0],
        .from = pl_body_text(x, "from"),
        .speed = pl_body_raw(x, "speed"),
    };
    struct pl_error err = {0};
    x->state = plan;
    enum pl_status status =
        plan ? pl_replay_plan(x->shard->server->store, &x->arena, &wish, plan, &err) : PL_NOMEM;
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
    struct pl_ask *ask = pl_exchange_ask_create(x);
    if (!ask)
        return;
    struct pl_str intent = pl_body_text(x, "intent");
    ask->record.intent = intent.ptr ? intent : plan->intent;
    ask->record.model = plan->model;
    ask->record.replay_state = plan->replay_state;
    ask->says = plan->says;
    ask->n_says = plan->n_says;
    pl_ask_send(ask);
}

static void session_replay(struct pl_exchange *x)
{
    pl_exchange_work(x, replay_work, replay_planned);
}

/* --- handoff --------------------------------------------------------------------------------- */

static void handoff_work(struct pl_exchange *x)
{
    struct pl_error err = {0};
    struct pl_handoff_opts wish = {
        .target = pl_body_text(x, "target"),
        .objective = pl_body_text(x, "objective"),
        .status = pl_body_text(x, "status"),
        .next = pl_body_text(x, "next"),
        .summary = pl_body_text(x, "summary"),
    };
    enum pl_status status =
        pl_handoff_write(x->shard->server->store, x->args[0], wish, &x->reply, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void handoff_looked(struct pl_exchange *x, struct pl_ask *ask)
{
    pl_exchange_position(x, ask);
    pl_ask_deinit(ask);
    pl_exchange_work(x, handoff_work, NULL);
}

static void session_handoff(struct pl_exchange *x)
{
    pl_exchange_look(x, handoff_looked);
}

/* The packet is the first thing said in the new session, so that whoever goes on has all of it. */
static enum pl_status accept_packet(struct pl_exchange *x, struct pl_copying *copying,
                                    const struct pl_json_node *packet, struct pl_error *err)
{
    struct pl_buf text PL_CLEANUP_BUF, turn PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    pl_buf_init(&turn, 0);
    pl_json_write_pretty(&text, &x->body, packet);
    pl_buf_adds(
        &turn,
        "[{\"role\":\"user\",\"status\":\"completed\",\"blocks\":[{\"type\":\"text\",\"content\":");
    pl_json_quote(&turn, pl_buf_str(&text));
    pl_buf_adds(&turn, "}]}]");
    struct pl_str document = pl_arena_dup(&x->arena, pl_buf_str(&turn));
    if (text.status != PL_OK || turn.status != PL_OK || !document.ptr)
        return PL_NOMEM;
    return pl_copying_add_document(copying, &x->arena, document, err);
}

static void handoff_accept_work(struct pl_exchange *x)
{
    const struct pl_json_node *packet = pl_json_get(&x->body, x->body.root, PL_STR("packet"));
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct pl_handoff_reasons reasons = {0};
    enum pl_status status =
        pl_json_parse(&x->arena, pl_json_span(&x->body, packet), NULL, &doc, &err);
    if (status == PL_OK)
        status = pl_handoff_check(&x->arena, &doc, NULL, pl_body_text(x, "agent"), &reasons, &err);
    if (status == PL_OK && reasons.list.len) {
        const struct pl_handoff_reason *reason = &reasons.list.ptr[0];
        status =
            pl_fail(&err, PL_INVALID, "The handoff is refused: %.*s", PL_STR_ARG(reason->message));
        pl_error_point(&err, "/packet%.*s", PL_STR_ARG(reason->pointer));
    }
    pl_handoff_reasons_deinit(&reasons);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_copying *copying = begin_copying(x);
    if (!copying)
        return;
    status = accept_packet(x, copying, packet, &err);
    const struct pl_json_node *objective = NULL;
    struct pl_str intent = PL_STR("Handoff");
    if (status == PL_OK &&
        pl_json_pointer_get(&doc, PL_STR("/context/primary_objective"), &objective, NULL) ==
            PL_OK &&
        pl_json_kind(objective) == PL_JSON_STRING)
        status = pl_json_text(&x->arena, &doc, objective, &intent);
    copying->record.intent = intent;
    if (status != PL_OK)
        fail_copying(x, copying, status, &err);
}

static void handoff_accept(struct pl_exchange *x)
{
    pl_exchange_compute(x, handoff_accept_work, finish_copying);
}

/* --- share links ----------------------------------------------------------------------------- */

struct sharing {
    char token[PL_TICKET_SIZE + 1];
    uint8_t hash[32];
    struct pl_id id;
    int64_t created_ms;
};

static void put_share(struct pl_ask *ask, struct pl_batch *batch)
{
    struct pl_exchange *x = pl_ask_exchange(ask);
    const struct sharing *sharing = x->state;
    pl_ask_claim(ask, batch);
    pl_batch_put_share(batch, &(struct pl_share_row){
                                  .id = pl_str_of(sharing->id.text),
                                  .user_id = x->caller.user_id,
                                  .session_id = x->args[0],
                                  .hash = {(const char *)sharing->hash, sizeof sharing->hash},
                                  .created_ms = sharing->created_ms,
                              });
}

/* `token` NULL: as it is kept. */
static void write_share(struct pl_exchange *x, const char *token, struct pl_buf *to)
{
    const struct sharing *sharing = x->state;
    struct pl_json_out out = pl_json_out(to);
    char path[sizeof "/api/share/" + PL_TICKET_SIZE];
    snprintf(path, sizeof path, "/api/share/%s", token ? token : "");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "id");
    pl_json_out_text(&out, pl_str_of(sharing->id.text));
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, x->args[0]);
    const char *const secrets[][2] = {{"token", token}, {"path", path}};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        pl_json_out_key(&out, secrets[i][0]);
        if (token)
            pl_json_out_text(&out, pl_str_of(secrets[i][1]));
        else
            pl_json_out_null(&out);
    }
    pl_put_time(&out, "created_at", sharing->created_ms);
    pl_json_out_close(&out, '}');
}

/* The token is in the first answer and nowhere else: what a repetition of the request gets, and
 * what is stored for it, is without. False when out of memory. */
static bool keep_without_token(struct pl_exchange *x)
{
    PL_CLEANUP_BUF struct pl_buf kept;
    pl_buf_init(&kept, 0);
    write_share(x, NULL, &kept);
    x->status = 201;
    if (kept.status == PL_OK)
        pl_exchange_own(x)->kept_reply = pl_arena_dup(&x->arena, pl_buf_str(&kept));
    return pl_exchange_own(x)->kept_reply.ptr != NULL;
}

static void shared(struct pl_exchange *x, struct pl_ask *ask)
{
    const struct sharing *sharing = x->state;
    write_share(x, sharing->token, &x->reply);
    pl_ask_deinit(ask);
    pl_exchange_finish(x);
}

static void session_share(struct pl_exchange *x)
{
    struct sharing *sharing = pl_arena_zalloc(&x->arena, 1, sizeof *sharing);
    struct pl_ask *ask = sharing ? pl_exchange_ask(x, PL_ASK_EVENT, x->args[0], shared) : NULL;
    if (sharing && !ask)
        return; /* answered already */
    if (!ask || !pl_secret_make(sharing->token)) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, NULL);
        pl_exchange_finish(x);
        return;
    }
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    sharing->id = pl_id_take(&seed, "share_");
    sharing->created_ms = seed.unix_ms;
    pl_secret_hash(pl_str_of(sharing->token), sharing->hash);
    x->state = sharing;
    if (!keep_without_token(x)) {
        pl_ask_deinit(ask);
        pl_exchange_fail(x, PL_NOMEM, NULL);
        pl_exchange_finish(x);
        return;
    }
    ask->event.kind = PL_SE_SETTINGS;
    ask->event.settings.has_shared = true;
    ask->event.settings.shared = true;
    ask->extend = put_share;
    pl_ask_send(ask);
}

static void share_work(struct pl_exchange *x)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_page_args args;
    if (!pl_exchange_page_args(x, &args))
        return;
    uint8_t hash[32];
    pl_secret_hash(x->args[0], hash);
    struct pl_share_row share = {0};
    struct pl_session_record record = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_store_share_find(
        store, &x->arena, (struct pl_str){(const char *)hash, sizeof hash}, &share, &err);
    if (status == PL_OK)
        status =
            pl_store_session_get(store, &x->arena, share.user_id, share.session_id, &record, &err);
    if (status == PL_OK && !record.shared)
        status = PL_NOT_FOUND;
    struct pl_turn_query query = {
        .session_id = share.session_id,
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

static const struct pl_route_param export_params[] = {
    {"format", "{\"type\":\"string\"}", "Name of a format; turns if not said"},
    {NULL, NULL, NULL},
};
static const struct pl_route_param share_params[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}", "How many; 20 if not said"},
    {"before", "{\"type\":\"integer\",\"minimum\":0}", "Only turns before this sequence"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_copies[] = {
    {PL_METHOD_GET, "/api/sessions/{id}/export", 0, session_export, "session_export",
     "Write a session in any format", "copies", NULL, "Exported", 200, export_params,
     .max_reply = PL_MAX_EXPORT},
    {PL_METHOD_POST, "/api/sessions/import", PL_ROUTE_IDEMPOTENT | PL_ROUTE_LARGE, session_import,
     "session_import", "Make a session of a document in any format", "copies", "ImportRequest",
     "Session", 201, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/fork", PL_ROUTE_IDEMPOTENT, session_fork, "session_fork",
     "Copy a session up to a turn, to go on elsewhere", "copies", "ForkRequest", "Session", 201,
     NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/replay", PL_ROUTE_IDEMPOTENT, session_replay,
     "session_replay", "Play a session again, in a new one that runs nothing", "copies",
     "ReplayRequest", "Session", 201, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/handoff", 0, session_handoff, "session_handoff",
     "Make a packet that hands the task over", "copies", "HandoffRequest", "Handoff", 200, NULL},
    {PL_METHOD_POST, "/api/handoffs", PL_ROUTE_IDEMPOTENT, handoff_accept, "handoff_accept",
     "Accept a packet: a session that goes on with it", "copies", "HandoffAccept", "Session", 201,
     NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/share", PL_ROUTE_IDEMPOTENT, session_share,
     "session_share", "Make a link that lets anybody read", "copies", NULL, "ShareLink", 201, NULL},
    {PL_METHOD_GET, "/api/share/{token}", PL_ROUTE_PUBLIC, share_get, "share_get",
     "Read a shared session", "copies", NULL, "SharedSession", 200, share_params},
    {0},
};

/* Hands a task from agent to agent: packets made from sessions, sessions made from packets. */
#include "agent/context/handoff.h"
#include "handoff/handoff.h"
#include "http/routes/route.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"
#include "service/sessions/copies/copying.h"
#include "service/sessions/routes.h"
#include "service/sessions/session_request.h"

static void handoff_work(struct pl_exchange *x)
{
    struct pl_error err = {0};
    struct pl_handoff_opts options = {0};
    struct pl_handoff_of of = {x->caller.user_id, x->args[0]};
    enum pl_status status = pl_handoff_opts_read(&x->arena, &x->body, x->body.root, &options);
    if (status == PL_OK)
        status = pl_handoff_write(x->shard->server->store, &of, options, &x->reply, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void handoff_looked(struct pl_exchange *x, struct pl_session_command *command)
{
    pl_exchange_position(x, command);
    pl_session_command_deinit(command);
    pl_exchange_work(x, handoff_work, NULL);
}

static void session_handoff(struct pl_exchange *x)
{
    pl_exchange_look(x, handoff_looked);
}

/* The packet is the first message of the new session, so that the next agent has all of it. */
static enum pl_status accept_packet(struct pl_exchange *x, struct pl_session_copy *copying,
                                    const struct pl_json_doc *packet, struct pl_error *err)
{
    struct pl_buf text PL_CLEANUP_BUF, turn PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    pl_buf_init(&turn, 0);
    pl_json_write_pretty(&text, packet, packet->root);
    pl_buf_adds(
        &turn,
        "[{\"role\":\"user\",\"status\":\"completed\",\"blocks\":[{\"type\":\"text\",\"content\":");
    pl_json_quote(&turn, pl_buf_str(&text));
    pl_buf_adds(&turn, "}]}]");
    struct pl_str document = pl_arena_dup(&x->arena, pl_buf_str(&turn));
    if (text.status != PL_OK || turn.status != PL_OK || !document.ptr)
        return PL_NOMEM;
    return pl_session_copy_add_document(copying, &x->arena, document, err);
}

/* A member of the body as its own document, so that pointers are relative to it. *ret_doc has no
 * root if it is absent. */
static enum pl_status member_of(struct pl_exchange *x, const char *name,
                                struct pl_json_doc *ret_doc)
{
    *ret_doc = x->body;
    ret_doc->root = pl_json_get(&x->body, x->body.root, pl_str_of(name));
    if (!ret_doc->root)
        return PL_OK;
    return pl_json_parse(&x->arena, pl_json_span(&x->body, ret_doc->root), &pl_json_own, ret_doc,
                         NULL);
}

/* Collects the reasons to refuse the packet of the body. */
static enum pl_status check_body(struct pl_exchange *x, struct pl_json_doc *ret_packet,
                                 struct pl_handoff_reasons *ret_reasons, struct pl_error *err)
{
    struct pl_json_doc previous;
    enum pl_status status = member_of(x, "packet", ret_packet);
    if (status == PL_OK)
        status = member_of(x, "previous", &previous);
    ret_reasons->lang = pl_exchange_wants_chinese(x) ? PL_SCHEMA_ZH : PL_SCHEMA_EN;
    if (status == PL_OK)
        status = pl_handoff_check(&x->arena, ret_packet, previous.root ? &previous : NULL,
                                  pl_body_text(x, "agent"), ret_reasons, err);
    return status;
}

/* Makes a problem with all reasons. */
static void refuse(struct pl_exchange *x, const struct pl_handoff_reasons *reasons)
{
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        reasons->lang == PL_SCHEMA_ZH ? "移交被拒绝：%.*s"
                                                      : "The handoff is refused: %.*s",
                        PL_STR_ARG(reasons->list.ptr[0].message));
    if (x->reply.status != PL_OK)
        return;
    x->reply.len--;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_buf_adds(&x->reply, ",\"errors\":");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < reasons->list.len; i++) {
        char pointer[512];
        snprintf(pointer, sizeof pointer, "/packet%.*s", PL_STR_ARG(reasons->list.ptr[i].pointer));
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "pointer");
        pl_json_out_text(&out, pl_str_of(pointer));
        pl_json_out_key(&out, "detail");
        pl_json_out_text(&out, reasons->list.ptr[i].message);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_buf_addc(&x->reply, '}');
}

static void create_session(struct pl_exchange *x, const struct pl_json_doc *packet)
{
    struct pl_error err = {0};
    struct pl_session_copy *copying = pl_copying_begin(x);
    if (!copying)
        return;
    enum pl_status status = accept_packet(x, copying, packet, &err);
    const struct pl_json_node *objective = NULL;
    struct pl_str intent = PL_STR("Handoff");
    if (status == PL_OK &&
        pl_json_pointer_get(packet, PL_STR("/context/primary_objective"), &objective, NULL) ==
            PL_OK &&
        pl_json_kind(objective) == PL_JSON_STRING)
        status = pl_json_text(&x->arena, packet, objective, &intent);
    copying->record.source = PL_STR("handoff");
    copying->record.intent = intent;
    copying->record.handoff = pl_json_span(packet, packet->root);
    if (status != PL_OK)
        pl_copying_fail(x, copying, status, &err);
}

static void handoff_accept_work(struct pl_exchange *x)
{
    struct pl_error err = {0};
    struct pl_json_doc packet;
    struct pl_handoff_reasons reasons = {0};
    enum pl_status status = check_body(x, &packet, &reasons, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (reasons.list.len)
        refuse(x, &reasons);
    else
        create_session(x, &packet);
    pl_handoff_reasons_deinit(&reasons);
}

/* Only checks a packet. */
static void handoff_check_work(struct pl_exchange *x)
{
    struct pl_error err = {0};
    struct pl_json_doc packet;
    struct pl_handoff_reasons reasons = {0};
    enum pl_status status = check_body(x, &packet, &reasons, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "valid");
    pl_json_out_bool(&out, reasons.list.len == 0);
    pl_json_out_key(&out, "errors");
    pl_handoff_reasons_write(&out, &reasons);
    pl_json_out_close(&out, '}');
    pl_handoff_reasons_deinit(&reasons);
}

static void handoff_check(struct pl_exchange *x)
{
    pl_exchange_compute(x, handoff_check_work, NULL);
}

static void handoff_accept(struct pl_exchange *x)
{
    pl_exchange_compute(x, handoff_accept_work, pl_copying_finish);
}

const struct pl_route pl_routes_handoffs[] = {
    {PL_METHOD_POST, "/api/sessions/{id}/handoff", 0, PL_FOR_SESSIONS, session_handoff,
     "session_handoff", "Make a handoff packet for the task", "copies", "HandoffRequest", "Handoff",
     200, NULL},
    {PL_METHOD_POST, "/api/handoffs", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS, handoff_accept,
     "handoff_accept", "Accept a handoff packet: creates a session that continues the task",
     "copies", "HandoffAccept", "Session", 201, NULL, .tells = "session:updated"},
    {PL_METHOD_POST, "/api/handoffs/check", 0, PL_FOR_SESSIONS | PL_FOR_READ, handoff_check,
     "handoff_check", "Check a handoff packet, also against the previous one", "copies",
     "HandoffAccept", "HandoffChecked", 200, NULL},
    {0},
};

/* The turns of a session: history, chat, questions, compaction, context. */
#include "agent/chat_message.h"
#include "agent/context/request.h"
#include "base/table.h"
#include "conv/count.h"
#include "document/count.h"
#include "http/routes/route.h"
#include "http/trace.h"
#include "io/clock.h"
#include "json/text.h"
#include "json/write.h"
#include "live/turn_page.h"
#include "model/facts.h"
#include "service/request_options.h"
#include "service/sessions/said_media.h"
#include "service/sessions/chat_stream.h"
#include "service/sessions/next_request.h"
#include "service/sessions/routes.h"
#include "service/sessions/view/view.h"
#include "service/sessions/session_request.h"
#include "wire/language.h"

/* --- history --------------------------------------------------------------------------------- */

/* view=context omits turns that the newest compaction has archived. */
static enum pl_status begin_at_compaction(struct pl_exchange *x, struct pl_turn_query *query,
                                          struct pl_error *err)
{
    if (!pl_str_eq(pl_target_param(&x->target, "view"), PL_STR("context")))
        return PL_OK;
    struct pl_turn_row compaction;
    enum pl_status status = pl_store_turn_last_compaction(
        x->shard->server->store, &x->arena, query->session_id,
        query->loop_id.len ? query->loop_id : PL_STR("root"), &compaction, err);
    if (status == PL_OK && compaction.sequence - 1 > query->after)
        query->after = compaction.sequence - 1;
    return status == PL_NOT_FOUND ? PL_OK : status;
}

static void messages_work(struct pl_exchange *x)
{
    const struct pl_session_command *command = x->state;
    struct pl_page_args args;
    if (!pl_exchange_page_args(x, &args))
        return;
    struct pl_turn_query query = {
        .session_id = command->session_id,
        .loop_id = pl_target_param(&x->target, "loop_id"),
        .before = INT64_MAX,
        .after = -1,
        .changed_after = -1,
        .limit = args.limit,
        .max_bytes = PL_PAGE_BYTES,
    };
    if (!pl_param_sequence(x, "before", &query.before) || !pl_param_after(x, &query.after))
        return;
    query.is_newest_first = !pl_target_param(&x->target, "after").ptr;
    struct pl_session_snapshot look;
    struct pl_error err = {0};
    struct pl_turn_page_end end = {0};
    enum pl_status status = begin_at_compaction(x, &query, &err);
    if (status == PL_OK)
        status = pl_session_snapshot_read(&x->arena, pl_buf_str(&command->reply), command->position,
                                          &look, &err);
    pl_buf_addc(&x->reply, '[');
    if (status == PL_OK)
        status = pl_turn_page_write(x->shard->server->store, &x->arena, &query, &look, &x->reply,
                                    &end, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    pl_buf_addc(&x->reply, ']');
    pl_exchange_header(x, "X-Total-Count", "%lld", (long long)command->next_entry);
    pl_exchange_header(x, "X-Has-More", "%s", end.has_more ? "true" : "false");
    if (end.has_more && end.edge >= 0)
        pl_exchange_header(x, "X-Next-Cursor", "%lld", (long long)end.edge);
}

static void end_ask(struct pl_exchange *x)
{
    pl_session_command_deinit(x->state);
    pl_exchange_finish(x);
}

static void messages_looked(struct pl_exchange *x, struct pl_session_command *command)
{
    x->state = command;
    pl_exchange_position(x, command);
    pl_exchange_work(x, messages_work, end_ask);
}

static void session_messages(struct pl_exchange *x)
{
    pl_exchange_look(x, messages_looked);
}

static void turn_work(struct pl_exchange *x)
{
    struct pl_turn_row row;
    struct pl_error err = {0};
    enum pl_status status =
        pl_store_turn_get(x->shard->server->store, &x->arena, x->args[0], x->args[1], &row, &err);
    if (status == PL_OK)
        status = pl_turn_row_write(&row, &x->reply);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

/* Reads what the session has answered to a look, and answers with its position. */
static enum pl_status read_look(struct pl_exchange *x, const struct pl_session_command *command,
                                struct pl_session_snapshot *ret_look, struct pl_error *err)
{
    pl_exchange_position(x, command);
    return pl_session_snapshot_read(&x->arena, pl_buf_str(&command->reply), command->position,
                                    ret_look, err);
}

/* Looks among the open turns and in the store, both at one position. */
static void turn_looked(struct pl_exchange *x, struct pl_session_command *command)
{
    struct pl_session_snapshot look;
    struct pl_error err = {0};
    enum pl_status status = read_look(x, command, &look, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        x->state = command;
        end_ask(x);
        return;
    }
    const struct pl_json_node *open = pl_json_get(&look.doc, look.doc.root, PL_STR("open_turns"));
    for (const struct pl_json_node *turn = pl_json_first(open); turn < pl_json_end(open);
         turn = pl_json_next(turn)) {
        const struct pl_json_node *id = pl_json_get(&look.doc, turn, PL_STR("turn_id"));
        if (id && pl_json_text_is(&look.doc, id, x->args[1]))
            pl_buf_add(&x->reply, pl_json_span(&look.doc, turn));
    }
    pl_session_command_deinit(command);
    if (x->reply.len)
        pl_exchange_finish(x);
    else
        pl_exchange_work(x, turn_work, NULL);
}

static void session_turn_get(struct pl_exchange *x)
{
    pl_exchange_look(x, turn_looked);
}

/* --- chat ------------------------------------------------------------------------------------ */

static void refuse(struct pl_exchange *x, struct pl_session_command *command, enum pl_status status,
                   const struct pl_error *err)
{
    pl_session_command_deinit(command);
    pl_exchange_fail(x, status, err);
    pl_exchange_finish(x);
}

/* Media are stored before the session gets them. */
struct saying {
    struct pl_media_keep keep;
    struct pl_exchange *x;
    struct pl_session_command *command;
};

static void is_kept(struct pl_media_keep *keep)
{
    struct saying *saying = PL_CONTAINER_OF(keep, struct saying, keep);
    if (pl_said_media_take(keep, &saying->command->event) == PL_OK)
        pl_session_command_send(saying->command);
    else
        refuse(saying->x, saying->command, keep->status, &keep->err);
}

static void send_said(struct pl_exchange *x, struct pl_session_command *command)
{
    if (!pl_said_media_has(&x->body, x->body.root, &command->event)) {
        pl_session_command_send(command);
        return;
    }
    struct saying *saying = pl_arena_zalloc(&x->arena, 1, sizeof *saying);
    if (!saying) {
        refuse(x, command, PL_NOMEM, NULL);
        return;
    }
    *saying = (struct saying){.x = x, .command = command};
    saying->keep = (struct pl_media_keep){
        .shard = x->shard, .user_id = x->caller.user_id, .arena = &x->arena, .done = is_kept};
    pl_said_media_keep(&saying->keep, &command->event);
}

static void session_chat(struct pl_exchange *x)
{
    bool is_stream = pl_chat_stream_is_wanted(x);
    struct pl_session_command *command =
        pl_exchange_ask(x, PL_COMMAND_EVENT, x->args[0], is_stream ? pl_chat_stream_open : NULL);
    if (!command)
        return;
    struct pl_error err = {0};
    struct pl_chat_of of = {x->setup->models, x->shard->server->ext, x->caller.user_id};
    enum pl_status status =
        pl_chat_parse(&of, &x->arena, &x->body, x->body.root, &command->event, &err);
    if (status != PL_OK) {
        refuse(x, command, status, &err);
        return;
    }
    if (is_stream && !pl_chat_stream_check(x, &command->event)) {
        pl_session_command_deinit(command);
        pl_exchange_finish(x);
        return;
    }
    struct pl_str language = pl_http_header_get(x->head, "accept-language");
    pl_chat_set_language(&command->event, pl_language_wants_chinese(language));
    if (command->event.kind == PL_SE_CHAT) {
        command->event.chat.trace_id = pl_trace_id(x);
        command->event.chat.key_id = x->caller.key_id;
    } else {
        command->event.answer.trace_id = pl_trace_id(x);
        command->event.answer.key_id = x->caller.key_id;
    }
    send_said(x, command);
}

static void session_stop(struct pl_exchange *x)
{
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_EVENT, x->args[0], NULL);
    if (!command)
        return;
    command->event.kind = PL_SE_STOP;
    pl_session_command_send(command);
}

static void session_compact(struct pl_exchange *x)
{
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_EVENT, x->args[0], NULL);
    if (!command)
        return;
    command->event.kind = PL_SE_COMPACT;
    command->event.compact.trigger = PL_STR("manual");
    command->event.compact.loop_id = pl_body_text(x, "loop_id");
    pl_session_command_send(command);
}

/* --- questions ------------------------------------------------------------------------------- */

static void questions_looked(struct pl_exchange *x, struct pl_session_command *command)
{
    struct pl_session_snapshot look;
    struct pl_error err = {0};
    enum pl_status status = read_look(x, command, &look, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
    } else {
        pl_buf_adds(&x->reply, "{\"items\":");
        pl_buf_add(&x->reply, pl_session_snapshot_member(&look, "questions"));
        pl_buf_addc(&x->reply, '}');
    }
    pl_session_command_deinit(command);
    pl_exchange_finish(x);
}

static void session_questions(struct pl_exchange *x)
{
    pl_exchange_look(x, questions_looked);
}

/* The question was answered before: the same answer is fine, another one is a conflict. */
static void repeats_work(struct pl_exchange *x)
{
    const struct pl_session_command *command = x->state;
    struct pl_error err = {0};
    enum pl_problem problem = pl_answer_repeats(x->shard->server->store, &x->arena, x->args[0],
                                                &command->event, &x->reply, &err);
    if (problem != PL_PROBLEM_COUNT)
        pl_exchange_problem(x, problem, &err, NULL);
}

static void answer_done(struct pl_session_command *command)
{
    struct pl_exchange *x = pl_session_command_exchange(command);
    if (command->problem == PL_PROBLEM_QUESTION_NOT_PENDING) {
        x->state = command;
        pl_exchange_work(x, repeats_work, end_ask);
    } else if (command->problem != PL_PROBLEM_COUNT) {
        pl_exchange_answer_problem(x, command);
    } else {
        pl_exchange_answer(x, command);
    }
}

static void session_answer(struct pl_exchange *x)
{
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_EVENT, x->args[0], NULL);
    if (!command)
        return;
    command->event.kind = PL_SE_ANSWER;
    command->event.answer.tool_call_id = x->args[1];
    command->event.answer.answer = pl_body_raw(x, "answer");
    command->event.answer.trace_id = pl_trace_id(x);
    command->event.answer.key_id = x->caller.key_id;
    command->done = answer_done;
    pl_session_command_send(command);
}

/* --- tools of the client --------------------------------------------------------------------- */

static void session_tool_result(struct pl_exchange *x)
{
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_EVENT, x->args[0], NULL);
    if (!command)
        return;
    command->event.kind = PL_SE_CLIENT_RESULT;
    command->event.tool.tool_call_id = x->args[1];
    command->event.tool.result = pl_body_raw(x, "result");
    command->event.tool.is_error = pl_body_bool(x, "is_error", false);
    command->done = answer_done;
    send_said(x, command);
}

/* --- context --------------------------------------------------------------------------------- */

/* The next request to the model of a loop, if it answered the newest message now. */
struct viewing {
    struct pl_request request;
    struct pl_segments segments;
    struct pl_context_items *items;
};

static void write_segment(struct pl_json_out *out, const struct viewing *viewing,
                          enum pl_segment_kind kind)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "kind");
    pl_json_out_text(out, pl_str_of(pl_segment_name(kind)));
    pl_json_out_key(out, "tokens");
    pl_json_out_int(out, (int64_t)viewing->segments.by[kind]);
    pl_json_out_key(out, "items");
    pl_context_items_write(out, viewing->items, kind);
    pl_json_out_close(out, '}');
}

/* The context window, the size that triggers an automatic summary, and the room reserved for an
 * answer. */
static void write_window(struct pl_exchange *x, struct pl_json_out *out,
                         const struct viewing *viewing)
{
    const struct pl_model_info *info = pl_model_find(x->setup->models, viewing->request.model);
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n = pl_model_targets(x->setup->models, viewing->request.model, targets);
    const struct pl_model_facts *facts =
        n && targets[0].vendor ? pl_model_facts_find(targets[0].model) : NULL;
    int64_t window = info ? info->context_window : 0;
    pl_json_out_key(out, "context_window");
    pl_json_out_int(out, window);
    pl_json_out_key(out, "compact_at");
    pl_json_out_int(out, window * PL_SESSION_FULL_PERCENT / 100);
    pl_json_out_key(out, "reserve");
    pl_json_out_int(out, facts && facts->max_output < window ? facts->max_output : 0);
}

/* The turns that the next summary would replace: the session's turns in the request, oldest
 * first. They follow the leading system turns. */
static enum pl_status write_trimmed(struct pl_exchange *x, struct pl_json_out *out,
                                    const struct pl_request *request)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&x->arena, request->turns, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    size_t n = pl_json_count(doc.root), n_front = n > request->n_turns ? n - request->n_turns : 0;
    pl_json_out_key(out, "next_trimmed");
    pl_json_out_open(out, '[');
    for (const struct pl_json_node *turn = pl_json_first(doc.root); turn < pl_json_end(doc.root);
         turn = pl_json_next(turn)) {
        const struct pl_json_node *id = pl_json_member(&doc, turn, "turn_id", PL_JSON_STRING);
        if (n_front)
            n_front--;
        else if (id)
            pl_json_out_raw(out, pl_json_span(&doc, id));
    }
    pl_json_out_close(out, ']');
    return PL_OK;
}

static enum pl_status write_context(struct pl_exchange *x, const struct viewing *viewing)
{
    const struct pl_counted *counted = &viewing->segments.counted;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, x->args[0]);
    pl_json_out_key(&out, "model");
    pl_json_out_text(&out, viewing->request.model);
    pl_json_out_key(&out, "format");
    pl_json_out_text(&out, pl_str_of(counted->as->name));
    pl_json_out_key(&out, "turns");
    pl_json_out_int(&out, (int64_t)viewing->request.n_turns);
    pl_json_out_key(&out, "tokens");
    pl_json_out_int(&out, (int64_t)counted->n_tokens);
    pl_json_out_key(&out, "estimated");
    pl_json_out_bool(&out, counted->is_estimated);
    pl_json_out_key(&out, "segments");
    pl_json_out_open(&out, '[');
    for (int i = 0; i < PL_SEGMENT_KIND_COUNT; i++)
        write_segment(&out, viewing, (enum pl_segment_kind)i);
    pl_json_out_close(&out, ']');
    write_window(x, &out, viewing);
    enum pl_status status = write_trimmed(x, &out, &viewing->request);
    pl_json_out_key(&out, "memory_refs");
    if (viewing->request.recall.n)
        pl_json_out_raw(&out, viewing->request.recall.refs);
    else
        pl_json_out_null(&out);
    pl_json_out_key(&out, "media_notes");
    pl_json_out_raw(&out,
                    viewing->request.media_notes.len ? viewing->request.media_notes : PL_STR("[]"));
    pl_json_out_close(&out, '}');
    return status;
}

static enum pl_status view_context(struct pl_exchange *x, struct viewing *viewing,
                                   struct pl_error *err)
{
    enum pl_status status = pl_exchange_read_request(x, &viewing->request, err);
    if (status == PL_OK)
        status = pl_request_count(&viewing->request, x->setup->models, &viewing->segments, err);
    if (status == PL_OK)
        status = pl_context_items_read(&x->arena, &viewing->request, &viewing->segments.counted,
                                       &viewing->items, err);
    return status;
}

static void context_work(struct pl_exchange *x)
{
    struct viewing viewing = {0};
    struct pl_error err = {0};
    enum pl_status status = view_context(x, &viewing, &err);
    if (status == PL_OK)
        status = write_context(x, &viewing);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void context_looked(struct pl_exchange *x, struct pl_session_command *command)
{
    pl_exchange_position(x, command);
    pl_session_command_deinit(command);
    pl_exchange_work(x, context_work, NULL);
}

static void session_context(struct pl_exchange *x)
{
    pl_exchange_look(x, context_looked);
}

static const struct pl_route_param message_params[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}",
     "The maximum number; 20 by default"},
    {"before", "{\"type\":\"integer\",\"minimum\":0}", "Only turns before this sequence"},
    {"after", "{\"type\":\"integer\",\"minimum\":-1}",
     "Only turns after this sequence, oldest first; -1 begins with the first turn"},
    {"loop_id", "{\"type\":\"string\"}", "Only this loop"},
    {"view", "{\"type\":\"string\",\"enum\":[\"all\",\"context\"]}",
     "context omits archived turns of a compaction"},
    {NULL, NULL, NULL},
};
static const struct pl_route_param loop_params[] = {
    {"loop_id", "{\"type\":\"string\"}", "The loop; root by default"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_turns[] = {
    {PL_METHOD_GET, "/api/sessions/{id}/messages", PL_ROUTE_LARGE, PL_FOR_SESSIONS | PL_FOR_READ,
     session_messages, "session_messages", "Read turns, newest first by default", "turns", NULL,
     "TurnList", 200, message_params},
    {PL_METHOD_GET, "/api/sessions/{id}/turns/{turn_id}", PL_ROUTE_LARGE,
     PL_FOR_SESSIONS | PL_FOR_READ, session_turn_get, "session_turn_get", "Read one turn", "turns",
     NULL, "TurnProjection", 200, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/chat",
     PL_ROUTE_IDEMPOTENT | PL_ROUTE_LARGE | PL_ROUTE_STORED, PL_FOR_SESSIONS, session_chat,
     "session_chat",
     "Send a message; with Accept: text/event-stream, the events of the chat to its end", "turns",
     "ChatRequest", "ChatAccepted", 202, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/stop", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS, session_stop,
     "session_stop", "Stop everything in the session", "turns", NULL, "Stopped", 200, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/compact", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS,
     session_compact, "session_compact", "Summarise the conversation to free context", "turns",
     "CompactRequest", "Compacting", 202, NULL},
    {PL_METHOD_GET, "/api/sessions/{id}/questions", 0, PL_FOR_SESSIONS | PL_FOR_READ,
     session_questions, "session_questions", "List the open questions", "turns", NULL,
     "QuestionList", 200, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/questions/{tool_call_id}/answer", PL_ROUTE_IDEMPOTENT,
     PL_FOR_SESSIONS, session_answer, "session_answer", "Answer a question, once", "turns",
     "QuestionAnswer", "Answered", 200, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/tool-calls/{tool_call_id}/result",
     PL_ROUTE_IDEMPOTENT | PL_ROUTE_LARGE | PL_ROUTE_STORED, PL_FOR_SESSIONS, session_tool_result,
     "session_tool_result", "Give the result of a call that the client runs, once", "turns",
     "ToolResultGiven", "Answered", 200, NULL},
    {PL_METHOD_GET, "/api/sessions/{id}/context", PL_ROUTE_LARGE, PL_FOR_SESSIONS | PL_FOR_READ,
     session_context, "session_context", "Count the tokens of the model's context", "turns", NULL,
     "ContextView", 200, loop_params},
    {0},
};

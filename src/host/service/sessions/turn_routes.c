/* What is said in a session: history, chat, questions, compaction, context. */
#include "conv/count.h"
#include "format/count_document.h"
#include "io/clock.h"
#include "json/text.h"
#include "json/write.h"
#include "server/asking.h"
#include "server/chatting.h"
#include "server/context.h"
#include "server/recall.h"
#include "server/route.h"
#include "server/turn_page.h"
#include "server/wishes.h"

/* --- history --------------------------------------------------------------------------------- */

/* view=context leaves out what the newest compaction has archived. */
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
    const struct pl_ask *ask = x->state;
    struct pl_page_args args;
    if (!pl_exchange_page_args(x, &args))
        return;
    struct pl_turn_query query = {
        .session_id = ask->session_id,
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
    struct pl_look look;
    struct pl_error err = {0};
    struct pl_turn_page_end end = {0};
    enum pl_status status = begin_at_compaction(x, &query, &err);
    if (status == PL_OK)
        status = pl_look_read(&x->arena, pl_buf_str(&ask->reply), ask->position, &look, &err);
    pl_buf_addc(&x->reply, '[');
    if (status == PL_OK)
        status = pl_turn_page_write(x->shard->server->store, &x->arena, &query, &look, &x->reply,
                                    &end, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    pl_buf_addc(&x->reply, ']');
    pl_exchange_header(x, "X-Total-Count", "%lld", (long long)ask->next_entry);
    pl_exchange_header(x, "X-Has-More", "%s", end.has_more ? "true" : "false");
    if (end.has_more && end.edge >= 0)
        pl_exchange_header(x, "X-Next-Cursor", "%lld", (long long)end.edge);
}

static void end_ask(struct pl_exchange *x)
{
    pl_ask_deinit(x->state);
    pl_exchange_finish(x);
}

static void messages_looked(struct pl_exchange *x, struct pl_ask *ask)
{
    x->state = ask;
    pl_exchange_position(x, ask);
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

/* Found among the open ones, or to be looked for in the store: both at one position. */
static void turn_looked(struct pl_exchange *x, struct pl_ask *ask)
{
    struct pl_look look;
    struct pl_error err = {0};
    pl_exchange_position(x, ask);
    enum pl_status status =
        pl_look_read(&x->arena, pl_buf_str(&ask->reply), ask->position, &look, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        x->state = ask;
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
    pl_ask_deinit(ask);
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

static void session_chat(struct pl_exchange *x)
{
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_EVENT, x->args[0], NULL);
    if (!ask)
        return;
    struct pl_error err = {0};
    enum pl_status status =
        pl_chat_parse(x->setup->models, &x->arena, &x->body, x->body.root, &ask->event, &err);
    if (status != PL_OK) {
        pl_ask_deinit(ask);
        pl_exchange_fail(x, status, &err);
        pl_exchange_finish(x);
        return;
    }
    pl_ask_send(ask);
}

static void session_stop(struct pl_exchange *x)
{
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_EVENT, x->args[0], NULL);
    if (!ask)
        return;
    ask->event.kind = PL_SE_STOP;
    pl_ask_send(ask);
}

static void session_compact(struct pl_exchange *x)
{
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_EVENT, x->args[0], NULL);
    if (!ask)
        return;
    ask->event.kind = PL_SE_COMPACT;
    ask->event.compact.trigger = PL_STR("manual");
    ask->event.compact.loop_id = pl_body_text(x, "loop_id");
    pl_ask_send(ask);
}

/* --- questions ------------------------------------------------------------------------------- */

static void questions_looked(struct pl_exchange *x, struct pl_ask *ask)
{
    struct pl_look look;
    struct pl_error err = {0};
    pl_exchange_position(x, ask);
    enum pl_status status =
        pl_look_read(&x->arena, pl_buf_str(&ask->reply), ask->position, &look, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
    } else {
        pl_buf_adds(&x->reply, "{\"items\":");
        pl_buf_add(&x->reply, pl_look_member(&look, "questions"));
        pl_buf_addc(&x->reply, '}');
    }
    pl_ask_deinit(ask);
    pl_exchange_finish(x);
}

static void session_questions(struct pl_exchange *x)
{
    pl_exchange_look(x, questions_looked);
}

/* A question that was answered already: the same answer again is fine, another is a conflict. */
static void answered_before_work(struct pl_exchange *x)
{
    struct pl_error err = {0};
    enum pl_status status = pl_answer_repeats(x->shard->server->store, &x->arena, x->args[0],
                                              x->args[1], pl_body_raw(x, "answer"), &err);
    if (status == PL_OK)
        pl_answer_write_repeated(&x->reply, x->args[1]);
    else if (status == PL_CONFLICT)
        pl_exchange_problem(x, PL_PROBLEM_QUESTION_NOT_PENDING, &err, NULL);
    else
        pl_exchange_fail(x, status, &err);
}

static void answer_done(struct pl_ask *ask)
{
    struct pl_exchange *x = pl_ask_exchange(ask);
    if (ask->problem == PL_PROBLEM_QUESTION_NOT_PENDING) {
        pl_ask_deinit(ask);
        pl_exchange_work(x, answered_before_work, NULL);
        return;
    }
    if (ask->problem != PL_PROBLEM_COUNT)
        pl_exchange_answer_problem(x, ask);
    else
        pl_exchange_answer(x, ask);
}

static void session_answer(struct pl_exchange *x)
{
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_EVENT, x->args[0], NULL);
    if (!ask)
        return;
    ask->event.kind = PL_SE_ANSWER;
    ask->event.answer.tool_call_id = x->args[1];
    ask->event.answer.answer = pl_body_raw(x, "answer");
    ask->done = answer_done;
    pl_ask_send(ask);
}

/* --- context --------------------------------------------------------------------------------- */

/* What the next model call of a loop would be told, were it to answer the newest message. */
struct viewing {
    size_t n_turns;
    struct pl_recall recall;
    struct pl_counted counted; /* of the turns */
    uint64_t n_memory;         /* tokens the memories add */
};

static void write_segment(struct pl_json_out *out, const char *kind, uint64_t n_tokens)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "kind");
    pl_json_out_text(out, pl_str_of(kind));
    pl_json_out_key(out, "tokens");
    pl_json_out_int(out, (int64_t)n_tokens);
    pl_json_out_close(out, '}');
}

static void write_context(struct pl_exchange *x, const struct viewing *viewing)
{
    const struct pl_counted *counted = &viewing->counted;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, x->args[0]);
    pl_json_out_key(&out, "turns");
    pl_json_out_int(&out, (int64_t)viewing->n_turns);
    pl_json_out_key(&out, "tokens");
    pl_json_out_int(&out, (int64_t)(counted->n_tokens + viewing->n_memory));
    pl_json_out_key(&out, "estimated");
    pl_json_out_bool(&out, counted->is_estimated);
    pl_json_out_key(&out, "segments");
    pl_json_out_open(&out, '[');
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        write_segment(&out, pl_tally_name((enum pl_tally_kind)i), counted->by[i]);
    write_segment(&out, "memory", viewing->n_memory);
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "memory_refs");
    if (viewing->recall.n)
        pl_json_out_raw(&out, viewing->recall.refs);
    else
        pl_json_out_null(&out);
    pl_json_out_close(&out, '}');
}

static enum pl_status count_context(const struct pl_context *context, struct pl_str front,
                                    struct pl_counted *ret_counted, struct pl_error *err)
{
    struct pl_buf turns PL_CLEANUP_BUF;
    pl_buf_init(&turns, 0);
    enum pl_status status = pl_context_write(context, front, &turns);
    if (status != PL_OK)
        return status;
    return pl_count_document(pl_buf_str(&turns), pl_format_find(PL_STR("turns")),
                             &(struct pl_count_choice){0}, ret_counted, err);
}

static enum pl_status view_context(struct pl_exchange *x, struct viewing *viewing,
                                   struct pl_error *err)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_str id = x->args[0], loop_id = pl_target_param(&x->target, "loop_id");
    loop_id = loop_id.len ? loop_id : PL_STR("root");
    struct pl_session_record record;
    struct pl_context context;
    struct pl_counted with_memory = {0};
    enum pl_status status =
        pl_store_session_get(store, &x->arena, x->caller.user_id, id, &record, err);
    if (status == PL_OK)
        status = pl_context_read(store, &x->arena, id, loop_id, &context, err);
    if (status == PL_OK)
        status = pl_context_find_asked(store, &x->arena, id, loop_id, &context, err);
    if (status == PL_OK && record.memory_enabled && pl_recall_is_for(loop_id, record.model))
        status = pl_recall_read(store, &x->arena, record.user_id, &context, pl_clock_unix_ms(),
                                &viewing->recall, err);
    if (status == PL_OK && record.status != PL_SESSION_RUNNING)
        context.has_asked = false; /* what comes next is a new message */
    if (status == PL_OK)
        status = count_context(&context, (struct pl_str){0}, &viewing->counted, err);
    if (status != PL_OK)
        return status;
    viewing->n_turns = context.n_turns;
    if (!viewing->recall.n)
        return PL_OK;
    status = count_context(&context, viewing->recall.text, &with_memory, err);
    viewing->n_memory = with_memory.n_tokens - viewing->counted.n_tokens;
    return status;
}

static void context_work(struct pl_exchange *x)
{
    struct viewing viewing = {0};
    struct pl_error err = {0};
    enum pl_status status = view_context(x, &viewing, &err);
    if (status == PL_OK)
        write_context(x, &viewing);
    else
        pl_exchange_fail(x, status, &err);
}

static void context_looked(struct pl_exchange *x, struct pl_ask *ask)
{
    pl_exchange_position(x, ask);
    pl_ask_deinit(ask);
    pl_exchange_work(x, context_work, NULL);
}

static void session_context(struct pl_exchange *x)
{
    pl_exchange_look(x, context_looked);
}

static const struct pl_route_param message_params[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}", "How many; 20 if not said"},
    {"before", "{\"type\":\"integer\",\"minimum\":0}", "Only turns before this sequence"},
    {"after", "{\"type\":\"integer\",\"minimum\":-1}",
     "Only turns after this sequence, oldest first; -1 begins with the first turn"},
    {"loop_id", "{\"type\":\"string\"}", "Only this loop"},
    {"view", "{\"type\":\"string\",\"enum\":[\"all\",\"context\"]}",
     "context leaves out what a compaction has archived"},
    {NULL, NULL, NULL},
};
static const struct pl_route_param loop_params[] = {
    {"loop_id", "{\"type\":\"string\"}", "The loop; root if not said"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_turns[] = {
    {PL_METHOD_GET, "/api/sessions/{id}/messages", PL_ROUTE_LARGE, session_messages,
     "session_messages", "Read turns, the newest unless said otherwise", "turns", NULL, "TurnList",
     200, message_params},
    {PL_METHOD_GET, "/api/sessions/{id}/turns/{turn_id}", PL_ROUTE_LARGE, session_turn_get,
     "session_turn_get", "Read one turn", "turns", NULL, "TurnProjection", 200, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/chat", PL_ROUTE_IDEMPOTENT, session_chat, "session_chat",
     "Say something", "turns", "ChatRequest", "ChatAccepted", 202, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/stop", PL_ROUTE_IDEMPOTENT, session_stop, "session_stop",
     "Stop everything the session is doing", "turns", NULL, "Stopped", 200, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/compact", PL_ROUTE_IDEMPOTENT, session_compact,
     "session_compact", "Sum up what was said, to make room", "turns", "CompactRequest",
     "Compacting", 202, NULL},
    {PL_METHOD_GET, "/api/sessions/{id}/questions", 0, session_questions, "session_questions",
     "List the questions that wait for an answer", "turns", NULL, "QuestionList", 200, NULL},
    {PL_METHOD_POST, "/api/sessions/{id}/questions/{tool_call_id}/answer", PL_ROUTE_IDEMPOTENT,
     session_answer, "session_answer", "Answer a question, once", "turns", "QuestionAnswer",
     "Answered", 200, NULL},
    {PL_METHOD_GET, "/api/sessions/{id}/context", 0, session_context, "session_context",
     "Count what goes to the model", "turns", NULL, "ContextView", 200, loop_params},
    {0},
};

/* The tool calls of a turn. They start when the model has finished, in the order the model made
 * them, at most PL_SESSION_MAX_PARALLEL at once. A call that cannot run gets an error that the
 * model can act on.
 *
 * Every session has two tools: AskUserQuestion asks a person (question.c), and Agent starts a loop;
 * the last text of that loop is the result. */
#include "session/session_int.h"

#include "json/text.h"

enum { MAX_HALT = 64 << 10 }; /* a longer text is only a result */

void pl_tool_call_set_status(struct pl_step *x, struct pl_turn *turn, struct pl_tool_call *call,
                             enum pl_tool_call_status status)
{
    if (call->status != status && !pl_tool_call_may_become(call->status, status))
        return;
    call->status = status;
    struct pl_json_out out = pl_patch_begin(x, turn, "set_tool_status", true);
    pl_out_member(&out, "tool_call_id", pl_str_of(call->id.text));
    pl_out_member(&out, "status", pl_str_of(pl_tool_call_status_text(status)));
    pl_out_json(&out, "pending_question_ref", call->ref);
    if (call->is_client)
        pl_out_member(&out, "runs", PL_STR("client"));
    pl_patch_end(x, turn, &out);
}

static struct pl_str error_of(struct pl_step *x, enum pl_tool_error error, struct pl_str reason)
{
    pl_buf_clear(&x->out->text);
    pl_tool_error_write(&x->out->text, error, reason);
    return pl_step_take_text(x);
}

void pl_tool_call_settle(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                         bool is_error, struct pl_str result, int64_t duration_ms)
{
    struct pl_turn *turn = loop->turn;
    if (result.len > PL_SESSION_MAX_RESULT) {
        is_error = true;
        result = error_of(x, PL_TOOL_ERROR_TOO_LARGE,
                          PL_STR("The result is over 1 MiB and was not kept; ask for less of it"));
    }
    enum pl_tool_call_status status = is_error ? PL_TOOL_CALL_ERROR : PL_TOOL_CALL_DONE;
    if (!pl_tool_call_may_become(call->status, status))
        return;
    call->status = status;
    call->result = pl_turn_keep(turn, result);
    call->duration_ms = duration_ms < 0 ? 0 : duration_ms;
    call->ref = (struct pl_str){0};
    struct pl_json_out out = pl_patch_begin(x, turn, "tool_result", true);
    pl_out_member(&out, "tool_call_id", pl_str_of(call->id.text));
    pl_out_json(&out, "result", call->result);
    pl_out_member(&out, "status", pl_str_of(pl_tool_call_status_text(status)));
    pl_json_out_key(&out, "duration_ms");
    pl_json_out_int(&out, call->duration_ms);
    pl_patch_end(x, turn, &out);
    pl_turn_add_result(turn, (size_t)(call - turn->calls.ptr));
    loop->is_due = true;
}

static int64_t time_since(const struct pl_step *x, int64_t started_ms)
{
    return started_ms && x->now_ms > started_ms ? x->now_ms - started_ms : 0;
}

void pl_tool_call_fail(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                       enum pl_tool_error error, struct pl_str reason)
{
    pl_tool_call_settle(x, loop, call, true, error_of(x, error, reason),
                        time_since(x, call->started_ms));
}

/* --- the tools of every session -------------------------------------------------------------- */

static void start_question(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                           const struct pl_json_doc *doc)
{
    char wrong[PL_QUESTIONS_WRONG];
    const struct pl_json_node *questions = pl_questions_check(doc, doc->root, wrong);
    if (questions)
        pl_question_ask(x, loop, call, PL_STR("ask"), pl_json_span(doc, questions));
    else
        pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_ARGUMENTS, pl_str_of(wrong));
}

static struct pl_str text_member(struct pl_step *x, const struct pl_json_doc *doc, const char *key)
{
    const struct pl_json_node *n = pl_json_get(doc, doc->root, pl_str_of(key));
    struct pl_str text = {0};
    if (n && pl_json_kind(n) == PL_JSON_STRING)
        x->is_oom |= pl_json_text(&x->out->arena, doc, n, &text) != PL_OK;
    return text;
}

static void start_agent(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                        const struct pl_json_doc *doc)
{
    struct pl_str prompt = text_member(x, doc, "prompt"), model = text_member(x, doc, "model");
    if (!prompt.len) {
        pl_tool_call_fail(
            x, loop, call, PL_TOOL_ERROR_ARGUMENTS,
            PL_STR("The arguments are wrong at \"/prompt\": it must be a string that is "
                   "not empty"));
        return;
    }
    if (loop->depth + 1 >= PL_SESSION_MAX_DEPTH) {
        pl_tool_call_fail(
            x, loop, call, PL_TOOL_ERROR_LIMIT,
            PL_STR("Agents may be nested at most 8 deep; do this without another one"));
        return;
    }
    if (!model.len && loop->model)
        model = pl_str_of(loop->model);
    struct pl_agent_loop *child =
        pl_agent_loop_add(x, loop, pl_str_of(call->id.text), model, loop->context_window);
    struct pl_turn *user = child ? pl_turn_create(x, child, PL_TURN_ROLE_USER) : NULL;
    struct pl_block *block = user ? pl_turn_add_block(user, PL_BLOCK_TEXT) : NULL;
    if (!block) {
        x->is_oom = true;
        pl_turn_destroy(user);
        return;
    }
    pl_buf_add(&block->text, prompt);
    user->is_oom |= block->text.status != PL_OK;
    pl_turn_say(x, user);
    pl_agent_loop_call_model(x, child);
}

/* A tool and its start function. */
static const struct builtin {
    const char *tool_name;
    void (*start)(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                  const struct pl_json_doc *doc);
} builtins[] = {
    {"AskUserQuestion", start_question},
    {"Agent", start_agent},
};

static const struct builtin *builtin_of(struct pl_str tool_name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (pl_str_eq(pl_str_of(builtins[i].tool_name), tool_name))
            return &builtins[i];
    return NULL;
}

/* --- starting -------------------------------------------------------------------------------- */

static void run_tool(struct pl_step *x, const struct pl_agent_loop *loop,
                     const struct pl_tool_call *call)
{
    struct pl_session_effect effect = {
        .kind = PL_EFFECT_RUN_TOOL,
        .loop_id = pl_str_of(loop->id.text),
        .turn_id = pl_str_of(loop->turn->id.text),
        .mode = x->s->mode,
        .tool_call_id = pl_str_of(call->id.text),
        .tool_name = call->tool_name,
        .arguments = call->arguments,
        .is_confirmed = call->is_confirmed || pl_tool_is_allowed(x->s, call->tool_name),
    };
    pl_step_want(x, &effect);
}

/* Reads the arguments as a document in the arena of the out; false after an error result. */
static bool read_arguments(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                           struct pl_json_doc *ret_doc)
{
    struct pl_error why;
    struct pl_str text = call->changed.len ? call->changed : call->arguments;
    enum pl_status status = pl_json_parse(&x->out->arena, text, NULL, ret_doc, &why);
    if (status == PL_NOMEM) {
        x->is_oom = true;
        return false;
    }
    if (status == PL_OK && pl_json_kind(ret_doc->root) == PL_JSON_OBJECT)
        return true;
    if (status == PL_OK)
        pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_ARGUMENTS,
                          PL_STR("The arguments must be a JSON object"));
    else
        pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_ARGUMENTS, pl_str_of(why.message));
    return false;
}

static void start(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call)
{
    struct pl_json_doc doc;
    call->is_started = true;
    call->started_ms = x->now_ms;
    if (call->is_over) {
        pl_tool_call_fail(
            x, loop, call, PL_TOOL_ERROR_LIMIT,
            PL_STR("Not run: the limit of 128 tool calls for one message was reached"));
        return;
    }
    if (call->is_unknown) {
        PL_CLEANUP_BUF struct pl_buf words;
        pl_buf_init(&words, 0);
        pl_buf_adds(&words, "There is no tool ");
        pl_buf_add(&words, call->tool_name);
        pl_buf_addc(&words, '.');
        x->is_oom |= words.status != PL_OK;
        if (!x->is_oom)
            pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_UNKNOWN_TOOL, pl_buf_str(&words));
        return;
    }
    if (!read_arguments(x, loop, call, &doc))
        return;
    const struct builtin *builtin = builtin_of(call->tool_name);
    call->is_gated = builtin && x->out->gates_calls && !call->is_admitted;
    if (builtin && !call->is_gated)
        builtin->start(x, loop, call, &doc);
    else
        run_tool(x, loop, call);
}

/* The host admits the call. */
enum pl_status pl_step_tool_go(struct pl_step *x)
{
    struct pl_agent_loop *loop = NULL;
    struct pl_tool_call *call = pl_tool_call_find(x->s, x->event->tool.tool_call_id, &loop);
    if (!call || !call->is_started || call->status != PL_TOOL_CALL_PENDING || !call->is_gated)
        return PL_OK;
    call->is_admitted = true;
    if (x->event->tool.result.len)
        call->changed = pl_turn_keep(loop->turn, x->event->tool.result);
    start(x, loop, call);
    loop->is_due = true;
    return PL_OK;
}

static size_t n_running(const struct pl_turn *turn)
{
    size_t n = 0;
    for (size_t i = 0; i < turn->calls.len; i++)
        n += turn->calls.ptr[i].is_started && turn->calls.ptr[i].status == PL_TOOL_CALL_PENDING;
    return n;
}

void pl_tool_calls_start(struct pl_step *x, struct pl_agent_loop *loop)
{
    struct pl_turn *turn = loop->turn;
    size_t n = n_running(turn);
    for (size_t i = 0; i < turn->calls.len && !x->is_oom && !turn->is_oom; i++) {
        struct pl_tool_call *call = &turn->calls.ptr[i];
        if (call->is_started || call->status != PL_TOOL_CALL_PENDING)
            continue;
        if (n >= PL_SESSION_MAX_PARALLEL)
            break;
        start(x, loop, call);
        n += call->status == PL_TOOL_CALL_PENDING;
    }
}

/* --- results --------------------------------------------------------------------------------- */

/* {"status":"halted","reason":"human_confirmation_required","message"?} (seed 001), as an object or
 * as its text: the tool has done nothing and needs a person's approval. */
static bool is_halted(struct pl_step *x, const struct pl_json_doc *result,
                      struct pl_json_doc *ret_halt)
{
    struct pl_str text = {0};
    *ret_halt = *result;
    if (pl_json_kind(result->root) == PL_JSON_STRING && result->text.len < MAX_HALT) {
        x->is_oom |= pl_json_text(&x->out->arena, result, result->root, &text) != PL_OK;
        if (!text.len || text.ptr[0] != '{')
            return false;
        enum pl_status status = pl_json_parse(&x->out->arena, text, NULL, ret_halt, NULL);
        x->is_oom |= status == PL_NOMEM;
        if (status != PL_OK)
            return false;
    }
    if (pl_json_kind(ret_halt->root) != PL_JSON_OBJECT)
        return false;
    return pl_str_eq(text_member(x, ret_halt, "status"), PL_STR("halted")) &&
           pl_str_eq(text_member(x, ret_halt, "reason"), PL_STR("human_confirmation_required"));
}

static void ask_person(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                       const struct pl_json_doc *halt)
{
    struct pl_str message = text_member(x, halt, "message");
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '[');
    pl_json_out_open(&out, '{');
    pl_out_member(&out, "question",
                  message.len ? message : PL_STR("May this tool run with these arguments?"));
    pl_out_member(&out, "header", call->tool_name);
    pl_out_json(&out, "options", PL_STR("[{\"label\":\"approve\"},{\"label\":\"deny\"}]"));
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, ']');
    struct pl_str questions = pl_step_take_text(x);
    if (!x->is_oom)
        pl_question_ask(x, loop, call, PL_STR("confirm"), questions);
}

/* The result of a failed tool, as an error in the model's format. */
static struct pl_str wrapped(struct pl_step *x, const struct pl_json_doc *result)
{
    pl_buf_clear(&x->out->text);
    x->is_oom |=
        pl_tool_error_wrap(&x->out->text, PL_TOOL_ERROR_FAILED, result, result->root) != PL_OK;
    return pl_step_take_text(x);
}

enum pl_status pl_step_tool_result(struct pl_step *x)
{
    struct pl_agent_loop *loop = NULL;
    struct pl_tool_call *call = pl_tool_call_find(x->s, x->event->tool.tool_call_id, &loop);
    if (!call || !call->is_started || call->status != PL_TOOL_CALL_PENDING || call->is_client ||
        (builtin_of(call->tool_name) && !call->is_gated))
        return PL_OK;
    struct pl_str result = x->event->tool.result.len ? x->event->tool.result : PL_STR("null");
    struct pl_json_doc doc;
    if (result.len > 2 * PL_SESSION_MAX_RESULT) { /* too long even if half of it is white space */
        pl_tool_call_settle(x, loop, call, true, result, x->event->tool.duration_ms);
        return PL_OK;
    }
    enum pl_status status = pl_step_json(x, result, &doc);
    if (status == PL_NOMEM)
        return status;
    struct pl_json_doc halt;
    if (status == PL_OK && !call->is_confirmed && is_halted(x, &doc, &halt)) {
        ask_person(x, loop, call, &halt);
        return PL_OK;
    }
    char wrong[PL_META_WRONG];
    if (status == PL_OK && pl_meta_is_wrong(&doc, wrong)) {
        pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_INVALID_RESULT, pl_str_of(wrong));
        return PL_OK;
    }
    if (status == PL_OK) {
        bool is_error = x->event->tool.is_error;
        pl_tool_call_settle(x, loop, call, is_error, is_error ? wrapped(x, &doc) : doc.text,
                            x->event->tool.duration_ms);
        if (call->status == PL_TOOL_CALL_DONE)
            pl_planning_follow(x, loop->turn, call);
        return PL_OK;
    }
    /* Malformed output of a tool must not leave its call open. */
    x->out->refusal = PL_REFUSAL_NONE;
    pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_INVALID_RESULT,
                      PL_STR("The tool answered with something that is not valid JSON"));
    return PL_OK;
}

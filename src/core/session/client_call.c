/* A call of a tool that the client defined and runs. The call stays pending, with runs: "client",
 * until the client sends the result (once) or the deadline passes. It waits like a question: the
 * turn is paused, a row survives restarts, a stop cancels it. No person is asked, so there is no
 * question frame. */
#include "session/session_int.h"

#include "json/number.h"
#include "session/turn/media.h"

/* {"deadline_ms": unix time}, stored in the column of the questions. */
static struct pl_str write_terms(struct pl_step *x, int64_t deadline_ms)
{
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '{');
    if (deadline_ms) {
        pl_json_out_key(&out, "deadline_ms");
        pl_json_out_int(&out, deadline_ms);
    }
    pl_json_out_close(&out, '}');
    return pl_step_take_text(x);
}

void pl_client_call_load(struct pl_step *x, struct pl_question *question)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, question->questions, &pl_json_own, &doc, NULL);
    x->is_oom |= status == PL_NOMEM;
    const struct pl_json_node *deadline =
        status == PL_OK ? pl_json_member(&doc, doc.root, "deadline_ms", PL_JSON_NUMBER) : NULL;
    int64_t deadline_ms = 0;
    if (deadline && pl_json_number_int64(pl_json_span(&doc, deadline), &deadline_ms) &&
        deadline_ms > 0)
        question->deadline_ms = deadline_ms;
}

static int64_t deadline_after(const struct pl_step *x, int64_t wait_ms)
{
    int64_t deadline_ms;
    if (wait_ms <= 0 || __builtin_add_overflow(x->now_ms, wait_ms, &deadline_ms))
        return 0;
    return deadline_ms;
}

enum pl_status pl_step_tool_client(struct pl_step *x)
{
    struct pl_agent_loop *loop = NULL;
    struct pl_tool_call *call = pl_tool_call_find(x->s, x->event->tool.tool_call_id, &loop);
    if (!call || !call->is_started || call->status != PL_TOOL_CALL_PENDING || call->is_client ||
        pl_agent_loop_of_call(x->s, pl_str_of(call->id.text)))
        return PL_OK;
    int64_t deadline_ms = deadline_after(x, x->event->tool.wait_ms);
    struct pl_str terms = write_terms(x, deadline_ms);
    struct pl_question *question =
        x->is_oom ? NULL : pl_question_add(x, loop, call, PL_STR(PL_CLIENT_KIND), terms);
    if (!question)
        return PL_OK;
    question->is_client = true;
    question->deadline_ms = deadline_ms;
    call->is_client = true;
    pl_tool_call_set_status(x, loop->turn, call, PL_TOOL_CALL_PENDING);
    pl_step_tell_question(x, PL_FRAME_QUESTION_ASKED, question, PL_STR("pending"),
                          (struct pl_str){0});
    loop->is_due = true;
    pl_questions_refresh(x, loop);
    return PL_OK;
}

/* {"result": …, "is_error": true}: stored to recognise a repeated answer. */
static struct pl_str write_answer(struct pl_step *x, struct pl_str result, bool is_error)
{
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '{');
    pl_out_json(&out, "result", result);
    pl_json_out_key(&out, "is_error");
    pl_json_out_bool(&out, is_error);
    pl_json_out_close(&out, '}');
    return pl_step_take_text(x);
}

enum pl_status pl_step_client_result(struct pl_step *x)
{
    struct pl_str id = x->event->tool.tool_call_id;
    size_t i = pl_question_find(x->s, id);
    struct pl_agent_loop *loop = NULL;
    struct pl_tool_call *call = pl_tool_call_find(x->s, id, &loop);
    if (i == x->s->questions.len || !x->s->questions.ptr[i]->is_client || !call ||
        call->status != PL_TOOL_CALL_PENDING)
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_QUESTION_NOT_PENDING,
                              "No call with this id waits for its client");
    struct pl_json_doc result;
    enum pl_status status = pl_step_json(
        x, x->event->tool.result.len ? x->event->tool.result : PL_STR("null"), &result);
    if (status != PL_OK)
        return status;
    if (result.text.len > PL_SESSION_MAX_RESULT)
        return pl_step_refuse(x, PL_LIMIT, PL_REFUSAL_INVALID, "The result is over 1 MiB");
    size_t place;
    const char *wrong = pl_shown_wrong(&result, result.root, &place);
    if (wrong) {
        x->out->refusal = PL_REFUSAL_INVALID;
        status = pl_fail(x->err, PL_INVALID, "Part %zu of the result %s", place + 1, wrong);
        pl_error_point(x->err, "/result/%zu", place);
        return status;
    }
    bool is_error = x->event->tool.is_error;
    int64_t asked_ms = x->s->questions.ptr[i]->asked_ms;
    struct pl_str answer = write_answer(x, result.text, is_error);
    if (x->is_oom)
        return PL_OK;
    pl_question_settle(x, i, PL_STR("answered"), answer);
    pl_tool_call_settle(x, loop, call, is_error, result.text,
                        x->now_ms > asked_ms ? x->now_ms - asked_ms : 0);
    pl_questions_refresh(x, loop);
    pl_step_reply(x, "tool_call_id", id);
    return PL_OK;
}

void pl_client_calls_expire(struct pl_step *x)
{
    for (size_t i = 0; i < x->s->questions.len && !x->is_oom;) {
        const struct pl_question *question = x->s->questions.ptr[i];
        struct pl_agent_loop *loop = NULL;
        struct pl_tool_call *call = pl_tool_call_find(x->s, question->tool_call_id, &loop);
        if (!question->deadline_ms || question->deadline_ms > x->now_ms || !call) {
            i++;
            continue;
        }
        pl_question_settle(x, i, PL_STR("cancelled"), (struct pl_str){0});
        pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_TIMEOUT,
                          PL_STR("The client did not give the result of this tool in time"));
        pl_questions_refresh(x, loop);
    }
}

/* A question that does not stop the turn: an extension asks it during a call, a command or a hook.
 * It is published and answered like any other question, but no call changes its state for it, and
 * the answer goes to the extension (PL_EFFECT_TELL_ASIDE). It has no row, because it ends with the
 * process that asked: after a restart nobody would receive the answer. */
#include "session/session_int.h"

#include "json/text.h"

static struct pl_agent_loop *loop_of_turn(const struct pl_session *s, struct pl_str turn_id)
{
    for (size_t i = 0; i < s->loops.len; i++)
        if (s->loops.ptr[i]->turn && pl_str_eq(pl_str_of(s->loops.ptr[i]->turn->id.text), turn_id))
            return s->loops.ptr[i];
    return NULL;
}

static size_t n_open(const struct pl_session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->questions.len; i++)
        n += s->questions.ptr[i]->is_aside;
    return n;
}

static void add(struct pl_step *x, struct pl_agent_loop *loop, struct pl_str questions)
{
    struct pl_question *question = pl_mem_alloc(1, sizeof *question);
    if (!question || !pl_vec_push(&x->s->questions, question)) {
        pl_mem_free(question);
        x->is_oom = true;
        return;
    }
    *question = (struct pl_question){.asked_ms = x->now_ms, .is_aside = true};
    pl_arena_init(&question->arena, 0);
    const struct {
        struct pl_str *to;
        struct pl_str from;
    } texts[] = {
        {&question->tool_call_id, x->event->aside.id},
        {&question->turn_id, loop ? pl_str_of(loop->turn->id.text) : PL_STR("")},
        {&question->loop_id, loop ? pl_str_of(loop->id.text) : PL_STR("root")},
        {&question->kind, x->event->aside.kind},
        {&question->questions, questions},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i].to = pl_arena_dup(&question->arena, texts[i].from);
        x->is_oom |= !texts[i].to->ptr && texts[i].from.len;
    }
    if (x->is_oom)
        return;
    pl_step_tell_question(x, PL_FRAME_QUESTION_ASKED, question, PL_STR("pending"),
                          (struct pl_str){0});
    if (loop)
        pl_questions_refresh(x, loop);
}

enum pl_status pl_step_aside(struct pl_step *x)
{
    struct pl_str kind = x->event->aside.kind;
    if (!pl_str_eq(kind, PL_STR("ask")) && !pl_str_eq(kind, PL_STR("capability")))
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "An aside is an ask or a capability");
    if (!x->event->aside.id.len || pl_question_find(x->s, x->event->aside.id) < x->s->questions.len)
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_INVALID,
                              "A question needs an id that no other has");
    if (n_open(x->s) == PL_SESSION_MAX_ASIDES)
        return pl_step_refuse(x, PL_LIMIT, PL_REFUSAL_INVALID,
                              "This session has 16 open questions of extensions");
    struct pl_json_doc doc;
    char wrong[PL_QUESTIONS_WRONG];
    enum pl_status status = pl_step_json(x, x->event->aside.questions, &doc);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *questions = pl_questions_check(&doc, doc.root, wrong);
    if (!questions)
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID, wrong);
    add(x, loop_of_turn(x->s, x->event->aside.turn_id), pl_json_span(&doc, questions));
    return PL_OK;
}

static void tell(struct pl_step *x, struct pl_str id, struct pl_str answer)
{
    struct pl_session_effect effect = {
        .kind = PL_EFFECT_TELL_ASIDE,
        .tool_call_id = id,
        .arguments = answer,
    };
    pl_step_want(x, &effect);
}

/* Settles the question; the calls above its loop no longer show it. */
static void settle(struct pl_step *x, size_t index, const char *state, struct pl_str answer)
{
    struct pl_agent_loop *loop = loop_of_turn(x->s, x->s->questions.ptr[index]->turn_id);
    pl_question_settle(x, index, pl_str_of(state), answer);
    if (loop)
        pl_questions_refresh(x, loop);
}

enum pl_status pl_step_aside_end(struct pl_step *x)
{
    size_t i = pl_question_find(x->s, x->event->aside.id);
    if (i < x->s->questions.len && x->s->questions.ptr[i]->is_aside)
        settle(x, i, "cancelled", (struct pl_str){0});
    return PL_OK;
}

void pl_asides_cancel(struct pl_step *x, bool tells)
{
    for (size_t i = 0; i < x->s->questions.len;) {
        if (!x->s->questions.ptr[i]->is_aside) {
            i++;
            continue;
        }
        struct pl_str id = pl_step_keep(x, x->s->questions.ptr[i]->tool_call_id);
        settle(x, i, "cancelled", (struct pl_str){0});
        if (tells)
            tell(x, id, (struct pl_str){0});
    }
}

/* {approve, remember?: once|session|always, reason?}, no other members. */
static const char *wrong_with_capability(const struct pl_json_doc *doc)
{
    static const char *const words[] = {"once", "session", "always"};
    const struct pl_json_node *approve = pl_json_is(doc->root, PL_JSON_OBJECT)
                                             ? pl_json_get(doc, doc->root, PL_STR("approve"))
                                             : NULL;
    const struct pl_json_node *remember =
        approve ? pl_json_get(doc, doc->root, PL_STR("remember")) : NULL;
    if (!pl_json_is(approve, PL_JSON_TRUE) && !pl_json_is(approve, PL_JSON_FALSE))
        return "A capability must be answered with {\"approve\": true or false}";
    for (size_t i = 0; remember && i < sizeof words / sizeof *words; i++)
        if (pl_json_text_is(doc, remember, pl_str_of(words[i])))
            remember = NULL;
    return remember ? "remember is once, session or always" : NULL;
}

enum pl_status pl_aside_answer(struct pl_step *x, size_t index)
{
    struct pl_json_doc answer;
    enum pl_status status = pl_question_read_answer(x, &answer);
    if (status != PL_OK)
        return status;
    bool is_capability = pl_str_eq(x->s->questions.ptr[index]->kind, PL_STR("capability"));
    const char *wrong = is_capability ? wrong_with_capability(&answer) : NULL;
    if (wrong)
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID, wrong);
    settle(x, index, "answered", answer.text);
    tell(x, x->event->answer.tool_call_id, answer.text);
    pl_step_reply(x, "tool_call_id", x->event->answer.tool_call_id);
    return PL_OK;
}

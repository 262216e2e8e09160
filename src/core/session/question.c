/* Questions to a person. One mechanism serves the AskUserQuestion tool, tools that need a
 * confirmation, and capabilities that an extension requests: a call waits in awaiting_answer, its
 * row survives restarts, and it is answered once.
 *
 * A question of a child loop is also shown on the Agent calls of all loops above it
 * (pending_question_ref), so that a client that shows only the root sees what the session waits
 * for. */
#include "session/session_int.h"

#include "base/sha/sha256.h"
#include "json/text.h"

#include <stdio.h>

void pl_question_destroy(struct pl_question *question)
{
    if (!question)
        return;
    pl_arena_deinit(&question->arena);
    pl_mem_free(question);
}

/* --- checking questions ---------------------------------------------------------------------- */

static bool is_optional_text(const struct pl_json_doc *doc, const struct pl_json_node *object,
                             const char *key)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    return !n || pl_json_kind(n) == PL_JSON_STRING || pl_json_kind(n) == PL_JSON_NULL;
}

static bool is_text(const struct pl_json_doc *doc, const struct pl_json_node *object,
                    const char *key)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    return pl_json_is(n, PL_JSON_STRING) && n->len > 2;
}

static const char *wrong_with_option(const struct pl_json_doc *doc,
                                     const struct pl_json_node *option)
{
    if (!pl_json_is(option, PL_JSON_OBJECT) || !is_text(doc, option, "label"))
        return "an option must be an object with a label";
    return is_optional_text(doc, option, "description") ? NULL : "its description must be a string";
}

static const char *wrong_with_question(const struct pl_json_doc *doc,
                                       const struct pl_json_node *question)
{
    if (!pl_json_is(question, PL_JSON_OBJECT) || !is_text(doc, question, "question"))
        return "it must be an object with a question, which is a string";
    if (!is_optional_text(doc, question, "header"))
        return "its header must be a string";
    const struct pl_json_node *multi = pl_json_get(doc, question, PL_STR("multiSelect"));
    if (multi && !pl_json_is(multi, PL_JSON_TRUE) && !pl_json_is(multi, PL_JSON_FALSE))
        return "multiSelect must be true or false";
    return pl_json_is(pl_json_get(doc, question, PL_STR("options")), PL_JSON_ARRAY)
               ? NULL
               : "it needs options: an array of {label, description?}";
}

/* Finds the first error in the i-th question or its options; false: no error. */
static bool is_wrong(const struct pl_json_doc *doc, const struct pl_json_node *question, size_t i,
                     char ret_wrong[PL_QUESTIONS_WRONG])
{
    static const char start[] = "The arguments are wrong at";
    const char *wrong = wrong_with_question(doc, question);
    if (wrong) {
        snprintf(ret_wrong, PL_QUESTIONS_WRONG, "%s \"/questions/%zu\": %s", start, i, wrong);
        return true;
    }
    const struct pl_json_node *options = pl_json_get(doc, question, PL_STR("options"));
    size_t k = 0;
    for (const struct pl_json_node *n = pl_json_first(options); n < pl_json_end(options);
         n = pl_json_next(n), k++) {
        wrong = wrong_with_option(doc, n);
        if (!wrong)
            continue;
        snprintf(ret_wrong, PL_QUESTIONS_WRONG, "%s \"/questions/%zu/options/%zu\": %s", start, i,
                 k, wrong);
        return true;
    }
    return false;
}

const struct pl_json_node *pl_questions_check(const struct pl_json_doc *doc,
                                              const struct pl_json_node *root,
                                              char ret_wrong[PL_QUESTIONS_WRONG])
{
    const struct pl_json_node *questions =
        pl_json_is(root, PL_JSON_OBJECT) ? pl_json_get(doc, root, PL_STR("questions")) : NULL;
    size_t i = 0;
    if (!pl_json_is(questions, PL_JSON_ARRAY) || !pl_json_count(questions)) {
        snprintf(ret_wrong, PL_QUESTIONS_WRONG,
                 "The arguments are wrong at \"/questions\": it must be an array of {question, "
                 "header?, options, multiSelect?}");
        return NULL;
    }
    for (const struct pl_json_node *n = pl_json_first(questions); n < pl_json_end(questions);
         n = pl_json_next(n), i++)
        if (is_wrong(doc, n, i, ret_wrong))
            return NULL;
    return questions;
}

/* --- showing questions on the parents' calls ------------------------------------------------- */

static bool is_below(const struct pl_agent_loop *loop, const struct pl_agent_loop *above)
{
    while (loop && loop != above)
        loop = loop->parent;
    return loop;
}

static const struct pl_question *first_below(const struct pl_session *s,
                                             const struct pl_agent_loop *above)
{
    for (size_t i = 0; i < s->questions.len; i++)
        if (is_below(pl_agent_loop_find(s, s->questions.ptr[i]->loop_id), above))
            return s->questions.ptr[i];
    return NULL;
}

/* The text of the first question, as JSON. */
static struct pl_str description_of(struct pl_step *x, const struct pl_question *question)
{
    struct pl_json_doc doc;
    if (pl_step_json(x, question->questions, &doc) != PL_OK ||
        !pl_json_is(doc.root, PL_JSON_ARRAY) || !pl_json_count(doc.root))
        return (struct pl_str){0};
    const struct pl_json_node *text =
        pl_json_is(pl_json_first(doc.root), PL_JSON_OBJECT)
            ? pl_json_get(&doc, pl_json_first(doc.root), PL_STR("question"))
            : NULL;
    return text ? pl_json_span(&doc, text) : (struct pl_str){0};
}

static struct pl_str ref_of(struct pl_step *x, const struct pl_question *question)
{
    struct pl_str description = description_of(x, question);
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '{');
    pl_out_member(&out, "child_loop_name", question->loop_id);
    pl_out_member(&out, "child_tool_call_id", question->tool_call_id);
    pl_out_json(&out, "description", description);
    pl_json_out_close(&out, '}');
    return pl_step_take_text(x);
}

/* Updates the calls above this loop: each shows the first question below it, or none. */
void pl_questions_refresh(struct pl_step *x, struct pl_agent_loop *loop)
{
    for (; loop && loop->parent; loop = loop->parent) {
        struct pl_agent_loop *parent = NULL;
        struct pl_tool_call *call =
            pl_tool_call_find(x->s, pl_str_of(loop->parent_call_id.text), &parent);
        if (!call || parent != loop->parent)
            return;
        const struct pl_question *question = first_below(x->s, loop);
        struct pl_str ref = question ? ref_of(x, question) : (struct pl_str){0};
        parent->is_due = true;
        if (pl_str_eq(ref, call->ref))
            continue;
        call->ref = pl_turn_keep(parent->turn, ref);
        pl_tool_call_set_status(x, parent->turn, call,
                                question ? PL_TOOL_CALL_AWAITING : PL_TOOL_CALL_PENDING);
    }
}

bool pl_tool_call_waits(const struct pl_session *s, const struct pl_tool_call *call)
{
    if (call->is_client && call->status == PL_TOOL_CALL_PENDING)
        return true;
    if (call->status != PL_TOOL_CALL_AWAITING)
        return false;
    const struct pl_agent_loop *child = pl_agent_loop_of_call(s, pl_str_of(call->id.text));
    return !child || (child->turn && child->turn->status == PL_TURN_PAUSED);
}

/* --- asking and settling --------------------------------------------------------------------- */

static struct pl_str keep(struct pl_step *x, struct pl_question *question, struct pl_str s)
{
    struct pl_str copy = pl_arena_dup(&question->arena, s);
    x->is_oom |= !copy.ptr;
    return copy;
}

static void hash_arguments(const struct pl_tool_call *call, char ret_hex[PL_SHA256_HEX + 1])
{
    pl_sha256_hex(call->arguments, ret_hex);
}

/* Adds what the asker left out: `capability`, what a yes allows, as null; and `risk`, which is high
 * for a capability of an extension and medium otherwise. */
static void put_weight(struct pl_json_out *out, const struct pl_json_doc *doc,
                       const struct pl_json_node *question, struct pl_str kind)
{
    bool is_capability = pl_str_eq(kind, PL_STR("capability"));
    if (!pl_json_get(doc, question, PL_STR("capability"))) {
        pl_json_out_key(out, "capability");
        pl_json_out_null(out);
    }
    if (!pl_json_get(doc, question, PL_STR("risk")))
        pl_out_member(out, "risk", is_capability ? PL_STR("high") : PL_STR("medium"));
}

/* Adds to each question the call it is about and the hash of its arguments. */
static struct pl_str bind(struct pl_step *x, const struct pl_tool_call *call, struct pl_str kind,
                          struct pl_str questions)
{
    char hash[PL_SHA256_HEX + 1];
    struct pl_json_doc doc;
    if (pl_step_json(x, questions, &doc) != PL_OK) {
        x->is_oom = true;
        return questions;
    }
    hash_arguments(call, hash);
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *n = pl_json_first(doc.root); n < pl_json_end(doc.root);
         n = pl_json_next(n)) {
        pl_json_out_open(&out, '{');
        for (const struct pl_json_node *k = pl_json_first_member(n); k < pl_json_end(n);
             k = pl_json_next_member(k)) {
            struct pl_str key = {0};
            x->is_oom |= pl_json_text(&x->out->arena, &doc, k, &key) != PL_OK;
            pl_json_out_key_str(&out, key);
            pl_json_out_raw(&out, pl_json_span(&doc, k + 1));
        }
        pl_out_member(&out, "arguments_hash", pl_str_of(hash));
        pl_out_member(&out, "tool_name", call->tool_name);
        pl_out_member(&out, "display_name", call->display_name);
        pl_out_member(&out, "arguments", call->arguments);
        pl_out_member(&out, "scope_rule", call->tool_name);
        put_weight(&out, &doc, n, kind);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    return pl_step_take_text(x);
}

struct pl_question *pl_question_add(struct pl_step *x, const struct pl_agent_loop *loop,
                                    const struct pl_tool_call *call, struct pl_str kind,
                                    struct pl_str questions)
{
    struct pl_question *question = pl_mem_alloc(1, sizeof *question);
    if (!question || !pl_vec_push(&x->s->questions, question)) {
        pl_mem_free(question);
        x->is_oom = true;
        return NULL;
    }
    *question = (struct pl_question){.asked_ms = x->now_ms};
    pl_arena_init(&question->arena, 0);
    question->tool_call_id = keep(x, question, pl_str_of(call->id.text));
    question->turn_id = keep(x, question, pl_str_of(loop->turn->id.text));
    question->loop_id = keep(x, question, pl_str_of(loop->id.text));
    question->kind = keep(x, question, kind);
    question->questions = keep(x, question, questions);
    return x->is_oom ? NULL : question;
}

void pl_question_ask(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                     struct pl_str kind, struct pl_str questions)
{
    if (!pl_str_eq(kind, PL_STR("ask")))
        questions = bind(x, call, kind, questions);
    struct pl_question *question =
        x->is_oom ? NULL : pl_question_add(x, loop, call, kind, questions);
    if (!question)
        return;
    call->asked_ms = x->now_ms;
    pl_tool_call_set_status(x, loop->turn, call, PL_TOOL_CALL_AWAITING);
    pl_step_tell_question(x, PL_FRAME_QUESTION_ASKED, question, PL_STR("pending"),
                          (struct pl_str){0});
    loop->is_due = true;
    pl_questions_refresh(x, loop);
}

static struct pl_question *take(struct pl_session *s, size_t index)
{
    struct pl_question *question = s->questions.ptr[index];
    s->questions.len--;
    memmove(&s->questions.ptr[index], &s->questions.ptr[index + 1],
            (s->questions.len - index) * sizeof *s->questions.ptr);
    return question;
}

void pl_question_settle(struct pl_step *x, size_t index, struct pl_str state, struct pl_str answer)
{
    struct pl_question *question = take(x->s, index);
    pl_step_tell_question(x, PL_FRAME_QUESTION_RESOLVED, question, state, answer);
    pl_question_destroy(question);
}

void pl_questions_cancel(struct pl_step *x, const struct pl_turn *turn)
{
    for (size_t i = 0; i < x->s->questions.len;) {
        if (!x->s->questions.ptr[i]->is_aside &&
            pl_str_eq(x->s->questions.ptr[i]->turn_id, pl_str_of(turn->id.text)))
            pl_question_settle(x, i, PL_STR("cancelled"), (struct pl_str){0});
        else
            i++;
    }
}

/* --- answers --------------------------------------------------------------------------------- */

/* The content of an ask_user_answer is an object; any other answer is wrapped in one. */
static void add_answer_block(struct pl_step *x, struct pl_turn *turn,
                             const struct pl_tool_call *call, const struct pl_json_doc *answer)
{
    struct pl_str content = answer->text;
    if (pl_json_kind(answer->root) != PL_JSON_OBJECT) {
        pl_buf_clear(&x->out->text);
        struct pl_json_out out = pl_json_out(&x->out->text);
        pl_json_out_open(&out, '{');
        pl_out_json(&out, "answer", answer->text);
        pl_json_out_close(&out, '}');
        content = pl_step_take_text(x);
    }
    struct pl_block *block = pl_turn_add_block(turn, PL_BLOCK_ASK_USER_ANSWER);
    if (!block)
        return;
    block->content = pl_turn_keep(turn, content);
    block->tool_call_id = pl_turn_keep(turn, pl_str_of(call->id.text));
    block->tool_name = call->tool_name;
    block->display_name = call->display_name;
    pl_turn_tell_block(x, turn);
}

static void deny(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                 const struct pl_json_doc *answer)
{
    const struct pl_json_node *reason = pl_json_get(answer, answer->root, PL_STR("reason"));
    struct pl_str text = {0};
    if (pl_json_is(reason, PL_JSON_STRING))
        x->is_oom |= pl_json_text(&x->out->arena, answer, reason, &text) != PL_OK;
    PL_CLEANUP_BUF struct pl_buf words;
    pl_buf_init(&words, 0);
    pl_buf_adds(&words, text.len ? "Denied: " : "Denied");
    pl_buf_add(&words, text);
    x->is_oom |= words.status != PL_OK;
    if (!x->is_oom)
        pl_tool_call_fail(x, loop, call, PL_TOOL_ERROR_DENIED, pl_buf_str(&words));
}

bool pl_tool_is_allowed(const struct pl_session *s, struct pl_str tool_name)
{
    struct pl_str rest = s->record.allowed;
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        if (pl_str_eq(pl_str_slice(rest, 0, n), tool_name))
            return true;
        rest = pl_str_slice(rest, end ? n + 1 : n, rest.len);
    }
    return false;
}

/* Notes that this tool needs no further confirmation in this session. */
static void allow(struct pl_step *x, struct pl_str tool_name)
{
    PL_CLEANUP_BUF struct pl_buf names;
    pl_buf_init(&names, 0);
    if (pl_tool_is_allowed(x->s, tool_name))
        return;
    pl_buf_add(&names, x->s->record.allowed);
    pl_buf_add(&names, tool_name);
    pl_buf_addc(&names, '\n');
    x->is_oom |= names.status != PL_OK;
    if (!x->is_oom)
        pl_step_set_text(x, &x->s->record.allowed, pl_buf_str(&names));
    x->has_settings = true;
}

/* Gives the person's answer to the call that waited for it. */
static void give_answer(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                        bool is_ask, bool is_approved, const struct pl_json_doc *answer)
{
    call->answered_ms = x->now_ms;
    if (is_ask) {
        int64_t since = call->started_ms ? call->started_ms : x->now_ms;
        pl_tool_call_settle(x, loop, call, false, answer->text,
                            x->now_ms > since ? x->now_ms - since : 0);
        add_answer_block(x, loop->turn, call, answer);
    } else if (is_approved) {
        const struct pl_json_node *scope = pl_json_get(answer, answer->root, PL_STR("scope"));
        if (pl_json_is(scope, PL_JSON_STRING) && pl_json_text_is(answer, scope, PL_STR("session")))
            allow(x, call->tool_name);
        call->is_confirmed = true;
        call->is_started = false; /* it starts like any other call, when there is room */
        pl_tool_call_set_status(x, loop->turn, call, PL_TOOL_CALL_PENDING);
    } else {
        deny(x, loop, call, answer);
    }
    loop->is_due = true;
    pl_questions_refresh(x, loop);
}

/* An approval is valid only for the arguments that were shown. Whether the answer names others, by
 * their hash. */
static bool means_others(const struct pl_tool_call *call, const struct pl_json_doc *answer)
{
    char hash[PL_SHA256_HEX + 1];
    const struct pl_json_node *said = pl_json_get(answer, answer->root, PL_STR("arguments_hash"));
    hash_arguments(call, hash);
    return said &&
           !(pl_json_is(said, PL_JSON_STRING) && pl_json_text_is(answer, said, pl_str_of(hash)));
}

size_t pl_question_find(const struct pl_session *s, struct pl_str tool_call_id)
{
    size_t i = 0;
    while (i < s->questions.len && !pl_str_eq(s->questions.ptr[i]->tool_call_id, tool_call_id))
        i++;
    return i;
}

enum pl_status pl_question_read_answer(struct pl_step *x, struct pl_json_doc *ret_answer)
{
    enum pl_status status = pl_step_json(x, x->event->answer.answer, ret_answer);
    if (status == PL_OK && ret_answer->text.len > PL_SESSION_MAX_RESULT)
        return pl_step_refuse(x, PL_LIMIT, PL_REFUSAL_INVALID, "The answer is over 1 MiB");
    return status;
}

enum pl_status pl_step_answer(struct pl_step *x)
{
    size_t i = pl_question_find(x->s, x->event->answer.tool_call_id);
    struct pl_agent_loop *loop = NULL;
    struct pl_tool_call *call = pl_tool_call_find(x->s, x->event->answer.tool_call_id, &loop);
    if (i < x->s->questions.len && x->s->questions.ptr[i]->is_aside)
        return pl_aside_answer(x, i);
    if (i == x->s->questions.len || x->s->questions.ptr[i]->is_client || !call ||
        call->status != PL_TOOL_CALL_AWAITING)
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_QUESTION_NOT_PENDING,
                              "No question with this id is waiting for an answer");
    struct pl_json_doc answer;
    enum pl_status status = pl_question_read_answer(x, &answer);
    if (status != PL_OK)
        return status;
    bool is_ask = pl_str_eq(x->s->questions.ptr[i]->kind, PL_STR("ask"));
    const struct pl_json_node *approve = pl_json_is(answer.root, PL_JSON_OBJECT)
                                             ? pl_json_get(&answer, answer.root, PL_STR("approve"))
                                             : NULL;
    bool is_approved = pl_json_is(approve, PL_JSON_TRUE);
    if (!is_ask && !is_approved && !pl_json_is(approve, PL_JSON_FALSE))
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "A confirmation must be answered with {\"approve\": true or false}");
    const struct pl_json_node *scope =
        !is_ask ? pl_json_get(&answer, answer.root, PL_STR("scope")) : NULL;
    if (scope && !(pl_json_is(scope, PL_JSON_STRING) &&
                   (pl_json_text_is(&answer, scope, PL_STR("once")) ||
                    pl_json_text_is(&answer, scope, PL_STR("session")))))
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "The scope of an approval is \"once\" or \"session\"");
    if (!is_ask && means_others(call, &answer))
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "The answer is for other arguments: its arguments_hash is not that "
                              "of the question");
    if (x->event->answer.trace_id.len)
        pl_step_set_trace(x, x->event->answer.trace_id);
    pl_step_set_key(x, x->event->answer.key_id);
    pl_question_settle(x, i, PL_STR("answered"), answer.text);
    give_answer(x, loop, call, is_ask, is_approved, &answer);
    pl_step_reply(x, "tool_call_id", x->event->answer.tool_call_id);
    return PL_OK;
}

enum pl_status pl_step_tool_asks(struct pl_step *x)
{
    struct pl_agent_loop *loop = NULL;
    struct pl_tool_call *call = pl_tool_call_find(x->s, x->event->tool.tool_call_id, &loop);
    struct pl_str kind = x->event->tool.question_kind;
    if (!call || !call->is_started || call->status != PL_TOOL_CALL_PENDING || call->is_client ||
        pl_agent_loop_of_call(x->s, pl_str_of(call->id.text)))
        return PL_OK;
    if (!pl_str_eq(kind, PL_STR("confirm")) && !pl_str_eq(kind, PL_STR("capability")))
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "A tool can ask only for a confirm or a capability");
    struct pl_json_doc doc;
    enum pl_status status = pl_step_json(x, x->event->tool.questions, &doc);
    if (status != PL_OK)
        return status;
    char wrong[PL_QUESTIONS_WRONG];
    const struct pl_json_node *questions = pl_questions_check(&doc, doc.root, wrong);
    if (!questions)
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID, wrong);
    pl_question_ask(x, loop, call, kind, pl_json_span(&doc, questions));
    return PL_OK;
}

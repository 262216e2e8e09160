/* Reads {message, model, mode, …} of a client into an event, and resolves the model. The members
 * are checked one by one, so that an error names the member. */
#include "agent/chat_message.h"

#include "agent/context/ask_how.h"
#include "http/json_members.h"
#include "json/equal.h"
#include "json/text.h"
#include "json/write.h"
#include "model/model.h"
#include "shard/setup.h"

#define MAX_CLIENT_ID 128

static const char *const modes[] = {
    [PL_CHAT_MODE_PLANNING] = "planning",
    [PL_CHAT_MODE_EXECUTING] = "executing",
};

static const char *const busy_words[] = {
    [PL_BUSY_ENQUEUE] = "enqueue",
    [PL_BUSY_REJECT] = "reject",
    [PL_BUSY_INTERRUPT] = "interrupt",
    [PL_BUSY_STEER] = "steer",
};

static enum pl_status fail_at(struct pl_error *err, const char *name, const char *says)
{
    enum pl_status status = pl_fail(err, PL_INVALID, "%s", says);
    pl_error_point(err, "/%s", name);
    return status;
}

/* A member that is one of a few words; if it is absent, *ret is unchanged. */
static enum pl_status read_word(const struct pl_json_doc *doc, const struct pl_json_node *object,
                                const char *name, const char *const *words, size_t n_words,
                                const char *says, size_t *ret, struct pl_error *err)
{
    const struct pl_json_node *node = pl_json_get(doc, object, pl_str_of(name));
    if (!node || pl_json_kind(node) == PL_JSON_NULL)
        return PL_OK;
    for (size_t i = 0; i < n_words && pl_json_kind(node) == PL_JSON_STRING; i++) {
        if (words[i] && pl_json_text_is(doc, node, pl_str_of(words[i]))) {
            *ret = i;
            return PL_OK;
        }
    }
    return fail_at(err, name, says);
}

/* An answer continues the waiting work, so it cannot have a message, a model or a mode. */
static enum pl_status refuse_beside(const struct pl_json_doc *doc,
                                    const struct pl_json_node *object, struct pl_error *err)
{
    static const char *const members[] = {"message", "model", "mode", "when_busy",
                                          "client_message_id"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (pl_json_get(doc, object, pl_str_of(members[i])))
            return fail_at(err, members[i],
                           "An askuser_answer must be the only part: send the answer first, and "
                           "then the message.");
    return PL_OK;
}

static enum pl_status read_answer(struct pl_arena *arena, const struct pl_json_doc *doc,
                                  const struct pl_json_node *object,
                                  const struct pl_json_node *answer,
                                  struct pl_session_event *ret_event, struct pl_error *err)
{
    struct pl_session_event event = {.kind = PL_SE_ANSWER};
    const struct pl_json_node *value =
        pl_json_is(answer, PL_JSON_OBJECT) ? pl_json_get(doc, answer, PL_STR("answer")) : NULL;
    if (!value)
        return fail_at(err, "askuser_answer",
                       "An answer must be an object {\"tool_call_id\", \"answer\"}.");
    if (refuse_beside(doc, object, err) != PL_OK)
        return PL_INVALID;
    enum pl_status status =
        pl_member_text(arena, doc, answer, "tool_call_id", &event.answer.tool_call_id);
    if (status != PL_OK)
        return status;
    if (!event.answer.tool_call_id.len)
        return fail_at(err, "askuser_answer", "An answer needs tool_call_id and answer.");
    event.answer.answer = pl_json_span(doc, value);
    *ret_event = event;
    return PL_OK;
}

static enum pl_status read_model(const struct pl_models *models, struct pl_arena *arena,
                                 struct pl_str name, struct pl_session_event *event,
                                 struct pl_error *err)
{
    if (!name.len)
        return PL_OK;
    const struct pl_model_info *info = pl_model_find(models, name);
    if (!info) {
        (void)pl_model_missing(models, name, err);
        pl_error_point(err, "/model");
        return PL_INVALID;
    }
    /* The event may outlive these models. */
    event->chat.model = pl_arena_dup(arena, pl_model_name(info, name));
    event->chat.context_window = info->context_window;
    return event->chat.model.ptr ? PL_OK : PL_NOMEM;
}

/* The members of a message that override the session's own, as an object; {NULL, 0}: none. They are
 * validated here, because messages of a socket are not validated elsewhere. */
static const char *const override_names[] = {"system_prompt", "settings", "tools", "prefill"};

static enum pl_status read_override(const struct pl_chat_of *of, struct pl_arena *arena,
                                    const struct pl_json_doc *doc,
                                    const struct pl_json_node *object, struct pl_str *ret_override,
                                    struct pl_error *err)
{
    struct pl_buf text PL_CLEANUP_BUF, checked PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    pl_buf_init(&checked, 0);
    struct pl_json_out out = pl_json_out(&text), plain = pl_json_out(&checked);
    pl_json_out_open(&out, '{');
    pl_json_out_open(&plain, '{');
    for (size_t i = 0; i < sizeof override_names / sizeof *override_names; i++) {
        const char *name = override_names[i];
        const struct pl_json_node *node = pl_json_get(doc, object, pl_str_of(name));
        bool is_prefill = strcmp(name, "prefill") == 0;
        if (!node)
            continue;
        if (is_prefill && (pl_json_kind(node) != PL_JSON_STRING || node->len <= 2))
            return fail_at(err, name, "A prefill must be a string that is not empty.");
        struct pl_json_out *to[] = {&out, is_prefill ? NULL : &plain};
        for (size_t k = 0; k < 2 && to[k]; k++) {
            pl_json_out_key(to[k], name);
            pl_json_out_raw(to[k], pl_json_span(doc, node));
        }
    }
    pl_json_out_close(&out, '}');
    pl_json_out_close(&plain, '}');
    if (text.len <= 2)
        return text.status;
    struct pl_str kept = pl_arena_dup(arena, pl_buf_str(&checked));
    enum pl_status status =
        kept.ptr ? pl_ask_how_check(arena, kept, of->ext, of->user_id, err) : PL_NOMEM;
    if (status == PL_OK) {
        *ret_override = pl_arena_dup(arena, pl_buf_str(&text));
        status = ret_override->ptr ? text.status : PL_NOMEM;
    }
    return status;
}

enum pl_status pl_chat_parse(const struct pl_chat_of *of, struct pl_arena *arena,
                             const struct pl_json_doc *doc, const struct pl_json_node *object,
                             struct pl_session_event *ret_event, struct pl_error *err)
{
    const struct pl_json_node *answer = pl_json_get(doc, object, PL_STR("askuser_answer"));
    if (answer)
        return read_answer(arena, doc, object, answer, ret_event, err);
    const struct pl_json_node *message = pl_json_get(doc, object, PL_STR("message"));
    if (!message ||
        (pl_json_kind(message) != PL_JSON_STRING && pl_json_kind(message) != PL_JSON_ARRAY))
        return fail_at(err, "message", "A message must be a string or an array of content blocks.");
    struct pl_session_event event = {.kind = PL_SE_CHAT};
    event.chat.message = pl_json_span(doc, message);
    size_t mode = PL_CHAT_MODE_KEEP, busy = PL_BUSY_ENQUEUE;
    struct pl_str model;
    enum pl_status status = pl_member_text(arena, doc, object, "model", &model);
    if (status == PL_OK)
        status = read_model(of->models, arena, model, &event, err);
    if (status == PL_OK)
        status = read_word(doc, object, "mode", modes, sizeof modes / sizeof *modes,
                           "The mode must be planning or executing.", &mode, err);
    if (status == PL_OK)
        status =
            read_word(doc, object, "when_busy", busy_words, sizeof busy_words / sizeof *busy_words,
                      "when_busy must be enqueue, reject, interrupt or steer.", &busy, err);
    if (status == PL_OK)
        status =
            pl_member_text(arena, doc, object, "client_message_id", &event.chat.client_message_id);
    if (status == PL_OK)
        status = read_override(of, arena, doc, object, &event.chat.override, err);
    if (status != PL_OK)
        return status;
    if (event.chat.client_message_id.len > MAX_CLIENT_ID)
        return fail_at(err, "client_message_id", "A client_message_id has at most 128 bytes.");
    event.chat.mode = (enum pl_chat_mode)mode;
    event.chat.when_busy = (enum pl_when_busy)busy;
    *ret_event = event;
    return PL_OK;
}

void pl_chat_set_language(struct pl_session_event *event, bool is_chinese)
{
    if (event->kind == PL_SE_CHAT)
        event->chat.language = is_chinese ? PL_CHAT_CHINESE : PL_CHAT_ENGLISH;
}

/* PL_CONFLICT: there was no such question, or it has another answer. */
static enum pl_status repeats(struct pl_store *store, struct pl_arena *arena,
                              struct pl_str session_id, struct pl_str tool_call_id,
                              struct pl_str answer_json, struct pl_error *err)
{
    struct pl_question_row row;
    enum pl_status status =
        pl_store_question_get(store, arena, session_id, tool_call_id, &row, err);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_CONFLICT, "This session has no such question.");
    if (status != PL_OK)
        return status;
    struct pl_json_doc before, now;
    bool is_equal = false;
    if (pl_str_eq(row.state, PL_STR("answered"))) {
        status = pl_json_parse(arena, row.answer, NULL, &before, err);
        if (status == PL_OK)
            status = pl_json_parse(arena, answer_json, NULL, &now, err);
        if (status == PL_OK)
            status = pl_json_equal(&before, before.root, &now, now.root, &is_equal);
        if (status != PL_OK)
            return status;
    }
    return is_equal
               ? PL_OK
               : pl_fail(err, PL_CONFLICT, "This question is %.*s; its answer cannot be changed.",
                         PL_STR_ARG(row.state));
}

/* The stored form of a client's result. */
static enum pl_status write_result(struct pl_buf *to, struct pl_str result, bool is_error)
{
    pl_buf_adds(to, "{\"result\":");
    pl_buf_add(to, result.len ? result : PL_STR("null"));
    pl_buf_adds(to, is_error ? ",\"is_error\":true}" : ",\"is_error\":false}");
    return to->status;
}

static void write_repeated(struct pl_buf *to, struct pl_str tool_call_id)
{
    pl_buf_adds(to, "{\"tool_call_id\":");
    pl_json_quote(to, tool_call_id);
    pl_buf_adds(to, ",\"repeated\":true}");
}

enum pl_problem pl_answer_repeats(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str session_id, const struct pl_session_event *event,
                                  struct pl_buf *to, struct pl_error *err)
{
    bool is_result = event->kind == PL_SE_CLIENT_RESULT;
    struct pl_str id = is_result ? event->tool.tool_call_id : event->answer.tool_call_id;
    struct pl_buf result PL_CLEANUP_BUF;
    pl_buf_init(&result, 0);
    enum pl_status status =
        is_result ? write_result(&result, event->tool.result, event->tool.is_error) : PL_OK;
    if (status == PL_OK)
        status = repeats(store, arena, session_id, id,
                         is_result ? pl_buf_str(&result) : event->answer.answer, err);
    if (status == PL_OK)
        write_repeated(to, id);
    if (status == PL_CONFLICT && is_result)
        status = pl_fail(err, PL_CONFLICT,
                         "No call with this id waits for its client: it is settled, was cancelled, "
                         "or runs elsewhere.");
    if (status == PL_OK)
        return PL_PROBLEM_COUNT;
    return status == PL_CONFLICT && !is_result ? PL_PROBLEM_QUESTION_NOT_PENDING
                                               : pl_problem_of(status);
}

void pl_chat_complete(const struct pl_shard *shard, const struct pl_session_record *record,
                      struct pl_session_event *event)
{
    if (event->kind != PL_SE_CHAT || event->chat.model.len)
        return;
    /* If a session's own model no longer exists, it is called nevertheless: the turn then reports
     * why it failed, which is better than an answer of another model. */
    struct pl_str name =
        record->model.len ? record->model : pl_str_of(shard->setup->config.default_model);
    const struct pl_model_info *info = pl_model_find(shard->setup->models, name);
    event->chat.model = info ? pl_model_name(info, name) : name;
    event->chat.context_window = info ? info->context_window : 0;
}

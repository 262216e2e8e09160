#include "server/chatting.h"

#include "json/equal.h"
#include "json/text.h"
#include "model/model.h"
#include "server/setup.h"

#define MAX_CLIENT_ID 128

static const char *const modes[] = {
    [PL_MODE_PLANNING] = "planning",
    [PL_MODE_EXECUTING] = "executing",
};

static const char *const busy_words[] = {
    [PL_BUSY_ENQUEUE] = "enqueue",
    [PL_BUSY_REJECT] = "reject",
    [PL_BUSY_INTERRUPT] = "interrupt",
    [PL_BUSY_STEER] = "steer",
};

enum pl_status pl_member_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *name,
                              struct pl_str *ret_text)
{
    const struct pl_json_node *node = object ? pl_json_get(doc, object, pl_str_of(name)) : NULL;
    *ret_text = (struct pl_str){0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_OK;
    return pl_json_text(arena, doc, node, ret_text);
}

static enum pl_status fail_at(struct pl_error *err, const char *name, const char *says)
{
    enum pl_status status = pl_fail(err, PL_INVALID, "%s", says);
    pl_error_point(err, "/%s", name);
    return status;
}

/* A member that is one of a few words; absent leaves *ret as it is. */
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

static enum pl_status read_answer(struct pl_arena *arena, const struct pl_json_doc *doc,
                                  const struct pl_json_node *answer,
                                  struct pl_session_event *ret_event, struct pl_error *err)
{
    struct pl_session_event event = {.kind = PL_SE_ANSWER};
    const struct pl_json_node *value = pl_json_get(doc, answer, PL_STR("answer"));
    enum pl_status status =
        pl_member_text(arena, doc, answer, "tool_call_id", &event.answer.tool_call_id);
    if (status != PL_OK)
        return status;
    if (!value || !event.answer.tool_call_id.len)
        return fail_at(err, "askuser_answer", "An answer says tool_call_id and answer.");
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
    /* The event may outlive the models it was read by. */
    event->chat.model = pl_arena_dup(arena, pl_model_name(info, name));
    event->chat.context_window = info->context_window;
    return event->chat.model.ptr ? PL_OK : PL_NOMEM;
}

enum pl_status pl_chat_parse(const struct pl_models *models, struct pl_arena *arena,
                             const struct pl_json_doc *doc, const struct pl_json_node *object,
                             struct pl_session_event *ret_event, struct pl_error *err)
{
    const struct pl_json_node *answer = pl_json_get(doc, object, PL_STR("askuser_answer"));
    if (answer && pl_json_kind(answer) == PL_JSON_OBJECT)
        return read_answer(arena, doc, answer, ret_event, err);
    const struct pl_json_node *message = pl_json_get(doc, object, PL_STR("message"));
    if (!message ||
        (pl_json_kind(message) != PL_JSON_STRING && pl_json_kind(message) != PL_JSON_ARRAY))
        return fail_at(err, "message", "A message is a string or an array of content blocks.");
    struct pl_session_event event = {.kind = PL_SE_CHAT};
    event.chat.message = pl_json_span(doc, message);
    size_t mode = PL_MODE_KEEP, busy = PL_BUSY_ENQUEUE;
    struct pl_str model;
    enum pl_status status = pl_member_text(arena, doc, object, "model", &model);
    if (status == PL_OK)
        status = read_model(models, arena, model, &event, err);
    if (status == PL_OK)
        status = read_word(doc, object, "mode", modes, sizeof modes / sizeof *modes,
                           "A mode is planning or executing.", &mode, err);
    if (status == PL_OK)
        status =
            read_word(doc, object, "when_busy", busy_words, sizeof busy_words / sizeof *busy_words,
                      "when_busy is enqueue, reject, interrupt or steer.", &busy, err);
    if (status == PL_OK)
        status =
            pl_member_text(arena, doc, object, "client_message_id", &event.chat.client_message_id);
    if (status != PL_OK)
        return status;
    if (event.chat.client_message_id.len > MAX_CLIENT_ID)
        return fail_at(err, "client_message_id", "A client_message_id has at most 128 bytes.");
    event.chat.mode = (enum pl_chat_mode)mode;
    event.chat.when_busy = (enum pl_when_busy)busy;
    *ret_event = event;
    return PL_OK;
}

enum pl_status pl_answer_repeats(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str session_id, struct pl_str tool_call_id,
                                 struct pl_str answer_json, struct pl_error *err)
{
    struct pl_question_row row;
    enum pl_status status =
        pl_store_question_get(store, arena, session_id, tool_call_id, &row, err);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_CONFLICT, "This session has asked no such question.");
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

void pl_answer_write_repeated(struct pl_buf *to, struct pl_str tool_call_id)
{
    pl_buf_adds(to, "{\"tool_call_id\":");
    pl_json_quote(to, tool_call_id);
    pl_buf_adds(to, ",\"repeated\":true}");
}

void pl_chat_complete(const struct pl_shard *shard, const struct pl_session_record *record,
                      struct pl_session_event *event)
{
    if (event->kind != PL_SE_CHAT || event->chat.model.len)
        return;
    /* A session's own model that is there no more is asked all the same: the turn says why it
     * cannot be, which is better than another's answer. */
    struct pl_str name =
        record->model.len ? record->model : pl_str_of(shard->setup->config.default_model);
    const struct pl_model_info *info = pl_model_find(shard->setup->models, name);
    event->chat.model = info ? pl_model_name(info, name) : name;
    event->chat.context_window = info ? info->context_window : 0;
}

#include "service/sessions/chat_stream.h"

#include "base/ascii.h"
#include "json/number.h"
#include "live/hub.h"

#include <strings.h>

bool pl_chat_stream_is_wanted(const struct pl_exchange *x)
{
    static const char type[] = "text/event-stream";
    struct pl_str accept = pl_http_header_get(x->head, "accept");
    for (size_t at = 0; at + sizeof type - 1 <= accept.len; at++)
        if (strncasecmp(accept.ptr + at, type, sizeof type - 1) == 0)
            return true;
    return false;
}

bool pl_chat_stream_check(struct pl_exchange *x, const struct pl_session_event *event)
{
    if (event->kind != PL_SE_CHAT || event->chat.when_busy != PL_BUSY_STEER)
        return true;
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_INVALID,
                  "A message that steers has no chat of its own to stream; follow the session with "
                  "GET …/events, or leave out when_busy.");
    pl_error_point(&err, "/when_busy");
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err, NULL);
    return false;
}

/* Reads the session's reply to the message. */
static enum pl_status read_reply(struct pl_exchange *x, struct pl_str text,
                                 struct pl_chat_events *chat, bool *ret_is_duplicate)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&x->arena, text, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *position = pl_json_get(&doc, doc.root, PL_STR("position"));
    *ret_is_duplicate = pl_json_get(&doc, doc.root, PL_STR("duplicate")) ||
                        pl_json_get(&doc, doc.root, PL_STR("handled"));
    if (pl_json_is(position, PL_JSON_NUMBER) &&
        !pl_json_number_int64(pl_json_span(&doc, position), &chat->position))
        return PL_INTERNAL;
    return PL_OK;
}

void pl_chat_stream_open(struct pl_exchange *x, struct pl_session_command *command)
{
    bool is_duplicate = false;
    struct pl_chat_events chat = {
        .session_id = x->args[0],
        .epoch = command->epoch,
        .since = command->before,
        .is_begun = command->event.kind == PL_SE_ANSWER,
    };
    enum pl_status status = read_reply(x, pl_buf_str(&command->reply), &chat, &is_duplicate);
    if (status != PL_OK || is_duplicate) {
        /* The message is stored, even if there is no stream. */
        pl_exchange_answer(x, command);
        return;
    }
    pl_session_command_deinit(command);
    pl_chat_events_open(x, &chat);
}

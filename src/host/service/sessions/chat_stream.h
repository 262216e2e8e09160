/* POST …/chat with Accept: text/event-stream: the answer is the event stream of that chat, until
 * its end. */
#ifndef PL_SERVICE_SESSIONS_CHAT_STREAM_H
#define PL_SERVICE_SESSIONS_CHAT_STREAM_H

#include "service/sessions/session_request.h"

/* Whether the request wants its chat as an event stream. */
bool pl_chat_stream_is_wanted(const struct pl_exchange *x);
/* Whether this message starts a chat that can be followed; false after making a problem. */
bool pl_chat_stream_check(struct pl_exchange *x, const struct pl_session_event *event);
/* The `then` of the command that sends the message: takes over the connection. A repeated
 * message is answered as JSON. */
void pl_chat_stream_open(struct pl_exchange *x, struct pl_session_command *command);

#endif

/* Following a chat: the event stream of a session until its chat is over, told as it comes. */
#ifndef PL_APP_FOLLOW_H
#define PL_APP_FOLLOW_H

#include "app/api.h"

/* "EPOCH:SEQUENCE": where the session stands, so that nothing after it is missed. */
enum pl_exit pl_follow_position(struct pl_api *api, const char *session_id,
                                char ret_position[PL_HTTP_CALL_HEADER_SIZE]);

/* Prints what is said from `position` on, of the chat that the message of this id begins (NULL: of
 * the one that runs), until it ends or waits for an answer; with --json every event, one per line.
 * A connection that breaks is made again. PL_EXIT_NO when the chat failed, was stopped or waits. */
enum pl_exit pl_follow(struct pl_api *api, const char *session_id, const char *position,
                       const char *client_message_id);

#endif

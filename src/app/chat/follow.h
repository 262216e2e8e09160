/* Follows a chat: prints the event stream of a session as it arrives, until the chat ends. */
#ifndef PL_APP_FOLLOW_H
#define PL_APP_FOLLOW_H

#include "app/chat/answer.h"
#include "app/frame/api.h"
#include "base/text/uuid.h"

/* Makes an id for a message, to recognise its chat among others. False if the system has no random
 * bytes. */
bool pl_message_id_make(char ret_id[PL_UUID_SIZE + 1]);

/* The current position of the session's stream, "EPOCH:SEQUENCE": following from it misses
 * nothing. */
enum pl_exit pl_follow_position(struct pl_api *api, const char *session_id,
                                char ret_position[PL_HTTP_CALL_HEADER_SIZE]);

/* Prints the output from `position` on of the chat that the message with this id begins (NULL: of
 * the running one), until it ends or waits for an answer; with --json every event, one per line.
 * Reconnects if the connection breaks. PL_EXIT_NO if the chat failed, was stopped or waits. */
enum pl_exit pl_follow(struct pl_api *api, const char *session_id, const char *position,
                       const char *client_message_id);

/* Same for a caller that asks the user the questions itself: thoughts are shown at a terminal, tool
 * results in one line each, and questions are not printed. `answer` draws at a terminal; NULL:
 * plain. Sets `position` to where it stopped. *ret_is_aside: an extension asks something while the
 * chat runs on. */
enum pl_exit pl_follow_talk(struct pl_api *api, const char *session_id,
                            char position[PL_HTTP_CALL_HEADER_SIZE], const char *client_message_id,
                            struct pl_shown_answer *answer, bool *ret_is_aside);

/* Same for a session that was just created and is running: prints everything after its initial
 * state. */
enum pl_exit pl_follow_new(struct pl_api *api, const char *session_id);

/* Same, but prints nothing. PL_EXIT_NO if it failed, was stopped or waits for an answer; `why` gets
 * the reason, cut to `size`. */
enum pl_exit pl_follow_quietly(struct pl_api *api, const char *session_id, char *why, size_t size);

#endif

/* Follows a chat: prints the event stream of a session as it arrives, until the chat is over. */
#ifndef PL_APP_FOLLOW_H
#define PL_APP_FOLLOW_H

#include "app/chat/answer.h"
#include "app/frame/api.h"
#include "base/text/uuid.h"

/* An id of our own for a message, to know our chat among others. False: the system gives no random
 * bytes. */
bool pl_message_id_make(char ret_id[PL_UUID_SIZE + 1]);

/* "EPOCH:SEQUENCE": where the session stands, so that nothing after it is missed. */
enum pl_exit pl_follow_position(struct pl_api *api, const char *session_id,
                                char ret_position[PL_HTTP_CALL_HEADER_SIZE]);

/* Prints what is said from `position` on, of the chat that the message of this id begins (NULL: of
 * the one that runs), until it ends or waits for an answer; with --json every event, one per line.
 * A connection that breaks is made again. PL_EXIT_NO when the chat failed, was stopped or waits. */
enum pl_exit pl_follow(struct pl_api *api, const char *session_id, const char *position,
                       const char *client_message_id);

/* The same for a person who is asked at once when the session waits: thoughts are shown at a
 * terminal, tool results in one line each, and questions are not printed. `answer` is how it looks
 * at a terminal; NULL: plain. `position` becomes where it has stopped. *ret_is_aside: an extension asks something, and the
 * chat runs on. */
enum pl_exit pl_follow_talk(struct pl_api *api, const char *session_id,
                            char position[PL_HTTP_CALL_HEADER_SIZE], const char *client_message_id,
                            struct pl_shown_answer *answer, bool *ret_is_aside);

/* The same of a session that has just been made and is at work: everything that is said after the
 * state it began with. */
enum pl_exit pl_follow_new(struct pl_api *api, const char *session_id);

/* The same without a word: PL_EXIT_NO when it failed, was stopped or waits for an answer, and `why`
 * says so, cut to `size`. */
enum pl_exit pl_follow_quietly(struct pl_api *api, const char *session_id, char *why, size_t size);

#endif

/* Reads a client's message to a session into an event. The object is the same for REST and
 * sockets. */
#ifndef PL_AGENT_CHAT_MESSAGE_H
#define PL_AGENT_CHAT_MESSAGE_H

#include "agent/driver.h"
#include "json/json.h"

struct pl_ext_server;
struct pl_models;

/* The models and the extensions' tools that the sender's message may name. */
struct pl_chat_of {
    const struct pl_models *models;
    struct pl_ext_server *ext;
    struct pl_str user_id;
};

/* {message, model?, mode?, askuser_answer?, client_message_id?, when_busy?}: CHAT, or ANSWER if
 * askuser_answer {tool_call_id, answer} is there. Strings are arena memory or views of the
 * document. PL_INVALID with the pointer of the error; PL_NOT_FOUND: no such model; PL_NOMEM. */
enum pl_status pl_chat_parse(const struct pl_chat_of *of, struct pl_arena *arena,
                             const struct pl_json_doc *doc, const struct pl_json_node *object,
                             struct pl_session_event *ret_event, struct pl_error *err);

/* The language of the displayed tool names; an answer keeps the language of its chat. */
void pl_chat_set_language(struct pl_session_event *event, bool is_chinese);

/* Whether a client has given exactly this answer before: to a question that no longer waits
 * (ANSWER), or as the result of its own tool (CLIENT_RESULT). PL_PROBLEM_COUNT: yes, and `to` gets
 * the reply to a repetition; otherwise the problem, and *err says which. Reads the store: on a
 * worker. */
enum pl_problem pl_answer_repeats(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str session_id, const struct pl_session_event *event,
                                  struct pl_buf *to, struct pl_error *err);

/* Fills in model and context window if the client omitted them: the session's own, or the server's.
 * The name is valid only during the current callback. */
void pl_chat_complete(const struct pl_shard *shard, const struct pl_session_record *record,
                      struct pl_session_event *event);

#endif

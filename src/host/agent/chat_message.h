/* Reads a client's message to a session, from REST or a socket, into an event. The object is the
 * same in both. */
#ifndef PL_AGENT_CHAT_MESSAGE_H
#define PL_AGENT_CHAT_MESSAGE_H

#include "agent/driver.h"
#include "json/json.h"

struct pl_ext_server;
struct pl_models;

/* What a message may name: the models, and the tools of the extensions of who sends it. */
struct pl_chat_of {
    const struct pl_models *models;
    struct pl_ext_server *ext;
    struct pl_str user_id;
};

/* {message, model?, mode?, askuser_answer?, client_message_id?, when_busy?}: CHAT, or ANSWER when
 * askuser_answer {tool_call_id, answer} is there. Strings are arena memory or views of the
 * document. PL_INVALID with the pointer of what is wrong; PL_NOT_FOUND: no such model; PL_NOMEM. */
enum pl_status pl_chat_parse(const struct pl_chat_of *of, struct pl_arena *arena,
                             const struct pl_json_doc *doc, const struct pl_json_node *object,
                             struct pl_session_event *ret_event, struct pl_error *err);

/* In which language the names of tools are shown to who chats; an answer keeps that of its chat. */
void pl_chat_set_language(struct pl_session_event *event, bool is_chinese);

/* Whether what a client answers with was given exactly so before: an answer to a question that waits
 * no more (ANSWER), or the result of its own tool (CLIENT_RESULT). PL_PROBLEM_COUNT, and `to` gets
 * what is said to a repetition; otherwise the problem, and *err says which. Reads the store: for a
 * worker. */
enum pl_problem pl_answer_repeats(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str session_id, const struct pl_session_event *event,
                                  struct pl_buf *to, struct pl_error *err);

/* Fills in model and context window if the client omitted them: the session's own, or the server's.
 * The name is valid during the current callback only. */
void pl_chat_complete(const struct pl_shard *shard, const struct pl_session_record *record,
                      struct pl_session_event *event);

#endif

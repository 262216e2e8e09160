/* What a client says to a session, over REST or a socket, read into an event: the same object in
 * both. */
#ifndef PL_SERVER_CHATTING_H
#define PL_SERVER_CHATTING_H

#include "json/json.h"
#include "server/driver.h"

/* {message, model?, mode?, askuser_answer?, client_message_id?, when_busy?}: CHAT, or ANSWER when
 * askuser_answer {tool_call_id, answer} is there. Strings are arena memory or views of the
 * document. PL_INVALID with the pointer of what is wrong; PL_NOT_FOUND: no such model; PL_NOMEM. */
enum pl_status pl_chat_parse(const struct pl_models *models, struct pl_arena *arena,
                             const struct pl_json_doc *doc, const struct pl_json_node *object,
                             struct pl_session_event *ret_event, struct pl_error *err);

/* Members as text; {NULL, 0} when absent or not a string. */
enum pl_status pl_member_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *name,
                              struct pl_str *ret_text);

/* Whether a question that waits no more was answered exactly so: PL_OK; PL_CONFLICT when it was
 * not, or was never asked, and *err says which. Reads the store: for a worker. */
enum pl_status pl_answer_repeats(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str session_id, struct pl_str tool_call_id,
                                 struct pl_str answer_json, struct pl_error *err);
/* What is said to an answer that was given before. */
void pl_answer_write_repeated(struct pl_buf *to, struct pl_str tool_call_id);

/* Fills in model and context window where the client left them out: the session's own, or the
 * server's. The name is good for the present callback only. */
void pl_chat_complete(const struct pl_shard *shard, const struct pl_session_record *record,
                      struct pl_session_event *event);

#endif

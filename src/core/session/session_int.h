/* Internal state of a session, shared by the files of this room.
 *
 * A running session has loops: the root, and one for every running Agent call. A loop calls a model
 * repeatedly; it has at most one open turn. A parent comes before its children in `loops`. Without
 * loops the session is idle.
 *
 *     loop:  model at work (turn, !has_ended) -> calls at work (turn, has_ended) -> next turn …
 *            or: a summary at work (no turn, summary.id)
 *
 * One apply is a step. Handlers check everything first and change nothing if they refuse. After
 * that only memory can run out; this is noted in the step and checked once, at its end. */
#ifndef PL_SESSION_SESSION_INT_H
#define PL_SESSION_SESSION_INT_H

#include "conv/tool_error.h"
#include "json/json.h"
#include "session/session.h"
#include "session/turn/turn_int.h"

enum { PL_TRACE_ID = 32 }; /* hex digits of a W3C trace */

struct pl_agent_loop {
    struct pl_id id;              /* "root" or loop_… */
    struct pl_agent_loop *parent; /* borrowed from the session; NULL for the root */
    struct pl_id parent_call_id;
    uint32_t depth;       /* the root's is 0 */
    struct pl_turn *turn; /* owned; the open turn, or NULL */
    char *model;          /* owned; NUL-terminated; NULL: not named */
    int64_t context_window;
    struct {
        struct pl_id id; /* comp_…; empty: no summary is running */
        char trigger[16];
        int64_t started_ms;
    } summary;
    uint32_t n_compactions; /* in a row */
    bool is_full;           /* the last answer left less than a fifth of the window */
    bool is_tight;          /* a summary saved nothing: no further automatic one in this chat */
    bool is_due;            /* something changed: check whether it can continue */
    bool is_done;           /* to be removed at the end of the step */
};

struct pl_question {
    struct pl_arena arena; /* of all strings below */
    struct pl_str tool_call_id, turn_id, loop_id, kind;
    struct pl_str questions; /* JSON array */
    int64_t asked_ms;
    bool is_client;      /* not a question but a call that its client runs; client_call.c */
    bool is_aside;       /* of an extension whose work continues meanwhile; aside.c */
    int64_t deadline_ms; /* of a client's call, unix; 0: none */
};

struct pl_queued {
    struct pl_arena arena;
    int64_t position;
    struct pl_str client_message_id;
    struct pl_str body; /* JSON */
    bool steers;
};

struct pl_session {
    struct pl_session_record record; /* its strings are owned, each allocated separately */
    int64_t next_event;              /* sequence of the next event */
    bool is_chatting;                /* between chat:start and chat:end */
    int64_t n_calls;                 /* of this chat */
    int64_t working_ms;              /* start of the work, or time of the last answer; 0: unknown */
    enum pl_chat_mode mode;
    enum pl_chat_language language; /* of the last chat */
    char key_id[PL_ID_MAX];         /* of the current request; "": none */
    char trace_id[PL_TRACE_ID + 1]; /* of the current request; "": none yet */
    int64_t context_window;         /* of the model last named */
    bool is_full;                   /* of the root loop, while it does not exist */
    uint32_t n_compactions;
    int64_t next_position;                  /* of the next queued message */
    PL_VEC(struct pl_agent_loop *) loops;   /* owned */
    PL_VEC(struct pl_question *) questions; /* owned; open, oldest first */
    PL_VEC(struct pl_queued *) queue;       /* owned; in order */
};

struct pl_step {
    struct pl_session *s;
    const struct pl_session_event *event;
    struct pl_session_out *out;
    struct pl_error *err;
    int64_t now_ms;
    bool is_oom;
    bool has_durable;    /* a durable frame was published: the session's row must be written, too */
    bool is_changed;     /* the Session object changed; session:updated is still to be sent */
    bool has_settings;   /* system_prompt, settings, tools or handoff changed: write their row */
    bool may_start_next; /* a chat or a summary ended by itself: continue with the queue */
    enum pl_frame_kind frame_kind;
    bool is_frame_durable;
};

/* --- step.c: frames, rows, effects ----------------------------------------------------------- */

/* A frame: begin, add members, end. A durable one first sends all waiting text. */
struct pl_json_out pl_frame_begin(struct pl_step *x, enum pl_frame_kind kind, bool is_durable);
void pl_frame_end(struct pl_step *x, struct pl_json_out *out);
/* A patch: begin, add members of its data, end. `is_durable` also marks the turn's row as dirty. */
struct pl_json_out pl_patch_begin(struct pl_step *x, struct pl_turn *turn, const char *type,
                                  bool is_durable);
void pl_patch_end(struct pl_step *x, struct pl_turn *turn, struct pl_json_out *out);
void pl_step_tell_turn(struct pl_step *x, enum pl_frame_kind kind, struct pl_turn *turn);
void pl_step_tell_question(struct pl_step *x, enum pl_frame_kind kind,
                           const struct pl_question *question, struct pl_str state,
                           struct pl_str answer);
/* settled_ms 0: not yet. */
void pl_question_write(const struct pl_question *question, struct pl_str state,
                       struct pl_str answer, int64_t settled_ms, struct pl_json_out *out);

void pl_step_put_turn(struct pl_step *x, struct pl_turn *turn);
/* Maximum age of an open turn's row. A long turn costs more to write, so its limit is higher. */
int64_t pl_turn_checkpoint_ms(const struct pl_turn *turn);
void pl_step_put_row(struct pl_step *x, const struct pl_session_row *row);
void pl_step_put_session(struct pl_step *x, enum pl_row_kind kind);
/* Adds an effect. All strings are copied into the out. */
void pl_step_want(struct pl_step *x, const struct pl_session_effect *effect);
struct pl_str pl_step_keep(struct pl_step *x, struct pl_str s); /* arena of the out */
/* Copies out->text into the arena of the out. */
struct pl_str pl_step_take_text(struct pl_step *x);
void pl_step_reply(struct pl_step *x, const char *key, struct pl_str text);

/* The only function that changes a session's status; ignores an illegal edge. Sends session:updated
 * at once. */
void pl_step_set_status(struct pl_step *x, enum pl_session_status status);
void pl_step_tell_session(struct pl_step *x);

enum pl_status pl_step_refuse(struct pl_step *x, enum pl_status status, enum pl_refusal refusal,
                              const char *message);
/* Parses one JSON value and makes it compact: in the arena of the out, or `text` itself. */
enum pl_status pl_step_json(struct pl_step *x, struct pl_str text, struct pl_json_doc *ret_doc);
/* The same for an optional value: empty becomes {NULL, 0}. */
enum pl_status pl_step_optional_json(struct pl_step *x, struct pl_str text,
                                     struct pl_str *ret_json);
/* Checks the members of a model's end; strings are the event's or in the out's arena. */
enum pl_status pl_step_read_end(struct pl_step *x, struct pl_str model, struct pl_str usage,
                                struct pl_str timing, struct pl_str metadata,
                                struct pl_turn_end *ret_end);
/* Replaces a heap string by a copy. */
void pl_step_set_text(struct pl_step *x, struct pl_str *field, struct pl_str value);

/* --- model.c: the growth of a turn ----------------------------------------------------------- */

/* Sends the waiting text; with `closes`, also the rest of the open block's content. */
void pl_turn_flush(struct pl_step *x, struct pl_turn *turn, bool closes);
/* Sends the last block, which is closed. */
void pl_turn_tell_block(struct pl_step *x, struct pl_turn *turn);
/* Cancels every open call and publishes it. */
void pl_turn_cancel_calls(struct pl_step *x, struct pl_turn *turn);
enum pl_status pl_step_tick(struct pl_step *x);
enum pl_status pl_step_model_text(struct pl_step *x);
enum pl_status pl_step_model_block(struct pl_step *x);
enum pl_status pl_step_model_proof(struct pl_step *x);
enum pl_status pl_step_model_call(struct pl_step *x);
enum pl_status pl_step_model_result(struct pl_step *x);
enum pl_status pl_step_model_end(struct pl_step *x);
enum pl_status pl_step_model_failed(struct pl_step *x);
enum pl_status pl_step_memory(struct pl_step *x);

/* --- loop.c: loops and their turns ----------------------------------------------------------- */

struct pl_agent_loop *pl_agent_loop_add(struct pl_step *x, struct pl_agent_loop *parent,
                                        struct pl_str parent_call_id, struct pl_str model,
                                        int64_t context_window);
void pl_agent_loop_destroy(struct pl_agent_loop *loop); /* accepts NULL */
struct pl_agent_loop *pl_agent_loop_find(const struct pl_session *s, struct pl_str id);
struct pl_agent_loop *pl_agent_loop_of_call(const struct pl_session *s,
                                            struct pl_str parent_call_id);
/* The open call with this id, and its loop; NULL if there is none. */
struct pl_tool_call *pl_tool_call_find(const struct pl_session *s, struct pl_str id,
                                       struct pl_agent_loop **ret_loop);
/* A new streaming turn of the loop, not yet published or owned. NULL if out of memory. */
struct pl_turn *pl_turn_create(struct pl_step *x, const struct pl_agent_loop *loop,
                               enum pl_turn_role role);
void pl_turn_destroy(struct pl_turn *turn); /* accepts NULL */
/* A turn that is complete at once: publishes, stores and destroys it. */
void pl_turn_say(struct pl_step *x, struct pl_turn *turn);
void pl_turn_set_status(struct pl_step *x, struct pl_turn *turn, enum pl_turn_status status);
/* Ends the open turn: publishes it as a patch and whole, stores and destroys it. `error` may be
 * {NULL, 0}. */
void pl_agent_loop_end_turn(struct pl_step *x, struct pl_agent_loop *loop,
                            enum pl_turn_status status, struct pl_str error);
void pl_agent_loop_call_model(struct pl_step *x, struct pl_agent_loop *loop);
void pl_agent_loop_fail(struct pl_step *x, struct pl_agent_loop *loop, struct pl_str reason);
/* Removes the loops that are done. */
void pl_session_sweep(struct pl_session *s);
/* Continues every loop that is due, then the queue. */
void pl_step_go_on(struct pl_step *x);

/* --- tool_calls.c: tools --------------------------------------------------------------------- */

/* Starts the calls that may start; a call that must not run gets its error at once. */
void pl_tool_calls_start(struct pl_step *x, struct pl_agent_loop *loop);
/* Ends a call: status, result, blocks, patch; only the first result counts. `result` is compact
 * JSON; for an error, the object of conv/tool_error.h. */
void pl_tool_call_settle(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                         bool is_error, struct pl_str result, int64_t duration_ms);
/* The same with an error of the table and a sentence for it. */
void pl_tool_call_fail(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                       enum pl_tool_error error, struct pl_str reason);
void pl_tool_call_set_status(struct pl_step *x, struct pl_turn *turn, struct pl_tool_call *call,
                             enum pl_tool_call_status status);
enum pl_status pl_step_tool_result(struct pl_step *x);
enum pl_status pl_step_tool_go(struct pl_step *x);

/* --- card.c, planning.c ---------------------------------------------------------------------- */

/* Whether _meta of a result breaks seed 003; ret_wrong is a sentence about it. */
enum { PL_META_WRONG = 200 };
bool pl_meta_is_wrong(const struct pl_json_doc *result, char ret_wrong[PL_META_WRONG]);

/* Adds the blocks of a mode change, if the mode changes; `is_told`: also sends them as patches of
 * an open turn. */
void pl_mode_change(struct pl_step *x, struct pl_turn *turn, enum pl_chat_mode mode, bool is_told);
/* Applies the effect of a successful planning call; does nothing for other calls. */
void pl_planning_follow(struct pl_step *x, struct pl_turn *turn, const struct pl_tool_call *call);

/* --- replaying.c ----------------------------------------------------------------------------- */

/* After a change of the session's status; after a message; after a person changes the speed. */
void pl_replay_follow(struct pl_step *x);
void pl_replay_count(struct pl_step *x);
enum pl_status pl_replay_change(struct pl_step *x);

/* --- question.c ------------------------------------------------------------------------------ */

void pl_question_ask(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                     struct pl_str kind, struct pl_str questions);
/* Adds an open question without publishing it; NULL if out of memory. */
struct pl_question *pl_question_add(struct pl_step *x, const struct pl_agent_loop *loop,
                                    const struct pl_tool_call *call, struct pl_str kind,
                                    struct pl_str questions);
/* Whether a person allowed this tool without further confirmation in this session. */
bool pl_tool_is_allowed(const struct pl_session *s, struct pl_str tool_name);
size_t pl_question_find(const struct pl_session *s, struct pl_str tool_call_id);
/* Updates the calls above this loop: each shows the first question below it, or none. */
void pl_questions_refresh(struct pl_step *x, struct pl_agent_loop *loop);
/* Publishes, stores and destroys the question. */
void pl_question_settle(struct pl_step *x, size_t index, struct pl_str state, struct pl_str answer);
void pl_question_destroy(struct pl_question *question); /* accepts NULL */
/* Cancels the questions of one turn. */
void pl_questions_cancel(struct pl_step *x, const struct pl_turn *turn);
/* The questions array of {questions:[…]}, or NULL with a sentence about the error and its place. */
enum { PL_QUESTIONS_WRONG = 160 };
const struct pl_json_node *pl_questions_check(const struct pl_json_doc *doc,
                                              const struct pl_json_node *root,
                                              char ret_wrong[PL_QUESTIONS_WRONG]);
/* Whether this call has to wait for a person's answer. */
bool pl_tool_call_waits(const struct pl_session *s, const struct pl_tool_call *call);
/* Parses the answer of the event. Refuses one that is too long. */
enum pl_status pl_question_read_answer(struct pl_step *x, struct pl_json_doc *ret_answer);
enum pl_status pl_step_answer(struct pl_step *x);
enum pl_status pl_step_tool_asks(struct pl_step *x);

/* --- client_call.c: a call that a client runs ------------------------------------------------- */

#define PL_CLIENT_KIND "client" /* kind of its row among the questions */

/* Reads the members of its row that a question does not have. */
void pl_client_call_load(struct pl_step *x, struct pl_question *question);
/* Fails the calls whose deadline has passed. */
void pl_client_calls_expire(struct pl_step *x);
enum pl_status pl_step_tool_client(struct pl_step *x);
enum pl_status pl_step_client_result(struct pl_step *x);

/* --- aside.c: questions that stop nothing ----------------------------------------------------- */

enum pl_status pl_step_aside(struct pl_step *x);
enum pl_status pl_step_aside_end(struct pl_step *x);
/* Cancels all asides; with `tells`, informs the extensions that asked. */
void pl_asides_cancel(struct pl_step *x, bool tells);
/* Answers the aside with the event's answer. */
enum pl_status pl_aside_answer(struct pl_step *x, size_t index);

/* --- chat.c, queue.c ------------------------------------------------------------------------- */

/* One message of a user: from an event, or from the queue. */
struct pl_said {
    struct pl_str message; /* JSON, checked */
    struct pl_str client_message_id, model;
    int64_t context_window;
    enum pl_chat_mode mode;
    enum pl_chat_language language;
    struct pl_str override; /* JSON object, checked; {NULL, 0}: none */
    bool steers;
    bool is_queued;         /* it was queued … */
    int64_t position;       /* … at this position */
    struct pl_str trace_id; /* of its request */
    struct pl_str key_id;   /* … and of the request's key */
};
const char *pl_chat_mode_text(enum pl_chat_mode mode);

enum pl_status pl_step_chat(struct pl_step *x);
void pl_chat_start_next(struct pl_step *x);
/* Sets the trace of the request that causes the next effects; an invalid one is replaced by a new
 * one. */
void pl_step_set_trace(struct pl_step *x, struct pl_str trace_id);
/* Sets the key of the same request; an invalid one becomes empty. */
void pl_step_set_key(struct pl_step *x, struct pl_str key_id);
/* Adds the message as a user's turn of this loop: mode change first, then the content. */
void pl_chat_speak(struct pl_step *x, struct pl_agent_loop *loop, const struct pl_said *said);
enum pl_status pl_queue_add(struct pl_step *x, const struct pl_said *said);
/* Removes a message and its row; the caller destroys it. */
struct pl_queued *pl_queue_take(struct pl_step *x, size_t index);
/* Turns the messages that steer into turns of the root loop. */
void pl_chat_take_steers(struct pl_step *x, struct pl_agent_loop *root);
/* Ends the chat. With `cancels_queue`, lists the queued messages and removes them. */
void pl_chat_end(struct pl_step *x, enum pl_session_status status, struct pl_str reason,
                 bool cancels_queue);
void pl_queued_destroy(struct pl_queued *queued); /* accepts NULL */
/* Reads the body; strings are in the queued message or the arena. PL_INVALID: damaged. */
enum pl_status pl_queued_read(const struct pl_queued *queued, struct pl_arena *arena,
                              struct pl_said *ret_said);
struct pl_queued *pl_queued_create(int64_t position, struct pl_str client_message_id,
                                   struct pl_str body); /* NULL: out of memory */
void pl_queued_write(const struct pl_queued *queued, struct pl_json_out *out);

/* --- message.c: the content of a user's message ---------------------------------------------- */

/* Whether a block of this type accepts this content (NULL: none). */
bool pl_block_accepts(enum pl_block_type type, const struct pl_json_node *content);
/* Adds a closed block with content that was accepted. */
struct pl_block *pl_turn_add_content(struct pl_turn *turn, enum pl_block_type type,
                                     const struct pl_json_doc *doc,
                                     const struct pl_json_node *content);

/* `is_recorded`: the message is from a recording, so all block types are allowed. */
enum pl_status pl_message_check(struct pl_step *x, struct pl_str message, bool is_recorded);
/* Adds the message (already checked) as blocks of the turn. */
void pl_message_fill(struct pl_step *x, struct pl_turn *turn, struct pl_str message);

/* --- compact.c, stop.c ----------------------------------------------------------------------- */

void pl_agent_loop_summarise(struct pl_step *x, struct pl_agent_loop *loop, const char *trigger);
enum pl_status pl_step_compact(struct pl_step *x);
enum pl_status pl_step_summary(struct pl_step *x);
enum pl_status pl_step_summary_failed(struct pl_step *x);
enum pl_status pl_step_notice(struct pl_step *x);
void pl_step_stop_all(struct pl_step *x, struct pl_str reason);
enum pl_status pl_step_stop(struct pl_step *x);
enum pl_status pl_step_shut_down(struct pl_step *x);
enum pl_status pl_step_take_up(struct pl_step *x);
enum pl_status pl_step_recover(struct pl_step *x);

#endif

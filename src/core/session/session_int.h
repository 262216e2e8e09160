/* The state behind session.h, shared by the files of this room.
 *
 * A session that works has loops: the root, and one for every Agent call that runs. A loop is a
 * model called again and again; it has at most one open turn. A parent comes before its children in
 * `loops`. Without loops the session is idle.
 *
 *     loop:  model at work (turn, !has_ended) -> calls at work (turn, has_ended) -> next turn …
 *            or: a summary at work (no turn, summary.id)
 *
 * One apply is a step. Handlers check everything first and change nothing when they refuse; from
 * then on only memory can run out, which sticks to the step and is asked for once, at its end. */
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
    char *model;          /* owned; ends in NUL; NULL: none named */
    int64_t context_window;
    struct {
        struct pl_id id; /* comp_…; empty: no summary is being made */
        char trigger[16];
        int64_t started_ms;
    } summary;
    uint32_t n_compactions; /* in a row */
    bool is_full;           /* the last answer left less than a fifth of the window */
    bool is_tight; /* a summary saved nothing: in this chat none is tried again by itself */
    bool is_due;   /* something changed: look whether it can go on */
    bool is_done;  /* to be removed at the end of the step */
};

struct pl_question {
    struct pl_arena arena; /* of all strings below */
    struct pl_str tool_call_id, turn_id, loop_id, kind;
    struct pl_str questions; /* JSON array */
    int64_t asked_ms;
    bool is_client;      /* no question but a call that its client runs; client_call.c */
    bool is_aside;       /* of something that goes on meanwhile; aside.c */
    int64_t deadline_ms; /* of such a call, unix; 0: none */
};

struct pl_queued {
    struct pl_arena arena;
    int64_t position;
    struct pl_str client_message_id;
    struct pl_str body; /* JSON */
    bool steers;
};

struct pl_session {
    struct pl_session_record record; /* its strings are owned, each by itself */
    int64_t next_event;              /* sequence of the next event */
    bool is_chatting;                /* between chat:start and chat:end */
    int64_t n_calls;                 /* of this chat */
    int64_t working_ms;              /* when it last began to work, or was answered; 0: unknown */
    enum pl_chat_mode mode;
    enum pl_chat_language language; /* of the last chat */
    char key_id[PL_ID_MAX];         /* of the request that is being worked on; "": none */
    char trace_id[PL_TRACE_ID + 1]; /* of the request that is being worked on; "": none yet */
    int64_t context_window;         /* of the model last named */
    bool is_full;                   /* of the root loop, while there is none */
    uint32_t n_compactions;
    int64_t next_position;                  /* in the queue */
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
    bool has_durable;    /* a durable frame was published: the session's row moves on too */
    bool is_changed;     /* the Session object changed and session:updated is still owed */
    bool has_settings;   /* system_prompt, settings, tools or handoff changed: their row is owed */
    bool may_start_next; /* a chat or a summary ended by itself: the queue goes on */
    enum pl_frame_kind frame_kind;
    bool is_frame_durable;
};

/* --- step.c: frames, rows, effects ----------------------------------------------------------- */

/* A frame: begin, add members, end. A durable one lets all text that waits go first. */
struct pl_json_out pl_frame_begin(struct pl_step *x, enum pl_frame_kind kind, bool is_durable);
void pl_frame_end(struct pl_step *x, struct pl_json_out *out);
/* A patch: begin, add members of its data, end. `is_durable` also marks the turn's row. */
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
/* How old the row of an open turn may be. A long one costs more to write, and waits longer. */
int64_t pl_turn_checkpoint_ms(const struct pl_turn *turn);
void pl_step_put_row(struct pl_step *x, const struct pl_session_row *row);
void pl_step_put_session(struct pl_step *x, enum pl_row_kind kind);
/* All strings are copied into the out. */
void pl_step_want(struct pl_step *x, const struct pl_session_effect *effect);
struct pl_str pl_step_keep(struct pl_step *x, struct pl_str s); /* arena of the out */
/* Ends what was written into out->text: a copy in the arena of the out. */
struct pl_str pl_step_take_text(struct pl_step *x);
void pl_step_reply(struct pl_step *x, const char *key, struct pl_str text);

/* The only function that changes a session's status: legal edges only. session:updated is sent at
 * once. */
void pl_step_set_status(struct pl_step *x, enum pl_session_status status);
void pl_step_tell_session(struct pl_step *x);

enum pl_status pl_step_refuse(struct pl_step *x, enum pl_status status, enum pl_refusal refusal,
                              const char *message);
/* One JSON value without white space, in the arena of the out or as it was given. */
enum pl_status pl_step_json(struct pl_step *x, struct pl_str text, struct pl_json_doc *ret_doc);
/* The same for an optional value: empty becomes {NULL, 0}. */
enum pl_status pl_step_optional_json(struct pl_step *x, struct pl_str text,
                                     struct pl_str *ret_json);
/* What a model's answer ends with, checked; the strings are the event's or of the out's arena. */
enum pl_status pl_step_read_end(struct pl_step *x, struct pl_str model, struct pl_str usage,
                                struct pl_str timing, struct pl_str metadata,
                                struct pl_turn_end *ret_end);
/* Copies to the heap and frees what was there. */
void pl_step_set_text(struct pl_step *x, struct pl_str *field, struct pl_str value);

/* --- model.c: a turn grows ------------------------------------------------------------------- */

/* Sends the waiting text; `closes`: and the rest of the open block's content. */
void pl_turn_flush(struct pl_step *x, struct pl_turn *turn, bool closes);
/* Tells the last block, which is a closed one. */
void pl_turn_tell_block(struct pl_step *x, struct pl_turn *turn);
/* Cancels every open call and publishes that. */
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

/* --- loop.c: a loop goes on ------------------------------------------------------------------ */

struct pl_agent_loop *pl_agent_loop_add(struct pl_step *x, struct pl_agent_loop *parent,
                                        struct pl_str parent_call_id, struct pl_str model,
                                        int64_t context_window);
void pl_agent_loop_destroy(struct pl_agent_loop *loop); /* accepts NULL */
struct pl_agent_loop *pl_agent_loop_find(const struct pl_session *s, struct pl_str id);
struct pl_agent_loop *pl_agent_loop_of_call(const struct pl_session *s,
                                            struct pl_str parent_call_id);
/* The open call of this id and its loop; NULL when there is none. */
struct pl_tool_call *pl_tool_call_find(const struct pl_session *s, struct pl_str id,
                                       struct pl_agent_loop **ret_loop);
/* A new turn of the loop, streaming, not yet announced and not yet owned. NULL when out of
 * memory. */
struct pl_turn *pl_turn_create(struct pl_step *x, const struct pl_agent_loop *loop,
                               enum pl_turn_role role);
void pl_turn_destroy(struct pl_turn *turn); /* accepts NULL */
/* A turn that is complete as soon as it is there: told, stored, gone. */
void pl_turn_say(struct pl_step *x, struct pl_turn *turn);
void pl_turn_set_status(struct pl_step *x, struct pl_turn *turn, enum pl_turn_status status);
/* Terminal: told as a patch and whole, stored, gone. `error` may be {NULL, 0}. */
void pl_agent_loop_end_turn(struct pl_step *x, struct pl_agent_loop *loop,
                            enum pl_turn_status status, struct pl_str error);
void pl_agent_loop_call_model(struct pl_step *x, struct pl_agent_loop *loop);
void pl_agent_loop_fail(struct pl_step *x, struct pl_agent_loop *loop, struct pl_str reason);
/* Removes the loops that are done. */
void pl_session_sweep(struct pl_session *s);
/* Lets every loop that is due go on, and the queue after it. */
void pl_step_go_on(struct pl_step *x);

/* --- calls.c: tools -------------------------------------------------------------------------- */

/* Starts what may start; what must not run gets its error at once. */
void pl_tool_calls_start(struct pl_step *x, struct pl_agent_loop *loop);
/* The first terminal result wins: status, result, blocks, patch. `result` is compact JSON; that of
 * an error is the object of conv/tool_error.h. */
void pl_tool_call_settle(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                         bool is_error, struct pl_str result, int64_t duration_ms);
/* The same with an error of the table and a sentence about it. */
void pl_tool_call_fail(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                       enum pl_tool_error error, struct pl_str reason);
void pl_tool_call_set_status(struct pl_step *x, struct pl_turn *turn, struct pl_tool_call *call,
                             enum pl_tool_call_status status);
enum pl_status pl_step_tool_result(struct pl_step *x);
enum pl_status pl_step_tool_go(struct pl_step *x);

/* --- card.c, planning.c ---------------------------------------------------------------------- */

/* Whether what a result has for the page breaks seed 003, and how, as a sentence. */
enum { PL_META_WRONG = 200 };
bool pl_meta_is_wrong(const struct pl_json_doc *result, char ret_wrong[PL_META_WRONG]);

/* The blocks of a change of the mode, if it is one; `is_told`: as patches of an open turn. */
void pl_mode_change(struct pl_step *x, struct pl_turn *turn, enum pl_chat_mode mode, bool is_told);
/* What a call of a planning tool that went well does; of another nothing. */
void pl_planning_follow(struct pl_step *x, struct pl_turn *turn, const struct pl_tool_call *call);

/* --- replaying.c ----------------------------------------------------------------------------- */

/* The session's status has changed; a message is said; a person changes pace. */
void pl_replay_follow(struct pl_step *x);
void pl_replay_count(struct pl_step *x);
enum pl_status pl_replay_change(struct pl_step *x);

/* --- question.c ------------------------------------------------------------------------------ */

void pl_question_ask(struct pl_step *x, struct pl_agent_loop *loop, struct pl_tool_call *call,
                     struct pl_str kind, struct pl_str questions);
/* One that is open, with nothing told yet; NULL when out of memory. */
struct pl_question *pl_question_add(struct pl_step *x, const struct pl_agent_loop *loop,
                                    const struct pl_tool_call *call, struct pl_str kind,
                                    struct pl_str questions);
/* Whether a person has said that this tool need not ask again in this session. */
bool pl_tool_is_allowed(const struct pl_session *s, struct pl_str tool_name);
size_t pl_question_find(const struct pl_session *s, struct pl_str tool_call_id);
/* The calls above this loop show the first question below them, or none. */
void pl_questions_refresh(struct pl_step *x, struct pl_agent_loop *loop);
/* Tells, stores and forgets it. */
void pl_question_settle(struct pl_step *x, size_t index, struct pl_str state, struct pl_str answer);
void pl_question_destroy(struct pl_question *question); /* accepts NULL */
/* Cancels those of one turn. */
void pl_questions_cancel(struct pl_step *x, const struct pl_turn *turn);
/* The questions array of {questions:[…]}, or NULL with a sentence that says where what is wrong. */
enum { PL_QUESTIONS_WRONG = 160 };
const struct pl_json_node *pl_questions_check(const struct pl_json_doc *doc,
                                              const struct pl_json_node *root,
                                              char ret_wrong[PL_QUESTIONS_WRONG]);
/* Whether this call has to wait for a person's answer. */
bool pl_tool_call_waits(const struct pl_session *s, const struct pl_tool_call *call);
enum pl_status pl_step_answer(struct pl_step *x);
enum pl_status pl_step_tool_asks(struct pl_step *x);

/* --- client_call.c: a call that a client runs -------------------------------------------------- */

#define PL_CLIENT_KIND "client" /* of its row among the questions */

/* What its row says beside the columns of a question. */
void pl_client_call_load(struct pl_step *x, struct pl_question *question);
/* Those whose deadline has passed fail. */
void pl_client_calls_expire(struct pl_step *x);
enum pl_status pl_step_tool_client(struct pl_step *x);
enum pl_status pl_step_client_result(struct pl_step *x);

/* --- aside.c: questions of what goes on meanwhile ----------------------------------------------- */

enum pl_status pl_step_aside(struct pl_step *x);
enum pl_status pl_step_aside_end(struct pl_step *x);
/* All of them; `tells`: those who asked hear of it. */
void pl_asides_cancel(struct pl_step *x, bool tells);
/* The event answers this one. */
enum pl_status pl_aside_answer(struct pl_step *x, size_t index);

/* --- chat.c, queue.c ------------------------------------------------------------------------- */

/* One message of a user: an event's, or one that waited. */
struct pl_said {
    struct pl_str message; /* JSON, checked */
    struct pl_str client_message_id, model;
    int64_t context_window;
    enum pl_chat_mode mode;
    enum pl_chat_language language;
    struct pl_str override; /* JSON object, checked; {NULL, 0}: none */
    bool steers;
    bool is_queued;         /* it waited … */
    int64_t position;       /* … at this place */
    struct pl_str trace_id; /* of the request that brought it */
    struct pl_str key_id;   /* … and of its key */
};
const char *pl_chat_mode_text(enum pl_chat_mode mode);

enum pl_status pl_step_chat(struct pl_step *x);
void pl_chat_start_next(struct pl_step *x);
/* What follows is caused by this request; an invalid trace begins a new one. */
void pl_step_set_trace(struct pl_step *x, struct pl_str trace_id);
/* The key of the same request; one that cannot be is none. */
void pl_step_set_key(struct pl_step *x, struct pl_str key_id);
/* The message as a user's turn of this loop: mode change first, then what was said. */
void pl_chat_speak(struct pl_step *x, struct pl_agent_loop *loop, const struct pl_said *said);
enum pl_status pl_queue_add(struct pl_step *x, const struct pl_said *said);
/* Removes it, its row too; the caller destroys it. */
struct pl_queued *pl_queue_take(struct pl_step *x, size_t index);
/* Messages that steer become turns of the root loop. */
void pl_chat_take_steers(struct pl_step *x, struct pl_agent_loop *root);
/* With `cancels_queue` the messages that wait are named and removed. */
void pl_chat_end(struct pl_step *x, enum pl_session_status status, struct pl_str reason,
                 bool cancels_queue);
void pl_queued_destroy(struct pl_queued *queued); /* accepts NULL */
/* What a body says; strings are of the queued message or the arena. PL_INVALID: damaged. */
enum pl_status pl_queued_read(const struct pl_queued *queued, struct pl_arena *arena,
                              struct pl_said *ret_said);
struct pl_queued *pl_queued_create(int64_t position, struct pl_str client_message_id,
                                   struct pl_str body); /* NULL: out of memory */
void pl_queued_write(const struct pl_queued *queued, struct pl_json_out *out);

/* --- message.c: what a user said ------------------------------------------------------------- */

/* Whether a block of this type may have this content (NULL: none). */
bool pl_block_accepts(enum pl_block_type type, const struct pl_json_node *content);
/* A closed block with it, which was accepted. */
struct pl_block *pl_turn_add_content(struct pl_turn *turn, enum pl_block_type type,
                                     const struct pl_json_doc *doc,
                                     const struct pl_json_node *content);

/* `is_recorded`: it was said before, so whatever block was in it may be in it. */
enum pl_status pl_message_check(struct pl_step *x, struct pl_str message, bool is_recorded);
/* The message (checked before) as blocks of the turn. */
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

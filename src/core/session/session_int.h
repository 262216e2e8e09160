/* The state behind session.h, shared by the files of this room.
 *
 * A session that works has loops: the root, and one for every Agent call that runs. A loop is a
 * model called again and again; it has at most one open turn. A parent stands before its children
 * in `loops`. Without loops the session is idle.
 *
 *     loop:  model at work (turn, !has_ended) -> calls at work (turn, has_ended) -> next turn …
 *            or: a summary at work (no turn, summary.id)
 *
 * One apply is a step. Handlers check everything first and change nothing when they refuse; from
 * then on only memory can run out, which sticks to the step and is asked for once, at its end. */
#ifndef PL_SESSION_SESSION_INT_H
#define PL_SESSION_SESSION_INT_H

#include "json/json.h"
#include "session/session.h"
#include "session/turn_int.h"

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
    bool is_due;            /* something changed: look whether it can go on */
    bool is_done;           /* to be removed at the end of the step */
};

struct pl_question {
    struct pl_arena arena; /* of all strings below */
    struct pl_str tool_call_id, turn_id, loop_id, kind;
    struct pl_str questions; /* JSON array */
    int64_t asked_ms;
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
    int64_t context_window; /* of the model last named */
    bool is_full;           /* of the root loop, while there is none */
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
    bool has_durable;    /* a durable frame was told: the session's row moves on too */
    bool is_changed;     /* the Session object changed and session:updated is still owed */
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
void pl_step_put_row(struct pl_step *x, const struct pl_session_row *row);
void pl_step_put_session(struct pl_step *x, enum pl_row_kind kind);
/* All strings are copied into the out. */
void pl_step_want(struct pl_step *x, const struct pl_session_effect *effect);
struct pl_str pl_step_keep(struct pl_step *x, struct pl_str s); /* arena of the out */
/* Ends what was written into out->text: a copy in the arena of the out. */
struct pl_str pl_step_take_text(struct pl_step *x);
void pl_step_reply(struct pl_step *x, const char *key, struct pl_str text);

/* The one who writes a session's status: legal edges only. session:updated is told at once. */
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
                                struct pl_str timing, struct pl_turn_end *ret_end);
/* Copies to the heap and frees what was there. */
void pl_step_set_text(struct pl_step *x, struct pl_str *field, struct pl_str value);

/* --- model.c: a turn grows ------------------------------------------------------------------- */

/* Tells the text that waits; `closes`: and what the open block's content has not told. */
void pl_turn_flush(struct pl_step *x, struct pl_turn *turn, bool closes);
/* Tells the last block, which is a closed one. */
void pl_turn_tell_block(struct pl_step *x, struct pl_turn *turn);
/* Every open call is cancelled; told by the turn:end that follows. */
void pl_turn_cancel_calls(struct pl_turn *turn);
enum pl_status pl_step_tick(struct pl_step *x);
enum pl_status pl_step_model_text(struct pl_step *x);
enum pl_status pl_step_model_block(struct pl_step *x);
enum pl_status pl_step_model_proof(struct pl_step *x);
enum pl_status pl_step_model_call(struct pl_step *x);
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
struct pl_call *pl_call_find(const struct pl_session *s, struct pl_str id,
                             struct pl_agent_loop **ret_loop);
/* A new turn of the loop, streaming; not yet told and nobody's. NULL when out of memory. */
struct pl_turn *pl_turn_create(struct pl_step *x, const struct pl_agent_loop *loop,
                               enum pl_turn_role role);
void pl_turn_destroy(struct pl_turn *turn); /* accepts NULL */
/* A turn that is complete as soon as it is there: told, stored, gone. */
void pl_turn_say(struct pl_step *x, struct pl_turn *turn);
void pl_turn_set_status(struct pl_step *x, struct pl_turn *turn, enum pl_turn_status status);
/* Terminal: told whole, stored, gone. `error` may be {NULL, 0}. */
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
void pl_calls_start(struct pl_step *x, struct pl_agent_loop *loop);
/* The first terminal result wins: status, result, blocks, patch. `result` is compact JSON. */
void pl_call_settle(struct pl_step *x, struct pl_agent_loop *loop, struct pl_call *call,
                    bool is_error, struct pl_str result, int64_t duration_ms);
/* The same with a sentence as the error. */
void pl_call_fail(struct pl_step *x, struct pl_agent_loop *loop, struct pl_call *call,
                  struct pl_str reason);
void pl_call_set_status(struct pl_step *x, struct pl_turn *turn, struct pl_call *call,
                        enum pl_call_status status);
enum pl_status pl_step_tool_result(struct pl_step *x);

/* --- question.c ------------------------------------------------------------------------------ */

void pl_question_ask(struct pl_step *x, struct pl_agent_loop *loop, struct pl_call *call,
                     struct pl_str kind, struct pl_str questions);
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
/* Whether nothing of this call can happen before a person answers. */
bool pl_call_waits(const struct pl_session *s, const struct pl_call *call);
enum pl_status pl_step_answer(struct pl_step *x);
enum pl_status pl_step_tool_asks(struct pl_step *x);

/* --- chat.c, queue.c ------------------------------------------------------------------------- */

/* One message of a user: an event's, or one that waited. */
struct pl_said {
    struct pl_str message; /* JSON, checked */
    struct pl_str client_message_id, model;
    int64_t context_window;
    enum pl_chat_mode mode;
    bool steers;
    bool is_queued; /* it waited */
};
const char *pl_chat_mode_text(enum pl_chat_mode mode);

enum pl_status pl_step_chat(struct pl_step *x);
void pl_chat_start_next(struct pl_step *x);
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

enum pl_status pl_message_check(struct pl_step *x, struct pl_str message);
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

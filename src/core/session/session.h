/* A session as one pure function: apply(session, event) -> frames, rows, effects.
 *
 * Time, ids and randomness arrive inside the event; nothing here reads a clock or waits. So storing
 * the rows, sending the frames, replaying after a reconnect, recovering after a crash and testing
 * with a script are all the same operation. Objects and fields are those of seed 003.
 *
 * For every apply, the host, in this order:
 *   1. commits the rows in one transaction;
 *   2. publishes the frames in order, after those of every earlier apply. Frames without is_durable
 *      need not wait for their own rows (a checkpoint), but never overtake others;
 *   3. carries out the effects, and applies their outcome as events.
 *
 * A session has one caller. After PL_NOMEM it can only be destroyed: load it again from the store
 * and apply RECOVER. After any other failure it is unchanged. */
#ifndef PL_SESSION_SESSION_H
#define PL_SESSION_SESSION_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/text/uuid.h"
#include "base/vec.h"
#include "session/rows.h"

struct pl_session; /* owned */

/* Limits against misuse; a test goes one over each (tests/unit/session/limits_test.c). */
#define PL_SESSION_MAX_TURN_TEXT    (4u << 20)
#define PL_SESSION_MAX_PATCH        (256u << 10)
#define PL_SESSION_MAX_RESULT       (1u << 20)
#define PL_SESSION_MAX_SHOWN        (64u << 10) /* of a result, as shown to a model */
#define PL_SESSION_MAX_CALLS        128         /* per chat: from a user's message to chat:end */
#define PL_SESSION_MAX_BLOCKS       4096        /* of a turn */
#define PL_SESSION_MAX_WHOLE        1024 /* whole blocks among them: the row is written with each */
#define PL_SESSION_MAX_ASIDES       16   /* open questions of extensions */
#define PL_SESSION_MAX_PARALLEL     8
#define PL_SESSION_MAX_DEPTH        8
#define PL_SESSION_MAX_MS           (30 * 60 * 1000) /* of a chat; every answer restarts it */
#define PL_SESSION_MAX_QUEUED       64
#define PL_SESSION_MAX_QUEUED_BYTES (4u << 20) /* in total; a single message may be longer */
#define PL_SESSION_MAX_COMPACTIONS  2          /* in a row */
#define PL_SESSION_FULL_PERCENT     80         /* of the window: compact before the next call */
#define PL_SESSION_COALESCE_MS      20
#define PL_SESSION_COALESCE_BYTES   512
#define PL_SESSION_CHECKPOINT_MS    250
#define PL_SESSION_CHECKPOINT_BYTES 4096 /* or an eighth of the turn's text, if that is more */

/* --- events: the input ----------------------------------------------------------------------- */

enum pl_session_event_kind {
    PL_SE_CHAT,         /* a user sends a message */
    PL_SE_ANSWER,       /* a user answers a question */
    PL_SE_STOP,         /* a user stops everything; always accepted */
    PL_SE_COMPACT,      /* a user (or the context's size) asks for compaction */
    PL_SE_SETTINGS,     /* intent, model, pin, sharing, memory … */
    PL_SE_TICK,         /* the time of pl_session_next_tick_ms has come */
    PL_SE_MODEL_TEXT,   /* a delta of text or thinking */
    PL_SE_MODEL_BLOCK,  /* a whole block of any type */
    PL_SE_MODEL_CALL,   /* a whole tool call */
    PL_SE_MODEL_END,    /* the model has finished this turn */
    PL_SE_MODEL_FAILED, /* the model failed */
    PL_SE_TOOL_RESULT,  /* a tool has finished, with or without an error */
    PL_SE_TOOL_ASKS,    /* a tool needs a person's approval before it runs */
    PL_SE_SUMMARY,      /* the result of SUMMARISE */
    PL_SE_SUMMARY_FAILED,
    PL_SE_RECOVER,       /* after a crash: ends what was open; the epoch is new */
    PL_SE_SHUT_DOWN,     /* before an orderly exit: like stop, but the queue is kept for the next
                         * start */
    PL_SE_NOTICE,        /* a system:notification to the session */
    PL_SE_MEMORY,        /* the memories that the model got with this turn's context */
    PL_SE_MODEL_PROOF,   /* a proof for the text or thinking that just ended, which only the vendor
                         * can check */
    PL_SE_GO_ON,         /* after a restart: continues with the queue, if the session is idle */
    PL_SE_MODEL_RESULT,  /* the recorded result of a call */
    PL_SE_TOOL_CLIENT,   /* the client runs the tool: the call waits for the client's result */
    PL_SE_CLIENT_RESULT, /* a client has run its tool, with or without an error */
    PL_SE_ASIDE,         /* an extension asks a person; its work continues meanwhile */
    PL_SE_ASIDE_END,     /* … and withdraws the question */
    PL_SE_TOOL_GO,       /* the host admits a call of the session's own tools (gates_calls) */
};

enum pl_when_busy { PL_BUSY_ENQUEUE, PL_BUSY_REJECT, PL_BUSY_INTERRUPT, PL_BUSY_STEER };
enum pl_chat_mode { PL_CHAT_MODE_KEEP, PL_CHAT_MODE_PLANNING, PL_CHAT_MODE_EXECUTING };
/* Language of the person who chats: for the display names of tools. */
enum pl_chat_language { PL_CHAT_ENGLISH, PL_CHAT_CHINESE };

/* All strings are views, valid during the call. JSON is one valid value without U+0000 and without
 * lone surrogates, which the caller has refused. */
struct pl_session_event {
    enum pl_session_event_kind kind;
    struct pl_id_seed *seed; /* borrowed: time (unix ms) and randomness for new ids */
    union {
        struct {
            struct pl_str message;           /* JSON: a string, or an array of parts */
            bool is_recorded;                /* a replay of a recorded message */
            struct pl_str client_message_id; /* may be empty; the host has already checked for a
                                              * repetition */
            struct pl_str model;             /* resolved name for this chat; empty: unchanged */
            int64_t context_window;          /* of that model */
            enum pl_chat_mode mode;
            enum pl_chat_language language;
            enum pl_when_busy when_busy;
            /* JSON {system_prompt?, settings?, tools?}, in place of the session's own during this
             * chat; empty: none */
            struct pl_str override;
            struct pl_str trace_id; /* W3C, 32 hex digits, of the request; empty: a new one */
            struct pl_str key_id;   /* of the sender's key, for its limits; may be empty */
        } chat;
        struct {
            struct pl_str tool_call_id;
            struct pl_str answer; /* JSON; for a confirmation {"approve":bool, "reason"?:string} */
            struct pl_str trace_id; /* as in chat; empty: the chat's own */
            struct pl_str key_id;
        } answer;
        struct {
            struct pl_str trigger; /* "manual", "auto", "forced_retry" */
            struct pl_str loop_id; /* empty: root */
        } compact;
        struct pl_session_settings {
            bool has_intent, has_model, has_shared, has_pinned, has_memory, has_persistent,
                has_replay, has_solution, has_biz_role, has_system_prompt, has_settings, has_tools,
                has_handoff;
            struct pl_str intent, model, solution_id, biz_role_id;
            bool shared, is_pinned, memory_enabled, is_persistent;
            /* JSON; empty: null. The session updates its member `status`: from running to finished
             * or stopped, and back to running when a stopped replay continues. */
            struct pl_str replay_state;
            /* For a running replay: its speed (JSON number), and whether it is paused. */
            bool has_replay_speed, has_replay_paused, replay_paused;
            struct pl_str replay_speed;
            struct pl_str system_prompt;            /* empty: null */
            struct pl_str settings, tools, handoff; /* JSON; empty: null */
        } settings;
        /* Model events name loop and turn. If that turn is no longer open, the event is ignored
         * (PL_OK, no output), so a late delta after a stop does no harm. */
        struct {
            struct pl_str loop_id, turn_id;
            bool is_thinking;
            struct pl_str text;         /* MODEL_TEXT: UTF-8, whole characters */
            struct pl_str type;         /* MODEL_BLOCK: one of the 12 types */
            struct pl_str content;      /* MODEL_BLOCK: JSON */
            struct pl_str tool_call_id; /* MODEL_BLOCK: of a call that ran elsewhere; or empty */
            struct pl_str tool_name;    /* MODEL_CALL; MODEL_BLOCK: of that call; or empty */
            struct pl_str display_name; /* the same */
            struct pl_str arguments;    /* MODEL_CALL: text that should be JSON */
            bool is_unknown;            /* MODEL_CALL: the tool was not offered */
            /* MODEL_PROOF, MODEL_CALL (or empty): JSON object {vendor, signature?, id?, data?};
             * with data, the thinking is encrypted */
            struct pl_str proof;
            struct pl_str model;  /* MODEL_END: the model that answered; may be empty */
            struct pl_str usage;  /* MODEL_END: JSON {input_tokens, output_tokens, …}; or empty */
            struct pl_str timing; /* MODEL_END: JSON {ttft_ms, total_ms, cost_usd}; or empty */
            /* MODEL_END: JSON object with further metadata of the answer, named as in seed 001,
             * A.6: model_version, system_fingerprint, finish_reason, safety_check, citation_map; or
             * empty */
            struct pl_str metadata;
            struct pl_str memory_refs; /* MEMORY: JSON array of MemoryRef */
            struct pl_str reason;      /* MODEL_FAILED: a sentence */
            struct pl_str error_info;  /* MODEL_FAILED: JSON {code, detail, …}; or empty */
            bool is_overflow; /* MODEL_FAILED: the context was too long: compact, try again */
            bool is_recorded; /* MODEL_CALL: it ran elsewhere and must not run again */
            bool is_last;     /* MODEL_END: the loop ends, even after calls */
            size_t call;      /* MODEL_RESULT: index of the call in the turn, from 0 … */
            struct pl_str result;
            bool is_error;
            int64_t duration_ms;
        } model;
        struct {
            struct pl_str tool_call_id;
            struct pl_str result; /* JSON; _meta.ui and _meta.bridge become blocks of their own */
            bool is_error;
            int64_t duration_ms;
            struct pl_str question_kind; /* TOOL_ASKS: "confirm", "capability" */
            struct pl_str questions; /* TOOL_ASKS: JSON {questions:[…]} as for AskUserQuestion */
            int64_t wait_ms;         /* TOOL_CLIENT: time limit for the client; 0: none */
        } tool;
        struct {
            struct pl_str loop_id, compaction_id;
            struct pl_str summary; /* text */
            struct pl_str reason;  /* SUMMARY_FAILED */
            /* SUMMARY: of the model call that wrote it, as in MODEL_END; all empty: none */
            struct pl_str model, usage, timing;
            int64_t tokens_before, tokens_after, archived_count;
        } summary;
        struct {
            struct pl_str id;        /* unique; answers use it as tool_call_id */
            struct pl_str turn_id;   /* of the call that asks; empty: none */
            struct pl_str kind;      /* "ask", "capability" */
            struct pl_str questions; /* JSON {questions:[…]} as for AskUserQuestion */
        } aside;
        struct {
            struct pl_str text;
        } notice;
    };
};

/* --- the output ------------------------------------------------------------------------------ */

/* X(name, text, is_durable): the events of a session on the wire. */
#define PL_FRAME_TABLE(X)                                                                          \
    X(CHAT_START, "chat:start", true)                                                              \
    X(TURN_START, "turn:start", true)                                                              \
    X(TURN_PATCH, "turn:patch", false)                                                             \
    X(TURN_END, "turn:end", true)                                                                  \
    X(CHAT_END, "chat:end", true)                                                                  \
    X(SESSION_UPDATED, "session:updated", true)                                                    \
    X(QUESTION_ASKED, "question:asked", true)                                                      \
    X(QUESTION_RESOLVED, "question:resolved", true)                                                \
    X(MEMORY_INJECTED, "memory:inject:done", true)                                                 \
    X(NOTIFICATION, "system:notification", false)

enum pl_frame_kind {
#define X(name, text, durable) PL_FRAME_##name,
    PL_FRAME_TABLE(X)
#undef X
        PL_FRAME_COUNT,
};
const char *pl_frame_text(enum pl_frame_kind kind);

struct pl_session_frame {
    enum pl_frame_kind kind;
    bool is_durable; /* as in the table; a patch with a durable change is durable, too */
    int64_t sequence;
    struct pl_str data; /* JSON object; has session_id and sequence; arena of the out */
    /* For a turn:patch of text without `content` in `data`: the same with `content`, built only
     * if out->wants_whole; otherwise {NULL, 0}. */
    struct pl_str whole;
};

enum pl_session_effect_kind {
    PL_EFFECT_CALL_MODEL,   /* loop_id, turn_id, model, mode: answer with MODEL_* events */
    PL_EFFECT_CANCEL_MODEL, /* loop_id, turn_id */
    PL_EFFECT_RUN_TOOL,     /* call; answer with TOOL_RESULT or TOOL_ASKS */
    PL_EFFECT_CANCEL_TOOL,  /* call */
    PL_EFFECT_SUMMARISE,    /* loop_id, compaction_id, trigger: answer with SUMMARY* */
    PL_EFFECT_TELL_ASIDE,   /* tool_call_id: an aside; arguments: the answer, empty: cancelled */
};

struct pl_session_effect {
    enum pl_session_effect_kind kind;
    struct pl_str loop_id, turn_id, model;
    struct pl_str compaction_id, trigger;
    enum pl_chat_mode mode;
    enum pl_chat_language language;
    struct pl_str trace_id; /* CALL_MODEL, SUMMARISE: of the request that caused it */
    struct pl_str key_id;   /* … and the key of that request; may be empty */
    struct pl_str tool_call_id, tool_name, arguments;
    bool is_confirmed; /* a person approved exactly these arguments */
};

enum pl_refusal {
    PL_REFUSAL_NONE,
    PL_REFUSAL_BUSY,                 /* session_busy */
    PL_REFUSAL_QUESTION_PENDING,     /* question_pending */
    PL_REFUSAL_QUESTION_NOT_PENDING, /* question_not_pending */
    PL_REFUSAL_QUEUE_FULL,           /* rate_limited */
    PL_REFUSAL_INVALID,              /* invalid_request: err has the details */
    PL_REFUSAL_NOT_FOUND,
};

/* Reused by each apply: pl_session_apply empties the arena and the vectors. */
struct pl_session_out {
    struct pl_arena arena;
    PL_VEC(struct pl_session_frame) frames;
    PL_VEC(struct pl_session_row) rows;
    PL_VEC(struct pl_session_effect) effects;
    struct pl_buf text;      /* scratch for frames before they move to the arena */
    struct pl_str reply;     /* JSON object for the caller: {"turn_id":…} and the like */
    enum pl_refusal refusal; /* with PL_CONFLICT, PL_LIMIT, PL_INVALID or PL_NOT_FOUND */
    bool is_behind;   /* set by the host: earlier rows are not stored yet, so no checkpoint now */
    bool wants_whole; /* set by the host: some subscriber asked for content:"always" */
    /* Set by the host: it gets calls of the session's own tools as RUN_TOOL first, and answers with
     * TOOL_GO to run them or with TOOL_RESULT. */
    bool gates_calls;
};
void pl_session_out_init(struct pl_session_out *out);
void pl_session_out_deinit(struct pl_session_out *out);

/* --- life ------------------------------------------------------------------------------------ */

/* Creates a session; its row is in *out (status created, epoch 1). Empty fields are null.
 * next_entry is the number of its initial turns; the host stores them in the same transaction. */
enum pl_status pl_session_create(const struct pl_session_record *record, struct pl_session_out *out,
                                 struct pl_session **ret_session, struct pl_error *err);
/* Loads a session from its stored rows: the session, its open turns, its open questions, its queue.
 * Rows are copied. If the session was running, apply RECOVER next. */
enum pl_status pl_session_load(const struct pl_session_record *record,
                               const struct pl_turn_row *turns, size_t n_turns,
                               const struct pl_question_row *questions, size_t n_questions,
                               const struct pl_queued_row *queued, size_t n_queued,
                               struct pl_session **ret_session, struct pl_error *err);
void pl_session_destroy(struct pl_session *session); /* accepts NULL */

enum pl_status pl_session_apply(struct pl_session *session, const struct pl_session_event *event,
                                struct pl_session_out *out, struct pl_error *err);

/* --- reading --------------------------------------------------------------------------------- */

const struct pl_session_record *pl_session_record(const struct pl_session *session);
/* Sequence of the last event. The text waiting to be coalesced is not part of any projection. */
int64_t pl_session_position(const struct pl_session *session);
/* When to apply TICK (unix ms); INT64_MAX: no need. */
int64_t pl_session_next_tick_ms(const struct pl_session *session);
/* No open turn, empty queue, no question: the session may be unloaded. */
bool pl_session_is_quiet(const struct pl_session *session);
/* Whether a model, a tool or a summary is running for it. */
bool pl_session_is_running(const struct pl_session *session);
/* The W3C trace of the current request, 32 digits; empty: none yet. */
struct pl_str pl_session_trace(const struct pl_session *session);

/* Writes the Session object, as for GET. */
void pl_session_write(const struct pl_session *session, struct pl_buf *to);
/* Memory taken by the queue. */
size_t pl_session_queued_bytes(const struct pl_session *session);
/* Projections of the open turns, oldest first, as array elements without brackets. */
size_t pl_session_n_open_turns(const struct pl_session *session);
void pl_session_write_open_turn(const struct pl_session *session, size_t i, struct pl_buf *to);
/* False if no open turn has this id. */
bool pl_session_write_turn(const struct pl_session *session, struct pl_str turn_id,
                           struct pl_buf *to);
/* The open questions as a JSON array. */
void pl_session_write_questions(const struct pl_session *session, struct pl_buf *to);
/* The queue as a JSON array. */
void pl_session_write_queue(const struct pl_session *session, struct pl_buf *to);

#endif

/* One turn in memory: the TurnProjection of seed 003, and the state of its growth.
 *
 * Ownership: data that does not grow is in the turn's arena; the text of a block is a separate
 * buffer. All of it is freed with the turn. Out of memory sets `is_oom`, which is checked once, at
 * the end of the step. */
#ifndef PL_SESSION_TURN_INT_H
#define PL_SESSION_TURN_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/text/uuid.h"
#include "base/vec.h"
#include "json/write.h"
#include "session/rows.h"
#include "session/session.h"

/* Kind of a block's content. */
enum pl_content_kind { PL_CONTENT_TEXT, PL_CONTENT_OBJECT, PL_CONTENT_ANY, PL_CONTENT_NONE };

/* X(name, text, content): seed 003, ContentBlock, and `media`, which is ours. */
#define PL_BLOCK_TABLE(X)                                                                          \
    X(TEXT, "text", TEXT)                                                                          \
    X(THINKING, "thinking", TEXT)                                                                  \
    X(TOOL_USE, "tool_use", OBJECT)                                                                \
    X(TOOL_RESULT, "tool_result", ANY)                                                             \
    X(TOOL_UI, "tool_ui", OBJECT)                                                                  \
    X(TOOL_BRIDGE, "tool_bridge", OBJECT)                                                          \
    X(NOTIFICATION, "system_notification", TEXT)                                                   \
    X(MODE_CHANGE, "mode_change", OBJECT)                                                          \
    X(PLANNING_ENTER, "planning_enter", NONE)                                                      \
    X(PLANNING_EXIT, "planning_exit", NONE)                                                        \
    X(PLAN_STATUS, "plan_status", OBJECT)                                                          \
    X(ASK_USER_ANSWER, "ask_user_answer", OBJECT)                                                  \
    X(MEDIA, "media", OBJECT)

enum pl_block_type {
#define X(name, text, content) PL_BLOCK_##name,
    PL_BLOCK_TABLE(X)
#undef X
        PL_BLOCK_COUNT,
};
const char *pl_block_type_text(enum pl_block_type type);
enum pl_block_type pl_block_type_of(struct pl_str text);
enum pl_content_kind pl_block_content_kind(enum pl_block_type type);

#define PL_TOOL_CALL_STATUS_TABLE(X)                                                               \
    X(PENDING, "pending")                                                                          \
    X(DONE, "done")                                                                                \
    X(ERROR, "error")                                                                              \
    X(CANCELLED, "cancelled")                                                                      \
    X(AWAITING, "awaiting_answer")

enum pl_tool_call_status {
#define X(name, text) PL_TOOL_CALL_##name,
    PL_TOOL_CALL_STATUS_TABLE(X)
#undef X
        PL_TOOL_CALL_STATUS_COUNT,
};
const char *pl_tool_call_status_text(enum pl_tool_call_status status);
enum pl_tool_call_status pl_tool_call_status_of(struct pl_str text);

/* The legal edges. Every change of a status checks here first. */
bool pl_session_may_become(enum pl_session_status from, enum pl_session_status to);
bool pl_turn_may_become(enum pl_turn_status from, enum pl_turn_status to);
bool pl_tool_call_may_become(enum pl_tool_call_status from, enum pl_tool_call_status to);

enum { PL_NO_CALL = -1 };

struct pl_block {
    enum pl_block_type type;
    int32_t call;            /* index of the call it is made from, or PL_NO_CALL; a row omits its
                              * content */
    struct pl_buf text;      /* owned; if the content is a text */
    struct pl_str content;   /* JSON, arena; {NULL, 0}: null */
    struct pl_str proof;     /* JSON, arena; {NULL, 0}: none */
    struct pl_str variables; /* of a text: the places of the values of a prompt's variables
                              * (format/pieces/variables.h); JSON, arena; {NULL, 0}: none */
    struct pl_str tool_call_id, tool_name, display_name; /* arena; {NULL, 0}: null */
    size_t n_said; /* length of the text in the last published `content` */
};

struct pl_tool_call {
    struct pl_id id;
    struct pl_str tool_name, display_name, arguments; /* text, arena */
    enum pl_tool_call_status status;
    struct pl_str result;  /* JSON, arena; {NULL, 0}: null */
    struct pl_str proof;   /* JSON, arena; {NULL, 0}: none */
    int64_t duration_ms;   /* -1: null */
    struct pl_str ref;     /* pending_question_ref, JSON, arena; {NULL, 0}: null */
    struct pl_str changed; /* arguments from a hook in place of the model's, arena; {NULL, 0}:
                            * none */
    struct pl_str result_message; /* of an import, JSON, arena; {NULL, 0}: none */
    int64_t started_ms;
    int64_t asked_ms, answered_ms; /* when a person was asked, and answered; 0: not */
    bool is_started;               /* a tool, a person or a loop works on it */
    bool is_confirmed;             /* a person approved it */
    bool is_over;                  /* over the limit of calls: never runs */
    bool is_recorded;              /* it ran elsewhere: never runs */
    bool is_unknown;               /* the tool was not offered: never runs */
    bool is_client;                /* its client runs it */
    bool is_gated;                 /* a session's own tool: the host must admit it */
    bool is_admitted;              /* … and did */
    uint16_t shown;                /* blocks made from it: bits by pl_block_type */
};

enum pl_turn_role { PL_TURN_ROLE_ASSISTANT, PL_TURN_ROLE_USER, PL_TURN_ROLE_SYSTEM };
const char *pl_turn_role_text(enum pl_turn_role role);
/* An unknown text means assistant. */
enum pl_turn_role pl_turn_role_of(struct pl_str text);

/* Data known when the model has finished, published with turn:end. */
struct pl_turn_end {
    struct pl_str model;                   /* text, arena */
    struct pl_str usage, timing, metadata; /* JSON, arena */
};

struct pl_compaction {
    struct pl_str id, summary, trigger; /* text, arena */
    int64_t archived_count, tokens_before, tokens_after;
};

struct pl_turn {
    struct pl_arena arena;
    bool is_oom;
    struct pl_id id; /* turn_…; the entry's id has the same UUID */
    struct pl_str loop_id;
    int64_t sequence, last_event;
    enum pl_turn_role role;
    enum pl_turn_status status;
    bool is_compaction;
    PL_VEC(struct pl_block) blocks;
    PL_VEC(struct pl_tool_call) calls;
    struct pl_str model, usage, timing; /* as in pl_turn_end */
    struct pl_str metadata;             /* JSON, arena; seed 001, A.6; set at the end of the turn */
    struct pl_str error_info;       /* JSON, arena: of a failure, with its code; {NULL, 0}: none */
    struct pl_str message_id, name; /* text, arena; from an imported message */
    struct pl_str trace_id;         /* text, arena; of the request that caused the turn */
    struct pl_str memory_refs;      /* JSON, arena; memories that the model got */
    int64_t started_ms, duration_ms, context_window;
    struct pl_str parent_call_id, client_message_id, error; /* text, arena; {NULL, 0}: null */
    struct pl_compaction compaction;

    /* While the turn is open: */
    struct pl_turn_end end;
    bool has_ended;         /* the model has finished; only calls are left */
    bool is_last;           /* the loop ends with this turn, even after calls */
    bool is_over;           /* a call exceeded the limit: fails when the others are done */
    bool has_open_block;    /* the last block still grows */
    bool waits_as_thinking; /* type of the waiting text */
    struct pl_buf waiting;  /* unpublished text, in no projection */
    int64_t waiting_since_ms;
    size_t n_text;    /* bytes of text, blocks and arguments: PL_SESSION_MAX_TURN_TEXT */
    size_t n_whole;   /* blocks that came whole: PL_SESSION_MAX_WHOLE */
    size_t n_unsaved; /* bytes published since the last row */
    int64_t saved_ms; /* when the last row was written */
    bool is_dirty;    /* this step must write its row */
    int64_t n_chat_calls;
    enum pl_chat_language language;
};

void pl_turn_init(struct pl_turn *turn);
void pl_turn_deinit(struct pl_turn *turn);
/* Copies into the turn's arena; {NULL, 0} stays so. */
struct pl_str pl_turn_keep(struct pl_turn *turn, struct pl_str s);
struct pl_turn_end pl_turn_keep_end(struct pl_turn *turn, const struct pl_turn_end *end);
/* A new last block; NULL if out of memory. */
struct pl_block *pl_turn_add_block(struct pl_turn *turn, enum pl_block_type type);
/* Add the blocks of a call: its tool_use, and those of its result (tool_result, tool_ui,
 * tool_bridge). */
void pl_turn_add_use(struct pl_turn *turn, size_t call);
void pl_turn_add_result(struct pl_turn *turn, size_t call);
/* --- metadata.c: the metadata of an answer by seed 001, A.6 */
/* Sets the metadata of an ended turn from its model, usage and timing and from the model's own;
 * memory of the turn. */
void pl_turn_set_metadata(struct pl_turn *turn, struct pl_str session_id);
/* Keeps only the metadata that belongs to the text: for readers other than the owner, and for a
 * model. */
void pl_turn_reduce_metadata(struct pl_turn *turn);

bool pl_turn_has_open_calls(const struct pl_turn *turn);
bool pl_tool_call_is_terminal(const struct pl_tool_call *call);

/* The TurnProjection, as one value. Proofs are published with the end of a turn. */
void pl_turn_write(const struct pl_turn *turn, struct pl_json_out *out);
/* The members of a ContentBlock, without its braces. */
void pl_block_write(const struct pl_block *block, struct pl_json_out *out);

/* To and from a row. The body is allocated in `arena`; for an open turn it also has the state that
 * the loop needs to continue. */
enum pl_status pl_turn_to_row(const struct pl_turn *turn, struct pl_str session_id,
                              struct pl_buf *scratch, struct pl_arena *arena,
                              struct pl_turn_row *ret_row);
/* `turn` is initialised; after a failure it can only be deinitialised. */
enum pl_status pl_turn_from_row(struct pl_turn *turn, const struct pl_turn_row *row,
                                struct pl_error *err);

/* A member that is text or null. */
void pl_out_member(struct pl_json_out *out, const char *key, struct pl_str text);
/* A member that is JSON or null. */
void pl_out_json(struct pl_json_out *out, const char *key, struct pl_str json);
void pl_out_time(struct pl_json_out *out, const char *key, int64_t unix_ms);

#endif

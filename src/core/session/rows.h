/* The stored form of a session: flat rows, the same for every store. Strings are views; the
 * function that fills a row documents what they point into. */
#ifndef PL_SESSION_ROWS_H
#define PL_SESSION_ROWS_H

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

/* X(name, text) */
#define PL_SESSION_STATUS_TABLE(X)                                                                 \
    X(CREATED, "created")                                                                          \
    X(RUNNING, "running")                                                                          \
    X(COMPLETED, "completed")                                                                      \
    X(FAILED, "failed")                                                                            \
    X(INTERRUPTED, "interrupted")                                                                  \
    X(WAITING, "waiting_for_input")

enum pl_session_status {
#define X(name, text) PL_SESSION_##name,
    PL_SESSION_STATUS_TABLE(X)
#undef X
        PL_SESSION_STATUS_COUNT,
};

#define PL_TURN_STATUS_TABLE(X)                                                                    \
    X(STREAMING, "streaming")                                                                      \
    X(COMPLETED, "completed")                                                                      \
    X(PAUSED, "paused")                                                                            \
    X(FAILED, "failed")                                                                            \
    X(INTERRUPTED, "interrupted")

enum pl_turn_status {
#define X(name, text) PL_TURN_##name,
    PL_TURN_STATUS_TABLE(X)
#undef X
        PL_TURN_STATUS_COUNT,
};

/* Texts as in seed 003; COUNT for an unknown text. */
const char *pl_session_status_text(enum pl_session_status status);
enum pl_session_status pl_session_status_of(struct pl_str text);
const char *pl_turn_status_text(enum pl_turn_status status);
enum pl_turn_status pl_turn_status_of(struct pl_str text);

struct pl_session_record {
    struct pl_str id, user_id;
    struct pl_str intent;                          /* text, never null */
    struct pl_str solution_id, biz_role_id, model; /* text; {NULL, 0} is null */
    enum pl_session_status status;
    int64_t created_ms, updated_ms;
    bool shared, is_pinned, memory_enabled, is_persistent;
    struct pl_str replay_state; /* JSON; {NULL, 0} is null */
    /* Settings for model calls. The Session object has them only if set; {NULL, 0} is null. Changes
     * are stored with a row of their own, PL_ROW_SETTINGS. */
    struct pl_str system_prompt;   /* text */
    struct pl_str settings, tools; /* JSON */
    struct pl_str handoff;         /* JSON: the packet it accepted; not in the Session object */
    /* JSON {system_prompt?, settings?, tools?}: values of the current chat in their place; not in
     * the Session object */
    struct pl_str chat_override;
    struct pl_str
        allowed; /* tools that need no further confirmation in this session, each name with a
                  * newline; {NULL, 0}: none */
    struct pl_str source; /* its origin, a word: "chat", "task" …; set once, empty: "chat" */
    bool is_planning;     /* the mode; not in the Session object */
    int64_t version;      /* grows with every change: the ETag */
    int64_t epoch;
    int64_t next_event; /* sequence of the next event, as far as stored */
    int64_t next_entry; /* sequence of the next turn */
};

struct pl_turn_row {
    struct pl_str session_id;
    int64_t sequence;      /* index of the entry in the session, from 0 */
    struct pl_str turn_id; /* "turn_" and a UUID; the entry's id is "entry_" and the same UUID */
    struct pl_str loop_id; /* "root" or "loop_" and a UUID */
    enum pl_turn_status status;
    bool is_compaction;
    int64_t last_event;              /* sequence of the last event that changed it */
    struct pl_str client_message_id; /* of a user's turn; may be empty */
    int64_t created_ms;
    struct pl_str body; /* JSON: the other members of the TurnProjection that are not at their
                         * default, so that a row costs little more than its text */
};

struct pl_question_row {
    struct pl_str session_id, tool_call_id, turn_id, loop_id;
    struct pl_str kind;      /* "ask", "confirm", "capability" */
    struct pl_str questions; /* JSON */
    struct pl_str state;     /* "pending", "answered", "cancelled" */
    struct pl_str answer;    /* JSON; {NULL, 0} while pending */
    int64_t asked_ms, settled_ms;
};

struct pl_queued_row {
    struct pl_str session_id;
    int64_t position; /* order in the queue; unique in the session */
    struct pl_str client_message_id;
    struct pl_str body; /* JSON: message, model, mode, whether it steers */
};

enum pl_row_kind {
    PL_ROW_NEW_SESSION, /* create; no row with this id exists */
    PL_ROW_SESSION,     /* change; a session deleted meanwhile stays deleted */
    PL_ROW_SETTINGS,    /* change of system_prompt, settings, tools, handoff and chat_override; only
                         * these and the session's id are used */
    PL_ROW_TURN,        /* put, by turn_id; a checkpoint is the same row with status streaming */
    PL_ROW_QUESTION,    /* put, by tool_call_id */
    PL_ROW_QUEUED,      /* create, by session and position */
    PL_ROW_UNQUEUED,    /* delete; only session_id and position are used */
};

struct pl_session_row {
    enum pl_row_kind kind;
    union {
        struct pl_session_record session;
        struct pl_turn_row turn;
        struct pl_question_row question;
        struct pl_queued_row queued;
    };
};

/* Write rows as a Session object and a TurnProjection, members in the seed's order. */
void pl_session_record_write(const struct pl_session_record *record, struct pl_buf *to);
enum pl_status pl_turn_row_write(const struct pl_turn_row *row, struct pl_buf *to);
/* The same for a stranger: without memory_refs, which quote other conversations, without proofs,
 * which concern only the owner and a vendor, and with only the citations of the metadata. */
enum pl_status pl_turn_row_write_shared(const struct pl_turn_row *row, struct pl_buf *to);
/* The same for a model: results in the order of their calls, truncated to PL_SESSION_MAX_SHOWN,
 * without cards. */
enum pl_status pl_turn_row_write_shown(const struct pl_turn_row *row, struct pl_buf *to);
/* Whether the body of a user's turn, or of a queued message, has the same content as this message
 * (JSON, as in a CHAT event). PL_INVALID, PL_SYNTAX: one of them is damaged. */
enum pl_status pl_body_says(struct pl_str body, struct pl_str message, bool *ret_is_same);
/* The title of a session without one: the first line of a text that has words, at most 80
 * characters. For a message (a text, or parts or blocks) the first text in it is used. Without
 * words, nothing is added. */
struct pl_json_doc;
struct pl_json_node;
void pl_title_write(struct pl_str text, struct pl_buf *to);
enum pl_status pl_message_title(const struct pl_json_doc *doc, const struct pl_json_node *message,
                                struct pl_buf *to);
/* Whether the turn is from a user, or from the caller of an Agent. */
bool pl_turn_row_is_user(const struct pl_turn_row *row);
/* Reads a foreign TurnProjection into a row without ids and position; an open turn becomes
 * interrupted, open calls cancelled. Memory of the arena. `origin` has values that a turn of
 * another product may lack. PL_INVALID: a block or call is malformed. */
struct pl_turn_origin {
    int64_t created_ms;     /* for a missing started_at */
    int64_t context_window; /* of the session's model, for an answer without one; 0: unknown */
};
struct pl_json_doc;
struct pl_json_node;
struct pl_arena;
enum pl_status pl_turn_row_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *projection,
                                const struct pl_turn_origin *origin, struct pl_turn_row *ret_row,
                                struct pl_error *err);

#endif

/* The statuses of a session, a turn and a tool call: their names (seed 003) and the allowed edges.
 * A status without an outgoing edge is terminal.
 *
 *     edges session
 *
 *     CREATED -> RUNNING -> COMPLETED, FAILED, INTERRUPTED -> RUNNING
 *     RUNNING -> WAITING -> RUNNING              a person is asked
 *     WAITING -> INTERRUPTED
 *
 *     edges turn
 *
 *     STREAMING -> COMPLETED
 *     STREAMING -> PAUSED -> STREAMING           every open call waits for a person
 *     STREAMING, PAUSED -> FAILED, INTERRUPTED
 *
 *     edges call
 *
 *     PENDING -> AWAITING -> PENDING             it waits for a person, or for its client
 *     PENDING, AWAITING -> DONE, ERROR, CANCELLED */
#include "session/turn/turn_int.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static size_t index_of(const char *const *names, size_t n, struct pl_str text)
{
    size_t i = 0;
    while (i < n && !pl_str_eq(pl_str_of(names[i]), text))
        i++;
    return i;
}

#define X(name, text) text,
static const char *const session_names[] = {PL_SESSION_STATUS_TABLE(X)};
static const char *const turn_names[] = {PL_TURN_STATUS_TABLE(X)};
static const char *const call_names[] = {PL_TOOL_CALL_STATUS_TABLE(X)};
#undef X
#define X(name, text, content) text,
static const char *const block_names[] = {PL_BLOCK_TABLE(X)};
#undef X
#define X(name, text, content) PL_CONTENT_##content,
static const enum pl_content_kind block_contents[] = {PL_BLOCK_TABLE(X)};
#undef X
#define X(name, text, durable) text,
static const char *const frame_names[] = {PL_FRAME_TABLE(X)};
#undef X

const char *pl_session_status_text(enum pl_session_status status)
{
    return session_names[status];
}

enum pl_session_status pl_session_status_of(struct pl_str text)
{
    return (enum pl_session_status)index_of(session_names, COUNT_OF(session_names), text);
}

const char *pl_turn_status_text(enum pl_turn_status status)
{
    return turn_names[status];
}

enum pl_turn_status pl_turn_status_of(struct pl_str text)
{
    return (enum pl_turn_status)index_of(turn_names, COUNT_OF(turn_names), text);
}

const char *pl_tool_call_status_text(enum pl_tool_call_status status)
{
    return call_names[status];
}

enum pl_tool_call_status pl_tool_call_status_of(struct pl_str text)
{
    return (enum pl_tool_call_status)index_of(call_names, COUNT_OF(call_names), text);
}

const char *pl_block_type_text(enum pl_block_type type)
{
    return block_names[type];
}

enum pl_block_type pl_block_type_of(struct pl_str text)
{
    return (enum pl_block_type)index_of(block_names, COUNT_OF(block_names), text);
}

enum pl_content_kind pl_block_content_kind(enum pl_block_type type)
{
    return block_contents[type];
}

const char *pl_frame_text(enum pl_frame_kind kind)
{
    return frame_names[kind];
}

#define BIT(status) (1u << (status))

static const unsigned session_edges[PL_SESSION_STATUS_COUNT] = {
    [PL_SESSION_CREATED] = BIT(PL_SESSION_RUNNING),
    [PL_SESSION_RUNNING] = BIT(PL_SESSION_COMPLETED) | BIT(PL_SESSION_FAILED) |
                           BIT(PL_SESSION_INTERRUPTED) | BIT(PL_SESSION_WAITING),
    [PL_SESSION_COMPLETED] = BIT(PL_SESSION_RUNNING),
    [PL_SESSION_FAILED] = BIT(PL_SESSION_RUNNING),
    [PL_SESSION_INTERRUPTED] = BIT(PL_SESSION_RUNNING),
    [PL_SESSION_WAITING] = BIT(PL_SESSION_RUNNING) | BIT(PL_SESSION_INTERRUPTED),
};

static const unsigned turn_edges[PL_TURN_STATUS_COUNT] = {
    [PL_TURN_STREAMING] = BIT(PL_TURN_COMPLETED) | BIT(PL_TURN_FAILED) | BIT(PL_TURN_INTERRUPTED) |
                          BIT(PL_TURN_PAUSED),
    [PL_TURN_PAUSED] = BIT(PL_TURN_STREAMING) | BIT(PL_TURN_INTERRUPTED) | BIT(PL_TURN_FAILED),
};

static const unsigned call_edges[PL_TOOL_CALL_STATUS_COUNT] = {
    [PL_TOOL_CALL_PENDING] = BIT(PL_TOOL_CALL_DONE) | BIT(PL_TOOL_CALL_ERROR) |
                             BIT(PL_TOOL_CALL_CANCELLED) | BIT(PL_TOOL_CALL_AWAITING),
    [PL_TOOL_CALL_AWAITING] = BIT(PL_TOOL_CALL_PENDING) | BIT(PL_TOOL_CALL_DONE) |
                              BIT(PL_TOOL_CALL_ERROR) | BIT(PL_TOOL_CALL_CANCELLED),
};

bool pl_session_may_become(enum pl_session_status from, enum pl_session_status to)
{
    return session_edges[from] & BIT(to);
}

bool pl_turn_may_become(enum pl_turn_status from, enum pl_turn_status to)
{
    return turn_edges[from] & BIT(to);
}

bool pl_tool_call_may_become(enum pl_tool_call_status from, enum pl_tool_call_status to)
{
    return call_edges[from] & BIT(to);
}

bool pl_tool_call_is_terminal(const struct pl_tool_call *call)
{
    return !call_edges[call->status];
}

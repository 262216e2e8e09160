/* Hooks: the events an extension may observe or decide, how it subscribes, and the meaning of its
 * answers.
 *
 * Deciding hooks run one after another; each sees the changes of the previous one. A block beats a
 * question, and a question beats an approval. */
#ifndef PL_EXTPROTO_HOOK_H
#define PL_EXTPROTO_HOOK_H

#include "json/json.h"

/* X(name, text, flags) */
#define PL_EXT_HOOK_TABLE(X)                                                                       \
    X(INPUT, "input", DECIDES | CLOSED | CONTENT)                                                  \
    X(BEFORE_AGENT_START, "before_agent_start", DECIDES | CONTENT)                                 \
    X(CONTEXT, "context", DECIDES | CONTENT)                                                       \
    X(BEFORE_PROVIDER_REQUEST, "before_provider_request", DECIDES | CONTENT)                       \
    X(TOOL_CALL, "tool_call", DECIDES | CLOSED | CONTENT | OF_TOOL)                                \
    X(TOOL_CALL_FINAL, "tool_call_final", DECIDES | CLOSED | CONTENT | OF_TOOL)                    \
    X(TOOL_RESULT, "tool_result", DECIDES | CONTENT | OF_TOOL)                                     \
    X(SESSION_BEFORE_COMPACT, "session_before_compact", DECIDES | CLOSED | CONTENT)                \
    X(SESSION_BEFORE_FORK, "session_before_fork", DECIDES | CLOSED | CONTENT)                      \
    X(SESSION_BEFORE_SWITCH, "session_before_switch", DECIDES | CLOSED | CONTENT)                  \
    X(STARTUP, "startup", 0)                                                                       \
    X(SESSION_START, "session_start", 0)                                                           \
    X(SESSION_SHUTDOWN, "session_shutdown", 0)                                                     \
    X(AGENT_START, "agent_start", 0)                                                               \
    X(AGENT_END, "agent_end", 0)                                                                   \
    X(AGENT_SETTLED, "agent_settled", 0)                                                           \
    X(TURN_START, "turn_start", 0)                                                                 \
    X(TURN_END, "turn_end", 0)                                                                     \
    X(MESSAGE_UPDATE, "message_update", CONTENT)                                                   \
    X(MESSAGE_END, "message_end", CONTENT)                                                         \
    X(TOOL_EXECUTION_START, "tool_execution_start", CONTENT | OF_TOOL)                             \
    X(TOOL_EXECUTION_UPDATE, "tool_execution_update", CONTENT | OF_TOOL)                           \
    X(TOOL_EXECUTION_END, "tool_execution_end", CONTENT | OF_TOOL)                                 \
    X(MODEL_SELECT, "model_select", 0)                                                             \
    X(SHUTDOWN, "shutdown", 0)

enum pl_ext_hook {
#define X(name, text, flags) PL_EXT_HOOK_##name,
    PL_EXT_HOOK_TABLE(X)
#undef X
        PL_EXT_HOOK_COUNT, /* no hook; in a subscription: a topic of the bus */
};

enum pl_ext_hook_flag {
    PL_EXT_HOOK_DECIDES = 1, /* the host waits for an answer */
    PL_EXT_HOOK_CLOSED = 2,  /* failure, timeout or death blocks */
    PL_EXT_HOOK_CONTENT = 4, /* contains content: needs the capability session */
    PL_EXT_HOOK_OF_TOOL = 8, /* may be limited to tools: NAME:GLOB */
};

const char *pl_ext_hook_text(enum pl_ext_hook hook);
unsigned pl_ext_hook_flags(enum pl_ext_hook hook);
enum pl_ext_hook pl_ext_hook_find(struct pl_str text);

/* An entry of `event_hooks`: NAME, NAME!, NAME:GLOB, NAME!:GLOB, bus:TOPIC. */
struct pl_ext_subscription {
    enum pl_ext_hook hook; /* PL_EXT_HOOK_COUNT: `glob` is the topic */
    struct pl_str glob;    /* of tool names; empty: all; a view */
    bool is_closed;        /* by the hook itself, or by '!' */
};
/* False: an unknown hook, or a glob for a hook without tools. */
bool pl_ext_subscription_read(struct pl_str text, struct pl_ext_subscription *ret_subscription);
/* Whether the subscription includes this event; `tool` is empty if the event has none. */
bool pl_ext_subscription_wants(const struct pl_ext_subscription *subscription,
                               enum pl_ext_hook hook, struct pl_str tool);

enum pl_ext_verdict { PL_EXT_VERDICT_GO, PL_EXT_VERDICT_ASK, PL_EXT_VERDICT_BLOCK };

/* The `data` of an answer, parsed. */
struct pl_ext_answer {
    enum pl_ext_verdict verdict;
    bool is_handled;                    /* input: the extension handled it; it is not passed on */
    const struct pl_json_node *reason;  /* a string, or NULL */
    const struct pl_json_node *changed; /* the object with the members to replace, or NULL */
};
/* `data` may be NULL, which means {}. PL_INVALID: a member has the wrong type or an unknown value,
 * or the hook does not have the member; err has the pointer into the data. */
enum pl_status pl_ext_answer_read(enum pl_ext_hook hook, const struct pl_json_doc *doc,
                                  const struct pl_json_node *data, struct pl_ext_answer *ret_answer,
                                  struct pl_error *err);
/* The verdict if no answer came. */
enum pl_ext_verdict pl_ext_answer_missing(const struct pl_ext_subscription *subscription);
/* Returns the stricter verdict. */
enum pl_ext_verdict pl_ext_verdict_join(enum pl_ext_verdict a, enum pl_ext_verdict b);

#endif

/* A table per kind of event. */
#include "live/wire/event_wire.h"

#define TEXT(member)        PL_WIRE(TEXT, pl_session_event, member)
#define FLAG(member)        PL_WIRE(FLAG, pl_session_event, member)
#define NUMBER(member)      PL_WIRE(NUMBER, pl_session_event, member)
#define WORD(member, table) PL_WIRE_ENUM(pl_session_event, member, table)

/* The comments list the senders; a new sender of another kind adds a line. */
static const char *const kind_names[] = {
    [PL_SE_CHAT] = "chat",                   /* routes, sockets, extensions */
    [PL_SE_ANSWER] = "answer",               /* routes, sockets */
    [PL_SE_STOP] = "stop",                   /* routes, sockets, tasks */
    [PL_SE_COMPACT] = "compact",             /* routes, sockets */
    [PL_SE_SETTINGS] = "settings",           /* routes, extensions */
    [PL_SE_NOTICE] = "notice",               /* extensions */
    [PL_SE_GO_ON] = "go_on",                 /* the service, after a restart */
    [PL_SE_CLIENT_RESULT] = "client_result", /* routes, sockets */
    [PL_SE_ASIDE] = "aside",                 /* extensions */
    [PL_SE_ASIDE_END] = "aside_end",
};
static const struct pl_wire_words kinds = PL_WIRE_WORDS(kind_names);

static const char *const busy_names[] = {
    [PL_BUSY_ENQUEUE] = "enqueue",
    [PL_BUSY_REJECT] = "reject",
    [PL_BUSY_INTERRUPT] = "interrupt",
    [PL_BUSY_STEER] = "steer",
};
static const struct pl_wire_words busy = PL_WIRE_WORDS(busy_names);

static const char *const mode_names[] = {
    [PL_CHAT_MODE_KEEP] = "keep",
    [PL_CHAT_MODE_PLANNING] = "planning",
    [PL_CHAT_MODE_EXECUTING] = "executing",
};
static const struct pl_wire_words modes = PL_WIRE_WORDS(mode_names);

static const char *const language_names[] = {
    [PL_CHAT_ENGLISH] = "english",
    [PL_CHAT_CHINESE] = "chinese",
};
static const struct pl_wire_words languages = PL_WIRE_WORDS(language_names);

static const struct pl_wire_field nothing[] = {{0}};

static const struct pl_wire_field chat[] = {
    TEXT(chat.message),
    FLAG(chat.is_recorded),
    TEXT(chat.client_message_id),
    TEXT(chat.model),
    NUMBER(chat.context_window),
    WORD(chat.mode, modes),
    WORD(chat.language, languages),
    WORD(chat.when_busy, busy),
    TEXT(chat.override),
    TEXT(chat.trace_id),
    TEXT(chat.key_id),
    {0},
};

static const struct pl_wire_field answer[] = {
    TEXT(answer.tool_call_id), TEXT(answer.answer), TEXT(answer.trace_id), TEXT(answer.key_id), {0},
};

static const struct pl_wire_field compact[] = {
    TEXT(compact.trigger),
    TEXT(compact.loop_id),
    {0},
};

static const struct pl_wire_field settings[] = {
    FLAG(settings.has_intent),
    FLAG(settings.has_model),
    FLAG(settings.has_shared),
    FLAG(settings.has_pinned),
    FLAG(settings.has_memory),
    FLAG(settings.has_persistent),
    FLAG(settings.has_replay),
    FLAG(settings.has_solution),
    FLAG(settings.has_biz_role),
    FLAG(settings.has_system_prompt),
    FLAG(settings.has_settings),
    FLAG(settings.has_tools),
    FLAG(settings.has_handoff),
    TEXT(settings.intent),
    TEXT(settings.model),
    TEXT(settings.solution_id),
    TEXT(settings.biz_role_id),
    FLAG(settings.shared),
    FLAG(settings.is_pinned),
    FLAG(settings.memory_enabled),
    FLAG(settings.is_persistent),
    TEXT(settings.replay_state),
    FLAG(settings.has_replay_speed),
    FLAG(settings.has_replay_paused),
    FLAG(settings.replay_paused),
    TEXT(settings.replay_speed),
    TEXT(settings.system_prompt),
    TEXT(settings.settings),
    TEXT(settings.tools),
    TEXT(settings.handoff),
    {0},
};

static const struct pl_wire_field tool[] = {
    TEXT(tool.tool_call_id),  TEXT(tool.result),    FLAG(tool.is_error),  NUMBER(tool.duration_ms),
    TEXT(tool.question_kind), TEXT(tool.questions), NUMBER(tool.wait_ms), {0},
};

static const struct pl_wire_field aside[] = {
    TEXT(aside.id), TEXT(aside.turn_id), TEXT(aside.kind), TEXT(aside.questions), {0},
};

static const struct pl_wire_field notice[] = {
    TEXT(notice.text),
    {0},
};

const struct pl_wire_field *pl_event_wire_fields(enum pl_session_event_kind kind)
{
    static const struct pl_wire_field *const tables[] = {
        [PL_SE_CHAT] = chat,       [PL_SE_ANSWER] = answer,      [PL_SE_STOP] = nothing,
        [PL_SE_COMPACT] = compact, [PL_SE_SETTINGS] = settings,  [PL_SE_NOTICE] = notice,
        [PL_SE_GO_ON] = nothing,   [PL_SE_CLIENT_RESULT] = tool, [PL_SE_ASIDE] = aside,
        [PL_SE_ASIDE_END] = aside,
    };
    return (size_t)kind < sizeof tables / sizeof *tables ? tables[kind] : NULL;
}

enum pl_status pl_event_wire_put(struct pl_buf *to, const struct pl_session_event *event,
                                 struct pl_error *err)
{
    size_t at = to->len;
    enum pl_status status = pl_wire_put_word(to, &kinds, event->kind, "event.kind", err);
    if (status == PL_OK)
        status = pl_wire_put(to, pl_event_wire_fields(event->kind), event, err);
    if (status != PL_OK)
        to->len = at;
    return status;
}

enum pl_status pl_event_wire_take(struct pl_node_fields *fields, struct pl_session_event *ret_event,
                                  struct pl_error *err)
{
    unsigned kind = 0;
    struct pl_session_event event;
    memset(&event, 0, sizeof event);
    enum pl_status status = pl_wire_take_word(fields, &kinds, &kind, "event.kind", err);
    if (status != PL_OK)
        return status;
    event.kind = (enum pl_session_event_kind)kind;
    status = pl_wire_take(fields, pl_event_wire_fields(event.kind), &event, err);
    if (status == PL_OK)
        *ret_event = event;
    return status;
}

#include "session/script_events.h"

#include "json/number.h"
#include "json/text.h"
#include "json/write.h"

/* --- arguments ------------------------------------------------------------------------------- */

static const struct pl_json_node *arg(const struct script_args *s, const char *key)
{
    return s->doc.root ? pl_json_get(&s->doc, s->doc.root, pl_str_of(key)) : NULL;
}

static int64_t arg_int(const struct script_args *s, const struct pl_json_node *n)
{
    int64_t value = 0;
    if (n && !pl_json_number_int64(pl_json_span(&s->doc, n), &value))
        return 0;
    return value;
}

static struct pl_str node_text(struct script_args *s, const struct pl_json_node *n)
{
    struct pl_str text = {0};
    if (n && pl_json_text(&s->arena, &s->doc, n, &text) != PL_OK)
        return (struct pl_str){0};
    return pattern_value(&s->names, text);
}

static struct pl_str arg_text(struct script_args *s, const char *key)
{
    const struct pl_json_node *n = arg(s, key);
    if (!n || pl_json_kind(n) != PL_JSON_OBJECT)
        return node_text(s, n);
    struct pl_str unit = node_text(s, pl_json_get(&s->doc, n, PL_STR("repeat")));
    int64_t times = arg_int(s, pl_json_get(&s->doc, n, PL_STR("n")));
    char *text = pl_arena_alloc(&s->arena, (size_t)times, unit.len);
    for (int64_t i = 0; i < times; i++)
        memcpy(text + (size_t)i * unit.len, unit.ptr, unit.len);
    return (struct pl_str){text, (size_t)times * unit.len};
}

/* JSON unchanged; {"repeat"…} as a JSON string. */
static struct pl_str arg_json(struct script_args *s, const char *key)
{
    const struct pl_json_node *n = arg(s, key);
    if (!n)
        return (struct pl_str){0};
    if (pl_json_kind(n) != PL_JSON_OBJECT || !pl_json_get(&s->doc, n, PL_STR("repeat")))
        return pl_json_span(&s->doc, n);
    pl_buf_clear(&s->scratch);
    pl_json_quote(&s->scratch, arg_text(s, key));
    return pl_arena_dup(&s->arena, pl_buf_str(&s->scratch));
}

static bool arg_true(const struct script_args *s, const char *key)
{
    const struct pl_json_node *n = arg(s, key);
    return n && pl_json_kind(n) == PL_JSON_TRUE;
}

/* --- events ---------------------------------------------------------------------------------- */

size_t script_word_index(const char *const *words, struct pl_str word)
{
    size_t i = 0;
    while (words[i] && !pl_str_eq(pl_str_of(words[i]), word))
        i++;
    return words[i] ? i : 0;
}

static void fill_chat(struct script_args *s, struct pl_session_event *e)
{
    static const char *const modes[] = {"keep", "planning", "executing", NULL};
    static const char *const busy[] = {"enqueue", "reject", "interrupt", "steer", NULL};
    e->chat.message = arg_json(s, "message");
    e->chat.is_recorded = arg_true(s, "recorded");
    e->chat.client_message_id = arg_text(s, "id");
    e->chat.model = arg_text(s, "model");
    e->chat.trace_id = arg_text(s, "trace");
    e->chat.context_window = arg_int(s, arg(s, "window"));
    e->chat.mode = (enum pl_chat_mode)script_word_index(modes, arg_text(s, "mode"));
    e->chat.when_busy = (enum pl_when_busy)script_word_index(busy, arg_text(s, "busy"));
    e->chat.override = arg_json(s, "override");
}

static void fill_answer(struct script_args *s, struct pl_session_event *e)
{
    e->answer.tool_call_id = arg_text(s, "call");
    e->answer.answer = arg_json(s, "answer");
}

static void fill_compact(struct script_args *s, struct pl_session_event *e)
{
    e->compact.trigger = arg_text(s, "trigger");
    e->compact.loop_id = arg_text(s, "loop");
}

static void fill_settings(struct script_args *s, struct pl_session_event *e)
{
    e->settings.has_intent = arg(s, "intent");
    e->settings.intent = arg_text(s, "intent");
    e->settings.has_model = arg(s, "model");
    e->settings.model = arg_text(s, "model");
    e->settings.has_pinned = arg(s, "pinned");
    e->settings.is_pinned = arg_true(s, "pinned");
    e->settings.has_shared = arg(s, "shared");
    e->settings.shared = arg_true(s, "shared");
    e->settings.has_memory = arg(s, "memory");
    e->settings.memory_enabled = arg_true(s, "memory");
    e->settings.has_persistent = arg(s, "persistent");
    e->settings.is_persistent = arg_true(s, "persistent");
    e->settings.has_replay = arg(s, "replay");
    e->settings.replay_state = arg_json(s, "replay");
    e->settings.has_replay_paused = arg(s, "paused");
    e->settings.replay_paused = arg_true(s, "paused");
    e->settings.has_replay_speed = arg(s, "speed");
    e->settings.replay_speed = arg_json(s, "speed");
    e->settings.has_solution = arg(s, "solution");
    e->settings.solution_id = arg_text(s, "solution");
    e->settings.has_biz_role = arg(s, "role");
    e->settings.biz_role_id = arg_text(s, "role");
    e->settings.has_system_prompt = arg(s, "system_prompt");
    e->settings.system_prompt = arg_text(s, "system_prompt");
    e->settings.has_settings = arg(s, "settings");
    e->settings.settings = arg_json(s, "settings");
    e->settings.has_tools = arg(s, "tools");
    e->settings.tools = arg_json(s, "tools");
    e->settings.has_handoff = arg(s, "handoff");
    e->settings.handoff = arg_json(s, "handoff");
}

static void fill_model(struct script_args *s, struct pl_session_event *e)
{
    e->model.loop_id = arg(s, "loop") ? arg_text(s, "loop") : PL_STR("root");
    e->model.turn_id = arg_text(s, "turn");
    e->model.is_thinking = arg_true(s, "thinking");
    e->model.text = arg_text(s, "text");
    e->model.type = arg_text(s, "type");
    e->model.content = arg_json(s, "content");
    e->model.tool_call_id = arg_text(s, "tool_call_id");
    e->model.tool_name = arg_text(s, "tool");
    e->model.display_name = arg_text(s, "display");
    e->model.arguments = arg_text(s, "arguments");
    e->model.is_unknown = arg_true(s, "unknown");
    e->model.proof = arg_json(s, "proof");
    e->model.model = arg_text(s, "model");
    e->model.usage = arg_json(s, "usage");
    e->model.timing = arg_json(s, "timing");
    e->model.metadata = arg_json(s, "metadata");
    e->model.memory_refs = arg_json(s, "memory_refs");
    e->model.reason = arg_text(s, "reason");
    e->model.is_overflow = arg_true(s, "overflow");
    e->model.is_recorded = arg_true(s, "recorded");
    e->model.is_last = arg_true(s, "last");
    e->model.call = (size_t)arg_int(s, arg(s, "call"));
    e->model.result = arg_json(s, "result");
    e->model.is_error = arg_true(s, "error");
    e->model.duration_ms = arg_int(s, arg(s, "duration"));
}

static void fill_tool(struct script_args *s, struct pl_session_event *e)
{
    e->tool.tool_call_id = arg_text(s, "call");
    e->tool.result = arg(s, "raw") ? arg_text(s, "raw") : arg_json(s, "result");
    e->tool.is_error = arg_true(s, "error");
    e->tool.duration_ms = arg_int(s, arg(s, "ms"));
    e->tool.question_kind = arg_text(s, "kind");
    e->tool.questions = arg_json(s, "questions");
    e->tool.wait_ms = arg_int(s, arg(s, "wait_ms"));
}

static void fill_summary(struct script_args *s, struct pl_session_event *e)
{
    e->summary.loop_id = arg(s, "loop") ? arg_text(s, "loop") : PL_STR("root");
    e->summary.compaction_id = arg_text(s, "id");
    e->summary.summary = arg_text(s, "text");
    e->summary.reason = arg_text(s, "reason");
    e->summary.model = arg_text(s, "model");
    e->summary.usage = arg_json(s, "usage");
    e->summary.timing = arg_json(s, "timing");
    e->summary.tokens_before = arg_int(s, arg(s, "before"));
    e->summary.tokens_after = arg_int(s, arg(s, "after"));
    e->summary.archived_count = arg_int(s, arg(s, "archived"));
}

static void fill_notice(struct script_args *s, struct pl_session_event *e)
{
    e->notice.text = arg_text(s, "text");
}

static void fill_aside(struct script_args *s, struct pl_session_event *e)
{
    e->aside.id = arg_text(s, "id");
    e->aside.turn_id = arg_text(s, "turn");
    e->aside.kind = arg_text(s, "kind");
    e->aside.questions = arg_json(s, "questions");
}

static void fill_nothing(struct script_args *s, struct pl_session_event *e)
{
    (void)s, (void)e;
}

static const struct {
    const char *word;
    enum pl_session_event_kind kind;
    void (*fill)(struct script_args *s, struct pl_session_event *e);
} events[] = {
    {"chat", PL_SE_CHAT, fill_chat},
    {"answer", PL_SE_ANSWER, fill_answer},
    {"stop", PL_SE_STOP, fill_nothing},
    {"compact", PL_SE_COMPACT, fill_compact},
    {"settings", PL_SE_SETTINGS, fill_settings},
    {"tick", PL_SE_TICK, fill_nothing},
    {"client", PL_SE_TOOL_CLIENT, fill_tool},
    {"client_result", PL_SE_CLIENT_RESULT, fill_tool},
    {"text", PL_SE_MODEL_TEXT, fill_model},
    {"block", PL_SE_MODEL_BLOCK, fill_model},
    {"call", PL_SE_MODEL_CALL, fill_model},
    {"recorded_result", PL_SE_MODEL_RESULT, fill_model},
    {"end", PL_SE_MODEL_END, fill_model},
    {"failed", PL_SE_MODEL_FAILED, fill_model},
    {"result", PL_SE_TOOL_RESULT, fill_tool},
    {"asks", PL_SE_TOOL_ASKS, fill_tool},
    {"summary", PL_SE_SUMMARY, fill_summary},
    {"summary_failed", PL_SE_SUMMARY_FAILED, fill_summary},
    {"recover", PL_SE_RECOVER, fill_nothing},
    {"shut_down", PL_SE_SHUT_DOWN, fill_nothing},
    {"notice", PL_SE_NOTICE, fill_notice},
    {"memory", PL_SE_MEMORY, fill_model},
    {"proof", PL_SE_MODEL_PROOF, fill_model},
    {"go_on", PL_SE_GO_ON, fill_nothing},
    {"aside", PL_SE_ASIDE, fill_aside},
    {"aside_end", PL_SE_ASIDE_END, fill_aside},
    {"go", PL_SE_TOOL_GO, fill_tool},
};

bool script_event_read(struct script_args *s, struct pl_str word,
                       struct pl_session_event *ret_event)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (!pl_str_eq(pl_str_of(events[i].word), word))
            continue;
        *ret_event = (struct pl_session_event){.kind = events[i].kind};
        events[i].fill(s, ret_event);
        return true;
    }
    return false;
}

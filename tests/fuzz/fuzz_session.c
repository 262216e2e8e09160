/* Any bytes as events of one session. It may refuse them, but must keep its promises
 * (tests/session/world.h checks every step).
 *
 * An event is a byte for its kind, a byte for flags and choices, and a text up to the next line
 * feed. Ids are those of the newest effects. */
#include "session/world.h"

#include "base/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_EVENTS = 200, N_KINDS = PL_SE_TOOL_GO + 1 };

struct play {
    struct world world;
    struct pl_id loop, turn, call, compaction;
};

static void meet(struct pl_id *id, struct pl_str text)
{
    *id = (struct pl_id){0};
    memcpy(id->text, text.ptr, text.len);
}

static void meet_effects(struct play *p)
{
    for (size_t i = 0; i < p->world.out.effects.len; i++) {
        const struct pl_session_effect *e = &p->world.out.effects.ptr[i];
        if (e->kind == PL_EFFECT_CALL_MODEL) {
            meet(&p->loop, e->loop_id);
            meet(&p->turn, e->turn_id);
        } else if (e->kind == PL_EFFECT_RUN_TOOL) {
            meet(&p->call, e->tool_call_id);
        } else if (e->kind == PL_EFFECT_SUMMARISE) {
            meet(&p->compaction, e->compaction_id);
            meet(&p->loop, e->loop_id);
        }
    }
    for (size_t i = 0; i < p->world.out.rows.len; i++)
        if (p->world.out.rows.ptr[i].kind == PL_ROW_QUESTION)
            meet(&p->call, p->world.out.rows.ptr[i].question.tool_call_id);
}

static void fill_model(struct play *p, struct pl_session_event *e, uint8_t flags,
                       struct pl_str text)
{
    static const char *const tools[] = {"T", "Agent", "AskUserQuestion", "T"};
    static const char *const types[] = {"text", "thinking", "plan_status", "planning_enter"};
    e->model.loop_id = pl_str_of(p->loop.text);
    e->model.turn_id = pl_str_of(p->turn.text);
    e->model.is_thinking = flags & 1;
    e->model.text = e->model.content = e->model.arguments = e->model.reason = text;
    e->model.tool_name = pl_str_of(tools[flags & 3]);
    e->model.type = pl_str_of(types[flags & 3]);
    e->model.usage = flags & 4 ? text : (struct pl_str){0};
    e->model.metadata = flags & 8 ? text : (struct pl_str){0};
    e->model.memory_refs = flags & 8 ? text : (struct pl_str){0};
    e->model.proof = flags & 8 ? text : (struct pl_str){0};
    e->model.is_overflow = flags & 16;
    e->model.is_unknown = flags & 32;
}

static void fill_user(struct play *p, struct pl_session_event *e, uint8_t flags, struct pl_str text)
{
    static const char *const triggers[] = {"manual", "auto", "forced_retry", "none"};
    switch (e->kind) {
    case PL_SE_CHAT:
        e->chat.message = text;
        e->chat.mode = (enum pl_chat_mode)((flags & 3) % 3);
        e->chat.when_busy = (enum pl_when_busy)(flags >> 2 & 3);
        e->chat.model = flags & 16 ? PL_STR("m") : (struct pl_str){0};
        e->chat.context_window = 100;
        e->chat.override = flags & 32 ? text : (struct pl_str){0};
        break;
    case PL_SE_ANSWER:
        e->answer.tool_call_id = flags & 64 ? PL_STR("ask_1") : pl_str_of(p->call.text);
        e->answer.answer = text;
        break;
    case PL_SE_COMPACT:
        e->compact.trigger = pl_str_of(triggers[flags & 3]);
        break;
    case PL_SE_SETTINGS:
        e->settings.has_intent = e->settings.has_model = flags & 1;
        e->settings.intent = e->settings.model = text;
        e->settings.has_replay = flags & 2;
        e->settings.replay_state = flags & 2 ? text : (struct pl_str){0};
        e->settings.has_system_prompt = flags & 4;
        e->settings.system_prompt = text;
        e->settings.has_settings = e->settings.has_tools = e->settings.has_handoff = flags & 8;
        e->settings.settings = e->settings.tools = e->settings.handoff =
            flags & 8 ? text : (struct pl_str){0};
        break;
    default:
        e->notice.text = text;
        break;
    }
}

static void fill(struct play *p, struct pl_session_event *e, uint8_t flags, struct pl_str text)
{
    switch (e->kind) {
    case PL_SE_MODEL_TEXT:
    case PL_SE_MODEL_BLOCK:
    case PL_SE_MODEL_CALL:
    case PL_SE_MODEL_END:
    case PL_SE_MODEL_FAILED:
    case PL_SE_MEMORY:
    case PL_SE_MODEL_PROOF:
        fill_model(p, e, flags, text);
        break;
    case PL_SE_TOOL_RESULT:
    case PL_SE_TOOL_ASKS:
    case PL_SE_TOOL_CLIENT:
    case PL_SE_CLIENT_RESULT:
    case PL_SE_TOOL_GO:
        e->tool.wait_ms = flags & 4 ? flags : 0;
        e->tool.tool_call_id = pl_str_of(p->call.text);
        e->tool.result = e->tool.questions = text;
        e->tool.is_error = flags & 1;
        e->tool.duration_ms = flags;
        e->tool.question_kind = flags & 2 ? PL_STR("confirm") : PL_STR("capability");
        break;
    case PL_SE_ASIDE:
    case PL_SE_ASIDE_END:
        e->aside.id = flags & 4 ? PL_STR("ask_1") : PL_STR("ask_2");
        e->aside.turn_id = flags & 8 ? pl_str_of(p->turn.text) : (struct pl_str){0};
        e->aside.kind = flags & 2 ? PL_STR("ask") : PL_STR("capability");
        e->aside.questions = text;
        break;
    case PL_SE_SUMMARY:
    case PL_SE_SUMMARY_FAILED:
        e->summary.loop_id = pl_str_of(p->loop.text);
        e->summary.compaction_id = pl_str_of(p->compaction.text);
        e->summary.summary = e->summary.reason = text;
        e->summary.usage = flags & 4 ? text : (struct pl_str){0};
        e->summary.tokens_before = flags;
        e->summary.tokens_after = flags / 2;
        break;
    default:
        fill_user(p, e, flags, text);
        break;
    }
}

static void step(struct play *p, uint8_t kind, uint8_t flags, struct pl_str text)
{
    struct pl_session_event event = {.kind = (enum pl_session_event_kind)(kind % N_KINDS)};
    p->world.seed.unix_ms += flags >> 3;
    if (event.kind == PL_SE_RECOVER)
        world_reload(&p->world);
    fill(p, &event, flags, text);
    if (world_apply(&p->world, &event) == PL_OK)
        meet_effects(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pl_session_record record = {.id = PL_STR("sess_z"), .user_id = PL_STR("u")};
    struct play p = {0};
    world_init(&p.world, &record, 1767225600000);
    size_t at = 0;
    for (size_t n = 0; n < MAX_EVENTS && at + 2 <= size && !p.world.problem[0]; n++) {
        const uint8_t *begin = data + at + 2;
        const uint8_t *end = memchr(begin, '\n', size - at - 2);
        size_t len = end ? (size_t)(end - begin) : size - at - 2;
        struct pl_str text = {(const char *)begin, len};
        /* Part of the contract: UTF-8, whole characters. */
        text.len = pl_utf8_valid_prefix(text);
        step(&p, data[at], data[at + 1], text);
        at += 2 + len + (end != NULL);
    }
    if (p.world.problem[0]) {
        fprintf(stderr, "%s\n", p.world.problem);
        abort();
    }
    world_deinit(&p.world);
    return 0;
}

/* Thousands of random histories. In any order of events: sequences grow by one, only legal edges
 * are taken, a reader of frames has the session's own bytes, stored rows load to the same session,
 * and ended turns do not change (session/world.h checks every step). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/world.h"

#include <stdio.h>

enum { N_HISTORIES = 3000, N_EVENTS = 90, N_KEPT = 16 };

/* Ids seen before, so that late and repeated events happen, too. */
struct ring {
    struct pl_id ids[N_KEPT];
    struct pl_id loops[N_KEPT];
    size_t n;
};

struct history {
    struct world world;
    struct ring turns, calls, summaries;
    uint64_t random;
    bool gates_calls; /* the host admits calls of the session's own tools */
};

static uint32_t draw(struct history *h, uint32_t below)
{
    h->random ^= h->random << 13;
    h->random ^= h->random >> 7;
    h->random ^= h->random << 17;
    return (uint32_t)(h->random >> 33) % below;
}

static void meet(struct ring *ring, struct pl_str id, struct pl_str loop)
{
    struct pl_id *to = &ring->ids[ring->n % N_KEPT], *of = &ring->loops[ring->n % N_KEPT];
    *to = *of = (struct pl_id){0};
    memcpy(to->text, id.ptr, id.len);
    memcpy(of->text, loop.ptr, loop.len);
    ring->n++;
}

/* Usually one of the newest. */
static size_t pick(struct history *h, const struct ring *ring)
{
    size_t n = ring->n < N_KEPT ? ring->n : N_KEPT;
    size_t back = draw(h, 4) ? draw(h, n < 3 ? (uint32_t)n : 3) : draw(h, (uint32_t)n);
    return (ring->n - 1 - back) % N_KEPT;
}

static const char *const texts[] = {"a",
                                    "wort ",
                                    "\"quoted\"\n",
                                    "\xc3\xa9\xe2\x82\xac",
                                    "\x01\\",
                                    "a longer piece of text that fills the buffer sooner "};
static const char *const arguments[] = {"{}", "{\"a\" : [1, 2]}", "", "[1]", "{broken"};
static const char *const results[] = {"1",
                                      "{\"x\": \"y\"}",
                                      "\"done\"",
                                      "null",
                                      "{\"_meta\":{\"ui\":{\"title\":\"t\"},\"bridge\":{}}}",
                                      ("{\"_meta\":{\"ui\":{\"resourceUri\":\"u\",\"target\":"
                                       "\"inline\"},\"bridge\":{\"action\":\"a\"}}}"),
                                      "{broken"};
static const char *const messages[] = {
    "\"hello\"", "[{\"type\":\"text\",\"text\":\"part\"}]", "[]",
    "[{\"type\":\"plan_status\",\"content\":{\"s\":1}},{\"type\":\"text\",\"content\":\"b\"}]"};
static const char *const blocks[][2] = {
    {"plan_status", "{\"a\": 1}"}, {"text", "\"whole\""}, {"thinking", "\"hm\""},
    {"planning_enter", ""},        {"none", "1"},
};
static const char question[] =
    "{\"questions\":[{\"question\":\"Which?\",\"options\":[{\"label\":\"A\"}]}]}";

#define ONE_OF(h, list) pl_str_of(list[draw(h, sizeof(list) / sizeof *(list))])

static const char *const usages[] = {"", "{\"input_tokens\": 10}", "{\"input_tokens\":95}"};

static void make_model(struct history *h, struct pl_session_event *e)
{
    static const enum pl_session_event_kind kinds[] = {
        PL_SE_MODEL_TEXT, PL_SE_MODEL_TEXT,  PL_SE_MODEL_TEXT,  PL_SE_MODEL_CALL,
        PL_SE_MEMORY,     PL_SE_MODEL_BLOCK, PL_SE_MODEL_PROOF, PL_SE_MODEL_END,
        PL_SE_MODEL_END,  PL_SE_MODEL_FAILED};
    static const char *const proofs[] = {"", "{\"vendor\": \"v\",\"signature\":\"s\"}",
                                         "{\"vendor\":\"v\",\"data\":\"d\"}", "{broken"};
    if (!h->turns.n)
        return;
    size_t i = pick(h, &h->turns), b = draw(h, 5);
    e->kind = kinds[draw(h, draw(h, 4) ? 9 : 10)];
    e->model.loop_id = pl_str_of(h->turns.loops[i].text);
    e->model.turn_id = pl_str_of(h->turns.ids[i].text);
    if (e->kind == PL_SE_MODEL_PROOF || e->kind == PL_SE_MODEL_CALL)
        e->model.proof = ONE_OF(h, proofs);
    if (e->kind == PL_SE_MODEL_TEXT) {
        e->model.text = ONE_OF(h, texts);
        e->model.is_thinking = !draw(h, 4);
    } else if (e->kind == PL_SE_MODEL_PROOF) {
        e->model.is_thinking = draw(h, 2);
    } else if (e->kind == PL_SE_MODEL_BLOCK) {
        e->model.type = pl_str_of(blocks[b][0]);
        e->model.content = pl_str_of(blocks[b][1]);
    } else if (e->kind == PL_SE_MODEL_CALL) {
        static const char *const tools[] = {"T", "Bash", "Agent", "AskUserQuestion", "Agent"};
        e->model.tool_name = ONE_OF(h, tools);
        bool is_agent = pl_str_eq(e->model.tool_name, PL_STR("Agent"));
        bool is_ask = pl_str_eq(e->model.tool_name, PL_STR("AskUserQuestion"));
        e->model.arguments = draw(h, 5) == 0 ? ONE_OF(h, arguments)
                             : is_agent      ? PL_STR("{\"prompt\":\"go\"}")
                             : is_ask        ? PL_STR(question)
                                             : PL_STR("{}");
    } else if (e->kind == PL_SE_MODEL_END) {
        e->model.usage = ONE_OF(h, usages);
    } else if (e->kind == PL_SE_MEMORY) {
        e->model.memory_refs = draw(h, 6) ? PL_STR("[{\"id\": 1}]") : PL_STR("[]");
    } else {
        e->model.reason = PL_STR("it broke");
        e->model.is_overflow = draw(h, 2);
    }
}

static void make_tool(struct history *h, struct pl_session_event *e)
{
    if (!h->calls.n)
        return;
    size_t i = pick(h, &h->calls);
    static const enum pl_session_event_kind kinds[] = {
        PL_SE_TOOL_RESULT, PL_SE_TOOL_RESULT, PL_SE_TOOL_RESULT, PL_SE_TOOL_ASKS,
        PL_SE_TOOL_CLIENT, PL_SE_TOOL_GO,     PL_SE_TOOL_GO,
    };
    e->kind = kinds[draw(h, sizeof kinds / sizeof *kinds)];
    e->tool.wait_ms = draw(h, 2) ? draw(h, 2000) : 0;
    e->tool.tool_call_id = pl_str_of(h->calls.ids[i].text);
    e->tool.result = ONE_OF(h, results);
    e->tool.is_error = !draw(h, 5);
    e->tool.duration_ms = draw(h, 100);
    e->tool.question_kind = draw(h, 2) ? PL_STR("confirm") : PL_STR("capability");
    e->tool.questions = PL_STR(question);
}

static void make_chat(struct history *h, struct pl_session_event *e)
{
    e->kind = PL_SE_CHAT;
    e->chat.message = ONE_OF(h, messages);
    e->chat.client_message_id = draw(h, 2) ? PL_STR("m") : (struct pl_str){0};
    e->chat.model = draw(h, 2) ? PL_STR("demo/echo") : (struct pl_str){0};
    e->chat.override = draw(h, 4) ? (struct pl_str){0} : PL_STR("{\"tools\":\"none\"}");
    e->chat.context_window = 100;
    e->chat.mode = (enum pl_chat_mode)draw(h, 3);
    e->chat.when_busy = (enum pl_when_busy)draw(h, 4);
    if (e->chat.when_busy == PL_BUSY_INTERRUPT && draw(h, 4))
        e->chat.when_busy = PL_BUSY_STEER;
}

/* Answers an open question, if there is one. */
static void make_answer(struct history *h, struct pl_session_event *e)
{
    static const char *const answers[] = {"{\"approve\":true}", "{\"approve\": false}",
                                          "{\"approve\":true,\"a\":1}", "\"A\""};
    e->kind = PL_SE_ANSWER;
    e->answer.answer = ONE_OF(h, answers);
    struct pl_str client = {0};
    for (size_t i = 0; i < h->world.questions.len; i++) {
        const struct pl_question_row *row = &h->world.questions.ptr[i].row;
        if (!pl_str_eq(row->state, PL_STR("pending")))
            continue;
        e->answer.tool_call_id = row->tool_call_id;
        client = pl_str_eq(row->kind, PL_STR("client")) ? row->tool_call_id : client;
    }
    if (!client.len || !draw(h, 4))
        return;
    *e = (struct pl_session_event){.kind = PL_SE_CLIENT_RESULT, .seed = e->seed};
    e->tool.tool_call_id = client;
    e->tool.result = ONE_OF(h, results);
    e->tool.is_error = !draw(h, 5);
}

static void make_summary(struct history *h, struct pl_session_event *e)
{
    if (!h->summaries.n)
        return;
    size_t i = pick(h, &h->summaries);
    e->kind = draw(h, 4) ? PL_SE_SUMMARY : PL_SE_SUMMARY_FAILED;
    e->summary.compaction_id = pl_str_of(h->summaries.ids[i].text);
    e->summary.loop_id = pl_str_of(h->summaries.loops[i].text);
    e->summary.summary = ONE_OF(h, texts);
    e->summary.usage = ONE_OF(h, usages);
    e->summary.tokens_before = draw(h, 1000);
    e->summary.tokens_after = draw(h, 1000);
    e->summary.archived_count = draw(h, 9);
}

static void make_rare(struct history *h, struct pl_session_event *e)
{
    static const char *const triggers[] = {"manual", "auto", "forced_retry"};
    switch (draw(h, 8)) {
    case 6:
        e->kind = draw(h, 3) ? PL_SE_ASIDE : PL_SE_ASIDE_END;
        e->aside.id = draw(h, 2) ? PL_STR("ask_1") : PL_STR("ask_2");
        e->aside.kind = draw(h, 2) ? PL_STR("ask") : PL_STR("capability");
        e->aside.questions = PL_STR(question);
        break;
    case 7:
        e->kind = PL_SE_ANSWER;
        e->answer.tool_call_id = draw(h, 2) ? PL_STR("ask_1") : PL_STR("ask_2");
        e->answer.answer = PL_STR("{\"approve\":true}");
        break;
    case 0:
        e->kind = PL_SE_STOP;
        break;
    case 1:
        e->kind = PL_SE_COMPACT;
        e->compact.trigger = ONE_OF(h, triggers);
        break;
    case 2:
        e->kind = PL_SE_SETTINGS;
        e->settings.has_pinned = true;
        e->settings.is_pinned = draw(h, 2);
        e->settings.has_intent = true;
        e->settings.intent = ONE_OF(h, texts);
        e->settings.has_system_prompt = draw(h, 2);
        e->settings.system_prompt = ONE_OF(h, texts);
        e->settings.has_settings = draw(h, 2);
        e->settings.settings = draw(h, 2) ? PL_STR("{\"seed\":1}") : PL_STR("null");
        break;
    case 3:
        e->kind = PL_SE_NOTICE;
        e->notice.text = PL_STR("notice");
        break;
    case 4:
        e->kind = PL_SE_GO_ON;
        break;
    default:
        e->kind = PL_SE_SHUT_DOWN;
        break;
    }
}

static void make_event(struct history *h, struct pl_session_event *e)
{
    *e = (struct pl_session_event){.kind = PL_SE_TICK};
    uint32_t roll = draw(h, 100);
    if (roll < 52)
        make_model(h, e);
    else if (roll < 68)
        make_tool(h, e);
    else if (roll < 78)
        make_chat(h, e);
    else if (roll < 86)
        make_answer(h, e);
    else if (roll < 92)
        make_summary(h, e);
    else if (roll < 95)
        make_rare(h, e);
}

static void meet_effects(struct history *h)
{
    for (size_t i = 0; i < h->world.out.effects.len; i++) {
        const struct pl_session_effect *e = &h->world.out.effects.ptr[i];
        if (e->kind == PL_EFFECT_CALL_MODEL)
            meet(&h->turns, e->turn_id, e->loop_id);
        else if (e->kind == PL_EFFECT_RUN_TOOL)
            meet(&h->calls, e->tool_call_id, e->loop_id);
        else if (e->kind == PL_EFFECT_SUMMARISE)
            meet(&h->summaries, e->compaction_id, e->loop_id);
    }
}

/* The session's status agrees with its activity. */
static void check_status(struct world *w)
{
    const struct pl_session *s = w->session;
    enum pl_session_status status = pl_session_record(s)->status;
    bool is_chatting = status == PL_SESSION_RUNNING || status == PL_SESSION_WAITING;
    if (is_chatting != w->is_chatting)
        world_fail(w, "status %s and a chat is %s", pl_session_status_text(status),
                   w->is_chatting ? "open" : "not open");
    if (status == PL_SESSION_RUNNING && !pl_session_is_running(s))
        world_fail(w, "running, and nothing is at work");
    if (status == PL_SESSION_WAITING && pl_session_is_running(s))
        world_fail(w, "waiting, and something is at work");
    if (status != w->status)
        world_fail(w, "a status that nobody was told");
}

static void crash(struct history *h)
{
    struct pl_session_event recover = {.kind = PL_SE_RECOVER};
    world_reload(&h->world);
    (void)world_apply(&h->world, &recover);
    for (size_t i = 0; i < h->world.seen.len; i++)
        if (pl_str_eq(pl_buf_str(&h->world.seen.ptr[i].status), PL_STR("streaming")))
            world_fail(&h->world, "a turn was left streaming");
}

static void live(struct history *h)
{
    for (size_t i = 0; i < N_EVENTS && !h->world.problem[0]; i++) {
        struct pl_session_event event;
        make_event(h, &event);
        h->world.seed.unix_ms += draw(h, 3) ? 0 : draw(h, 60);
        h->world.out.wants_whole = draw(h, 2);
        h->world.out.gates_calls = h->gates_calls;
        enum pl_status status = world_apply(&h->world, &event);
        if (status == PL_OK)
            meet_effects(h);
        else if (event.kind == PL_SE_STOP || event.kind == PL_SE_TICK)
            world_fail(&h->world, "refused to stop");
        check_status(&h->world);
        if (!draw(h, 60))
            crash(h);
    }
}

static void every_history_keeps_every_promise(void **state)
{
    (void)state;
    struct pl_session_record record = {
        .id = PL_STR("sess_p"), .user_id = PL_STR("user_p"), .created_ms = 1767225600000};
    static struct history h;
    size_t n_completed = 0;
    for (uint64_t seed = 1; seed <= N_HISTORIES; seed++) {
        h = (struct history){.random = seed * 0x9E3779B97F4A7C15u, .gates_calls = seed % 4 == 0};
        world_init(&h.world, &record, record.created_ms);
        live(&h);
        n_completed += pl_session_record(h.world.session)->next_entry > 4;
        char problem[sizeof h.world.problem];
        memcpy(problem, h.world.problem, sizeof problem);
        world_deinit(&h.world);
        if (problem[0])
            fail_msg("history %llu: %s", (unsigned long long)seed, problem);
    }
    /* Histories in which nothing happens prove nothing. */
    assert_true(n_completed > N_HISTORIES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_history_keeps_every_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

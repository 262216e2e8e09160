/* A session's life with every allocation refused in turn: chats, tools, child loops, questions,
 * queue, compaction, stop, loading and recovering. After PL_NOMEM it is only destroyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fault/fault.h"
#include "session/memory/memory.h"
#include "session/session.h"

struct life {
    struct pl_session *session;
    struct pl_session_out out;
    struct pl_id_seed seed;
    struct pl_id loop, turn, call, compaction; /* of the newest effect of its kind */
    enum pl_status status;
};

static void meet(struct pl_id *id, struct pl_str text)
{
    *id = (struct pl_id){0};
    memcpy(id->text, text.ptr, text.len);
}

static void meet_effects(struct life *life)
{
    for (size_t i = 0; i < life->out.effects.len; i++) {
        const struct pl_session_effect *e = &life->out.effects.ptr[i];
        if (e->kind == PL_EFFECT_CALL_MODEL) {
            meet(&life->loop, e->loop_id);
            meet(&life->turn, e->turn_id);
        } else if (e->kind == PL_EFFECT_RUN_TOOL) {
            meet(&life->call, e->tool_call_id);
        } else if (e->kind == PL_EFFECT_SUMMARISE) {
            meet(&life->compaction, e->compaction_id);
        }
    }
    for (size_t i = 0; i < life->out.rows.len; i++)
        if (life->out.rows.ptr[i].kind == PL_ROW_QUESTION)
            meet(&life->call, life->out.rows.ptr[i].question.tool_call_id);
}

/* A refused event has no partial output. */
static void apply(struct life *life, struct pl_session_event event)
{
    if (life->status != PL_OK)
        return;
    life->seed.unix_ms += 30;
    life->seed.random[0] += 77;
    life->seed.n_taken = 0;
    event.seed = &life->seed;
    life->status = pl_session_apply(life->session, &event, &life->out, NULL);
    if (life->status == PL_OK) {
        meet_effects(life);
        return;
    }
    assert_int_equal(life->out.frames.len + life->out.rows.len + life->out.effects.len, 0);
    assert_null(life->out.reply.ptr);
}

static void model(struct life *life, enum pl_session_event_kind kind, struct pl_str tool_name,
                  const char *text)
{
    struct pl_session_event event = {.kind = kind};
    event.model.loop_id = pl_str_of(life->loop.text);
    event.model.turn_id = pl_str_of(life->turn.text);
    event.model.text = event.model.arguments = event.model.content = pl_str_of(text);
    event.model.reason = event.model.usage = event.model.memory_refs = pl_str_of(text);
    event.model.proof = pl_str_of(text);
    event.model.tool_name = tool_name;
    event.model.type = PL_STR("plan_status");
    event.model.is_overflow = true;
    apply(life, event);
}

static void chat(struct life *life, enum pl_when_busy when_busy)
{
    struct pl_session_event event = {.kind = PL_SE_CHAT};
    event.chat.message = PL_STR("[{\"type\":\"text\",\"text\":\"hello \\u00e9\"}]");
    event.chat.client_message_id = PL_STR("m");
    event.chat.model = PL_STR("demo/echo");
    event.chat.context_window = 100;
    event.chat.mode = PL_CHAT_MODE_PLANNING;
    event.chat.when_busy = when_busy;
    apply(life, event);
}

/* A tool that requires a person's approval, and gets it. */
static void halt(struct life *life)
{
    struct pl_session_event event = {.kind = PL_SE_TOOL_RESULT};
    event.tool.tool_call_id = pl_str_of(life->call.text);
    event.tool.result = PL_STR("\"{\\\"status\\\":\\\"halted\\\",\\\"reason\\\":"
                               "\\\"human_confirmation_required\\\"}\"");
    apply(life, event);
    struct pl_session_event answer = {.kind = PL_SE_ANSWER};
    answer.answer.tool_call_id = pl_str_of(life->call.text);
    answer.answer.answer = PL_STR("{\"approve\":true}");
    apply(life, answer);
}

static void result(struct life *life)
{
    struct pl_session_event event = {.kind = PL_SE_TOOL_RESULT};
    event.tool.tool_call_id = pl_str_of(life->call.text);
    event.tool.result = PL_STR("{\"_meta\" : {\"ui\":{\"title\":\"t\"}}}");
    apply(life, event);
}

static void summary(struct life *life)
{
    struct pl_session_event event = {.kind = PL_SE_SUMMARY};
    event.summary.compaction_id = pl_str_of(life->compaction.text);
    event.summary.loop_id = PL_STR("root");
    event.summary.summary = PL_STR("what was said");
    event.summary.model = PL_STR("m");
    event.summary.usage = PL_STR("{\"input_tokens\" : 1}");
    event.summary.timing = PL_STR("{\"total_ms\" : 1}");
    apply(life, event);
}

static void begin(struct life *life)
{
    const struct pl_session_record record = {
        .id = PL_STR("sess_f"), .user_id = PL_STR("u"), .model = PL_STR("m"), .created_ms = 1};
    *life = (struct life){.seed = {.unix_ms = 1767225600000}};
    pl_session_out_init(&life->out);
    life->out.wants_whole = true;
    life->status = pl_session_create(&record, &life->out, &life->session, NULL);
    if (life->status != PL_OK)
        assert_null(life->session);
}

static enum pl_status end(struct life *life)
{
    enum pl_status status = life->status;
    pl_session_destroy(life->session);
    pl_session_out_deinit(&life->out);
    return status;
}

static const char question[] =
    "{\"questions\":[{\"question\":\"Which?\",\"options\":[{\"label\":\"A\"}]}]}";

static enum pl_status talks_and_calls(void *ctx)
{
    (void)ctx;
    struct life life;
    begin(&life);
    chat(&life, PL_BUSY_ENQUEUE);
    chat(&life, PL_BUSY_STEER);
    chat(&life, PL_BUSY_ENQUEUE);
    model(&life, PL_SE_MEMORY, PL_STR(""), "[{\"id\": 1}]");
    model(&life, PL_SE_MODEL_TEXT, PL_STR(""), "some text");
    model(&life, PL_SE_MODEL_TEXT, PL_STR(""), "more");
    model(&life, PL_SE_MODEL_PROOF, PL_STR(""), "{\"signature\": \"s\"}");
    model(&life, PL_SE_MODEL_PROOF, PL_STR(""), "{\"data\":\"d\"}");
    model(&life, PL_SE_MODEL_BLOCK, PL_STR(""), "{\"a\": 1}");
    model(&life, PL_SE_MODEL_CALL, PL_STR("T"), "{\"x\": [1]}");
    model(&life, PL_SE_MODEL_END, PL_STR(""), "{\"input_tokens\": 90}");
    halt(&life);
    result(&life);
    summary(&life);
    model(&life, PL_SE_MODEL_FAILED, PL_STR(""), "{\"too\":\"long\"}");
    apply(&life, (struct pl_session_event){.kind = PL_SE_STOP});
    return end(&life);
}

static enum pl_status asks_from_a_child(void *ctx)
{
    (void)ctx;
    struct life life;
    begin(&life);
    chat(&life, PL_BUSY_ENQUEUE);
    model(&life, PL_SE_MODEL_CALL, PL_STR("Agent"), "{\"prompt\":\"go\"}");
    model(&life, PL_SE_MODEL_END, PL_STR(""), "");
    model(&life, PL_SE_MODEL_CALL, PL_STR("AskUserQuestion"), question);
    model(&life, PL_SE_MODEL_END, PL_STR(""), "");
    struct pl_session_event answer = {.kind = PL_SE_ANSWER};
    answer.answer.tool_call_id = pl_str_of(life.call.text);
    answer.answer.answer = PL_STR("\"A\"");
    apply(&life, answer);
    model(&life, PL_SE_MODEL_TEXT, PL_STR(""), "the end");
    model(&life, PL_SE_MODEL_END, PL_STR(""), "");
    chat(&life, PL_BUSY_INTERRUPT);
    struct pl_session_event settings = {.kind = PL_SE_SETTINGS};
    settings.settings.has_intent = settings.settings.has_replay = true;
    settings.settings.intent = PL_STR("title");
    settings.settings.replay_state = PL_STR("{\"at\": 1}");
    apply(&life, settings);
    return end(&life);
}

static enum pl_status loads_and_recovers(void *ctx)
{
    (void)ctx;
    const struct pl_session_record record = {.id = PL_STR("sess_f"),
                                             .user_id = PL_STR("u"),
                                             .status = PL_SESSION_RUNNING,
                                             .epoch = 1,
                                             .next_event = 9,
                                             .next_entry = 2};
    const struct pl_turn_row turn = {
        .session_id = record.id,
        .sequence = 1,
        .turn_id = PL_STR("turn_019b76da-a800-76d5-8cda-58fd92619ef6"),
        .loop_id = PL_STR("root"),
        .status = PL_TURN_STREAMING,
        .body = PL_STR("{\"blocks\":[\"text \\u00e9\",{\"use\":0},{\"type\":\"plan_status\","
                       "\"content\":{}}],\"tool_calls\":[{\"id\":\"tc_1\",\"tool_name\":\"T\","
                       "\"arguments\":\"{}\",\"status\":\"pending\"}],\"model\":\"m\","
                       "\"_live\":{\"usage\":{\"input_tokens\":1}}}"),
    };
    const struct pl_question_row asked = {.session_id = record.id,
                                          .tool_call_id = PL_STR("tc_1"),
                                          .turn_id = turn.turn_id,
                                          .loop_id = turn.loop_id,
                                          .kind = PL_STR("ask"),
                                          .questions = PL_STR("[]"),
                                          .state = PL_STR("pending")};
    const struct pl_queued_row queued = {.session_id = record.id,
                                         .position = 4,
                                         .client_message_id = PL_STR("m"),
                                         .body =
                                             PL_STR("{\"message\":\"x\",\"mode\":\"planning\"}")};
    struct life life = {.seed = {.unix_ms = 1767225600000}};
    pl_session_out_init(&life.out);
    life.status = pl_session_load(&record, &turn, 1, &asked, 1, &queued, 1, &life.session, NULL);
    if (life.status != PL_OK)
        assert_null(life.session);
    apply(&life, (struct pl_session_event){.kind = PL_SE_RECOVER});
    if (life.status == PL_OK) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        life.status = pl_turn_row_write(&life.out.rows.ptr[1].turn, &text);
    }
    return end(&life);
}

static enum pl_status remembers(void *ctx)
{
    const struct pl_memory_found found[] = {
        {.id = 1, .content = PL_STR("The harbour opens at six."), .score = 1},
        {.id = 2, .content = PL_STR("It closes at nine."), .score = 0.5},
    };
    const struct pl_turn_row turn = {
        .body = PL_STR("{\"role\":\"user\",\"blocks\":[\"when \\u00e9\",\"now\"]}")};
    struct pl_memory_choice choice = {.n = 7};
    struct pl_str words = {0};
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    enum pl_status status = pl_memory_question(&arena, &turn, &words, NULL);
    if (status == PL_OK)
        status = pl_memory_choose(ctx, found, 2, &choice);
    if (status != PL_OK) {
        assert_int_equal(choice.n, 7);
        return status;
    }
    pl_memory_write_text(found, &choice, PL_MEMORY_NOTES, &text);
    pl_memory_write_items(found, &choice, PL_MEMORY_SKILLS, &text);
    pl_memory_write_refs(found, &choice, &text);
    pl_memory_telling_terms(PL_STR("harbour please hour"), &text);
    return text.status;
}

static void remembering_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct pl_tokens *tokens = NULL;
    assert_int_equal(pl_tokens_create(PL_ENCODING_O200K_BASE, &tokens), PL_OK);
    size_t n = pl_fault_each(remembers, tokens);
    pl_tokens_destroy(tokens);
    assert_true(n > 3);
}

static enum pl_status shows(void *ctx)
{
    const struct pl_turn_row *row = ctx;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    return pl_turn_row_write_shown(row, &text);
}

static void showing_survives_every_refused_allocation(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf body;
    pl_buf_init(&body, 0);
    pl_buf_adds(&body, "{\"blocks\":[{\"use\":0},{\"use\":1},{\"result\":1},{\"result\":0}],"
                       "\"tool_calls\":[{\"id\":\"tc_1\",\"tool_name\":\"T\",\"arguments\":"
                       "\"{}\",\"result\":{\"_meta\":{\"ui\":{}},\"a\":\"");
    pl_buf_fill(&body, 'x', 70000);
    pl_buf_adds(&body, "\"}},{\"id\":\"tc_2\",\"tool_name\":\"T\",\"arguments\":\"{}\","
                       "\"result\":\"\\u00e9");
    pl_buf_fill(&body, 'x', 70000);
    pl_buf_adds(&body, "\"}]}");
    assert_int_equal(body.status, PL_OK);
    struct pl_turn_row row = {
        .turn_id = PL_STR("turn_019b76da-a800-76d5-8cda-58fd92619ef6"),
        .loop_id = PL_STR("root"),
        .status = PL_TURN_COMPLETED,
        .body = pl_buf_str(&body),
    };
    assert_true(pl_fault_each(shows, &row) > 5);
}

static void talking_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(talks_and_calls, NULL) > 30);
}

static void questions_of_a_child_survive_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(asks_from_a_child, NULL) > 30);
}

static void loading_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(loads_and_recovers, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembering_survives_every_refused_allocation),
        cmocka_unit_test(showing_survives_every_refused_allocation),
        cmocka_unit_test(talking_survives_every_refused_allocation),
        cmocka_unit_test(questions_of_a_child_survive_every_refused_allocation),
        cmocka_unit_test(loading_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

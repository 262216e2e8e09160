/* Rows as objects: the Session and the TurnProjection of seed 003, byte for byte; damaged rows are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "json/json.h"
#include "session/session.h"

#define TURN_UUID "019b76da-a800-76d5-8cda-58fd92619ef6"

static void a_session_has_every_member_in_order(void **state)
{
    (void)state;
    const struct pl_session_record record = {
        .id = PL_STR("sess_1"),
        .user_id = PL_STR("user_1"),
        .intent = PL_STR("a \"title\""),
        .model = PL_STR("demo/echo"),
        .status = PL_SESSION_WAITING,
        .created_ms = 1767225600000,
        .updated_ms = 1767225600001,
        .is_pinned = true,
        .replay_state = PL_STR("{\"at\":1}"),
    };
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_session_record_write(&record, &text);
    pl_buf_addc(&text, '\0');
    assert_string_equal(
        text.ptr,
        "{\"id\":\"sess_1\",\"intent\":\"a \\\"title\\\"\",\"status\":"
        "\"waiting_for_input\",\"created_at\":\"2026-01-01T00:00:00.000Z\",\"updated_at\""
        ":\"2026-01-01T00:00:00.001Z\",\"user_id\":\"user_1\",\"solution_id\":null,"
        "\"biz_role_id\":null,\"model\":\"demo/echo\",\"shared\":false,\"is_pinned\":true,"
        "\"memory_enabled\":false,\"is_persistent\":false,\"replay_state\":{\"at\":1}}");
}

static void a_session_shows_how_its_models_are_asked_and_not_what_it_accepted(void **state)
{
    (void)state;
    const struct pl_session_record record = {
        .id = PL_STR("sess_1"),
        .user_id = PL_STR("user_1"),
        .system_prompt = PL_STR("Be \"brief\"."),
        .settings = PL_STR("{\"temperature\":0.5}"),
        .tools = PL_STR("[\"calc\"]"),
        .handoff = PL_STR("{\"hop_count\":1}"),
    };
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_session_record_write(&record, &text);
    pl_buf_addc(&text, '\0');
    assert_non_null(strstr(text.ptr,
                           "\"replay_state\":null,\"system_prompt\":\"Be \\\"brief\\\".\","
                           "\"settings\":{\"temperature\":0.5},\"tools\":[\"calc\"]}"));
}

static struct pl_turn_row row_of(const char *body)
{
    return (struct pl_turn_row){
        .session_id = PL_STR("sess_1"),
        .sequence = 3,
        .turn_id = PL_STR("turn_" TURN_UUID),
        .loop_id = PL_STR("root"),
        .status = PL_TURN_COMPLETED,
        .client_message_id = PL_STR("m1"),
        .created_ms = 1767225600000,
        .body = pl_str_of(body),
    };
}

static void a_turn_has_every_member_in_order(void **state)
{
    (void)state;
    struct pl_turn_row row = row_of(
        "{\"blocks\":[\"hi\",{\"use\":0},{\"result\":0}],\"tool_calls\":[{\"id\":\"tc_1\","
        "\"tool_name\":\"T\",\"arguments\":\"{ }\",\"result\":7,\"duration_ms\":5}],\"model\":"
        "\"m\",\"usage\":{\"input_tokens\":1},\"duration_ms\":9,\"context_window\":10,\"error\":"
        "\"e\",\"timing\":{\"ttft_ms\":1},\"_live\":{\"ended\":true}}");
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    assert_int_equal(pl_turn_row_write(&row, &text), PL_OK);
    pl_buf_addc(&text, '\0');
    assert_string_equal(
        text.ptr,
        "{\"id\":\"entry_" TURN_UUID "\",\"sequence\":3,\"turn_id\":\"turn_" TURN_UUID
        "\",\"loop_id\":\"root\",\"kind\":\"message\",\"role\":\"assistant\",\"status\":"
        "\"completed\",\"blocks\":[{\"type\":\"text\",\"content\":\"hi\",\"tool_call_id\":null,"
        "\"tool_name\":null,\"display_name\":null},{\"type\":\"tool_use\",\"content\":{\"id\":"
        "\"tc_1\",\"name\":\"T\",\"input\":{}},\"tool_call_id\":\"tc_1\",\"tool_name\":\"T\","
        "\"display_name\":\"T\"},{\"type\":\"tool_result\",\"content\":7,\"tool_call_id\":\"tc_1\","
        "\"tool_name\":\"T\",\"display_name\":\"T\"}],\"tool_calls\":[{\"id\":\"tc_1\","
        "\"tool_name\":\"T\",\"display_name\":\"T\",\"arguments\":\"{ }\",\"status\":\"done\","
        "\"result\":7,\"duration_ms\":5,\"pending_question_ref\":null}],\"model\":\"m\",\"usage\":"
        "{\"input_tokens\":1},\"duration_ms\":9,\"started_at\":\"2026-01-01T00:00:00.000Z\","
        "\"context_window\":10,\"memory_refs\":null,\"parent_fork_tool_call_id\":null,\"timing\":"
        "{\"ttft_ms\":1},\"client_message_id\":\"m1\",\"error\":\"e\"}");
}

static void a_stranger_is_not_told_what_is_remembered(void **state)
{
    (void)state;
    struct pl_turn_row row =
        row_of("{\"blocks\":[\"hi\"],\"memory_refs\":[{\"id\":1,\"content_preview\":\"p\"}]}");
    PL_CLEANUP_BUF struct pl_buf own, shared;
    pl_buf_init(&own, 0);
    pl_buf_init(&shared, 0);
    assert_int_equal(pl_turn_row_write(&row, &own), PL_OK);
    assert_int_equal(pl_turn_row_write_shared(&row, &shared), PL_OK);
    pl_buf_addc(&own, '\0');
    pl_buf_addc(&shared, '\0');
    assert_non_null(strstr(own.ptr, "\"memory_refs\":[{\"id\":1,\"content_preview\":\"p\"}]"));
    assert_non_null(strstr(shared.ptr, "\"memory_refs\":null"));
    assert_non_null(strstr(shared.ptr, "\"content\":\"hi\""));
}

#define PROOF(words) "{\"vendor\":\"v\",\"signature\":\"" words "\"}"
#define WITH_PROOFS                                                                                \
    "{\"blocks\":[{\"type\":\"text\",\"content\":\"hi\",\"proof\":" PROOF(                         \
        "p1") "},{\"type\":\"thinking\",\"content\":\"\",\"proof\":" PROOF("p2") "}],\"tool_"      \
                                                                                 "calls\":"        \
                                                                                 "[{\"id\":\"tc_"  \
                                                                                 "1\",\"tool_"     \
                                                                                 "name\":\"T\","   \
                                                                                 "\"arguments\":"  \
                                                                                 "\"{}\","         \
                                                                                 "\"proof\""       \
                                                                                 ":" PROOF(        \
                                                                                     "p3") "}]}"

static size_t count_of(const char *text, const char *words)
{
    size_t n = 0;
    while ((text = strstr(text, words)))
        text += strlen(words), n++;
    return n;
}

static void a_stranger_gets_no_proofs(void **state)
{
    (void)state;
    struct pl_turn_row row = row_of(WITH_PROOFS);
    PL_CLEANUP_BUF struct pl_buf own, shared;
    pl_buf_init(&own, 0);
    pl_buf_init(&shared, 0);
    assert_int_equal(pl_turn_row_write(&row, &own), PL_OK);
    assert_int_equal(pl_turn_row_write_shared(&row, &shared), PL_OK);
    pl_buf_addc(&own, '\0');
    pl_buf_addc(&shared, '\0');
    assert_non_null(strstr(own.ptr, "\"content\":\"hi\",\"tool_call_id\":null,\"tool_name\":null,"
                                    "\"display_name\":null,\"proof\":" PROOF("p1") "}"));
    assert_non_null(strstr(own.ptr, "\"pending_question_ref\":null,\"proof\":" PROOF("p3") "}"));
    assert_int_equal(count_of(own.ptr, "\"proof\""), 3);
    assert_int_equal(count_of(shared.ptr, "\"proof\""), 0);
    assert_non_null(strstr(shared.ptr, "\"content\":\"hi\""));
}

/* An imported turn: a model's output keeps its proofs, a person's text has none. */
static void an_imported_turn_keeps_its_proofs(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_turn_row from = row_of(WITH_PROOFS), row;
    struct pl_json_doc doc;
    PL_CLEANUP_BUF struct pl_buf own, body;
    pl_buf_init(&own, 0);
    pl_buf_init(&body, 0);
    assert_int_equal(pl_turn_row_write(&from, &own), PL_OK);
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&own), NULL, &doc, NULL), PL_OK);
    assert_int_equal(
        pl_turn_row_read(&arena, &doc, doc.root, &(struct pl_turn_origin){0}, &row, NULL), PL_OK);
    pl_buf_add(&body, row.body);
    pl_buf_addc(&body, '\0');
    assert_int_equal(count_of(body.ptr, "\"proof\""), 3);
    assert_non_null(
        strstr(body.ptr, "{\"type\":\"text\",\"content\":\"hi\",\"proof\":" PROOF("p1") "}"));
    struct pl_str users =
        PL_STR("{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"hi\","
               "\"proof\":{\"vendor\":\"v\"}}],\"tool_calls\":[]}");
    assert_int_equal(pl_json_parse(&arena, users, NULL, &doc, NULL), PL_OK);
    assert_int_equal(
        pl_turn_row_read(&arena, &doc, doc.root, &(struct pl_turn_origin){0}, &row, NULL), PL_OK);
    assert_true(pl_str_eq(row.body, PL_STR("{\"role\":\"user\",\"blocks\":[\"hi\"]}")));
}

static void a_compaction_tells_its_summary_once_in_the_row_and_thrice_in_the_turn(void **state)
{
    (void)state;
    struct pl_turn_row row =
        row_of("{\"compaction\":{\"id\":\"comp_1\",\"summary\":\"s\",\"trigger\":\"auto\","
               "\"archived_count\":2,\"tokens_before\":3,\"tokens_after\":1}}");
    row.is_compaction = true;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    assert_int_equal(pl_turn_row_write(&row, &text), PL_OK);
    pl_buf_addc(&text, '\0');
    assert_non_null(strstr(text.ptr, "\"kind\":\"compaction\",\"role\":\"system\""));
    assert_non_null(strstr(text.ptr, "\"blocks\":[{\"type\":\"text\",\"content\":\"s\""));
    assert_non_null(strstr(text.ptr, "\"compaction_id\":\"comp_1\",\"summary_preview\":\"s\","
                                     "\"summary_full\":\"s\",\"archived_count\":2,"
                                     "\"tokens_before\":3,\"tokens_after\":1,"
                                     "\"saved_ratio\":0.6667,\"trigger\":\"auto\""));
}

static void a_damaged_row_is_refused(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "",
        "[]",
        "{\"blocks\":[{\"use\":0}]}",
        "{\"blocks\":[{\"type\":\"nonsense\"}]}",
        "{\"blocks\":[7]}",
        "{\"tool_calls\":[{}]}",
        "{\"tool_calls\":[{\"id\":\"a\",\"tool_name\":\"T\",\"arguments\":\"\",\"status\":\"x\"}]}",
        "{\"duration_ms\":1.5}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct pl_turn_row row = row_of(bodies[i]);
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        assert_int_not_equal(pl_turn_row_write(&row, &text), PL_OK);
        assert_int_equal(text.len, 0);
    }
}

static void every_status_has_its_text_and_no_other_text_has_one(void **state)
{
    (void)state;
    for (int i = 0; i < PL_SESSION_STATUS_COUNT; i++)
        assert_int_equal(pl_session_status_of(pl_str_of(pl_session_status_text(i))), i);
    for (int i = 0; i < PL_TURN_STATUS_COUNT; i++)
        assert_int_equal(pl_turn_status_of(pl_str_of(pl_turn_status_text(i))), i);
    assert_int_equal(pl_session_status_of(PL_STR("resting")), PL_SESSION_STATUS_COUNT);
    assert_int_equal(pl_turn_status_of(PL_STR("")), PL_TURN_STATUS_COUNT);
    assert_string_equal(pl_frame_text(PL_FRAME_MEMORY_INJECTED), "memory:inject:done");
}

static void a_session_with_damaged_rows_does_not_load(void **state)
{
    (void)state;
    const struct pl_session_record record = {.id = PL_STR("s"), .user_id = PL_STR("u")};
    struct pl_turn_row turns[] = {row_of("{}"), row_of("{}")};
    turns[0].status = turns[1].status = PL_TURN_STREAMING;
    struct pl_queued_row queued = {.position = 1, .body = PL_STR("{}")};
    struct pl_session *session = NULL;
    struct pl_error err;
    assert_int_equal(pl_session_load(&record, turns, 2, NULL, 0, NULL, 0, &session, &err),
                     PL_INVALID);
    assert_int_equal(pl_session_load(&record, NULL, 0, NULL, 0, &queued, 1, &session, &err),
                     PL_INVALID);
    assert_null(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_has_every_member_in_order),
        cmocka_unit_test(a_session_shows_how_its_models_are_asked_and_not_what_it_accepted),
        cmocka_unit_test(a_turn_has_every_member_in_order),
        cmocka_unit_test(a_compaction_tells_its_summary_once_in_the_row_and_thrice_in_the_turn),
        cmocka_unit_test(a_stranger_is_not_told_what_is_remembered),
        cmocka_unit_test(a_stranger_gets_no_proofs),
        cmocka_unit_test(an_imported_turn_keeps_its_proofs),
        cmocka_unit_test(a_damaged_row_is_refused),
        cmocka_unit_test(every_status_has_its_text_and_no_other_text_has_one),
        cmocka_unit_test(a_session_with_damaged_rows_does_not_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Turns of a session: unfolded into messages, folded again, and back. */
#include "unit/format/expect.h"

#define TURN(n, role, blocks, calls)                                                               \
    "{\"id\":\"e" n "\",\"sequence\":" n ",\"turn_id\":\"t" n                                      \
    "\",\"loop_id\":\"root\",\"kind\":\"message\",\"role\":\"" role                                \
    "\",\"status\":\"completed\",\"blocks\":[" blocks "],\"tool_calls\":[" calls "]}"
#define TEXT(words) "{\"type\":\"text\",\"content\":\"" words "\"}"
#define USE(id)                                                                                    \
    "{\"type\":\"tool_use\",\"content\":{\"name\":\"Bash\"},\"tool_call_id\":\"" id                \
    "\",\"tool_name\":\"Bash\"}"
#define DONE(id)       "{\"type\":\"tool_result\",\"content\":null,\"tool_call_id\":\"" id "\"}"
#define CALL(id, more) "{\"id\":\"" id "\",\"tool_name\":\"Bash\",\"arguments\":\"{}\"," more "}"

#define M_TEXT(role, words) "{\"role\":\"" role "\",\"content\":\"" words "\"}"
#define M_CALL(id)                                                                                 \
    "{\"id\":\"" id                                                                                \
    "\",\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"{}\"}}"
#define M_RESULT(id, words)                                                                        \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" words "\"}"

static void a_turn_unfolds_in_the_order_of_its_blocks(void **state)
{
    (void)state;
    expect_output(
        "turns", "openai-chat",
        "[" TURN("0", "assistant", TEXT("a") "," USE("x") "," DONE("x") "," TEXT("b"),
                 CALL("x", "\"status\":\"done\",\"result\":\"r\"")) "]",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[" M_CALL(
            "x") "]}," M_RESULT("x", "r") "," M_TEXT("assistant", "b") "]}");
}

static void a_result_without_a_block_stands_before_the_next_words(void **state)
{
    (void)state;
    expect_output(
        "turns", "openai-chat",
        "[" TURN("0", "assistant", USE("x") "," USE("y") "," TEXT("b"),
                 CALL("x", "\"status\":\"done\",\"result\":\"1\"") "," CALL(
                     "y", "\"status\":\"done\",\"result\":\"2\"")) "]",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
            "x") "," M_CALL("y") "]}," M_RESULT("x", "1") "," M_RESULT("y",
                                                                       "2") "," M_TEXT("assistant",
                                                                                       "b") "]}");
}

static void words_between_a_call_and_its_result_stay_with_the_call(void **state)
{
    (void)state;
    expect_output(
        "turns", "openai-chat",
        "[" TURN("0", "assistant", USE("x") "," TEXT("b") "," DONE("x"),
                 CALL("x", "\"status\":\"done\",\"result\":\"1\"")) "]",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"b\",\"tool_calls\":[" M_CALL(
            "x") "]}," M_RESULT("x", "1") "]}");
}

static void an_unfinished_call_gets_no_result(void **state)
{
    (void)state;
    const char *text = "[" TURN("0", "assistant", "",
                                CALL("x", "\"status\":\"pending\",\"result\":null") "," CALL(
                                    "y", "\"status\":\"error\",\"result\":\"boom\"")) "]";
    expect_output("turns", "openai-chat", text,
                  "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
                      "x") "," M_CALL("y") "]}," M_RESULT("y", "boom") "]}");
    expect_loss("turns", "openai-chat", text, "dropped", "/0/tool_calls/0/status", true);
    expect_loss("turns", "openai-chat", text, "dropped", "/0/tool_calls/1/status", true);
}

static void a_result_that_is_json_becomes_its_text_without_meta(void **state)
{
    (void)state;
    const char *text =
        "[" TURN("0", "assistant", USE("x"),
                 CALL("x", "\"status\":\"done\",\"result\":{\"n\": 1.0,\"_meta\":{\"ui\":"
                           "{\"resourceHTML\":\"<b>card</b>\"}}}")) "]";
    expect_output("turns", "openai-chat", text,
                  "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
                      "x") "]}," M_RESULT("x", "{\\\"n\\\":1.0}") "]}");
    expect_loss("turns", "openai-chat", text, "dropped", "/0/tool_calls/0/result/_meta", true);
}

static void cards_are_not_for_the_model(void **state)
{
    (void)state;
    const char *text = "[" TURN(
        "0", "assistant",
        TEXT("a") ",{\"type\":\"tool_ui\",\"content\":{\"resourceHTML\":\"<b>\"}}", "") "]";
    expect_output("turns", "openai-chat", text, "{\"messages\":[" M_TEXT("assistant", "a") "]}");
    expect_loss("turns", "openai-chat", text, "dropped", "/0/blocks/1", true);
}

static void a_compaction_says_its_whole_summary(void **state)
{
    (void)state;
    const char *text = "[{\"id\":\"e\",\"kind\":\"compaction\",\"role\":\"system\",\"blocks\":[],"
                       "\"tool_calls\":[],\"summary_preview\":"
                       "\"short\",\"summary_full\":\"the whole\",\"saved_ratio\":0.9550}]";
    expect_output("turns", "openai-chat", text,
                  "{\"messages\":[" M_TEXT("system", "the whole") "]}");
    expect_loss("turns", "openai-chat", text, "dropped", "/0/saved_ratio", true);
}

#define HEAD(n, role)                                                                              \
    "{\"id\":\"entry_" n "\",\"sequence\":" n ",\"turn_id\":\"turn_" n                             \
    "\",\"loop_id\":\"root\",\"kind\":\"message\",\"role\":\"" role                                \
    "\",\"status\":\"completed\",\"blocks\":["
#define TAIL "],\"duration_ms\":0,\"context_window\":0}"
static void results_are_folded_into_the_turn_of_their_call(void **state)
{
    (void)state;
    const char *text = "{\"messages\":[" M_TEXT(
        "user", "q") ","
                     "{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[" M_CALL(
                         "x") "," M_CALL("y") "]}," M_RESULT("x", "1") "," M_TEXT("assistant",
                                                                                  "b") "]}";
    expect_output(
        "openai-chat", "turns", text,
        "[" HEAD("0", "user") TEXT("q") "],\"tool_calls\":[" TAIL "," HEAD("1", "assistant")
            TEXT("a") "," USE("x") "," USE("y") "," DONE("x") "],\"tool_calls\":[" CALL(
                "x", "\"status\":\"done\",\"result\":\"1\"") "," CALL("y", "\"status\":\"pending\"")
                TAIL "," HEAD("2", "assistant") TEXT("b") "],\"tool_calls\":[" TAIL "]");
}

static void usage_timing_and_model_are_the_metadata_of_harmony(void **state)
{
    (void)state;
    expect_output(
        "turns", "harmony",
        "[{\"id\":\"e\",\"role\":\"assistant\",\"blocks\":[" TEXT(
            "a") "],\"model\":\"m\","
                 "\"usage\":{\"input_tokens\":5,\"output_tokens\":2,\"reasoning_tokens\":1},"
                 "\"timing\":{\"ttft_ms\":3,\"total_ms\":9,\"cost_usd\":0.002}}]",
        "[{\"id\":\"e\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
        "\"a\",\"index\":0}],\"metadata\":{\"token_usage\":{\"prompt_tokens\":5,"
        "\"completion_tokens\":2,\"total_cost_usd\":0.002,\"reasoning_tokens\":1},"
        "\"latency_ms\":{\"ttft\":3,\"total_time\":9},\"model_version\":\"m\"}}]");
    const char *both = "[{\"role\":\"assistant\",\"blocks\":[" TEXT(
        "a") "],\"model\":\"v/m\",\"usage\":{"
             "\"input_tokens\":5},\"timing\":{\"ttft_ms\":4},\"metadata\":{\"token_usage\":{"
             "\"prompt_tokens\":5},\"latency_ms\":{\"ttft\":3},\"model_version\":\"m\"}}]";
    expect_loss("turns", "harmony", both, "dropped", "/0/usage", false);
    expect_loss("turns", "harmony", both, "dropped", "/0/model", false);
    expect_loss("turns", "harmony", both, "dropped", "/0/timing", true); /* it has another time */
    pl_test_round_trip("turns", "harmony", both);
}

static void metadata_of_harmony_is_in_the_turn_and_beside_it(void **state)
{
    (void)state;
    const char *text =
        "[{\"role\":\"assistant\",\"content\":\"a\",\"metadata\":{\"token_usage\":{\"prompt_"
        "tokens\":5,"
        "\"total_cost_usd\":1e-3},\"latency_ms\":{\"total_time\":7},\"model_version\":\"m\","
        "\"other\":[1]}}]";
    expect_output(
        "harmony", "turns", text,
        "[" HEAD("0", "assistant") TEXT(
            "a") "],\"tool_calls\":[],\"model\":\"m\","
                 "\"usage\":{\"input_tokens\":5},\"duration_ms\":7,\"context_window\":0,"
                 "\"timing\":{\"cost_usd\":1e-3,\"total_ms\":7},\"metadata\":{\"token_usage\":{"
                 "\"prompt_tokens\":5,\"total_cost_usd\":1e-3},\"latency_ms\":{\"total_time\":7},"
                 "\"model_version\":\"m\",\"other\":[1]}}]");
    pl_test_round_trip("harmony", "turns", text);
    expect_output("harmony", "turns",
                  "[{\"role\":\"assistant\",\"content\":\"a\",\"metadata\":{\"token_usage\":[],"
                  "\"latency_ms\":3,\"model_version\":{}}}]",
                  "[" HEAD("0", "assistant") TEXT(
                      "a") "],\"tool_calls\":["
                           "],\"duration_ms\":0,"
                           "\"context_window\":0,\"metadata\":{\"token_usage\":[],\"latency_ms\":3,"
                           "\"model_version\":{}}}]");
}

static void a_result_nobody_asked_for_keeps_its_words(void **state)
{
    (void)state;
    expect_output("openai-chat", "turns", "{\"messages\":[" M_RESULT("z", "lost words") "]}",
                  "[{\"id\":\"entry_0\",\"sequence\":0,\"turn_id\":\"turn_0\",\"loop_id\":\"root\","
                  "\"kind\":\"message\","
                  "\"role\":\"user\",\"status\":\"completed\",\"blocks\":[{\"type\":\"tool_"
                  "result\",\"content\":"
                  "\"lost words\",\"tool_call_id\":\"z\"}],\"tool_calls\":[],"
                  "\"duration_ms\":0,\"context_window\":0}]");
}

static void pictures_are_blocks_of_media(void **state)
{
    (void)state;
    const char *text = "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                       "\"a\"},{\"type\":"
                       "\"image_url\",\"image_url\":{\"url\":\"https://x.test/p.png\"}}]}]}";
    expect_loss("openai-chat", "turns", text, "dropped", "/messages/0/content/1/image_url", false);
    pl_test_round_trip("openai-chat", "turns", text);
}

static void turns_are_told_by_their_blocks(void **state)
{
    (void)state;
    expect_detected("[" TURN("0", "user", TEXT("x"), "") "]", "turns");
    expect_detected(TURN("0", "user", TEXT("x"), ""), "turns");
    expect_refusal("turns", "harmony", "{\"messages\":[]}", "an array of turns");
}

static void every_turn_comes_home_from_every_format(void **state)
{
    (void)state;
    static const char text[] = "[" TURN("0", "user", TEXT("please \\u4f60"), "") ",\n" TURN(
        "1", "assistant",
        "{\"type\":\"thinking\",\"content\":\"deep\"}," TEXT("a") "," USE("x") "," DONE(
            "x") "," TEXT("b"),
        CALL("x", "\"display_name\":\"run "
                  "it\",\"status\":\"done\",\"result\":{\"ok\":true,\"n\":1.0}")) "]";
    for (size_t i = 0; pl_formats[i]; i++)
        pl_test_round_trip("turns", pl_formats[i]->name, text);
}

/* In a session's own document; a plain list of turns is converted as it is. */
static void a_call_that_ended_without_a_result_says_so(void **state)
{
    (void)state;
    expect_output(
        "turns", "openai-chat",
        "{\"turns\":[" TURN("0", "assistant", USE("x"), CALL("x", "\"status\":\"cancelled\"")) "]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
            "x") "]}," M_RESULT("x", "{\\\"status\\\":\\\"error\\\",\\\"error_type\\\":"
                                     "\\\"Interrupted\\\",\\\"message\\\":\\\"The call was "
                                     "stopped before it had a result\\\"}") "]}");
    expect_output("turns", "openai-chat",
                  "{\"turns\":[" TURN("0", "assistant", USE("x"),
                                      CALL("x", "\"status\":\"done\",\"result\":null")) "]}",
                  "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
                      "x") "]}," M_RESULT("x", "null") "]}");
}

static void a_call_that_waits_for_a_person_is_halted(void **state)
{
    (void)state;
    expect_output(
        "turns", "openai-chat",
        "{\"turns\":[" TURN("0", "assistant", USE("x"),
                            CALL("x", "\"status\":\"awaiting_answer\"")) "]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
            "x") "]}," M_RESULT("x", "{\\\"status\\\":\\\"halted\\\",\\\"reason\\\":"
                                     "\\\"human_confirmation_required\\\",\\\"message\\\":\\\"A "
                                     "person has not allowed this call yet\\\"}") "]}");
    expect_output(
        "turns", "openai-chat",
        "{\"turns\":[" TURN("0", "assistant", USE("x"),
                            CALL("x", "\"status\":\"awaiting_answer\",\"pending_question_ref\":{"
                                      "\"description\":\"Now?\"}")) "]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
            "x") "]}," M_RESULT("x",
                                "{\\\"status\\\":\\\"halted\\\",\\\"reason\\\":"
                                "\\\"human_input_required\\\",\\\"message\\\":\\\"Now?\\\"}") "]}");
}

#define OF_LOOP(loop, words)                                                                       \
    "{\"loop_id\":\"" loop                                                                         \
    "\",\"kind\":\"message\",\"role\":\"assistant\",\"blocks\":[" TEXT(words) "]}"

static void the_turns_of_a_sub_agent_are_a_conversation_of_their_own(void **state)
{
    (void)state;
    expect_output("turns", "openai-chat",
                  "[" OF_LOOP("root", "a") "," OF_LOOP("loop_1", "b") "," OF_LOOP("root", "c") "]",
                  "{\"messages\":[" M_TEXT("assistant", "a") "," M_TEXT("assistant", "c") "]}");
    expect_output("turns", "harmony", "[" OF_LOOP("loop_1", "b") "]",
                  "[{\"role\":\"assistant\",\"name\":\"loop_1\",\"content\":[{\"type\":\"text\","
                  "\"text\":\"b\",\"index\":0}]}]");
}

static void what_a_message_had_stays_with_its_turn(void **state)
{
    (void)state;
    static const char document[] =
        "[{\"id\":\"m1\",\"role\":\"user\",\"name\":\"Ada\",\"content\":[{\"type\":\"text\","
        "\"text\":\"go\",\"index\":0}],\"metadata\":{\"trace_id\":\"t\"}},{\"id\":\"m2\",\"role\":"
        "\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
            "x") "]},{\"id\":\"m3\",\"role\":\"tool\",\"tool_call_id\":\"x\",\"name\":\"Bash\","
                 "\"created_at\":1715000000,\"content\":[{\"type\":\"text\",\"text\":\"r\","
                 "\"index\":0}],\"metadata\":{\"latency_ms\":{\"total_time\":3}}}]";
    struct pl_converted there, back;
    pl_converted_init(&there);
    pl_converted_init(&back);
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("harmony")),
                                   .to = pl_format_find(PL_STR("turns"))};
    assert_int_equal(pl_convert(pl_str_of(document), &opts, &there, NULL), PL_OK);
    struct pl_convert_opts home = {.from = opts.to, .to = opts.from};
    assert_int_equal(pl_convert(pl_buf_str(&there.out), &home, &back, NULL), PL_OK);
    struct pl_str out = pl_buf_str(&back.out);
    while (out.len && out.ptr[out.len - 1] == '\n')
        out.len--;
    if (!pl_str_eq(out, pl_str_of(document)))
        fail_msg("%.*s", PL_STR_ARG(out));
    pl_converted_deinit(&there);
    pl_converted_deinit(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_unfolds_in_the_order_of_its_blocks),
        cmocka_unit_test(a_result_without_a_block_stands_before_the_next_words),
        cmocka_unit_test(words_between_a_call_and_its_result_stay_with_the_call),
        cmocka_unit_test(an_unfinished_call_gets_no_result),
        cmocka_unit_test(a_call_that_ended_without_a_result_says_so),
        cmocka_unit_test(a_call_that_waits_for_a_person_is_halted),
        cmocka_unit_test(the_turns_of_a_sub_agent_are_a_conversation_of_their_own),
        cmocka_unit_test(what_a_message_had_stays_with_its_turn),
        cmocka_unit_test(a_result_that_is_json_becomes_its_text_without_meta),
        cmocka_unit_test(cards_are_not_for_the_model),
        cmocka_unit_test(a_compaction_says_its_whole_summary),
        cmocka_unit_test(results_are_folded_into_the_turn_of_their_call),
        cmocka_unit_test(usage_timing_and_model_are_the_metadata_of_harmony),
        cmocka_unit_test(metadata_of_harmony_is_in_the_turn_and_beside_it),
        cmocka_unit_test(a_result_nobody_asked_for_keeps_its_words),
        cmocka_unit_test(pictures_are_blocks_of_media),
        cmocka_unit_test(turns_are_told_by_their_blocks),
        cmocka_unit_test(every_turn_comes_home_from_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

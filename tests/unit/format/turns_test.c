/* Turns of a session, unfolded into messages, folded up again, and home again. */
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

static void results_are_folded_into_the_turn_of_their_call(void **state)
{
    (void)state;
    expect_output(
        "openai-chat", "turns",
        "{\"messages\":[" M_TEXT("user",
                                 "q") ",{\"role\":\"assistant\",\"content\":\"a\",\"tool_"
                                      "calls\":[" M_CALL("x") "," M_CALL("y") "]}," M_RESULT(
                                          "x", "1") "," M_TEXT("assistant", "b") "]}",
        "[{\"id\":\"entry_0\",\"sequence\":0,\"turn_id\":\"turn_0\",\"loop_id\":\"root\",\"kind\":"
        "\"message\",\"role\":\"user\","
        "\"status\":\"completed\",\"blocks\":[" TEXT(
            "q") "],\"tool_calls\":[]},"
                 "{\"id\":\"entry_1\",\"sequence\":1,\"turn_id\":\"turn_1\",\"loop_id\":\"root\","
                 "\"kind\":\"message\",\"role\":"
                 "\"assistant\",\"status\":\"completed\",\"blocks\":[" TEXT("a") "," USE("x") "," USE(
                     "y") "," DONE("x") "],"
                                        "\"tool_calls\":[" CALL(
                                            "x",
                                            "\"status\":"
                                            "\"done\","
                                            "\"result\":"
                                            "\"1\"") "," CALL("y",
                                                              "\"status\":\"pending\"") "]},"
                                                                                        "{\"id\":"
                                                                                        "\"entry_"
                                                                                        "2\","
                                                                                        "\"sequence"
                                                                                        "\":2,"
                                                                                        "\"turn_"
                                                                                        "id\":"
                                                                                        "\"turn_"
                                                                                        "2\","
                                                                                        "\"loop_"
                                                                                        "id\":"
                                                                                        "\"root\","
                                                                                        "\"kind\":"
                                                                                        "\"message"
                                                                                        "\","
                                                                                        "\"role\":"
                                                                                        "\"assistan"
                                                                                        "t\","
                                                                                        "\"status\""
                                                                                        ":"
                                                                                        "\"complete"
                                                                                        "d\","
                                                                                        "\"blocks\""
                                                                                        ":"
                                                                                        "[" TEXT(
                                                                                            "b") "]"
                                                                                                 ","
                                                                                                 "\"tool"
                                                                                                 "_"
                                                                                                 "c"
                                                                                                 "a"
                                                                                                 "l"
                                                                                                 "l"
                                                                                                 "s"
                                                                                                 "\":[]}"
                                                                                                 "]");
}

static void a_result_nobody_asked_for_keeps_its_words(void **state)
{
    (void)state;
    expect_output("openai-chat", "turns", "{\"messages\":[" M_RESULT("z", "lost words") "]}",
                  "[{\"id\":\"entry_0\",\"sequence\":0,\"turn_id\":\"turn_0\",\"loop_id\":\"root\","
                  "\"kind\":\"message\","
                  "\"role\":\"user\",\"status\":\"completed\",\"blocks\":[{\"type\":\"tool_"
                  "result\",\"content\":"
                  "\"lost words\",\"tool_call_id\":\"z\"}],\"tool_calls\":[]}]");
}

static void pictures_have_no_place_and_are_reported(void **state)
{
    (void)state;
    const char *text = "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                       "\"a\"},{\"type\":"
                       "\"image_url\",\"image_url\":{\"url\":\"https://x.test/p.png\"}}]}]}";
    expect_loss("openai-chat", "turns", text, "dropped", "/messages/0/content/1/image_url", true);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_unfolds_in_the_order_of_its_blocks),
        cmocka_unit_test(a_result_without_a_block_stands_before_the_next_words),
        cmocka_unit_test(words_between_a_call_and_its_result_stay_with_the_call),
        cmocka_unit_test(an_unfinished_call_gets_no_result),
        cmocka_unit_test(a_result_that_is_json_becomes_its_text_without_meta),
        cmocka_unit_test(cards_are_not_for_the_model),
        cmocka_unit_test(a_compaction_says_its_whole_summary),
        cmocka_unit_test(results_are_folded_into_the_turn_of_their_call),
        cmocka_unit_test(a_result_nobody_asked_for_keeps_its_words),
        cmocka_unit_test(pictures_have_no_place_and_are_reported),
        cmocka_unit_test(turns_are_told_by_their_blocks),
        cmocka_unit_test(every_turn_comes_home_from_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

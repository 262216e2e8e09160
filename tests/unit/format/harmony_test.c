/* Harmony: written from other formats, read into other formats, and back. */
#include "unit/format/expect.h"

#define USER "{\"role\":\"user\",\"content\":\"q\"}"
#define CALL                                                                                       \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"            \
    "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"n\\\": 1.0}\"}}]}"
#define RESULT "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"r\"}"

static void messages_alone_are_written_as_an_array(void **state)
{
    (void)state;
    expect_output(
        "turns", "harmony",
        "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"hi\"}]}]",
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\",\"index\":0}]}]");
}

static void tools_and_settings_stand_beside_the_messages(void **state)
{
    (void)state;
    expect_output(
        "openai-chat", "harmony",
        "{\"model\":\"m\",\"messages\":[" USER
        "],\"temperature\":0.70,\"tool_choice\":\"required\","
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"
        "\"object\"}}}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\","
        "\"index\":0}]}],"
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"
        "\"object\"}}}],"
        "\"settings\":{\"model\":\"m\",\"temperature\":0.70,\"tool_choice\":\"required\"}}");
}

static void arguments_are_a_string_and_content_null_beside_calls_alone(void **state)
{
    (void)state;
    expect_output(
        "anthropic", "harmony",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\","
        "\"name\":\"f\","
        "\"input\":{\"n\": "
        "1.0}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\","
        "\"content\":\"r\"},{\"type\":\"text\",\"text\":\"go on\"}]}]}",
        "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"t\",\"type\":"
        "\"function\",\"function\":"
        "{\"name\":\"f\",\"arguments\":\"{\\\"n\\\": 1.0}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"r\","
        "\"index\":0}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go on\",\"index\":0}]}]");
}

static void an_object_as_arguments_is_read_and_reported(void **state)
{
    (void)state;
    const char *text =
        "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\","
        "\"function\":{\"name\":\"f\",\"arguments\":{\"x\": 1}}}]}]";
    expect_loss("harmony", "openai-chat", text, "moved", "/0/tool_calls/0/function/arguments",
                true);
    pl_test_round_trip("harmony", "openai-chat", text);
}

static void an_index_that_repeats_the_order_is_no_loss(void **state)
{
    (void)state;
    const char *text =
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\",\"index\":0},"
        "{\"type\":\"text\",\"text\":\"b\",\"index\":7}]}]";
    expect_loss("harmony", "openai-chat", text, "dropped", "/0/content/0/index", false);
    expect_loss("harmony", "openai-chat", text, "dropped", "/0/content/1/index", true);
}

static void thinking_is_a_part_and_failure_is_said_in_json(void **state)
{
    (void)state;
    const char *text = "{\"max_tokens\":1,\"messages\":[{\"role\":\"assistant\",\"content\":[{"
                       "\"type\":\"thinking\",\"thinking\":"
                       "\"deep\",\"signature\":\"s\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
                       "\"f\",\"input\":{}}]},"
                       "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                       "\"t\",\"content\":\"r\","
                       "\"is_error\":true}]}]}";
    expect_loss("anthropic", "harmony", text, "dropped", "/messages/0/content/0/thinking", false);
    expect_loss("anthropic", "harmony", text, "dropped", "/messages/0/content/0/signature", true);
    expect_loss("anthropic", "harmony", text, "dropped", "/messages/1/content/0/is_error", false);
    expect_output(
        "harmony", "anthropic",
        "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"tool_calls\":[{"
        "\"id\":\"t\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":"
        "\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"t\",\"content\":"
        "\"{\\\"status\\\":\\\"error\\\"}\"}]",
        "{\"max_tokens\":4096,\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":"
        "\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\","
        "\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
        "\"tool_use_id\":\"t\",\"content\":\"{\\\"status\\\":\\\"error\\\"}\","
        "\"is_error\":true}]}]}");
    pl_test_round_trip("anthropic", "harmony", text);
}

static void pictures_and_sound_keep_their_data(void **state)
{
    (void)state;
    expect_output("gemini", "harmony",
                  "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"inlineData\":{\"mimeType\":"
                  "\"image/png\",\"data\":\"iVBORw0KGgo=\"}},"
                  "{\"inlineData\":{\"mimeType\":\"audio/mpeg\",\"data\":\"SUQz\"}}]}]}",
                  "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
                  "\"data:image/png;base64,"
                  "iVBORw0KGgo=\"},\"index\":0},{\"type\":\"input_audio\",\"input_audio\":{"
                  "\"data\":\"SUQz\",\"format\":\"mp3\"},"
                  "\"index\":1}]}]");
}

static void times_and_metadata_are_kept(void **state)
{
    (void)state;
    expect_output("turns", "harmony",
                  "[{\"role\":\"user\",\"started_at\":\"2026-01-01T01:00:00.5+01:00\",\"blocks\":[{"
                  "\"type\":\"text\","
                  "\"content\":\"x\"}]}]",
                  "[{\"role\":\"user\",\"created_at\":1767225600,\"content\":[{\"type\":\"text\","
                  "\"text\":\"x\","
                  "\"index\":0}]}]");
    pl_test_round_trip(
        "harmony", "anthropic",
        "[{\"id\":\"m\",\"role\":\"user\",\"created_at\":1715000000,\"content\":\"x\",\"metadata\":"
        "{\"trace_id\":\"trace words\"}}]");
}

static void an_answer_is_a_message_with_its_usage_as_metadata(void **state)
{
    (void)state;
    struct pl_converted c = pl_test_convert(
        "openai-chat", "harmony", PL_KIND_RESPONSE, PL_MODE_CONVERT,
        "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":7,\"model\":\"m\",\"choices\":[{"
        "\"index\":0,"
        "\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\",\"content\":\"yes\"}}],"
        "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}");
    assert_true(pl_str_eq(pl_buf_str(&c.out),
                          PL_STR("[{\"id\":\"x\",\"role\":\"assistant\",\"created_at\":7,"
                                 "\"content\":[{\"type\":\"text\",\"text\":\"yes\","
                                 "\"index\":0}],\"metadata\":{\"token_usage\":{\"prompt_tokens\":3,"
                                 "\"completion_tokens\":2},"
                                 "\"model_version\":\"m\",\"finish_reason\":\"stop\"}}]")));
    pl_converted_deinit(&c);
}

static void what_is_no_conversation_is_refused(void **state)
{
    (void)state;
    expect_refusal("harmony", "openai-chat",
                   "{\"protocol\":\"harmony_handoff_v1\",\"meta\":{},\"context\":{}}",
                   "parley handoff");
    expect_refusal("harmony", "openai-chat", "{\"message\":[]}", "\"messages\"");
    expect_refusal("harmony", "openai-chat", "[1]", "message 0");
}

static void it_is_told_from_what_vendors_have(void **state)
{
    (void)state;
    expect_detected("[" USER "," CALL "," RESULT "]", "harmony");
    expect_detected("{\"messages\":[" USER "],\"settings\":{\"model\":\"m\"}}", "harmony");
    expect_detected("{\"messages\":[{\"role\":\"user\",\"created_at\":5,\"content\":\"x\"}]}",
                    "harmony");
    expect_detected("{\"model\":\"gpt-5\",\"messages\":[" USER "," CALL "," RESULT "]}",
                    "openai-chat");
    expect_detected("{\"protocol\":\"harmony_handoff_v1\",\"meta\":{},\"context\":{}}", "harmony");
}

static void every_example_comes_home_from_every_format(void **state)
{
    (void)state;
    static const char text[] =
        "[ {\"id\":\"m1\",\"role\":\"system\",\"content\":\"rules\"},\n"
        "{\"role\":\"user\",\"name\":\"ann\",\"content\":[{\"type\":\"text\",\"text\":\"look "
        "\\u00e9\"},"
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x.test/"
        "a.png\",\"detail\":\"low\",\"rotation\":90},"
        "\"video_metadata\":{\"video_id\":\"vid_abc\",\"timestamp_sec\":12.50}},"
        "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklGRg==\",\"format\":\"wav\","
        "\"sample_rate\":24000}}]},\n" CALL "," RESULT
        ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}]\n";
    for (size_t i = 0; pl_formats[i]; i++)
        pl_test_round_trip("harmony", pl_formats[i]->name, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_alone_are_written_as_an_array),
        cmocka_unit_test(tools_and_settings_stand_beside_the_messages),
        cmocka_unit_test(arguments_are_a_string_and_content_null_beside_calls_alone),
        cmocka_unit_test(an_object_as_arguments_is_read_and_reported),
        cmocka_unit_test(an_index_that_repeats_the_order_is_no_loss),
        cmocka_unit_test(thinking_is_a_part_and_failure_is_said_in_json),
        cmocka_unit_test(pictures_and_sound_keep_their_data),
        cmocka_unit_test(times_and_metadata_are_kept),
        cmocka_unit_test(an_answer_is_a_message_with_its_usage_as_metadata),
        cmocka_unit_test(what_is_no_conversation_is_refused),
        cmocka_unit_test(it_is_told_from_what_vendors_have),
        cmocka_unit_test(every_example_comes_home_from_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

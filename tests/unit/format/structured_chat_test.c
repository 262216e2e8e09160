/* Structured chat: written from other formats, read into other formats, and back. */
#include "unit/format/expect.h"

static void a_prompt_becomes_messages_and_settings(void **state)
{
    (void)state;
    expect_output("structured-chat", "openai-chat",
                  "{\"protocol\":\"structured-chat\",\"system_prompt\":\"You are "
                  "{{role}}\",\"messages\":[{\"id\":"
                  "\"m\",\"role\":\"user\",\"content\":\"audit:\\n{{ code:none "
                  "}}\"}],\"config\":{\"temperature\":0.70}}",
                  "{\"messages\":[{\"role\":\"system\",\"content\":\"You are "
                  "{{role}}\"},{\"role\":\"user\",\"content\":"
                  "\"audit:\\n{{ code:none }}\"}],\"temperature\":0.70}");
}

static void an_empty_system_prompt_is_none(void **state)
{
    (void)state;
    expect_output("structured-chat", "openai-chat",
                  "{\"protocol\":\"structured-chat\",\"system_prompt\":\"\",\"messages\":[{\"id\":"
                  "\"m\",\"role\":\"user\","
                  "\"content\":\"go\"}]}",
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}]}");
}

static void the_first_system_text_is_the_prompt_and_later_ones_stay_in_place(void **state)
{
    (void)state;
    expect_output(
        "openai-chat", "structured-chat",
        "{\"messages\":[{\"role\":\"system\",\"content\":\"S1\"},{\"role\":\"user\",\"content\":"
        "\"q\"},"
        "{\"role\":\"system\",\"content\":\"S2\"}]}",
        "{\"protocol\":\"structured-chat\",\"system_prompt\":\"S1\",\"messages\":[{\"id\":\"msg_"
        "1\",\"role\":"
        "\"user\",\"content\":\"q\"},{\"id\":\"msg_2\",\"role\":\"system\",\"content\":\"S2\"}]}");
}

static void several_system_texts_are_not_joined(void **state)
{
    (void)state;
    expect_output("anthropic", "structured-chat",
                  "{\"system\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":"
                  "\"two\"}],\"messages\":[]}",
                  "{\"protocol\":\"structured-chat\",\"system_prompt\":\"one\",\"messages\":[{"
                  "\"id\":\"msg_1\",\"role\":"
                  "\"system\",\"content\":\"two\"}]}");
}

static void several_texts_of_a_message_are_one_and_reported_as_merged(void **state)
{
    (void)state;
    const char *text =
        "[{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},"
        "{\"type\":\"text\",\"text\":\"y\"}]}]";
    expect_output("harmony", "structured-chat", text,
                  "{\"protocol\":\"structured-chat\",\"messages\":[{\"id\":\"a\",\"role\":\"user\","
                  "\"content\":"
                  "\"x\\n\\ny\"}]}");
    expect_loss("harmony", "structured-chat", text, "merged", "/0/content/1/text", true);
}

static void tool_turns_stay_in_the_document(void **state)
{
    (void)state;
    expect_output(
        "anthropic", "structured-chat",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\","
        "\"name\":\"f\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\","
        "\"content\":\"r\"}]}]}",
        "{\"protocol\":\"structured-chat\",\"messages\":[{\"id\":\"msg_1\",\"role\":\"assistant\","
        "\"content\":\"\","
        "\"tool_calls\":[{\"id\":\"t\",\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"arguments\":\"{}\"}}]},"
        "{\"id\":\"msg_2\",\"role\":\"tool\",\"tool_call_id\":\"t\",\"content\":\"r\"}]}");
}

static void ids_that_are_made_differ_from_those_that_are_there(void **state)
{
    (void)state;
    expect_output("harmony", "structured-chat",
                  "[{\"role\":\"user\",\"content\":\"a\"},{\"id\":\"msg_1\",\"role\":\"user\","
                  "\"content\":\"b\"},"
                  "{\"id\":\"msg_1\",\"role\":\"user\",\"content\":\"c\"}]",
                  "{\"protocol\":\"structured-chat\",\"messages\":[{\"id\":\"msg_2\",\"role\":"
                  "\"user\",\"content\":\"a\"},"
                  "{\"id\":\"msg_1\",\"role\":\"user\",\"content\":\"b\"},{\"id\":\"msg_3\","
                  "\"role\":\"user\",\"content\":"
                  "\"c\"}]}");
}

static void settings_nobody_knows_are_reported(void **state)
{
    (void)state;
    const char *text = "{\"protocol\":\"structured-chat\",\"messages\":[{\"id\":\"m\",\"role\":"
                       "\"user\",\"content\":\"x\"}],"
                       "\"config\":{\"flavour\" : \"sweet words\"}}";
    expect_loss("structured-chat", "anthropic", text, "dropped", "/config", true);
    for (size_t i = 0; pl_formats[i]; i++)
        pl_test_round_trip("structured-chat", pl_formats[i]->name, text);
}

static void it_is_told_by_its_protocol(void **state)
{
    (void)state;
    expect_detected("{\"protocol\":\"structured-chat\",\"messages\":[]}", "structured-chat");
    expect_detected("{\"system_prompt\":\"s\",\"messages\":[{\"id\":\"m\",\"role\":\"user\","
                    "\"content\":\"x\"}]}",
                    "structured-chat");
    expect_refusal("structured-chat", "harmony",
                   "{\"protocol\":\"structured-chat\",\"messages\":\"x\"}", "\"messages\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_becomes_messages_and_settings),
        cmocka_unit_test(an_empty_system_prompt_is_none),
        cmocka_unit_test(the_first_system_text_is_the_prompt_and_later_ones_stay_in_place),
        cmocka_unit_test(several_system_texts_are_not_joined),
        cmocka_unit_test(several_texts_of_a_message_are_one_and_reported_as_merged),
        cmocka_unit_test(tool_turns_stay_in_the_document),
        cmocka_unit_test(ids_that_are_made_differ_from_those_that_are_there),
        cmocka_unit_test(settings_nobody_knows_are_reported),
        cmocka_unit_test(it_is_told_by_its_protocol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

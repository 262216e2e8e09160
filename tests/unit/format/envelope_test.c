/* Prompt envelopes: written from other formats, read into other formats, and back. The output is
 * checked with the schema of seed 000. */
#include "unit/format/expect.h"

#include "schema/builtin.h"
#include "schema/schema.h"

#include <stdio.h>

#define MESSAGE(id, role, segments)                                                                \
    "{\"id\":\"" id "\",\"role\":\"" role "\",\"segments\":[" segments "],\"timestamp\":0}"
#define ENVELOPE(messages) "{\"version\":\"1.0\",\"messages\":[" messages "]}"

static void segments_are_chosen_by_what_they_hold(void **state)
{
    (void)state;
    expect_output(
        "openai-chat", "envelope",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"rules\"},{\"role\":"
        "\"user\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"look\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://"
        "x.test/p.png\"}}]}]}",
        "{\"version\":\"1.0\",\"model\":\"m\",\"messages\":[" MESSAGE(
            "msg_1", "system",
            "{\"kind\":\"system_prompt\",\"content\":\"rules\",\"collapsed\":false}") "," MESSAGE("msg_2",
                                                                                                  "user",
                                                                                                  "{\"kind\":\"text\",\"content\":\"look\"},{\"kind\":\"media\",\"mediaType\":\"image\","
                                                                                                  "\"url\":\"https://x.test/p.png\"}") "]}");
}

static void calls_and_results_keep_their_ids_and_numbers(void **state)
{
    (void)state;
    expect_output("openai-chat", "envelope",
                  "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
                  "\"c\",\"type\":\"function\","
                  "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"big\\\": "
                  "25227143063332189585438}\"}}]},"
                  "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}]}",
                  ENVELOPE(MESSAGE(
                      "msg_1", "assistant",
                      "{\"kind\":\"tool_call_request\",\"toolName\":\"f\",\"callId\":\"c\","
                      "\"arguments\":{\"big\": "
                      "25227143063332189585438},\"collapsed\":true}") "," MESSAGE("msg_2", "tool",
                                                                                  "{\"kind"
                                                                                  "\":"
                                                                                  "\"tool_"
                                                                                  "call_"
                                                                                  "result\""
                                                                                  ",\"toolN"
                                                                                  "ame\":"
                                                                                  "\"f\","
                                                                                  "\"callId"
                                                                                  "\":"
                                                                                  "\"c\","
                                                                                  "\"result"
                                                                                  "\":"
                                                                                  "\"r\","
                                                                                  "\"succes"
                                                                                  "s\":"
                                                                                  "true,"
                                                                                  "\"collap"
                                                                                  "sed\":"
                                                                                  "true"
                                                                                  "}")));
}

static void arguments_that_are_no_object_are_wrapped_and_reported(void **state)
{
    (void)state;
    const char *text = "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\","
                       "\"type\":\"function\","
                       "\"function\":{\"name\":\"f\",\"arguments\":\"{oops\"}}]}]}";
    expect_output(
        "openai-chat", "envelope", text,
        ENVELOPE(MESSAGE("msg_1", "assistant",
                         "{\"kind\":\"tool_call_request\",\"toolName\":\"f\",\"callId\":"
                         "\"c\",\"arguments\":{\"_raw\":\"{oops\"},\"collapsed\":true}")));
    expect_loss("openai-chat", "envelope", text, "approximated",
                "/messages/0/tool_calls/0/function/arguments", true);
}

static void tools_are_shown_with_readable_parameters(void **state)
{
    (void)state;
    expect_output(
        "openai-chat", "envelope",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":[{\"type\":\"function\","
        "\"function\":{\"name\":\"w\","
        "\"description\":\"weather\",\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":{"
        "\"type\":\"string\"},"
        "\"days\":{\"type\":\"integer\"}},\"required\":[\"city\"]}}}]}",
        ENVELOPE(MESSAGE(
            "msg_1", "system",
            "{\"kind\":\"tool_overview\",\"items\":[{\"name\":\"w\",\"description\":"
            "\"weather\",\"parameters\":\"city: string (required), days: "
            "integer\",\"schema\":{\"type\":"
            "\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":"
            "\"integer\"}},"
            "\"required\":[\"city\"]}}],\"collapsed\":true}") "," MESSAGE("msg_2", "user",
                                                                          "{\"kind\":\"text\","
                                                                          "\"content\":\"q\"}")));
}

static void bytes_of_a_document_are_reported_as_dropped(void **state)
{
    (void)state;
    const char *text = "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"file\",\"file\":"
                       "{\"filename\":\"a.pdf\","
                       "\"file_data\":\"data:application/pdf;base64,JVBERi0xLjc=\"}}]}]}";
    expect_output("openai-chat", "envelope", text,
                  ENVELOPE(MESSAGE("msg_1", "user",
                                   "{\"kind\":\"document\",\"fileName\":\"a.pdf\",\"mimeType\":"
                                   "\"application/pdf\",\"snippet\":\"\",\"sizeBytes\":8}")));
    expect_loss("openai-chat", "envelope", text, "dropped", "/messages/0/content/0/file/file_data",
                true);
}

static void a_long_text_says_how_long_it_is(void **state)
{
    (void)state;
    static char text[8200], wanted[200];
    size_t at = (size_t)snprintf(text, sizeof text, "[{\"role\":\"user\",\"content\":\"");
    for (int i = 0; i < 2001; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "\xc3\xa9");
    snprintf(text + at, sizeof text - at, "\"}]");
    struct pl_converted c =
        pl_test_convert("harmony", "envelope", PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    snprintf(wanted, sizeof wanted,
             "\",\"charCount\":2001,\"collapsed\":true}],\"timestamp\":0}]}");
    size_t n = strlen(wanted);
    assert_true(c.out.len > n && memcmp(c.out.ptr + c.out.len - n, wanted, n) == 0);
    pl_converted_deinit(&c);
    pl_test_round_trip("harmony", "envelope", text);
}

#define REQUEST(n)                                                                                 \
    "{\"kind\":\"tool_call_request\",\"toolName\":\"f\",\"arguments\":{\"n\":" n                   \
    "},\"collapsed\":true}"
#define RESULT(words, success)                                                                     \
    "{\"kind\":\"tool_call_result\",\"toolName\":\"f\",\"result\":\"" words                        \
    "\",\"success\":" success ",\"collapsed\":true}"
#define M_CALL(id, n)                                                                              \
    "{\"id\":\"" id                                                                                \
    "\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"n\\\":" n "}\"}}"

static void calls_without_ids_are_paired_by_order_within_the_name(void **state)
{
    (void)state;
    const char *text =
        ENVELOPE(MESSAGE("a", "assistant", REQUEST("1") "," REQUEST("2")) "," MESSAGE(
            "b", "tool", RESULT("one", "true") "," RESULT("two", "false")));
    expect_output(
        "envelope", "openai-chat", text,
        "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" M_CALL(
            "call_1", "1") "," M_CALL("call_2", "2") "]},{\"role\":\"tool\",\"tool_call_id\":"
                                                     "\"call_1\",\"content\":\"one\"},"
                                                     "{\"role\":\"tool\",\"tool_call_id\":\"call_"
                                                     "2\",\"content\":\"two\"}]}");
    expect_loss("envelope", "openai-chat", text, "dropped", "/messages/1/segments/1/success", true);
    expect_loss("envelope", "openai-chat", text, "dropped", "/messages/1/segments/0/success",
                false);
}

static void variables_stand_in_their_sentence_and_lists_are_text_under_a_heading(void **state)
{
    (void)state;
    const char *text =
        ENVELOPE(MESSAGE("a", "user",
                         "{\"kind\":\"text\",\"content\":\"Hi "
                         "\"},{\"kind\":\"static_var\",\"name\":\"who\",\"value\":\"Ann\"},"
                         "{\"kind\":\"memory\",\"items\":[{\"title\":\"likes\",\"content\":\"tea\"}"
                         ",{\"title\":\"age\",\"content\":\"7\"}],"
                         "\"collapsed\":true}"));
    expect_output(
        "envelope", "harmony", text,
        "[{\"id\":\"a\",\"role\":\"user\",\"created_at\":0,\"content\":[{\"type\":\"text\","
        "\"text\":\"Hi Ann\","
        "\"index\":0},{\"type\":\"text\",\"text\":"
        "\"## Memory\\n\\n- likes: tea\\n- age: 7\",\"index\":1}]}]");
    expect_loss("envelope", "harmony", text, "merged", "/messages/0/segments/1/value", true);
    expect_loss("envelope", "harmony", text, "dropped", "/messages/0/segments/1/name", true);
    /* Each item alone: some tools of a list are declared, others become text. */
    expect_loss("envelope", "harmony", text, "approximated", "/messages/0/segments/2/items/0",
                true);
    expect_loss("envelope", "harmony", text, "approximated", "/messages/0/segments/2/items/1",
                true);
}

static void tools_with_a_schema_can_be_called_and_others_are_told_about(void **state)
{
    (void)state;
    expect_output("envelope", "harmony",
                  ENVELOPE(MESSAGE(
                      "a", "system",
                      "{\"kind\":\"tool_overview\",\"items\":[{\"name\":\"f\",\"description\":"
                      "\"d\",\"parameters\":\"none\",\"schema\":{}}],\"collapsed\":true},{\"kind\":"
                      "\"system_prompt\",\"content\":\"s\",\"collapsed\":true}")),
                  "{\"messages\":[{\"id\":\"a\",\"role\":\"system\",\"created_at\":0,\"content\":[{"
                  "\"type\":\"text\","
                  "\"text\":\"s\",\"index\":0}]}],\"tools\":[{\"type\":\"function\",\"function\":{"
                  "\"name\":\"f\","
                  "\"description\":\"d\",\"parameters\":{}}}]}");
    expect_output(
        "envelope", "harmony",
        ENVELOPE(MESSAGE("a", "system",
                         "{\"kind\":\"tool_overview\",\"items\":[{\"name\":\"f\",\"description\":"
                         "\"d\",\"parameters\":\"n: number\"}],\"collapsed\":true}")),
        "[{\"id\":\"a\",\"role\":\"system\",\"created_at\":0,\"content\":[{\"type\":\"text\","
        "\"text\":"
        "\"## Tools\\n\\n- f: d\\n  n: number\",\"index\":0}]}]");
}

static void charcount_and_folding_are_no_loss(void **state)
{
    (void)state;
    const char *text = ENVELOPE(
        MESSAGE("a", "user",
                "{\"kind\":\"long_text\",\"content\":\"\xf0\x9f\x98\x80x\","
                "\"charCount\":3,\"collapsed\":true},{\"kind\":\"long_text\",\"content\":\"x\","
                "\"charCount\":9,\"collapsed\":true}"));
    expect_loss("envelope", "harmony", text, "dropped", "/messages/0/segments/0/charCount", false);
    expect_loss("envelope", "harmony", text, "dropped", "/messages/0/segments/0/collapsed", false);
    expect_loss("envelope", "harmony", text, "dropped", "/messages/0/segments/1/charCount", true);
}

/* Everything a conversation can contain, and messages without any visible content. */
static void what_is_written_always_fits_the_schema(void **state)
{
    (void)state;
    static const char *const sources[][2] = {
        {"harmony",
         "[{\"role\":\"user\",\"content\":[]},{\"role\":\"user\",\"content\":null},{\"role\":"
         "\"assistant\","
         "\"content\":[],\"tool_calls\":[{\"type\":\"function\",\"function\":{}},{\"id\":\"a\","
         "\"type\":\"custom\","
         "\"custom\":{\"name\":\"f\",\"input\":\"free\"}}]},{\"role\":\"tool\",\"content\":[]},"
         "{\"id\":7,\"role\":\"odd\",\"created_at\":\"never\",\"content\":[{\"type\":\"file\","
         "\"file\":{}}]}]"},
        {"anthropic",
         "{\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}},{\"type\":\"web_"
         "search_20260318\","
         "\"name\":\"web_search\"}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_"
         "result\","
         "\"tool_use_id\":\"t\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\","
         "\"media_type\":"
         "\"image/"
         "png\",\"data\":\"iVBORw0KGgo=\"}}]},{\"type\":\"document\",\"source\":{\"type\":\"text\","
         "\"media_type\":\"text/plain\",\"data\":\"words\"}}]}]}"},
    };
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_schema *schema = NULL;
    const struct pl_schema_builtin *builtin = pl_schema_builtin_find(PL_STR("envelope"));
    struct pl_error err = {0};
    struct pl_schema_run *run = NULL;
    assert_int_equal(pl_schema_compile(builtin->text, NULL, &schema, &err), PL_OK);
    assert_int_equal(pl_schema_run_create(schema, &run), PL_OK);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct pl_converted c = pl_test_convert(sources[i][0], "envelope", PL_KIND_REQUEST,
                                                PL_MODE_CONVERT, sources[i][1]);
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_buf_str(&c.out), NULL, &doc, NULL), PL_OK);
        bool is_valid = false;
        assert_int_equal(pl_schema_check(run, &doc, doc.root, &is_valid), PL_OK);
        if (!is_valid)
            fail_msg("breaks the schema: %.*s", PL_STR_ARG(pl_buf_str(&c.out)));
        pl_converted_deinit(&c);
        pl_test_round_trip(sources[i][0], "envelope", sources[i][1]);
    }
    pl_schema_run_destroy(run);
    pl_schema_destroy(schema);
}

static void an_empty_conversation_is_refused(void **state)
{
    (void)state;
    expect_refusal("harmony", "envelope", "[]", "at least one message");
    expect_refusal("envelope", "harmony", "{\"version\":\"1.0\"}", "\"messages\"");
}

static void it_is_told_by_its_segments(void **state)
{
    (void)state;
    expect_detected(ENVELOPE(MESSAGE("a", "user", "{\"kind\":\"text\",\"content\":\"x\"}")),
                    "envelope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_are_chosen_by_what_they_hold),
        cmocka_unit_test(calls_and_results_keep_their_ids_and_numbers),
        cmocka_unit_test(arguments_that_are_no_object_are_wrapped_and_reported),
        cmocka_unit_test(tools_are_shown_with_readable_parameters),
        cmocka_unit_test(bytes_of_a_document_are_reported_as_dropped),
        cmocka_unit_test(a_long_text_says_how_long_it_is),
        cmocka_unit_test(calls_without_ids_are_paired_by_order_within_the_name),
        cmocka_unit_test(variables_stand_in_their_sentence_and_lists_are_text_under_a_heading),
        cmocka_unit_test(tools_with_a_schema_can_be_called_and_others_are_told_about),
        cmocka_unit_test(charcount_and_folding_are_no_loss),
        cmocka_unit_test(what_is_written_always_fits_the_schema),
        cmocka_unit_test(an_empty_conversation_is_refused),
        cmocka_unit_test(it_is_told_by_its_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

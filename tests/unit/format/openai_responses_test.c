#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/equal.h"
#include "unit/carry/around.h"
#include "unit/format/through.h"

#define RS "openai-responses"
#define CH "openai-chat"
#define AN "anthropic"

static void expect_kind(const char *from, const char *to, enum pl_format_kind kind,
                        const char *text, const char *expected)
{
    struct pl_converted c = pl_test_convert(from, to, kind, PL_MODE_CONVERT, text);
    if (!pl_str_eq(pl_buf_str(&c.out), pl_str_of(expected)))
        fail_msg("%.*s\ninstead of\n%s", PL_STR_ARG(pl_buf_str(&c.out)), expected);
    pl_converted_deinit(&c);
}

static void expect(const char *from, const char *to, const char *text, const char *expected)
{
    expect_kind(from, to, PL_KIND_REQUEST, text, expected);
}

static bool says(const struct pl_converted *c, const char *words)
{
    return memmem(c->out.ptr, c->out.len, words, strlen(words)) != NULL;
}

static void expect_loss(const char *from, const char *text, const char *code, const char *pointer)
{
    struct pl_converted c = pl_test_convert(from, RS, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    if (!pl_test_has_loss(&c, code, pointer))
        fail_msg("no %s at %s in %.*s", code, pointer, PL_STR_ARG(pl_buf_str(&c.report)));
    pl_converted_deinit(&c);
}

/* Reads a document and writes it in its own format, as a repair does; the content must be the
 * same. */
static void expect_same(enum pl_format_kind kind, const char *text)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_json_doc doc, again;
    struct pl_conv conv;
    struct pl_writer w;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_conv_init(&conv, &arena, &doc), PL_OK);
    const struct pl_format *format = &pl_format_openai_responses;
    assert_int_equal(format->read(&conv, kind, NULL), PL_OK);
    pl_writer_init(&w, &conv, &out);
    struct pl_conversion conversion = {
        .kind = kind, .mode = PL_MODE_REPAIR, .from = format, .to = format};
    assert_int_equal(format->write(&w, &conversion, NULL), PL_OK);
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&out), NULL, &again, NULL), PL_OK);
    bool is_equal = false;
    assert_int_equal(pl_json_equal(&doc, doc.root, &again, again.root, &is_equal), PL_OK);
    if (!is_equal)
        fail_msg("%.*s\ninstead of\n%s", PL_STR_ARG(pl_buf_str(&out)), text);
    pl_conv_sweep(&conv);
    assert_int_equal(conv.losses.len, 0);
    pl_writer_deinit(&w);
    pl_conv_deinit(&conv);
}

/* ---- reading ---- */

static void is_known_by_its_content(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"{\"model\":\"m\",\"input\":\"hello\"}", RS},
        {"{\"input\":[{\"role\":\"user\",\"content\":\"q\"}],\"instructions\":\"i\"}", RS},
        {"{\"id\":\"r\",\"object\":\"response\",\"output\":[]}", RS},
        {"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}", CH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        struct pl_json_doc doc;
        pl_arena_init(&arena, 0);
        assert_int_equal(pl_json_parse(&arena, pl_str_of(cases[i].text), NULL, &doc, NULL), PL_OK);
        const struct pl_format *found = pl_format_detect(&doc);
        assert_non_null(found);
        assert_string_equal(found->name, cases[i].format);
    }
}

static void items_of_one_utterance_become_one_message(void **state)
{
    (void)state;
    expect(
        RS, CH,
        "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"q\"},"
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","
        "\"text\":\"I look.\",\"annotations\":[]}]},"
        "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"},"
        "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"g\",\"arguments\":\"{}\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"1\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":\"2\"}]}",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"},"
        "{\"role\":\"assistant\",\"content\":\"I look.\",\"tool_calls\":["
        "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
        "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}"
        ","
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"1\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"2\"}]}");
}

static void messages_said_apart_stay_apart(void **state)
{
    (void)state;
    const char *text =
        "{\"input\":[{\"role\":\"user\",\"content\":\"q\"},"
        "{\"role\":\"assistant\",\"phase\":\"commentary\",\"content\":\"working on it\"},"
        "{\"role\":\"assistant\",\"phase\":\"final_answer\",\"content\":\"all done\"}]}";
    struct pl_converted c = pl_test_convert(RS, CH, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    assert_true(says(&c, "{\"role\":\"assistant\",\"content\":\"working on it\"},"
                         "{\"role\":\"assistant\",\"content\":\"all done\"}"));
    assert_true(pl_test_has_loss(&c, "dropped", "/input/1/phase"));
    assert_true(pl_test_has_loss(&c, "dropped", "/input/2/phase"));
    pl_converted_deinit(&c);
}

static void a_result_whose_call_is_at_the_server_is_not_sent_alone(void **state)
{
    (void)state;
    const char *text =
        "{\"previous_response_id\":\"resp_0\",\"input\":[{\"role\":\"user\",\"content\":\"q\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"words\"}]}";
    struct pl_converted c = pl_test_convert(RS, CH, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    assert_false(says(&c, "\"tool\""));
    assert_true(pl_test_has_loss(&c, "dropped", "/input/1"));
    assert_true(pl_test_has_loss(&c, "dropped", "/previous_response_id"));
    pl_converted_deinit(&c);
}

static void a_document_without_a_conversation_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]", "{\"model\":\"m\"}", "{\"input\":7}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        struct pl_json_doc doc;
        struct pl_conv conv;
        struct pl_error err = {0};
        pl_arena_init(&arena, 0);
        assert_int_equal(pl_json_parse(&arena, pl_str_of(texts[i]), NULL, &doc, NULL), PL_OK);
        assert_int_equal(pl_conv_init(&conv, &arena, &doc), PL_OK);
        assert_int_equal(pl_format_openai_responses.read(&conv, PL_KIND_REQUEST, &err), PL_INVALID);
        assert_true(err.message[0] != '\0');
        pl_conv_deinit(&conv);
    }
}

/* ---- writing ---- */

static void one_system_text_becomes_the_instructions(void **state)
{
    (void)state;
    expect(CH, RS,
           "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be kind\"},"
           "{\"role\":\"user\",\"content\":\"q\"}]}",
           "{\"model\":\"m\",\"instructions\":\"Be kind\",\"input\":"
           "[{\"role\":\"user\",\"content\":\"q\"}]}");
}

static void system_texts_that_cannot_be_instructions_stay_in_place(void **state)
{
    (void)state;
    expect(CH, RS, "{\"messages\":[{\"role\":\"system\",\"content\":\"You are X\"}]}",
           "{\"input\":[{\"role\":\"system\",\"content\":\"You are X\"}]}");
    expect(CH, RS,
           "{\"messages\":[{\"role\":\"system\",\"content\":\"a\"},{\"role\":\"developer\","
           "\"content\":\"b\"},{\"role\":\"user\",\"content\":\"q\"}]}",
           "{\"input\":[{\"role\":\"system\",\"content\":\"a\"},{\"role\":\"developer\","
           "\"content\":\"b\"},{\"role\":\"user\",\"content\":\"q\"}]}");
}

static void an_empty_conversation_is_refused_with_a_reason(void **state)
{
    (void)state;
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("harmony")),
                                   .to = &pl_format_openai_responses};
    struct pl_converted c;
    struct pl_error err = {0};
    pl_converted_init(&c);
    assert_int_equal(pl_convert(PL_STR("[]"), &opts, &c, &err), PL_INVALID);
    assert_true(pl_test_has_loss(&c, "dropped", ""));
    pl_converted_deinit(&c);
}

static void a_turn_nothing_of_which_can_be_said_is_still_a_turn(void **state)
{
    (void)state;
    expect(CH, RS,
           "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
           "\"content\":null},{\"role\":\"user\",\"content\":\"p\"}]}",
           "{\"input\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
           "\"content\":\"\"},{\"role\":\"user\",\"content\":\"p\"}]}");
}

static void an_id_that_is_too_long_is_replaced_on_both_sides(void **state)
{
    (void)state;
#define LONG_ID "call_0123456789012345678901234567890123456789012345678901234567890123456789"
    const char *text =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"tool_"
        "calls\":"
        "[{\"id\":\"" LONG_ID "\",\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"" LONG_ID
        "\",\"content\":\"r\"}]}";
    struct pl_converted c = pl_test_convert(CH, RS, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    const char *first = memmem(c.out.ptr, c.out.len, "call_id\":\"", 10);
    assert_non_null(first);
    const char *second =
        memmem(first + 1, c.out.len - (size_t)(first + 1 - c.out.ptr), "call_id\":\"", 10);
    assert_non_null(second);
    assert_memory_equal(first, second, 10 + 21 + 1); /* "call_", 16 digits and a quote */
    assert_false(says(&c, LONG_ID));
    assert_true(pl_test_has_loss(&c, "approximated", "/messages/1/tool_calls/0/id"));
    assert_true(pl_test_has_loss(&c, "approximated", "/messages/2/tool_call_id"));
    pl_converted_deinit(&c);
}

static void parts_keep_their_order_as_items(void **state)
{
    (void)state;
    expect(
        AN, RS,
        "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":["
        "{\"type\":\"text\",\"text\":\"one\"},"
        "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"n\": 1e2}},"
        "{\"type\":\"text\",\"text\":\"two\"},"
        "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"g\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":["
        "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"boom\",\"is_error\":true},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"2\"},"
        "{\"type\":\"text\",\"text\":\"go on\"}]}]}",
        "{\"input\":[{\"role\":\"user\",\"content\":\"q\"},"
        "{\"role\":\"assistant\",\"content\":\"one\"},"
        "{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"{\\\"n\\\": "
        "1e2}\"},"
        "{\"role\":\"assistant\",\"content\":\"two\"},"
        "{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"g\",\"arguments\":\"{}\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":\"boom\",\"status\":"
        "\"incomplete\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"b\",\"output\":\"2\"},"
        "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

static void images_and_files_stay_inside_a_result(void **state)
{
    (void)state;
    expect(
        AN, RS,
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"t\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"},"
        "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x.test/y.png\"}},"
        "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":\"application/pdf\","
        "\"data\":\"JVBERi0=\"},\"title\":\"r.pdf\"}]}]}]}",
        "{\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"t\",\"output\":["
        "{\"type\":\"input_text\",\"text\":\"ok\"},"
        "{\"type\":\"input_image\",\"image_url\":\"https://x.test/y.png\",\"detail\":\"auto\"},"
        "{\"type\":\"input_file\",\"filename\":\"r.pdf\","
        "\"file_data\":\"data:application/pdf;base64,JVBERi0=\"}]}]}");
}

static void reasoning_of_others_is_not_sent_in_a_request(void **state)
{
    (void)state;
    const char *text =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
        "\"reasoning_content\":\"secret thought\",\"content\":\"a\"}]}";
    struct pl_converted c = pl_test_convert(CH, RS, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    assert_false(says(&c, "secret thought"));
    assert_true(pl_test_has_loss(&c, "dropped", "/messages/1/reasoning_content"));
    pl_converted_deinit(&c);
}

static void custom_tools_and_their_grammar_are_flat(void **state)
{
    (void)state;
    expect(
        CH, RS,
        "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"tool_"
        "calls\":"
        "[{\"id\":\"c\",\"type\":\"custom\",\"custom\":{\"name\":\"sql\",\"input\":\"SELECT "
        "1\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"1\"}],"
        "\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"sql\",\"format\":{\"type\":"
        "\"grammar\","
        "\"grammar\":{\"definition\":\"start: x\",\"syntax\":\"lark\"}}}}],"
        "\"tool_choice\":{\"type\":\"custom\",\"custom\":{\"name\":\"sql\"}}}",
        "{\"input\":[{\"role\":\"user\",\"content\":\"q\"},"
        "{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":\"sql\",\"input\":\"SELECT 1\"},"
        "{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":\"1\"}],"
        "\"tools\":[{\"type\":\"custom\",\"name\":\"sql\",\"format\":{\"type\":\"grammar\","
        "\"syntax\":\"lark\",\"definition\":\"start: x\"}}],"
        "\"tool_choice\":{\"type\":\"custom\",\"name\":\"sql\"}}");
}

static void a_function_is_flat_and_not_strict_unless_it_says_so(void **state)
{
    (void)state;
    expect(CH, RS,
           "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":["
           "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
           "\"parameters\":{\"type\":\"object\"},\"strict\":true}},"
           "{\"type\":\"function\",\"function\":{\"name\":\"g\"}}],"
           "\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\","
           "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}}}",
           "{\"input\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":["
           "{\"type\":\"function\",\"name\":\"f\",\"description\":\"d\","
           "\"parameters\":{\"type\":\"object\"},\"strict\":true},"
           "{\"type\":\"function\",\"name\":\"g\","
           "\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false}],"
           "\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\","
           "\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}}");
}

static void settings_have_their_places(void **state)
{
    (void)state;
    expect(CH, RS,
           "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"temperature\":"
           "0.10,"
           "\"max_completion_tokens\":9,\"logprobs\":true,\"top_logprobs\":2,\"verbosity\":\"low\","
           "\"reasoning_effort\":\"high\",\"response_format\":{\"type\":\"json_schema\","
           "\"json_schema\":{\"name\":\"o\",\"strict\":true,\"schema\":{\"type\":\"object\"}}},"
           "\"store\":false,\"prompt_cache_key\":\"k\",\"service_tier\":\"flex\"}",
           "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"q\"}],"
           "\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"o\",\"strict\":true,"
           "\"schema\":{\"type\":\"object\"}},\"verbosity\":\"low\"},"
           "\"reasoning\":{\"effort\":\"high\"},\"temperature\":0.10,\"max_output_tokens\":9,"
           "\"top_logprobs\":2,\"include\":[\"message.output_text.logprobs\"],"
           "\"service_tier\":\"flex\",\"store\":false,\"prompt_cache_key\":\"k\"}");
}

static void what_has_no_word_here_is_reported(void **state)
{
    (void)state;
    static const char *const keys[] = {"/stop", "/seed", "/presence_penalty", "/n"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        expect_loss(CH,
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"stop\":[\"END\"],"
                    "\"seed\":1,\"presence_penalty\":0.5,\"n\":2}",
                    "dropped", keys[i]);
}

static void a_cache_marker_keeps_its_place_but_not_its_lifetime(void **state)
{
    (void)state;
    const char *text =
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\","
        "\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}},{\"type\":\"text\","
        "\"text\":\"b\"}]}]}";
    expect(
        AN, RS, text,
        "{\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
        "\"text\":\"a\",\"prompt_cache_breakpoint\":{\"mode\":\"explicit\"}},"
        "{\"type\":\"input_text\",\"text\":\"b\"}]}]}");
    expect_loss(AN, text, "dropped", "/messages/0/content/0/cache_control/ttl");
}

/* ---- responses ---- */

#define CHAT_ANSWER(message, finish)                                                               \
    "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1790000000,\"model\":\"m\","         \
    "\"choices\":[{\"index\":0,\"message\":" message ",\"finish_reason\":\"" finish "\"}],"        \
    "\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,\"total_tokens\":18}}"

static void a_response_has_its_items_and_its_counters(void **state)
{
    (void)state;
    expect_kind(
        CH, RS, PL_KIND_RESPONSE,
        CHAT_ANSWER("{\"role\":\"assistant\",\"content\":\"Hi\"}", "stop"),
        "{\"id\":\"x\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"completed\","
        "\"error\":null,\"incomplete_details\":null,\"model\":\"m\",\"output\":["
        "{\"type\":\"message\",\"id\":\"msg_1\",\"status\":\"completed\",\"role\":\"assistant\","
        "\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\",\"annotations\":[],\"logprobs\":[]}"
        "]}],"
        "\"instructions\":null,\"metadata\":{},\"temperature\":null,\"top_p\":null,\"tools\":[],"
        "\"tool_choice\":\"auto\",\"parallel_tool_calls\":true,\"usage\":{\"input_tokens\":11,"
        "\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":7,"
        "\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":18}}");
}

static void an_answer_that_broke_off_says_so_at_its_last_item(void **state)
{
    (void)state;
    struct pl_converted c = pl_test_convert(
        CH, RS, PL_KIND_RESPONSE, PL_MODE_CONVERT,
        CHAT_ANSWER("{\"role\":\"assistant\",\"content\":\"let me\",\"tool_calls\":[{\"id\":\"c\","
                    "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"n\\\":"
                    " 2\"}}]}",
                    "length"));
    assert_true(says(&c, "\"status\":\"incomplete\",\"error\":null,"
                         "\"incomplete_details\":{\"reason\":\"max_output_tokens\"}"));
    assert_true(says(&c, "\"id\":\"msg_1\",\"status\":\"completed\""));
    assert_true(says(&c,
                     "\"id\":\"fc_2\",\"status\":\"incomplete\",\"call_id\":\"c\",\"name\":\"f\","
                     "\"arguments\":\"{\\\"n\\\": 2\""));
    pl_converted_deinit(&c);
}

static void thoughts_of_others_are_summaries_in_a_response(void **state)
{
    (void)state;
    struct pl_converted c = pl_test_convert(
        CH, RS, PL_KIND_RESPONSE, PL_MODE_CONVERT,
        CHAT_ANSWER("{\"role\":\"assistant\",\"reasoning_content\":\"hm\",\"content\":\"a\"}",
                    "stop"));
    assert_true(says(&c, "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"status\":\"completed\","
                         "\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}]}"));
    pl_converted_deinit(&c);
}

static void citations_are_flat_and_nested_again(void **state)
{
    (void)state;
    struct pl_converted c = pl_test_convert(
        CH, RS, PL_KIND_RESPONSE, PL_MODE_CONVERT,
        CHAT_ANSWER("{\"role\":\"assistant\",\"content\":\"a\",\"annotations\":[{\"type\":"
                    "\"url_citation\",\"url_citation\":{\"start_index\":0,\"end_index\":1,"
                    "\"title\":\"t\",\"url\":\"https://c.test/\"}}]}",
                    "stop"));
    assert_true(says(&c, "\"annotations\":[{\"type\":\"url_citation\",\"start_index\":0,"
                         "\"end_index\":1,\"url\":\"https://c.test/\",\"title\":\"t\"}]"));
    pl_buf_addc(&c.out, '\0'); /* a C string, for the conversion back */
    struct pl_converted back =
        pl_test_convert(RS, CH, PL_KIND_RESPONSE, PL_MODE_CONVERT, c.out.ptr);
    assert_true(says(&back, "\"url_citation\":{"));
    pl_converted_deinit(&back);
    pl_converted_deinit(&c);
}

static void an_error_is_an_error_body(void **state)
{
    (void)state;
    expect_kind(AN, RS, PL_KIND_RESPONSE,
                "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                "\"message\":\"Overloaded\"}}",
                "{\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\","
                "\"param\":null,\"code\":null}}");
}

/* ---- there and back ---- */

static void its_own_documents_keep_what_we_do_not_model(void **state)
{
    (void)state;
    expect_same(
        PL_KIND_REQUEST,
        "{\"model\":\"m\",\"instructions\":\"i\",\"input\":["
        "{\"type\":\"compaction\",\"id\":\"cmp\",\"encrypted_content\":\"E==\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"q\",\"new\":1},"
        "{\"type\":\"input_image\",\"image_url\":\"https://x.test/\",\"detail\":\"low\"},"
        "{\"type\":\"input_file\",\"filename\":\"p.pdf\",\"file_data\":"
        "\"data:application/pdf;base64,JVBERi0=\"},{\"type\":\"input_audio\",\"input_audio\":"
        "{\"data\":\"UklG\",\"format\":\"wav\"}},{\"type\":\"input_hologram\",\"x\":1}]},"
        "{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[{\"type\":\"summary_text\",\"text\":"
        "\"s\"},"
        "{\"type\":\"summary_text\",\"text\":\"t\"}],\"encrypted_content\":\"G==\"},"
        "{\"type\":\"web_search_call\",\"id\":\"ws\",\"status\":\"completed\"},"
        "{\"type\":\"message\",\"id\":\"msg\",\"status\":\"completed\",\"role\":\"assistant\","
        "\"phase\":\"commentary\",\"content\":[{\"type\":\"output_text\",\"text\":\"w\","
        "\"annotations\":[{\"type\":\"file_path\",\"file_id\":\"f\",\"index\":1}],\"logprobs\":[]}]"
        "},"
        "{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":"
        "\"{}\","
        "\"status\":\"completed\",\"namespace\":\"n\"},"
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"more\"},"
        "{\"type\":\"function_call_output\",\"id\":\"fo\",\"call_id\":\"c\",\"output\":"
        "[{\"type\":\"input_text\",\"text\":\"r\"}],\"status\":\"completed\"},"
        "{\"type\":\"some_future_item\",\"x\":1}],"
        "\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":{},\"strict\":true,"
        "\"defer_loading\":true},{\"type\":\"web_search\",\"search_context_size\":\"low\"}],"
        "\"tool_choice\":{\"type\":\"mcp\",\"server_label\":\"s\"},\"parallel_tool_calls\":false,"
        "\"reasoning\":{\"effort\":\"medium\",\"summary\":\"detailed\",\"context\":\"auto\"},"
        "\"text\":{\"format\":{\"type\":\"text\"},\"verbosity\":\"low\"},"
        "\"include\":[\"reasoning.encrypted_content\"],\"store\":false,\"truncation\":\"auto\","
        "\"metadata\":{\"k\":\"v\"},\"service_tier\":\"ultrafast\",\"new_field\":{\"a\":[1]}}");
}

static void a_repair_makes_a_message_of_a_lost_result_and_nothing_else_of_it(void **state)
{
    (void)state;
    struct pl_converted c = pl_test_convert(
        RS, RS, PL_KIND_REQUEST, PL_MODE_REPAIR,
        "{\"input\":[{\"role\":\"user\",\"content\":\"q\"},{\"type\":\"function_call_output\","
        "\"call_id\":\"lost\",\"output\":\"words\"},{\"role\":\"user\",\"content\":\"go\",\"x\":1}]"
        "}");
    assert_true(says(&c, "words"));
    assert_false(says(&c, "function_call_output"));
    assert_true(says(&c, "{\"role\":\"user\",\"content\":\"go\",\"x\":1}"));
    pl_converted_deinit(&c);
}

static void its_own_responses_keep_everything(void **state)
{
    (void)state;
    expect_same(PL_KIND_RESPONSE,
                "{\"id\":\"r\",\"object\":\"response\",\"created_at\":1,\"status\":\"incomplete\","
                "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"model\":\"m\","
                "\"output\":[{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[]},"
                "{\"id\":\"msg\",\"type\":\"message\",\"status\":\"incomplete\","
                "\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"cut\","
                "\"annotations\":[],\"logprobs\":[]}]}],\"usage\":{\"input_tokens\":1,"
                "\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":2,"
                "\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":3}}");
}

static void the_bytes_come_home_from_every_format(void **state)
{
    (void)state;
    const char *text =
        "{ \"model\":\"m\", \"instructions\":\"Do it\",\n \"input\":[ "
        "{\"role\":\"user\",\"content\":"
        "[{\"type\":\"input_text\",\"text\":\"caf\\u00e9\"}]}, "
        "{\"type\":\"reasoning\",\"id\":\"rs_1\","
        "\"summary\":[{\"type\":\"summary_text\",\"text\":\"think\"}],\"encrypted_content\":\"G=="
        "\"},"
        "{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c1\",\"name\":\"f\","
        "\"arguments\":\"{ \\\"n\\\":1.10 "
        "}\"},{\"type\":\"function_call_output\",\"call_id\":\"c1\","
        "\"output\":\"done\"} ],\"max_output_tokens\":9, \"future\":[1, 2] }\n";
    static const char *const others[] = {
        CH, AN, "gemini", "harmony", "turns", "structured-chat", "envelope"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        pl_test_round_trip(RS, others[i], text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_known_by_its_content),
        cmocka_unit_test(items_of_one_utterance_become_one_message),
        cmocka_unit_test(messages_said_apart_stay_apart),
        cmocka_unit_test(a_result_whose_call_is_at_the_server_is_not_sent_alone),
        cmocka_unit_test(a_document_without_a_conversation_is_refused),
        cmocka_unit_test(one_system_text_becomes_the_instructions),
        cmocka_unit_test(system_texts_that_cannot_be_instructions_stay_in_place),
        cmocka_unit_test(an_empty_conversation_is_refused_with_a_reason),
        cmocka_unit_test(a_turn_nothing_of_which_can_be_said_is_still_a_turn),
        cmocka_unit_test(an_id_that_is_too_long_is_replaced_on_both_sides),
        cmocka_unit_test(parts_keep_their_order_as_items),
        cmocka_unit_test(images_and_files_stay_inside_a_result),
        cmocka_unit_test(reasoning_of_others_is_not_sent_in_a_request),
        cmocka_unit_test(custom_tools_and_their_grammar_are_flat),
        cmocka_unit_test(a_function_is_flat_and_not_strict_unless_it_says_so),
        cmocka_unit_test(settings_have_their_places),
        cmocka_unit_test(what_has_no_word_here_is_reported),
        cmocka_unit_test(a_cache_marker_keeps_its_place_but_not_its_lifetime),
        cmocka_unit_test(a_response_has_its_items_and_its_counters),
        cmocka_unit_test(an_answer_that_broke_off_says_so_at_its_last_item),
        cmocka_unit_test(thoughts_of_others_are_summaries_in_a_response),
        cmocka_unit_test(citations_are_flat_and_nested_again),
        cmocka_unit_test(an_error_is_an_error_body),
        cmocka_unit_test(its_own_documents_keep_what_we_do_not_model),
        cmocka_unit_test(a_repair_makes_a_message_of_a_lost_result_and_nothing_else_of_it),
        cmocka_unit_test(its_own_responses_keep_everything),
        cmocka_unit_test(the_bytes_come_home_from_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

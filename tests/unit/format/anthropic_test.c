/* Anthropic Messages: written from other formats, read into other formats, and back. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/carry/around.h"
#include "unit/format/through.h"

#include <stdio.h>

#define REQUEST  PL_KIND_REQUEST
#define RESPONSE PL_KIND_RESPONSE

static bool says(const struct pl_converted *c, const char *words)
{
    return memmem(c->out.ptr, c->out.len, words, strlen(words)) != NULL;
}

/* Fails the test unless the output of a conversion has (or, after "!", lacks) each of the words. */
static void check(const char *from, const char *to, enum pl_format_kind kind, const char *text,
                  const char *const words[])
{
    struct pl_converted c = pl_test_convert(from, to, kind, PL_MODE_CONVERT, text);
    for (size_t i = 0; words[i]; i++) {
        bool is_wanted = words[i][0] != '!';
        if (says(&c, words[i] + !is_wanted) != is_wanted)
            fail_msg("%s\n%s in\n%.*s", is_wanted ? "missing" : "unwanted", words[i],
                     PL_STR_ARG(pl_buf_str(&c.out)));
    }
    pl_converted_deinit(&c);
}

/* … and unless the report has a loss with that code at that pointer. */
static void check_loss(const char *from, const char *to, enum pl_format_kind kind, const char *text,
                       const char *code, const char *pointer)
{
    struct pl_converted c = pl_test_convert(from, to, kind, PL_MODE_CONVERT, text);
    if (!pl_test_has_loss(&c, code, pointer))
        fail_msg("no %s at %s in\n%.*s", code, pointer, PL_STR_ARG(pl_buf_str(&c.report)));
    pl_converted_deinit(&c);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

#define CHAT(members)                                                                              \
    "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"q\"}"        \
    "]" members "}"
#define CHAT_MESSAGES(messages) "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[" messages "]}"

static void leading_instructions_become_separate_system_blocks(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST,
          CHAT_MESSAGES("{\"role\":\"system\",\"content\":\"S1\"},"
                        "{\"role\":\"developer\",\"content\":\"D1\"},"
                        "{\"role\":\"user\",\"content\":\"q\"}"),
          WORDS("\"system\":[{\"type\":\"text\",\"text\":\"S1\"},"
                "{\"type\":\"text\",\"text\":\"D1\"}]",
                "\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]"));
}

static void a_single_instruction_is_a_string(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST,
          CHAT_MESSAGES("{\"role\":\"system\",\"content\":\"S\"},"
                        "{\"role\":\"user\",\"content\":\"q\"}"),
          WORDS("\"system\":\"S\""));
}

static void a_later_instruction_stays_in_its_place(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST,
          CHAT_MESSAGES("{\"role\":\"user\",\"content\":\"q\"},"
                        "{\"role\":\"system\",\"content\":\"S2\"}"),
          WORDS("!\"system\":", "{\"role\":\"system\",\"content\":\"S2\"}]"));
}

static void instructions_alone_still_make_a_message(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST,
          CHAT_MESSAGES("{\"role\":\"system\",\"content\":\"S1\"},"
                        "{\"role\":\"system\",\"content\":\"S2\"}"),
          WORDS("\"system\":\"S1\"", "\"messages\":[{\"role\":\"system\",\"content\":\"S2\"}]"));
}

static void blank_text_is_left_out_and_reported(void **state)
{
    (void)state;
    const char *text = CHAT_MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                                     "\" \\u00a0\\n\"},{\"type\":\"text\",\"text\":\"q\"}]},"
                                     "{\"role\":\"assistant\",\"content\":\"\"},"
                                     "{\"role\":\"user\",\"content\":\"go\"}");
    check("openai-chat", "anthropic", REQUEST, text,
          WORDS("\"content\":[{\"type\":\"text\",\"text\":\"q\"}]", "!assistant"));
    check_loss("openai-chat", "anthropic", REQUEST, text, "dropped", "/messages/0/content/0");
    check_loss("openai-chat", "anthropic", REQUEST, text, "dropped", "/messages/1");
}

static void an_empty_string_beside_calls_is_no_loss(void **state)
{
    (void)state;
    struct pl_converted c = pl_test_convert(
        "openai-chat", "anthropic", REQUEST, PL_MODE_CONVERT,
        CHAT_MESSAGES(
            "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c\","
            "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}"));
    assert_non_null(memmem(c.report.ptr, c.report.len, "\"lossless\":true", 15));
    pl_converted_deinit(&c);
}

#define CALLS                                                                                      \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["                                    \
    "{\"id\":\"c:1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{"         \
    "\\\"n\\\":"                                                                                   \
    "1.10}\"}},"                                                                                   \
    "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"[1\"}}]},"  \
    "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"two\"},"                             \
    "{\"role\":\"tool\",\"tool_call_id\":\"c:1\",\"content\":\"one\"}"

static void results_of_one_turn_share_a_message(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST, CHAT_MESSAGES(CALLS),
          WORDS("{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c2\","
                "\"content\":\"two\"},{\"type\":\"tool_result\"",
                "\"content\":\"one\"}]}"));
}

static void an_id_outside_the_alphabet_is_respelled_on_both_sides(void **state)
{
    (void)state;
    struct pl_converted c =
        pl_test_convert("openai-chat", "anthropic", REQUEST, PL_MODE_CONVERT, CHAT_MESSAGES(CALLS));
    const char *id = memmem(c.out.ptr, c.out.len, "\"id\":\"c_1", 9);
    assert_non_null(id);
    const char *end = memchr(id + 6, '"', 40);
    assert_non_null(end);
    char wanted[80];
    snprintf(wanted, sizeof wanted, "\"tool_use_id\":\"%.*s\"", (int)(end - id - 6), id + 6);
    assert_true(says(&c, wanted));
    assert_true(pl_test_has_loss(&c, "approximated", "/messages/0/tool_calls/0/id"));
    assert_true(pl_test_has_loss(&c, "approximated", "/messages/2/tool_call_id"));
    pl_converted_deinit(&c);
}

static void arguments_become_an_object(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST, CHAT_MESSAGES(CALLS),
          WORDS("\"input\":{\"n\":1.10}", "\"input\":{\"_raw\":\"[1\"}"));
    check_loss("openai-chat", "anthropic", REQUEST, CHAT_MESSAGES(CALLS), "approximated",
               "/messages/0/tool_calls/1/function/arguments");
}

static void max_tokens_is_filled_in_and_reported(void **state)
{
    (void)state;
    const char *text = "{\"model\":\"m\",\"seed\":7,\"messages\":[{\"role\":\"user\",\"content\":"
                       "\"q\"}]}";
    check("openai-chat", "anthropic", REQUEST, text, WORDS("\"max_tokens\":4096"));
    check_loss("openai-chat", "anthropic", REQUEST, text, "synthesised", "");
    check_loss("openai-chat", "anthropic", REQUEST, text, "dropped", "/seed");
}

static void temperature_is_clamped(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST, CHAT(",\"temperature\":1.5"),
          WORDS("\"temperature\":1"));
    check_loss("openai-chat", "anthropic", REQUEST, CHAT(",\"temperature\":1.5"), "approximated",
               "/temperature");
    check("openai-chat", "anthropic", REQUEST, CHAT(",\"temperature\":0.70"),
          WORDS("\"temperature\":0.70"));
}

static void stop_is_always_a_list_without_blanks(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST, CHAT(",\"stop\":\"END\""),
          WORDS("\"stop_sequences\":[\"END\"]"));
    check("openai-chat", "anthropic", REQUEST, CHAT(",\"stop\":[\"\\n\",\"END\"]"),
          WORDS("\"stop_sequences\":[\"END\"]"));
    check_loss("openai-chat", "anthropic", REQUEST, CHAT(",\"stop\":[\"\\n\",\"END\"]"), "dropped",
               "/stop/0");
}

#define TOOLS                                                                                      \
    ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","       \
    "\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]"

static void tool_choice_has_its_own_words(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST, CHAT(TOOLS ",\"tool_choice\":\"required\""),
          WORDS("\"tools\":[{\"name\":\"f\",\"description\":\"d\",\"input_schema\":{\"type\":"
                "\"object\",\"properties\":{}}}]",
                "\"tool_choice\":{\"type\":\"any\"}"));
    check("openai-chat", "anthropic", REQUEST, CHAT(TOOLS ",\"parallel_tool_calls\":false"),
          WORDS("\"tool_choice\":{\"type\":\"auto\",\"disable_parallel_tool_use\":true}"));
    check("openai-chat", "anthropic", REQUEST,
          CHAT(TOOLS ",\"tool_choice\":\"none\",\"parallel_tool_calls\":false"),
          WORDS("\"tool_choice\":{\"type\":\"none\"}"));
    check("openai-chat", "anthropic", REQUEST, CHAT(",\"tool_choice\":\"auto\""),
          WORDS("!tool_choice"));
}

static void a_free_text_tool_becomes_a_function_of_one_string(void **state)
{
    (void)state;
    const char *text = CHAT(",\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"sql\"}}]");
    check("openai-chat", "anthropic", REQUEST, text,
          WORDS("\"name\":\"sql\"", "\"properties\":{\"input\":{\"type\":\"string\"}}"));
    check("openai-chat", "anthropic", REQUEST,
          CHAT_MESSAGES("{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"custom\","
                        "\"custom\":{\"name\":\"sql\",\"input\":\"select 1\"}}]}"),
          WORDS("\"input\":{\"input\":\"select 1\"}"));
}

static void a_schema_without_type_is_one_of_an_object(void **state)
{
    (void)state;
    check(
        "openai-chat", "anthropic", REQUEST,
        CHAT(",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{"
             "\"properties\":{\"a\":{}}}}},{\"type\":\"function\",\"function\":{\"name\":\"g\"}}]"),
        WORDS("\"input_schema\":{\"type\":\"object\",\"properties\":{\"a\":{}}}",
              "\"input_schema\":{\"type\":\"object\",\"properties\":{}}"));
}

static void effort_and_schema_go_to_output_config(void **state)
{
    (void)state;
    check("openai-chat", "anthropic", REQUEST,
          CHAT(",\"reasoning_effort\":\"high\",\"response_format\":{\"type\":\"json_schema\","
               "\"json_schema\":{\"name\":\"person\",\"schema\":{\"type\":\"object\"}}}"),
          WORDS("\"output_config\":{\"effort\":\"high\",\"format\":{\"type\":\"json_schema\","
                "\"schema\":{\"type\":\"object\"}}}"));
    check("openai-chat", "anthropic", REQUEST, CHAT(",\"reasoning_effort\":\"none\""),
          WORDS("\"thinking\":{\"type\":\"disabled\"}", "!effort"));
    check_loss("openai-chat", "anthropic", REQUEST,
               CHAT(",\"response_format\":{\"type\":\"json_object\"}"), "dropped",
               "/response_format");
    check_loss("openai-chat", "anthropic", REQUEST, CHAT(",\"reasoning_effort\":\"minimal\""),
               "approximated", "/reasoning_effort");
}

static void a_thinking_budget_stays_below_max_tokens(void **state)
{
    (void)state;
    const char *head = "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]}],"
                       "\"generationConfig\":{\"thinkingConfig\":{\"thinkingBudget\":";
    static const struct {
        const char *tail, *wanted;
    } rows[] = {
        {"8000}}}", "\"max_tokens\":12096"},
        {"8000}}}", "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":8000}"},
        {"8000},\"maxOutputTokens\":2000}}", "\"budget_tokens\":1999"},
        {"8000},\"maxOutputTokens\":900}}", "!thinking"},
        {"5}}}", "\"budget_tokens\":1024"},
        {"0}}}", "\"thinking\":{\"type\":\"disabled\"}"},
        {"-1}}}", "\"thinking\":{\"type\":\"adaptive\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", head, rows[i].tail);
        check("gemini", "anthropic", REQUEST, text, WORDS(rows[i].wanted));
    }
}

static void at_most_four_marks_the_last_ones_stay(void **state)
{
    (void)state;
#define MARKED(text)                                                                               \
    "{\"type\":\"text\",\"text\":\"" text "\",\"cache_control\":{\"type\":\"ephemeral\"}}"
    const char *text = CHAT_MESSAGES("{\"role\":\"user\",\"content\":[" MARKED("a") "," MARKED(
        "b") "," MARKED("c") "," MARKED("d") "," MARKED("e") "]}");
    check("openai-chat", "anthropic", REQUEST, text,
          WORDS("{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\",\"cache",
                "\"text\":\"e\",\"cache_control\":{\"type\":\"ephemeral\"}"));
    check_loss("openai-chat", "anthropic", REQUEST, text, "dropped",
               "/messages/0/content/0/cache_control");
}

static void a_breakpoint_is_a_mark_with_the_default_life(void **state)
{
    (void)state;
    const char *text =
        CHAT_MESSAGES("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\","
                      "\"prompt_cache_breakpoint\":{\"mode\":\"explicit\",\"ttl\":\"30m\"}}]}");
    check("openai-chat", "anthropic", REQUEST, text,
          WORDS("\"cache_control\":{\"type\":\"ephemeral\"}"));
    check_loss("openai-chat", "anthropic", REQUEST, text, "dropped",
               "/messages/0/content/0/prompt_cache_breakpoint/ttl");
}

static void media_find_their_source(void **state)
{
    (void)state;
    const char *text = CHAT_MESSAGES(
        "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
        "\"data:image/png;base64,iVBORw0KGgo=\"}},{\"type\":\"image_url\",\"image_url\":{\"url\":"
        "\"https://x.test/y.png\"}},{\"type\":\"file\",\"file\":{\"filename\":\"a.txt\","
        "\"file_data\":\"data:text/plain;base64,aGVsbG8=\"}},{\"type\":\"input_audio\","
        "\"input_audio\":{\"data\":\"UklGRgAAAA==\",\"format\":\"wav\"}}]}");
    check(
        "openai-chat", "anthropic", REQUEST, text,
        WORDS("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
              "\"data\":\"iVBORw0KGgo=\"}}",
              "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x.test/y.png\"}}",
              "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\","
              "\"data\":\"hello\"},\"title\":\"a.txt\"}",
              "!UklGR"));
    check_loss("openai-chat", "anthropic", REQUEST, text, "dropped", "/messages/0/content/3");
}

static void an_image_of_the_assistant_is_not_said(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"draw\"}]},{\"role\":"
        "\"model\",\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":"
        "\"iVBORw0KGgo=\"}},{\"text\":\"done\"}]}]}";
    check("gemini", "anthropic", REQUEST, text, WORDS("!iVBOR", "\"done\""));
}

static void thinking_of_another_vendor_is_not_sent(void **state)
{
    (void)state;
    const char *text =
        CHAT_MESSAGES("{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
                      "\"content\":\"a\",\"reasoning_content\":\"because\"}");
    check("openai-chat", "anthropic", REQUEST, text, WORDS("!because"));
    check_loss("openai-chat", "anthropic", REQUEST, text, "dropped",
               "/messages/1/reasoning_content");
}

static void nothing_sayable_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pointer;
    } rows[] = {
        {CHAT_MESSAGES("{\"role\":\"user\",\"content\":\" \"}"), "/messages/0"},
        {CHAT_MESSAGES(""), "/messages"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pl_convert_opts opts = {.from = &pl_format_openai_chat, .to = &pl_format_anthropic};
        struct pl_converted c;
        pl_converted_init(&c);
        struct pl_error err = {0};
        assert_int_equal(pl_convert(pl_str_of(rows[i].text), &opts, &c, &err), PL_INVALID);
        assert_non_null(strstr(err.message, "at least one message"));
        assert_true(pl_test_has_loss(&c, "dropped", rows[i].pointer));
        pl_converted_deinit(&c);
    }
}

#define RICH                                                                                       \
    "{\"model\":\"claude-opus-5\",\"max_tokens\":1024,\n \"system\":[{\"type\":\"text\",\"text\":" \
    "\"Rules\",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}],\"messages\":["         \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image\","   \
    "\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}}]},"  \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","             \
    "\"signature\":"                                                                               \
    "\"SIG==\"},{\"type\":\"redacted_thinking\",\"data\":\"RED==\"},{\"type\":\"text\",\"text\":"  \
    "\"calling\"},{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{\"n\" : "         \
    "1.10}}]},"                                                                                    \
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","            \
    "\"content\":["                                                                                \
    "{\"type\":\"text\",\"text\":\"ok\"},{\"type\":\"document\",\"source\":{\"type\":\"base64\","  \
    "\"media_type\":\"application/"                                                                \
    "pdf\",\"data\":\"JVBERi0=\"},\"title\":\"r.pdf\"}],\"is_error\":"                             \
    "true},{\"type\":\"text\",\"text\":\"also this\"}]}],\"tools\":[{\"name\":\"f\","              \
    "\"input_schema\":{\"type\":\"object\"}},{\"type\":\"web_search_20250305\",\"name\":"          \
    "\"web_search\"}],\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\","                          \
    "\"disable_parallel_tool_use\":true},\"stop_sequences\":[\"END\"],\"thinking\":{\"type\":"     \
    "\"enabled\",\"budget_tokens\":2048},\"metadata\":{\"user_id\":\"u\"} }"

static void every_pair_leads_home(void **state)
{
    (void)state;
    static const char *const others[] = {
        "openai-chat", "openai-responses", "gemini", "harmony", "envelope",
        "turns",       "structured-chat",  NULL};
    for (size_t i = 0; others[i]; i++)
        pl_test_round_trip("anthropic", others[i], RICH);
}

/* Mode repair reads and writes the same format without a carry. */
static void its_own_document_is_understood_whole(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_conv conv;
    struct pl_error err = {0};
    assert_int_equal(pl_json_parse(&arena, PL_STR(RICH), NULL, &doc, &err), PL_OK);
    assert_int_equal(pl_conv_init(&conv, &arena, &doc), PL_OK);
    assert_int_equal(pl_format_anthropic.read(&conv, REQUEST, &err), PL_OK);
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    struct pl_writer w;
    pl_writer_init(&w, &conv, &out);
    struct pl_conversion conversion = {.from = &pl_format_anthropic, .to = &pl_format_anthropic};
    assert_int_equal(pl_format_anthropic.write(&w, &conversion, &err), PL_OK);
    pl_conv_sweep(&conv);
    assert_int_equal(conv.losses.len, 0);
    struct pl_str made = pl_buf_str(&out);
    static const char *const kept[] = {
        "\"signature\":\"SIG==\"", "\"data\":\"RED==\"",
        "\"is_error\":true",       "\"title\":\"r.pdf\"",
        "web_search_20250305",     "{\"type\":\"text\",\"text\":\"also this\"}]}",
        "\"ttl\":\"1h\"",          "\"budget_tokens\":2048"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!memmem(made.ptr, made.len, kept[i], strlen(kept[i])))
            fail_msg("%s is not in\n%.*s", kept[i], PL_STR_ARG(made));
    pl_writer_deinit(&w);
    pl_conv_deinit(&conv);
}

static void a_foreign_answer_becomes_a_message(void **state)
{
    (void)state;
    const char *text =
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"gpt-5\","
        "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\","
        "\"reasoning_content\":\"why\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
        "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],"
        "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,\"total_tokens\":107,"
        "\"prompt_tokens_details\":{\"cached_tokens\":60}}}";
    check("openai-chat", "anthropic", RESPONSE, text,
          WORDS("\"id\":\"chatcmpl-1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
                "\"gpt-5\"",
                "{\"type\":\"thinking\",\"thinking\":\"why\",\"signature\":\"\"}",
                "{\"type\":\"text\",\"text\":\"hi\"}",
                "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}",
                "\"stop_reason\":\"tool_use\",\"stop_sequence\":null", "\"input_tokens\":40",
                "\"cache_read_input_tokens\":60", "\"output_tokens\":7"));
}

static void a_refusal_explains_the_stop(void **state)
{
    (void)state;
    const char *text =
        "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{"
        "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":null,\"refusal\":\"I will "
        "not\"},\"finish_reason\":\"stop\"}]}";
    check("openai-chat", "anthropic", RESPONSE, text,
          WORDS("\"text\":\"I will not\"", "\"stop_reason\":\"refusal\"",
                "\"explanation\":\"I will not\"", "\"input_tokens\":0"));
    check_loss("openai-chat", "anthropic", RESPONSE, text, "synthesised", "");
}

static void an_unknown_reason_to_stop_is_reported(void **state)
{
    (void)state;
    const char *text =
        "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{"
        "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"finish_reason\":"
        "\"brand_new\"}]}";
    check("openai-chat", "anthropic", RESPONSE, text, WORDS("\"stop_reason\":\"end_turn\""));
    check_loss("openai-chat", "anthropic", RESPONSE, text, "approximated",
               "/choices/0/finish_reason");
}

static void an_error_gets_a_type_of_the_vendor(void **state)
{
    (void)state;
    check(
        "openai-chat", "anthropic", RESPONSE,
        "{\"error\":{\"message\":\"bad key\",\"type\":\"invalid_request_error\",\"param\":null,"
        "\"code\":\"invalid_api_key\"}}",
        WORDS("{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"bad "
              "key\"}}"));
    check("gemini", "anthropic", RESPONSE,
          "{\"error\":{\"code\":429,\"message\":\"slow down\",\"status\":\"RESOURCE_EXHAUSTED\"}}",
          WORDS("\"type\":\"rate_limit_error\",\"message\":\"slow down\""));
}

static void its_documents_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_ours;
    } rows[] = {
        {RICH, true},
        {"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}", true},
        {"{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}", true},
        {"{\"model\":\"m\",\"max_tokens\":1,\"system\":\"s\",\"messages\":[]}", true},
        {CHAT(""), false},
        {CHAT_MESSAGES(CALLS), false},
        {"{\"choices\":[]}", false},
        {"[]", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_str_of(rows[i].text), NULL, &doc, NULL), PL_OK);
        int score = pl_format_anthropic.detect(&doc);
        if ((score >= 50) != rows[i].is_ours)
            fail_msg("%d for %s", score, rows[i].text);
    }
}

static void what_is_no_conversation_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]", "{}", "{\"messages\":3}", NULL};
    for (size_t i = 0; texts[i]; i++) {
        struct pl_convert_opts opts = {.from = &pl_format_anthropic, .to = &pl_format_openai_chat};
        struct pl_converted c;
        pl_converted_init(&c);
        struct pl_error err = {0};
        assert_int_equal(pl_convert(pl_str_of(texts[i]), &opts, &c, &err), PL_INVALID);
        assert_true(strlen(err.message) > 0);
        pl_converted_deinit(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leading_instructions_become_separate_system_blocks),
        cmocka_unit_test(a_single_instruction_is_a_string),
        cmocka_unit_test(a_later_instruction_stays_in_its_place),
        cmocka_unit_test(instructions_alone_still_make_a_message),
        cmocka_unit_test(blank_text_is_left_out_and_reported),
        cmocka_unit_test(an_empty_string_beside_calls_is_no_loss),
        cmocka_unit_test(results_of_one_turn_share_a_message),
        cmocka_unit_test(an_id_outside_the_alphabet_is_respelled_on_both_sides),
        cmocka_unit_test(arguments_become_an_object),
        cmocka_unit_test(max_tokens_is_filled_in_and_reported),
        cmocka_unit_test(temperature_is_clamped),
        cmocka_unit_test(stop_is_always_a_list_without_blanks),
        cmocka_unit_test(tool_choice_has_its_own_words),
        cmocka_unit_test(a_free_text_tool_becomes_a_function_of_one_string),
        cmocka_unit_test(a_schema_without_type_is_one_of_an_object),
        cmocka_unit_test(effort_and_schema_go_to_output_config),
        cmocka_unit_test(a_thinking_budget_stays_below_max_tokens),
        cmocka_unit_test(at_most_four_marks_the_last_ones_stay),
        cmocka_unit_test(a_breakpoint_is_a_mark_with_the_default_life),
        cmocka_unit_test(media_find_their_source),
        cmocka_unit_test(an_image_of_the_assistant_is_not_said),
        cmocka_unit_test(thinking_of_another_vendor_is_not_sent),
        cmocka_unit_test(nothing_sayable_is_refused),
        cmocka_unit_test(every_pair_leads_home),
        cmocka_unit_test(its_own_document_is_understood_whole),
        cmocka_unit_test(a_foreign_answer_becomes_a_message),
        cmocka_unit_test(a_refusal_explains_the_stop),
        cmocka_unit_test(an_unknown_reason_to_stop_is_reported),
        cmocka_unit_test(an_error_gets_a_type_of_the_vendor),
        cmocka_unit_test(its_documents_are_recognised),
        cmocka_unit_test(what_is_no_conversation_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

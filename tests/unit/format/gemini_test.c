#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/profile.h"
#include "unit/carry/around.h"
#include "unit/format/through.h"

/* `made.out` must contain the words, in this spelling. */
static void assert_says(const struct pl_converted *made, const char *words)
{
    if (!memmem(made->out.ptr, made->out.len, words, strlen(words)))
        fail_msg("%s is not in %.*s", words, PL_STR_ARG(pl_buf_str(&made->out)));
}

static void assert_says_not(const struct pl_converted *made, const char *words)
{
    if (memmem(made->out.ptr, made->out.len, words, strlen(words)))
        fail_msg("%s is in %.*s", words, PL_STR_ARG(pl_buf_str(&made->out)));
}

static struct pl_converted request(const char *from, const char *to, const char *text)
{
    return pl_test_convert(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
}

static struct pl_converted under(const char *profile, enum pl_mode mode, const char *text)
{
    struct pl_convert_opts opts = {
        .from = &pl_format_openai_chat,
        .to = &pl_format_gemini,
        .mode = mode,
        .profile = pl_profile_find(pl_str_of(profile)),
    };
    assert_non_null(opts.profile);
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    if (pl_convert(pl_str_of(text), &opts, &made, &err) != PL_OK)
        fail_msg("%s", err.message);
    return made;
}

/* One case: converts a text and checks that the output has or lacks the words. */
#define SAYS(from, to, text, words)                                                                \
    do {                                                                                           \
        struct pl_converted made_ = request(from, to, text);                                       \
        assert_says(&made_, words);                                                                \
        pl_converted_deinit(&made_);                                                               \
    } while (0)

static const char two_calls[] =
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
    "\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":"
    "\"f\",\"arguments\":\"{\\\"n\\\": 1.10}\"}},{\"id\":\"c2\",\"type\":\"function\",\"function\":"
    "{\"name\":\"g\",\"arguments\":\"[2]\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c2\","
    "\"content\":\"two\"},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"one\"}]}";

/* ---- reading ---- */

static void snake_case_is_read_like_camel_case(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"inline_data\":{\"mime_type\":\"image/"
        "png\",\"data\":\"iVBORw0KGgo=\"}}]}],\"system_instruction\":{\"parts\":[{\"text\":\"be "
        "brief\"}]},\"generation_config\":{\"top_p\":0.90}}";
    SAYS("gemini", "openai-chat", text, "data:image/png;base64,iVBORw0KGgo=");
    SAYS("gemini", "openai-chat", text, "be brief");
    SAYS("gemini", "openai-chat", text, "\"top_p\":0.90");
    pl_test_round_trip("gemini", "openai-chat", text);
}

static void contents_may_be_a_text_or_an_object(void **state)
{
    (void)state;
    SAYS("gemini", "openai-chat", "{\"contents\":\"hello there\"}", "hello there");
    SAYS("gemini", "openai-chat", "{\"contents\":{\"parts\":[{\"text\":\"hello there\"}]}}",
         "hello there");
    SAYS("gemini", "openai-chat",
         "{\"contents\":[\"hello there\"],\"systemInstruction\":\"rules\"}", "rules");
    pl_test_round_trip("gemini", "openai-chat", "{ \"contents\" : \"hello there\" }");
}

static void only_the_thought_flag_makes_a_thought(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]},{\"role\":\"model\","
        "\"parts\":[{\"text\":\"plan\",\"thought\":true},{\"text\":\"answer\","
        "\"thoughtSignature\":\"SIG==\"}]}]}";
    struct pl_converted made = request("gemini", "openai-chat", text);
    assert_says(&made, "\"reasoning_content\":\"plan\"");
    assert_says(&made, "\"content\":\"answer\"");
    assert_says_not(&made, "SIG==");
    assert_true(pl_test_has_loss(&made, "dropped", "/contents/1/parts/1/thoughtSignature"));
    pl_converted_deinit(&made);
}

static void calls_without_ids_pair_by_name_and_order(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]},{\"role\":\"model\","
        "\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}}},{\"functionCall\":{"
        "\"name\":\"f\",\"args\":{\"a\":2}}}]},{\"role\":\"function\",\"parts\":[{"
        "\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"first\"}}},{"
        "\"functionResponse\":{\"name\":\"f\",\"response\":{\"error\":\"second\"}}}]}]}";
    SAYS("gemini", "openai-chat", text, "\"tool_call_id\":\"call_1\",\"content\":\"first\"");
    SAYS("gemini", "openai-chat", text, "\"tool_call_id\":\"call_2\",\"content\":\"second\"");
    SAYS("gemini", "anthropic", text, "\"is_error\":true");
    pl_test_round_trip("gemini", "anthropic", text);
}

static void what_ran_at_the_vendor_is_said_as_text_and_reported(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]},{\"role\":\"model\","
        "\"parts\":[{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"print(1)\"}},"
        "{\"text\":\"it is 1\"}]}]}";
    struct pl_converted made = request("gemini", "openai-chat", text);
    assert_says(&made, "print(1)");
    assert_true(pl_test_has_loss(&made, "approximated", "/contents/1/parts/0"));
    pl_converted_deinit(&made);
    pl_test_round_trip("gemini", "openai-chat", text);
}

static void a_document_without_contents_is_refused(void **state)
{
    (void)state;
    struct pl_convert_opts opts = {.from = &pl_format_gemini, .to = &pl_format_openai_chat};
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    assert_int_equal(pl_convert(PL_STR("{\"messages\":[]}"), &opts, &made, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "contents"));
    pl_converted_deinit(&made);
}

/* ---- schemas ---- */

static void the_dialect_becomes_json_schema(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":\"q\",\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"parameters\":{"
        "\"type\":\"OBJECT\",\"properties\":{\"type\":{\"type\":\"ARRAY\",\"minItems\":\"1\","
        "\"maxItems\":\"9007199254740993\",\"items\":{\"type\":\"STRING\",\"nullable\":true,"
        "\"enum\":[\"a\"]}},\"u\":{\"anyOf\":[{\"type\":\"NUMBER\"}],\"nullable\":true}},"
        "\"propertyOrdering\":[\"type\",\"u\"]}}]}]}";
    SAYS("gemini", "openai-chat", text,
         "{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"array\",\"minItems\":1,"
         "\"maxItems\":9007199254740993,\"items\":{\"type\":[\"string\",\"null\"],\"enum\":[\"a\","
         "null]}},\"u\":{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"null\"}]}}}");
    pl_test_round_trip("gemini", "openai-chat", text);
}

static void an_order_that_the_properties_do_not_show_is_reported(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":\"q\",\"generationConfig\":{\"responseMimeType\":\"application/json\","
        "\"responseSchema\":{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"STRING\"},\"b\":"
        "{\"type\":\"STRING\"}},\"propertyOrdering\":[\"b\",\"a\"]}}}";
    struct pl_converted made = request("gemini", "openai-chat", text);
    assert_true(
        pl_test_has_loss(&made, "dropped", "/generationConfig/responseSchema/propertyOrdering"));
    pl_converted_deinit(&made);
}

static void json_schema_is_said_verbatim_where_it_is_known(void **state)
{
    (void)state;
    const char *text =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":[{"
        "\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
        "\"$id\":\"s\",\"properties\":{\"$id\":{\"type\":[\"string\",\"null\"]}}}}}]}";
    SAYS("openai-chat", "gemini", text,
         "\"parametersJsonSchema\":{\"type\":\"object\",\"$id\":\"s\",\"properties\":{\"$id\":{"
         "\"type\":[\"string\",\"null\"]}}}");
    struct pl_converted made = under("gemini@legacy-schema", PL_MODE_CONVERT, text);
    assert_says(&made, "\"parameters\":{\"type\":\"OBJECT\",\"properties\":{\"$id\":{\"nullable\":"
                       "true,\"type\":\"STRING\"}}}");
    assert_true(pl_test_has_loss(&made, "dropped", "/tools/0/function/parameters/$id"));
    pl_converted_deinit(&made);
}

static void references_are_put_in_place_and_circles_end(void **state)
{
    (void)state;
    const char *text =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":[{"
        "\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
        "\"properties\":{\"n\":{\"$ref\":\"#/$defs/N\"}},\"$defs\":{\"N\":{\"type\":\"object\","
        "\"properties\":{\"next\":{\"$ref\":\"#/$defs/N\"}}}}}}}]}";
    struct pl_converted made = under("gemini@legacy-schema", PL_MODE_CONVERT, text);
    assert_says(&made, "\"properties\":{\"n\":{\"type\":\"OBJECT\",\"properties\":{\"next\":{"
                       "\"type\":\"OBJECT\"}}}}}");
    assert_true(pl_test_has_loss(&made, "approximated",
                                 "/tools/0/function/parameters/$defs/N/properties/next/$ref"));
    pl_converted_deinit(&made);
}

/* Each definition uses the next one twice: expanded, it would be 2^40 schemas. */
static void references_that_multiply_are_cut_short(void **state)
{
    (void)state;
    struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],"
                       "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                       "\"parameters\":{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 20; i++)
        pl_buf_addf(&text,
                    "\"d%d\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/d%d\"},"
                    "\"b\":{\"$ref\":\"#/$defs/d%d\"}}},",
                    i, i + 1, i + 1);
    pl_buf_adds(&text, "\"d20\":{\"type\":\"string\"}}}}}]}");
    pl_buf_addc(&text, '\0');
    struct pl_converted made = under("gemini@legacy-schema", PL_MODE_CONVERT, text.ptr);
    assert_true(made.out.len < 64 * 1024);
    pl_converted_deinit(&made);
    pl_buf_deinit(&text);
}

/* ---- writing ---- */

static void results_stand_together_with_the_names_of_their_functions(void **state)
{
    (void)state;
    struct pl_converted made = request("openai-chat", "gemini", two_calls);
    assert_says(&made, "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c2\","
                       "\"name\":\"g\",\"response\":{\"output\":\"two\"}}},{\"functionResponse\":{"
                       "\"id\":\"c1\",\"name\":\"f\",\"response\":{\"output\":\"one\"}}}]}");
    assert_says(&made, "\"args\":{\"n\": 1.10}");
    pl_converted_deinit(&made);
    pl_test_round_trip("openai-chat", "gemini", two_calls);
}

static void a_call_without_a_name_gets_one_and_its_result_too(void **state)
{
    (void)state;
    const char *text =
        "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"tool_calls\":[{\"id\":"
        "\"c1\",\"type\":\"function\",\"function\":{\"name\":\"\",\"arguments\":\"{}\"}}]},{"
        "\"role\":"
        "\"tool\",\"tool_call_id\":\"c1\",\"content\":\"one\"}]";
    SAYS("harmony", "gemini", text, "\"functionCall\":{\"id\":\"c1\",\"name\":\"function\"");
    SAYS("harmony", "gemini", text, "\"functionResponse\":{\"id\":\"c1\",\"name\":\"function\"");
    pl_test_round_trip("harmony", "gemini", text);
}

static void without_ids_results_take_the_order_of_the_calls(void **state)
{
    (void)state;
    struct pl_converted made = under("gemini@vertex", PL_MODE_CONVERT, two_calls);
    assert_says_not(&made, "\"id\"");
    assert_says(&made, "\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":"
                       "\"one\"}}},{\"functionResponse\":{\"name\":\"g\"");
    assert_true(pl_test_has_loss(&made, "dropped", "/messages/1/tool_calls/0/id"));
    pl_converted_deinit(&made);
}

static void arguments_that_are_no_object_are_kept_in_one(void **state)
{
    (void)state;
    struct pl_converted made = request("openai-chat", "gemini", two_calls);
    assert_says(&made, "\"args\":{\"_raw\":\"[2]\"}");
    assert_true(
        pl_test_has_loss(&made, "approximated", "/messages/1/tool_calls/1/function/arguments"));
    pl_converted_deinit(&made);
}

static void only_the_bypass_is_signed_and_only_for_gemini_3(void **state)
{
    (void)state;
    const char *text =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":"
        "\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
        "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},{\"id\":\"c2\",\"type\":\"function\","
        "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
        "\"tool_call_id\":\"c1\",\"content\":\"r\"},{\"role\":\"tool\",\"tool_call_id\":\"c2\","
        "\"content\":\"r\"}]}";
    struct pl_converted made = under("gemini@3", PL_MODE_GATEWAY, text);
    assert_says(&made, "\"args\":{}},\"thoughtSignature\":\"skip_thought_signature_validator\"},{"
                       "\"functionCall\":{\"id\":\"c2\",\"name\":\"f\",\"args\":{}}}");
    assert_true(pl_test_has_loss(&made, "synthesised", "/messages/1/tool_calls/0"));
    pl_converted_deinit(&made);
    made = under("gemini@2.5", PL_MODE_GATEWAY, text);
    assert_says_not(&made, "thoughtSignature");
    pl_converted_deinit(&made);
}

static void a_chat_call_brings_googles_signature_home(void **state)
{
    (void)state;
    const char *text =
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]},{\"role\":\"model\","
        "\"parts\":[{\"functionCall\":{\"id\":\"c1\",\"name\":\"f\",\"args\":{}},"
        "\"thoughtSignature\":\"SIG==\"}]}]}";
    struct pl_converted there = request("gemini", "openai-chat", text);
    assert_says(&there, "\"thought_signature\":\"SIG==\"");
    pl_buf_addc(&there.out, '\0');
    SAYS("openai-chat", "gemini", there.out.ptr, "\"thoughtSignature\":\"SIG==\"");
    pl_converted_deinit(&there);
}

static void a_foreign_signature_is_never_sent(void **state)
{
    (void)state;
    const char *text =
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"plan\","
        "\"signature\":\"SIG==\"},{\"type\":\"text\",\"text\":\"answer\"}]}]}";
    struct pl_converted made = request("anthropic", "gemini", text);
    assert_says(&made, "{\"text\":\"plan\",\"thought\":true},{\"text\":\"answer\"}");
    assert_says_not(&made, "SIG==");
    assert_true(pl_test_has_loss(&made, "dropped", "/messages/1/content/0/signature"));
    pl_converted_deinit(&made);
}

static void media_in_a_result_stand_inside_it(void **state)
{
    (void)state;
    const char *text =
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":"
        "\"shot\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
        "\"tool_use_id\":\"t1\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":"
        "\"boom\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":"
        "\"image/png\",\"data\":\"iVBORw0KGgo=\"}}]}]}]}";
    SAYS("anthropic", "gemini", text,
         "\"response\":{\"error\":\"boom\"},\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\","
         "\"data\":\"iVBORw0KGgo=\"}}]");
    pl_test_round_trip("anthropic", "gemini", text);
}

static void a_missing_media_type_is_read_from_the_bytes(void **state)
{
    (void)state;
    const char *text =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\","
        "\"image_url\":{\"url\":\"data:;base64,R0lGODlhAQABAAAAACw=\"}},{\"type\":\"image_url\","
        "\"image_url\":{\"url\":\"https://x.test/a.png?s=1\"}}]}]}";
    struct pl_converted made = request("openai-chat", "gemini", text);
    assert_says(&made, "\"inlineData\":{\"mimeType\":\"image/gif\"");
    assert_says(&made, "\"fileData\":{\"mimeType\":\"image/png\",\"fileUri\":\"https://x.test/"
                       "a.png?s=1\"}");
    assert_true(pl_test_has_loss(&made, "synthesised", "/messages/0/content/0"));
    pl_converted_deinit(&made);
}

static void a_later_system_message_becomes_words_of_the_user(void **state)
{
    (void)state;
    const char *text =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"first\"},{\"role\":"
        "\"user\",\"content\":\"q\"},{\"role\":\"system\",\"content\":\"later\"}]}";
    struct pl_converted made = request("openai-chat", "gemini", text);
    assert_says(&made, "\"systemInstruction\":{\"parts\":[{\"text\":\"first\"}]}");
    assert_says(&made, "{\"role\":\"user\",\"parts\":[{\"text\":\"later\"}]}");
    assert_true(pl_test_has_loss(&made, "approximated", "/messages/2"));
    pl_converted_deinit(&made);
}

static void settings_keep_their_spelling(void **state)
{
    (void)state;
    const char *text = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],"
                       "\"temperature\":0.70,"
                       "\"seed\":9007199254740993,\"stop\":\"END\",\"reasoning_effort\":\"xhigh\","
                       "\"tool_choice\":\"required\",\"parallel_tool_calls\":false}";
    struct pl_converted made = request("openai-chat", "gemini", text);
    assert_says(&made, "\"temperature\":0.70");
    assert_says(&made, "\"seed\":9007199254740993");
    assert_says(&made, "\"stopSequences\":[\"END\"]");
    assert_says(&made, "\"thinkingLevel\":\"HIGH\"");
    assert_says(&made, "\"functionCallingConfig\":{\"mode\":\"ANY\"}");
    assert_true(pl_test_has_loss(&made, "approximated", "/reasoning_effort"));
    assert_true(pl_test_has_loss(&made, "dropped", "/parallel_tool_calls"));
    pl_converted_deinit(&made);
}

static void the_sixth_stop_sequence_is_reported(void **state)
{
    (void)state;
    const char *text = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],"
                       "\"stop\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"]}";
    struct pl_converted made = request("openai-chat", "gemini", text);
    assert_says(&made, "\"stopSequences\":[\"a\",\"b\",\"c\",\"d\",\"e\"]");
    assert_true(pl_test_has_loss(&made, "dropped", "/stop/5"));
    pl_converted_deinit(&made);
}

/* ---- answers ---- */

static void an_answer_counts_thoughts_apart(void **state)
{
    (void)state;
    const char *text =
        "{\"id\":\"r1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{"
        "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\"},\"finish_reason\":"
        "\"length\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":12,\"total_tokens\":22,"
        "\"completion_tokens_details\":{\"reasoning_tokens\":7}}}";
    struct pl_converted made =
        pl_test_convert("openai-chat", "gemini", PL_KIND_RESPONSE, PL_MODE_CONVERT, text);
    assert_says(&made, "\"finishReason\":\"MAX_TOKENS\"");
    assert_says(&made,
                "\"candidatesTokenCount\":5,\"thoughtsTokenCount\":7,\"totalTokenCount\":22");
    assert_says(&made, "\"modelVersion\":\"m\",\"responseId\":\"r1\"");
    pl_converted_deinit(&made);
}

static void a_blocked_prompt_is_a_filtered_answer(void **state)
{
    (void)state;
    const char *text = "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"usageMetadata\":{"
                       "\"promptTokenCount\":9,\"totalTokenCount\":9}}";
    struct pl_converted made =
        pl_test_convert("gemini", "openai-chat", PL_KIND_RESPONSE, PL_MODE_CONVERT, text);
    assert_says(&made, "\"finish_reason\":\"content_filter\"");
    assert_says(&made, "\"prompt_tokens\":9");
    pl_converted_deinit(&made);
}

static void other_candidates_are_reported(void **state)
{
    (void)state;
    const char *text =
        "{\"candidates\":[{\"index\":0,\"content\":{\"parts\":[{\"text\":\"one\"}]},"
        "\"finishReason\":\"STOP\"},{\"index\":1,\"content\":{\"parts\":[{\"text\":\"two\"}]}}]}";
    struct pl_converted made =
        pl_test_convert("gemini", "openai-chat", PL_KIND_RESPONSE, PL_MODE_CONVERT, text);
    assert_says(&made, "\"content\":\"one\"");
    assert_true(pl_test_has_loss(&made, "dropped", "/candidates/1"));
    pl_converted_deinit(&made);
}

static void errors_carry_googles_status(void **state)
{
    (void)state;
    const char *text = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":"
                       "\"too busy\"}}";
    struct pl_converted made =
        pl_test_convert("anthropic", "gemini", PL_KIND_RESPONSE, PL_MODE_CONVERT, text);
    assert_string_equal(
        (pl_buf_addc(&made.out, '\0'), made.out.ptr),
        "{\"error\":{\"code\":503,\"message\":\"too busy\",\"status\":\"UNAVAILABLE\"}}");
    pl_converted_deinit(&made);
}

/* ---- detection ---- */

static const struct pl_format *detected(const char *text)
{
    struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
    const struct pl_format *format = pl_format_detect(&doc);
    pl_arena_deinit(&arena);
    return format;
}

static void it_is_known_by_its_content(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"x\"}]}]}",
        "{\"candidates\":[]}",
        "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}",
        "{\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"INVALID_ARGUMENT\"}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_ptr_equal(detected(texts[i]), &pl_format_gemini);
    assert_ptr_not_equal(detected("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
                                  "\"x\"}]}"),
                         &pl_format_gemini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snake_case_is_read_like_camel_case),
        cmocka_unit_test(contents_may_be_a_text_or_an_object),
        cmocka_unit_test(only_the_thought_flag_makes_a_thought),
        cmocka_unit_test(calls_without_ids_pair_by_name_and_order),
        cmocka_unit_test(what_ran_at_the_vendor_is_said_as_text_and_reported),
        cmocka_unit_test(a_document_without_contents_is_refused),
        cmocka_unit_test(the_dialect_becomes_json_schema),
        cmocka_unit_test(an_order_that_the_properties_do_not_show_is_reported),
        cmocka_unit_test(json_schema_is_said_verbatim_where_it_is_known),
        cmocka_unit_test(references_are_put_in_place_and_circles_end),
        cmocka_unit_test(references_that_multiply_are_cut_short),
        cmocka_unit_test(results_stand_together_with_the_names_of_their_functions),
        cmocka_unit_test(a_call_without_a_name_gets_one_and_its_result_too),
        cmocka_unit_test(without_ids_results_take_the_order_of_the_calls),
        cmocka_unit_test(arguments_that_are_no_object_are_kept_in_one),
        cmocka_unit_test(only_the_bypass_is_signed_and_only_for_gemini_3),
        cmocka_unit_test(a_chat_call_brings_googles_signature_home),
        cmocka_unit_test(a_foreign_signature_is_never_sent),
        cmocka_unit_test(media_in_a_result_stand_inside_it),
        cmocka_unit_test(a_missing_media_type_is_read_from_the_bytes),
        cmocka_unit_test(a_later_system_message_becomes_words_of_the_user),
        cmocka_unit_test(settings_keep_their_spelling),
        cmocka_unit_test(the_sixth_stop_sequence_is_reported),
        cmocka_unit_test(an_answer_counts_thoughts_apart),
        cmocka_unit_test(a_blocked_prompt_is_a_filtered_answer),
        cmocka_unit_test(other_candidates_are_reported),
        cmocka_unit_test(errors_carry_googles_status),
        cmocka_unit_test(it_is_known_by_its_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

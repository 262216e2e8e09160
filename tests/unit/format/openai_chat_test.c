/* openai-chat: reading, writing and reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "carry/carry.h"
#include "unit/carry/around.h"
#include "unit/format/through.h"

static struct pl_converted request(const char *from, const char *to, const char *text)
{
    return pl_test_convert(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
}

static struct pl_converted response(const char *from, const char *to, const char *text)
{
    return pl_test_convert(from, to, PL_KIND_RESPONSE, PL_MODE_CONVERT, text);
}

/* Fails the test unless the output of the conversion is exactly `wanted`. */
static void expect(struct pl_converted *made, const char *wanted)
{
    if (!pl_str_eq(pl_buf_str(&made->out), pl_str_of(wanted)))
        fail_msg("got\n%.*s\ninstead of\n%s", PL_STR_ARG(pl_buf_str(&made->out)), wanted);
    pl_converted_deinit(made);
}

static void test_one_text_is_a_string_and_several_are_parts(void **state)
{
    (void)state;
    struct pl_converted made =
        request("anthropic", "openai-chat",
                "{\"model\":\"m\",\"max_tokens\":9,\"messages\":["
                "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"}]},"
                "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                "{\"type\":\"text\",\"text\":\"b\"}]}]}");
    expect(&made, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"one\"},"
                  "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                  "{\"type\":\"text\",\"text\":\"b\"}]}],\"max_completion_tokens\":9}");
}

static void test_a_cache_marker_keeps_its_place_and_its_ttl_is_not_guessed(void **state)
{
    (void)state;
    struct pl_converted made =
        request("anthropic", "openai-chat",
                "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":["
                "{\"type\":\"text\",\"text\":\"x\",\"cache_control\":{\"type\":\"ephemeral\","
                "\"ttl\":\"1h\"}}]}]}");
    assert_true(pl_test_has_loss(&made, "approximated", "/messages/0/content/0/cache_control/ttl"));
    expect(&made, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
                  "\"text\",\"text\":\"x\",\"prompt_cache_breakpoint\":{\"mode\":\"explicit\"}}]}],"
                  "\"max_completion_tokens\":9}");
}

static void test_an_assistant_that_only_calls_has_null_content(void **state)
{
    (void)state;
    struct pl_converted made = request(
        "anthropic", "openai-chat",
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"assistant\",\"content\":["
        "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{\"a\": 1.0}},"
        "{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"g\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","
        "\"content\":\"boom\",\"is_error\":true},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"t2\"}]}]}");
    assert_true(pl_test_has_loss(&made, "dropped", "/messages/1/content/0/is_error"));
    expect(
        &made,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
        "{\"id\":\"t1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":"
        "\"{\\\"a\\\": 1.0}\"}},{\"id\":\"t2\",\"type\":\"function\",\"function\":{\"name\":"
        "\"g\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":"
        "\"boom\"},{\"role\":\"tool\",\"tool_call_id\":\"t2\",\"content\":\"\"}],"
        "\"max_completion_tokens\":9}");
}

static void test_calls_without_ids_get_them_and_results_follow(void **state)
{
    (void)state;
    struct pl_converted made = request(
        "gemini", "openai-chat",
        "{\"contents\":[{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":"
        "{}},\"thoughtSignature\":\"SIG=\"},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]},"
        "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":"
        "{\"output\":\"one\"}}},{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":"
        "\"two\"}}}]}]}");
    expect(&made,
           "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
           "\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},"
           "\"extra_content\":{\"google\":{\"thought_signature\":\"SIG=\"}}},{\"id\":\"call_2\","
           "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
           "{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"one\"},"
           "{\"role\":\"tool\",\"tool_call_id\":\"call_2\",\"content\":\"two\"}]}");
}

static void test_reasoning_is_not_visible_text(void **state)
{
    (void)state;
    struct pl_converted made =
        request("anthropic", "openai-chat",
                "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"assistant\","
                "\"content\":[{\"type\":\"thinking\",\"thinking\":\"why\",\"signature\":\"S\"},"
                "{\"type\":\"text\",\"text\":\"so\"}]}]}");
    assert_true(pl_test_has_loss(&made, "dropped", "/messages/0/content/0/signature"));
    expect(&made, "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"reasoning_content\":"
                  "\"why\",\"content\":\"so\"}],\"max_completion_tokens\":9}");
}

static void test_reasoning_under_several_names_is_read_once(void **state)
{
    (void)state;
    static const char head[] = "{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\",";
    static const char *const fields[] = {
        "\"reasoning_content\":\"r\"",
        "\"reasoning\":\"r\"",
        "\"reasoning_content\":\"r\",\"reasoning\":\"r\"",
        "\"reasoning\":\"r\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"r\"}]",
        "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"r\"}]",
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s}]}", head, fields[i]);
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
        struct pl_conv conv;
        assert_int_equal(pl_conv_init(&conv, &arena, &doc), PL_OK);
        assert_int_equal(pl_format_openai_chat.read(&conv, PL_KIND_REQUEST, NULL), PL_OK);
        assert_int_equal(conv.parts.len, 2);
        assert_int_equal(conv.parts.ptr[0].kind, PL_PART_THINKING);
        assert_true(pl_str_eq(pl_conv_text(&conv, conv.parts.ptr[0].text), PL_STR("r")));
        assert_int_equal(conv.parts.ptr[1].kind, PL_PART_TEXT);
        pl_conv_deinit(&conv);
    }
}

static void test_media_have_the_shapes_of_chat(void **state)
{
    (void)state;
    struct pl_converted made =
        request("gemini", "openai-chat",
                "{\"contents\":[{\"role\":\"user\",\"parts\":["
                "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}},"
                "{\"inlineData\":{\"mimeType\":\"audio/mpeg\",\"data\":\"SUQzAAAA\"}},"
                "{\"inlineData\":{\"mimeType\":\"audio/ogg\",\"data\":\"T2dnUwAA\"}},"
                "{\"inlineData\":{\"mimeType\":\"application/pdf\",\"data\":\"JVBERi0=\"}}]}]}");
    assert_true(pl_test_has_loss(&made, "moved", "/contents/0/parts/1/inlineData/mimeType"));
    assert_true(pl_test_has_loss(&made, "dropped", "/contents/0/parts/2"));
    expect(&made, "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\","
                  "\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0KGgo=\"}},"
                  "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"SUQzAAAA\",\"format\":"
                  "\"mp3\"}},{\"type\":\"file\",\"file\":{\"file_data\":"
                  "\"data:application/pdf;base64,JVBERi0=\"}}]}]}");
}

static void test_more_than_four_stop_words_are_cut_and_reported(void **state)
{
    (void)state;
    struct pl_converted made =
        request("anthropic", "openai-chat",
                "{\"model\":\"m\",\"max_tokens\":9,\"stop_sequences\":[\"1\",\"2\",\"3\",\"4\","
                "\"5\"],\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}");
    assert_true(pl_test_has_loss(&made, "dropped", "/stop_sequences/4"));
    expect(&made, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],"
                  "\"max_completion_tokens\":9,\"stop\":[\"1\",\"2\",\"3\",\"4\"]}");
}

static void test_a_tool_name_chat_refuses_is_made_acceptable(void **state)
{
    (void)state;
    struct pl_converted made =
        request("harmony", "openai-chat",
                "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"
                "\"function\",\"function\":{\"name\":\"a.b\",\"arguments\":\"{}\"}}]}]");
    assert_true(pl_test_has_loss(&made, "approximated", "/0/tool_calls/0/function/name"));
    pl_buf_addc(&made.out, '\0');
    assert_non_null(strstr(made.out.ptr, "\"name\":\"a_b_"));
    pl_converted_deinit(&made);
}

static void test_legacy_functions_are_read_as_tools(void **state)
{
    (void)state;
    struct pl_converted made = request(
        "openai-chat", "openai-responses",
        "{\"model\":\"m\",\"functions\":[{\"name\":\"f\",\"parameters\":{\"type\":"
        "\"object\"}}],\"function_call\":{\"name\":\"f\"},\"messages\":["
        "{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":\"f\","
        "\"arguments\":\"{}\"}},{\"role\":\"function\",\"name\":\"f\",\"content\":\"r\"}]}");
    pl_buf_addc(&made.out, '\0');
    assert_non_null(strstr(made.out.ptr, "\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}"));
    assert_non_null(strstr(made.out.ptr, "\"function_call_output\""));
    pl_converted_deinit(&made);
}

static void test_text_around_a_call_is_joined_in_a_response(void **state)
{
    (void)state;
    struct pl_converted made = response(
        "anthropic", "openai-chat",
        "{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":["
        "{\"type\":\"text\",\"text\":\"before\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
        "\"f\","
        "\"input\":{}},{\"type\":\"text\",\"text\":\"after\"}],\"stop_reason\":\"tool_use\","
        "\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":10,\"output_tokens\":7}}");
    assert_true(pl_test_has_loss(&made, "reordered", "/content/2/text"));
    assert_true(pl_test_has_loss(&made, "merged", "/content/2/text"));
    expect(&made,
           "{\"id\":\"m1\",\"object\":\"chat.completion\",\"created\":0,\"model\":\"m\","
           "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
           "\"beforeafter\",\"refusal\":null,\"tool_calls\":[{\"id\":\"t\",\"type\":\"function\","
           "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"logprobs\":null,"
           "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":15,"
           "\"completion_tokens\":7,\"total_tokens\":22,\"prompt_tokens_details\":"
           "{\"cached_tokens\":10}}}");
}

static void test_only_the_first_choice_is_the_conversation(void **state)
{
    (void)state;
    struct pl_converted made = response(
        "openai-chat", "anthropic",
        "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":["
        "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"first\"},"
        "\"finish_reason\":\"stop\"},{\"index\":1,\"message\":{\"role\":\"assistant\",\"content\":"
        "\"second\"},\"finish_reason\":\"stop\"}]}");
    assert_true(pl_test_has_loss(&made, "dropped", "/choices/1"));
    pl_buf_addc(&made.out, '\0');
    assert_non_null(strstr(made.out.ptr, "first"));
    assert_null(strstr(made.out.ptr, "second"));
    pl_converted_deinit(&made);
}

static void test_an_error_body_keeps_message_and_type(void **state)
{
    (void)state;
    struct pl_converted made = response(
        "anthropic", "openai-chat",
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Full\"}}");
    expect(&made, "{\"error\":{\"message\":\"Full\",\"type\":\"overloaded_error\",\"param\":null,"
                  "\"code\":null}}");
}

static void test_a_response_is_not_taken_for_a_request(void **state)
{
    (void)state;
    struct pl_convert_opts opts = {.from = &pl_format_openai_chat, .to = &pl_format_anthropic};
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    assert_int_equal(pl_convert(PL_STR("{\"choices\":[]}"), &opts, &made, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "--kind response"));
    pl_converted_deinit(&made);
    pl_converted_init(&made);
    assert_int_equal(pl_convert(PL_STR("[1]"), &opts, &made, &err), PL_INVALID);
    pl_converted_deinit(&made);
}

static void test_it_is_told_from_its_relatives(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_ours;
    } docs[] = {
        {"{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}", true},
        {"{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}]}", true},
        {"{\"id\":\"c\",\"object\":\"chat.completion\",\"choices\":[]}", true},
        {"{\"model\":\"claude-opus-5\",\"max_tokens\":5,\"system\":\"s\",\"messages\":["
         "{\"role\":\"user\",\"content\":\"q\"}]}",
         false},
        {"{\"protocol\":\"structured-chat\",\"messages\":[{\"id\":\"a\",\"role\":\"user\","
         "\"content\":\"q\"}]}",
         false},
    };
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_str_of(docs[i].text), NULL, &doc, NULL), PL_OK);
        assert_int_equal(pl_format_detect(&doc) == &pl_format_openai_chat, docs[i].is_ours);
    }
}

static void test_every_way_leads_home(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"model\":\"gpt-5\", \"seed\":7, "
        "\"messages\":[{\"role\":\"developer\",\"content\":\"d\"},"
        "{\"content\":[{\"type\":\"text\",\"text\":\"Look\\u0021\"},{\"type\":\"image_url\","
        "\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0KGgo=\",\"detail\":\"low\"}}],"
        "\"role\":\"user\",\"name\":\"ann\"},\n{\"role\":\"assistant\",\"content\":null,"
        "\"refusal\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":"
        "{\"name\":\"f\",\"arguments\":\"{ \\\"n\\\" : 1.50 }\"}}]},{\"role\":\"tool\","
        "\"tool_call_id\":\"c1\",\"content\":\"r\"}], \"future\":{\"a\":[1, 2]}}\n";
    static const char *const others[] = {"harmony", "anthropic", "gemini", "openai-responses"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        pl_test_round_trip("openai-chat", others[i], text);
}

static size_t n_heap_calls;

static void *counting_hook(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    n_heap_calls += size != 0;
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

/* A long document between two short ones: nothing of one remains in the next. */
static void test_a_workspace_is_used_again_and_takes_no_heap(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"model\":\"m\",\"seed\":7,\"messages\":[{\"role\":\"user\",\"content\":\"one\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"c1\","
        "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": [1, "
        "2.50]}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"done\"}],\"temperature\":0.5}",
    };
    struct pl_workspace space;
    struct pl_converted again;
    struct pl_error err;
    pl_mem_set_hook(counting_hook, NULL);
    pl_workspace_init(&space);
    pl_converted_init(&again);
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("openai-chat")),
                                   .to = pl_format_find(PL_STR("openai-responses")),
                                   .way_home = &pl_carry_way,
                                   .workspace = &space};
    for (int round = 0; round < 6; round++) {
        n_heap_calls = 0;
        assert_int_equal(pl_convert(pl_str_of(texts[round % 2]), &opts, &again, &err), PL_OK);
        /* Losses have a pointer, which is allocated on the heap. */
        assert_true(round < 4 || n_heap_calls <= 1);
        struct pl_converted fresh = pl_test_convert_kept(
            "openai-chat", "openai-responses", PL_KIND_REQUEST, PL_MODE_CONVERT, texts[round % 2]);
        assert_true(pl_str_eq(pl_buf_str(&fresh.out), pl_buf_str(&again.out)));
        assert_true(pl_str_eq(pl_buf_str(&fresh.report), pl_buf_str(&again.report)));
        assert_true(pl_str_eq(pl_buf_str(&fresh.carry), pl_buf_str(&again.carry)));
        pl_converted_deinit(&fresh);
    }
    pl_converted_deinit(&again);
    pl_workspace_deinit(&space);
    pl_mem_set_hook(NULL, NULL);
}

/* Replaces the %s in `text` by `with`. */
static void fill(char *to, size_t size, const char *text, const char *with)
{
    const char *at = strstr(text, "%s");
    snprintf(to, size, "%.*s%s%s", (int)(at - text), text, with, at + 2);
}

/* A member for base64 may contain a URL. */
static void test_an_address_in_the_place_of_base64_is_an_address_in_every_format(void **state)
{
    (void)state;
    static const struct {
        const char *from, *text;
    } sources[] = {
        {"openai-chat", "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"file\","
                        "\"file\":{\"filename\":\"a.pdf\",\"file_data\":\"%s\"}}]}]}"},
        {"openai-responses", "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":"
                             "\"input_file\",\"file_data\":\"%s\"}]}]}"},
        {"anthropic", "{\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
                      "\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
                      "\"application/pdf\",\"data\":\"%s\"}}]}]}"},
        {"gemini", "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"inlineData\":{\"mimeType\":"
                   "\"application/pdf\",\"data\":\"%s\"}}]}]}"},
        {"harmony", "[{\"role\":\"user\",\"content\":[{\"type\":\"file\",\"file\":{"
                    "\"filename\":\"a.pdf\",\"file_data\":\"%s\"},\"index\":0}]}]"},
    };
    static const struct {
        const char *to, *key;
    } targets[] = {{"openai-responses", "\"file_url\":\"%s\""},
                   {"anthropic", "{\"type\":\"url\",\"url\":\"%s\"}"},
                   {"gemini", "\"fileUri\":\"%s\""}};
    static const char *const spelled[] = {"https://e.com/a.pdf", "https:\\/\\/e.com\\/a.pdf"};
    for (size_t i = 0; i < 2 * sizeof sources / sizeof *sources; i++)
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
            char text[512], wanted[128];
            if (strcmp(sources[i / 2].from, targets[k].to) == 0)
                continue;
            fill(text, sizeof text, sources[i / 2].text, spelled[i % 2]);
            fill(wanted, sizeof wanted, targets[k].key, spelled[i % 2]);
            struct pl_converted made = request(sources[i / 2].from, targets[k].to, text);
            pl_buf_addc(&made.out, 0);
            if (!strstr(made.out.ptr, wanted))
                fail_msg("%s -> %s: %s", sources[i / 2].from, targets[k].to, made.out.ptr);
            pl_converted_deinit(&made);
            pl_test_round_trip(sources[i / 2].from, targets[k].to, text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_workspace_is_used_again_and_takes_no_heap),
        cmocka_unit_test(test_one_text_is_a_string_and_several_are_parts),
        cmocka_unit_test(test_a_cache_marker_keeps_its_place_and_its_ttl_is_not_guessed),
        cmocka_unit_test(test_an_assistant_that_only_calls_has_null_content),
        cmocka_unit_test(test_calls_without_ids_get_them_and_results_follow),
        cmocka_unit_test(test_reasoning_is_not_visible_text),
        cmocka_unit_test(test_reasoning_under_several_names_is_read_once),
        cmocka_unit_test(test_media_have_the_shapes_of_chat),
        cmocka_unit_test(test_more_than_four_stop_words_are_cut_and_reported),
        cmocka_unit_test(test_a_tool_name_chat_refuses_is_made_acceptable),
        cmocka_unit_test(test_legacy_functions_are_read_as_tools),
        cmocka_unit_test(test_text_around_a_call_is_joined_in_a_response),
        cmocka_unit_test(test_only_the_first_choice_is_the_conversation),
        cmocka_unit_test(test_an_error_body_keeps_message_and_type),
        cmocka_unit_test(test_a_response_is_not_taken_for_a_request),
        cmocka_unit_test(test_it_is_told_from_its_relatives),
        cmocka_unit_test(test_every_way_leads_home),
        cmocka_unit_test(test_an_address_in_the_place_of_base64_is_an_address_in_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

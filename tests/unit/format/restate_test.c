/* Features of one vendor, written for another: in its own shape, or as text. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/carry/around.h"
#include "unit/format/through.h"

#include <string.h>

/* Fails the test unless the output has (or, after "!", lacks) each of the words, and the report has
 * the loss, unless it is NULL. */
static void check(const char *from, const char *to, enum pl_format_kind kind, const char *text,
                  const char *const words[], const char *code, const char *pointer)
{
    struct pl_converted c = pl_test_convert(from, to, kind, PL_MODE_CONVERT, text);
    for (size_t i = 0; words[i]; i++) {
        bool is_wanted = words[i][0] != '!';
        const char *word = words[i] + !is_wanted;
        if ((memmem(c.out.ptr, c.out.len, word, strlen(word)) != NULL) != is_wanted)
            fail_msg("%s\n%s in\n%.*s", is_wanted ? "missing" : "unwanted", word,
                     PL_STR_ARG(pl_buf_str(&c.out)));
    }
    if (code && !pl_test_has_loss(&c, code, pointer))
        fail_msg("no %s at %s in\n%.*s", code, pointer, PL_STR_ARG(pl_buf_str(&c.report)));
    pl_converted_deinit(&c);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

#define USER(blocks)                                                                               \
    "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[" blocks "]}" \
    "]}"

static const char search_result[] =
    USER("{\"type\":\"search_result\",\"title\":\"Leave\",\"source\":\"https://hr.example\","
         "\"content\":[{\"type\":\"text\",\"text\":\"Submit a form.\"}]},"
         "{\"type\":\"text\",\"text\":\"How?\"}");

static void a_search_result_is_said_with_its_title_and_source(void **state)
{
    static const char *const targets[] = {
        "openai-chat", "openai-responses", "gemini",  "harmony",
        "turns",       "envelope",         "gpt-oss", "structured-chat"};
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        check("anthropic", targets[i], PL_KIND_REQUEST, search_result,
              WORDS("Leave", "https://hr.example", "Submit a form.", "How?"), "approximated",
              "/messages/0/content/0");
        pl_test_round_trip("anthropic", targets[i], search_result);
    }
}

static void images_in_a_document_arrive_among_its_words(void **state)
{
    (void)state;
    check("anthropic", "openai-chat", PL_KIND_REQUEST,
          USER("{\"type\":\"document\",\"title\":\"Book\",\"source\":{\"type\":\"content\","
               "\"content\":[{\"type\":\"text\",\"text\":\"Before\"},{\"type\":\"image\","
               "\"source\":{\"type\":\"url\",\"url\":\"https://a.example/x.png\"}}]}}"),
          WORDS("\"text\":\"[Document: Book]\\nBefore\"",
                "\"image_url\":{\"url\":\"https://a.example/x.png\"}"),
          "approximated", "/messages/0/content/0");
}

static void a_document_of_one_text_is_a_document_where_there_are_such(void **state)
{
    (void)state;
    check("anthropic", "envelope", PL_KIND_REQUEST,
          USER("{\"type\":\"document\",\"title\":\"Notes\",\"source\":{\"type\":\"content\","
               "\"content\":\"One text.\"}}"),
          WORDS("\"kind\":\"document\",\"fileName\":\"Notes\"", "\"parsedContent\":\"One text.\"",
                "![Document"),
          NULL, NULL);
}

static void what_lacks_its_own_members_is_dropped_and_reported(void **state)
{
    (void)state;
    check("anthropic", "openai-chat", PL_KIND_REQUEST,
          USER("{\"type\":\"search_result\",\"title\":7,\"content\":\"x\"},"
               "{\"type\":\"text\",\"text\":\"How?\"}"),
          WORDS("How?", "![Search"), "dropped", "/messages/0/content/0");
}

#define RUN(tools)                                                                                 \
    "{\"model\":\"m\",\"max_tokens\":9,\"tools\":[" tools                                          \
    "],\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":["  \
    "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_a\",\"name\":\"code_execution\","             \
    "\"input\":{\"code\":\"print(1)\"}},{\"type\":\"code_execution_tool_result\","                 \
    "\"tool_use_id\":\"srvtoolu_a\",\"content\":{\"type\":\"code_execution_result\","              \
    "\"stdout\":\"1\",\"stderr\":\"\",\"return_code\":0,\"content\":[]}}]}]}"

static void a_program_is_said_in_the_shape_of_a_target_that_declares_the_tool(void **state)
{
    static const char declared[] =
        RUN("{\"type\":\"code_execution_20250825\",\"name\":\"code_execution\"}");
    (void)state;
    check("anthropic", "gemini", PL_KIND_REQUEST, declared,
          WORDS("{\"codeExecution\":{}}", "\"executableCode\":{\"language\":\"PYTHON\",",
                "\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\",\"output\":\"1\""),
          NULL, NULL);
    check("anthropic", "openai-responses", PL_KIND_REQUEST, declared,
          WORDS("\"type\":\"code_interpreter_call\"", "\"code\":\"print(1)\"",
                "{\"type\":\"logs\",\"logs\":\"1\"}"),
          "approximated", "/messages/1/content/0/id");
    pl_test_round_trip("anthropic", "gemini", declared);
    pl_test_round_trip("anthropic", "openai-responses", declared);
}

static void a_tool_that_is_not_declared_is_said_as_text(void **state)
{
    (void)state;
    check("anthropic", "gemini", PL_KIND_REQUEST, RUN(""),
          WORDS("[Call of code_execution]", "print(1)", "!executableCode"), "approximated",
          "/messages/1/content/0");
}

static void an_image_that_a_model_made_is_an_image_everywhere(void **state)
{
    static const char answer[] =
        "{\"object\":\"response\",\"status\":\"completed\",\"output\":[{\"type\":"
        "\"image_generation_call\",\"id\":\"ig_1\",\"status\":\"completed\",\"result\":"
        "\"iVBORw0KGgo=\"}]}";
    (void)state;
    check("openai-responses", "gemini", PL_KIND_RESPONSE, answer,
          WORDS("\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}"), NULL,
          NULL);
    check("openai-responses", "openai-chat", PL_KIND_RESPONSE, answer,
          WORDS("\"images\":[", "data:image/png;base64,iVBORw0KGgo="), NULL, NULL);
}

static void members_of_the_wrong_type_are_no_tool_of_the_target(void **state)
{
    (void)state;
    check("openai-responses", "anthropic", PL_KIND_REQUEST,
          "{\"model\":\"m\",\"input\":\"q\",\"tools\":[{\"type\":\"web_search\",\"filters\":7,"
          "\"user_location\":[]},{\"type\":\"mcp\",\"server_label\":{}}]}",
          WORDS("web_search_20250305", "!\"filters\"", "!user_location"), "dropped",
          "/tools/0/filters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_result_is_said_with_its_title_and_source),
        cmocka_unit_test(images_in_a_document_arrive_among_its_words),
        cmocka_unit_test(a_document_of_one_text_is_a_document_where_there_are_such),
        cmocka_unit_test(a_program_is_said_in_the_shape_of_a_target_that_declares_the_tool),
        cmocka_unit_test(a_tool_that_is_not_declared_is_said_as_text),
        cmocka_unit_test(an_image_that_a_model_made_is_an_image_everywhere),
        cmocka_unit_test(members_of_the_wrong_type_are_no_tool_of_the_target),
        cmocka_unit_test(what_lacks_its_own_members_is_dropped_and_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

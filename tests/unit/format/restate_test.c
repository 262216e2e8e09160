/* What only one vendor has, said by another: in its own shape, or as text. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/format/through.h"

#include <string.h>

/* Ends the test unless the output has (or, after "!", has not) each of the words, and, unless they
 * are NULL, the report the loss. */
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
          WORDS("[Document: Book]", "\"text\":\"Before\"",
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_result_is_said_with_its_title_and_source),
        cmocka_unit_test(images_in_a_document_arrive_among_its_words),
        cmocka_unit_test(a_document_of_one_text_is_a_document_where_there_are_such),
        cmocka_unit_test(what_lacks_its_own_members_is_dropped_and_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

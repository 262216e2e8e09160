/* Members that only the source can express: an edit that loses one is reported, a deletion is
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/carry.h"
#include "unit/carry/around.h"

#include <string.h>

#define NOT_KEPT "what only anthropic can express was not kept"
#define ASKED                                                                                      \
    "{\"role\":\"user\",\"content\":[{\"type\":\"document\",\"source\":{\"type\":\"content\","     \
    "\"content\":[{\"type\":\"text\",\"text\":\"The grass is green\"}]},\"citations\":{"           \
    "\"enabled\":true}},{\"type\":\"text\",\"text\":\"What color is the grass?\"}]}"
#define CACHED(text)                                                                               \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\","               \
    "\"own\":{\"mark\":true}}]}"
#define REQUEST(messages)                                                                          \
    "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[" messages                                    \
    ",{\"role\":\"user\",\"content\":\"And the sky?\"}]}"

/* Converts there, replaces `was` by `is`, and converts back. */
static struct pl_converted edited(const char *source, const char *was, const char *is)
{
    struct pl_converted there = pl_test_convert_kept("anthropic", "openai-chat", PL_KIND_REQUEST,
                                                     PL_MODE_CONVERT, source),
                        back;
    struct pl_str text = pl_buf_str(&there.out);
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf target;
    pl_buf_init(&target, 0);
    pl_converted_init(&back);
    size_t at = pl_str_find(text, pl_str_of(was));
    if (at == SIZE_MAX)
        fail_msg("there is no %s in %.*s", was, PL_STR_ARG(text));
    pl_buf_add(&target, pl_str_slice(text, 0, at));
    pl_buf_adds(&target, is);
    pl_buf_add(&target, pl_str_slice(text, at + strlen(was), text.len));
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("openai-chat")),
                                   .to = pl_format_find(PL_STR("anthropic")),
                                   .way_home = &pl_carry_way,
                                   .carry = pl_buf_str(&there.carry)};
    if (pl_convert(pl_buf_str(&target), &opts, &back, &err) != PL_OK)
        fail_msg("%s", err.message);
    pl_converted_deinit(&there);
    return back;
}

static bool has(const struct pl_buf *text, const char *word)
{
    return pl_str_find(pl_buf_str(text), pl_str_of(word)) != SIZE_MAX;
}

/* The changed line made it a document. Now it becomes text, and its setting has no place. */
static void a_document_that_becomes_text_is_reported(void **state)
{
    (void)state;
    struct pl_converted back = edited(REQUEST(ASKED), "[Document]", "[A document]");
    assert_true(has(&back.out, "[A document]"));
    assert_false(has(&back.out, "citations"));
    assert_true(has(&back.report, NOT_KEPT));
    pl_converted_deinit(&back);
}

static void an_edit_beside_it_keeps_it(void **state)
{
    (void)state;
    struct pl_converted back = edited(REQUEST(ASKED), "What color is", "Which color has");
    assert_true(has(&back.out, "\"citations\":{\"enabled\":true}"));
    assert_true(has(&back.report, "\"lossless\":true"));
    pl_converted_deinit(&back);
}

/* The line that says that it is a document is one text with its first words. */
static void words_after_the_line_of_a_document_are_its_first_words(void **state)
{
    (void)state;
    struct pl_converted back = edited(REQUEST(ASKED), "is green", "is greener");
    assert_true(has(&back.out, "{\"type\":\"text\",\"text\":\"The grass is greener\"}"));
    assert_true(has(&back.out, "\"citations\":{\"enabled\":true}"));
    assert_true(has(&back.report, "\"lossless\":true"));
    pl_converted_deinit(&back);
}

/* The title of a document can be edited where it is text. */
static void a_title_within_the_line_is_the_title(void **state)
{
    static const char titled[] =
        REQUEST("{\"role\":\"user\",\"content\":[{\"type\":\"search_result\",\"title\":\"Leave\","
                "\"source\":\"https://hr.example\",\"content\":[{\"type\":\"text\",\"text\":"
                "\"Submit a form.\"}],\"own\":1}]}");
    (void)state;
    struct pl_converted back =
        edited(titled, "[Search result: Leave,", "[Search result: Holidays,");
    assert_true(has(&back.out, "\"title\":\"Holidays\",\"source\":\"https://hr.example\""));
    assert_true(has(&back.out, "\"own\":1"));
    assert_true(has(&back.report, "\"lossless\":true"));
    pl_converted_deinit(&back);
}

/* Two messages have the same member of their own; one message was deleted on purpose. */
static void a_deleted_message_has_lost_nothing(void **state)
{
    (void)state;
    struct pl_converted back = edited(
        REQUEST("{\"role\":\"user\",\"content\":\"Go on.\"}," CACHED(
            "The first answer") ",{\"role\":\"user\",\"content\":\"More.\"}," CACHED("The second "
                                                                                     "answer")),
        "{\"role\":\"assistant\",\"content\":\"The first answer\"},", "");
    assert_false(has(&back.out, "The first answer"));
    assert_true(has(&back.out, "\"own\":{\"mark\":true}"));
    assert_true(has(&back.report, "\"lossless\":true"));
    pl_converted_deinit(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_that_becomes_text_is_reported),
        cmocka_unit_test(an_edit_beside_it_keeps_it),
        cmocka_unit_test(words_after_the_line_of_a_document_are_its_first_words),
        cmocka_unit_test(a_title_within_the_line_is_the_title),
        cmocka_unit_test(a_deleted_message_has_lost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

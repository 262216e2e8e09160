/* The request of a structured chat: its last messages, and its config as settings of a session. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "prompt/asks.h"

#define USER      "{\"role\":\"user\",\"content\":\"hi\"}"
#define ASSISTANT "{\"role\":\"assistant\",\"content\":\"{\"}"

static struct pl_arena arena;
static struct pl_json_doc doc;

static enum pl_status read(const char *chat, struct pl_prompt_asks *ret_asks, struct pl_error *err)
{
    pl_arena_reset(&arena);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(chat), NULL, &doc, NULL), PL_OK);
    return pl_prompt_asks_read(&arena, &doc, ret_asks, err);
}

static void assert_str(struct pl_str got, const char *wanted)
{
    assert_true(pl_str_eq(got, pl_str_of(wanted)));
}

static void the_config_is_said_in_the_words_of_a_session(void **state)
{
    (void)state;
    struct pl_prompt_asks asks;
    assert_int_equal(
        read("{\"messages\":[" USER
             "],\"config\":{\"model\":\"m\",\"temperature\":0.5,\"top_p\":null,"
             "\"max_completion_tokens\":7,\"reasoning_effort\":\"low\",\"user\":\"u\",\"tools\":["
             "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"
             "\"object\"}}},{\"name\":\"g\",\"description\":\"d\",\"input_schema\":{}}]}}",
             &asks, NULL),
        PL_OK);
    assert_str(asks.model, "m");
    assert_str(asks.settings, "{\"temperature\":0.5,\"max_tokens\":7,\"effort\":\"low\"}");
    assert_str(asks.tools, "[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}},"
                           "{\"name\":\"g\",\"description\":\"d\",\"input_schema\":{}}]");
    assert_null(asks.begun);
}

static void the_first_of_two_names_counts(void **state)
{
    (void)state;
    struct pl_prompt_asks asks;
    assert_int_equal(read("{\"messages\":[" USER "],\"config\":{\"max_completion_tokens\":7,"
                          "\"max_tokens\":9}}",
                          &asks, NULL),
                     PL_OK);
    assert_str(asks.settings, "{\"max_tokens\":9}");
}

static void an_assistant_at_the_end_is_the_beginning_of_the_answer(void **state)
{
    (void)state;
    struct pl_prompt_asks asks;
    assert_int_equal(read("{\"messages\":[" USER "," ASSISTANT "]}", &asks, NULL), PL_OK);
    assert_str(asks.prefill, "{");
    assert_non_null(asks.begun);
    assert_true(asks.last < asks.begun);
    assert_true(!asks.settings.len && !asks.tools.len && !asks.model.len);
}

static void what_nobody_could_answer_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{}", "no messages"},
        {"{\"messages\":[]}", "no message to send"},
        {"{\"messages\":[7]}", "no message to send"},
        {"{\"messages\":[" ASSISTANT "]}", "must come before it"},
        {"{\"messages\":[" USER ",{\"role\":\"tool\",\"content\":\"x\"}]}", "must be the user's"},
        {"{\"messages\":[" USER "],\"config\":{\"tools\":[{\"type\":\"web_search\"}]}}",
         "has no name"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pl_prompt_asks asks;
        struct pl_error err = {0};
        assert_int_equal(read(wrong[i][0], &asks, &err), PL_INVALID);
        assert_non_null(strstr(err.message, wrong[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_config_is_said_in_the_words_of_a_session),
        cmocka_unit_test(the_first_of_two_names_counts),
        cmocka_unit_test(an_assistant_at_the_end_is_the_beginning_of_the_answer),
        cmocka_unit_test(what_nobody_could_answer_is_refused),
    };
    pl_arena_init(&arena, 0);
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return result;
}

/* After an edit every message still has its own name, model and id: what only the source can
 * express stays with who said it, or the report says that it was not kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/carry.h"
#include "unit/carry/around.h"

#define NOT_KEPT "can express was not kept"

/* Converts there, and comes back from `edited`, the whole target after the edit. */
static struct pl_converted come_home(const char *from, const char *to, const char *source,
                                     const char *edited)
{
    struct pl_converted there = pl_test_convert_kept(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT,
                                                     source),
                        back;
    struct pl_error err = {0};
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(to)),
                                   .to = pl_format_find(pl_str_of(from)),
                                   .way_home = &pl_carry_way,
                                   .carry = pl_buf_str(&there.carry)};
    pl_converted_init(&back);
    if (pl_convert(pl_str_of(edited), &opts, &back, &err) != PL_OK)
        fail_msg("%s", err.message);
    pl_converted_deinit(&there);
    return back;
}

static bool has(const struct pl_buf *text, const char *word)
{
    return pl_str_find(pl_buf_str(text), pl_str_of(word)) != SIZE_MAX;
}

static void expect(const struct pl_buf *text, const char *word)
{
    if (!has(text, word))
        fail_msg("no %s in %.*s", word, PL_STR_ARG(pl_buf_str(text)));
}

static void expect_not(const struct pl_buf *text, const char *word)
{
    if (has(text, word))
        fail_msg("%s in %.*s", word, PL_STR_ARG(pl_buf_str(text)));
}

/* --- names ------------------------------------------------------------------------------------ */

#define SEGMENT(id, role, text)                                                                    \
    "{\"id\":\"" id "\",\"role\":\"" role                                                          \
    "\",\"segments\":[{\"kind\":\"text\",\"content\":\"" text "\"}],\"timestamp\":0}"
#define ENVELOPE(messages) "{\"version\":\"1.0\",\"model\":\"m\",\"messages\":[" messages "]}"

static const char asked[] =
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"name\":\"ann\",\"content\":\"How?\"},"
    "{\"role\":\"assistant\",\"content\":\"No.\"},"
    "{\"role\":\"user\",\"name\":\"bob\",\"content\":\"Why?\"}]}";

/* All elements have much in common: ids, roles, kinds. */
static void messages_that_moved_keep_their_names(void **state)
{
    (void)state;
    struct pl_converted back =
        come_home("openai-chat", "envelope", asked,
                  ENVELOPE(SEGMENT("msg_3", "user", "Why?") "," SEGMENT(
                      "msg_2", "assistant", "No.") "," SEGMENT("msg_1", "user", "How?")));
    expect(&back.out, "\"name\":\"bob\",\"content\":\"Why?\"");
    expect(&back.out, "\"name\":\"ann\",\"content\":\"How?\"");
    pl_converted_deinit(&back);
}

/* The target numbers its messages, and so does the person: the numbers identify nothing. */
static void new_numbers_move_no_names(void **state)
{
    (void)state;
    struct pl_converted back = come_home(
        "openai-chat", "envelope", asked,
        ENVELOPE(SEGMENT("msg_1", "assistant", "No.") "," SEGMENT("msg_2", "user", "Why?")));
    expect(&back.out, "\"name\":\"bob\",\"content\":\"Why?\"");
    expect_not(&back.out, "ann");
    expect(&back.report, "\"lossless\":true");
    pl_converted_deinit(&back);
}

static void a_message_in_the_middle_arrives(void **state)
{
    (void)state;
    struct pl_converted back = come_home(
        "openai-chat", "envelope", asked,
        ENVELOPE(SEGMENT("msg_1", "user", "How?") "," SEGMENT("new", "user", "So?") "," SEGMENT(
            "msg_2", "assistant", "No.") "," SEGMENT("msg_3", "user", "Why?")));
    expect(&back.out, "\"content\":\"So?\"");
    expect(&back.out, "\"name\":\"ann\",\"content\":\"How?\"");
    expect(&back.out, "\"name\":\"bob\",\"content\":\"Why?\"");
    pl_converted_deinit(&back);
}

/* Both texts were only in the target. It is unknown which message the rest was. */
static void a_text_that_may_be_anybodys_is_nobodys(void **state)
{
    (void)state;
    struct pl_converted back = come_home(
        "openai-chat", "anthropic",
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"name\":\"ann\","
        "\"content\":\"Hello there, how are "
        "you?\"},{\"role\":\"user\",\"name\":\"bob\",\"content\":"
        "\"How is the weather in Rome?\"}]}",
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"Is it "
        "warm "
        "today?\"}]}");
    expect(&back.out, "Is it warm today?");
    expect_not(&back.out, "ann");
    expect_not(&back.out, "bob");
    expect(&back.report, NOT_KEPT);
    pl_converted_deinit(&back);
}

/* The target has a text and a call, which read back are one message. */
static void nobody_says_what_another_agent_said(void **state)
{
    (void)state;
    struct pl_converted back = come_home(
        "openai-chat", "openai-responses",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Go.\"},{\"role\":"
        "\"assistant\",\"name\":\"planner\",\"content\":\"I plan the trip.\"},{\"role\":"
        "\"assistant\",\"name\":\"writer\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\","
        "\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
        "\"tool_call_id\":\"c1\",\"content\":\"ok\"}]}",
        "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"Go.\"},{\"type\":"
        "\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":"
        "\"function_call_output\",\"call_id\":\"c1\",\"output\":\"ok\"}]}");
    expect(&back.out, "tool_calls");
    expect_not(&back.out, "planner");
    assert_true(has(&back.out, "writer") || has(&back.report, NOT_KEPT));
    pl_converted_deinit(&back);
}

/* --- ids that the writer makes up --------------------------------------------------------------- */

#define TURN(id, number, role, text, more)                                                         \
    "{\"id\":\"" id "\",\"sequence\":" number ",\"turn_id\":\"t_" id "\",\"loop_id\":\"root\","    \
    "\"kind\":\"message\",\"role\":\"" role "\",\"status\":\"completed\",\"blocks\":[{\"type\":"   \
    "\"text\",\"content\":\"" text "\"}],\"tool_calls\":[]" more "}"
#define SAID(role, text)                                                                           \
    "{\"role\":\"" role "\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}"
#define REQUEST(messages) "{\"max_tokens\":4096,\"messages\":[" messages "]}"

static const char turns[] = "[" TURN("entry_0", "0", "user", "One", "") "," TURN(
    "entry_1", "1", "user", "Two", "") "," TURN("entry_2", "2", "assistant", "Three",
                                                ",\"model\":\"gpt\"") "]";

static void the_messages_after_a_removed_one_stay_themselves(void **state)
{
    (void)state;
    struct pl_converted back = come_home(
        "turns", "anthropic", turns, REQUEST(SAID("user", "Two") "," SAID("assistant", "Three")));
    assert_true(pl_str_eq(pl_buf_str(&back.out),
                          PL_STR("[" TURN("entry_1", "1", "user", "Two", "") "," TURN(
                              "entry_2", "2", "assistant", "Three", ",\"model\":\"gpt\"") "]")));
    expect(&back.report, "\"lossless\":true");
    pl_converted_deinit(&back);
}

static void a_new_message_gets_an_id_of_its_own(void **state)
{
    (void)state;
    struct pl_converted back =
        come_home("turns", "anthropic", turns,
                  REQUEST(SAID("user", "One") "," SAID("user", "new") "," SAID(
                      "user", "Two") "," SAID("assistant", "Three")));
    expect(&back.out, TURN("entry_0", "0", "user", "One", ""));
    expect(&back.out, "\"id\":\"entry_1_2\",\"sequence\":1,\"turn_id\":\"turn_1\"");
    expect(&back.out, TURN("entry_1", "2", "user", "Two", ""));
    expect(&back.out, TURN("entry_2", "3", "assistant", "Three", ",\"model\":\"gpt\""));
    expect(&back.report, "\"lossless\":true");
    pl_converted_deinit(&back);
}

/* --- text --------------------------------------------------------------------------------------- */

/* White space before a message without a header is not content. */
static void what_the_text_cannot_say_is_reported(void **state)
{
    (void)state;
    struct pl_converted back = come_home(
        "gpt-oss", "openai-chat",
        "<|start|>user<|message|>Hello<|end|><|start|>assistant<|channel|>analysis<|message|>Hm."
        "<|end|>I am sorry.",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"},{\"role\":\"assistant\","
        "\"reasoning_content\":\"Hm.\",\"content\":\" I am sorry.\"}]}");
    expect(&back.report, "\"pointer\":\"/messages/1/content\"");
    pl_converted_deinit(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_that_moved_keep_their_names),
        cmocka_unit_test(new_numbers_move_no_names),
        cmocka_unit_test(a_message_in_the_middle_arrives),
        cmocka_unit_test(a_text_that_may_be_anybodys_is_nobodys),
        cmocka_unit_test(nobody_says_what_another_agent_said),
        cmocka_unit_test(the_messages_after_a_removed_one_stay_themselves),
        cmocka_unit_test(a_new_message_gets_an_id_of_its_own),
        cmocka_unit_test(what_the_text_cannot_say_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

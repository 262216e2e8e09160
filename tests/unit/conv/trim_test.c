#include "conv/trim/trim.h"

#include "unit/conv/talk.h"

/* Ten words, one token each. */
#define WORDS_10 " word word word word word word word word word word"
#define WORDS_50 WORDS_10 WORDS_10 WORDS_10 WORDS_10 WORDS_10

static struct pl_tokens *vocabulary;
static struct pl_count_rule rule;

static int make_vocabulary(void **state)
{
    (void)state;
    if (pl_tokens_create(PL_ENCODING_O200K_BASE, &vocabulary) != PL_OK)
        return -1;
    rule = (struct pl_count_rule){vocabulary, {PL_ENCODING_O200K_BASE, 100, false}};
    return 0;
}

static int drop_vocabulary(void **state)
{
    (void)state;
    pl_tokens_destroy(vocabulary);
    return 0;
}

static uint64_t count(struct talk *t)
{
    struct pl_tally tally = {0};
    assert_int_equal(pl_count_conv(&rule, &t->conv, &tally), PL_OK);
    return pl_tally_total(&rule, &tally);
}

/* Trims `t` and checks that the reported counts are correct. */
static void trim(struct talk *t, uint64_t max_tokens, const char *summary)
{
    struct pl_trim_opts opts = {&rule, max_tokens, pl_str_of(summary)};
    struct pl_trimmed trimmed = {0};
    struct pl_error err = {0};
    uint64_t n_before = count(t);
    if (pl_conv_trim(&t->conv, &opts, &trimmed, &err) != PL_OK)
        fail_msg("%s", err.message);
    assert_int_equal(trimmed.n_before, n_before);
    assert_int_equal(trimmed.n_after, count(t));
    assert_true(trimmed.n_after <= max_tokens);
}

static void check(const char *text, uint64_t max_tokens, const char *expected)
{
    struct talk t;
    talk_read(&t, text);
    trim(&t, max_tokens, "S");
    assert_string_equal(talk_tell(&t), expected);
    talk_deinit(&t);
}

static void what_fits_is_not_touched(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t, "[{\"system\":[\"s\"]},{\"user\":[\"q\",{\"image\":\"i\"}]}]");
    trim(&t, 1000, "");
    assert_string_equal(talk_tell(&t), "system \"s\"\nuser \"q\" image\n");
    assert_int_equal(t.conv.losses.len, 0);
    assert_false(t.conv.is_repaired);
    talk_deinit(&t);
}

static void the_oldest_images_go_first_and_no_more_than_needed(void **state)
{
    (void)state;
    const char *text = "[{\"user\":[\"a\",{\"image\":\"1\"}]},{\"assistant\":[\"b\"]},"
                       "{\"user\":[\"c\",{\"image\":\"2\"}]},{\"assistant\":[\"d\"]},"
                       "{\"user\":[\"e\",{\"image\":\"3\"}]}]";
    check(text, 1700,
          "*user \"a\" \"[image left out]\"\nassistant \"b\"\n"
          "user \"c\" image\nassistant \"d\"\nuser \"e\" image\n");
    check(text, 900,
          "*user \"a\" \"[image left out]\"\nassistant \"b\"\n"
          "*user \"c\" \"[image left out]\"\nassistant \"d\"\nuser \"e\" image\n");
}

static void audio_goes_after_images(void **state)
{
    (void)state;
    const char *text = "[{\"user\":[{\"audio\":\"1\"}]},{\"assistant\":[\"b\"]},"
                       "{\"user\":[{\"image\":\"2\"}]},{\"assistant\":[\"d\"]},{\"user\":[\"e\"]}]";
    check(text, 400,
          "user audio\nassistant \"b\"\n*user \"[image left out]\"\n"
          "assistant \"d\"\nuser \"e\"\n");
    check(text, 100,
          "*user \"[audio left out]\"\nassistant \"b\"\n*user \"[image left out]\"\n"
          "assistant \"d\"\nuser \"e\"\n");
}

static void a_result_becomes_a_stub_that_names_the_tool_and_its_size(void **state)
{
    (void)state;
    check("[{\"user\":[\"q\"]},{\"assistant\":[{\"call\":\"c1\",\"name\":\"read\"}]},"
          "{\"tool\":[{\"result\":\"c1\",\"content\":[\"" WORDS_50 "\",{\"image\":\"i\"}]}]},"
          "{\"assistant\":[\"fine\"]},{\"user\":[\"next\"]}]",
          60,
          "user \"q\"\nassistant call(c1)\n"
          "*tool result(c1 \"[result of read left out: 55 tokens]\")\n"
          "assistant \"fine\"\nuser \"next\"\n");
}

static void a_small_result_is_not_replaced_by_something_larger(void **state)
{
    (void)state;
    check("[{\"user\":[\"" WORDS_50 "\"]},{\"assistant\":[{\"call\":\"c1\",\"name\":\"read\"}]},"
          "{\"tool\":[{\"result\":\"c1\",\"content\":[\"ok\"]}]},{\"user\":[\"next\"]}]",
          45, "*user \"[history_summary: S]\"\nuser \"next\"\n");
}

static void the_oldest_exchanges_become_one_summary(void **state)
{
    (void)state;
    const char *text = "[{\"system\":[\"rules\"]},{\"user\":[\"" WORDS_50 "\"]},"
                       "{\"assistant\":[\"a\"]},{\"user\":[\"two\"]},{\"assistant\":[\"b\"]},"
                       "{\"user\":[\"last\"]}]";
    check(text, 45,
          "system \"rules\"\n*user \"[history_summary: S]\"\nuser \"two\"\nassistant \"b\"\nuser "
          "\"last\"\n");
    check(text, 23, "system \"rules\"\n*user \"[history_summary: S]\"\nuser \"last\"\n");
}

static void a_mechanical_summary_counts_what_is_gone(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t,
              "[{\"user\":[\"" WORDS_50 "\"]},{\"assistant\":[{\"call\":\"c1\"}]},"
              "{\"tool\":[{\"result\":\"c1\"}]},{\"assistant\":[\"b\"]},{\"user\":[\"last\"]}]");
    trim(&t, 50, "");
    assert_string_equal(talk_tell(&t),
                        "*user \"[history_summary: earlier messages were left out to make room: 1 "
                        "of the user, 2 of the assistant, 1 with tool results]\"\nuser \"last\"\n");
    assert_string_equal(talk_losses(&t), "dropped /0\ndropped /1\ndropped /2\ndropped /3\n"
                                         "synthesised \n");
    talk_deinit(&t);
    talk_read(&t, "[{\"user\":[\"" WORDS_50 "\"]},{\"assistant\":[\"b\"]},{\"user\":[\"last\"]}]");
    trim(&t, 20, "");
    assert_string_equal(talk_tell(&t), "*user \"[history_summary: earlier messages left out]\"\n"
                                       "user \"last\"\n");
    talk_deinit(&t);
}

static void what_an_earlier_summary_says_goes_on(void **state)
{
    (void)state;
    const char *text = "[{\"user\":[\"[history_summary: We chose blue.]\"]},{\"user\":[\"" WORDS_50
                       "\"]},{\"assistant\":[\"a\"]},{\"user\":[\"last\"]}]";
    struct talk t;
    talk_read(&t, text);
    trim(&t, 60, "");
    assert_string_equal(
        talk_tell(&t),
        "*user \"[history_summary: We chose blue.\nearlier messages were left out to "
        "make room: 1 of the user, 1 of the assistant, 0 with tool results]\"\n"
        "user \"last\"\n");
    assert_string_equal(talk_losses(&t), "merged /0\ndropped /1\ndropped /2\nsynthesised \n");
    talk_deinit(&t);
    check(text, 40, "*user \"[history_summary: We chose blue.\nS]\"\nuser \"last\"\n");
    talk_read(&t, text);
    trim(&t, 25, "");
    assert_string_equal(talk_tell(&t),
                        "*user \"[history_summary: We chose blue.]\"\nuser \"last\"\n");
    talk_deinit(&t);
}

static void counts_of_what_is_gone_are_added_up(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t,
              "[{\"user\":[\"[history_summary: earlier messages were left out to make room: 3 of "
              "the user, 2 of the assistant, 1 with tool results]\"]},{\"user\":[\"" WORDS_50
              "\"]},{\"assistant\":[\"a\"]},{\"user\":[\"last\"]}]");
    trim(&t, 60, "");
    assert_string_equal(
        talk_tell(&t),
        "*user \"[history_summary: earlier messages were left out to make room: 4 of "
        "the user, 3 of the assistant, 1 with tool results]\"\nuser \"last\"\n");
    talk_deinit(&t);
}

static void system_messages_stay_wherever_they_stand(void **state)
{
    (void)state;
    check("[{\"user\":[\"" WORDS_50 "\"]},{\"system\":[\"new rule\"]},{\"assistant\":[\"a\"]},"
          "{\"user\":[\"last\"]}]",
          30, "*user \"[history_summary: S]\"\nsystem \"new rule\"\nuser \"last\"\n");
}

static void a_late_result_goes_with_its_call(void **state)
{
    (void)state;
    check("[{\"user\":[\"" WORDS_50 "\"]},{\"assistant\":[{\"call\":\"c1\",\"name\":\"f\"}]},"
          "{\"user\":[\"hurry\"]},{\"tool\":[{\"result\":\"c1\",\"content\":[\"r\"]}]},"
          "{\"assistant\":[\"b\"]},{\"user\":[\"last\"]}]",
          55, "*user \"[history_summary: S]\"\nuser \"last\"\n");
}

static void steps_of_an_agent_go_but_the_question_and_the_last_step_stay(void **state)
{
    (void)state;
    check("[{\"user\":[\"question\"]},"
          "{\"assistant\":[\"" WORDS_50 "\",{\"call\":\"c1\",\"name\":\"f\"}]},"
          "{\"tool\":[{\"result\":\"c1\",\"content\":[\"r1\"]}]},"
          "{\"assistant\":[{\"call\":\"c2\",\"name\":\"f\"}]},"
          "{\"tool\":[{\"result\":\"c2\",\"content\":[\"r2\"]}]},"
          "{\"assistant\":[{\"call\":\"c3\",\"name\":\"f\"}]},"
          "{\"tool\":[{\"result\":\"c3\",\"content\":[\"r3\"]}]}]",
          55,
          "*user \"[history_summary: S]\"\nuser \"question\"\nassistant call(c2)\ntool result(c2 "
          "\"r2\")\n"
          "assistant call(c3)\ntool result(c3 \"r3\")\n");
}

static void the_summary_never_stands_between_a_call_and_its_result(void **state)
{
    (void)state;
    check(
        "[{\"user\":[\"question\"]},{\"assistant\":[{\"call\":\"c1\",\"name\":\"f\"}]},"
        "{\"user\":[{\"result\":\"c1\",\"content\":[\"r1\"]},\"and now?\"]},"
        "{\"assistant\":[\"" WORDS_50 "\",{\"call\":\"c2\",\"name\":\"f\"}]},"
        "{\"user\":[{\"result\":\"c2\",\"content\":[\"r2\"]}]},"
        "{\"assistant\":[{\"call\":\"c3\",\"name\":\"f\"}]},"
        "{\"user\":[{\"result\":\"c3\",\"content\":[\"r3\"]}]}]",
        55,
        "*user \"[history_summary: S]\"\nassistant call(c1)\nuser result(c1 \"r1\") \"and now?\"\n"
        "assistant call(c3)\nuser result(c3 \"r3\")\n");
}

static void a_result_that_is_not_read_yet_is_cut_only_when_nothing_else_helps(void **state)
{
    (void)state;
    const char *text = "[{\"user\":[\"" WORDS_10 "\"]},{\"assistant\":[\"a\"]},{\"user\":[\"q\"]},"
                       "{\"assistant\":[{\"call\":\"c1\",\"name\":\"f\"}]},"
                       "{\"tool\":[{\"result\":\"c1\",\"content\":[\"" WORDS_50 "\"]}]}]";
    check(text, 80,
          "*user \"[history_summary: S]\"\nuser \"q\"\nassistant call(c1)\n"
          "tool result(c1 \"" WORDS_50 "\")\n");
    check(text, 55,
          "*user \"[history_summary: S]\"\nuser \"q\"\nassistant call(c1)\n"
          "*tool result(c1 \"[result of f left out: 50 tokens]\")\n");
}

static void images_of_the_last_user_message_stay(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t, "[{\"user\":[\"a\"]},{\"assistant\":[\"b\"]},{\"user\":[{\"image\":\"1\"}]}]");
    struct pl_trim_opts opts = {&rule, 100, PL_STR("S")};
    struct pl_trimmed trimmed = {.n_after = 7};
    struct pl_error err = {0};
    assert_int_equal(pl_conv_trim(&t.conv, &opts, &trimmed, &err), PL_INVALID);
    assert_int_equal(trimmed.n_after, 7);
    assert_non_null(strstr(err.message, "the last user message 768"));
    assert_non_null(strstr(err.message, "; allow 7"));
    talk_deinit(&t);
}

static void a_message_that_loses_its_neighbour_in_an_element_is_changed(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t, "[{\"user\":[\"question\"]},"
                  "{\"assistant\":[\"" WORDS_50 "\",{\"call\":\"c1\",\"name\":\"f\"}]},"
                  "{\"tool\":[{\"result\":\"c1\",\"content\":[\"r1\"]}]},"
                  "{\"assistant\":[\"end\"]}]");
    /* As in a format that keeps a turn and its results in one element. */
    t.conv.messages.ptr[2].element = t.conv.messages.ptr[3].element = 1;
    trim(&t, 35, "S");
    assert_string_equal(talk_tell(&t),
                        "*user \"[history_summary: S]\"\nuser \"question\"\n*assistant \"end\"\n");
    talk_deinit(&t);
}

static void results_in_the_element_of_the_last_user_message_stay_with_it(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t, "[{\"user\":[\"" WORDS_50 "\"]},"
                  "{\"assistant\":[{\"call\":\"c1\",\"name\":\"f\"}]},"
                  "{\"tool\":[{\"result\":\"c1\",\"content\":[\"r1\"]}]},{\"user\":[\"last\"]}]");
    t.conv.messages.ptr[3].element = 2;
    trim(&t, 45, "S");
    assert_string_equal(talk_tell(&t), "*user \"[history_summary: S]\"\nassistant call(c1)\ntool "
                                       "result(c1 \"r1\")\nuser \"last\"\n");
    talk_deinit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_not_touched),
        cmocka_unit_test(the_oldest_images_go_first_and_no_more_than_needed),
        cmocka_unit_test(audio_goes_after_images),
        cmocka_unit_test(a_result_becomes_a_stub_that_names_the_tool_and_its_size),
        cmocka_unit_test(a_small_result_is_not_replaced_by_something_larger),
        cmocka_unit_test(the_oldest_exchanges_become_one_summary),
        cmocka_unit_test(a_mechanical_summary_counts_what_is_gone),
        cmocka_unit_test(what_an_earlier_summary_says_goes_on),
        cmocka_unit_test(counts_of_what_is_gone_are_added_up),
        cmocka_unit_test(system_messages_stay_wherever_they_stand),
        cmocka_unit_test(a_late_result_goes_with_its_call),
        cmocka_unit_test(steps_of_an_agent_go_but_the_question_and_the_last_step_stay),
        cmocka_unit_test(the_summary_never_stands_between_a_call_and_its_result),
        cmocka_unit_test(a_result_that_is_not_read_yet_is_cut_only_when_nothing_else_helps),
        cmocka_unit_test(images_of_the_last_user_message_stay),
        cmocka_unit_test(a_message_that_loses_its_neighbour_in_an_element_is_changed),
        cmocka_unit_test(results_in_the_element_of_the_last_user_message_stay_with_it),
    };
    return cmocka_run_group_tests_name("conv/trim", tests, make_vocabulary, drop_vocabulary);
}

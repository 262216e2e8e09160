#include "unit/model/heard.h"

/* Turns with one user's message, as JSON. */
#define SAID(text) "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"" text "\"}]}]"
#define ANSWERED(text, n)                                                                          \
    "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"" text "\"}]}" n "]"
#define AN_ANSWER ",{\"role\":\"assistant\",\"blocks\":[]}"

static struct pl_model_request ask(const char *model, const char *turns)
{
    return (struct pl_model_request){.model = pl_str_of(model), .turns = pl_str_of(turns)};
}

static void plays(const char *model, const char *turns, const char *lines)
{
    struct heard heard;
    struct pl_model_request request = ask(model, turns);
    heard_init(&heard);
    heard_play(&heard, &request);
    heard_is(&heard, lines);
    heard_deinit(&heard);
}

static void echo_says_the_last_words_again_word_by_word(void **state)
{
    (void)state;
    plays(
        "demo/echo",
        "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"old\"}]},"
        "{\"role\":\"assistant\",\"blocks\":[{\"type\":\"text\",\"content\":\"x\"}]},"
        "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"h\\u00e9llo  w\\norld\"},"
        "{\"type\":\"tool_ui\",\"content\":{}},{\"type\":\"text\",\"content\":\"!\"}]}]",
        "say h\xC3\xA9llo  \nsay w\n\nsay orld!\nend  {\"input_tokens\":51,\"output_tokens\":3}\n");
    plays("echo", SAID(""), "end  {\"input_tokens\":11,\"output_tokens\":0}\n");
}

static void a_long_text_comes_in_order_over_many_turns_of_the_loop(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    struct pl_model_request request = ask("demo/echo", SAID("#!demo\\nrepeat 1000 ab "));
    heard_play(&heard, &request);
    assert_int_equal(heard.n_told, 1001);
    heard_deinit(&heard);
}

static void slow_keeps_its_pace(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    struct pl_model_request request = ask("demo/slow", SAID("one two three four five six"));
    int64_t began_ms = pl_clock_ms();
    heard_play(&heard, &request);
    assert_int_equal(heard.n_told, 7);
    assert_true(heard.first_ms - began_ms >= 20);
    assert_true(heard.last_ms - began_ms >= 120);
    heard_deinit(&heard);
}

static void a_script_is_played_part_by_part(void **state)
{
    (void)state;
#define SCRIPT                                                                                     \
    "#!demo\\nthink hm ok\\nsay well\\ncall echo {\\\"a\\\":1}\\nblock plan_status {}\\nusage 7 8" \
    "\\n---\\nwait 5\\nrepeat 2 x\\n---\\nsay half\\nfail so sad\\nsay never\\n---\\noverflow"
    plays("demo/agent", SAID(SCRIPT),
          "think hm \nthink ok\nsay well\ncall echo {\"a\":1}\nblock plan_status {}   \n"
          "end  {\"input_tokens\":7,\"output_tokens\":8}\n");
    plays("demo/echo", ANSWERED(SCRIPT, AN_ANSWER AN_ANSWER), "say half\nfailed so sad\n");
    plays("demo/echo", ANSWERED(SCRIPT, AN_ANSWER AN_ANSWER AN_ANSWER),
          "overflow The context is too long.\n");
    struct heard heard;
    heard_init(&heard);
    struct pl_model_request request = ask("demo/echo", ANSWERED(SCRIPT, AN_ANSWER));
    int64_t began_ms = pl_clock_ms();
    heard_play(&heard, &request);
    assert_true(heard.first_ms - began_ms >= 5);
    assert_int_equal(heard.n_told, 3);
    heard_deinit(&heard);
#undef SCRIPT
}

static void told_says_what_the_system_said(void **state)
{
    (void)state;
    plays("demo/echo",
          "[{\"role\":\"system\",\"blocks\":[{\"type\":\"text\",\"content\":\"Be kind.\"}]},"
          "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"#!demo\\ntold\"}]}]",
          "say Be \nsay kind.\nend  {\"input_tokens\":27,\"output_tokens\":2}\n");
}

static void the_agent_has_a_script_of_its_own(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    struct pl_model_request request = ask("demo/agent", SAID("hi"));
    heard_play(&heard, &request);
    pl_buf_addc(&heard.lines, '\0');
    assert_non_null(strstr(heard.lines.ptr, "\ncall clock {}\nend "));
    heard_deinit(&heard);
}

static void what_cannot_be_played_is_refused_at_the_start(void **state)
{
    (void)state;
    static const struct {
        const char *model, *turns;
        enum pl_status status;
    } cases[] = {
        {"demo/none", "[]", PL_NOT_FOUND},
        {"", "[]", PL_NOT_FOUND},
        {"demo/echo", "[", PL_SYNTAX},
        {"demo/echo", SAID("#!demo\\nsing"), PL_SYNTAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heard heard;
        struct pl_error err = {0};
        struct pl_model_request request = ask(cases[i].model, cases[i].turns);
        heard_init(&heard);
        assert_int_equal(heard_start(&heard, &request, &err), cases[i].status);
        assert_null(heard.call);
        assert_true(err.message[0]);
        heard_deinit(&heard);
    }
}

static void nothing_comes_after_a_cancel_inside_a_callback(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        SAID("#!demo\\nsay a b c d"),
        SAID("#!demo\\nrepeat 900 x"),
        SAID("#!demo\\ncall a {}\\ncall b {}\\nsay c"),
        SAID("#!demo\\nblock text 1\\nblock text 2\\nfail x"),
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (size_t at = 1; at <= 2; at++) {
            struct heard heard;
            heard_init(&heard);
            heard.cancel_at = at;
            struct pl_model_request request = ask("demo/echo", scripts[i]);
            heard_play(&heard, &request);
            heard.call = NULL;
            turn_for(heard.loop, 10);
            assert_int_equal(heard.n_told, at);
            heard_deinit(&heard);
        }
}

static void nothing_comes_after_a_cancel_while_a_slice_is_on_its_way(void **state)
{
    (void)state;
    static const struct {
        const char *model, *turns;
        int64_t before_ms;
    } cases[] = {
        {"demo/echo", SAID("a b c"), -1},               /* the first letter was just posted */
        {"demo/slow", SAID("a b c d e f g h i j"), -1}, /* the first timer runs */
        {"demo/slow", SAID("a b c d e f g h i j"), 50}, /* in the middle */
        {"demo/echo", SAID("#!demo\\nsay a\\nwait 10000\\nsay b"), 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heard heard;
        struct pl_model_request request = ask(cases[i].model, cases[i].turns);
        heard_init(&heard);
        assert_int_equal(heard_start(&heard, &request, NULL), PL_OK);
        if (cases[i].before_ms >= 0)
            turn_for(heard.loop, cases[i].before_ms);
        size_t n_told = heard.n_told;
        pl_model_cancel(heard.call);
        heard.call = NULL;
        turn_for(heard.loop, 60);
        assert_int_equal(heard.n_told, n_told);
        assert_false(heard.is_over);
        heard_deinit(&heard);
    }
}

static void models_are_found_by_their_whole_and_their_bare_name(void **state)
{
    (void)state;
    const struct pl_model_info *echo = pl_model_find(NULL, PL_STR("demo/echo"));
    assert_non_null(echo);
    assert_ptr_equal(pl_model_find(NULL, PL_STR("echo")), echo);
    assert_true(pl_str_eq(pl_model_name(echo, PL_STR("echo")), PL_STR("demo/echo")));
    assert_null(pl_model_find(NULL, PL_STR("demo/")));
    assert_null(pl_model_find(NULL, PL_STR("nobody")));
    size_t n = 0;
    for (const struct pl_model_info *info; (info = pl_model_at(NULL, n)); n++)
        assert_ptr_equal(pl_model_find(NULL, pl_str_of(info->name)), info);
    assert_int_equal(n, 3);
}

static void a_script_says_what_the_results_before_it_were(void **state)
{
    (void)state;
    plays("demo/agent",
          "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"#!demo\\ncall x "
          "{}\\n---\\nresults\"}]},{\"role\":\"assistant\",\"blocks\":[{\"type\":"
          "\"tool_result\",\"content\":{\"a\":1}},{\"type\":\"text\",\"content\":\"x\"},{"
          "\"type\":\"tool_result\",\"content\":\"two\"}]}]",
          "say {\"a\":1}two\nend  {\"input_tokens\":46,\"output_tokens\":1}\n");
}

static void answers_that_were_summed_up_still_count(void **state)
{
    (void)state;
    plays("demo/agent",
          "[{\"role\":\"system\",\"kind\":\"compaction\",\"sequence\":5,\"blocks\":[]},{\"role\":"
          "\"user\",\"sequence\":2,\"blocks\":[{\"type\":\"text\",\"content\":\"#!demo\\nsay "
          "a\\n---\\nsay b\\n---\\nsay c\"}]}]",
          "say c\nend  {\"input_tokens\":34,\"output_tokens\":1}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_says_what_the_results_before_it_were),
        cmocka_unit_test(answers_that_were_summed_up_still_count),
        cmocka_unit_test(echo_says_the_last_words_again_word_by_word),
        cmocka_unit_test(a_long_text_comes_in_order_over_many_turns_of_the_loop),
        cmocka_unit_test(slow_keeps_its_pace),
        cmocka_unit_test(a_script_is_played_part_by_part),
        cmocka_unit_test(told_says_what_the_system_said),
        cmocka_unit_test(the_agent_has_a_script_of_its_own),
        cmocka_unit_test(what_cannot_be_played_is_refused_at_the_start),
        cmocka_unit_test(nothing_comes_after_a_cancel_inside_a_callback),
        cmocka_unit_test(nothing_comes_after_a_cancel_while_a_slice_is_on_its_way),
        cmocka_unit_test(models_are_found_by_their_whole_and_their_bare_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

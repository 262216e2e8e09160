#include "unit/model/heard.h"

#include <stdlib.h>

#define MODEL "replay/sess_01900000-0000-7000-8000-000000000000"

/* A turn with these blocks. */
#define TURN(blocks)      "{\"role\":\"assistant\",\"duration_ms\":0,\"blocks\":[" blocks "]}"
#define TIMED(ms, blocks) "{\"duration_ms\":" #ms ",\"blocks\":[" blocks "]}"
#define TEXT(text)        "{\"type\":\"text\",\"content\":\"" text "\"}"
#define THINKING(text)    "{\"type\":\"thinking\",\"content\":\"" text "\"}"

static void play(struct heard *heard, const char *turns, double speed)
{
    struct pl_model_request request = {
        .model = PL_STR(MODEL), .turns = pl_str_of(turns), .speed = speed};
    heard_init(heard);
    heard_play(heard, &request);
}

static void plays(const char *turns, const char *lines)
{
    struct heard heard;
    play(&heard, turns, 0);
    heard_is(&heard, lines);
    heard_deinit(&heard);
}

static void text_and_thinking_come_word_by_word(void **state)
{
    (void)state;
    plays("[" TURN(THINKING("h\\u00e9 ho") "," TEXT("a  b\\nc")) "]",
          "think h\xC3\xA9 \nthink ho\nsay a  \nsay b\n\nsay c\nend  \n");
    plays("[]", "end  \n");
    plays("[" TURN("") "]", "end  \n");
}

static void other_blocks_come_whole_and_with_their_call(void **state)
{
    (void)state;
    plays("[" TURN("{\"type\":\"tool_use\",\"content\":{\"id\":\"tc_1\"},\"tool_call_id\":\"tc_1\","
                   "\"tool_name\":\"echo\",\"display_name\":\"Echo\"},"
                   "{\"type\":\"tool_result\",\"content\":[1, \"x\"],\"tool_call_id\":\"tc_1\","
                   "\"tool_name\":\"echo\",\"display_name\":null},"
                   "{\"type\":\"tool_ui\",\"content\":{\"height\":1}},"
                   "{\"type\":\"planning_exit\",\"content\":null},"
                   "{\"type\":\"system_notification\",\"content\":\"a b\"}") "]",
          "block tool_use {\"id\":\"tc_1\"} tc_1 echo Echo\n"
          "block tool_result [1, \"x\"] tc_1 echo \n"
          "block tool_ui {\"height\":1}   \n"
          "block planning_exit    \n"
          "block system_notification \"a b\"   \n"
          "end  \n");
}

static void what_acted_on_a_page_is_left_out(void **state)
{
    (void)state;
    plays("[" TURN(TEXT("a") ",{\"type\":\"tool_bridge\",\"content\":{\"action\":\"go\"}}," TEXT(
              "b")) "]",
          "say a\nblock text \"b\"   \nend  \n");
}

static void texts_that_stand_side_by_side_stay_apart(void **state)
{
    (void)state;
    plays("[" TURN(TEXT("a b") "," TEXT("c d") "," THINKING("e") "," TEXT("")) "," TURN(
              TEXT("f") "," THINKING("g h")) "]",
          "say a \nsay b\nblock text \"c d\"   \nthink e\nblock text \"\"   \n"
          "block text \"f\"   \nthink g \nthink h\nend  \n");
}

static void the_end_tells_the_model_and_the_usage_of_then(void **state)
{
    (void)state;
    plays("[{\"model\":\"demo/agent\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4},"
          "\"blocks\":[]},{\"model\":null,\"usage\":null,\"blocks\":[]}]",
          "end demo/agent {\"input_tokens\":3,\"output_tokens\":4}\n");
    plays(
        "[{\"model\":\"a\",\"usage\":{\"input_tokens\":3,\"x\":1},\"blocks\":[]},"
        "{\"model\":\"b\",\"usage\":{\"input_tokens\":40,\"cost\":0.5,\"by\":{\"k\":1},\"n\":1.0},"
        "\"blocks\":[]}]",
        "end b {\"input_tokens\":43,\"cost\":0.5,\"by\":{\"k\":1},\"n\":1}\n");
    plays("[{\"usage\":{\"n\":9223372036854775807},\"blocks\":[]},"
          "{\"usage\":{\"n\":1},\"blocks\":[]}]",
          "end  {\"n\":9223372036854775807}\n");
}

static void an_answer_that_failed_fails_again(void **state)
{
    (void)state;
    plays("[{\"error\":\"so sad\",\"blocks\":[" TEXT("half") "]}]", "say half\nfailed so sad\n");
    plays("[{\"error\":\"so sad\",\"blocks\":[" TEXT("half") "]}," TURN(TEXT("better")) "]",
          "say half\nblock text \"better\"   \nend  \n");
}

static int64_t took_ms(const char *turns, double speed)
{
    struct heard heard;
    int64_t began_ms = pl_clock_ms();
    play(&heard, turns, speed);
    int64_t took = heard.last_ms - began_ms;
    heard_deinit(&heard);
    return took;
}

static void it_takes_the_time_it_took_divided_by_the_speed(void **state)
{
    (void)state;
    const char *turns = "[" TIMED(100, TEXT("a b c d e")) "," TIMED(100, "") "]";
    assert_true(took_ms(turns, 1) >= 200);
    assert_true(took_ms(turns, 2) >= 100);
    assert_true(took_ms(turns, 0.5) >= 400);
    /* Ten minutes if anything waited: the test would time out. */
#define LONG TIMED(10000, TEXT("a"))
#define TEN  LONG "," LONG "," LONG "," LONG "," LONG "," LONG "," LONG "," LONG "," LONG "," LONG
    took_ms("[" TEN "," TEN "," TEN "," TEN "," TEN "," TEN "]", 0);
}

static void no_turn_takes_longer_than_ten_seconds(void **state)
{
    (void)state;
    /* Ten hours at a hundred times the speed are six minutes: the test would time out. */
    assert_true(took_ms("[" TIMED(36000000, TEXT("a")) "]", 100) >= 100);
    took_ms("[" TIMED(-5, TEXT("a")) "," TIMED("x", TEXT("a")) "]", 1);
}

struct telling {
    const struct heard *heard;
    size_t n;
};

static bool has_told(void *ctx)
{
    const struct telling *telling = ctx;
    return telling->heard->n_told >= telling->n;
}

static void words_are_spread_over_the_time(void **state)
{
    (void)state;
    struct heard heard;
    struct pl_model_request request = {
        .model = PL_STR(MODEL),
        .turns = PL_STR("[" TIMED(200, TEXT("a b c d e f g h i j")) "]"),
        .speed = 1,
    };
    heard_init(&heard);
    int64_t began_ms = pl_clock_ms();
    assert_int_equal(heard_start(&heard, &request, NULL), PL_OK);
    for (size_t n = 1; n <= 10; n++) { /* none before its share of the time */
        turn_until(heard.loop, has_told, &(struct telling){&heard, n});
        assert_true(heard.n_told > n || heard.last_ms - began_ms >= 200 / 10 * ((int64_t)n - 1));
    }
    turn_until(heard.loop, is_true, &heard.is_over);
    assert_int_equal(heard.n_told, 11); /* and the end */
    pl_buf_addc(&heard.timing, '\0');
    const char *total = strstr(heard.timing.ptr, "\"total_ms\":");
    assert_non_null(total);
    assert_true(atoll(total + strlen("\"total_ms\":")) >= 200);
    heard_deinit(&heard);
}

static void nothing_comes_after_a_cancel(void **state)
{
    (void)state;
    for (size_t at = 1; at <= 5; at++) {
        struct heard heard;
        struct pl_model_request request = {
            .model = PL_STR(MODEL),
            .turns = PL_STR(
                "[" TURN(TEXT("a b") ",{\"type\":\"tool_ui\",\"content\":{}},"
                                     "{\"type\":\"tool_ui\",\"content\":{}}," TEXT("c d")) "]"),
        };
        heard_init(&heard);
        heard.cancel_at = at;
        heard_play(&heard, &request);
        heard.call = NULL;
        turn_for(heard.loop, 10);
        assert_int_equal(heard.n_told, at);
        heard_deinit(&heard);
    }
    static const int64_t before_ms[] = {-1, 30};
    for (size_t i = 0; i < 2; i++) {
        struct heard heard;
        struct pl_model_request request = {
            .model = PL_STR(MODEL),
            .turns = PL_STR("[" TIMED(5000, TEXT("a b c d e")) "]"),
            .speed = 1,
        };
        heard_init(&heard);
        assert_int_equal(heard_start(&heard, &request, NULL), PL_OK);
        if (before_ms[i] >= 0)
            turn_for(heard.loop, before_ms[i]);
        size_t n_told = heard.n_told;
        pl_model_cancel(heard.call);
        heard.call = NULL;
        turn_for(heard.loop, 20);
        assert_int_equal(heard.n_told, n_told);
        heard_deinit(&heard);
    }
}

static void what_is_no_array_of_turns_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *turns;
        enum pl_status status;
    } cases[] = {{"", PL_SYNTAX}, {"[", PL_SYNTAX}, {"{}", PL_INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heard heard;
        struct pl_error err = {0};
        struct pl_model_request request = {.model = PL_STR(MODEL),
                                           .turns = pl_str_of(cases[i].turns)};
        heard_init(&heard);
        assert_int_equal(heard_start(&heard, &request, &err), cases[i].status);
        assert_true(err.message[0]);
        heard_deinit(&heard);
    }
}

static void a_replay_keeps_the_name_it_was_asked_by(void **state)
{
    (void)state;
    const struct pl_model_info *info = pl_model_find(NULL, PL_STR(MODEL));
    assert_non_null(info);
    assert_true(info->is_family);
    assert_int_equal(info->context_window, 0);
    assert_true(pl_str_eq(pl_model_name(info, PL_STR(MODEL)), PL_STR(MODEL)));
    assert_true(pl_str_eq(pl_model_replayed(PL_STR(MODEL)),
                          PL_STR("sess_01900000-0000-7000-8000-000000000000")));
    static const char *const others[] = {"replay/",
                                         "replay/x",
                                         "replay/sess_",
                                         "replay",
                                         "sess_01900000-0000-7000-8000-000000000000",
                                         "demo/echo",
                                         "replay/turn_01900000-0000-7000-8000-000000000000",
                                         MODEL "0",
                                         ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct pl_model_info *other = pl_model_find(NULL, pl_str_of(others[i]));
        assert_true(!other || !other->is_family);
        assert_int_equal(pl_model_replayed(pl_str_of(others[i])).len, 0);
    }
    for (size_t i = 0; pl_model_at(NULL, i); i++)
        assert_false(pl_model_at(NULL, i)->is_family);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_thinking_come_word_by_word),
        cmocka_unit_test(other_blocks_come_whole_and_with_their_call),
        cmocka_unit_test(what_acted_on_a_page_is_left_out),
        cmocka_unit_test(texts_that_stand_side_by_side_stay_apart),
        cmocka_unit_test(the_end_tells_the_model_and_the_usage_of_then),
        cmocka_unit_test(an_answer_that_failed_fails_again),
        cmocka_unit_test(it_takes_the_time_it_took_divided_by_the_speed),
        cmocka_unit_test(no_turn_takes_longer_than_ten_seconds),
        cmocka_unit_test(words_are_spread_over_the_time),
        cmocka_unit_test(nothing_comes_after_a_cancel),
        cmocka_unit_test(what_is_no_array_of_turns_is_refused),
        cmocka_unit_test(a_replay_keeps_the_name_it_was_asked_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/stream/trace.h"

#define ENVELOPE(n, type, data)                                                                    \
    "{\"session_id\":\"sess_1\",\"sequence\":" #n ",\"turn_id\":\"turn_1\",\"loop_id\":\"root\","  \
    "\"patch_type\":\"" type "\",\"data\":{" data "}}\n"
#define STREAMING ENVELOPE(1, "set_status", "\"status\":\"streaming\",\"model\":\"m\"")
#define DONE(n)   ENVELOPE(n, "set_status", "\"status\":\"completed\"")
#define DELTA(n, type, content, delta)                                                             \
    ENVELOPE(n, "add_content",                                                                     \
             "\"type\":\"" type "\",\"content\":\"" content "\",\"text_delta\":\"" delta "\"")
#define CALL(n, id, args)                                                                          \
    ENVELOPE(n, "add_tool_call",                                                                   \
             "\"id\":\"" id "\",\"tool_name\":\"f\",\"display_name\":\"f\",\"arguments\":\"" args  \
             "\",\"status\":\"pending\"")

static void reads(const char *input, const char *expected)
{
    check_stream(&pl_dialect_patches, &trace_dialect, input, PL_OK, expected);
}

static void a_turn_is_read(void **state)
{
    (void)state;
    reads(STREAMING DELTA(2, "thinking", "hm", "hm") DELTA(3, "text", "Hel", "Hel")
              DELTA(4, "text", "Hello", "lo") CALL(5, "c1", "{}") DONE(6),
          "start  m \n+0 thinking\n0:hm\n-0\n+1 text\n1:Hel\n1:lo\n-1\n"
          "+2 call c1 f\n2:{}\n-2\nstop tools\nend\n");
}

static void content_says_what_a_lost_patch_would_have_said(void **state)
{
    (void)state;
    reads(DELTA(1, "text", "a", "a") DELTA(4, "text", "abcd", "d")
              ENVELOPE(5, "add_content", "\"type\":\"text\",\"text_delta\":\"e\"")
                  ENVELOPE(6, "add_content", "\"type\":\"text\",\"content\":\"abcdef\"") DONE(7),
          "start   \n+0 text\n0:a\n0:bcd\n0:e\n0:f\n-0\nstop stop\nend\n");
}

static void content_may_spell_the_same_words_differently(void **state)
{
    (void)state;
    reads(DELTA(1, "text", "\\u00e9", "\xc3\xa9") DELTA(2, "text",
                                                        "\xc3\xa9"
                                                        "b",
                                                        "b") DONE(3),
          "start   \n+0 text\n0:\\u00e9\n0:b\n-0\nstop stop\nend\n");
}

static void content_that_contradicts_the_deltas_is_an_error(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf out;
    assert_int_equal(run_stream(&pl_dialect_patches, &trace_dialect,
                                DELTA(1, "text", "a", "a") DELTA(2, "text", "xb", "b"), 1000, &out),
                     PL_INVALID);
    assert_non_null(strstr(out.ptr, "\nerror api_error  the content of a patch is not the sum"));
}

static void a_block_without_a_delta_is_whole(void **state)
{
    (void)state;
    reads(ENVELOPE(1, "add_content", "\"type\":\"text\",\"content\":\"a\"")
              ENVELOPE(2, "add_content", "\"type\":\"text\",\"content\":\"b\"") DONE(3),
          "start   \n+0 text\n0:a\n-0\n+1 text\n1:b\n-1\nstop stop\nend\n");
}

static void the_last_word_on_a_call_counts(void **state)
{
    (void)state;
    reads(CALL(1, "c1", "") CALL(2, "c2", "{}") CALL(3, "c1", "{\\\"a\\\":1}")
              DELTA(4, "text", "x", "x")
                  ENVELOPE(5, "add_tool_call", "\"id\":\"c2\",\"status\":\"done\"")
                      ENVELOPE(6, "tool_result", "\"tool_call_id\":\"c2\",\"result\":\"r\"")
                          DELTA(7, "text", "xy", "y") DONE(8),
          "start   \n+0 call c1 f\n0:{\\\"a\\\":1}\n-0\n+1 call c2 f\n1:{}\n-1\n"
          "+2 text\n2:x\n2:y\n-2\nstop stop\nend\n");
}

static void other_turns_and_repeated_patches_are_passed_over(void **state)
{
    (void)state;
    reads(
        DELTA(1, "text", "a", "a") DELTA(
            1, "text", "a",
            "a") "{\"session_id\":\"s\",\"sequence\":2,\"turn_id\":\"turn_2\",\"loop_id\":\"sub\","
                 "\"patch_type\":\"add_content\",\"data\":{\"type\":\"text\",\"text_delta\":\"no\"}"
                 "}\n" ENVELOPE(3, "unheard_of", "\"a\":1") DONE(4),
        "start   \n+0 text\n0:a\n-0\nstop stop\nend\n");
}

static void the_status_says_how_a_turn_ended(void **state)
{
    (void)state;
    reads(ENVELOPE(1, "set_status",
                   "\"status\":\"completed\",\"finish_reason\":\"length\","
                   "\"usage\":{\"input_tokens\":3,\"output_tokens\":4}"),
          "start   \nusage 3 4 -1 -1 -1 -1\nstop length length\nend\n");
    reads(CALL(1, "c", "{}") ENVELOPE(2, "set_status", "\"status\":\"paused\""),
          "start   \n+0 call c f\n0:{}\n-0\nstop tools\nend\n");
    reads(ENVELOPE(1, "set_status",
                   "\"status\":\"failed\",\"error\":{\"type\":\"t\",\"message\":\"m\"}"),
          "error t  m\n");
    reads(ENVELOPE(1, "set_status", "\"status\":\"interrupted\""),
          "error api_error  the turn was interrupted\n");
    check_stream(&pl_dialect_patches, &trace_dialect, STREAMING, PL_INVALID,
                 "start  m \nerror api_error  the stream ended before the answer was complete\n");
}

static void patches_are_read_from_server_sent_events_too(void **state)
{
    (void)state;
    reads("event: turn:patch\ndata: " DELTA(1, "text", "a", "a") "\ndata: " DONE(2) "\n",
          "start   \n+0 text\n0:a\n-0\nstop stop\nend\n");
}

/* ---- writing ---- */

#define GEMINI(inner) "data: {\"candidates\":[{\"content\":{\"parts\":[" inner "]}}]}\n\n"
#define GEMINI_STOP   "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"

static void a_turn_is_written(void **state)
{
    (void)state;
    check_stream(
        &pl_dialect_gemini, &pl_dialect_patches,
        GEMINI("{\"text\":\"hm\",\"thought\":true}") GEMINI("{\"text\":\"Hel\"}")
            GEMINI("{\"text\":\"lo\"}")
                GEMINI("{\"functionCall\":{\"id\":\"c1\",\"name\":\"f\",\"args\":{\"a\":1}}}")
                    GEMINI("{\"text\":\"!\"}") GEMINI_STOP,
        PL_OK,
        ENVELOPE(1, "set_status", "\"status\":\"streaming\"") DELTA(2, "thinking", "hm", "hm")
            DELTA(3, "text", "Hel", "Hel") DELTA(4, "text", "Hello", "lo")
                CALL(5, "c1", "{\\\"a\\\":1}") DELTA(6, "text", "!", "!") DONE(7));
}

static void an_error_closes_the_turn_as_failed(void **state)
{
    (void)state;
    check_stream(
        &pl_dialect_gemini, &pl_dialect_patches,
        GEMINI("{\"text\":\"a\"}") "data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n",
        PL_OK,
        ENVELOPE(1, "set_status", "\"status\":\"streaming\"") DELTA(2, "text", "a", "a")
            ENVELOPE(3, "set_status",
                     "\"status\":\"failed\",\"error\":{\"type\":\"overloaded_error\","
                     "\"message\":\"busy\"}"));
}

static void a_half_written_call_is_not_said(void **state)
{
    (void)state;
    check_stream(&pl_dialect_gemini, &pl_dialect_patches,
                 GEMINI("{\"functionCall\":{\"name\":\"f\",\"willContinue\":true}}"), PL_INVALID,
                 ENVELOPE(1, "set_status", "\"status\":\"streaming\"")
                     ENVELOPE(2, "set_status",
                              "\"status\":\"failed\",\"error\":{\"type\":\"api_error\","
                              "\"message\":\"the stream ended before the answer was complete\"}"));
}

/* A reader of patches cannot distinguish adjacent parts of the same kind. */
static void texts_that_follow_each_other_are_one_block(void **state)
{
    (void)state;
    struct pl_stream *s;
    assert_int_equal(pl_stream_create(&pl_dialect_gemini, &pl_dialect_patches, &s), PL_OK);
    static const enum pl_part_kind kinds[] = {PL_PART_TEXT, PL_PART_REFUSAL, PL_PART_TEXT};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t part = pl_stream_open(s, 0, i, &(struct pl_delta){.part_kind = kinds[i]});
        pl_stream_emit(
            s, &(struct pl_delta){.kind = PL_DELTA_FRAGMENT, .part = part, .raw = PL_STR("a")});
    }
    pl_buf_addc(&s->out, '\0');
    assert_string_equal(s->out.ptr, ENVELOPE(1, "set_status", "\"status\":\"streaming\"")
                                        DELTA(2, "text", "a", "a") DELTA(3, "text", "aa", "a")
                                            DELTA(4, "text", "aaa", "a"));
    pl_stream_destroy(s);
}

static void a_long_block_costs_a_multiple_of_its_length(void **state)
{
    (void)state;
    enum { N_DELTAS = 20000, N_BYTES = 10 };
    struct pl_stream *s;
    assert_int_equal(pl_stream_create(&pl_dialect_gemini, &pl_dialect_patches, &s), PL_OK);
    uint32_t part = pl_stream_open(s, 0, 0, &(struct pl_delta){.part_kind = PL_PART_TEXT});
    for (int i = 0; i < N_DELTAS; i++)
        pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_FRAGMENT,
                                             .part = part,
                                             .raw = PL_STR("0123456789")});
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
    assert_in_range(s->out.len, N_DELTAS * N_BYTES * 2, N_DELTAS * 200);

    /* A reader gets every word once. */
    struct pl_stream *back;
    assert_int_equal(pl_stream_create(&pl_dialect_patches, &trace_dialect, &back), PL_OK);
    assert_int_equal(pl_stream_feed(back, pl_buf_str(&s->out), NULL), PL_OK);
    assert_int_equal(pl_stream_end(back, NULL), PL_OK);
    size_t n_lines = 0;
    for (size_t i = 0; i < back->out.len; i++)
        n_lines += back->out.ptr[i] == '\n';
    assert_int_equal(n_lines, N_DELTAS + 5);
    pl_stream_destroy(back);
    pl_stream_destroy(s);
}

static void an_error_behind_what_was_passed_through_is_of_the_same_turn(void **state)
{
    (void)state;
#define PATCH                                                                                      \
    "{\"session_id\":\"s\",\"sequence\":7,\"turn_id\":\"t\",\"loop_id\":\"l\",\"patch_type\":"     \
    "\"set_status\",\"data\":{\"status\":\"streaming\"}}"
#define FAILED                                                                                     \
    "{\"session_id\":\"s\",\"sequence\":8,\"turn_id\":\"t\",\"loop_id\":\"l\",\"patch_type\":"     \
    "\"set_status\",\"data\":{\"status\":\"failed\",\"error\":{\"type\":\"api_error\","            \
    "\"message\":"                                                                                 \
    "\"the stream ended before the answer was complete\"}}}"
    check_stream(&pl_dialect_patches, &pl_dialect_patches, PATCH "\n{\"se", PL_INVALID,
                 PATCH "\n" FAILED "\n");
    check_stream(&pl_dialect_patches, &pl_dialect_patches, "data: " PATCH "\n\n", PL_INVALID,
                 "data: " PATCH "\n\ndata: " FAILED "\n\n");
}

static void calls_that_wait_are_said_before_an_error(void **state)
{
    (void)state;
    check_stream(&pl_dialect_patches, &trace_dialect, STREAMING CALL(2, "c1", "{}"), PL_INVALID,
                 "start  m \n+0 call c1 f\n0:{}\n-0\n"
                 "error api_error  the stream ended before the answer was complete\n");
}

static void running_out_of_memory_is_survived(void **state)
{
    (void)state;
    check_memory(&pl_dialect_patches, &pl_dialect_gemini,
                 STREAMING DELTA(2, "thinking", "hm", "hm") DELTA(3, "text", "\\u00e9", "\xc3\xa9")
                     DELTA(4, "text", "\xc3\xa9!", "!") CALL(5, "c1", "{}") CALL(6, "c2", "[]")
                         DONE(7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_read),
        cmocka_unit_test(content_says_what_a_lost_patch_would_have_said),
        cmocka_unit_test(content_may_spell_the_same_words_differently),
        cmocka_unit_test(content_that_contradicts_the_deltas_is_an_error),
        cmocka_unit_test(a_block_without_a_delta_is_whole),
        cmocka_unit_test(the_last_word_on_a_call_counts),
        cmocka_unit_test(other_turns_and_repeated_patches_are_passed_over),
        cmocka_unit_test(the_status_says_how_a_turn_ended),
        cmocka_unit_test(patches_are_read_from_server_sent_events_too),
        cmocka_unit_test(a_turn_is_written),
        cmocka_unit_test(an_error_closes_the_turn_as_failed),
        cmocka_unit_test(a_half_written_call_is_not_said),
        cmocka_unit_test(texts_that_follow_each_other_are_one_block),
        cmocka_unit_test(a_long_block_costs_a_multiple_of_its_length),
        cmocka_unit_test(an_error_behind_what_was_passed_through_is_of_the_same_turn),
        cmocka_unit_test(calls_that_wait_are_said_before_an_error),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

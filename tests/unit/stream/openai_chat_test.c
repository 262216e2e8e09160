#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/stream/trace.h"

/* One event with one choice. */
#define CHUNK(delta)                                                                               \
    "data: "                                                                                       \
    "{\"id\":\"c1\",\"created\":7,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":" delta      \
    ",\"finish_reason\":null}]}\n\n"
#define FINISH(word)                                                                               \
    "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" word        \
    "\"}]}\n\n"
#define DONE        "data: [DONE]\n\n"
#define CALL(entry) CHUNK("{\"tool_calls\":[" entry "]}")

static void assert_reads(const char *input, const char *expected)
{
    check_deltas(&pl_dialect_openai_chat, input, expected);
}

#define NAMED(args)                                                                                \
    CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"" args "\"}}")

static void a_complete_call_said_once_more_is_one_call(void **state)
{
    (void)state;
    assert_reads(NAMED("{}") NAMED("{}") FINISH("tool_calls") DONE,
                 "+0 call a f\n0:{}\n-0\nstop tools tool_calls\nend\n");
}

static void a_call_has_one_name_and_text_for_arguments(void **state)
{
    (void)state;
    assert_reads(NAMED("{") CALL("{\"index\":0,\"function\":{\"name\":\"g\"}}") DONE,
                 "+0 call a f\n0:{\nerror api_error  tool call 0 has two names\n");
    assert_reads(CALL("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
                     CALL("{\"index\":0,\"function\":{\"name\":\"g\",\"arguments\":\"\"}}")
                         FINISH("tool_calls") DONE,
                 "+0 call  f\n0:{}\n-0\n+1 call  g\n1:{}\n-1\nstop tools tool_calls\nend\n");
    assert_reads(CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":[1]}}")
                     DONE,
                 "error api_error  the arguments of a tool call must be a string, not array\n");
}

static void arguments_are_complete_or_a_finish_reason_says_why_not(void **state)
{
    (void)state;
    assert_reads(NAMED("{\\\"a\\\":") FINISH("length") DONE,
                 "+0 call a f\n0:{\\\"a\\\":\n-0\nstop length length\nend\n");
    assert_reads(
        NAMED("{\\\"a\\\":") DONE,
        "+0 call a f\n0:{\\\"a\\\":\nerror api_error  the stream ended before the arguments of "
        "tool call 0 were complete\n");
}

static void words_may_be_spoken_or_come_as_a_message(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"audio\":{\"id\":\"x\",\"transcript\":\"A\"}}")
                     CHUNK("{\"audio\":{\"transcript\":\"B\",\"data\":\"AA==\"}}") FINISH("stop")
                         DONE,
                 "+0 text\n0:A\n0:B\n-0\nstop stop stop\nend\n");
    assert_reads(
        "data: "
        "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"A\"},\"finish_reason\":\"stop\"}]}"
        "\n\n"
        "data: {\"choices\":[{\"index\":0,\"message\":{\"content\":\"A\"}}]}\n\ndata: [DONE] \n\n",
        "+0 text\n0:A\n-0\nstop stop stop\nend\n");
}

static void reads_words_of_each_kind_in_their_order(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"role\":\"assistant\",\"content\":\"\"}")
                     CHUNK("{\"content\":\"B\\n\",\"reasoning_content\":\"A\"}")
                         CHUNK("{\"content\":\"C\"}") CHUNK("{\"content\":null,\"refusal\":\"D\"}")
                             FINISH("stop") DONE,
                 "start c1 m 7\n+0 thinking\n0:A\n-0\n+1 text\n1:B\\n\n1:C\n-1\n"
                 "+2 refusal\n2:D\n-2\nstop stop stop\nend\n");
}

static void reads_reasoning_under_several_names_once(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"reasoning\":\"A\",\"reasoning_content\":\"A\","
                       "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"A\"}]}")
                     CHUNK("{\"reasoning\":\"B\"}")
                         CHUNK("{\"reasoning_details\":[{\"text\":\"C\",\"signature\":\"S\"},"
                               "{\"data\":\"X\"}]}") FINISH("stop") DONE,
                 "+0 thinking\n0:A\n0:B\n0:C\n0 signed S\n-0\n+1 redacted X\n-1\n"
                 "stop stop stop\nend\n");
}

static void closes_a_call_when_its_arguments_are_whole_and_something_else_begins(void **state)
{
    (void)state;
    assert_reads(CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}")
                     CALL("{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\\\":\\\"}\\\"\"}}")
                         CALL("{\"index\":0,\"function\":{\"arguments\":\"}\"}}")
                             CALL("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\"}}")
                                 FINISH("tool_calls") DONE,
                 "+0 call a f\n0:{\\\"x\\\":\\\"}\\\"\n0:}\n-0\n+1 call b g\n1:{}\n-1\n"
                 "stop tools tool_calls\nend\n");
}

static void keeps_calls_apart_whose_pieces_are_mixed(void **state)
{
    (void)state;
    assert_reads(
        CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}},"
             "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"[\"}}")
            CALL("{\"index\":0,\"function\":{\"arguments\":\"}\"}}")
                CALL("{\"index\":1,\"function\":{\"arguments\":\"]\"}}") FINISH("tool_calls") DONE,
        "+0 call a f\n0:{\n+1 call b g\n1:[\n0:}\n1:]\n-0\n-1\nstop tools tool_calls\nend\n");
}

static void content_waits_for_a_call_that_is_not_whole(void **state)
{
    (void)state;
    assert_reads(
        CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}")
            CHUNK("{\"content\":\"late \"}") CHUNK("{\"content\":\"words\"}")
                CALL("{\"index\":0,\"function\":{\"arguments\":\"}\"}}") FINISH("stop") DONE,
        "+0 call a f\n0:{\n0:}\n-0\n+1 text\n1:late words\n-1\nstop stop stop\nend\n");
}

static void content_that_waits_is_said_before_an_error(void **state)
{
    static const char *const errors[][2] = {
        {"", "the stream ended before the answer was complete"},
        {"data: {\"error\":{\"message\":\"no\",\"type\":\"api_error\"}}\n\n", "no"},
        {"data: {\n\n", "an event is not JSON"},
    };
    static const struct pl_dialect *const targets[] = {&pl_dialect_openai_responses,
                                                       &pl_dialect_anthropic, &pl_dialect_gemini,
                                                       &pl_dialect_patches};
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        PL_CLEANUP_BUF struct pl_buf input;
        pl_buf_init(&input, 0);
        pl_buf_adds(&input, CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\","
                                 "\"arguments\":\"{\"}}") CHUNK("{\"content\":\"late \"}")
                                CHUNK("{\"content\":\"words\"}"));
        pl_buf_adds(&input, errors[i][0]);
        pl_buf_addc(&input, '\0');
        PL_CLEANUP_BUF struct pl_buf out;
        assert_int_not_equal(
            run_stream(&pl_dialect_openai_chat, &trace_dialect, input.ptr, 1, &out), PL_NOMEM);
        assert_non_null(
            strstr(out.ptr, "+0 call a f\n0:{\n-0 cut\n+1 text\n1:late words\nerror api_error  "));
        assert_non_null(strstr(out.ptr, errors[i][1]));
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
            PL_CLEANUP_BUF struct pl_buf events;
            assert_int_not_equal(
                run_stream(&pl_dialect_openai_chat, targets[k], input.ptr, SIZE_MAX / 2, &events),
                PL_NOMEM);
            const char *late = strstr(events.ptr, "late words");
            assert_non_null(late);
            assert_non_null(strstr(late, errors[i][1]));
        }
    }
}

static void a_call_that_was_whole_ends_before_an_error(void **state)
{
    (void)state;
    assert_reads(
        CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
             "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{\"}}"),
        "+0 call a f\n0:{}\n-0\n+1 call b g\n1:{\n"
        "error api_error  the stream ended before the answer was complete\n");
}

static void another_id_under_the_same_index_is_another_call(void **state)
{
    (void)state;
    assert_reads(
        CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
            CALL("{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
                CALL("{\"function\":{\"name\":\"g\",\"arguments\":{\"x\":1}}}") FINISH("stop") DONE,
        "+0 call a f\n0:{}\n-0\n+1 call b f\n1:{}\n-1\n+2 call  g\n2:{\\\"x\\\":1}\n-2\n"
        "stop stop stop\nend\n");
}

static void reads_free_text_of_custom_tools_and_the_legacy_call(void **state)
{
    (void)state;
    assert_reads(CALL("{\"index\":0,\"id\":\"a\",\"type\":\"custom\",\"custom\":{\"name\":\"f\","
                      "\"input\":\"x {\"}}") CHUNK("{\"function_call\":{\"name\":\"g\"}}")
                     CHUNK("{\"function_call\":{\"arguments\":\"{}\"}}") FINISH("function_call")
                         DONE,
                 "+0 call custom a f\n0:x {\n-0\n+1 call  g\n1:{}\n-1\n"
                 "stop tools function_call\nend\n");
}

static void arguments_of_no_call_are_an_error(void **state)
{
    (void)state;
    assert_reads(CALL("{\"index\":3,\"function\":{\"arguments\":\"{\"}}") DONE,
                 "error api_error  tool call 3 has arguments, but no name\n");
}

static void usage_may_come_in_any_chunk(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"content\":\"A\"}") "data: "
                                              "{\"choices\":[{\"index\":0,\"delta\":{\"content\":"
                                              "\"B\"},\"finish_reason\":"
                                              "\"length\"}],\"usage\":{\"prompt_tokens\":9,"
                                              "\"completion_tokens\":1}}\n\n"
                                              "data: "
                                              "{\"choices\":[],\"usage\":{\"completion_tokens\":5,"
                                              "\"total_tokens\":14,"
                                              "\"prompt_tokens_details\":{\"cached_tokens\":4,"
                                              "\"cache_write_tokens\":2},"
                                              "\"completion_tokens_details\":{\"reasoning_tokens\":"
                                              "3}}}\n\n" DONE,
                 "+0 text\n0:A\n0:B\n-0\nusage 9 5 14 4 2 3\nstop length length\nend\n");
}

static void only_the_first_choice_is_read(void **state)
{
    (void)state;
    assert_reads(
        CHUNK(
            "{\"content\":\"A\"}") "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"B\"},"
                                   "\"finish_reason\":\"length\"}]}\n\n" FINISH("stop") DONE,
        "+0 text\n0:A\n-0\nstop stop stop\nend\n");
}

static void an_end_without_done_is_clean_behind_a_finish_reason_only(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"content\":\"A\"}") FINISH("stop"),
                 "+0 text\n0:A\n-0\nstop stop stop\nend\n");
    assert_reads(
        CHUNK("{\"content\":\"A\"}"),
        "+0 text\n0:A\nerror api_error  the stream ended before the answer was complete\n");
    assert_reads(DONE, "error api_error  the stream ended before the answer began\n");
}

static void nothing_behind_done_is_read(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"content\":\"A\"}") FINISH("stop") DONE CHUNK("{\"content\":\"B\"}"),
                 "+0 text\n0:A\n-0\nstop stop stop\nend\n");
}

static void an_error_ends_the_stream(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"content\":\"A\"}") "data: "
                                              "{\"error\":{\"message\":\"no\",\"type\":\"t\","
                                              "\"code\":503}}\n\n" DONE,
                 "+0 text\n0:A\nerror t 503 no\n");
}

static void an_event_like_the_last_one_is_read_as_carefully(void **state)
{
    (void)state;
    assert_reads(CHUNK("{\"content\":\"A\"}") CHUNK("{\"content\":\"B \\\\\\n\"}")
                     CHUNK("{\"content\":\"\xc3\xa9\\u00e9\"}")
                         CHUNK("{\"content\":\"x\",\"content\":\"C\"}") CHUNK("{\"content\":\"\"}")
                             FINISH("stop") DONE,
                 "+0 text\n0:A\n0:B \\\\\\n\n0:\xc3\xa9\\u00e9\n0:C\n-0\nstop stop stop\nend\n");
    static const char *const broken[] = {
        CHUNK("{\"content\":\"A\"}") CHUNK("{\"content\":\"\xff\"}"),
        CHUNK("{\"content\":\"A\"}") CHUNK("{\"content\":\"\t\"}"),
        CHUNK("{\"content\":\"A\"}") CHUNK("{\"content\":\"\\\"}"),
        CHUNK("{\"content\":\"A\"}") CHUNK("{\"content\":\"\\q\"}"),
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct pl_stream *s;
        assert_int_equal(pl_stream_create(&pl_dialect_openai_chat, &trace_dialect, &s), PL_OK);
        assert_int_equal(pl_stream_feed(s, pl_str_of(broken[i]), NULL), PL_SYNTAX);
        assert_writes(s, "error api_error  an event is not JSON", true);
        pl_stream_destroy(s);
    }
}

/* ---- writing ---- */

#define HEAD                                                                                       \
    "data: "                                                                                       \
    "{\"id\":\"i\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"m\","            \
    "\"choices\":["
#define OUT(delta) HEAD "{\"index\":0,\"delta\":" delta ",\"finish_reason\":null}]}\n\n"

static void writes_role_words_reason_usage_and_done(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_openai_chat);
    drive_start(s, "i", "m");
    assert_written(s, OUT("{\"role\":\"assistant\",\"content\":\"\"}"));
    drive_part(s, 0, PL_PART_THINKING, "", "");
    drive_words(s, 0, "A");
    drive_part(s, 1, PL_PART_TEXT, "", "");
    drive_words(s, 1, "B\\n");
    assert_written(s, OUT("{\"reasoning_content\":\"A\"}") OUT("{\"content\":\"B\\n\"}"));
    pl_stream_emit(s,
                   &(struct pl_delta){.kind = PL_DELTA_USAGE, .counts = {9, 5, -1, 4, -1, 3, -1}});
    drive_end(s, PL_FINISH_LENGTH);
    assert_written(s, HEAD
                   "{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n" HEAD
                   "],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5,\"total_tokens\":14,"
                   "\"prompt_tokens_details\":{\"cached_tokens\":4},"
                   "\"completion_tokens_details\":{\"reasoning_tokens\":3}}}\n\ndata: [DONE]\n\n");
    pl_stream_destroy(s);
}

static void numbers_calls_and_names_them_in_their_first_delta(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_openai_chat);
    drive_start(s, "i", "m");
    pl_buf_clear(&s->out);
    drive_part(s, 5, PL_PART_CALL, "a", "f");
    drive_part(s, 7, PL_PART_CALL, "", "g");
    drive_words(s, 7, "{\\\"x\\\":1}");
    assert_written(s, OUT("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\","
                          "\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}")
                          OUT("{\"tool_calls\":[{\"index\":1,\"id\":\"call_2\",\"type\":"
                              "\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]}")
                              OUT("{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":"
                                  "\"{\\\"x\\\":1}\"}}]}"));
    drive_end(s, PL_FINISH_STOP);
    assert_writes(s, "{\"index\":0,\"function\":{\"arguments\":\"{}\"}}", true);
    assert_writes(s, "\"finish_reason\":\"tool_calls\"", true);
    assert_writes(s, "usage", false);
    pl_stream_destroy(s);
}

static void a_filter_says_what_it_minds_as_a_refusal(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_openai_chat);
    drive_start(s, "i", "m");
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_STOP,
                                         .finish = PL_FINISH_FILTER,
                                         .detail = PL_STR("unsafe")});
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
    assert_writes(s, "{\"refusal\":\"unsafe\"}", true);
    assert_writes(s, "\"finish_reason\":\"content_filter\"", true);
    pl_stream_destroy(s);
}

/* The word only repeats finish_reason: it is not a refusal by the model. */
static void a_filter_without_words_is_no_refusal(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_openai_chat);
    drive_start(s, "i", "m");
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_STOP,
                                         .finish = PL_FINISH_FILTER,
                                         .word = PL_STR("SAFETY")});
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
    assert_writes(s, "refusal", false);
    assert_writes(s, "\"finish_reason\":\"content_filter\"", true);
    pl_stream_destroy(s);
}

static void an_error_is_the_last_event(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_openai_chat);
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_ERROR,
                                         .type = PL_STR("RESOURCE_EXHAUSTED"),
                                         .code = PL_STR("429"),
                                         .message = PL_STR("slow down")});
    drive_end(s, PL_FINISH_STOP);
    assert_written(s, "data: {\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\","
                      "\"param\":null,\"code\":\"RESOURCE_EXHAUSTED\"}}\n\n");
    pl_stream_destroy(s);
}

static void proof_of_other_vendors_is_not_written(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_openai_chat);
    drive_part(s, 0, PL_PART_THINKING, "", "");
    drive_words(s, 0, "A");
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_SIGNATURE, .raw = PL_STR("SIG")});
    pl_stream_open(s, 0, 1,
                   &(struct pl_delta){.part_kind = PL_PART_REDACTED, .raw = PL_STR("BLOB")});
    drive_end(s, PL_FINISH_STOP);
    assert_writes(s, "SIG", false);
    assert_writes(s, "BLOB", false);
    pl_stream_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complete_call_said_once_more_is_one_call),
        cmocka_unit_test(a_call_has_one_name_and_text_for_arguments),
        cmocka_unit_test(arguments_are_complete_or_a_finish_reason_says_why_not),
        cmocka_unit_test(words_may_be_spoken_or_come_as_a_message),
        cmocka_unit_test(reads_words_of_each_kind_in_their_order),
        cmocka_unit_test(reads_reasoning_under_several_names_once),
        cmocka_unit_test(closes_a_call_when_its_arguments_are_whole_and_something_else_begins),
        cmocka_unit_test(keeps_calls_apart_whose_pieces_are_mixed),
        cmocka_unit_test(content_waits_for_a_call_that_is_not_whole),
        cmocka_unit_test(content_that_waits_is_said_before_an_error),
        cmocka_unit_test(a_call_that_was_whole_ends_before_an_error),
        cmocka_unit_test(another_id_under_the_same_index_is_another_call),
        cmocka_unit_test(reads_free_text_of_custom_tools_and_the_legacy_call),
        cmocka_unit_test(arguments_of_no_call_are_an_error),
        cmocka_unit_test(usage_may_come_in_any_chunk),
        cmocka_unit_test(only_the_first_choice_is_read),
        cmocka_unit_test(an_end_without_done_is_clean_behind_a_finish_reason_only),
        cmocka_unit_test(nothing_behind_done_is_read),
        cmocka_unit_test(an_error_ends_the_stream),
        cmocka_unit_test(an_event_like_the_last_one_is_read_as_carefully),
        cmocka_unit_test(writes_role_words_reason_usage_and_done),
        cmocka_unit_test(numbers_calls_and_names_them_in_their_first_delta),
        cmocka_unit_test(a_filter_says_what_it_minds_as_a_refusal),
        cmocka_unit_test(a_filter_without_words_is_no_refusal),
        cmocka_unit_test(an_error_is_the_last_event),
        cmocka_unit_test(proof_of_other_vendors_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

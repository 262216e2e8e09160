#include "unit/stream/trace.h"

static void reads(const char *input, const char *expected)
{
    check_stream(&pl_dialect_gemini, &trace_dialect, input, PL_OK, expected);
}

#define CANDIDATE(inner) "data: {\"candidates\":[{" inner ",\"index\":0}]}\r\n\r\n"
#define PARTS(inner)     CANDIDATE("\"content\":{\"role\":\"model\",\"parts\":[" inner "]}")
#define STOP             CANDIDATE("\"finishReason\":\"STOP\"")

static void texts_that_follow_each_other_are_one_part(void **state)
{
    (void)state;
    reads("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel\"}]}}],"
          "\"modelVersion\":\"m\",\"responseId\":\"r\",\"createTime\":\"2026-01-01T00:00:00Z\"}"
          "\n\n" PARTS("{\"text\":\"lo \\\"\\n\"}") PARTS("{\"text\":\"\"}") STOP,
          "start r m 1767225600\n+0 text\n0:Hel\n0:lo \\\"\\n\n-0\nstop stop STOP\nend\n");
}

static void only_thought_makes_a_text_thinking(void **state)
{
    (void)state;
    reads(PARTS("{\"text\":\"plan\",\"thought\":true}")
              PARTS("{\"text\":\"Answer\",\"thoughtSignature\":\"S==\"}") STOP,
          "start   \n+0 thinking\n0:plan\n-0\n+1 text\n1:Answer\n-1\nstop stop STOP\nend\n");
}

static void a_call_comes_whole_with_an_id_and_its_signature(void **state)
{
    (void)state;
    reads(PARTS("{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":\"\\u00e9\\n\"}},"
                "\"thoughtSignature\":\"S==\"},"
                "{\"functionCall\":{\"id\":\"x\",\"name\":\"g\"}}") STOP,
          "start   \n"
          "+0 call call_1 f\n0:{\\\"a\\\":\\\"\\\\u00e9\\\\n\\\"}\n0 signed S==\n-0\n"
          "+1 call x g\n1:{}\n-1\n"
          "stop tools STOP\nend\n");
}

static void partial_arguments_are_merged_by_path(void **state)
{
    (void)state;
    reads(PARTS("{\"functionCall\":{\"name\":\"f\",\"willContinue\":true},"
                "\"thoughtSignature\":\"S==\"}")
              PARTS("{\"functionCall\":{\"partialArgs\":["
                    "{\"jsonPath\":\"$.loc\",\"stringValue\":\"B\\\"os\",\"willContinue\":true}],"
                    "\"willContinue\":true}}")
                  PARTS("{\"functionCall\":{\"partialArgs\":["
                        "{\"jsonPath\":\"$.loc\",\"stringValue\":\"ton\"},"
                        "{\"jsonPath\":\"$.days[0].n\",\"numberValue\":1e2},"
                        "{\"jsonPath\":\"$.days[1]['a \\\"b']\",\"boolValue\":true},"
                        "{\"jsonPath\":\"$.days[0].z\",\"nullValue\":\"NULL_VALUE\"}]}}")
                      PARTS("{\"text\":\"more\"}") STOP,
          "start   \n+0 call call_1 f\n"
          "0:{\\\"loc\\\":\\\"B\\\\\\\"oston\\\",\\\"days\\\":[{\\\"n\\\":1e2,\\\"z\\\":null},"
          "{\\\"a \\\\\\\"b\\\":true}]}\n"
          "0 signed S==\n-0\n+1 text\n1:more\n-1\nstop tools STOP\nend\n");
}

static void breaks(const char *input, const char *expected)
{
    check_stream(&pl_dialect_gemini, &trace_dialect, input, PL_INVALID, expected);
}

/* A client runs what the arguments say. */
static void arguments_without_their_call_or_their_end_are_an_error(void **state)
{
    (void)state;
    const char *nameless =
        "start   \nerror api_error  arguments come without the name of their call\n";
    breaks(PARTS("{\"functionCall\":{\"args\":{\"a\":1}}}") STOP, nameless);
    breaks(PARTS("{\"functionCall\":{\"partialArgs\":[{\"jsonPath\":\"$.a\",\"numberValue\":1}]}}")
               STOP,
           nameless);
    reads(PARTS("{\"functionCall\":{}},{\"text\":\"A\"}") STOP,
          "start   \n+0 text\n0:A\n-0\nstop stop STOP\nend\n");
    breaks(PARTS("{\"functionCall\":{\"name\":\"f\",\"willContinue\":true}}")
               PARTS("{\"text\":\"A\"}") PARTS("{\"text\":\"B\"}") STOP,
           "start   \n+0 call call_1 f\n-0\n+1 text\n1:A\nerror api_error  a call broke off before "
           "all "
           "of its arguments came\n");
}

static void arguments_may_be_json_text_but_nothing_else(void **state)
{
    (void)state;
    reads(PARTS("{\"functionCall\":{\"name\":\"f\",\"args\":\"{\\\"a\\\":1}\"}}") STOP,
          "start   \n+0 call call_1 f\n0:{\\\"a\\\":1}\n-0\nstop tools STOP\nend\n");
    breaks(PARTS("{\"functionCall\":{\"name\":\"f\",\"willContinue\":true,\"args\":[1]}}") STOP,
           "start   \n+0 call call_1 f\nerror api_error  the args of a call must be an object\n");
    breaks(PARTS("{\"functionCall\":{\"name\":\"f\",\"partialArgs\":1}}") STOP,
           "start   \n+0 call call_1 f\nerror api_error  the partialArgs of a call must be an "
           "array\n");
}

#define SOURCES                                                                                    \
    "\"groundingMetadata\":{\"groundingChunks\":[{\"web\":{\"uri\":\"u\",\"title\":\"t\"}}]}"

static void sources_without_a_finish_reason_are_kept(void **state)
{
    (void)state;
    const char *cited = "start   \n+0 text\n0:A\n0:B\n0 cites u t\n-0\nstop stop STOP\nend\n";
    reads(CANDIDATE("\"content\":{\"parts\":[{\"text\":\"A\"}]}," SOURCES) PARTS("{\"text\":\"B\"}")
              CANDIDATE(SOURCES ",\"x\":1") STOP,
          cited);
    reads(PARTS("{\"text\":\"A\"}") PARTS("{\"text\":\"B\"}") STOP CANDIDATE(SOURCES), cited);
    reads(PARTS("{\"text\":\"A\"}") CANDIDATE("\"content\":{\"parts\":\"B\"}")
              CANDIDATE("\"finishReason\":\"STOP\"," SOURCES) CANDIDATE(SOURCES),
          cited);
}

static void a_call_that_never_says_it_is_complete_ends_with_the_answer(void **state)
{
    (void)state;
    reads(PARTS("{\"functionCall\":{\"name\":\"f\",\"willContinue\":true,\"partialArgs\":["
                "{\"jsonPath\":\"$.a\",\"stringValue\":\"b\",\"willContinue\":true}]}}") STOP,
          "start   \n+0 call call_1 f\n0:{\\\"a\\\":\\\"b\\\"}\n-0\nstop tools STOP\nend\n");
}

static void a_path_that_cannot_be_followed_breaks_the_stream(void **state)
{
    (void)state;
    static const char *const paths[] = {"loc", "$", "$..a", "$[a]", "$['a", "$[", "$.a[0"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char input[256];
        PL_CLEANUP_BUF struct pl_buf out;
        snprintf(input, sizeof input,
                 PARTS("{\"functionCall\":{\"name\":\"f\",\"partialArgs\":["
                       "{\"jsonPath\":\"%s\",\"stringValue\":\"b\"}]}}") STOP,
                 paths[i]);
        assert_int_equal(run_stream(&pl_dialect_gemini, &trace_dialect, input, 1 << 20, &out),
                         PL_INVALID);
        assert_non_null(strstr(out.ptr, "\nerror api_error"));
    }
}

static void counters_are_snapshots_and_placeholders_do_not_erase(void **state)
{
    (void)state;
    reads("data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":"
          "{\"promptTokenCount\":100,\"candidatesTokenCount\":1,\"totalTokenCount\":101}}\n\n"
          "data: {\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":20,"
          "\"totalTokenCount\":190,\"toolUsePromptTokenCount\":40,\"cachedContentTokenCount\":60,"
          "\"thoughtsTokenCount\":30}}\n\n"
          "data: {\"usageMetadata\":{\"promptTokenCount\":0,\"trafficType\":\"ON_DEMAND\"}}\n\n",
          "start   \nusage 140 50 190 60 -1 30\nstop stop STOP\nend\n");
}

static void a_blocked_prompt_is_filtered(void **state)
{
    (void)state;
    reads("data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"},"
          "\"responseId\":\"r\"}\n\n",
          "start r  \nabout {\"blockReason\":\"PROHIBITED_CONTENT\"}\n"
          "stop filter PROHIBITED_CONTENT (PROHIBITED_CONTENT)\nend\n");
}

static void reasons_to_finish_are_mapped_by_table(void **state)
{
    (void)state;
    reads(CANDIDATE("\"finishReason\":\"MAX_TOKENS\""), "start   \nstop length MAX_TOKENS\nend\n");
    reads(CANDIDATE("\"finishReason\":\"SPII\",\"finishMessage\":\"no\""),
          "start   \nstop filter SPII (no)\nend\n");
    reads(CANDIDATE("\"finishReason\":\"MALFORMED_FUNCTION_CALL\""),
          "start   \nstop other MALFORMED_FUNCTION_CALL\nend\n");
}

static void an_end_without_a_finish_reason_is_an_error(void **state)
{
    (void)state;
    check_stream(&pl_dialect_gemini, &trace_dialect, PARTS("{\"text\":\"a\"}"), PL_INVALID,
                 "start   \n+0 text\n0:a\n"
                 "error api_error  the stream ended before the answer was complete\n");
}

static void an_error_may_be_wrapped_in_an_array(void **state)
{
    (void)state;
    const char *expected = "error overloaded_error UNAVAILABLE busy\n";
    reads("data: {\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}\n\n",
          expected);
    reads("[{\n\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}\n]",
          expected);
    reads("data: [{\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}]\n\n",
          expected);
}

static void objects_come_in_an_array_or_several_on_a_line(void **state)
{
    (void)state;
#define ONE "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a]},[{\"}]}}]}"
#define TWO                                                                                        \
    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"}]},\"finishReason\":\"STOP\"}]}"
    const char *expected = "start   \n+0 text\n0:a]},[{\n0:b\n-0\nstop stop STOP\nend\n";
    reads("[" ONE "\n,\r\n" TWO "]", expected);
    reads("data: " ONE TWO "\n\n", expected);
    reads("data: [" ONE "\n\ndata: ," TWO "\n\ndata: ]\n\n", expected);
    reads("data: " ONE "\n\ndata: " TWO "\n\ndata: [DONE]\n\n", expected);
}

static void data_that_is_not_json_breaks_the_stream(void **state)
{
    (void)state;
    static const char *const bad[] = {"data: {\"candidates\":\n\n", "data: nonsense\n\n",
                                      "data: {\"a\":1}{\"b\"\n\n", "{\"a\":tru}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PL_CLEANUP_BUF struct pl_buf out;
        assert_int_equal(run_stream(&pl_dialect_gemini, &pl_dialect_gemini, bad[i], 3, &out),
                         PL_SYNTAX);
        assert_non_null(strstr(out.ptr, "{\"error\":{\"code\":500,\"message\":\""));
    }
}

static void an_error_behind_what_was_passed_through_is_framed_like_it(void **state)
{
    (void)state;
#define FAILED                                                                                     \
    "{\"error\":{\"code\":500,\"message\":\"the stream ended before the answer was complete\","    \
    "\"status\":\"INTERNAL\"}}"
    check_stream(&pl_dialect_gemini, &pl_dialect_gemini, "[{\"a\":1},\n{\"b\"", PL_INVALID,
                 "[{\"a\":1},\n" FAILED "\n]\n");
    check_stream(&pl_dialect_gemini, &pl_dialect_gemini, "[{", PL_INVALID, "[" FAILED "\n]\n");
    check_stream(&pl_dialect_gemini, &pl_dialect_gemini, "{\"a\":1}\n", PL_INVALID,
                 "{\"a\":1}\n" FAILED "\n");
    check_stream(&pl_dialect_gemini, &pl_dialect_gemini, "data: {\"a\":1}\n\n", PL_INVALID,
                 "data: {\"a\":1}\n\ndata: " FAILED "\n\n");
}

static void candidates_keep_their_numbers(void **state)
{
    (void)state;
    reads("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"index\":0},"
          "{\"content\":{\"parts\":[{\"text\":\"b\"}]},\"index\":1}]}\n\n"
          "data: {\"candidates\":[{\"finishReason\":\"STOP\"},"
          "{\"finishReason\":\"MAX_TOKENS\",\"index\":1}]}\n\n",
          "start   \n+0 text\n0:a\n(1) +1 text\n(1) 1:b\n"
          "(1) -1\n(1) stop length MAX_TOKENS\n-0\nstop stop STOP\nend\n");
}

static void citations_stand_behind_their_text(void **state)
{
    (void)state;
    reads(PARTS("{\"text\":\"a\"}")
              CANDIDATE("\"groundingMetadata\":{\"groundingChunks\":[{\"web\":{\"uri\":\"u\","
                        "\"title\":\"t\"}},{\"maps\":{}}]},\"finishReason\":\"STOP\""),
          "start   \n+0 text\n0:a\n0 cites u t\n-0\nstop stop STOP\nend\n");
}

static void both_spellings_of_a_member_are_read(void **state)
{
    (void)state;
    reads("data: {\"candidates\":[{\"content\":{\"parts\":[{\"te\\u0078t\":\"a\"}]},"
          "\"finish_reason\":\"STOP\"}],\"usage_metadata\":{\"prompt_token_count\":3}}\n\n",
          "start   \n+0 text\n0:a\n-0\nusage 3 -1 -1 -1 -1 -1\nstop stop STOP\nend\n");
}

/* ---- writing ---- */

static struct pl_stream *writing(void)
{
    struct pl_stream *s;
    assert_int_equal(pl_stream_create(&pl_dialect_patches, &pl_dialect_gemini, &s), PL_OK);
    pl_stream_emit(
        s, &(struct pl_delta){.kind = PL_DELTA_START, .id = PL_STR("r"), .model = PL_STR("m")});
    return s;
}

static void add_part(struct pl_stream *s, uint32_t choice, enum pl_part_kind kind, bool is_custom,
                     const char *raw, const char *signature)
{
    uint32_t part = pl_stream_open(
        s, choice, 9,
        &(struct pl_delta){
            .part_kind = kind, .id = PL_STR("c\\\""), .name = PL_STR("f"), .is_custom = is_custom});
    pl_stream_emit(
        s, &(struct pl_delta){.kind = PL_DELTA_FRAGMENT, .part = part, .raw = pl_str_of(raw)});
    if (signature)
        pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_SIGNATURE,
                                             .choice = choice,
                                             .part = part,
                                             .part_kind = kind,
                                             .raw = pl_str_of(signature)});
    pl_stream_close(s, choice, 9);
}

static void wrote(struct pl_stream *s, const char *expected)
{
    pl_buf_addc(&s->out, '\0');
    assert_int_equal(s->out.status, PL_OK);
    assert_string_equal(s->out.ptr, expected);
    pl_stream_destroy(s);
}

#define HEAD "data: {\"candidates\":[{\"content\":{\"parts\":[{"
#define TAIL "}],\"role\":\"model\"},\"index\":0}],\"modelVersion\":\"m\",\"responseId\":\"r\"}\n\n"
#define CALL HEAD "\"functionCall\":{\"id\":\"c\\\"\",\"name\":\"f\",\"args\":"

static void every_fragment_is_an_event(void **state)
{
    (void)state;
    struct pl_stream *s = writing();
    add_part(s, 0, PL_PART_THINKING, false, "a\\n", "S==");
    add_part(s, 0, PL_PART_TEXT, false, "b", NULL);
    add_part(s, 0, PL_PART_REFUSAL, false, "c", NULL);
    wrote(s, HEAD "\"text\":\"a\\n\",\"thought\":true" TAIL HEAD "\"text\":\"b\"" TAIL HEAD
                  "\"text\":\"c\"" TAIL);
}

static void arguments_are_always_an_object(void **state)
{
    (void)state;
    struct pl_stream *s = writing();
    add_part(s, 0, PL_PART_CALL, false, "{\\\"a\\\": \\\"\\\\n\\\",\\n\\\"b\\\":1e2}", NULL);
    add_part(s, 0, PL_PART_CALL, false, "", NULL);
    add_part(s, 0, PL_PART_CALL, false, "{\\\"a\\\":", NULL);
    add_part(s, 0, PL_PART_CALL, false, "[1]", NULL);
    add_part(s, 0, PL_PART_CALL, true, "{}", NULL);
    wrote(s, CALL "{\"a\":\"\\n\",\"b\":1e2}}" TAIL CALL "{}}" TAIL CALL
                  "{\"_raw\":\"{\\\"a\\\":\"}}" TAIL CALL "{\"_raw\":\"[1]\"}}" TAIL CALL
                  "{\"input\":\"{}\"}}" TAIL);
}

static void signatures_go_to_the_same_vendor_only(void **state)
{
    (void)state;
    struct pl_stream *s = writing();
    s->is_same_vendor = true;
    add_part(s, 0, PL_PART_CALL, false, "{}", "S==");
    add_part(s, 0, PL_PART_TEXT, false, "", "T==");
    wrote(s, CALL "{}},\"thoughtSignature\":\"S==\"" TAIL HEAD
                  "\"text\":\"\",\"thoughtSignature\":\"T==\"" TAIL);
}

static void the_last_event_has_the_reason_and_the_counters(void **state)
{
    (void)state;
    struct pl_stream *s = writing();
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_USAGE,
                                         .counts = {.input = 140,
                                                    .output = 50,
                                                    .total = -1,
                                                    .cache_read = 60,
                                                    .cache_write = -1,
                                                    .reasoning = 30,
                                                    .tool_input = 40}});
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_STOP,
                                         .finish = PL_FINISH_FILTER,
                                         .detail = PL_STR("no")});
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
    wrote(s, HEAD "\"text\":\"\"}],\"role\":\"model\"},\"index\":0,\"finishReason\":\"SAFETY\","
                  "\"finishMessage\":\"no\"}],\"usageMetadata\":{\"promptTokenCount\":100,"
                  "\"cachedContentTokenCount\":60,\"candidatesTokenCount\":20,"
                  "\"toolUsePromptTokenCount\":40,\"thoughtsTokenCount\":30,"
                  "\"totalTokenCount\":190},\"modelVersion\":\"m\",\"responseId\":\"r\"}\n\n");
}

static void an_error_is_said_in_googles_words(void **state)
{
    (void)state;
    struct pl_stream *s = writing();
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_ERROR,
                                         .type = PL_STR("rate_limit_error"),
                                         .message = PL_STR("slow\\n")});
    wrote(s, "data: {\"error\":{\"code\":429,\"message\":\"slow\\n\","
             "\"status\":\"RESOURCE_EXHAUSTED\"}}\n\n");
}

static void an_open_call_is_freed_with_the_stream(void **state)
{
    (void)state;
    struct pl_stream *s = writing();
    pl_stream_open(s, 0, 9, &(struct pl_delta){.part_kind = PL_PART_CALL, .name = PL_STR("f")});
    wrote(s, "");
}

static void running_out_of_memory_is_survived(void **state)
{
    (void)state;
    const char *input = CANDIDATE("\"content\":{\"parts\":[{\"text\":\"a\"}]}," SOURCES)
        PARTS("{\"functionCall\":{\"name\":\"f\",\"partialArgs\":["
              "{\"jsonPath\":\"$.a[0]['b']\",\"stringValue\":\"c\"}],\"willContinue\":true}}")
            PARTS("{\"functionCall\":{}},{\"functionCall\":{\"name\":\"g\",\"args\":{\"a\":1}}}")
                STOP;
    check_memory(&pl_dialect_gemini, &pl_dialect_patches, input);
    check_memory(&pl_dialect_gemini, &trace_dialect, input);
    check_memory(&pl_dialect_gemini, &trace_dialect,
                 PARTS("{\"text\":\"a\",\"thoughtSignature\":\"S==\"}") STOP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_follow_each_other_are_one_part),
        cmocka_unit_test(only_thought_makes_a_text_thinking),
        cmocka_unit_test(a_call_comes_whole_with_an_id_and_its_signature),
        cmocka_unit_test(partial_arguments_are_merged_by_path),
        cmocka_unit_test(arguments_without_their_call_or_their_end_are_an_error),
        cmocka_unit_test(arguments_may_be_json_text_but_nothing_else),
        cmocka_unit_test(sources_without_a_finish_reason_are_kept),
        cmocka_unit_test(a_call_that_never_says_it_is_complete_ends_with_the_answer),
        cmocka_unit_test(a_path_that_cannot_be_followed_breaks_the_stream),
        cmocka_unit_test(counters_are_snapshots_and_placeholders_do_not_erase),
        cmocka_unit_test(a_blocked_prompt_is_filtered),
        cmocka_unit_test(reasons_to_finish_are_mapped_by_table),
        cmocka_unit_test(an_end_without_a_finish_reason_is_an_error),
        cmocka_unit_test(an_error_may_be_wrapped_in_an_array),
        cmocka_unit_test(objects_come_in_an_array_or_several_on_a_line),
        cmocka_unit_test(data_that_is_not_json_breaks_the_stream),
        cmocka_unit_test(an_error_behind_what_was_passed_through_is_framed_like_it),
        cmocka_unit_test(candidates_keep_their_numbers),
        cmocka_unit_test(citations_stand_behind_their_text),
        cmocka_unit_test(both_spellings_of_a_member_are_read),
        cmocka_unit_test(every_fragment_is_an_event),
        cmocka_unit_test(arguments_are_always_an_object),
        cmocka_unit_test(signatures_go_to_the_same_vendor_only),
        cmocka_unit_test(the_last_event_has_the_reason_and_the_counters),
        cmocka_unit_test(an_error_is_said_in_googles_words),
        cmocka_unit_test(an_open_call_is_freed_with_the_stream),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

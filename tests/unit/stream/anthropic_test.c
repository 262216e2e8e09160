#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/stream/trace.h"

#define EVENT(type, members) "event: " type "\ndata: {\"type\":\"" type "\"" members "}\n\n"
#define START                                                                                      \
    EVENT("message_start", ",\"message\":{\"id\":\"i\",\"model\":\"m\",\"usage\":{\"input_"        \
                           "tokens\":9,\"cache_read_input_tokens\":4,\"output_tokens\":1}}")
#define BLOCK(index, block)                                                                        \
    EVENT("content_block_start", ",\"index\":" index ",\"content_block\":" block)
#define DELTA(index, delta) EVENT("content_block_delta", ",\"index\":" index ",\"delta\":" delta)
#define END(index)          EVENT("content_block_stop", ",\"index\":" index)
#define STOP(delta, usage)                                                                         \
    EVENT("message_delta", ",\"delta\":" delta ",\"usage\":" usage) EVENT("message_stop", "")
#define TURN STOP("{\"stop_reason\":\"end_turn\"}", "{}")
#define TEXT(index, words)                                                                         \
    BLOCK(index, "{\"type\":\"text\",\"text\":\"\"}")                                              \
    DELTA(index, "{\"type\":\"text_delta\",\"text\":\"" words "\"}") END(index)

/* The end of a stream that ends in TURN. */
#define TURNED "usage 13 1 14 4 -1 -1\nstop stop end_turn\nend\n"

static void assert_reads(const char *input, const char *expected)
{
    check_deltas(&pl_dialect_anthropic, input, expected);
}

static void reads_blocks_and_adds_the_cache_to_the_input(void **state)
{
    (void)state;
    assert_reads(START BLOCK("0", "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
                     DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"A\"}")
                         DELTA("0", "{\"type\":\"signature_delta\",\"signature\":\"S\"}") END("0")
                             BLOCK("1", "{\"type\":\"redacted_thinking\",\"data\":\"X\"}") END("1")
                                 TEXT("2", "B\\u00e9")
                                     STOP("{\"stop_reason\":\"max_tokens\"}",
                                          "{\"output_tokens\":7,\"cache_creation_input_tokens\":2,"
                                          "\"output_tokens_details\":{\"thinking_tokens\":3}}"),
                 "start i m \n+0 thinking\n0:A\n0 signed S\n-0\n+1 redacted X\n-1\n+2 text\n"
                 "2:B\\u00e9\n-2\nusage 15 7 22 4 2 3\nstop length max_tokens\nend\n");
}

#define TOOL(input)                                                                                \
    BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":" input "}")
#define ARGS(json) DELTA("0", "{\"type\":\"input_json_delta\",\"partial_json\":\"" json "\"}")

static void input_of_the_start_counts_when_no_piece_follows(void **state)
{
    (void)state;
    assert_reads(START TOOL("{\"x\": 1}") END("0") TURN,
                 "+0 call a f\n0:{\\\"x\\\": 1}\n-0\n" TURNED);
    assert_reads(START TOOL("{\"x\":1}") ARGS("") ARGS("{\\\"x\\\":") ARGS("2}") END("0") TURN,
                 "+0 call a f\n0:{\\\"x\\\":\n0:2}\n-0\n" TURNED);
    assert_reads(START TOOL("{}") ARGS("") END("0") TURN, "+0 call a f\n0:{}\n-0\n" TURNED);
}

static void citations_follow_the_text_they_belong_to(void **state)
{
    (void)state;
    assert_reads(START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}")
                     DELTA("0", "{\"type\":\"citations_delta\",\"citation\":{\"url\":\"u\"}}")
                         DELTA("0", "{\"type\":\"citations_delta\",\"citation\":{\"url\":\"v\"}}")
                             DELTA("0", "{\"type\":\"text_delta\",\"text\":\"A\"}") END("0")
                                 TEXT("1", "B") TURN,
                 "+0 text\n0:A\n0 cites u\n0 cites v\n-0\n+1 text\n1:B\n-1\n" TURNED);
}

static void passes_over_what_it_does_not_know(void **state)
{
    (void)state;
    assert_reads(": hello\n\n" EVENT("ping", "") "event: new\ndata: no json\n\n" START BLOCK(
                     "0", "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web\"}") ARGS("{}")
                     END("0") TEXT("1", "A") TURN,
                 "+0 text\n0:A\n-0\n" TURNED);
}

/* A program at the vendor calls a tool of the client: its answers have no block events. */
static void blocks_of_the_start_are_whole(void **state)
{
    (void)state;
    const char *start = EVENT(
        "message_start", ",\"message\":{\"id\":\"i\",\"stop_reason\":\"tool_use\",\"content\":["
                         "{\"type\":\"text\",\"text\":\"A\"},{\"type\":\"tool_use\",\"id\":\"a\","
                         "\"name\":\"f\",\"input\":{\"x\":1}}]}");
    PL_CLEANUP_BUF struct pl_buf input;
    pl_buf_init(&input, 0);
    pl_buf_adds(&input, start);
    pl_buf_adds(&input, start); /* a duplicate */
    pl_buf_adds(&input, EVENT("message_stop", ""));
    pl_buf_addc(&input, '\0');
    assert_reads(input.ptr, "+0 text\n0:A\n-0\n+1 call a f\n1:{\\\"x\\\":1}\n-1\n"
                            "stop tools tool_use\nend\n");
}

static void a_call_whose_block_does_not_end_has_its_input(void **state)
{
    (void)state;
    assert_reads(START TOOL("{\"x\":1}") TURN, "+0 call a f\n0:{\\\"x\\\":1}\n-0\n" TURNED);
    assert_reads(START TOOL("\"{\\\"x\\\":1}\"") END("0") TURN,
                 "+0 call a f\n0:{\\\"x\\\":1}\n-0\n" TURNED);
}

#define BROKEN(message) "error api_error  " message "\n"
#define CLOSED(event, index)                                                                       \
    BROKEN("content_block_" event " for content block " index ", which is not open")

static void a_stream_with_missing_or_misplaced_events_is_broken(void **state)
{
    (void)state;
    assert_reads(TEXT("0", "A") TURN, BROKEN("the stream does not begin with message_start"));
    assert_reads(TURN, BROKEN("the stream does not begin with message_start"));
    assert_reads(START TEXT("0", "A") ARGS("late") TURN, "+0 text\n0:A\n-0\n" CLOSED("delta", "0"));
    assert_reads(START TEXT("0", "A") DELTA("1", "{\"type\":\"text_delta\",\"text\":\"B\"}") TURN,
                 "+0 text\n0:A\n-0\n" CLOSED("delta", "1"));
    assert_reads(START TEXT("0", "A") END("0") END("1") TURN,
                 "+0 text\n0:A\n-0\n" CLOSED("stop", "1"));
    assert_reads(START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}")
                     BLOCK("1", "{\"type\":\"text\",\"text\":\"\"}")
                         DELTA("0", "{\"type\":\"text_delta\",\"text\":\"A\"}") TURN,
                 "+0 text\n-0\n+1 text\n" CLOSED("delta", "0"));
    assert_reads(START TOOL("{}") TOOL("{}") TURN,
                 "+0 call a f\n" BROKEN("content block 0 begins twice"));
    assert_reads(START BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"a\"}") TURN,
                 "" BROKEN("content block 0 is a tool_use without a name"));
    assert_reads(
        START TEXT("0", "A") EVENT("message_stop", ""),
        "+0 text\n0:A\n-0\n" BROKEN("message_stop comes without a message_delta before it"));
}

static void too_many_open_blocks_are_refused(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf input;
    pl_buf_init(&input, 0);
    pl_buf_adds(&input, START);
    for (unsigned i = 0; i <= 256; i++)
        pl_buf_addf(&input,
                    "data: {\"type\":\"content_block_start\",\"index\":%u,\"content_block\":"
                    "{\"type\":\"server_tool_use\"}}\n\n",
                    i);
    pl_buf_addc(&input, '\0');
    assert_reads(input.ptr, BROKEN("more than 256 content blocks are open"));
}

static void the_type_may_stand_in_the_data_alone(void **state)
{
    (void)state;
    assert_reads("data: {\"type\":\"message_start\",\"message\":{\"id\":\"i\"}}\n\n"
                 "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"pause_turn\"}}\n\n"
                 "data: {\"type\":\"message_stop\"}\n\n",
                 "stop other pause_turn\nend\n");
}

static void a_refusal_comes_with_its_explanation(void **state)
{
    (void)state;
    assert_reads(START STOP("{\"stop_reason\":\"refusal\",\"stop_details\":{\"type\":\"refusal\","
                            "\"explanation\":\"why\"}}",
                            "{\"input_tokens\":5}"),
                 "about {\"type\":\"refusal\",\"explanation\":\"why\"}\n"
                 "usage 9 1 10 4 -1 -1\nstop filter refusal (why)\nend\n");
}

static void an_error_event_or_an_early_end_is_an_error(void **state)
{
    (void)state;
    assert_reads(
        START EVENT("error", ",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}") TURN,
        "error overloaded_error  no\n");
    assert_reads(
        START TEXT("0", "A"),
        "+0 text\n0:A\n-0\nerror api_error  the stream ended before the answer was complete\n");
}

static void pieces_like_the_last_one_go_to_the_block_they_name(void **state)
{
    (void)state;
    assert_reads(START TOOL("{}") ARGS("{\\\"a\\\":") ARGS("[") ARGS("]}") END("0") TEXT("1", "A")
                     BLOCK("0", "{\"type\":\"thinking\"}") ARGS("no thought") TURN,
                 "+0 call a f\n0:{\\\"a\\\":\n0:[\n0:]}\n-0\n+1 text\n1:A\n-1\n+2 thinking\n"
                 "-2\n" TURNED);
}

/* ---- writing ---- */

#define DATA(type, members) "event: " type "\ndata: {\"type\":\"" type "\"" members "}\n\n"

static void writes_blocks_with_dense_indexes_and_the_usage_at_the_end(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_anthropic);
    drive_start(s, "i", "m");
    assert_written(s, DATA("message_start",
                           ",\"message\":{\"id\":\"i\",\"type\":\"message\",\"role\":\"assistant\","
                           "\"model\":\"m\",\"content\":[],\"stop_reason\":null,"
                           "\"stop_sequence\":null,"
                           "\"usage\":{\"input_tokens\":0,\"output_tokens\":0}}"));
    drive_part(s, 0, PL_PART_TEXT, "", ""); /* stays empty: not written */
    drive_part(s, 1, PL_PART_THINKING, "", "");
    drive_words(s, 1, "A");
    drive_part(s, 2, PL_PART_TEXT, "", "");
    drive_words(s, 2, "B");
    pl_stream_close(s, 0, 2);
    assert_written(s, DATA("content_block_start",
                           ",\"index\":0,\"content_block\":{\"type\":\"thinking\","
                           "\"thinking\":\"\",\"signature\":\"\"}")
                          DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"A\"}") END("0")
                              TEXT("1", "B"));
    pl_stream_emit(s,
                   &(struct pl_delta){.kind = PL_DELTA_USAGE, .counts = {15, 7, 22, 4, 2, 3, -1}});
    drive_end(s, PL_FINISH_LENGTH);
    assert_written(s, STOP("{\"stop_reason\":\"max_tokens\",\"stop_sequence\":null}",
                           "{\"input_tokens\":9,\"cache_creation_input_tokens\":2,"
                           "\"cache_read_input_tokens\":4,\"output_tokens\":7,"
                           "\"output_tokens_details\":{\"thinking_tokens\":3}}"));
    pl_stream_destroy(s);
}

static void a_call_waits_until_the_one_before_it_is_over(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_anthropic);
    drive_start(s, "i", "m");
    pl_buf_clear(&s->out);
    drive_part(s, 0, PL_PART_CALL, "a", "f");
    drive_part(s, 1, PL_PART_CALL, "", "g");
    drive_words(s, 1, "[]");
    drive_words(s, 0, "{}");
    pl_stream_close(s, 0, 1);
    assert_written(s, TOOL("{}") ARGS("{}"));
    pl_stream_close(s, 0, 0);
    assert_written(s, END("0") BLOCK("1", "{\"type\":\"tool_use\",\"id\":\"call_2\",\"name\":\"g\","
                                          "\"input\":{}}")
                          DELTA("1", "{\"type\":\"input_json_delta\",\"partial_json\":\"[]\"}")
                              END("1"));
    drive_end(s, PL_FINISH_STOP);
    assert_writes(s, "\"stop_reason\":\"tool_use\"", true);
    pl_stream_destroy(s);
}

static void free_text_of_a_tool_becomes_a_member_of_an_object(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_anthropic);
    drive_start(s, "i", "m");
    pl_stream_open(
        s, 0, 0,
        &(struct pl_delta){
            .part_kind = PL_PART_CALL, .id = PL_STR("a"), .name = PL_STR("f"), .is_custom = true});
    pl_buf_clear(&s->out);
    drive_words(s, 0, "say \\\"hi\\\"\\n");
    pl_stream_close(s, 0, 0);
    assert_written(s, ARGS("say \\\\\\\"hi\\\\\\\"\\\\n") ARGS("\\\"}") END("0"));
    pl_stream_destroy(s);
}

static void a_refusal_is_text_and_the_reason_to_stop(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_anthropic);
    drive_part(s, 0, PL_PART_REFUSAL, "", "");
    drive_words(s, 0, "I ");
    drive_words(s, 0, "won't");
    drive_end(s, PL_FINISH_STOP);
    assert_writes(s, "{\"type\":\"text_delta\",\"text\":\"won't\"}", true);
    assert_writes(s, "\"stop_reason\":\"refusal\"", true);
    assert_writes(s, "\"explanation\":\"I won't\"", true);
    pl_stream_destroy(s);
}

static void proof_of_other_vendors_leaves_no_block(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_anthropic);
    pl_stream_open(s, 0, 0,
                   &(struct pl_delta){.part_kind = PL_PART_REDACTED, .raw = PL_STR("BLOB")});
    drive_part(s, 1, PL_PART_THINKING, "", "");
    pl_stream_emit(s,
                   &(struct pl_delta){.kind = PL_DELTA_SIGNATURE, .part = 1, .raw = PL_STR("SIG")});
    drive_end(s, PL_FINISH_STOP);
    assert_writes(s, "content_block", false);
    pl_stream_destroy(s);
}

static void proof_of_its_own_vendor_is_written(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_anthropic);
    s->is_same_vendor = true;
    pl_stream_open(s, 0, 0,
                   &(struct pl_delta){.part_kind = PL_PART_REDACTED, .raw = PL_STR("BLOB")});
    drive_part(s, 1, PL_PART_THINKING, "", "");
    pl_stream_emit(s,
                   &(struct pl_delta){.kind = PL_DELTA_SIGNATURE, .part = 1, .raw = PL_STR("SIG")});
    drive_end(s, PL_FINISH_STOP);
    assert_writes(s, "{\"type\":\"redacted_thinking\",\"data\":\"BLOB\"}", true);
    assert_writes(s, ",\"index\":1,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"SIG\"}",
                  true);
    pl_stream_destroy(s);
}

static void an_error_is_the_last_event(void **state)
{
    (void)state;
    struct pl_stream *s = driven_stream(&pl_dialect_anthropic);
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_ERROR,
                                         .type = PL_STR("server_error"),
                                         .code = PL_STR("rate_limit_exceeded"),
                                         .message = PL_STR("slow down")});
    drive_end(s, PL_FINISH_STOP);
    assert_written(s, DATA("error", ",\"error\":{\"type\":\"rate_limit_error\","
                                    "\"message\":\"slow down\"}"));
    pl_stream_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_blocks_and_adds_the_cache_to_the_input),
        cmocka_unit_test(input_of_the_start_counts_when_no_piece_follows),
        cmocka_unit_test(citations_follow_the_text_they_belong_to),
        cmocka_unit_test(passes_over_what_it_does_not_know),
        cmocka_unit_test(blocks_of_the_start_are_whole),
        cmocka_unit_test(a_call_whose_block_does_not_end_has_its_input),
        cmocka_unit_test(a_stream_with_missing_or_misplaced_events_is_broken),
        cmocka_unit_test(too_many_open_blocks_are_refused),
        cmocka_unit_test(the_type_may_stand_in_the_data_alone),
        cmocka_unit_test(a_refusal_comes_with_its_explanation),
        cmocka_unit_test(pieces_like_the_last_one_go_to_the_block_they_name),
        cmocka_unit_test(an_error_event_or_an_early_end_is_an_error),
        cmocka_unit_test(writes_blocks_with_dense_indexes_and_the_usage_at_the_end),
        cmocka_unit_test(a_call_waits_until_the_one_before_it_is_over),
        cmocka_unit_test(free_text_of_a_tool_becomes_a_member_of_an_object),
        cmocka_unit_test(a_refusal_is_text_and_the_reason_to_stop),
        cmocka_unit_test(proof_of_other_vendors_leaves_no_block),
        cmocka_unit_test(proof_of_its_own_vendor_is_written),
        cmocka_unit_test(an_error_is_the_last_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

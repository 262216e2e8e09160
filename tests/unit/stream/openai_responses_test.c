#define _GNU_SOURCE /* memmem */
#include "unit/stream/trace.h"

/* ---- helpers ---- */

/* Lines of data as events; the caller deinits the result. */
static struct pl_buf events_of(const char *lines)
{
    struct pl_buf buf;
    pl_buf_init(&buf, 0);
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        pl_buf_adds(&buf, "data: ");
        pl_buf_add(&buf, (struct pl_str){lines, n});
        pl_buf_adds(&buf, "\n\n");
        lines += n + (lines[n] == '\n');
    }
    return buf;
}

static struct pl_buf run(const struct pl_dialect *from, const struct pl_dialect *to,
                         const char *lines, enum pl_status expected)
{
    PL_CLEANUP_BUF struct pl_buf events = events_of(lines);
    struct pl_buf out;
    pl_buf_addc(&events, '\0');
    assert_int_equal(run_stream(from, to, events.ptr, SIZE_MAX / 2, &out), expected);
    out.len--;
    return out;
}

static void expect_text(struct pl_buf *got, const char *expected)
{
    if (!pl_str_eq(pl_buf_str(got), pl_str_of(expected)))
        fail_msg("%.*s\ninstead of\n%s", PL_STR_ARG(pl_buf_str(got)), expected);
    pl_buf_deinit(got);
}

static void expect_read_as(const char *lines, enum pl_status status, const char *expected)
{
    PL_CLEANUP_BUF struct pl_buf events = events_of(lines);
    pl_buf_addc(&events, '\0');
    check_stream(&pl_dialect_openai_responses, &trace_dialect, events.ptr, status, expected);
}

static void expect_read(const char *lines, const char *expected)
{
    expect_read_as(lines, PL_OK, expected);
}

static struct pl_buf written(const char *lines)
{
    return run(&trace_dialect, &pl_dialect_openai_responses, lines, PL_OK);
}

static bool has(const struct pl_buf *buf, const char *words)
{
    return memmem(buf->ptr, buf->len, words, strlen(words)) != NULL;
}

#define EXPECT_HAS(buf, words)                                                                     \
    do {                                                                                           \
        if (!has(buf, words))                                                                      \
            fail_msg("no %s in\n%.*s", words, PL_STR_ARG(pl_buf_str(buf)));                        \
    } while (0)

/* The names of the events, one per line. */
static void expect_names(const struct pl_buf *out, const char *expected)
{
    struct pl_buf names;
    pl_buf_init(&names, 0);
    for (size_t at = 0; at < out->len;) {
        struct pl_str rest = pl_str_slice(pl_buf_str(out), at, out->len);
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        if (pl_str_starts(rest, PL_STR("event: ")))
            pl_buf_addf(&names, "%.*s\n", (int)n - 7, rest.ptr + 7);
        else if (pl_str_starts(rest, PL_STR("data: [")))
            pl_buf_addf(&names, "%.*s\n", (int)n - 6, rest.ptr + 6);
        at += n + 1;
    }
    expect_text(&names, expected);
}

#define CREATED                                                                                    \
    "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_7\",\"created_at\":12,"            \
    "\"model\":\"gpt\",\"output\":[]}}\n"
#define ADDED(index, item)                                                                         \
    "{\"type\":\"response.output_item.added\",\"output_index\":" #index ",\"item\":" item "}\n"
#define DONE(index, item)                                                                          \
    "{\"type\":\"response.output_item.done\",\"output_index\":" #index ",\"item\":" item "}\n"
#define SAID(event, index, words)                                                                  \
    "{\"type\":\"response." event ".delta\",\"output_index\":" #index                              \
    ",\"content_index\":0,\"delta\":\"" words "\"}\n"
#define MESSAGE(text)                                                                              \
    "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\"}]}"
#define CALL(id, args)                                                                             \
    "{\"type\":\"function_call\",\"call_id\":\"" id "\",\"name\":\"f\",\"arguments\":" args "}"
#define COMPLETED(output)                                                                          \
    "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[" output  \
    "]}}\n"
#define START   "start resp_7 gpt 12\n"
#define STOPPED "stop stop completed\nend\n"

/* ---- reading ---- */

static void a_text_is_read_from_its_deltas(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, "{\"type\":\"message\",\"content\":[]}")
                    SAID("output_text", 0, "Hé") SAID("output_text", 0, "llo\\n")
                        DONE(0, MESSAGE("Héllo\\n")) COMPLETED(MESSAGE("Héllo\\n")),
                START "+0 text\n0:Hé\n0:llo\\n\n-0\n" STOPPED);
}

static void what_no_delta_said_is_taken_from_done(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, "{\"type\":\"message\",\"content\":[]}") DONE(0, MESSAGE("Hi"))
                    COMPLETED(MESSAGE("Hi")),
                START "+0 text\n0:Hi\n-0\n" STOPPED);
}

static void what_no_event_said_is_taken_from_the_response(void **state)
{
    (void)state;
    expect_read(CREATED COMPLETED(MESSAGE("Hi") "," CALL("c1", "\"{}\"")),
                START "+0 text\n0:Hi\n-0\n+1 call c1 f\n1:{}\n-1\nstop tools completed\nend\n");
}

static void deltas_win_over_done(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, "{\"type\":\"message\",\"content\":[]}")
                    SAID("output_text", 0, "a") DONE(0, MESSAGE("b")) COMPLETED(MESSAGE("c")),
                START "+0 text\n0:a\n-0\n" STOPPED);
}

static void repeated_done_events_change_nothing(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, CALL("c1", "\"\"")) SAID("function_call_arguments", 0, "{}")
                    DONE(0, CALL("c1", "\"{}\"")) DONE(0, CALL("c1", "\"{}\""))
                        ADDED(0, CALL("c1", "\"\"")) SAID("function_call_arguments", 0, "{}")
                            COMPLETED(CALL("c1", "\"{}\"")),
                START "+0 call c1 f\n0:{}\n-0\nstop tools completed\nend\n");
}

/* A client runs what the arguments say. */
static void arguments_are_the_same_everywhere(void **state)
{
    (void)state;
    const char *called = START "+0 call c1 f\n0:{\\\"a\\\":\n0:2}\n-0\nstop tools completed\nend\n";
    const char *differ =
        START "+0 call c1 f\n0:{\\\"a\\\":\nerror api_error  the pieces of a call's "
              "arguments differ from its whole arguments\n";
    expect_read(CREATED ADDED(0, CALL("c1", "\"\""))
                    SAID("function_call_arguments", 0, "{\\\"a\\\":")
                        DONE(0, CALL("c1", "\"{\\\"a\\\":2}\"")) COMPLETED(""),
                called);
    expect_read(CREATED ADDED(0, CALL("c1", "\"\""))
                    SAID("function_call_arguments", 0, "{\\\"a\\\":")
                        SAID("function_call_arguments", 0, "2}")
                            DONE(0, CALL("c1", "\"{ \\\"a\\\": 2 }\"")) COMPLETED(""),
                called);
    expect_read_as(CREATED ADDED(0, CALL("c1", "\"\""))
                       SAID("function_call_arguments", 0, "{\\\"a\\\":")
                           DONE(0, CALL("c1", "\"{\\\"b\\\":2}\"")) COMPLETED(""),
                   PL_INVALID, differ);
    expect_read_as(
        CREATED ADDED(0, CALL("c1", "\"\"")) SAID("function_call_arguments", 0, "{\\\"a\\\":")
            COMPLETED(""),
        PL_INVALID,
        START
        "+0 call c1 f\n0:{\\\"a\\\":\nerror api_error  the answer ended before the arguments of "
        "a call were complete\n");
    expect_read_as(CREATED SAID("function_call_arguments", 0, "{}") COMPLETED(""), PL_INVALID,
                   START "error api_error  a call has arguments, but no name\n");
}

static void another_answer_or_a_failed_one_is_an_error(void **state)
{
    (void)state;
    expect_read_as(
        CREATED
        "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_other\"}}\n" COMPLETED(""),
        PL_INVALID,
        START "error api_error  another answer (response.created) begins before the first one has "
              "ended\n");
    expect_read(CREATED "{\"type\":\"response.completed\",\"response\":{\"status\":\"failed\","
                        "\"error\":{\"code\":\"x\",\"message\":\"no\"}}}\n",
                START "error server_error x no\n");
}

static void the_index_says_who_speaks_whatever_the_id(void **state)
{
    (void)state;
    expect_read(
        CREATED ADDED(
            0,
            "{\"type\":\"message\",\"id\":\"x0\",\"content\":[]}") "{\"type\":\"response.output_"
                                                                   "text.delta\",\"item_id\":"
                                                                   "\"x1\",\"output_index\":0,"
                                                                   "\"content_index\":0,\"delta\":"
                                                                   "\"a\"}\n"
                                                                   "{\"type\":\"response.output_"
                                                                   "text.delta\",\"item_id\":"
                                                                   "\"x2\",\"output_index\":0,"
                                                                   "\"content_index\":0,\"delta\":"
                                                                   "\"b\"}\n" COMPLETED(""),
        START "+0 text\n0:a\n0:b\n-0\n" STOPPED);
}

static void the_id_says_who_speaks_without_an_index(void **state)
{
    (void)state;
    expect_read(
        CREATED
        "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"id\":"
        "\"a\","
        "\"call_id\":\"c1\",\"name\":\"f\"}}\n"
        "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"id\":"
        "\"b\","
        "\"call_id\":\"c2\",\"name\":\"g\"}}\n"
        "{\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"a\",\"delta\":\"1\"}\n"
        "{\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"b\",\"delta\":\"2\"}"
        "\n" COMPLETED(""),
        START "+0 call c1 f\n+1 call c2 g\n0:1\n1:2\n-0\n-1\nstop tools completed\nend\n");
}

static void calls_speak_in_turns(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, CALL("c1", "\"\"")) ADDED(1, CALL("c2", "\"\""))
                    SAID("function_call_arguments", 1, "2") SAID("function_call_arguments", 0, "1")
                        DONE(1, CALL("c2", "\"2\"")) DONE(0, CALL("c1", "\"1\"")) COMPLETED(""),
                START "+0 call c1 f\n+1 call c2 f\n1:2\n0:1\n-1\n-0\nstop tools completed\nend\n");
}

static void items_that_speak_in_turns_are_put_in_order(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, "{\"type\":\"message\",\"content\":[]}")
                    ADDED(1, CALL("c1", "\"\"")) SAID("function_call_arguments", 1, "{")
                        SAID("output_text", 0, "a") SAID("function_call_arguments", 1, "}")
                            SAID("output_text", 0, "b") DONE(1, CALL("c1", "\"{}\""))
                                DONE(0, MESSAGE("ab")) COMPLETED(""),
                START "+0 text\n0:a\n0:b\n-0\n+1 call c1 f\n1:{}\n-1\nstop tools completed\nend\n");
}

static void held_words_are_said_before_an_error(void **state)
{
    (void)state;
    expect_read(
        CREATED ADDED(0, "{\"type\":\"message\",\"content\":[]}")
            ADDED(1, "{\"type\":\"message\",\"content\":[]}") SAID("output_text", 0, "a")
                SAID("output_text", 1, "b") "{\"type\":\"error\",\"code\":\"rate_limit_exceeded\","
                                            "\"message\":\"slow\"}\n",
        START "+0 text\n0:a\n-0 cut\n+1 text\n1:b\n"
              "error rate_limit_error rate_limit_exceeded slow\n");
}

static void arguments_that_are_an_object_become_text(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, CALL("c1", "{\"a\":1}")) DONE(0, CALL("c1", "{\"a\":1}"))
                    COMPLETED(""),
                START "+0 call c1 f\n0:{\\\"a\\\":1}\n-0\nstop tools completed\nend\n");
}

static void a_custom_call_is_marked_as_one(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, "{\"type\":\"custom_tool_call\",\"call_id\":\"c1\",\"name\":\"f\","
                                 "\"input\":\"\"}") SAID("custom_tool_call_input", 0, "go")
                    COMPLETED(""),
                START "+0 call custom c1 f\n0:go\n-0\nstop tools completed\nend\n");
}

static void pieces_of_reasoning_are_set_apart_and_signed(void **state)
{
    (void)state;
    expect_read(
        CREATED ADDED(
            0,
            "{\"type\":\"reasoning\",\"summary\":[]}") "{\"type\":\"response.reasoning_summary_"
                                                       "text.delta\",\"output_index\":0,\"summary_"
                                                       "index\":0,"
                                                       "\"delta\":\"A\"}\n"
                                                       "{\"type\":\"response.reasoning_summary_"
                                                       "text.done\",\"output_index\":0,\"summary_"
                                                       "index\":0,"
                                                       "\"text\":\"A\"}\n"
                                                       "{\"type\":\"response.reasoning_summary_"
                                                       "text.done\",\"output_index\":0,\"summary_"
                                                       "index\":1,"
                                                       "\"text\":\"B\"}\n" DONE(
                                                           0,
                                                           "{\"type\":\"reasoning\",\"summary\":[{"
                                                           "\"text\":\"A\"},{\"text\":"
                                                           "\"B\"}],\"encrypted_content\":\"S\"}")
                                                           COMPLETED(""),
        START "+0 thinking\n0:A\n0:\\n\\n\n0:B\n0 signed S\n-0\n" STOPPED);
}

static void reasoning_that_says_nothing_is_no_part(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, "{\"type\":\"reasoning\",\"summary\":[]}")
                    DONE(0, "{\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"S\"}")
                        ADDED(1, "{\"type\":\"message\",\"content\":[]}")
                            SAID("output_text", 1, "a") COMPLETED(""),
                START "+0 text\n0:a\n-0\n" STOPPED);
}

static void a_refusal_is_a_refusal(void **state)
{
    (void)state;
    expect_read(CREATED ADDED(0, "{\"type\":\"message\",\"content\":[]}") SAID("refusal", 0, "No")
                    COMPLETED(""),
                START "+0 refusal\n0:No\n-0\n" STOPPED);
}

static void annotations_are_told_once_and_behind_the_text(void **state)
{
    (void)state;
#define NOTE "{\"type\":\"url_citation\",\"url\":\"u\",\"title\":\"t\"}"
    expect_read(
        CREATED ADDED(0, "{\"type\":\"message\",\"content\":[]}")
            SAID("output_text", 0,
                 "a") "{\"type\":\"response.output_text.annotation.added\",\"output_index\":0,"
                      "\"content_index\":0,\"annotation\":" NOTE "}\n" SAID("output_text", 0, "b")
                          DONE(0, "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\","
                                  "\"text\":\"ab\",\"annotations\":[" NOTE "]}]}") COMPLETED(""),
        START "+0 text\n0:a\n0:b\n0 cites u t\n-0\n" STOPPED);
}

static void contents_of_one_message_are_parts(void **state)
{
    (void)state;
    expect_read(CREATED DONE(0, "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\","
                                "\"text\":\"a\"},{\"type\":\"refusal\",\"refusal\":\"b\"}]}")
                    COMPLETED(""),
                START "+0 text\n0:a\n-0\n+1 refusal\n1:b\n-1\n" STOPPED);
}

static void usage_and_the_reason_of_an_early_end_are_read(void **state)
{
    (void)state;
    expect_read(
        CREATED
        "{\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\","
        "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[],\"usage\":{"
        "\"input_tokens\":9,\"input_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":2}"
        ","
        "\"output_tokens\":3,\"output_tokens_details\":{\"reasoning_tokens\":1},"
        "\"total_tokens\":12}}}\n",
        START "usage 9 3 12 4 2 1\nstop length max_output_tokens\nend\n");
}

static void a_failed_response_is_an_error(void **state)
{
    (void)state;
    expect_read(CREATED
                "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":"
                "{\"code\":\"server_error\",\"message\":\"down\"}}}\n",
                START "error server_error server_error down\n");
}

static void events_and_items_of_other_kinds_are_passed_over(void **state)
{
    (void)state;
    expect_read(CREATED
                "{\"type\":\"response.web_search_call.searching\",\"output_index\":0}\n" ADDED(
                    0, "{\"type\":\"web_search_call\"}") DONE(0, "{\"type\":\"web_search_call\"}")
                    ADDED(1, "{\"type\":\"message\",\"content\":[]}") SAID("output_text", 1, "a")
                        COMPLETED("{\"type\":\"web_search_call\"}," MESSAGE("a")) "[DONE]\n",
                START "+0 text\n0:a\n-0\n" STOPPED);
}

static void an_answer_of_too_many_items_ends_in_an_error(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    pl_buf_adds(&lines, CREATED);
    for (int i = 0; i < 5000; i++)
        pl_buf_addf(&lines,
                    "{\"type\":\"response.output_item.added\",\"output_index\":%d,\"item\":{"
                    "\"type\":\"message\"}}\n",
                    5000 - i);
    pl_buf_addc(&lines, '\0');
    expect_read_as(lines.ptr, PL_LIMIT, START "error api_error  an answer has too many items\n");
}

static void an_event_that_is_not_json_ends_in_an_error(void **state)
{
    (void)state;
    struct pl_buf out = run(&pl_dialect_openai_responses, &trace_dialect,
                            CREATED SAID("output_text", 0, "a") "{\"type\":\n", PL_SYNTAX);
    EXPECT_HAS(&out, "0:a\nerror api_error  an event is not JSON");
    pl_buf_deinit(&out);
}

/* ---- writing ---- */

static void a_text_has_the_whole_life_of_a_message(void **state)
{
    (void)state;
    struct pl_buf out = written("start r m 5\n+0 text\n0:Hi\n-0\nusage 3 4 -1 2 -1 -1\nend\n");
    expect_names(&out, "response.created\nresponse.in_progress\nresponse.output_item.added\n"
                       "response.content_part.added\nresponse.output_text.delta\n"
                       "response.output_text.done\nresponse.content_part.done\n"
                       "response.output_item.done\nresponse.completed\n[DONE]\n");
    EXPECT_HAS(&out,
               "{\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"output_index\":"
               "0,\"content_index\":0,\"delta\":\"Hi\",\"logprobs\":[],\"sequence_number\":4}");
#define HI                                                                                         \
    "{\"type\":\"message\",\"id\":\"msg_1\",\"status\":\"completed\",\"role\":\"assistant\","      \
    "\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\",\"annotations\":[],\"logprobs\":[]}]}"
    EXPECT_HAS(&out, "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" HI
                     ",\"sequence_number\":7}");
    EXPECT_HAS(&out,
               "\"response\":{\"id\":\"r\",\"object\":\"response\",\"created_at\":5,\"status\":"
               "\"completed\",\"error\":null,\"incomplete_details\":null,\"model\":\"m\","
               "\"output\":[" HI "],");
    EXPECT_HAS(&out, "\"usage\":{\"input_tokens\":3,\"input_tokens_details\":{\"cached_tokens\":2},"
                     "\"output_tokens\":4,\"output_tokens_details\":{\"reasoning_tokens\":0},"
                     "\"total_tokens\":7}},\"sequence_number\":8}\n\ndata: [DONE]\n\n");
    pl_buf_deinit(&out);
}

static void neighbouring_texts_are_contents_of_one_message(void **state)
{
    (void)state;
    struct pl_buf out = written("+0 text\n0:a\n-0\n+1 refusal\n1:b\n-1\nend\n");
    EXPECT_HAS(&out, "\"response.refusal.delta\",\"item_id\":\"msg_1\",\"output_index\":0,"
                     "\"content_index\":1,\"delta\":\"b\",\"sequence_number\"");
    EXPECT_HAS(&out, "\"content\":[{\"type\":\"output_text\",\"text\":\"a\",\"annotations\":[],"
                     "\"logprobs\":[]},{\"type\":\"refusal\",\"refusal\":\"b\"}]}],");
    pl_buf_deinit(&out);
}

static void items_of_all_kinds_are_numbered_in_one_row(void **state)
{
    (void)state;
    struct pl_buf out = written("+0 thinking\n0:hm\n-0\n+1 text\n1:Hi\n-1\n+2 call c1 f\n2:{}\n-2\n"
                                "+3 custom ? g\n3:go\n-3\nend\n");
    EXPECT_HAS(&out, "\"output\":[{\"type\":\"reasoning\",\"id\":\"rs_1\",\"status\":\"completed\","
                     "\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}]},"
                     "{\"type\":\"message\",\"id\":\"msg_2\"");
    EXPECT_HAS(&out, "{\"type\":\"function_call\",\"id\":\"fc_3\",\"status\":\"completed\","
                     "\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"},"
                     "{\"type\":\"custom_tool_call\",\"id\":\"ctc_4\",\"status\":\"completed\","
                     "\"call_id\":\"call_2\",\"name\":\"g\",\"input\":\"go\"}]");
    EXPECT_HAS(&out, "\"response.reasoning_summary_text.delta\",\"item_id\":\"rs_1\","
                     "\"output_index\":0,\"summary_index\":0,\"delta\":\"hm\"");
    EXPECT_HAS(&out, "\"response.custom_tool_call_input.done\",\"item_id\":\"ctc_4\","
                     "\"output_index\":3,\"input\":\"go\"");
    pl_buf_deinit(&out);
}

static void parallel_calls_keep_their_places(void **state)
{
    (void)state;
    struct pl_buf out =
        written("+0 call c1 f\n+1 call c2 g\n1:{\n0:[\n1:}\n0:]\n-1\n-0\nstop tools\nend\n");
    expect_names(&out,
                 "response.created\nresponse.in_progress\nresponse.output_item.added\n"
                 "response.output_item.added\nresponse.function_call_arguments.delta\n"
                 "response.function_call_arguments.delta\nresponse.function_call_arguments.delta\n"
                 "response.function_call_arguments.delta\nresponse.function_call_arguments.done\n"
                 "response.function_call_arguments.done\nresponse.output_item.done\n"
                 "response.output_item.done\nresponse.completed\n[DONE]\n");
    EXPECT_HAS(&out, "\"name\":\"f\",\"arguments\":\"[]\"},{\"type\":\"function_call\",\"id\":"
                     "\"fc_2\",\"status\":\"completed\",\"call_id\":\"c2\",\"name\":\"g\","
                     "\"arguments\":\"{}\"}],");
    pl_buf_deinit(&out);
}

static void a_call_without_arguments_has_an_empty_object(void **state)
{
    (void)state;
    struct pl_buf out = written("+0 call c1 f\n-0\nend\n");
    EXPECT_HAS(&out, "\"delta\":\"{}\"");
    EXPECT_HAS(&out, "\"response.function_call_arguments.done\",\"item_id\":\"fc_1\","
                     "\"output_index\":0,\"arguments\":\"{}\"");
    pl_buf_deinit(&out);
}

static void an_answer_that_was_cut_is_incomplete_in_its_last_item(void **state)
{
    (void)state;
    struct pl_buf out = written("+0 thinking\n0:hm\n-0\n+1 text\n1:Hi\n-1\nstop length\nend\n");
    EXPECT_HAS(&out, "\"id\":\"rs_1\",\"status\":\"completed\"");
    EXPECT_HAS(&out, "\"id\":\"msg_2\",\"status\":\"incomplete\"");
    EXPECT_HAS(&out, "event: response.incomplete\n");
    EXPECT_HAS(&out, "\"incomplete_details\":{\"reason\":\"max_output_tokens\"}");
    pl_buf_deinit(&out);
}

static void parts_without_words_are_not_written(void **state)
{
    (void)state;
    struct pl_buf out = written("+0 thinking\n-0\n+1 redacted\n1:blob\n-1\n+2 text\n-2\nend\n");
    expect_names(&out, "response.created\nresponse.in_progress\nresponse.completed\n[DONE]\n");
    assert_false(has(&out, "blob"));
    pl_buf_deinit(&out);
}

static void a_page_is_cited_for_the_text_it_stands_at(void **state)
{
    (void)state;
    struct pl_buf out = written("+0 text\n0 cites http://u T\n0:\\ud83d\\ude00é!\n-0\nend\n");
#define CITE                                                                                       \
    "{\"type\":\"url_citation\",\"start_index\":0,\"end_index\":3,\"url\":\"http://u\",\"title\":" \
    "\"T\"}"
    EXPECT_HAS(&out, "\"response.output_text.annotation.added\",\"item_id\":\"msg_1\","
                     "\"output_index\":0,\"content_index\":0,\"annotation_index\":0,"
                     "\"annotation\":" CITE);
    EXPECT_HAS(&out, "\"annotations\":[" CITE "],\"logprobs\":[]}]}],");
    pl_buf_deinit(&out);
}

static void an_error_fails_the_response_and_ends_no_call(void **state)
{
    (void)state;
    struct pl_buf out = written("start r m 5\n+0 text\n0:a\n-0\n+1 call c1 f\n1:{\nerror busy\n");
    EXPECT_HAS(&out, "event: response.failed\n");
    EXPECT_HAS(&out, "\"error\":{\"code\":\"server_error\",\"message\":\"busy\"}");
    EXPECT_HAS(&out, "\"output\":[{\"type\":\"message\"");
    assert_false(has(&out, "arguments.done"));
    assert_false(has(&out, "[DONE]"));
    pl_buf_deinit(&out);
}

static void an_error_before_the_start_stands_alone(void **state)
{
    (void)state;
    struct pl_buf out = written("error busy\n");
    expect_text(&out, "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\","
                      "\"message\":\"busy\",\"param\":null,\"sequence_number\":0}\n\n");
}

static void a_stream_passed_through_gets_only_the_end_it_lacks(void **state)
{
    (void)state;
    const char *line = "{\"type\":\"response.created\",\"sequence_number\":4}\n";
    struct pl_buf out =
        run(&pl_dialect_openai_responses, &pl_dialect_openai_responses, line, PL_INVALID);
    expect_text(&out,
                "data: {\"type\":\"response.created\",\"sequence_number\":4}\n\n\n\n"
                "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\","
                "\"message\":\"the stream ended before the answer was complete\",\"param\":null,"
                "\"sequence_number\":5}\n\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_read_from_its_deltas),
        cmocka_unit_test(what_no_delta_said_is_taken_from_done),
        cmocka_unit_test(what_no_event_said_is_taken_from_the_response),
        cmocka_unit_test(deltas_win_over_done),
        cmocka_unit_test(arguments_are_the_same_everywhere),
        cmocka_unit_test(another_answer_or_a_failed_one_is_an_error),
        cmocka_unit_test(repeated_done_events_change_nothing),
        cmocka_unit_test(the_index_says_who_speaks_whatever_the_id),
        cmocka_unit_test(the_id_says_who_speaks_without_an_index),
        cmocka_unit_test(calls_speak_in_turns),
        cmocka_unit_test(items_that_speak_in_turns_are_put_in_order),
        cmocka_unit_test(held_words_are_said_before_an_error),
        cmocka_unit_test(arguments_that_are_an_object_become_text),
        cmocka_unit_test(a_custom_call_is_marked_as_one),
        cmocka_unit_test(pieces_of_reasoning_are_set_apart_and_signed),
        cmocka_unit_test(reasoning_that_says_nothing_is_no_part),
        cmocka_unit_test(a_refusal_is_a_refusal),
        cmocka_unit_test(annotations_are_told_once_and_behind_the_text),
        cmocka_unit_test(contents_of_one_message_are_parts),
        cmocka_unit_test(usage_and_the_reason_of_an_early_end_are_read),
        cmocka_unit_test(a_failed_response_is_an_error),
        cmocka_unit_test(events_and_items_of_other_kinds_are_passed_over),
        cmocka_unit_test(an_answer_of_too_many_items_ends_in_an_error),
        cmocka_unit_test(an_event_that_is_not_json_ends_in_an_error),
        cmocka_unit_test(a_text_has_the_whole_life_of_a_message),
        cmocka_unit_test(neighbouring_texts_are_contents_of_one_message),
        cmocka_unit_test(items_of_all_kinds_are_numbered_in_one_row),
        cmocka_unit_test(parallel_calls_keep_their_places),
        cmocka_unit_test(a_call_without_arguments_has_an_empty_object),
        cmocka_unit_test(an_answer_that_was_cut_is_incomplete_in_its_last_item),
        cmocka_unit_test(parts_without_words_are_not_written),
        cmocka_unit_test(a_page_is_cited_for_the_text_it_stands_at),
        cmocka_unit_test(an_error_fails_the_response_and_ends_no_call),
        cmocka_unit_test(an_error_before_the_start_stands_alone),
        cmocka_unit_test(a_stream_passed_through_gets_only_the_end_it_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

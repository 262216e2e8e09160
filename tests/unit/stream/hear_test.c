/* Streams of the four dialects, read: the same output for any split of the bytes. Lines:
 *
 *     text …   think …   refused …   call ID NAME ARGUMENTS (PROOF)   proof KIND (PROOF)
 *     cites JSON   end FINISH WORD (DETAIL) MODEL IN OUT READ WRITTEN REASONING
 *     error TYPE CODE MESSAGE */
#include "unit/stream/trace.h"

#include "stream/hear.h"

static void add_proof(struct pl_buf *to, const struct pl_heard_proof *proof)
{
    if (proof->signature.len)
        pl_buf_addf(to, " signed %.*s", PL_STR_ARG(proof->signature));
    if (proof->id.len)
        pl_buf_addf(to, " id %.*s", PL_STR_ARG(proof->id));
    if (proof->data.len)
        pl_buf_addf(to, " data %.*s", PL_STR_ARG(proof->data));
    pl_buf_addc(to, '\n');
}

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    pl_buf_addf(ctx, "%s %.*s\n", is_thinking ? "think" : "text", PL_STR_ARG(text));
}

static void on_proof(void *ctx, enum pl_part_kind kind, const struct pl_heard_proof *proof)
{
    pl_buf_addf(ctx, "proof %s", kind_words[kind]);
    add_proof(ctx, proof);
}

static void on_refusal(void *ctx, struct pl_str text)
{
    pl_buf_addf(ctx, "refused %.*s\n", PL_STR_ARG(text));
}

static void on_call(void *ctx, struct pl_str id, struct pl_str name, struct pl_str arguments,
                    const struct pl_heard_proof *proof)
{
    pl_buf_addf(ctx, "call %.*s %.*s %.*s", PL_STR_ARG(id), PL_STR_ARG(name),
                PL_STR_ARG(arguments));
    add_proof(ctx, proof);
}

static void on_citation(void *ctx, struct pl_str json)
{
    pl_buf_addf(ctx, "cites %.*s\n", PL_STR_ARG(json));
}

static void on_end(void *ctx, const struct pl_heard_end *end)
{
    const struct pl_counts *n = &end->counts;
    pl_buf_addf(ctx, "end %s %.*s", finish_words[end->finish], PL_STR_ARG(end->word));
    if (end->detail.len)
        pl_buf_addf(ctx, " (%.*s)", PL_STR_ARG(end->detail));
    pl_buf_addf(ctx, " %.*s %lld %lld %lld %lld %lld\n", PL_STR_ARG(end->model),
                (long long)n->input, (long long)n->output, (long long)n->cache_read,
                (long long)n->cache_write, (long long)n->reasoning);
}

static void on_error(void *ctx, struct pl_str type, struct pl_str code, struct pl_str message)
{
    pl_buf_addf(ctx, "error %.*s %.*s %.*s\n", PL_STR_ARG(type), PL_STR_ARG(code),
                PL_STR_ARG(message));
}

static const struct pl_hear_ops ops = {on_text,     on_proof, on_refusal, on_call,
                                       on_citation, on_end,   on_error};

/* Whole, then byte by byte. */
static void assert_hears(const struct pl_dialect *dialect, const char *input, const char *expected)
{
    size_t n = strlen(input);
    for (size_t step = n; step; step = step == 1 ? 0 : 1) {
        struct pl_hearing *hearing = NULL;
        PL_CLEANUP_BUF struct pl_buf lines;
        pl_buf_init(&lines, 0);
        assert_int_equal(pl_hearing_create(dialect, &ops, &lines, &hearing), PL_OK);
        for (size_t at = 0; at < n; at += step)
            assert_int_equal(pl_hearing_feed(hearing, (struct pl_str){input + at, step}), PL_OK);
        assert_int_equal(pl_hearing_finish(hearing), PL_OK);
        pl_hearing_destroy(hearing);
        pl_buf_addc(&lines, '\0');
        assert_int_equal(lines.status, PL_OK);
        assert_string_equal(lines.ptr, expected);
    }
}

/* --- the four dialects ----------------------------------------------------------------------- */

#define EVENT(type, members) "event: " type "\ndata: {\"type\":\"" type "\"" members "}\n\n"
#define DATA(json)           "data: " json "\n\n"

static const char anthropic[] = EVENT(
    "message_start", ",\"message\":{\"id\":\"msg\",\"model\":\"claude-x\",\"usage\":{\"input_"
                     "tokens\":9,\"cache_read_input_tokens\":4,\"output_tokens\":1}}")
    EVENT("content_block_start",
          ",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}")
        EVENT("content_block_delta", ",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
                                     "\"thinking\":\"Let \\\"me\\\"\\n\"}")
            EVENT("content_block_delta",
                  ",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
                  "\"signature\":\"c2ln\\/\"}") EVENT("content_block_stop", ",\"index\":0")
                EVENT("content_block_start", ",\"index\":1,\"content_block\":{\"type\":"
                                             "\"redacted_thinking\",\"data\":\"abc=\"}")
                    EVENT("content_block_stop", ",\"index\":1") EVENT(
                        "content_block_start", ",\"index\":2,\"content_block\":{\"type\":"
                                               "\"text\",\"text\":\"\"}")
                        EVENT("content_block_delta",
                              ",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":"
                              "\"caf\\u00e9 \\ud83d\\ude00 \xc3\xbc\"}") EVENT("content_block_stop",
                                                                               ",\"index\":2")
#define A_TOOL(index, id, name, json)                                                              \
    EVENT("content_block_start",                                                                   \
          ",\"index\":" index ",\"content_block\":{\"type\":\"tool_use\",\"id\":\"" id             \
          "\",\"name\":\"" name "\",\"input\":{}}")                                                \
    EVENT("content_block_delta",                                                                   \
          ",\"index\":" index ",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"" json \
          "\"}")                                                                                   \
    EVENT("content_block_stop", ",\"index\":" index)
                            A_TOOL("3", "toolu_1", "clock", "{}") A_TOOL(
                                "4", "toolu_2", "echo",
                                "{\\\"n\\\":12345678901234567890,\\\"s\\\":\\\"\\\\u00e9\\\"}")
                                EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"tool_use\"},"
                                                       "\"usage\":{\"output_tokens\":20}")
                                    EVENT("message_stop", "");

static void anthropic_with_thinking_and_two_tools(void **state)
{
    (void)state;
    assert_hears(&pl_dialect_anthropic, anthropic,
                 "think Let \"me\"\n\n"
                 "proof thinking signed c2ln/\n"
                 "proof redacted data abc=\n"
                 "text caf\xc3\xa9 \xf0\x9f\x98\x80 \xc3\xbc\n"
                 "call toolu_1 clock {}\n"
                 "call toolu_2 echo {\"n\":12345678901234567890,\"s\":\"\\u00e9\"}\n"
                 "end tools tool_use claude-x 13 20 4 -1 -1\n");
}

#define CHUNK(delta)                                                                               \
    DATA("{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-x\","   \
         "\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":null}]}")

static const char chat[] = CHUNK("{\"role\":\"assistant\",\"content\":\"\"}")
    CHUNK("{\"reasoning_content\":\"Hm\"}") CHUNK("{\"content\":\"Hi \\\"\\u00e9\\\"\"}") CHUNK(
        "{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{"
        "\"name\":\"clock\",\"arguments\":\"\"}}]}")
        CHUNK("{\"tool_calls\":[{\"index\":1,\"id\":\"call_2\",\"type\":\"function\",\"function\":{"
              "\"name\":\"echo\",\"arguments\":\"{\\\"a\\\":\"}}]}")
            CHUNK("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}") CHUNK(
                "{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"[1]}\"}}]}")
                DATA("{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":"
                     "\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_"
                     "calls\"}]}")
                    DATA("{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,"
                         "\"model\":\"gpt-x\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,"
                         "\"completion_tokens\":5,\"total_tokens\":12,\"prompt_tokens_details\":{"
                         "\"cached_tokens\":3},\"completion_tokens_details\":{\"reasoning_"
                         "tokens\":2}}}") "data: [DONE]\n\n";

static void chat_with_tools_side_by_side(void **state)
{
    (void)state;
    assert_hears(&pl_dialect_openai_chat, chat,
                 "think Hm\n"
                 "text Hi \"\xc3\xa9\"\n"
                 "call call_1 clock {}\n"
                 "call call_2 echo {\"a\":[1]}\n"
                 "end tools tool_calls gpt-x 7 5 3 -1 2\n");
}

static const char responses[] = EVENT(
    "response.created", ",\"sequence_number\":0,\"response\":{\"id\":\"resp\",\"model\":\"gpt-x\","
                        "\"created_at\":1,\"status\":\"in_progress\",\"output\":[]}")
    EVENT("response.output_item.added",
          ",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}")
        EVENT("response.reasoning_summary_part.added",
              ",\"item_id\":\"rs_1\",\"output_index\":0,\"summary_index\":0,\"part\":{\"type\":"
              "\"summary_text\",\"text\":\"\"}")
            EVENT("response.reasoning_summary_text.delta",
                  ",\"item_id\":\"rs_1\",\"output_index\":0,\"summary_index\":0,\"delta\":\"Hm\"")
                EVENT("response.reasoning_summary_text.done",
                      ",\"item_id\":\"rs_1\",\"output_index\":0,\"summary_index\":0,\"text\":"
                      "\"Hm\"")
                    EVENT("response.output_item.done",
                          ",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs_1\","
                          "\"summary\":[{\"type\":\"summary_text\",\"text\":\"Hm\"}],\"encrypted_"
                          "content\":\"ENC\"}")
                        EVENT("response.output_item.added",
                              ",\"output_index\":1,\"item\":{\"type\":\"message\",\"id\":\"msg_1\","
                              "\"role\":\"assistant\",\"status\":\"in_progress\",\"content\":[]}")
                            EVENT("response.content_part.added",
                                  ",\"item_id\":\"msg_1\",\"output_index\":1,\"content_index\":0,"
                                  "\"part\":{\"type\":\"output_text\",\"text\":\"\",\"annotations\""
                                  ":[]}")
                                EVENT("response.output_text.delta",
                                      ",\"item_id\":\"msg_1\",\"output_index\":1,\"content_index\":"
                                      "0,\"delta\":\"Hi\"")
                                    EVENT("response.output_text.done",
                                          ",\"item_id\":\"msg_1\",\"output_index\":1,\"content_"
                                          "index\":0,\"text\":\"Hi\"")
                                        EVENT("response.output_item.done",
                                              ",\"output_index\":1,\"item\":{\"type\":\"message\","
                                              "\"id\":\"msg_1\",\"role\":\"assistant\",\"status\":"
                                              "\"completed\",\"content\":[{\"type\":\"output_"
                                              "text\",\"text\":\"Hi\",\"annotations\":[]}]}")
#define R_CALL(index, fc, call, name, json)                                                        \
    EVENT("response.output_item.added",                                                            \
          ",\"output_index\":" index ",\"item\":{\"type\":\"function_call\",\"id\":\"" fc          \
          "\",\"call_id\":\"" call "\",\"name\":\"" name                                           \
          "\",\"arguments\":\"\",\"status\":\"in_progress\"}")                                     \
    EVENT("response.function_call_arguments.delta",                                                \
          ",\"item_id\":\"" fc "\",\"output_index\":" index ",\"delta\":\"" json "\"")             \
    EVENT("response.function_call_arguments.done",                                                 \
          ",\"item_id\":\"" fc "\",\"output_index\":" index ",\"arguments\":\"" json "\"")         \
    EVENT("response.output_item.done",                                                             \
          ",\"output_index\":" index ",\"item\":{\"type\":\"function_call\",\"id\":\"" fc          \
          "\",\"call_id\":\"" call "\",\"name\":\"" name "\",\"arguments\":\"" json                \
          "\",\"status\":\"completed\"}")
                                            R_CALL("2", "fc_1", "call_1", "clock", "{}") R_CALL(
                                                "3", "fc_2", "call_2", "echo", "{\\\"a\\\":1}")
                                                EVENT("response.completed",
                                                      ",\"response\":{\"id\":\"resp\",\"model"
                                                      "\":\"gpt-x\",\"created_at\":1,\"status"
                                                      "\":\"completed\",\"output\":[],"
                                                      "\"usage\":{\"input_tokens\":8,\"input_"
                                                      "tokens_details\":{\"cached_tokens\":2},"
                                                      "\"output_tokens\":6,\"output_tokens_"
                                                      "details\":{\"reasoning_tokens\":4},"
                                                      "\"total_tokens\":14}}");

static void responses_with_reasoning_that_is_kept(void **state)
{
    (void)state;
    assert_hears(&pl_dialect_openai_responses, responses,
                 "think Hm\n"
                 "proof thinking signed ENC id rs_1\n"
                 "text Hi\n"
                 "call call_1 clock {}\n"
                 "call call_2 echo {\"a\":1}\n"
                 "end tools completed gpt-x 8 6 2 -1 4\n");
}

#define GEMINI(parts, rest)                                                                        \
    DATA("{\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[" parts         \
         "]}" rest "}],\"modelVersion\":\"gemini-x\",\"responseId\":\"r\",\"usageMetadata\":{"     \
         "\"promptTokenCount\":8,\"candidatesTokenCount\":5,\"thoughtsTokenCount\":2,"             \
         "\"cachedContentTokenCount\":1,\"totalTokenCount\":15}}")

static const char gemini[] =
    GEMINI("{\"text\":\"Hm\",\"thought\":true}", "") GEMINI("{\"text\":\"Hi\"}", "")
        GEMINI("{\"functionCall\":{\"name\":\"clock\",\"args\":{}},\"thoughtSignature\":\"SIG\"},"
               "{\"functionCall\":{\"name\":\"echo\",\"args\":{\"n\":1.50}}}",
               ",\"finishReason\":\"STOP\"");

static void gemini_with_a_signed_call(void **state)
{
    (void)state;
    struct pl_hearing *hearing = NULL;
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    assert_int_equal(pl_hearing_create(&pl_dialect_gemini, &ops, &lines, &hearing), PL_OK);
    assert_int_equal(pl_hearing_feed(hearing, PL_STR(gemini)), PL_OK);
    assert_int_equal(pl_hearing_finish(hearing), PL_OK);
    pl_hearing_destroy(hearing);
    pl_buf_addc(&lines, '\0');
    /* The reader makes the ids; Gemini has none. */
    assert_non_null(strstr(lines.ptr, "think Hm\ntext Hi\ncall "));
    assert_non_null(strstr(lines.ptr, " clock {} signed SIG\ncall "));
    assert_non_null(strstr(lines.ptr, " echo {\"n\":1.50}\nend "));
    assert_non_null(strstr(lines.ptr, "STOP gemini-x 8 7 1 -1 2\n"));
}

/* --- errors ---------------------------------------------------------------------------------- */

static void an_error_in_mid_answer_is_the_last_that_is_told(void **state)
{
    (void)state;
    assert_hears(&pl_dialect_anthropic,
                 EVENT("message_start", ",\"message\":{\"id\":\"i\",\"model\":\"m\"}")
                     EVENT("error", ",\"error\":{\"type\":\"overloaded_error\",\"message\":"
                                    "\"Over\\u006coaded\"}") EVENT("message_stop", ""),
                 "error overloaded_error  Overloaded\n");
    assert_hears(&pl_dialect_openai_chat,
                 CHUNK("{\"content\":\"a\"}")
                     DATA("{\"error\":{\"message\":\"no\",\"type\":\"t\",\"code\":\"c\"}}"),
                 "text a\nerror t c no\n");
}

static void half_a_call_is_none(void **state)
{
    (void)state;
    struct pl_hearing *hearing = NULL;
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    assert_int_equal(pl_hearing_create(&pl_dialect_openai_chat, &ops, &lines, &hearing), PL_OK);
    assert_int_equal(
        pl_hearing_feed(hearing, PL_STR(CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\","
                                              "\"function\":{\"name\":\"f\",\"arguments\":\"{"
                                              "\\\"a\\\":\"}}]}"))),
        PL_OK);
    assert_int_equal(pl_hearing_finish(hearing), PL_OK);
    pl_hearing_destroy(hearing);
    pl_buf_addc(&lines, '\0');
    assert_int_equal(strncmp(lines.ptr, "error ", 6), 0);
    assert_null(strstr(lines.ptr, "call call_1"));
}

static void what_is_no_json_is_an_error_of_the_stream(void **state)
{
    (void)state;
    const struct pl_dialect *all[] = {&pl_dialect_anthropic, &pl_dialect_openai_chat,
                                      &pl_dialect_openai_responses, &pl_dialect_gemini};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pl_hearing *hearing = NULL;
        PL_CLEANUP_BUF struct pl_buf lines;
        pl_buf_init(&lines, 0);
        assert_int_equal(pl_hearing_create(all[i], &ops, &lines, &hearing), PL_OK);
        assert_int_equal(pl_hearing_feed(hearing, PL_STR("data: {\"a\": nope\n\n")), PL_OK);
        assert_int_equal(pl_hearing_feed(hearing, PL_STR("data: {}\n\n")), PL_OK);
        assert_int_equal(pl_hearing_finish(hearing), PL_OK);
        pl_hearing_destroy(hearing);
        assert_true(pl_str_starts(pl_buf_str(&lines), PL_STR("error ")));
        assert_null(memchr(lines.ptr, '\n', lines.len - 1)); /* reported once */
    }
}

static void an_empty_stream_is_an_error(void **state)
{
    (void)state;
    struct pl_hearing *hearing = NULL;
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    assert_int_equal(pl_hearing_create(&pl_dialect_anthropic, &ops, &lines, &hearing), PL_OK);
    assert_int_equal(pl_hearing_finish(hearing), PL_OK);
    pl_hearing_destroy(hearing);
    assert_true(pl_str_starts(pl_buf_str(&lines), PL_STR("error ")));
}

static void a_refusal_is_told_apart(void **state)
{
    (void)state;
    assert_hears(&pl_dialect_openai_chat,
                 CHUNK("{\"refusal\":\"I can\\u2019t\"}")
                     DATA("{\"id\":\"c\",\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{}"
                          ",\"finish_reason\":\"stop\"}]}") "data: [DONE]\n\n",
                 "refused I can\xe2\x80\x99t\nend stop stop gpt-x -1 -1 -1 -1 -1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anthropic_with_thinking_and_two_tools),
        cmocka_unit_test(chat_with_tools_side_by_side),
        cmocka_unit_test(responses_with_reasoning_that_is_kept),
        cmocka_unit_test(gemini_with_a_signed_call),
        cmocka_unit_test(an_error_in_mid_answer_is_the_last_that_is_told),
        cmocka_unit_test(half_a_call_is_none),
        cmocka_unit_test(what_is_no_json_is_an_error_of_the_stream),
        cmocka_unit_test(an_empty_stream_is_an_error),
        cmocka_unit_test(a_refusal_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

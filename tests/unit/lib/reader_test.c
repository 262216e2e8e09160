/* Streams as deltas, through the public header. */
#include "parley/parley.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define EVENT(type, json) "event: " type "\ndata: " json "\n\n"

/* Thinking with a signature, a text with an escape and a citation, and a call. */
static const char answer[] = EVENT(
    "message_start",
    "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":"
    "\"assistant\",\"model\":\"claude-opus-4-5\",\"content\":[],\"stop_reason\":null,"
    "\"stop_sequence\":null,\"usage\":{\"input_tokens\":11,\"output_tokens\":1}}}")
    EVENT("content_block_start",
          "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\","
          "\"thinking\":\"\",\"signature\":\"\"}}")
        EVENT(
            "content_block_delta",
            "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
            "\"thinking\":\"Rain?\"}}") EVENT("content_block_delta",
                                              "{\"type\":\"content_block_delta\",\"index\":0,"
                                              "\"delta\":{\"type\":\"signature_delta\","
                                              "\"signature\":\"sig==\"}}")
            EVENT("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}") EVENT(
                "content_block_start",
                "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":"
                "\"text\","
                "\"text\":\"\"}}") EVENT("content_block_delta",
                                         "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{"
                                         "\"type\":\"text_delta\","
                                         "\"text\":\"I\\nlook \\u00e9\"}}")
                EVENT("content_block_delta", "{\"type\":\"content_block_delta\",\"index\":1,"
                                             "\"delta\":{\"type\":\"text_delta\","
                                             "\"text\":\" up.\"}}")
                    EVENT("content_block_delta", "{\"type\":\"content_block_delta\",\"index\":1,"
                                                 "\"delta\":{\"type\":\"citations_delta\","
                                                 "\"citation\":{\"type\":\"web_search_result_"
                                                 "location\",\"cited_text\":\"c\",\"url\":"
                                                 "\"https://a.example/\",\"title\":\"A "
                                                 "\\\"b\\\"\",\"encrypted_index\":\"e\"}}}")
                        EVENT("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":1}")
                            EVENT("content_block_start",
                                  "{\"type\":\"content_block_start\",\"index\":2,\"content_block\":"
                                  "{\"type\":\"tool_use\","
                                  "\"id\":\"toolu_1\",\"name\":\"weather\",\"input\":{}}}")
                                EVENT("content_block_delta",
                                      "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{"
                                      "\"type\":\"input_json_delta\","
                                      "\"partial_json\":\"{\\\"city\\\":\"}}")
                                    EVENT("content_block_delta",
                                          "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
                                          "{\"type\":\"input_json_delta\","
                                          "\"partial_json\":\"\\\"K\\u00f6ln\\\"}\"}}")
                                        EVENT("content_block_stop",
                                              "{\"type\":\"content_block_stop\",\"index\":2}")
                                            EVENT("message_delta",
                                                  "{\"type\":\"message_delta\",\"delta\":{\"stop_"
                                                  "reason\":\"tool_use\",\"stop_sequence\":"
                                                  "null},\"usage\":{\"output_tokens\":7}}")
                                                EVENT("message_stop",
                                                      "{\"type\":\"message_stop\"}");

/* The deltas read, as lines. */
struct told {
    char lines[8192];
    size_t n;
};

static void tell(struct told *told, const struct parley_delta *d)
{
    static const char *const names[] = {
        [PARLEY_DELTA_START] = "start",         [PARLEY_DELTA_TEXT] = "text",
        [PARLEY_DELTA_THINKING] = "thinking",   [PARLEY_DELTA_REFUSAL] = "refusal",
        [PARLEY_DELTA_CALL_BEGIN] = "begin",    [PARLEY_DELTA_CALL_ARGUMENTS] = "arguments",
        [PARLEY_DELTA_CALL_END] = "end",        [PARLEY_DELTA_CITATION] = "citation",
        [PARLEY_DELTA_SIGNATURE] = "signature", [PARLEY_DELTA_REDACTED] = "redacted",
        [PARLEY_DELTA_OTHER] = "other",         [PARLEY_DELTA_ABOUT] = "about",
        [PARLEY_DELTA_USAGE] = "usage",         [PARLEY_DELTA_FINISH] = "finish",
        [PARLEY_DELTA_END] = "whole",           [PARLEY_DELTA_ERROR] = "error",
    };
    const struct parley_text *texts[] = {&d->text, &d->id,           &d->name,  &d->model,
                                         &d->json, &d->url,          &d->title, &d->word,
                                         &d->code, &d->stop_sequence};
    told->n += (size_t)snprintf(told->lines + told->n, sizeof told->lines - told->n, "%s %u",
                                names[d->kind], d->part);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_non_null(texts[i]->ptr);
        assert_int_equal(texts[i]->ptr[texts[i]->size], 0);
        if (texts[i]->size)
            told->n += (size_t)snprintf(told->lines + told->n, sizeof told->lines - told->n,
                                        " <%s>", texts[i]->ptr);
    }
    if (d->kind == PARLEY_DELTA_USAGE)
        told->n += (size_t)snprintf(told->lines + told->n, sizeof told->lines - told->n, " %d %d",
                                    (int)d->usage.input, (int)d->usage.output);
    told->n += (size_t)snprintf(told->lines + told->n, sizeof told->lines - told->n, "%s%s%s\n",
                                d->is_custom ? " custom" : "", d->is_cut ? " cut" : "",
                                d->finish == PARLEY_FINISH_TOOLS ? " tools" : "");
    assert_true(told->n < sizeof told->lines);
}

static void take_all(struct parley_reader *reader, struct told *told)
{
    for (const struct parley_delta *delta; (delta = parley_reader_next(reader));)
        tell(told, delta);
}

/* Feeds pieces of `piece` bytes; returns the status of the end. */
static enum parley_status read_all(const char *dialect, const char *bytes, size_t size,
                                   size_t piece, struct told *told)
{
    struct parley_reader *reader = NULL;
    enum parley_status status = PARLEY_OK;
    *told = (struct told){.n = 0};
    assert_int_equal(parley_reader_create(dialect, &reader, NULL), PARLEY_OK);
    for (size_t at = 0; at < size && status == PARLEY_OK; at += piece) {
        status =
            parley_reader_feed(reader, bytes + at, size - at < piece ? size - at : piece, NULL);
        take_all(reader, told);
    }
    if (status == PARLEY_OK)
        status = parley_reader_end(reader, NULL);
    take_all(reader, told);
    assert_null(parley_reader_next(reader));
    parley_reader_destroy(reader);
    return status;
}

static const char expected[] =
    "start 0 <msg_1> <claude-opus-4-5>\n"
    "thinking 0 <Rain?>\n"
    "signature 0 <sig==>\n"
    "text 1 <I\nlook \xc3\xa9>\n"
    "text 1 < up.>\n"
    "citation 1 <{\"type\":\"web_search_result_location\",\"cited_text\":\"c\",\"url\":"
    "\"https://a.example/\",\"title\":\"A \\\"b\\\"\",\"encrypted_index\":\"e\"}> "
    "<https://a.example/> <A \"b\">\n"
    "begin 2 <toolu_1> <weather>\n"
    "arguments 2 <{\"city\":> <toolu_1> <weather>\n"
    "arguments 2 <\"K\xc3\xb6ln\"}> <toolu_1> <weather>\n"
    "end 2 <{\"city\":\"K\xc3\xb6ln\"}> <toolu_1> <weather>\n"
    "usage 0 11 7\n"
    "finish 0 <tool_use> tools\n"
    "whole 0\n";

static void a_stream_is_told_as_deltas(void **state)
{
    (void)state;
    struct told told;
    assert_int_equal(read_all("anthropic", answer, strlen(answer), sizeof answer, &told),
                     PARLEY_OK);
    assert_string_equal(told.lines, expected);
}

static void the_deltas_are_the_same_however_the_bytes_are_cut(void **state)
{
    (void)state;
    struct told told;
    for (size_t piece = 1; piece < 40; piece += 3) {
        assert_int_equal(read_all("anthropic", answer, strlen(answer), piece, &told), PARLEY_OK);
        assert_string_equal(told.lines, expected);
    }
}

static void deltas_that_were_not_asked_for_stay(void **state)
{
    (void)state;
    struct parley_reader *reader = NULL;
    struct told told = {.n = 0};
    assert_int_equal(parley_reader_create("anthropic", &reader, NULL), PARLEY_OK);
    for (size_t at = 0; at < strlen(answer); at += 100) {
        size_t left = strlen(answer) - at;
        assert_int_equal(parley_reader_feed(reader, answer + at, left < 100 ? left : 100, NULL),
                         PARLEY_OK);
        /* Takes one of them every other time. */
        const struct parley_delta *delta = at % 200 ? parley_reader_next(reader) : NULL;
        if (delta)
            tell(&told, delta);
    }
    assert_int_equal(parley_reader_end(reader, NULL), PARLEY_OK);
    take_all(reader, &told);
    assert_string_equal(told.lines, expected);
    parley_reader_destroy(reader);
}

/* The parts that every dialect can express. */
struct gist {
    char text[64], call[128];
    enum parley_finish finish;
    struct parley_usage usage;
    bool is_whole;
};

static void add(char *to, size_t room, struct parley_text text)
{
    assert_true(strlen(to) + text.size < room);
    memcpy(to + strlen(to), text.ptr, text.size + 1);
}

static void add_to_gist(struct gist *gist, const struct parley_delta *delta)
{
    if (delta->kind == PARLEY_DELTA_TEXT)
        add(gist->text, sizeof gist->text, delta->text);
    if (delta->kind == PARLEY_DELTA_CALL_END) {
        add(gist->call, sizeof gist->call, delta->name);
        add(gist->call, sizeof gist->call, delta->text);
    }
    if (delta->kind == PARLEY_DELTA_USAGE)
        gist->usage = delta->usage;
    if (delta->kind == PARLEY_DELTA_FINISH)
        gist->finish = delta->finish;
    gist->is_whole |= delta->kind == PARLEY_DELTA_END;
}

static struct gist gist_of(const char *dialect, const char *bytes, size_t size)
{
    struct gist gist = {.finish = PARLEY_FINISH_NONE};
    struct parley_reader *reader = NULL;
    const struct parley_delta *delta;
    assert_int_equal(parley_reader_create(dialect, &reader, NULL), PARLEY_OK);
    assert_int_equal(parley_reader_feed(reader, bytes, size, NULL), PARLEY_OK);
    while ((delta = parley_reader_next(reader)))
        add_to_gist(&gist, delta);
    assert_int_equal(parley_reader_end(reader, NULL), PARLEY_OK);
    while ((delta = parley_reader_next(reader)))
        add_to_gist(&gist, delta);
    parley_reader_destroy(reader);
    return gist;
}

static void every_dialect_says_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; parley_dialect_name(i); i++) {
        const char *name = parley_dialect_name(i);
        struct parley_stream *stream = NULL;
        size_t size;
        assert_int_equal(parley_stream_create("anthropic", name, &stream, NULL), PARLEY_OK);
        assert_int_equal(parley_stream_feed(stream, answer, strlen(answer), NULL), PARLEY_OK);
        assert_int_equal(parley_stream_end(stream, NULL), PARLEY_OK);
        const char *bytes = parley_stream_take(stream, &size);
        struct gist gist = gist_of(name, bytes, size);
        assert_string_equal(gist.text, "I\nlook \xc3\xa9 up.");
        assert_string_equal(gist.call, "weather{\"city\":\"K\xc3\xb6ln\"}");
        assert_int_equal(gist.finish, PARLEY_FINISH_TOOLS);
        assert_true(gist.is_whole);
        assert_int_equal(gist.usage.input, 11);
        assert_int_equal(gist.usage.output, 7);
        parley_stream_destroy(stream);
    }
}

static void a_stream_that_breaks_off_ends_its_calls_and_then_in_an_error(void **state)
{
    (void)state;
    struct told told;
    size_t n = (size_t)(strstr(answer, "\"{\\\"city\\\":\"}}\n\n") - answer) +
               strlen("\"{\\\"city\\\":\"}}\n\n");
    assert_int_equal(read_all("anthropic", answer, n, 50, &told), PARLEY_INVALID);
    const char *end = strstr(told.lines, "end 2 ");
    assert_non_null(end);
    assert_non_null(strstr(end, " cut\n"));
    assert_non_null(strstr(end, "error 0 <the stream ended before the answer was complete>"));
    assert_null(strstr(told.lines, "whole"));
}

static void an_error_of_the_vendor_is_a_delta_and_no_failure(void **state)
{
    (void)state;
    static const char error[] =
        EVENT("error", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":"
                       "\"Come\\nback\"}}");
    struct told told;
    assert_int_equal(read_all("anthropic", error, strlen(error), 7, &told), PARLEY_OK);
    assert_non_null(strstr(told.lines, "error 0 <Come\nback> <"));
}

static void bytes_that_are_no_stream_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "data: {\"choices\":\n\n",
        "data: [1,\n\n",
    };
    for (size_t d = 0; parley_dialect_name(d); d++)
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            struct told told;
            enum parley_status status =
                read_all(parley_dialect_name(d), wrong[i], strlen(wrong[i]), 4, &told);
            assert_true(status == PARLEY_SYNTAX || status == PARLEY_INVALID);
            assert_non_null(strstr(told.lines, "error "));
        }
}

/* Values of every type in place of a text, a list or an object. */
static void values_of_another_type_end_no_reader(void **state)
{
    (void)state;
    static const char *const values[] = {"null", "true", "1", "\"x\"", "[]", "{}", "[[1]]", "[{}]"};
    /* A value follows each piece except the last. */
    static const char *const shapes[][4] = {
        {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":", ",\"tool_calls\":",
         "}}],\"usage\":", "}\n\n"},
        {"data: {\"type\":\"content_block_start\",\"index\":", ",\"content_block\":", ",\"usage\":",
         "}\n\n"},
        {"data: {\"type\":\"response.output_text.delta\",\"output_index\":", ",\"delta\":",
         ",\"item\":", "}\n\n"},
        {"data: {\"candidates\":[{\"content\":{\"parts\":", "},\"finishReason\":",
         "}],\"usageMetadata\":", "}\n\n"},
        {"data: {\"id\":", ",\"choices\":", ",\"error\":", "}\n\n"},
    };
    for (size_t d = 0; parley_dialect_name(d); d++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                char event[512];
                struct told told;
                (void)snprintf(event, sizeof event, "%s%s%s%s%s%s%s", shapes[s][0], values[v],
                               shapes[s][1], values[v], shapes[s][2], values[v], shapes[s][3]);
                (void)read_all(parley_dialect_name(d), event, strlen(event), 64, &told);
                assert_true(strstr(told.lines, "whole ") || strstr(told.lines, "error "));
            }
}

static void a_dialect_must_be_known(void **state)
{
    (void)state;
    struct parley_reader *reader = NULL;
    struct parley_error err;
    assert_int_equal(parley_reader_create("smoke", &reader, &err), PARLEY_NOT_FOUND);
    assert_non_null(strstr(err.message, "parley_dialect_name()"));
    assert_int_equal(parley_reader_create(NULL, &reader, &err), PARLEY_NOT_FOUND);
    assert_null(reader);
    parley_reader_destroy(NULL);
}

static void several_answers_are_told_apart(void **state)
{
    (void)state;
    static const char two[] = "data: "
                              "{\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"index\":1,\"delta\":{"
                              "\"content\":\"b\"}}]}\n\n"
                              "data: "
                              "{\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{"
                              "\"content\":\"a\"}}]}\n\n"
                              "data: "
                              "{\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"index\":1,\"delta\":{}"
                              ",\"finish_reason\":\"length\"}]}\n\n"
                              "data: "
                              "{\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{}"
                              ",\"finish_reason\":\"stop\"}]}\n\n"
                              "data: [DONE]\n\n";
    struct parley_reader *reader = NULL;
    int n_finished = 0;
    assert_int_equal(parley_reader_create("openai-chat", &reader, NULL), PARLEY_OK);
    assert_int_equal(parley_reader_feed(reader, two, strlen(two), NULL), PARLEY_OK);
    for (const struct parley_delta *delta; (delta = parley_reader_next(reader));) {
        if (delta->kind == PARLEY_DELTA_TEXT)
            assert_string_equal(delta->text.ptr, delta->choice ? "b" : "a");
        if (delta->kind == PARLEY_DELTA_FINISH) {
            assert_int_equal(delta->finish,
                             delta->choice ? PARLEY_FINISH_LENGTH : PARLEY_FINISH_STOP);
            n_finished++;
        }
    }
    assert_int_equal(n_finished, 2);
    parley_reader_destroy(reader);
}

static void parts_of_one_vendor_come_as_they_are(void **state)
{
    (void)state;
    static const char search[] = EVENT(
        "message_start", "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":"
                         "\"message\",\"role\":\"assistant\",\"model\":\"c\",\"content\":[]}}")
        EVENT("content_block_start",
              "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
              "\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\",\"input\":{}}}")
            EVENT("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}")
                EVENT("content_block_start",
                      "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":"
                      "\"web_search_tool_result\",\"tool_use_id\":\"s1\",\"content\":[]}}")
                    EVENT("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":1}")
                        EVENT("message_delta",
                              "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                              "\"end_turn\"},\"usage\":{\"output_tokens\":7}}")
                            EVENT("message_stop", "{\"type\":\"message_stop\"}");
    struct told told;
    assert_int_equal(read_all("anthropic", search, strlen(search), 64, &told), PARLEY_OK);
    const char *other = strstr(told.lines, "other 0 <[{\"type\":\"server_tool_use\"");
    assert_non_null(other);
    assert_non_null(strstr(other, ",{\"type\":\"web_search_tool_result\""));
    assert_non_null(strstr(other, "}]>\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_told_as_deltas),
        cmocka_unit_test(the_deltas_are_the_same_however_the_bytes_are_cut),
        cmocka_unit_test(deltas_that_were_not_asked_for_stay),
        cmocka_unit_test(every_dialect_says_the_same),
        cmocka_unit_test(a_stream_that_breaks_off_ends_its_calls_and_then_in_an_error),
        cmocka_unit_test(an_error_of_the_vendor_is_a_delta_and_no_failure),
        cmocka_unit_test(bytes_that_are_no_stream_are_refused),
        cmocka_unit_test(values_of_another_type_end_no_reader),
        cmocka_unit_test(a_dialect_must_be_known),
        cmocka_unit_test(several_answers_are_told_apart),
        cmocka_unit_test(parts_of_one_vendor_come_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

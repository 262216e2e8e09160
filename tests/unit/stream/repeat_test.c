/* Events that repeat the previous one take a shortcut (stream/repeat.h). Fed byte by byte, a stream
 * never takes it; fed whole, it does. Both must give the same result, whatever the values and
 * whatever happens in between. */
#include "unit/stream/trace.h"

/* ---- the shortcut itself ---- */

#define EVENT "data: {\"n\":7,\"w\":\"one\"}\n\n"

/* Learns EVENT, with its number and its words as holes. */
static void learn(struct pl_repeat *r)
{
    struct pl_str event = PL_STR(EVENT);
    pl_repeat_init(r);
    pl_repeat_offer_words(r, (struct pl_str){strstr(event.ptr, "one"), 3},
                          (struct pl_repeat_of){.key = 5});
    pl_repeat_offer_hole(r, (struct pl_str){strstr(event.ptr, "7"), 1}, 9);
    assert_int_equal(pl_repeat_learn(r, event), PL_OK);
    assert_true(r->patterns[r->latest].is_set);
}

static void an_event_with_other_words_is_found_and_measured(void **state)
{
    struct pl_repeat r;
    struct pl_str input = PL_STR("data: {\"n\":12,\"w\":\"two \\\"\\u00e9\xc3\xa9\"}\n\ndata: ");
    (void)state;
    learn(&r);
    assert_int_equal(pl_repeat_match(&r, input), input.len - 6);
    assert_int_equal(r.of.key, 5);
    assert_true(pl_str_eq(r.words, PL_STR("two \\\"\\u00e9\xc3\xa9")));
    assert_int_equal(r.holes[0].name, 9);
    assert_int_equal(pl_repeat_number(r.holes[0].is), 12);
    pl_repeat_deinit(&r);
}

static void anything_else_is_not(void **state)
{
    static const char *const others[] = {
        "",
        "data: {\"n\":8,\"w\":\"\"}\n\n",
        "data: {\"n\":8,\"w\":\"two\"}\n",
        "data: {\"n\":8,\"w\":\"two",
        "data: {\"n\":8",
        "data: {\"n\":8,\"w\":\"two\"} \n\n",
        "data: {\"n\":8,\"v\":\"two\"}\n\n",
        "data: {\"n\":08,\"w\":\"two\"}\n\n",
        "data: {\"n\":-8,\"w\":\"two\"}\n\n",
        "data: {\"n\":8.5,\"w\":\"two\"}\n\n",
        "data: {\"n\":,\"w\":\"two\"}\n\n",
        "data: {\"n\":9999999999999999999,\"w\":\"two\"}\n\n",
        "data: {\"n\":8,\"w\":\"t\tw\"}\n\n",
        "data: {\"n\":8,\"w\":\"t\\x\"}\n\n",
        "data: {\"n\":8,\"w\":\"\\u12g4\"}\n\n",
        "data: {\"n\":8,\"w\":\"\\u12\"}\n\n",
        "data: {\"n\":8,\"w\":\"two\\\"}\n\n",
        "data: {\"n\":8,\"w\":\"\xc3\"}\n\n",
        "data: {\"n\":8,\"w\":\"two\",\"w\":\"three\"}\n\n",
    };
    struct pl_repeat r;
    (void)state;
    learn(&r);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (pl_repeat_match(&r, pl_str_of(others[i])) != 0)
            fail_msg("%s", others[i]);
    pl_repeat_deinit(&r);
}

static void an_offer_that_said_more_is_not_remembered(void **state)
{
    struct pl_str event = PL_STR(EVENT), word = {strstr(event.ptr, "one"), 3};
    struct pl_repeat r;
    (void)state;
    pl_repeat_init(&r);
    pl_repeat_offer_words(&r, word, (struct pl_repeat_of){0});
    pl_repeat_offer_words(&r, word, (struct pl_repeat_of){0});
    assert_int_equal(pl_repeat_learn(&r, event), PL_OK);
    assert_false(r.patterns[r.latest].is_set);
    r.offer = (struct pl_repeat_offer){0};
    pl_repeat_offer_words(&r, PL_STR("elsewhere"), (struct pl_repeat_of){0});
    assert_int_equal(pl_repeat_learn(&r, event), PL_OK);
    assert_false(r.patterns[r.latest].is_set);
    pl_repeat_deinit(&r);
}

/* ---- readers ---- */

/* @ means words, # a number. */
struct shape {
    const char *name;
    const struct pl_dialect *from;
    const char *before, *event, *after;
    const char *between; /* another event */
};

#define CHAT(inner)                                                                                \
    "data: {\"id\":\"i\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{" inner              \
    "},\"finish_reason\":null}],\"obfuscation\":\"#\"}\n\n"
#define CHAT_CALL(index, id)                                                                       \
    CHAT("\"tool_calls\":[{\"index\":" index ",\"id\":\"" id                                       \
         "\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]")
#define CHAT_END                                                                                   \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"              \
    "data: [DONE]\n\n"

#define RESPONSES(type, more) "data: {\"type\":\"response." type "\"," more "}\n\n"
#define ITEM(index, item)                                                                          \
    RESPONSES("output_item.added", "\"output_index\":" index ",\"item\":" item)
#define MESSAGE "{\"type\":\"message\",\"id\":\"m1\",\"content\":[]}"
#define CALL    "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"\"}"
#define THOUGHT "{\"type\":\"reasoning\",\"id\":\"r1\",\"summary\":[]}"
#define RESPONSES_END                                                                              \
    RESPONSES("completed", "\"response\":{\"status\":\"completed\",\"output\":[]}")

#define BLOCK(type, more) "event: " type "\ndata: {\"type\":\"" type "\"" more "}\n\n"
#define ANTHROPIC_START   BLOCK("message_start", ",\"message\":{\"id\":\"i\"}")
#define ANTHROPIC_TEXT                                                                             \
    BLOCK("content_block_start", ",\"index\":0,\"content_block\":{\"type\":\"text\"}")
#define ANTHROPIC_END                                                                              \
    BLOCK("message_delta", ",\"delta\":{\"stop_reason\":\"end_turn\"}") BLOCK("message_stop", "")

#define GEMINI(part)                                                                               \
    "{\"candidates\":[{\"content\":{\"parts\":[" part "]}}],\"usageMetadata\":{"                   \
    "\"promptTokenCount\":3,\"candidatesTokenCount\":#}}"
#define GEMINI_STOP "{\"candidates\":[{\"finishReason\":\"STOP\"}]}"
#define GEMINI_CALL GEMINI("{\"functionCall\":{\"name\":\"f\",\"args\":{}}}")

#define PATCH(type, data)                                                                          \
    "{\"sequence\":#,\"turn_id\":\"t\",\"patch_type\":\"" type "\",\"data\":{" data "}}"
#define PATCH_END                                                                                  \
    "{\"turn_id\":\"t\",\"patch_type\":\"set_status\",\"data\":{\"status\":\"completed\"}}"

static const struct shape shapes[] = {
    {"chat content", &pl_dialect_openai_chat, "", CHAT("\"content\":\"@\""), CHAT_END,
     CHAT_CALL("0", "a")},
    {"chat reasoning", &pl_dialect_openai_chat, "", CHAT("\"reasoning_content\":\"@\""), CHAT_END,
     CHAT("\"content\":\"B\"")},
    {"chat arguments", &pl_dialect_openai_chat, CHAT_CALL("0", "a"),
     CHAT("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"@\"}}]"), CHAT_END,
     CHAT_CALL("0", "b")},
    {"chat arguments beside others", &pl_dialect_openai_chat,
     CHAT_CALL("0", "a") CHAT_CALL("1", "b"),
     CHAT("\"tool_calls\":[{\"function\":{\"arguments\":\"@\"}}]"), CHAT_END, CHAT_CALL("2", "c")},
    {"chat arguments in turns", &pl_dialect_openai_chat, CHAT_CALL("0", "a") CHAT_CALL("1", "b"),
     CHAT("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"@\"}}]")
         CHAT("\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"@\"}}]"),
     CHAT_END, CHAT("\"content\":\"x\"")},
    {"responses text", &pl_dialect_openai_responses, ITEM("0", MESSAGE),
     RESPONSES("output_text.delta", "\"output_index\":0,\"content_index\":0,\"delta\":\"@\","
                                    "\"sequence_number\":#,\"obfuscation\":\"@\""),
     RESPONSES_END, RESPONSES("output_text.done", "\"output_index\":0,\"text\":\"x\"")},
    {"responses arguments", &pl_dialect_openai_responses, ITEM("0", CALL) ITEM("1", CALL),
     RESPONSES("function_call_arguments.delta", "\"output_index\":1,\"delta\":\"@\""),
     RESPONSES_END,
     RESPONSES("function_call_arguments.delta", "\"output_index\":0,\"delta\":\"x\"")},
    {"responses arguments in turns", &pl_dialect_openai_responses, ITEM("0", CALL) ITEM("1", CALL),
     RESPONSES("function_call_arguments.delta", "\"output_index\":0,\"delta\":\"@\"")
         RESPONSES("function_call_arguments.delta", "\"output_index\":1,\"delta\":\"@\""),
     RESPONSES_END,
     RESPONSES("function_call_arguments.done", "\"output_index\":0,\"arguments\":\"{}\"")},
    {"responses reasoning", &pl_dialect_openai_responses, ITEM("0", THOUGHT),
     RESPONSES("reasoning_summary_text.delta",
               "\"output_index\":0,\"summary_index\":0,\"delta\":\"@\""),
     RESPONSES_END,
     RESPONSES("reasoning_summary_text.delta",
               "\"output_index\":0,\"summary_index\":1,\"delta\":\"x\"")},
    {"responses text that waits", &pl_dialect_openai_responses, ITEM("0", CALL) ITEM("1", MESSAGE),
     RESPONSES("output_text.delta", "\"output_index\":1,\"content_index\":0,\"delta\":\"@\""),
     RESPONSES_END,
     RESPONSES("function_call_arguments.done", "\"output_index\":0,\"arguments\":\"{}\"")},
    {"anthropic text", &pl_dialect_anthropic, ANTHROPIC_START ANTHROPIC_TEXT,
     BLOCK("content_block_delta",
           ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"@\"}"),
     ANTHROPIC_END, BLOCK("content_block_stop", ",\"index\":0") ANTHROPIC_TEXT},
    {"anthropic arguments", &pl_dialect_anthropic,
     ANTHROPIC_START BLOCK(
         "content_block_start",
         ",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\"}"),
     BLOCK("content_block_delta",
           ",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"@\"}"),
     ANTHROPIC_END, BLOCK("content_block_stop", ",\"index\":0") ANTHROPIC_TEXT},
    {"gemini events", &pl_dialect_gemini, "", "data: " GEMINI("{\"text\":\"@\"}") "\n\n",
     "data: " GEMINI_STOP "\n\n", "data: " GEMINI_CALL "\n\n"},
    {"gemini array", &pl_dialect_gemini, "[{}", ",\n" GEMINI("{\"text\":\"@\",\"thought\":true}"),
     ",\n" GEMINI_STOP "]", ",\n" GEMINI_CALL},
    {"patches", &pl_dialect_patches, "",
     PATCH("add_content", "\"type\":\"text\",\"text_delta\":\"@\"") "\n", PATCH_END "\n",
     PATCH("add_tool_call", "\"id\":\"a\",\"tool_name\":\"f\",\"arguments\":\"{}\"") "\n"},
    {"patches as events", &pl_dialect_patches, "",
     "data: " PATCH("add_content", "\"type\":\"thinking\",\"text_delta\":\"@\"") "\n\n",
     "data: " PATCH_END "\n\n",
     "data: " PATCH("add_content", "\"type\":\"text\",\"text_delta\":\"x\"") "\n\n"},
};

static const char *const words[] = {
    "a",    " \\\"b\\n", "\\u00e9", "\\ud83d",       "\\ude00", "\xc3\xa9", "",     "\\q",
    "\xff", "\t",        "\\",      "x\",\"k\":\"y", "\\u12g4", "{}",       "\\\\", "\\\\\\",
};
static const char *const numbers[] = {"8", "12", "01", "-1", "1.5", "9999999999999999999", "x"};

static void add_event(struct pl_buf *to, const char *event, const char *word, const char *number)
{
    for (; *event; event++) {
        if (*event == '@')
            pl_buf_adds(to, word);
        else if (*event == '#')
            pl_buf_adds(to, number);
        else
            pl_buf_addc(to, *event);
    }
}

/* The same with other line ends. */
static void add_lines(struct pl_buf *to, struct pl_str text, const char *line_end)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\n')
            pl_buf_adds(to, line_end);
        else
            pl_buf_addc(to, text.ptr[i]);
    }
}

/* Whole, byte by byte, and split in about every second event. */
static void check_pieces(const struct shape *shape, const char *input)
{
    static const size_t pieces[] = {SIZE_MAX / 2, 97, 190, 263};
    const struct pl_dialect *const targets[] = {&trace_dialect, &pl_dialect_openai_chat,
                                                &pl_dialect_openai_responses, shape->from};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        PL_CLEANUP_BUF struct pl_buf bytes;
        enum pl_status status = run_stream(shape->from, targets[i], input, 1, &bytes);
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
            PL_CLEANUP_BUF struct pl_buf out;
            assert_int_equal(run_stream(shape->from, targets[i], input, pieces[k], &out), status);
            if (!pl_str_eq(pl_buf_str(&out), pl_buf_str(&bytes)))
                fail_msg("%s\nby %zu bytes:\n%sby one:\n%s", input, pieces[k], out.ptr, bytes.ptr);
        }
    }
}

static void whatever_the_words_are_they_are_read_as_on_their_own(void **state)
{
    size_t n = sizeof words / sizeof *words;
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t i = 0; i < n * n; i++) {
            PL_CLEANUP_BUF struct pl_buf input;
            pl_buf_init(&input, 0);
            add_event(&input, shapes[k].before, "", "0");
            add_event(&input, shapes[k].event, "w", "5");
            add_event(&input, shapes[k].event, words[i / n], "6");
            add_event(&input, shapes[k].event, words[i % n], "7");
            add_event(&input, shapes[k].event, "z", "7");
            pl_buf_adds(&input, shapes[k].after);
            pl_buf_addc(&input, '\0');
            check_pieces(&shapes[k], input.ptr);
        }
}

static void whatever_the_numbers_are_they_are_read_as_on_their_own(void **state)
{
    size_t n = sizeof numbers / sizeof *numbers;
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t i = 0; i < n * n; i++) {
            PL_CLEANUP_BUF struct pl_buf input;
            pl_buf_init(&input, 0);
            add_event(&input, shapes[k].before, "", "0");
            add_event(&input, shapes[k].event, "w", numbers[i / n]);
            add_event(&input, shapes[k].event, "x", numbers[i % n]);
            add_event(&input, shapes[k].event, "y", "9");
            pl_buf_adds(&input, shapes[k].after);
            pl_buf_addc(&input, '\0');
            check_pieces(&shapes[k], input.ptr);
        }
}

static void what_happens_in_between_is_not_forgotten(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        PL_CLEANUP_BUF struct pl_buf input;
        pl_buf_init(&input, 0);
        add_event(&input, shapes[k].before, "", "0");
        for (int i = 1; i < 5; i++) {
            char number[] = {(char)('0' + 2 * i), '\0'}, next[] = {(char)('1' + 2 * i), '\0'};
            add_event(&input, shapes[k].event, "w", number);
            add_event(&input, shapes[k].event, "v", next);
            add_event(&input, shapes[k].between, "", next);
        }
        pl_buf_adds(&input, shapes[k].after);
        pl_buf_addc(&input, '\0');
        check_pieces(&shapes[k], input.ptr);
    }
}

static void lines_may_end_in_any_way(void **state)
{
    static const char *const line_ends[] = {"\r\n", "\r"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const struct shape *shape = &shapes[i / 2];
        PL_CLEANUP_BUF struct pl_buf lines;
        PL_CLEANUP_BUF struct pl_buf input;
        pl_buf_init(&lines, 0);
        pl_buf_init(&input, 0);
        add_event(&lines, shape->before, "", "0");
        for (int k = 1; k < 9; k++)
            add_event(&lines, shape->event, "w", (char[]){(char)('0' + k), '\0'});
        add_lines(&input, pl_buf_str(&lines), line_ends[i % 2]);
        add_event(&input, shape->event, "\n", "9");
        pl_buf_addc(&input, '\0');
        check_pieces(shape, input.ptr);
    }
}

static size_t misses_of(const struct shape *shape, const char *line_end)
{
    PL_CLEANUP_BUF struct pl_buf lines;
    PL_CLEANUP_BUF struct pl_buf input;
    struct pl_stream *s;
    pl_buf_init(&lines, 0);
    pl_buf_init(&input, 0);
    add_event(&lines, shape->before, "", "0");
    for (int i = 1; i < 9; i++)
        add_event(&lines, shape->event, "w", (char[]){(char)('0' + i), '\0'});
    add_lines(&input, pl_buf_str(&lines), line_end);
    assert_int_equal(pl_stream_create(shape->from, &trace_dialect, &s), PL_OK);
    assert_int_equal(pl_stream_feed(s, pl_buf_str(&input), NULL), PL_OK);
    assert_true(s->repeat.patterns[s->repeat.latest].is_set);
    size_t n_misses = s->repeat.n_misses;
    pl_stream_destroy(s);
    return n_misses;
}

/* If the shortcut were never taken, the tests above would prove nothing. */
static void every_shape_takes_the_shortcut(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        size_t expected = strstr(shapes[k].name, "waits") ? 8 : 0;
        if (misses_of(&shapes[k], "\n") != expected || misses_of(&shapes[k], "\r\n") != expected)
            fail_msg("%s is not taken by the shortcut", shapes[k].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_with_other_words_is_found_and_measured),
        cmocka_unit_test(anything_else_is_not),
        cmocka_unit_test(an_offer_that_said_more_is_not_remembered),
        cmocka_unit_test(whatever_the_words_are_they_are_read_as_on_their_own),
        cmocka_unit_test(whatever_the_numbers_are_they_are_read_as_on_their_own),
        cmocka_unit_test(what_happens_in_between_is_not_forgotten),
        cmocka_unit_test(lines_may_end_in_any_way),
        cmocka_unit_test(every_shape_takes_the_shortcut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

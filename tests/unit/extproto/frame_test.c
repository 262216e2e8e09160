/* Frames: reading, the faults of bad lines, and that written frames are read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/frame.h"

#include "json/text.h"

#include <stdlib.h>

static struct pl_arena arena;
static struct pl_ext_codec *codec;

static enum pl_status read(struct pl_str line, enum pl_ext_side side,
                           struct pl_ext_frame *ret_frame, struct pl_ext_fault *ret_fault)
{
    return pl_ext_frame_read(codec, &arena, line, side, ret_frame, ret_fault);
}

static void a_frame_has_its_id_type_and_payload(void **state)
{
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    struct pl_str text;
    (void)state;
    assert_int_equal(
        read(PL_STR("{\"id\":\"\\u0061\",\"version\":\"1.0\",\"type\":\"tool_result\",\"payload\":"
                    "{\"call_id\":\"c\",\"output\":{},\"is_error\":false}}\r"),
             PL_EXT_FROM_CHILD, &frame, &fault),
        PL_OK);
    assert_int_equal(frame.type, PL_EXT_TYPE_TOOL_RESULT);
    assert_true(pl_str_eq(frame.id, PL_STR("a")));
    assert_int_equal(pl_ext_frame_text(&arena, &frame, "call_id", &text), PL_OK);
    assert_true(pl_str_eq(text, PL_STR("c")));
    assert_int_equal(pl_ext_frame_text(&arena, &frame, "output", &text), PL_OK);
    assert_int_equal(text.len, 0);
}

static void a_fault_has_the_code_of_the_first_thing_that_is_wrong(void **state)
{
    static const struct {
        const char *line;
        enum pl_ext_code code;
        const char *id, *pointer;
    } cases[] = {
        {"", PL_EXT_CODE_FRAME_INVALID, "", ""},
        {"{\"id\":\"x\"", PL_EXT_CODE_FRAME_INVALID, "", NULL},
        {"{\"id\":\"x\",\"id\":\"y\"}", PL_EXT_CODE_FRAME_INVALID, "", NULL},
        {"[]", PL_EXT_CODE_FRAME_INVALID, "", ""},
        {"{\"id\":\"x\",\"version\":\"2.0\",\"type\":\"log\",\"payload\":{}}",
         PL_EXT_CODE_UNSUPPORTED_VERSION, "x", "/version"},
        {"{\"id\":\"x\",\"version\":2,\"type\":\"log\",\"payload\":{}}",
         PL_EXT_CODE_SCHEMA_VIOLATION, "x", "/version"},
        {"{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"nap\",\"payload\":{}}",
         PL_EXT_CODE_UNKNOWN_TYPE, "x", "/type"},
        {"{\"id\":\"x\",\"version\":\"1.0\",\"type\":5,\"payload\":{}}",
         PL_EXT_CODE_SCHEMA_VIOLATION, "x", "/type"},
        {"{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"host_result\",\"payload\":{}}",
         PL_EXT_CODE_PROTOCOL_ORDER, "x", "/type"},
        {"{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"error\",\"payload\":{\"code\":1}}",
         PL_EXT_CODE_SCHEMA_VIOLATION, "x", NULL},
        {"{\"id\":5,\"version\":\"1.0\",\"type\":\"error\",\"payload\":{\"code\":\"a\",\"message\":"
         "\"b\"}}",
         PL_EXT_CODE_SCHEMA_VIOLATION, "", "/id"},
        {"{\"version\":\"1.0\"}", PL_EXT_CODE_SCHEMA_VIOLATION, "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_ext_frame frame;
        struct pl_ext_fault fault;
        assert_int_equal(read(pl_str_of(cases[i].line), PL_EXT_FROM_CHILD, &frame, &fault),
                         PL_INVALID);
        assert_string_equal(pl_ext_code_text(fault.code), pl_ext_code_text(cases[i].code));
        assert_true(pl_str_eq(fault.id, pl_str_of(cases[i].id)));
        assert_true(fault.err.message[0]);
        if (cases[i].pointer)
            assert_string_equal(fault.err.pointer, cases[i].pointer);
    }
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    assert_int_equal(
        read(PL_STR("{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{}}"),
             PL_EXT_TO_CHILD, &frame, &fault),
        PL_INVALID);
    assert_int_equal(fault.code, PL_EXT_CODE_PROTOCOL_ORDER);
}

/* A line with a payload that makes it n bytes long. */
static char *line_of(size_t n)
{
    static const char head[] = "{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"error\",\"payload\":"
                               "{\"code\":\"a\",\"message\":\"";
    char *line = malloc(n);
    assert_non_null(line);
    memset(line, 'a', n);
    memcpy(line, head, sizeof head - 1);
    memcpy(line + n - 3, "\"}}", 3);
    return line;
}

static void a_line_has_eight_mebibytes_at_most(void **state)
{
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    char *line = line_of(PL_EXT_LINE_BYTES);
    (void)state;
    assert_int_equal(
        read((struct pl_str){line, PL_EXT_LINE_BYTES}, PL_EXT_FROM_CHILD, &frame, &fault), PL_OK);
    free(line);
    line = line_of(PL_EXT_LINE_BYTES + 1);
    assert_int_equal(
        read((struct pl_str){line, PL_EXT_LINE_BYTES + 1}, PL_EXT_FROM_CHILD, &frame, &fault),
        PL_INVALID);
    assert_int_equal(fault.code, PL_EXT_CODE_FRAME_INVALID);
    free(line);
}

/* More values than one validation may visit. */
static void a_frame_that_costs_too_much_to_check_is_refused(void **state)
{
    static const char head[] =
        "{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"register\",\"payload\":{\"name\":"
        "\"a\",\"version\":\"1\",\"api_version\":\"1\",\"capabilities\":[\"\"";
    enum { N = 1500000 };
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    (void)state;
    pl_buf_init(&line, 0);
    pl_buf_adds(&line, head);
    for (int i = 0; i < N; i++)
        pl_buf_adds(&line, ",\"\"");
    pl_buf_adds(&line, "]}}");
    assert_int_equal(read(pl_buf_str(&line), PL_EXT_FROM_CHILD, &frame, &fault), PL_INVALID);
    assert_int_equal(fault.code, PL_EXT_CODE_SCHEMA_VIOLATION);
    assert_non_null(strstr(fault.err.message, "too large"));
}

static void each_type_has_a_name_and_a_side(void **state)
{
    (void)state;
    for (unsigned t = 0; t < PL_EXT_TYPE_COUNT; t++)
        assert_true(pl_ext_type_may((enum pl_ext_type)t, PL_EXT_FROM_CHILD) ||
                    pl_ext_type_may((enum pl_ext_type)t, PL_EXT_TO_CHILD));
    assert_string_equal(pl_ext_type_text(PL_EXT_TYPE_SLASH_COMMAND), "slash_command");
}

static struct pl_ext_frame reread(const struct pl_buf *line)
{
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    assert_int_equal(line->status, PL_OK);
    assert_int_equal(line->ptr[line->len - 1], '\n');
    enum pl_status status =
        read((struct pl_str){line->ptr, line->len - 1}, PL_EXT_TO_CHILD, &frame, &fault);
    if (status != PL_OK)
        fail_msg("%s at %s: %.*s", fault.err.message, fault.err.pointer, (int)line->len, line->ptr);
    return frame;
}

static void results_that_are_written_fit_the_schema(void **state)
{
    const struct pl_ext_result results[] = {
        {.id = PL_STR("1"), .call_id = PL_STR("c")},
        {.id = PL_STR("1"), .call_id = PL_STR("c\"\n"), .output = PL_STR("{\"value\":5}")},
        {.id = PL_STR("1"),
         .call_id = PL_STR("c"),
         .error = "denied",
         .message = PL_STR("No."),
         .reason = PL_STR("scope")},
        {.id = PL_STR("1"), .call_id = PL_STR("c"), .error = "io", .is_retryable = true},
        {.id = PL_STR("1"), .call_id = PL_STR("c"), .is_chunk = true, .credits = -1},
        {.id = PL_STR("1"),
         .call_id = PL_STR("c"),
         .is_chunk = true,
         .is_last = true,
         .index = 7,
         .credits = 3},
        {.id = PL_STR("1"),
         .call_id = PL_STR("c"),
         .is_chunk = true,
         .is_last = true,
         .error = "timeout"},
        {.id = PL_STR("1"),
         .call_id = PL_STR("c"),
         .error = "timeout",
         .details = PL_STR("{\"stdout\":\"so far\"}"),
         .credits = -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        PL_CLEANUP_BUF struct pl_buf line;
        struct pl_str call_id;
        pl_buf_init(&line, 0);
        pl_ext_frame_write_result(&line, &results[i]);
        struct pl_ext_frame frame = reread(&line);
        assert_int_equal(pl_ext_frame_text(&arena, &frame, "call_id", &call_id), PL_OK);
        assert_true(pl_str_eq(call_id, results[i].call_id));
        const struct pl_json_node *error =
            pl_json_member(&frame.doc, frame.payload, "error", PL_JSON_OBJECT);
        const struct pl_json_node *details =
            error ? pl_json_get(&frame.doc, error, PL_STR("details")) : NULL;
        assert_int_equal(details != NULL, results[i].details.len || results[i].reason.len);
        if (results[i].details.len)
            assert_true(pl_json_text_is(
                &frame.doc, pl_json_get(&frame.doc, details, PL_STR("stdout")), PL_STR("so far")));
    }
}

static void a_fault_is_told_with_its_place(void **state)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    (void)state;
    pl_buf_init(&line, 0);
    assert_int_equal(
        read(PL_STR("{\"id\":\"q\",\"version\":\"9\"}"), PL_EXT_FROM_CHILD, &frame, &fault),
        PL_INVALID);
    pl_ext_frame_write_fault(&line, &fault);
    frame = reread(&line);
    assert_true(pl_str_eq(frame.id, PL_STR("q")));
    const struct pl_json_node *details = pl_json_get(&frame.doc, frame.payload, PL_STR("details"));
    assert_true(pl_json_text_is(&frame.doc, pl_json_get(&frame.doc, details, PL_STR("pointer")),
                                PL_STR("/version")));
    fault.err.has_position = false;
    pl_buf_clear(&line);
    pl_ext_frame_write_fault(&line, &fault);
    frame = reread(&line);
    assert_null(pl_json_get(&frame.doc, frame.payload, PL_STR("details")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_its_id_type_and_payload),
        cmocka_unit_test(a_fault_has_the_code_of_the_first_thing_that_is_wrong),
        cmocka_unit_test(a_line_has_eight_mebibytes_at_most),
        cmocka_unit_test(a_frame_that_costs_too_much_to_check_is_refused),
        cmocka_unit_test(each_type_has_a_name_and_a_side),
        cmocka_unit_test(results_that_are_written_fit_the_schema),
        cmocka_unit_test(a_fault_is_told_with_its_place),
    };
    pl_arena_init(&arena, 0);
    int failed = pl_ext_codec_create(&codec, NULL) != PL_OK;
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    pl_ext_codec_destroy(codec);
    pl_ext_codec_destroy(NULL);
    pl_arena_deinit(&arena);
    return failed;
}

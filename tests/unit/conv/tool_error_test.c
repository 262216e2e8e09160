/* A tool's error as JSON, whatever the tool returned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conv/tool_error.h"

static void check(enum pl_tool_error error, const char *result, const char *expected)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf to;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    pl_buf_init(&to, 0);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(result), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_tool_error_wrap(&to, error, &doc, doc.root), PL_OK);
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&to), NULL, &doc, NULL), PL_OK);
    assert_true(pl_tool_error_is(&doc, doc.root));
    pl_buf_addc(&to, '\0');
    assert_string_equal(to.ptr, expected);
}

#define ERROR(type, message)                                                                       \
    "{\"status\":\"error\",\"error_type\":\"" type "\",\"message\":\"" message "\"}"

static void every_kind_of_value_becomes_an_object_with_a_message(void **state)
{
    (void)state;
    check(PL_TOOL_ERROR_FAILED, "\"no\"", ERROR("ToolFailed", "no"));
    check(PL_TOOL_ERROR_FAILED, "\"\"", ERROR("ToolFailed", ""));
    check(PL_TOOL_ERROR_TIMEOUT, "null", ERROR("Timeout", "null"));
    check(PL_TOOL_ERROR_FAILED, "true", ERROR("ToolFailed", "true"));
    check(PL_TOOL_ERROR_FAILED, "-0.5e3", ERROR("ToolFailed", "-0.5e3"));
    check(PL_TOOL_ERROR_FAILED, "[1,{\"a\":\"b\"}]",
          ERROR("ToolFailed", "[1,{\\\"a\\\":\\\"b\\\"}]"));
    check(PL_TOOL_ERROR_FAILED, "\"a\\\"b\\n\\u4e2d\"",
          ERROR("ToolFailed", "a\\\"b\\n\xe4\xb8\xad"));
}

static void an_object_keeps_its_own_members_and_gets_what_it_lacks(void **state)
{
    (void)state;
    check(PL_TOOL_ERROR_FAILED, "{}", ERROR("ToolFailed", "The tool failed."));
    check(PL_TOOL_ERROR_FAILED, "{ \"status\" : \"error\", \"error_type\":\"X\",\"message\":\"m\"}",
          ERROR("X", "m"));
    check(PL_TOOL_ERROR_FAILED, "{\"message\":\"m\",\"code\":5}",
          "{\"status\":\"error\",\"error_type\":\"ToolFailed\",\"message\":\"m\",\"code\":5}");
    check(PL_TOOL_ERROR_FAILED, "\"{\\\"status\\\":\\\"error\\\",\\\"error_type\\\":\\\"X\\\"}\"",
          "{\"status\":\"error\",\"error_type\":\"X\"}");
}

static void members_of_another_type_are_not_taken_for_words(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    static const char *const wrong[] = {
        "{\"status\":5}",
        "{\"status\":null}",
        "{\"status\":[\"error\"]}",
        "{\"status\":\"ok\"}",
        "{\"Status\":\"error\"}",
        "[\"error\"]",
        "\"error\"",
        "5",
        "null",
        "{}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_str_of(wrong[i]), NULL, &doc, NULL), PL_OK);
        assert_false(pl_tool_error_is(&doc, doc.root));
        assert_null(pl_tool_error_flagged(&doc, doc.root));
    }
    check(PL_TOOL_ERROR_FAILED, "{\"error_type\":5,\"message\":[]}",
          ERROR("ToolFailed", "The tool failed."));
}

static void a_text_is_an_error_only_as_a_whole_object(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_error;
    } cases[] = {
        {ERROR("X", "m"), true},
        {" \n" ERROR("X", "m"), true},
        {ERROR("X", "m") "x", false},
        {"{\"status\":\"error\"", false},
        {"error", false},
        {"", false},
        {"   ", false},
        {"{", false},
        {"[" ERROR("X", "m") "]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum pl_status status = PL_OK;
        assert_int_equal(pl_tool_error_is_text(pl_str_of(cases[i].text), &status),
                         cases[i].is_error);
        assert_int_equal(status, PL_OK);
    }
}

static void a_huge_text_is_a_result_and_its_wrapping_is_whole(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    PL_CLEANUP_BUF struct pl_buf text;
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&text, 0);
    pl_buf_init(&to, 0);
    pl_buf_adds(&text, "{\"status\":\"error\",\"error_type\":\"X\",\"message\":\"");
    for (size_t i = 0; i < SIZE; i++)
        pl_buf_addc(&text, 'a');
    pl_buf_adds(&text, "\"}");
    enum pl_status status = PL_OK;
    assert_false(pl_tool_error_is_text(pl_buf_str(&text), &status));
    pl_tool_error_write(&to, PL_TOOL_ERROR_FAILED, pl_buf_str(&text));
    assert_int_equal(to.status, PL_OK);
    assert_true(to.len > SIZE);
}

static void every_error_has_its_type(void **state)
{
    (void)state;
    for (int i = 0; i < PL_TOOL_ERROR_COUNT; i++)
        assert_true(strlen(pl_tool_error_text((enum pl_tool_error)i)) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_becomes_an_object_with_a_message),
        cmocka_unit_test(an_object_keeps_its_own_members_and_gets_what_it_lacks),
        cmocka_unit_test(members_of_another_type_are_not_taken_for_words),
        cmocka_unit_test(a_text_is_an_error_only_as_a_whole_object),
        cmocka_unit_test(a_huge_text_is_a_result_and_its_wrapping_is_whole),
        cmocka_unit_test(every_error_has_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

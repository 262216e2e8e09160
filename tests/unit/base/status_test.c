#include "base/status.h"
#include "base/text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void every_code_has_a_complete_line_in_the_table(void **state)
{
    (void)state;
    for (int code = 0; code < PL_STATUS_COUNT; code++) {
        const struct pl_status_info *info = pl_status_info((enum pl_status)code);
        assert_true(info->name[0] && info->text[0]);
        assert_in_range(info->exit_code, 0, 4);
        assert_in_range(info->http_status, 200, 599);
        assert_int_equal(info->exit_code == 0, code == PL_OK);
        assert_int_equal(info->ext_error[0] == '\0', code == PL_OK);
    }
    assert_string_equal(pl_status_info(PL_NOMEM)->name, "NOMEM");
    assert_int_equal(pl_status_info(PL_INVALID)->exit_code, 1);
    assert_int_equal(pl_status_info(PL_USAGE)->exit_code, 2);
    assert_int_equal(pl_status_info(PL_SYNTAX)->exit_code, 3);
    assert_int_equal(pl_status_info(PL_IO)->exit_code, 4);
}

static void an_unknown_code_is_an_internal_error(void **state)
{
    (void)state;
    assert_string_equal(pl_status_info((enum pl_status)PL_STATUS_COUNT)->name, "INTERNAL");
    assert_string_equal(pl_status_info((enum pl_status) - 1)->name, "INTERNAL");
}

static void a_failure_carries_its_message(void **state)
{
    (void)state;
    struct pl_error err = {.has_position = true, .offset = 7, .pointer = "/old"};
    assert_int_equal(pl_fail(&err, PL_SYNTAX, "expected %s", "a value"), PL_SYNTAX);
    assert_int_equal(err.status, PL_SYNTAX);
    assert_string_equal(err.message, "expected a value");
    assert_string_equal(err.pointer, "");
    assert_false(err.has_position);
    assert_int_equal(pl_fail(NULL, PL_LIMIT, "nobody listens"), PL_LIMIT);
}

static void a_long_message_is_cut_at_a_character_and_marked(void **state)
{
    (void)state;
    struct pl_error err;
    static char text[1200];
    /* One to four bytes of padding put the cut at each place inside a character. */
    for (int pad = 0; pad < 4; pad++) {
        memset(text, 'x', (size_t)pad);
        for (size_t i = (size_t)pad; i + 4 < sizeof text; i += 4)
            memcpy(text + i, "\xF0\x9F\x98\x80", 5);
        assert_int_equal(pl_fail(&err, PL_LIMIT, "%s", text), PL_LIMIT);
        struct pl_str message = pl_str_of(err.message);
        assert_true(message.len < sizeof err.message);
        assert_true(message.len > sizeof err.message - 8);
        assert_true(pl_utf8_is_valid(message));
        assert_string_equal(err.message + message.len - 3, "…");
    }
}

static void a_message_that_just_fits_is_not_marked(void **state)
{
    (void)state;
    struct pl_error err;
    char text[sizeof err.message];
    memset(text, 'y', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(pl_fail(&err, PL_LIMIT, "%s", text), PL_LIMIT);
    assert_string_equal(err.message, text);
}

static void assert_place(struct pl_str text, size_t offset, size_t line, size_t column)
{
    struct pl_error err = {0};
    pl_error_locate(&err, text, offset);
    assert_true(err.has_position);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
}

static void a_place_is_counted_in_lines_and_code_points(void **state)
{
    (void)state;
    struct pl_str text = PL_STR("ab\ncé中x\n\n");
    assert_place(text, 0, 1, 1);
    assert_place(text, 2, 1, 3);
    assert_place(text, 3, 2, 1);
    assert_place(text, 6, 2, 3);
    assert_place(text, 9, 2, 4);
    assert_place(text, 11, 3, 1);
    assert_place(text, 12, 4, 1);
    assert_place((struct pl_str){0}, 0, 1, 1);
}

static void a_place_behind_the_text_is_its_end(void **state)
{
    (void)state;
    struct pl_error err = {0};
    pl_error_locate(&err, PL_STR("abc"), 99);
    assert_int_equal(err.offset, 3);
    assert_int_equal(err.column, 4);
    pl_error_locate(NULL, PL_STR("abc"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_complete_line_in_the_table),
        cmocka_unit_test(an_unknown_code_is_an_internal_error),
        cmocka_unit_test(a_failure_carries_its_message),
        cmocka_unit_test(a_long_message_is_cut_at_a_character_and_marked),
        cmocka_unit_test(a_message_that_just_fits_is_not_marked),
        cmocka_unit_test(a_place_is_counted_in_lines_and_code_points),
        cmocka_unit_test(a_place_behind_the_text_is_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

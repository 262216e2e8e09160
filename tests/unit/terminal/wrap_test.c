/* Lines of text: where they break, in Latin and in Chinese text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "terminal/wrap.h"

static void expect_lines(const char *text, struct pl_wrap wrap, const char *lines)
{
    PL_CLEANUP_BUF struct pl_buf got;
    pl_buf_init(&got, 0);
    pl_wrap_add(&got, pl_str_of(text), wrap);
    pl_buf_addc(&got, '\0');
    assert_int_equal(got.status, PL_OK);
    assert_string_equal(got.ptr, lines);
}

static void words_are_broken_at_spaces(void **state)
{
    (void)state;
    expect_lines("one two three", (struct pl_wrap){.width = 8}, "one two\nthree\n");
}

static void a_line_may_be_as_wide_as_the_width(void **state)
{
    (void)state;
    expect_lines("one two", (struct pl_wrap){.width = 7}, "one two\n");
    expect_lines("中文", (struct pl_wrap){.width = 4}, "中文\n");
}

static void each_line_is_indented(void **state)
{
    (void)state;
    expect_lines("one two", (struct pl_wrap){.width = 5, .indent = 2}, "  one\n  two\n");
}

static void the_first_line_begins_where_the_cursor_is(void **state)
{
    (void)state;
    expect_lines("one two", (struct pl_wrap){.width = 8, .column = 4, .indent = 4},
                 "one\n    two\n");
}

static void a_chinese_character_takes_two_cells(void **state)
{
    (void)state;
    expect_lines("一二三四五", (struct pl_wrap){.width = 5}, "一二\n三四\n五\n");
}

static void no_line_begins_with_a_closing_mark(void **state)
{
    (void)state;
    expect_lines("一二。三四", (struct pl_wrap){.width = 4}, "一\n二。\n三四\n");
}

static void no_line_ends_with_an_opening_mark(void **state)
{
    (void)state;
    expect_lines("一（二三）", (struct pl_wrap){.width = 4}, "一\n（二\n三）\n");
}

static void words_in_chinese_text_stay_whole(void **state)
{
    (void)state;
    expect_lines("用 --lang 选择", (struct pl_wrap){.width = 8}, "用\n--lang\n选择\n");
    expect_lines("值abc值", (struct pl_wrap){.width = 4}, "值\nabc\n值\n");
}

static void what_is_typed_stays_whole(void **state)
{
    (void)state;
    expect_lines("名称=值 @文件", (struct pl_wrap){.width = 8}, "名称=值\n@文件\n");
    expect_lines("录/parley.db", (struct pl_wrap){.width = 6}, "录/parley.db\n");
}

static void after_a_full_stop_an_option_may_begin_a_line(void **state)
{
    (void)state;
    expect_lines("一。--at", (struct pl_wrap){.width = 6}, "一。\n--at\n");
}

static void a_space_that_a_break_replaces_is_gone(void **state)
{
    (void)state;
    expect_lines("一二 abc", (struct pl_wrap){.width = 4}, "一二\nabc\n");
}

static void no_text_is_an_empty_line(void **state)
{
    (void)state;
    expect_lines("", (struct pl_wrap){.width = 4}, "\n");
}

static void bytes_that_are_no_utf8_come_through(void **state)
{
    (void)state;
    expect_lines("\xff\xfe a", (struct pl_wrap){.width = 2}, "\xff\xfe\na\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_broken_at_spaces),
        cmocka_unit_test(a_line_may_be_as_wide_as_the_width),
        cmocka_unit_test(each_line_is_indented),
        cmocka_unit_test(the_first_line_begins_where_the_cursor_is),
        cmocka_unit_test(a_chinese_character_takes_two_cells),
        cmocka_unit_test(no_line_begins_with_a_closing_mark),
        cmocka_unit_test(no_line_ends_with_an_opening_mark),
        cmocka_unit_test(words_in_chinese_text_stay_whole),
        cmocka_unit_test(what_is_typed_stays_whole),
        cmocka_unit_test(after_a_full_stop_an_option_may_begin_a_line),
        cmocka_unit_test(a_space_that_a_break_replaces_is_gone),
        cmocka_unit_test(no_text_is_an_empty_line),
        cmocka_unit_test(bytes_that_are_no_utf8_come_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

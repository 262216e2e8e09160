/* Texts of the program in Chinese. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "words/words.h"

static void assert_said(struct pl_str english, const char *chinese, bool is_known)
{
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    assert_int_equal(pl_words_add(&said, english), is_known);
    pl_buf_addc(&said, '\0');
    assert_int_equal(said.status, PL_OK);
    assert_string_equal(said.ptr, chinese);
}

static void a_sentence_without_holes_is_found_whole(void **state)
{
    (void)state;
    assert_string_equal(pl_words_of("out of memory"), "内存不足");
    assert_said(PL_STR("out of memory"), "内存不足", true);
}

static void an_unknown_text_stays_as_it_is(void **state)
{
    (void)state;
    assert_string_equal(pl_words_of("nobody says this"), "nobody says this");
    assert_said(PL_STR("nobody says this"), "nobody says this", false);
    assert_said(PL_STR(""), "", false);
}

static void holes_are_copied_in_the_order_of_the_chinese(void **state)
{
    (void)state;
    assert_said(PL_STR("version 3 has the content of version 1"), "版本 3 的内容与版本 1 相同",
                true);
    assert_said(PL_STR("you have no session whose id begins with \"ab\""),
                "没有 id 以 \"ab\" 开头的会话", true);
}

static void of_two_sentences_the_longer_one_is_said(void **state)
{
    (void)state;
    assert_said(PL_STR("unknown option \"--a\"; did you mean \"--b\"?"),
                "未知的选项 \"--a\"；是否想写 \"--b\"？", true);
    assert_said(PL_STR("unknown option \"--a\""), "未知的选项 \"--a\"", true);
}

static void what_a_person_typed_is_never_said_in_chinese(void **state)
{
    (void)state;
    assert_said(PL_STR("unknown option \"out of memory\""), "未知的选项 \"out of memory\"", true);
}

static void a_message_in_a_message_is_said_too(void **state)
{
    (void)state;
    assert_said(PL_STR("standard output: out of memory"), "标准输出：内存不足", true);
}

static void messages_nest_three_deep_and_no_deeper(void **state)
{
    (void)state;
    assert_said(PL_STR("standard output: standard output: standard output: standard output: x"),
                "标准输出：标准输出：标准输出：standard output: x", true);
}

static void a_list_is_said_with_the_marks_of_chinese(void **state)
{
    (void)state;
    assert_said(PL_STR("--lang must be en, fr or zh, not \"x\""),
                "--lang 必须是 en、fr 或 zh，而不是 \"x\"", true);
}

static void a_hole_for_a_number_takes_digits_only(void **state)
{
    (void)state;
    assert_said(PL_STR("12 replaces 11"), "12 取代了 11", true);
    assert_said(PL_STR("this replaces that"), "this replaces that", false);
}

static void a_text_that_was_cut_off_is_found_by_its_beginning(void **state)
{
    (void)state;
    assert_said(PL_STR("unknown option \"aaaa…"), "未知的选项 \"aaaa…\"", true);
    assert_said(PL_STR("un…"), "un…", false);
}

static void bytes_that_are_no_text_stay_in_their_hole(void **state)
{
    (void)state;
    assert_said(PL_STR("unknown option \"\xff\xc3\""), "未知的选项 \"\xff\xc3\"", true);
}

static void a_text_longer_than_any_message_is_left_alone(void **state)
{
    PL_CLEANUP_BUF struct pl_buf text;
    (void)state;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "unknown option \"");
    pl_buf_fill(&text, '"', 5000);
    struct pl_str english = pl_buf_str(&text);
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    assert_false(pl_words_add(&said, english));
    assert_true(pl_str_eq(pl_buf_str(&said), english));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_without_holes_is_found_whole),
        cmocka_unit_test(an_unknown_text_stays_as_it_is),
        cmocka_unit_test(holes_are_copied_in_the_order_of_the_chinese),
        cmocka_unit_test(of_two_sentences_the_longer_one_is_said),
        cmocka_unit_test(what_a_person_typed_is_never_said_in_chinese),
        cmocka_unit_test(a_message_in_a_message_is_said_too),
        cmocka_unit_test(messages_nest_three_deep_and_no_deeper),
        cmocka_unit_test(a_list_is_said_with_the_marks_of_chinese),
        cmocka_unit_test(a_hole_for_a_number_takes_digits_only),
        cmocka_unit_test(a_text_that_was_cut_off_is_found_by_its_beginning),
        cmocka_unit_test(bytes_that_are_no_text_stay_in_their_hole),
        cmocka_unit_test(a_text_longer_than_any_message_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

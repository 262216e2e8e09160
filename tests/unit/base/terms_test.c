#include "base/text/terms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void expect_text(const char *text, const char *expected)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_text(pl_str_of(text), &terms);
    pl_buf_addc(&terms, '\0');
    assert_string_equal(terms.ptr, expected);
}

static void expect_query(const char *text, bool is_typing, const char *expected)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_query(pl_str_of(text), is_typing ? PL_TERMS_TYPING : PL_TERMS_ASKED, &terms);
    pl_buf_addc(&terms, '\0');
    assert_string_equal(terms.ptr, expected);
}

static void words_are_cut_at_what_is_in_no_word(void **state)
{
    (void)state;
    expect_text("", "");
    expect_text(" \t—…!\"*'", "");
    expect_text("Hello, world", "hello world");
    expect_text("a_b-c.d/e:f", "a b c d e f");
    expect_text("GPT4o v1.2 2026", "gpt4o v1 2 2026");
    expect_text("one\xE3\x80\x82two\xC2\xA0three\xEF\xBC\x8C"
                "four",
                "one two three four");
    expect_text("yes 👍🏽 no", "yes no");
}

static void doubles_stay_and_order_stays(void **state)
{
    (void)state;
    expect_text("b a b", "b a b");
}

static void every_script_becomes_small_and_loses_its_accents(void **state)
{
    (void)state;
    expect_text("CAFÉ Ångström naïve", "cafe angstrom naive");
    expect_text("Cafe\xCC\x81", "cafe");
    expect_text("Straße ŒUVRE Æther Øre Łódź", "strasse oeuvre aether ore lodz");
    expect_text("ΑΘΉΝΑ Ὀδυσσεύς", "αθηνα οδυσσευσ");
    expect_text("МОСКВА Ёлка", "москва елка");
    expect_text("Հայերեն ՀԱՅ", "հայերեն հայ");
    expect_text("ＡＢＣ１２", "abc12");
    expect_text("Việt Nam Đà", "viet nam da");
    expect_text("ﬁne", "fine");
}

static void a_plural_is_found_by_its_singular(void **state)
{
    (void)state;
    expect_text("ponies pony cats cat", "pony pony cat cat");
    expect_text("houses house glass status shoes gas", "house house glass status shoe gas");
}

static void scripts_without_spaces_give_characters_and_pairs(void **state)
{
    (void)state;
    expect_text("猫", "猫");
    expect_text("两只猫", "两 两只 只 只猫 猫");
    expect_text("请用git提交。好", "请 请用 用 git 提 提交 交 好");
    expect_text("カタ ナ", "カ カタ タ ナ");
    expect_text("ｶﾀ", "カ カタ タ");
    expect_text("ที่นี่", "ที่ ที่นี่ นี่");
}

static void words_of_other_scripts_stay_whole(void **state)
{
    (void)state;
    expect_text("한국어 문서", "한국어 문서");
    expect_text("हिन्दी में", "हिन्दी में");
    expect_text("שלום עולם", "שלום עולם");
}

static void a_word_is_cut_where_it_gets_too_long(void **state)
{
    (void)state;
    expect_text("0123456789012345678901234567890123456789012345678901234567890123x y",
                "0123456789012345678901234567890123456789012345678901234567890123 y");
    expect_text("012345678901234567890123456789012345678901234567890123456789012жa y",
                "012345678901234567890123456789012345678901234567890123456789012 y");
}

static void what_is_no_utf8_stands_between_words(void **state)
{
    (void)state;
    expect_text("ab\xFF"
                "cd\xE4\xB8",
                "ab cd");
}

static void a_question_asks_for_pairs_and_for_each_term_once(void **state)
{
    (void)state;
    expect_query("两只猫", false, "两只 只猫");
    expect_query("猫", false, "猫");
    expect_query("猫 狗狗狗", false, "猫 狗狗");
    expect_query("Cats, cat", false, "cat");
    expect_query("red redder red", false, "red redder");
    expect_query("好 git", false, "好 git");
}

static void the_last_word_may_be_begun(void **state)
{
    (void)state;
    expect_query("red app", true, "red app*");
    expect_query("red app ", true, "red app");
    expect_query("red the", true, "red the*");
    expect_query("app app", true, "app app*");
    expect_query("苹果", true, "苹果");
    expect_query("苹", true, "苹");
}

static void words_of_every_sentence_are_left_out_unless_there_are_no_others(void **state)
{
    (void)state;
    expect_query("What is the name of my cat?", false, "name cat");
    expect_query("Who are you?", false, "who are you");
    expect_query("???", false, "");
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_query(PL_STR("Who are you?"), PL_TERMS_TELLING, &terms);
    assert_int_equal(terms.len, 0);
}

static void a_question_has_32_terms_at_most(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text, terms;
    pl_buf_init(&text, 0);
    pl_buf_init(&terms, 0);
    for (int i = 0; i < 100; i++)
        pl_buf_addf(&text, "w%d ", i);
    pl_terms_of_query(pl_buf_str(&text), PL_TERMS_ASKED, &terms);
    size_t n_spaces = 0;
    for (size_t i = 0; i < terms.len; i++)
        n_spaces += terms.ptr[i] == ' ';
    assert_int_equal(n_spaces, 31);
}

static void terms_are_added_after_what_is_there(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_buf_adds(&terms, "x=");
    pl_terms_of_text(PL_STR("b c"), &terms);
    pl_buf_addc(&terms, ' ');
    pl_terms_of_query(PL_STR("b"), PL_TERMS_ASKED, &terms);
    pl_buf_addc(&terms, '\0');
    assert_string_equal(terms.ptr, "x=b c b");
}

static void a_full_buffer_is_told_by_its_status(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 8);
    pl_terms_of_query(PL_STR("alpha beta gamma"), PL_TERMS_ASKED, &terms);
    assert_int_equal(terms.status, PL_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_cut_at_what_is_in_no_word),
        cmocka_unit_test(doubles_stay_and_order_stays),
        cmocka_unit_test(every_script_becomes_small_and_loses_its_accents),
        cmocka_unit_test(a_plural_is_found_by_its_singular),
        cmocka_unit_test(scripts_without_spaces_give_characters_and_pairs),
        cmocka_unit_test(words_of_other_scripts_stay_whole),
        cmocka_unit_test(a_word_is_cut_where_it_gets_too_long),
        cmocka_unit_test(what_is_no_utf8_stands_between_words),
        cmocka_unit_test(a_question_asks_for_pairs_and_for_each_term_once),
        cmocka_unit_test(the_last_word_may_be_begun),
        cmocka_unit_test(words_of_every_sentence_are_left_out_unless_there_are_no_others),
        cmocka_unit_test(a_question_has_32_terms_at_most),
        cmocka_unit_test(terms_are_added_after_what_is_there),
        cmocka_unit_test(a_full_buffer_is_told_by_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

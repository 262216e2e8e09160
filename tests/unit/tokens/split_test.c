/* Where the patterns of the encodings split. */
#include "tokens/split_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* | marks the splits; the text is without them. */
static void check(enum pl_encoding encoding, const char *marked)
{
    char text[256], result[512];
    size_t n = 0, n_result = 0;
    for (const char *p = marked; *p; p++)
        if (*p != '|')
            text[n++] = *p;
    for (size_t at = 0, end; at < n; at = end) {
        end = pl_split_fns[encoding]((struct pl_str){text, n}, at);
        assert_true(end > at && end <= n);
        memcpy(result + n_result, text + at, end - at);
        n_result += end - at;
        if (end < n)
            result[n_result++] = '|';
    }
    result[n_result] = '\0';
    assert_string_equal(result, marked);
}

/* o200k_base, cl100k_base */
static void check_both(const char *const marked[2])
{
    check(PL_ENCODING_O200K_BASE, marked[0]);
    check(PL_ENCODING_CL100K_BASE, marked[1]);
}

static void words_take_one_character_before_them(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Hello|,| world|!", "Hello|,| world|!"},
        {"\ttab|\302\240nbsp", "\ttab|\302\240nbsp"},
        {"(a|)(|b|)| [|c|]", "(a|)(|b|)| [|c|]"},
        {"中文|,标点|。", "中文|,标点|。"},
        {"naïve| café", "naïve| café"},
        {"#include| <|stdio|.h|>", "#include| <|stdio|.h|>"},
        {"a|\342\200\250b|\302\205c", "a|\342\200\250b|\302\205c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_both(cases[i]);
}

static void numbers_come_in_threes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"123|456|7| |89", "123|456|7| |89"},
        {"a|1|b|2", "a|1|b|2"},
        {"１２３|４| |²³Ⅳ|Ⅴ", "１２３|４| |²³Ⅳ|Ⅴ"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_both(cases[i]);
}

static void white_space_is_left_to_the_next_word(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {" two|   | three", " two|   | three"},
        {"a|\n| | b", "a|\n| | b"},
        {"a| \n| b", "a| \n| b"},
        {"x|  ", "x|  "},
        {"x|\r\n\r\n|   | y", "x|\r\n\r\n|   | y"},
        {"  \n  \n| | x", "  \n  \n| | x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_both(cases[i]);
}

static void symbols_take_the_line_breaks_behind_them(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a|!!!\n\n|b", "a|!!!\n\n|b"},
        {"🙂🙂🙂| 🙂", "🙂🙂🙂| 🙂"},
        {"https|://|a|.b|/c|//\n/|d", "https|://|a|.b|/c|//\n|/d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_both(cases[i]);
}

static void contractions_belong_to_the_word_in_o200k_only(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"don't| DON'T| we'll| '|sup| '|Re", "don|'t| DON|'T| we|'ll| '|sup| '|Re"},
        {"'\305\277a| x'\305\277", "'\305\277|a| x|'\305\277"},
        {"ABCde|F's|G", "ABCdeF|'s|G"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_both(cases[i]);
}

static void o200k_cuts_where_capitals_begin(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"foo|Bar| FOOBar| HTTPServer| ABC", "fooBar| FOOBar| HTTPServer| ABC"},
        {"中文A中文Ab", "中文A中文Ab"},
        {"\307\205emo| \307\205", "\307\205emo| \307\205"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_both(cases[i]);
}

static void marks_are_letters_to_o200k_only(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"e\314\201x| \314\201x| \314\201| \314\201|A| !\314\201",
         "e|\314\201x| \314\201|x| \314\201| \314\201|A| !\314\201"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_both(cases[i]);
}

static void broken_utf8_is_one_symbol_a_byte(void **state)
{
    (void)state;
    for (int encoding = 0; encoding < PL_ENCODING_COUNT; encoding++) {
        check((enum pl_encoding)encoding, "a|\x80\x80\xbf");
        check((enum pl_encoding)encoding, "a|\xc3");
        check((enum pl_encoding)encoding, "\xe4\xb8| x");
        check((enum pl_encoding)encoding, "\xed\xa0\x80| x");
        check((enum pl_encoding)encoding, "\xf4\x90\x80\x80\n");
    }
}

/* Words of ASCII letters are read eight bytes at a time, others one by one. The same word must end
 * at the same place wherever the text ends. */
static void where_the_text_ends_does_not_move_a_cut(void **state)
{
    (void)state;
    static const char text[] = " HTTPServer internationalisation caf\303\251s ABCDEFGHIJK it's x";
    for (int encoding = 0; encoding < PL_ENCODING_COUNT; encoding++)
        for (size_t at = 0, end; at < sizeof text - 1; at = end) {
            pl_split_fn *split = pl_split_fns[encoding];
            end = split((struct pl_str){text, sizeof text - 1}, at);
            /* One more letter may belong to the word, so a space follows in the text. */
            if (text[end] == ' ')
                assert_int_equal(split((struct pl_str){text, end}, at), end);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_take_one_character_before_them),
        cmocka_unit_test(numbers_come_in_threes),
        cmocka_unit_test(white_space_is_left_to_the_next_word),
        cmocka_unit_test(symbols_take_the_line_breaks_behind_them),
        cmocka_unit_test(contractions_belong_to_the_word_in_o200k_only),
        cmocka_unit_test(o200k_cuts_where_capitals_begin),
        cmocka_unit_test(marks_are_letters_to_o200k_only),
        cmocka_unit_test(broken_utf8_is_one_symbol_a_byte),
        cmocka_unit_test(where_the_text_ends_does_not_move_a_cut),
    };
    return cmocka_run_group_tests_name("tokens/split", tests, NULL, NULL);
}

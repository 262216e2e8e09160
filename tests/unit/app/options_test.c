#include "app/frame/options.h"
#include "base/text/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *color_choice(size_t i)
{
    static const char *const names[] = {"red", "green", NULL};
    return names[i];
}

static const struct pl_option options[] = {
    {"help", PL_OPT_HELP, 'h', .is_repeatable = true, .help = "Show help"},
    {"pretty", PL_OPT_PRETTY, .help = "Indent"},
    {"output", PL_OPT_OUTPUT, .args = {"COLOR"}, .choice = color_choice, .help = "A colour"},
    {"get", PL_OPT_GET, .args = {"POINTER"}, .help = "One value"},
    {"set", PL_OPT_SET, .args = {"POINTER", "VALUE"}, .is_repeatable = true, .help = "Two"},
    {0},
};

/* Parses the words (NULL-terminated) and keeps the result for the assertions of one test. */
struct parsed {
    struct pl_args args;
    struct pl_error err;
    enum pl_status status;
};

static struct parsed parse(char *const *words)
{
    struct parsed parsed = {0};
    int n = 0;
    while (words[n])
        n++;
    parsed.status = pl_args_parse(&parsed.args, options, n, words, &parsed.err);
    return parsed;
}

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

static void options_and_operands_may_be_mixed(void **state)
{
    (void)state;
    struct parsed p = parse(WORDS("a", "--pretty", "-", "-h", "b"));
    assert_int_equal(p.status, PL_OK);
    assert_true(pl_args_has(&p.args, PL_OPT_PRETTY));
    assert_true(pl_args_has(&p.args, PL_OPT_HELP));
    assert_int_equal(p.args.operands.len, 3);
    assert_string_equal(p.args.operands.ptr[1], "-");
    pl_args_deinit(&p.args);
}

static void a_value_stands_behind_an_equals_sign_or_in_the_next_word(void **state)
{
    (void)state;
    struct parsed p = parse(WORDS("--get=/a=b", "--set", "/x", "-1", "--set=/y", "--z"));
    assert_int_equal(p.status, PL_OK);
    assert_string_equal(pl_args_find(&p.args, PL_OPT_GET)->values[0], "/a=b");
    assert_int_equal(p.args.uses.len, 3);
    assert_string_equal(p.args.uses.ptr[1].values[0], "/x");
    assert_string_equal(p.args.uses.ptr[1].values[1], "-1");
    assert_string_equal(p.args.uses.ptr[2].values[0], "/y");
    assert_string_equal(p.args.uses.ptr[2].values[1], "--z");
    pl_args_deinit(&p.args);
}

static void behind_two_dashes_everything_is_an_operand(void **state)
{
    (void)state;
    struct parsed p = parse(WORDS("--", "--pretty", "--", "-x"));
    assert_int_equal(p.status, PL_OK);
    assert_int_equal(p.args.uses.len, 0);
    assert_int_equal(p.args.operands.len, 3);
    pl_args_deinit(&p.args);
}

static void mistakes_are_refused_with_words_that_help(void **state)
{
    (void)state;
    static const struct {
        char *words[4];
        const char *message;
    } cases[] = {
        {{"--prety"}, "unknown option \"--prety\"; did you mean \"--pretty\"?"},
        {{"--pre=1"}, "unknown option \"--pre\"; did you mean \"--pretty\"?"},
        {{"-pretty"}, "unknown option \"-pretty\"; did you mean \"--pretty\"?"},
        {{"--zzzzz"}, "unknown option \"--zzzzz\""},
        {{"-x"}, "unknown option \"-x\""},
        {{"--pretty=1"}, "--pretty takes no value"},
        {{"--get"}, "--get needs a value: --get POINTER"},
        {{"--set", "/a"}, "--set needs two values: --set POINTER VALUE"},
        {{"--pretty", "--pretty"}, "--pretty is given twice"},
        {{"--output", "blue"}, "--output must be red or green, not \"blue\""},
        {{"--output", "gren"},
         "--output must be red or green, not \"gren\"; did you mean \"green\"?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parsed p = parse(cases[i].words);
        assert_int_equal(p.status, PL_USAGE);
        assert_string_equal(p.err.message, cases[i].message);
        pl_args_deinit(&p.args);
    }
}

static const char *nearest(const char *typed, const char *const *words)
{
    struct pl_suggest suggest = pl_suggest(pl_str_of(typed));
    for (; *words; words++)
        pl_suggest_offer(&suggest, *words);
    return suggest.best;
}

static void the_nearest_word_is_suggested_and_nothing_when_none_is_near(void **state)
{
    (void)state;
    static const char *const words[] = {"validate", "json", "version", NULL};
    assert_string_equal(nearest("vlaidate", words), "validate");
    assert_string_equal(nearest("versoin", words), "version");
    assert_string_equal(nearest("jsn", words), "json");
    assert_string_equal(nearest("val", words), "validate");
    static const char *const longer[] = {"drain-accept", "drain", "drain-more", NULL};
    assert_string_equal(nearest("dra", longer), "drain");
    assert_null(nearest("serve", words));
    assert_null(nearest("", words));
    assert_null(nearest("validatevalidatevalidatevalidatevalidate", words));
}

static void a_count_is_digits_from_one_to_the_most(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "0",
                                        "101",
                                        "-1",
                                        "+1",
                                        "1.0",
                                        " 1",
                                        "1 ",
                                        "1e1",
                                        "x",
                                        "18446744073709551617",
                                        "99999999999999999999999"};
    uint64_t n = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pl_option_read_count(wrong[i], 100, &n));
    assert_int_equal(n, 7);
    assert_true(pl_option_read_count("1", 100, &n));
    assert_int_equal(n, 1);
    assert_true(pl_option_read_count("0100", 100, &n));
    assert_int_equal(n, 100);
    assert_true(pl_option_read_count("18446744073709551615", UINT64_MAX, &n));
    assert_true(n == UINT64_MAX);
    assert_false(pl_option_read_count("18446744073709551616", UINT64_MAX, &n));
}

static void a_value_is_that_of_the_last_use(void **state)
{
    (void)state;
    struct parsed parsed = parse((char *[]){"--get", "/a", "--pretty", NULL});
    assert_int_equal(parsed.status, PL_OK);
    assert_string_equal(pl_args_value(&parsed.args, PL_OPT_GET), "/a");
    assert_null(pl_args_value(&parsed.args, PL_OPT_PRETTY));
    assert_null(pl_args_value(&parsed.args, PL_OPT_SET));
    pl_args_deinit(&parsed.args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_is_digits_from_one_to_the_most),
        cmocka_unit_test(a_value_is_that_of_the_last_use),
        cmocka_unit_test(options_and_operands_may_be_mixed),
        cmocka_unit_test(a_value_stands_behind_an_equals_sign_or_in_the_next_word),
        cmocka_unit_test(behind_two_dashes_everything_is_an_operand),
        cmocka_unit_test(mistakes_are_refused_with_words_that_help),
        cmocka_unit_test(the_nearest_word_is_suggested_and_nothing_when_none_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Accept-Language: which clients prefer Chinese. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/language.h"

static bool wants(const char *header)
{
    return pl_language_wants_chinese(pl_str_of(header));
}

static void the_highest_weight_counts(void **state)
{
    (void)state;
    static const char *const yes[] = {"zh",
                                      "ZH-cn",
                                      "zh-Hans;q=0.5",
                                      "en;q=0.4,zh;q=0.5",
                                      "fr, zh;q=0.001",
                                      " zh ; q=0.9 , en ; q=0.8 ",
                                      "zh,en"};
    static const char *const no[] = {
        "",       "en", "en,zh", "zh;q=0", "zh;q=0.000", "zhx", "z", "*", "en;q=0.9,zh;q=0.8",
        ";q=1,,", "fr"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(wants(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(wants(no[i]));
}

static void what_is_no_header_harms_nobody(void **state)
{
    (void)state;
    assert_false(pl_language_wants_chinese((struct pl_str){0}));
    assert_true(wants("zh;q=9.99999999999"));
    assert_false(wants("en;q=;;;zh"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_weight_counts),
        cmocka_unit_test(what_is_no_header_harms_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

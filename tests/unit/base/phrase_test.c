/* Sentences of a table, translated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/phrase.h"

static const struct pl_phrase table[] = {
    {"the call * of * has no result", "$2 的调用 $1 没有结果"},
    {"expected *, but found *", "应为$1，却是$2"},
    {"a number", "数字"},
    {"* tokens exceed *", "$1 超出 $2"},
    {"ends with *", "结尾是 $1"},
    {0},
};

static void check(const char *english, const char *chinese)
{
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    bool is_known = pl_phrase_translate(table, pl_str_of(english), &to);
    assert_int_equal(is_known, chinese != NULL);
    pl_buf_addc(&to, '\0');
    assert_string_equal(to.ptr, chinese ? chinese : "");
}

static void words_go_where_the_other_language_wants_them(void **state)
{
    (void)state;
    check("the call c1 of look has no result", "look 的调用 c1 没有结果");
    check("expected a number, but found x", "应为数字，却是x");
    check("12 tokens exceed 9", "12 超出 9");
    check("ends with ", "结尾是 ");
    check("ends with * and $1", "结尾是 * and $1");
}

static void what_is_not_in_the_table_is_left_alone(void **state)
{
    (void)state;
    check("", NULL);
    check("a numbers", NULL);
    check("A number", NULL);
    check("the call c1 of look has no resul", NULL);
    check("\xff\xfe", NULL);
}

static void a_full_buffer_is_a_failure_that_sticks(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 3);
    assert_true(pl_phrase_translate(table, PL_STR("a number"), &to));
    assert_int_equal(to.status, PL_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_go_where_the_other_language_wants_them),
        cmocka_unit_test(what_is_not_in_the_table_is_left_alone),
        cmocka_unit_test(a_full_buffer_is_a_failure_that_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which elements of an edited list are which of the old one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/align.h"

#include <string.h>

/* Elements are letters; the result names, for each old letter, the place now: digits, '-' for gone.
 */
static void assert_aligned(const char *old_list, const char *new_list, const char *expected)
{
    uint64_t old_looks[32] = {0}, new_looks[32] = {0};
    uint32_t places[32], n_old = (uint32_t)strlen(old_list), n_new = (uint32_t)strlen(new_list);
    for (uint32_t i = 0; i < n_old; i++)
        old_looks[i] = (unsigned char)old_list[i];
    for (uint32_t i = 0; i < n_new; i++)
        new_looks[i] = (unsigned char)new_list[i];
    assert_int_equal(pl_align(old_looks, n_old, new_looks, n_new, places), PL_OK);
    char actual[33] = {0};
    for (uint32_t i = 0; i < n_old; i++)
        actual[i] = places[i] == PL_ALIGN_GONE ? '-' : (char)('0' + places[i]);
    assert_string_equal(actual, expected);
}

static void an_unchanged_list_stays(void **state)
{
    (void)state;
    assert_aligned("abc", "abc", "012");
    assert_aligned("", "", "");
    assert_aligned("aaa", "aaa", "012");
}

static void what_is_appended_or_inserted_moves_nothing_else(void **state)
{
    (void)state;
    assert_aligned("abc", "abcd", "012");
    assert_aligned("abc", "xabc", "123");
    assert_aligned("abc", "abxc", "013");
    assert_aligned("", "ab", "");
}

static void what_is_removed_is_gone(void **state)
{
    (void)state;
    assert_aligned("abc", "ac", "0-1");
    assert_aligned("abc", "", "---");
    assert_aligned("abcdef", "adf", "0--1-2");
    assert_aligned("abab", "ab", "01--");
}

static void what_is_changed_in_place_is_paired(void **state)
{
    (void)state;
    assert_aligned("abc", "axc", "012");
    assert_aligned("abc", "xyz", "012");
    assert_aligned("abcd", "axcdy", "0123");
}

static void changes_of_several_kinds_keep_their_order(void **state)
{
    (void)state;
    assert_aligned("abcde", "axdez", "01-23");
    assert_aligned("abcdef", "abXdf", "0123-4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unchanged_list_stays),
        cmocka_unit_test(what_is_appended_or_inserted_moves_nothing_else),
        cmocka_unit_test(what_is_removed_is_gone),
        cmocka_unit_test(what_is_changed_in_place_is_paired),
        cmocka_unit_test(changes_of_several_kinds_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

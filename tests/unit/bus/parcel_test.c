/* Letters in one row, and malformed rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/parcel.h"

static void letters_are_read_as_they_were_written(void **state)
{
    (void)state;
    char bytes[3 * PL_PARCEL_HEAD + 300];
    pl_parcel_head(false, 0, bytes);
    pl_parcel_head(true, 3, bytes + PL_PARCEL_HEAD);
    memcpy(bytes + 2 * PL_PARCEL_HEAD, "abc", 3);
    pl_parcel_head(false, 297, bytes + 2 * PL_PARCEL_HEAD + 3);
    memset(bytes + 3 * PL_PARCEL_HEAD + 3, 'x', 297);
    struct pl_str parcel = {bytes, sizeof bytes};
    struct pl_parcel_letter letter = {0};
    assert_true(pl_parcel_next(&parcel, &letter));
    assert_int_equal(letter.bytes.len, 0);
    assert_false(letter.is_to_all);
    assert_true(pl_parcel_next(&parcel, &letter));
    assert_true(pl_str_eq(letter.bytes, PL_STR("abc")));
    assert_true(letter.is_to_all);
    assert_true(pl_parcel_next(&parcel, &letter));
    assert_int_equal(letter.bytes.len, 297);
    assert_int_equal(letter.bytes.ptr[296], 'x');
    assert_false(pl_parcel_next(&parcel, &letter));
}

static void what_is_no_letter_ends_it(void **state)
{
    (void)state;
    static const struct pl_str wrong[] = {
        {NULL, 0},
        PL_STR("\0\0\0\0"),
        PL_STR("\0\0\0\0\1"),
        PL_STR("\0\xff\xff\xff\xff"
               "abc"),
        PL_STR("\2\0\0\0\1x"),
        PL_STR("\xff\0\0\0\1x"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pl_str parcel = wrong[i];
        struct pl_parcel_letter letter;
        assert_false(pl_parcel_next(&parcel, &letter));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_read_as_they_were_written),
        cmocka_unit_test(what_is_no_letter_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Numbers by their decimal text: exact, and never slower than their digits. */
#include "json/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct pl_str str(const char *s)
{
    return pl_str_of(s);
}

static void equal_values_compare_equal_however_they_are_spelled(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"1", "1.0"},
        {"1e2", "100"},
        {"-0", "0"},
        {"0e999999", "0"},
        {"-0.0", "0.000e5"},
        {"120", "1.2E+2"},
        {"0.001", "1e-3"},
        {"10e-1", "1"},
        {"100000000000000000000", "1e20"},
        {"-1.50", "-15e-1"},
        {"0.10e1", "1.000"},
        {"1e99999999999999999999999", "10e99999999999999999999998"},
        {"1e-99999999999999999999999", "0.1e-99999999999999999999998"},
        {"1e100000000000000000000000", "10e99999999999999999999999"},
        {"1e0000000000000000000000000000000001", "10"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(pl_json_number_cmp(str(same[i][0]), str(same[i][1])), 0);
        assert_int_equal(pl_json_number_cmp(str(same[i][1]), str(same[i][0])), 0);
        assert_true(pl_json_number_hash(str(same[i][0])) == pl_json_number_hash(str(same[i][1])));
    }
}

static void order_is_exact_for_any_size(void **state)
{
    (void)state;
    static const char *const less[][2] = {
        {"1", "2"},
        {"-2", "-1"},
        {"-1", "0"},
        {"-1e-9", "1e-9"},
        {"9007199254740992", "9007199254740993"},
        {"9223372036854775807", "9223372036854775808"},
        {"0.1", "0.10000000000000000000000000000000001"},
        {"1e-1000000", "1e-999999"},
        {"1e1000000", "1e1000001"},
        {"9e99999999999999999999999998", "1e99999999999999999999999999"},
        {"-1e99999999999999999999999999", "-1e99999999999999999999999998"},
        {"1e-99999999999999999999999999", "1e-99999999999999999999999998"},
        {"1e-99999999999999999999999999", "1e99999999999999999999999999"},
        {"0", "1e-99999999999999999999999999"},
        {"99", "1e2"},
        {"12", "123"},
    };
    for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
        assert_int_equal(pl_json_number_cmp(str(less[i][0]), str(less[i][1])), -1);
        assert_int_equal(pl_json_number_cmp(str(less[i][1]), str(less[i][0])), 1);
        assert_true(pl_json_number_hash(str(less[i][0])) != pl_json_number_hash(str(less[i][1])));
    }
}

static void an_integer_is_what_has_no_fraction(void **state)
{
    (void)state;
    static const char *const yes[] = {"0",
                                      "-0",
                                      "1",
                                      "1.0",
                                      "1e2",
                                      "1.5e1",
                                      "0e-5",
                                      "100e-2",
                                      "-3.000",
                                      "1e9999999999999999999999",
                                      "0.00",
                                      "1.230e2",
                                      "123456789012345678901234567890"};
    static const char *const no[] = {"1.5",
                                     "1e-1",
                                     "-0.1",
                                     "1e-9999999999999999999999",
                                     "1.23e1",
                                     "105e-2",
                                     "0.00000000000000000000000000001"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(pl_json_number_is_integer(str(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(pl_json_number_is_integer(str(no[i])));
}

static void int64_is_taken_up_to_its_last_value(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } fits[] = {
        {"0", 0},
        {"-0.0", 0},
        {"42", 42},
        {"-1.5e1", -15},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9223372036854775807.000", INT64_MAX},
        {"9.223372036854775807e18", INT64_MAX},
        {"1e18", 1000000000000000000},
    };
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        int64_t value = -1;
        assert_true(pl_json_number_int64(str(fits[i].text), &value));
        assert_true(value == fits[i].value);
    }
    static const char *const not [] = {
        "9223372036854775808",  "-9223372036854775809",    "1e19", "1.5", "1e-1",
        "99999999999999999999", "1e9999999999999999999999"};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
        int64_t value = 7;
        assert_false(pl_json_number_int64(str(not [i]), &value));
        assert_true(value == 7);
    }
}

static void multiples_are_found_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool is_multiple;
    } cases[] = {
        {"10", "5", true},
        {"10", "3", false},
        {"-9", "3", true},
        {"0", "7", true},
        {"0.0", "1e300", true},
        {"0.0075", "0.0001", true},
        {"0.00751", "0.0001", false},
        {"4.5", "1.5", true},
        {"35", "1.5", false},
        {"1.1", "0.1", true},
        {"19.99", "0.01", true},
        {"1e308", "0.5", true},
        {"1e308", "0.123456789", false},
        {"1e308", "0.5e-300", true},
        {"1e308", "3", false},
        {"3e308", "3", true},
        {"1e-1000000", "1e-1000000", true},
        {"1e-1000000", "1e-1000001", true},
        {"1e-1000000", "2e-1000000", false},
        {"1e-1000000", "2e-1000001", true},
        {"1e1000000000", "7", false},
        {"7e1000000000", "7", true},
        {"1e99999999999999999999999999999", "1024", true},
        {"1e99999999999999999999999999999", "1025", false},
        {"1e9", "1024", false},
        {"1e10", "1024", true},
        {"1e99999999999999999999999999999", "1e99999999999999999999999999999", true},
        {"1e99999999999999999999999999998", "1e99999999999999999999999999999", false},
        {"9223372036854775808", "2", true},
        {"18446744073709551616", "4294967296", true},
        {"1", "1e-18446744073709551616", true},
        /* divisors of more than 64 bits */
        {"340282366920938463463374607431768211456", "18446744073709551616", true},
        {"340282366920938463463374607431768211457", "18446744073709551616", false},
        {"121932631356500531591068431581771069347203169112635269", "123456789123456789123456789",
         true},
        {"121932631356500531347203169112635269", "123456789123456789", true},
        {"15241578780673678546105778281054720515622620750190521", "123456789123456789123456789",
         true},
        {"15241578780673678546105778281054720515622620750190522", "123456789123456789123456789",
         false},
        {"1e128", "340282366920938463463374607431768211456", true},
        {"1e127", "340282366920938463463374607431768211456", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pl_json_number_is_multiple(str(cases[i].a), str(cases[i].b)) != cases[i].is_multiple)
            fail_msg("%s of %s", cases[i].a, cases[i].b);
}

/* A small generator: the same numbers in every run. */
static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Products of two known factors, as decimal text: the quotient is an integer; with one added it is
 * not. */
static void random_products_are_multiples_of_their_factors(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        unsigned n = 1 + (unsigned)(next_random() % 60), m = 1 + (unsigned)(next_random() % 60);
        unsigned char x[64], y[64], z[130] = {0};
        char a[140], b[140];
        for (unsigned i = 0; i < n; i++)
            x[i] = (unsigned char)(next_random() % (i + 1 == n ? 9 : 10) + (i + 1 == n));
        for (unsigned i = 0; i < m; i++)
            y[i] = (unsigned char)(next_random() % (i + 1 == m ? 9 : 10) + (i + 1 == m));
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0, carry = 0; j < m || carry; j++) {
                carry += z[i + j] + (j < m ? x[i] * y[j] : 0);
                z[i + j] = carry % 10;
                carry /= 10;
            }
        unsigned len = n + m;
        while (len > 1 && !z[len - 1])
            len--;
        for (unsigned i = 0; i < len; i++)
            a[i] = (char)('0' + z[len - 1 - i]);
        for (unsigned i = 0; i < n; i++)
            b[i] = (char)('0' + x[n - 1 - i]);
        struct pl_str product = {a, len}, factor = {b, n};
        assert_true(pl_json_number_is_multiple(product, factor));
        if (n == 1 || a[len - 1] == '9')
            continue;
        a[len - 1]++; /* plus one: divisible only by 1 */
        assert_false(pl_json_number_is_multiple(product, factor) && n > 1);
    }
}

static void assert_double(const char *text)
{
    double ours = pl_json_number_double(pl_str_of(text)), theirs = strtod(text, NULL);
    uint64_t x, y;
    memcpy(&x, &ours, 8);
    memcpy(&y, &theirs, 8);
    if (x != y)
        fail_msg("%s: %a, not %a", text, ours, theirs);
}

static void doubles_are_rounded_like_the_c_library_does(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "-0.0e5",
        "1",
        "0.1",
        "1e22",
        "1e23",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.00000000000000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "2.2250738585072012e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "-1e309",
        "1e-400",
        "1e400",
        "123456789012345678901234567890e-10",
        "6.02214076e23",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0.5e-323",
        "0.7e-323",
        "9e-324",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"
        "85"
        "484581771153176447573027006985557136695962284291481986083493647529271907416844436551070434"
        "27"
        "11559699508093042880177904174497791",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"
        "85"
        "484581771153176447573027006985557136695962284291481986083493647529271907416844436551070434"
        "27"
        "11559699508093042880177904174497792",
    };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        assert_double(hard[i]);
    char text[1400];
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = next_random();
        double value;
        memcpy(&value, &bits, 8);
        if (value - value != 0)
            continue;
        (void)snprintf(text, sizeof text, "%.*e", (int)(next_random() % 40), value);
        assert_double(text);
        (void)snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(next_random() >> 3),
                       (unsigned long long)next_random(), (int)(next_random() % 700) - 350);
        assert_double(text);
    }
}

/* Exactly between two doubles, and slightly beside: the longest spellings. */
static void halves_between_doubles_go_to_the_even_one(void **state)
{
    (void)state;
    char text[1400];
    for (int i = 0; i < 600; i++) {
        uint64_t bits = next_random() & 0x7FFFFFFFFFFFFFFF;
        if (i % 3 == 0)
            bits &= 0x003FFFFFFFFFFFFF; /* the smallest doubles */
        double low, high;
        memcpy(&low, &bits, 8);
        bits++;
        memcpy(&high, &bits, 8);
        if (high - high != 0)
            continue;
        long double half = ((long double)low + (long double)high) / 2;
        int n = snprintf(text, sizeof text, "%.1200Le", half);
        assert_true(n > 0 && n < (int)sizeof text - 2);
        assert_double(text);
        text[1201] = '1'; /* the last digit of the fraction, zero before */
        assert_double(text);
    }
}

/* The cost of a hostile exponent must not depend on its value. */
static void a_huge_exponent_costs_nothing(void **state)
{
    (void)state;
    struct pl_str huge =
        PL_STR("1e999999999999999999999999999999999999999999999999999999999999999");
    struct pl_str tiny =
        PL_STR("1e-99999999999999999999999999999999999999999999999999999999999999");
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(pl_json_number_cmp(huge, tiny), 1);
        assert_true(pl_json_number_is_multiple(huge, tiny));
        assert_false(pl_json_number_is_multiple(tiny, huge));
        assert_true(pl_json_number_double(tiny) == 0);
        assert_true(pl_json_number_hash(huge) != pl_json_number_hash(tiny));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_values_compare_equal_however_they_are_spelled),
        cmocka_unit_test(order_is_exact_for_any_size),
        cmocka_unit_test(an_integer_is_what_has_no_fraction),
        cmocka_unit_test(int64_is_taken_up_to_its_last_value),
        cmocka_unit_test(multiples_are_found_exactly),
        cmocka_unit_test(random_products_are_multiples_of_their_factors),
        cmocka_unit_test(doubles_are_rounded_like_the_c_library_does),
        cmocka_unit_test(halves_between_doubles_go_to_the_even_one),
        cmocka_unit_test(a_huge_exponent_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

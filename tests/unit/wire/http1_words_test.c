/* Headers, lists, reasons and dates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/http1/http1.h"

static void names_are_compared_without_case(void **state)
{
    (void)state;
    assert_true(pl_http_name_is(PL_STR("Content-TYPE"), "content-type"));
    assert_false(pl_http_name_is(PL_STR("Content-Typ"), "content-type"));
    assert_false(pl_http_name_is(PL_STR(""), "a"));
}

static void the_first_header_of_a_name_is_found(void **state)
{
    (void)state;
    const struct pl_http_header headers[] = {
        {PL_STR("Host"), PL_STR("a")}, {PL_STR("X"), PL_STR("")}, {PL_STR("HOST"), PL_STR("b")}};
    const struct pl_http_head head = {.headers = headers, .n_headers = 3};
    assert_true(pl_str_eq(pl_http_header_get(&head, "host"), PL_STR("a")));
    assert_non_null(pl_http_header_get(&head, "x").ptr);
    assert_null(pl_http_header_get(&head, "y").ptr);
    assert_int_equal(pl_http_header_count(&head, "host"), 2);
    assert_int_equal(pl_http_header_count(&head, "x"), 1);
    assert_int_equal(pl_http_header_count(&head, "y"), 0);
}

static void a_list_has_its_tokens(void **state)
{
    (void)state;
    assert_true(pl_http_list_has(PL_STR("keep-alive, Upgrade"), "upgrade"));
    assert_true(pl_http_list_has(PL_STR(" ,\t upgrade\t,"), "upgrade"));
    assert_false(pl_http_list_has(PL_STR("upgrades, up grade"), "upgrade"));
    assert_false(pl_http_list_has(PL_STR(""), "upgrade"));
    assert_false(pl_http_list_has(PL_STR(", ,"), ""));
}

static void a_quoted_element_is_compared_exactly_and_may_hold_a_comma(void **state)
{
    (void)state;
    assert_true(pl_http_list_has(PL_STR("\"a\", W/\"b,c\""), "W/\"b,c\""));
    assert_true(pl_http_list_has(PL_STR("\"a\", W/\"b,c\""), "\"a\""));
    assert_false(pl_http_list_has(PL_STR("\"A\""), "\"a\""));
    assert_false(pl_http_list_has(PL_STR("\"x,upgrade,y\""), "upgrade"));
}

static void methods_and_reasons_have_texts(void **state)
{
    (void)state;
    assert_string_equal(pl_method_text(PL_METHOD_PATCH), "PATCH");
    assert_string_equal(pl_method_text(PL_METHOD_OTHER), "");
    assert_string_equal(pl_http_reason(404), "Not Found");
    assert_string_equal(pl_http_reason(431), "Request Header Fields Too Large");
    assert_string_equal(pl_http_reason(799), "");
}

static void every_status_of_the_program_has_a_reason(void **state)
{
    (void)state;
    for (int i = 0; i < PL_STATUS_COUNT; i++)
        assert_string_not_equal(pl_http_reason(pl_status_info((enum pl_status)i)->http_status), "");
}

static void a_date_is_written_in_the_fixed_form(void **state)
{
    (void)state;
    char text[PL_HTTP_DATE_SIZE + 1] = {0};
    pl_http_date_write(text, 784111777);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    pl_http_date_write(text, -1);
    assert_string_equal(text, "Wed, 31 Dec 1969 23:59:59 GMT");
}

static void the_three_forms_of_a_date_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t unix_s;
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Wed Nov 16 08:49:37 1994", 784975777},
        {"Wednesday, 01-Jan-69 00:00:00 GMT", 3124224000},
        {"Thursday, 01-Jan-70 00:00:00 GMT", 0},
        {"Thu, 29 Feb 1996 00:00:00 GMT", 825552000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t unix_s = -5;
        print_message("# %s\n", cases[i].text);
        assert_true(pl_http_date_read(pl_str_of(cases[i].text), &unix_s));
        assert_int_equal(unix_s, cases[i].unix_s);
    }
}

static void what_is_no_date_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Noc 1994 08:49:37 GMT",
        "Sux, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "1994-11-06T08:49:37Z",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t unix_s = -5;
        print_message("# %s\n", cases[i]);
        assert_false(pl_http_date_read(pl_str_of(cases[i]), &unix_s));
        assert_int_equal(unix_s, -5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_compared_without_case),
        cmocka_unit_test(the_first_header_of_a_name_is_found),
        cmocka_unit_test(a_list_has_its_tokens),
        cmocka_unit_test(a_quoted_element_is_compared_exactly_and_may_hold_a_comma),
        cmocka_unit_test(methods_and_reasons_have_texts),
        cmocka_unit_test(every_status_of_the_program_has_a_reason),
        cmocka_unit_test(a_date_is_written_in_the_fixed_form),
        cmocka_unit_test(the_three_forms_of_a_date_are_read),
        cmocka_unit_test(what_is_no_date_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Paths and hosts: cases that the vectors of corpora/pi-ext lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/host_scope.h"
#include "extproto/path_scope.h"

static struct pl_arena arena;

static void a_path_is_cleaned_or_refused(void **state)
{
    static const struct {
        const char *path, *clean; /* NULL: refused */
    } cases[] = {
        {"", ""},      {".", ""},        {"./", ""},           {"a", "a"},
        {"a/", "a"},   {"a//b", "a/b"},  {"./a/./b/.", "a/b"}, {"..a/b..", "..a/b.."},
        {"/a", NULL},  {"a/../b", NULL}, {"..", NULL},         {"a/..", NULL},
        {"../", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_str clean = {0};
        enum pl_status status = pl_ext_path_clean(&arena, pl_str_of(cases[i].path), &clean);
        assert_int_equal(status, cases[i].clean ? PL_OK : PL_INVALID);
        if (cases[i].clean)
            assert_true(pl_str_eq(clean, pl_str_of(cases[i].clean)));
    }
    struct pl_str clean;
    assert_int_equal(pl_ext_path_clean(&arena, PL_STR("a\0b"), &clean), PL_INVALID);
}

static void the_root_is_matched_by_globs_of_everything_only(void **state)
{
    (void)state;
    assert_true(pl_ext_glob_match(PL_STR("**"), PL_STR("")));
    assert_true(pl_ext_glob_match(PL_STR("**/**"), PL_STR("")));
    assert_false(pl_ext_glob_match(PL_STR("*"), PL_STR("")));
    assert_false(pl_ext_glob_match(PL_STR("a"), PL_STR("")));
    assert_false(pl_ext_glob_match(PL_STR("**/a"), PL_STR("")));
}

static void stars_are_tried_at_every_place(void **state)
{
    (void)state;
    assert_true(pl_ext_glob_match(PL_STR("a*b*c"), PL_STR("aXbXbXc")));
    assert_false(pl_ext_glob_match(PL_STR("a*b*c"), PL_STR("aXbXbX")));
    assert_true(pl_ext_glob_match(PL_STR("**/b/*.c"), PL_STR("b/x/b/y.c")));
    assert_false(pl_ext_glob_match(PL_STR("**/b/*.c"), PL_STR("b/x/y.c")));
    assert_true(pl_ext_glob_match(PL_STR("?"), PL_STR("é")));
    assert_false(pl_ext_glob_match(PL_STR("??"), PL_STR("é")));
    assert_true(pl_ext_glob_match(PL_STR("*é"), PL_STR("ééé")));
    assert_true(pl_ext_glob_match(PL_STR("a/b"), PL_STR("a/b")));
    assert_false(pl_ext_glob_match(PL_STR("a"), PL_STR("a/b")));
    assert_true(pl_ext_glob_match(PL_STR("a*"), PL_STR("a")));
}

/* A glob made to be slow costs at most its length times the length of the path. */
static void a_glob_of_many_stars_comes_to_its_end(void **state)
{
    char glob[4001], path[4001];
    (void)state;
    for (size_t i = 0; i < 4000; i++) {
        glob[i] = i % 2 ? 'a' : '*';
        path[i] = 'a';
    }
    glob[4000] = 'b';
    path[4000] = 'c';
    assert_false(pl_ext_glob_match((struct pl_str){glob, 4001}, (struct pl_str){path, 4001}));
}

static void a_glob_covers_another_only_where_that_is_certain(void **state)
{
    static const struct {
        const char *outer, *inner;
        bool covers;
    } cases[] = {
        {"**", "src/**", true},      {"src/**", "src/a/*.c", true}, {"src/**", "src/**", true},
        {"src/**", "srcs/*", false}, {"src/**", "src*", false},     {"src/*", "src/**", false},
        {"src/*", "src/a.c", true},  {"src/**", "src", true},       {"src/*", "src/*.c", false},
        {"*/**", "a/*", false},      {"/**", "a*", false},          {"src/**", "**", false},
        {"src/**", "src/", true},    {"src/**", "src?", false},     {"a/**", "?", false},
        {"a/**", "", false},         {"a/**", "a?/**", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pl_ext_glob_covers(pl_str_of(cases[i].outer), pl_str_of(cases[i].inner)),
                         cases[i].covers);
}

static void protected_names_are_so_in_any_case_and_depth(void **state)
{
    (void)state;
    assert_true(pl_ext_path_is_protected(PL_STR("a/.GIT/Hooks/x")));
    assert_true(pl_ext_path_is_protected(PL_STR(".claude")));
    assert_false(pl_ext_path_is_protected(PL_STR("hooks/.git")));
    assert_false(pl_ext_path_is_protected(PL_STR("")));
    assert_false(pl_ext_path_is_protected(PL_STR(".claudes/x")));
}

static void what_is_no_host_is_refused_with_a_reason(void **state)
{
    static const char *const patterns[] = {"",          "*",        "*.",    "a b",     "a/b",
                                           "u@h",       "http://",  "*.*.x", "a:99999", "a%41",
                                           "*.1.2.3.4", "https://", "x?y",   "a\\b",    "[::1"};
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct pl_ext_host host;
        struct pl_error err = {0};
        assert_int_equal(pl_ext_host_read(&arena, pl_str_of(patterns[i]), &host, &err), PL_INVALID);
        assert_true(err.message[0]);
    }
}

static void a_pattern_has_300_bytes_at_most(void **state)
{
    char text[302];
    struct pl_ext_host host;
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 50 == 49 ? '.' : 'a';
    assert_int_equal(pl_ext_host_read(&arena, (struct pl_str){text, 301}, &host, NULL), PL_INVALID);
}

static void hosts_cover_what_they_allow(void **state)
{
    static const struct {
        const char *outer, *inner;
        bool covers;
    } cases[] = {
        {"a.example", "A.example.", true},        {"*.example", "a.example", true},
        {"*.example", "*.a.example", true},       {"a.example", "*.a.example", false},
        {"*.a.example", "*.example", false},      {"a.example", "http://a.example", false},
        {"https://a.example", "a.example", true}, {"a.example:443", "a.example", true},
        {"a.example:8443", "a.example", false},   {"*.example", "b.axample", false},
        {"*.example", "xexample", false},         {"*.example", "example", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_ext_host outer, inner;
        assert_int_equal(pl_ext_host_read(&arena, pl_str_of(cases[i].outer), &outer, NULL), PL_OK);
        assert_int_equal(pl_ext_host_read(&arena, pl_str_of(cases[i].inner), &inner, NULL), PL_OK);
        assert_int_equal(pl_ext_host_covers(&outer, &inner), cases[i].covers);
    }
}

static enum pl_ext_reason judge(const char *pattern, const char *url)
{
    struct pl_ext_host host;
    enum pl_ext_reason reason;
    assert_int_equal(pl_ext_host_read(&arena, pl_str_of(pattern), &host, NULL), PL_OK);
    assert_int_equal(pl_ext_hosts_judge(&arena, &host, 1, pl_str_of(url), &reason), PL_OK);
    return reason;
}

static void the_first_host_that_fits_is_enough(void **state)
{
    struct pl_ext_host hosts[2];
    enum pl_ext_reason reason;
    (void)state;
    assert_int_equal(pl_ext_host_read(&arena, PL_STR("a.example"), &hosts[0], NULL), PL_OK);
    assert_int_equal(pl_ext_host_read(&arena, PL_STR("b.example"), &hosts[1], NULL), PL_OK);
    for (size_t i = 0; i < 2; i++) {
        struct pl_str url = i ? PL_STR("https://b.example/") : PL_STR("https://a.example/");
        assert_int_equal(pl_ext_hosts_judge(&arena, hosts, 2, url, &reason), PL_OK);
        assert_int_equal(reason, PL_EXT_REASON_COUNT);
    }
}

static void a_private_place_is_told_as_one(void **state)
{
    (void)state;
    assert_int_equal(judge("10.0.0.1", "https://10.0.0.1/"), PL_EXT_REASON_PRIVATE_ADDRESS);
    assert_int_equal(judge("a.localhost", "https://a.localhost/"), PL_EXT_REASON_PRIVATE_ADDRESS);
    assert_int_equal(judge("a.example", "https://[::ffff:127.0.0.1]/"),
                     PL_EXT_REASON_PRIVATE_ADDRESS);
    assert_int_equal(judge("9.9.9.9", "https://9.9.9.9/"), PL_EXT_REASON_COUNT);
    assert_int_equal(judge("a.example", "https://:p@a.example/"), PL_EXT_REASON_SCOPE);
    assert_int_equal(judge("a.example", "no url"), PL_EXT_REASON_SCOPE);
    assert_int_equal(judge("a.example", "relative"), PL_EXT_REASON_SCOPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_host_that_fits_is_enough),
        cmocka_unit_test(a_path_is_cleaned_or_refused),
        cmocka_unit_test(the_root_is_matched_by_globs_of_everything_only),
        cmocka_unit_test(stars_are_tried_at_every_place),
        cmocka_unit_test(a_glob_of_many_stars_comes_to_its_end),
        cmocka_unit_test(a_glob_covers_another_only_where_that_is_certain),
        cmocka_unit_test(protected_names_are_so_in_any_case_and_depth),
        cmocka_unit_test(what_is_no_host_is_refused_with_a_reason),
        cmocka_unit_test(a_pattern_has_300_bytes_at_most),
        cmocka_unit_test(hosts_cover_what_they_allow),
        cmocka_unit_test(a_private_place_is_told_as_one),
    };
    pl_arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return failed;
}

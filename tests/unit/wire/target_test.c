/* Parsing request targets: decoding, refusals, and each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/target.h"

#include <stdio.h>

struct fixture {
    struct pl_arena arena;
    struct pl_target target;
    struct pl_error err;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    pl_arena_init(&fixture.arena, 0);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    pl_arena_deinit(&((struct fixture *)*state)->arena);
    return 0;
}

static enum pl_status parse(struct fixture *f, const char *text)
{
    return pl_target_parse(&f->arena, pl_str_of(text), &f->target, &f->err);
}

static void assert_text(struct pl_str found, const char *wanted)
{
    assert_non_null(found.ptr);
    assert_int_equal(found.len, strlen(wanted));
    assert_memory_equal(found.ptr, wanted, found.len);
}

static void a_path_is_its_segments(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *path, *segments[4];
    } cases[] = {
        {"/", "/", {NULL}},
        {"/a/b", "/a/b", {"a", "b"}},
        {"/a/", "/a/", {"a", ""}},
        {"//a", "//a", {"", "a"}},
        {"/a//b?x", "/a//b", {"a", "", "b"}},
        {"/.././a", "/.././a", {"..", ".", "a"}},
        {"/%C3%A9%2Fb/c+d", "/%C3%A9%2Fb/c+d", {"\u00e9/b", "c+d"}},
        {"http://host:1/a/b?x=1", "/a/b", {"a", "b"}},
        {"HTTPS://host", "/", {NULL}},
        {"http://host?x=1", "/", {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("# %s\n", cases[i].text);
        assert_int_equal(parse(f, cases[i].text), PL_OK);
        assert_text(f->target.path, cases[i].path);
        size_t n = 0;
        for (; n < 4 && cases[i].segments[n]; n++)
            assert_text(f->target.segments[n], cases[i].segments[n]);
        assert_int_equal(f->target.n_segments, n);
    }
}

static void a_query_is_its_parameters(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "/?a=1&b=x+y%2B&&c&=e&d==?&a=2"), PL_OK);
    assert_int_equal(f->target.n_params, 6);
    assert_text(pl_target_param(&f->target, "a"), "1");
    assert_text(pl_target_param(&f->target, "b"), "x y+");
    assert_text(pl_target_param(&f->target, "c"), "");
    assert_text(pl_target_param(&f->target, ""), "e");
    assert_text(pl_target_param(&f->target, "d"), "=?");
    assert_text(f->target.params[5].value, "2");
    assert_null(pl_target_param(&f->target, "e").ptr);
    assert_int_equal(parse(f, "/?"), PL_OK);
    assert_int_equal(f->target.n_params, 0);
}

static void what_is_no_address_is_refused_with_a_reason(void **state)
{
    struct fixture *f = *state;
    static const char *const cases[] = {
        "",        "*",    "host:443", "a/b",     "ftp://host/a",  "http://", "http:///a",
        "/%",      "/%4",  "/%4g",     "/a%zz",   "/%00",          "/%1f",    "/%7F",
        "/?a=%0A", "/%ff", "/%C3",     "/?%C3=1", "/?a=%ED%A0%80", "/a#b",    "/?a#b",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->target.n_segments = 99;
        f->err.message[0] = '\0';
        print_message("# %s\n", cases[i]);
        assert_int_equal(parse(f, cases[i]), PL_SYNTAX);
        assert_int_equal(f->target.n_segments, 99);
        assert_true(strlen(f->err.message) > 10);
    }
}

static void one_segment_too_many_is_over_the_limit(void **state)
{
    struct fixture *f = *state;
    char text[2 * PL_TARGET_MAX_SEGMENTS + 3] = "";
    for (int i = 0; i < PL_TARGET_MAX_SEGMENTS; i++)
        memcpy(text + 2 * i, "/a", 3);
    assert_int_equal(parse(f, text), PL_OK);
    assert_int_equal(f->target.n_segments, PL_TARGET_MAX_SEGMENTS);
    memcpy(text + 2 * PL_TARGET_MAX_SEGMENTS, "/", 2);
    assert_int_equal(parse(f, text), PL_LIMIT);
}

static void one_parameter_too_many_is_over_the_limit(void **state)
{
    struct fixture *f = *state;
    char text[2 * PL_TARGET_MAX_PARAMS + 5] = "/?";
    for (int i = 0; i < PL_TARGET_MAX_PARAMS; i++)
        memcpy(text + 2 + 2 * i, "a&", 3);
    assert_int_equal(parse(f, text), PL_OK);
    assert_int_equal(f->target.n_params, PL_TARGET_MAX_PARAMS);
    memcpy(text + 2 + 2 * PL_TARGET_MAX_PARAMS, "a", 2);
    assert_int_equal(parse(f, text), PL_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_its_segments),
        cmocka_unit_test(a_query_is_its_parameters),
        cmocka_unit_test(what_is_no_address_is_refused_with_a_reason),
        cmocka_unit_test(one_segment_too_many_is_over_the_limit),
        cmocka_unit_test(one_parameter_too_many_is_over_the_limit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

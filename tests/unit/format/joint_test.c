/* Parts of one text, cut out of it again after somebody changed it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/utf8.h"
#include "format/joint.h"

/* Three parts joined by "\n\n", which became `now`; each must be found again as expected. */
static void assert_cut(const char *const parts[3], const char *now, const char *const expected[3])
{
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    for (int i = 0; i < 3; i++) {
        pl_buf_adds(&whole, i ? "\n\n" : "");
        pl_buf_adds(&whole, parts[i]);
    }
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_joined then, later;
    assert_int_equal(pl_joined_init(&then, &arena, pl_buf_str(&whole), PL_STR("\n\n")), PL_OK);
    assert_int_equal(
        pl_joined_init(&later, &arena, now ? pl_str_of(now) : pl_buf_str(&whole), PL_STR("\n\n")),
        PL_OK);
    size_t n_before = 0;
    for (int i = 0; i < 3; i++) {
        struct pl_joint joint;
        struct pl_str part;
        size_t n_own = pl_utf8_count(pl_str_of(parts[i]));
        size_t n_next = i < 2 ? pl_utf8_count(pl_str_of(parts[i + 1])) : 0;
        assert_true(pl_joint_make(&then, n_before, n_own, n_next, &joint, &part));
        assert_true(pl_str_eq(part, pl_str_of(parts[i])));
        n_before += n_own + 2;
        struct pl_str cut = pl_joint_cut(&joint, &later);
        if (!pl_str_eq(cut, pl_str_of(expected[i])))
            fail_msg("part %d is '%.*s' instead of '%s'", i, PL_STR_ARG(cut), expected[i]);
    }
}

#define THREE(a, b, c) ((const char *const[]){a, b, c})

static void parts_are_found_where_they_were(void **state)
{
    (void)state;
    assert_cut(THREE("one", "zwei 中", "😀"), NULL, THREE("one", "zwei 中", "😀"));
    assert_cut(THREE("", "", ""), NULL, THREE("", "", ""));
    assert_cut(THREE("a\n", "\n\nb\n\n", "\nc"), NULL, THREE("a\n", "\n\nb\n\n", "\nc"));
}

static void a_changed_part_is_what_is_between_its_neighbours(void **state)
{
    (void)state;
    const char *const *parts = THREE("one", "two", "three");
    assert_cut(parts, "one and a half\n\ntwo\n\nthree", THREE("one and a half", "two", "three"));
    assert_cut(parts, "one\n\n2\n\nthree", THREE("one", "2", "three"));
    assert_cut(parts, "one\n\ntwo\n\nthree\n\nfour", THREE("one", "two", "three\n\nfour"));
    assert_cut(parts, "one\n\nt\n\nwo\n\nthree", THREE("one", "t\n\nwo", "three"));
}

static void what_is_put_between_parts_goes_to_the_first_of_them(void **state)
{
    (void)state;
    const char *const *parts = THREE("one", "two", "three");
    assert_cut(parts, "zero\n\none\n\ntwo\n\nthree", THREE("zero\n\none", "two", "three"));
    assert_cut(parts, "one\n\nx\n\ntwo\n\nthree", THREE("one\n\nx", "two", "three"));
    assert_cut(parts, "one\n\ntwo\n\nx\n\nthree", THREE("one", "two\n\nx", "three"));
}

static void several_changed_parts_are_told_apart_by_the_glue(void **state)
{
    (void)state;
    assert_cut(THREE("one", "two", "three"), "first\n\ntwo\n\nthe third",
               THREE("first", "two", "the third"));
}

static void what_is_gone_says_nothing(void **state)
{
    (void)state;
    assert_cut(THREE("one", "two", "three"), "", THREE("", "", ""));
    assert_cut(THREE("one", "two", "three"), "one", THREE("one", "", ""));
}

static void a_joint_is_read_as_it_was_written(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_joint joint, again;
    struct pl_str part;
    struct pl_json_doc doc;
    struct pl_joined joined;
    assert_int_equal(pl_joined_init(&joined, &arena, PL_STR("a\n\nb"), PL_STR("\n\n")), PL_OK);
    assert_true(pl_joint_make(&joined, 3, 1, 0, &joint, &part));
    struct pl_json_out out = pl_json_out(&text);
    pl_joint_write(&out, &joint);
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&text), NULL, &doc, NULL), PL_OK);
    assert_true(pl_joint_read(&arena, &doc, doc.root, &again));
    assert_true(pl_str_eq(again.glue, joint.glue));
    assert_int_equal(again.n_before, 3);
    assert_int_equal(again.glues_before, 1);
    assert_int_equal(again.look, joint.look);
    assert_int_equal(pl_json_parse(&arena, PL_STR("[\"x\",1,2,3,4,5]"), NULL, &doc, NULL), PL_OK);
    assert_false(pl_joint_read(&arena, &doc, doc.root, &again));
}

static void a_part_beyond_the_end_is_none(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_joined joined;
    struct pl_joint joint;
    struct pl_str part;
    assert_int_equal(pl_joined_init(&joined, &arena, PL_STR("ab"), PL_STR("\n")), PL_OK);
    assert_false(pl_joint_make(&joined, 1, 2, 0, &joint, &part));
    assert_false(pl_joint_make(&joined, SIZE_MAX, 2, 0, &joint, &part));
}

/* Beyond the places where marks stand, with points of every length. */
static void a_part_far_inside_is_found(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    enum { N = 1000 };
    for (int i = 0; i < N; i++)
        pl_buf_addf(&whole, "%s%dé中😀", i ? "\n\n" : "", i);
    struct pl_joined joined;
    assert_int_equal(pl_joined_init(&joined, &arena, pl_buf_str(&whole), PL_STR("\n\n")), PL_OK);
    size_t n_before = 0;
    for (int i = 0; i < N; i++) {
        char text[32];
        int n = snprintf(text, sizeof text, "%dé中😀", i);
        struct pl_joint joint;
        struct pl_str part;
        size_t n_own = pl_utf8_count((struct pl_str){text, (size_t)n});
        assert_true(pl_joint_make(&joined, n_before, n_own, 0, &joint, &part));
        assert_true(pl_str_eq(part, pl_str_of(text)));
        assert_int_equal(joint.glues_before, i);
        assert_true(pl_str_eq(pl_joint_cut(&joint, &joined), pl_str_of(text)));
        n_before += n_own + 2;
    }
}

/* What others make up may ask for the whole again and again. */
static void parts_that_overlap_are_not_looked_at_for_ever(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_joined joined;
    struct pl_joint joint = {.glue = PL_STR("\n"), .n_own = 8};
    assert_int_equal(pl_joined_init(&joined, &arena, PL_STR("word and"), PL_STR("\n")), PL_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(pl_joint_cut(&joint, &joined).len, 8);
    assert_int_equal(joined.n_looks_left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_found_where_they_were),
        cmocka_unit_test(a_changed_part_is_what_is_between_its_neighbours),
        cmocka_unit_test(what_is_put_between_parts_goes_to_the_first_of_them),
        cmocka_unit_test(several_changed_parts_are_told_apart_by_the_glue),
        cmocka_unit_test(what_is_gone_says_nothing),
        cmocka_unit_test(a_joint_is_read_as_it_was_written),
        cmocka_unit_test(a_part_beyond_the_end_is_none),
        cmocka_unit_test(a_part_far_inside_is_found),
        cmocka_unit_test(parts_that_overlap_are_not_looked_at_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

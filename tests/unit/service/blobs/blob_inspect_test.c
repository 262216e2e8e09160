#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service/blobs/blob_inspect.h"

static const struct pl_str png =
    PL_STR("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0");

static void the_beginning_says_the_type(void **state)
{
    struct pl_arena *arena = *state;
    struct pl_str type;
    assert_int_equal(pl_blob_type(arena, (struct pl_str){0}, png, &type, NULL), PL_OK);
    assert_true(pl_str_eq(type, PL_STR("image/png")));
}

static void a_picture_that_is_something_else_is_refused(void **state)
{
    struct pl_arena *arena = *state;
    struct pl_str type;
    struct pl_error err = {0};
    assert_int_equal(pl_blob_type(arena, PL_STR("image/jpeg"), png, &type, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "image/png"));
}

static void without_a_sign_the_declared_type_counts(void **state)
{
    struct pl_arena *arena = *state;
    struct pl_str type;
    struct pl_str said = PL_STR("text/csv; charset=utf-8");
    assert_int_equal(pl_blob_type(arena, said, PL_STR("a,b\n1,2\n"), &type, NULL), PL_OK);
    assert_true(pl_str_eq(type, PL_STR("text/csv")));
}

/* Both pieces of `text`, split at `at`. */
static struct pl_blob_look look_at(struct pl_arena *arena, struct pl_str text, size_t at)
{
    struct pl_blob_look look;
    pl_blob_look_begin(&look, PL_STR("text/plain"));
    assert_int_equal(pl_blob_look(&look, arena, pl_str_slice(text, 0, at), false, NULL), PL_OK);
    assert_int_equal(pl_blob_look(&look, arena, pl_str_slice(text, at, text.len), true, NULL),
                     PL_OK);
    return look;
}

static void a_text_may_be_cut_anywhere(void **state)
{
    static const struct pl_str text = PL_STR("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80 ok");
    for (size_t at = 1; at < text.len; at++) {
        struct pl_blob_look look = look_at(*state, text, at);
        assert_false(look.is_broken_text);
        assert_int_equal(look.n_bytes, text.len);
    }
}

static void a_text_that_is_no_utf8_is_seen_in_any_piece(void **state)
{
    static const struct pl_str text = PL_STR("abc\xC3(def");
    for (size_t at = 1; at < text.len; at++)
        assert_true(look_at(*state, text, at).is_broken_text);
    assert_true(look_at(*state, PL_STR("abc\xF0\x9F"), 4).is_broken_text);
}

static void a_name_is_one_line(void **state)
{
    (void)state;
    assert_true(pl_blob_name_is_good(PL_STR("a picture.png")));
    assert_false(pl_blob_name_is_good(PL_STR("two\nlines")));
    assert_false(pl_blob_name_is_good(PL_STR("\xFF")));
}

static int make_arena(void **state)
{
    static struct pl_arena arena;
    pl_arena_init(&arena, 0);
    *state = &arena;
    return 0;
}

static int free_arena(void **state)
{
    pl_arena_deinit(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_beginning_says_the_type),
        cmocka_unit_test(a_picture_that_is_something_else_is_refused),
        cmocka_unit_test(without_a_sign_the_declared_type_counts),
        cmocka_unit_test(a_text_may_be_cut_anywhere),
        cmocka_unit_test(a_text_that_is_no_utf8_is_seen_in_any_piece),
        cmocka_unit_test(a_name_is_one_line),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}

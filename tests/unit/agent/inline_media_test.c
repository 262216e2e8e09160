/* Turns without media to inline stay unchanged; only media blocks are looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/context/inline_media.h"

#include <string.h>

static enum pl_status inlined(struct pl_arena *arena, const char *turns, struct pl_str *ret_turns)
{
    struct pl_inline_opts opts = {
        .user_id = PL_STR("user_1"), .max_bytes = PL_INLINE_MAX_BYTES, .max_tokens = -1};
    struct pl_inlined made = {0};
    enum pl_status status = pl_media_inline(NULL, arena, &opts, pl_str_of(turns), &made, NULL);
    if (status == PL_OK)
        *ret_turns = made.turns;
    return status;
}

static void turns_without_media_are_the_same_bytes(void **state)
{
    (void)state;
    static const char *const turns[] = {
        "[]",
        "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"hello\"}]}]",
        "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"\\\"media\\\"\"}]}]",
        "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":{\"a\":\"media\"}}]}]",
    };
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        struct pl_str made = {0};
        pl_arena_init(&arena, 0);
        assert_int_equal(inlined(&arena, turns[i], &made), PL_OK);
        assert_ptr_equal(made.ptr, turns[i]);
    }
}

static void blocks_of_another_shape_are_passed_over(void **state)
{
    (void)state;
    static const char *const contents[] = {"null", "5", "[]", "\"media\"", "{}"};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf text;
        struct pl_str made = {0};
        pl_arena_init(&arena, 0);
        pl_buf_init(&text, 0);
        pl_buf_addf(&text,
                    "[5,null,{\"blocks\":5},{\"blocks\":[null,{\"type\":5},{\"type\":"
                    "\"media\",\"content\":%s}]}]",
                    contents[i]);
        pl_buf_addc(&text, '\0');
        assert_int_equal(inlined(&arena, text.ptr, &made), PL_OK);
        assert_true(made.len > 0);
    }
}

static void what_is_no_json_is_an_error(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_str made = {0};
    pl_arena_init(&arena, 0);
    assert_int_equal(inlined(&arena, "[{\"media\"", &made), PL_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_without_media_are_the_same_bytes),
        cmocka_unit_test(blocks_of_another_shape_are_passed_over),
        cmocka_unit_test(what_is_no_json_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

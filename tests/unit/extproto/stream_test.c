/* Streams: the request, credits, and where text is split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/stream.h"

static struct pl_arena arena;

static enum pl_status ask(const char *params, bool *ret_is_asked, struct pl_ext_stream *ret_stream)
{
    struct pl_json_doc doc;
    pl_arena_reset(&arena);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(params), NULL, &doc, NULL), PL_OK);
    return pl_ext_stream_read(&doc, doc.root, ret_is_asked, ret_stream);
}

static void a_stream_is_asked_for_by_true_or_by_credits(void **state)
{
    struct pl_ext_stream stream;
    bool is_asked = true;
    (void)state;
    assert_int_equal(ask("{}", &is_asked, &stream), PL_OK);
    assert_false(is_asked);
    assert_int_equal(ask("{\"stream\":false}", &is_asked, &stream), PL_OK);
    assert_false(is_asked);
    assert_int_equal(ask("{\"stream\":true}", &is_asked, &stream), PL_OK);
    assert_true(is_asked && !stream.has_credits);
    assert_int_equal(ask("{\"stream\":{\"credits\":1024}}", &is_asked, &stream), PL_OK);
    assert_true(is_asked && stream.has_credits && stream.credits == 1024);
    assert_int_equal(pl_ext_stream_read(NULL, NULL, &is_asked, &stream), PL_OK);
    assert_false(is_asked);
}

static void anything_else_is_no_stream(void **state)
{
    static const char *const params[] = {
        "{\"stream\":5}",
        "{\"stream\":\"true\"}",
        "{\"stream\":null}",
        "{\"stream\":[]}",
        "{\"stream\":{}}",
        "{\"stream\":{\"credits\":-1}}",
        "{\"stream\":{\"credits\":1025}}",
        "{\"stream\":{\"credits\":1.5}}",
        "{\"stream\":{\"credits\":\"1\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        struct pl_ext_stream stream;
        bool is_asked;
        assert_int_equal(ask(params[i], &is_asked, &stream), PL_INVALID);
    }
}

static void at_zero_credits_the_source_rests(void **state)
{
    struct pl_ext_stream stream = {.has_credits = true, .credits = 1};
    (void)state;
    assert_int_equal(pl_ext_stream_send(&stream, 10, false), 0);
    assert_false(pl_ext_stream_may_send(&stream));
    assert_true(pl_ext_stream_credit(&stream, 2));
    assert_int_equal(pl_ext_stream_send(&stream, 10, false), 1);
    assert_int_equal(pl_ext_stream_send(&stream, 10, true), 2);
    assert_true(pl_ext_stream_credit(&stream, 1024));
    assert_true(pl_ext_stream_credit(&stream, 1024));
    assert_int_equal(stream.credits, 1024);
    assert_false(pl_ext_stream_may_send(&stream));
    assert_false(pl_ext_stream_credit(&stream, 1025));
    assert_false(pl_ext_stream_credit(&stream, -1));
}

static void without_credits_the_pipe_bounds_what_is_on_the_way(void **state)
{
    struct pl_ext_stream stream = {0};
    (void)state;
    assert_false(pl_ext_stream_credit(&stream, 1));
    for (int i = 0; i < PL_EXT_FREE_CHUNKS; i++)
        assert_int_equal(pl_ext_stream_send(&stream, 1, false), i);
    assert_false(pl_ext_stream_may_send(&stream));
    pl_ext_stream_taken(&stream, 1);
    assert_true(pl_ext_stream_may_send(&stream));
    stream = (struct pl_ext_stream){0};
    (void)pl_ext_stream_send(&stream, PL_EXT_FREE_BYTES, false);
    assert_false(pl_ext_stream_may_send(&stream));
}

static void a_character_is_never_cut(void **state)
{
    char bytes[PL_EXT_CHUNK_BYTES + 8];
    bool is_text;
    (void)state;
    memset(bytes, 'a', sizeof bytes);
    memcpy(bytes + PL_EXT_CHUNK_BYTES - 1, "é", 2);
    assert_int_equal(pl_ext_chunk_cut((struct pl_str){bytes, sizeof bytes}, true, &is_text),
                     PL_EXT_CHUNK_BYTES - 1);
    assert_true(is_text);
    assert_int_equal(pl_ext_chunk_cut((struct pl_str){"\xC3", 1}, false, &is_text), 0);
    assert_int_equal(pl_ext_chunk_cut((struct pl_str){"ab\xC3", 3}, false, &is_text), 2);
    assert_true(is_text);
}

static void bytes_that_are_no_text_go_as_bytes(void **state)
{
    bool is_text;
    (void)state;
    assert_int_equal(pl_ext_chunk_cut((struct pl_str){"\xFF\xFE", 2}, false, &is_text), 2);
    assert_false(is_text);
    assert_int_equal(pl_ext_chunk_cut((struct pl_str){"ok\xFF", 3}, true, &is_text), 2);
    assert_true(is_text);
    assert_int_equal(pl_ext_chunk_cut((struct pl_str){"\xC3", 1}, true, &is_text), 1);
    assert_false(is_text);
    assert_int_equal(pl_ext_chunk_cut((struct pl_str){NULL, 0}, true, &is_text), 0);
    assert_true(is_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_asked_for_by_true_or_by_credits),
        cmocka_unit_test(anything_else_is_no_stream),
        cmocka_unit_test(at_zero_credits_the_source_rests),
        cmocka_unit_test(without_credits_the_pipe_bounds_what_is_on_the_way),
        cmocka_unit_test(a_character_is_never_cut),
        cmocka_unit_test(bytes_that_are_no_text_go_as_bytes),
    };
    pl_arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return failed;
}

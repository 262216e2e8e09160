/* Whether a document has media to keep, in any shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service/blobs/media_keep.h"

static void check(const char *text, bool is_needed)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_media_keep_is_needed(&doc, doc.root), is_needed);
}

#define MEDIA "{\"type\":\"media\",\"content\":{\"kind\":\"image\",\"data\":\"AAAA\"}}"

static void media_are_found_in_blocks_and_in_turns(void **state)
{
    (void)state;
    check("[" MEDIA "]", true);
    check("[{\"type\":\"text\",\"content\":\"a\"}," MEDIA "]", true);
    check("[{\"role\":\"user\",\"blocks\":[" MEDIA "]}]", true);
    check("[{\"role\":\"user\",\"blocks\":[]},{\"blocks\":[" MEDIA "]}]", true);
}

static void what_is_no_block_is_passed_over(void **state)
{
    (void)state;
    static const char *const none[] = {
        "[]",
        "{}",
        "null",
        "5",
        "\"media\"",
        "[null,5,\"x\",[],{}]",
        "[{\"type\":5}]",
        "[{\"type\":\"media\"}]",
        "[{\"type\":\"media\",\"content\":5}]",
        "[{\"type\":\"media\",\"content\":[]}]",
        "[{\"blocks\":5,\"tool_calls\":5}]",
        "[{\"blocks\":[5,null],\"tool_calls\":[5,null,{}]}]",
        MEDIA,
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check(none[i], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(media_are_found_in_blocks_and_in_turns),
        cmocka_unit_test(what_is_no_block_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

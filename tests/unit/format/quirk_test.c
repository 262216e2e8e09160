/* How a string departs from the usual spelling, and what is left of it when the text changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/quirk.h"

/* The text `now`, with the quirks of what stood between the quotes `raw`. */
static void assert_put(const char *raw, const char *now, const char *expected)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf quirks, spelled;
    pl_buf_init(&quirks, 0);
    pl_buf_init(&spelled, 0);
    struct pl_json_out out = pl_json_out(&quirks);
    pl_quirk_write(&out, pl_str_of(raw));
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&quirks), NULL, &doc, NULL), PL_OK);
    assert_true(pl_quirk_put_text(&spelled, &doc, doc.root, pl_str_of(now)));
    if (!pl_str_eq(pl_buf_str(&spelled), pl_str_of(expected)))
        fail_msg("%.*s instead of %s", PL_STR_ARG(pl_buf_str(&spelled)), expected);
}

static void only_what_must_be_escaped_is_plain(void **state)
{
    (void)state;
    assert_true(pl_quirk_is_plain(PL_STR("")));
    assert_true(pl_quirk_is_plain(PL_STR("中 / \\n \\\" \\\\ \\u001f")));
    assert_false(pl_quirk_is_plain(PL_STR("\\/")));
    assert_false(pl_quirk_is_plain(PL_STR("\\u4e2d")));
    assert_false(pl_quirk_is_plain(PL_STR("\\u000a")));
    assert_false(pl_quirk_is_plain(PL_STR("\\u001F")));
}

static void the_same_text_gets_its_spelling_back(void **state)
{
    (void)state;
    assert_put("plain", "plain", "\"plain\"");
    assert_put("caf\\u00e9 \\/ bar", "café / bar", "\"caf\\u00e9 \\/ bar\"");
    assert_put("\\ud83d\\ude00\\n\\u0041", "😀\nA", "\"\\ud83d\\ude00\\n\\u0041\"");
    assert_put("a\\ud83d b", "a\xef\xbf\xbd b", "\"a\\ud83d b\"");
}

static void quirks_around_a_change_stay(void **state)
{
    (void)state;
    assert_put("\\u0041 old \\/", "A newer /", "\"\\u0041 newer \\/\"");
    assert_put("old \\u0041\\/", "quite new A/", "\"quite new \\u0041\\/\"");
    assert_put("\\u0041\\/ old", "A/ quite new", "\"\\u0041\\/ quite new\"");
}

static void quirks_of_what_is_gone_are_gone(void **state)
{
    (void)state;
    assert_put("caf\\u00e9", "tea", "\"tea\"");
    assert_put("\\/\\/\\/", "", "\"\"");
    assert_put("\\u0041", "\"\n", "\"\\\"\\n\"");
}

static void what_is_no_list_of_quirks_is_refused(void **state)
{
    (void)state;
    static const char *const lists[] = {"7", "\"x\"", "[true]", "[1,{}]"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        PL_CLEANUP_BUF struct pl_buf spelled;
        pl_buf_init(&spelled, 0);
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_str_of(lists[i]), NULL, &doc, NULL), PL_OK);
        assert_false(pl_quirk_put_text(&spelled, &doc, doc.root, PL_STR("x")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_must_be_escaped_is_plain),
        cmocka_unit_test(the_same_text_gets_its_spelling_back),
        cmocka_unit_test(quirks_around_a_change_stay),
        cmocka_unit_test(quirks_of_what_is_gone_are_gone),
        cmocka_unit_test(what_is_no_list_of_quirks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Error objects in tool results: the quick check of the JSON text misses none. */
#include "conv/tool_error.h"

#include "json/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Checks whether the JSON text is an error, and whether the quick check calls it likely. */
static void check(const char *json, bool is_error, bool is_likely)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_str text;
    enum pl_status status = PL_OK;
    assert_int_equal(pl_json_parse(&arena, pl_str_of(json), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_json_text(&arena, &doc, doc.root, &text), PL_OK);
    assert_int_equal(pl_tool_error_is_text(text, &status), is_error);
    assert_int_equal(status, PL_OK);
    if (!(doc.root->tag & PL_JSON_ODD))
        assert_int_equal(pl_tool_error_is_likely(pl_json_raw(&doc, doc.root)), is_likely);
}

static void an_error_is_likely_however_it_is_spelled(void **state)
{
    (void)state;
    check("\"{\\\"status\\\":\\\"error\\\"}\"", true, true);
    check("\" \\n\\t\\r {\\\"status\\\": \\\"error\\\", \\\"a\\\": 1}\"", true, true);
    check("\"{\\\"a\\\":[],\\n\\\"status\\\":\\\"error\\\"}\"", true, true);
    check("\"{\\\"status\\\":\\\"\\\\u0065rror\\\"}\"", true, true);
    check("\"{\\\"status\\\":\\\"\\u0065rror\\\"}\"", true, true);
    check("\"\\u007b\\\"status\\\":\\\"error\\\"}\"", true, true);
}

static void what_cannot_be_one_is_not_likely(void **state)
{
    (void)state;
    check("\"\"", false, false);
    check("\" \\n \"", false, false);
    check("\"an error in words\"", false, false);
    check("\"[{\\\"status\\\":\\\"error\\\"}]\"", false, false);
    check("\"\\\\{\\\"status\\\":\\\"error\\\"}\"", false, false);
    check("\"{\\\"status\\\":\\\"ok\\\",\\\"note\\\":\\\"nothing else\\\"}\"", false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_likely_however_it_is_spelled),
        cmocka_unit_test(what_cannot_be_one_is_not_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The capability a call needs; the vectors of corpora/pi-ext have the table itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/capability.h"

static struct pl_arena arena;

static enum pl_ext_capability derive(const char *method, const char *params)
{
    struct pl_json_doc doc;
    pl_arena_reset(&arena);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(params), NULL, &doc, NULL), PL_OK);
    return pl_ext_capability_derive(pl_str_of(method), &doc, doc.root);
}

static void names_are_found_whatever_their_case_and_blanks(void **state)
{
    (void)state;
    assert_int_equal(pl_ext_capability_find(PL_STR(" ReAd\n")), PL_EXT_CAP_READ);
    assert_int_equal(pl_ext_capability_find(PL_STR("re ad")), PL_EXT_CAP_NONE);
    assert_int_equal(pl_ext_capability_find(PL_STR("")), PL_EXT_CAP_NONE);
    assert_int_equal(pl_ext_capability_find(PL_STR("readreadreadreadread")), PL_EXT_CAP_NONE);
    assert_int_equal(pl_ext_capability_find(PL_STR("a                    b")), PL_EXT_CAP_NONE);
    for (unsigned c = 0; c < PL_EXT_CAP_NONE; c++) {
        const char *name = pl_ext_capability_name((enum pl_ext_capability)c);
        assert_int_equal(pl_ext_capability_find(pl_str_of(name)), c);
    }
    assert_string_equal(pl_ext_capability_name(PL_EXT_CAP_NONE), "");
}

static void a_long_tool_name_is_another_tool(void **state)
{
    (void)state;
    assert_int_equal(derive("tool", "{\"name\":\"bashbashbashbashbash\"}"), PL_EXT_CAP_TOOL);
    assert_int_equal(derive("tool", "{\"name\":\"\\u0062ash\"}"), PL_EXT_CAP_EXEC);
    assert_int_equal(derive("tool", "{\"name\":\"bash                  \"}"), PL_EXT_CAP_EXEC);
}

static void params_of_any_type_need_no_capability_that_they_do_not_name(void **state)
{
    static const char *const values[] = {
        "5", "[]", "null", "true", "\"read\"", "{\"name\":[]}", "{\"op\":{}}"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_int_equal(derive("tool", values[i]), PL_EXT_CAP_NONE);
        assert_int_equal(derive("fs", values[i]), PL_EXT_CAP_NONE);
        assert_int_equal(derive("exec", values[i]), PL_EXT_CAP_EXEC);
    }
    assert_int_equal(pl_ext_capability_derive(PL_STR("fs"), NULL, NULL), PL_EXT_CAP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_whatever_their_case_and_blanks),
        cmocka_unit_test(a_long_tool_name_is_another_tool),
        cmocka_unit_test(params_of_any_type_need_no_capability_that_they_do_not_name),
    };
    pl_arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return failed;
}

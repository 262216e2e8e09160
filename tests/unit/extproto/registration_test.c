/* Registers: errors that refuse the extension, and errors that refuse only one tool or hook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/registration.h"

static struct pl_arena arena;

static enum pl_status read(const char *payload, struct pl_ext_registration *ret,
                           struct pl_error *err)
{
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_str_of(payload), NULL, &doc, NULL), PL_OK);
    return pl_ext_registration_read(&arena, &doc, doc.root, ret, err);
}

#define WITH(more) "{\"name\":\"demo\",\"version\":\"1\",\"api_version\":\"1.0\"" more "}"

static void a_register_has_tools_commands_and_hooks(void **state)
{
    struct pl_ext_registration r;
    (void)state;
    assert_int_equal(
        read(WITH(",\"capabilities\":[\"read\"],\"tools\":[{\"name\":\"greet\",\"label\":\"Greet\","
                  "\"description\":\"greets\",\"parameters\":{\"type\":\"object\"},\"timeout_ms\":"
                  "600000,"
                  "\"execution\":\"sequential\",\"exposure\":\"hidden\",\"annotations\":{}}],"
                  "\"slash_commands\":[{\"name\":\"hello\",\"description\":\"says hello\"}],"
                  "\"event_hooks\":[\"tool_call\",\"nap\"]"),
             &r, NULL),
        PL_OK);
    assert_true(r.n_tools == 1 && !r.tools[0].refusal && r.tools[0].is_sequential);
    assert_int_equal(r.tools[0].exposure, PL_EXT_EXPOSURE_HIDDEN);
    assert_int_equal(r.tools[0].timeout_ms, 600000);
    assert_true(r.n_commands == 1 && r.n_subscriptions == 1 && r.n_unknown_hooks == 1);
    assert_true(pl_str_eq(r.unknown_hooks[0], PL_STR("nap")));
    assert_int_equal(pl_ext_manifest_capabilities(&r.manifest), PL_EXT_CAP_BIT(PL_EXT_CAP_READ));
    assert_int_equal(read("{\"name\":\"a\",\"version\":\"1\",\"api_version\":\"1\"}", &r, NULL),
                     PL_OK);
    assert_int_equal(read(WITH(",\"tools\":[{\"name\":\"-\"},{\"name\":\"a\",\"description\":\"x\"}"
                               ",{\"name\":\"-\","
                               "\"description\":\"the first of this name that can be offered\"}]"),
                          &r, NULL),
                     PL_OK);
    assert_true(r.tools[0].refusal && !r.tools[1].refusal && !r.tools[2].refusal);
    assert_int_equal(read(WITH(""), &r, NULL), PL_OK);
    assert_true(r.n_tools == 0 && r.n_commands == 0 && r.n_subscriptions == 0);
}

static void what_concerns_the_extension_refuses_it(void **state)
{
    static const struct {
        const char *payload, *pointer;
    } cases[] = {
        {"{\"name\":\" \",\"version\":\"1\",\"api_version\":\"1.0\"}", "/name"},
        {"{\"name\":5,\"version\":\"1\",\"api_version\":\"1.0\"}", "/name"},
        {"{\"name\":\"a\",\"version\":\"\",\"api_version\":\"1.0\"}", "/version"},
        {"{\"name\":\"a\",\"version\":\"1\",\"api_version\":\"2.0\"}", "/api_version"},
        {"{\"name\":\"a\",\"version\":\"1\",\"api_version\":\"10\"}", "/api_version"},
        {"{\"name\":\"a\",\"version\":\"1\",\"api_version\":\"\"}", "/api_version"},
        {WITH(",\"slash_commands\":[{\"name\":\"b/\"},{\"name\":\"c\"}]"), "/slash_commands"},
        {WITH(",\"capabilities\":[\"fly\"]"), "/capabilities/0"},
        {WITH(",\"slash_commands\":[{\"name\":\"a b\"}]"), "/slash_commands"},
        {WITH(",\"slash_commands\":[{}]"), "/slash_commands"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_ext_registration r;
        struct pl_error err = {0};
        assert_int_equal(read(cases[i].payload, &r, &err), PL_INVALID);
        assert_string_equal(err.pointer, cases[i].pointer);
        assert_true(err.message[0]);
    }
}

static void what_concerns_a_tool_refuses_that_one_only(void **state)
{
    static const char *const tools[] = {
        "{}",
        "{\"name\":\"a b\",\"description\":\"x\"}",
        "{\"name\":5,\"description\":\"x\"}",
        "{\"name\":\"good\",\"description\":\"again\"}",
        "{\"name\":\"t\"}",
        "{\"name\":\"t\",\"description\":\"x\",\"execution\":\"later\"}",
        "{\"name\":\"t\",\"description\":\"x\",\"execution\":5}",
        "{\"name\":\"t\",\"description\":\"x\",\"exposure\":\"shy\"}",
        "{\"name\":\"t\",\"description\":\"x\",\"timeout_ms\":600001}",
        "{\"name\":\"t\",\"description\":\"x\",\"timeout_ms\":-1}",
        "{\"name\":\"t\",\"description\":\"x\",\"timeout_ms\":1.5}",
        "{\"name\":\"t\",\"description\":\"x\",\"timeout_ms\":\"1\"}",
        "{\"name\":\"t\",\"description\":\"x\",\"parameters\":5}",
        "{\"name\":\"t\",\"description\":\"x\",\"input_schema\":{\"type\":\"objekt\"}}",
        "{\"name\":\"t\",\"description\":\"x\",\"output_schema\":{\"minimum\":\"x\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        struct pl_ext_registration r;
        pl_buf_init(&text, 0);
        pl_buf_addf(&text, WITH(",\"tools\":[{\"name\":\"good\",\"description\":\"x\"},%s]"),
                    tools[i]);
        pl_buf_addc(&text, 0);
        assert_int_equal(read(text.ptr, &r, NULL), PL_OK);
        assert_int_equal(r.n_tools, 2);
        assert_null(r.tools[0].refusal);
        assert_non_null(r.tools[1].refusal);
    }
}

static void a_changed_tool_has_another_hash(void **state)
{
#define TOOL(name, text, schema)                                                                   \
    WITH(",\"tools\":[{\"name\":\"" name "\",\"description\":\"" text "\"," schema "}]")
    static const char *const others[] = {
        TOOL("b", "x", "\"parameters\":{\"a\":1}"),
        TOOL("a", "y", "\"parameters\":{\"a\":1}"),
        TOOL("a", "x", "\"parameters\":{\"a\":2}"),
        TOOL("a", "x", "\"output_schema\":{}"),
    };
    struct pl_ext_registration one, other;
    (void)state;
    assert_int_equal(read(TOOL("a", "x", "\"parameters\":{\"a\":1}"), &one, NULL), PL_OK);
    assert_int_equal(read(TOOL("a", "x", "\"input_schema\":{\"a\" : 1.0}"), &other, NULL), PL_OK);
    assert_string_equal(one.tools[0].hash, other.tools[0].hash);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(read(others[i], &other, NULL), PL_OK);
        assert_string_not_equal(one.tools[0].hash, other.tools[0].hash);
    }
}

static void names_have_64_characters_at_most(void **state)
{
    char text[65];
    (void)state;
    memset(text, 'a', sizeof text);
    assert_true(pl_ext_is_tool_name((struct pl_str){text, 64}));
    assert_false(pl_ext_is_tool_name((struct pl_str){text, 65}));
    assert_true(pl_ext_is_id((struct pl_str){text, 64}));
    assert_false(pl_ext_is_id((struct pl_str){text, 65}));
    assert_true(pl_ext_is_id(PL_STR("0a.b_c-d")));
    assert_false(pl_ext_is_id(PL_STR(".a")));
    assert_false(pl_ext_is_id(PL_STR("a/b")));
    assert_false(pl_ext_is_id(PL_STR("a{")));
    assert_false(pl_ext_is_id(PL_STR("Abc")));
    assert_false(pl_ext_is_id(PL_STR("")));
    assert_true(pl_ext_is_tool_name(PL_STR("A_b-9")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_register_has_tools_commands_and_hooks),
        cmocka_unit_test(what_concerns_the_extension_refuses_it),
        cmocka_unit_test(what_concerns_a_tool_refuses_that_one_only),
        cmocka_unit_test(a_changed_tool_has_another_hash),
        cmocka_unit_test(names_have_64_characters_at_most),
    };
    pl_arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return failed;
}

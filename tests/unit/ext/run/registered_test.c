/* A stored register, and the arguments of a tool: wrong types anywhere, unknown hooks, changed
 * tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ext/run/host_int.h"

static struct pl_ext_registered *registered(const char *payload,
                                            const struct pl_extension_tool_row *pins, size_t n_pins)
{
    struct pl_ext_registered *r = NULL;
    assert_int_equal(
        pl_ext_registered_create(pl_str_of(payload), PL_STR("art"), pins, n_pins, &r, NULL), PL_OK);
    return r;
}

#define HEAD "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\""

static void hooks_with_content_need_the_capability_session(void **state)
{
    struct pl_ext_subscription subscription = {0};
    (void)state;
    struct pl_ext_registered *r = registered(
        HEAD
        ",\"capabilities\":[\"log\"],\"event_hooks\":[\"tool_call\",\"turn_end\",\"startup\"]}",
        NULL, 0);
    assert_int_equal(r->n_denied_hooks, 1);
    assert_true(pl_str_eq(r->denied_hooks[0], PL_STR("tool_call")));
    assert_false(pl_ext_registered_wants(r, PL_EXT_HOOK_TOOL_CALL, PL_STR("t"), NULL));
    assert_true(pl_ext_registered_wants(r, PL_EXT_HOOK_STARTUP, PL_STR(""), NULL));
    pl_ext_registered_release(r);
    r = registered(HEAD ",\"capabilities\":[\"session\"],\"event_hooks\":[\"tool_result:ba*\","
                        "\"tool_result!:bash\",\"before_provider_request\"]}",
                   NULL, 0);
    assert_int_equal(r->n_denied_hooks, 0);
    assert_true(pl_ext_registered_wants(r, PL_EXT_HOOK_TOOL_RESULT, PL_STR("bat"), &subscription));
    assert_false(subscription.is_closed);
    /* The strictest matching one. */
    assert_true(pl_ext_registered_wants(r, PL_EXT_HOOK_TOOL_RESULT, PL_STR("bash"), &subscription));
    assert_true(subscription.is_closed);
    assert_false(pl_ext_registered_wants(r, PL_EXT_HOOK_TOOL_RESULT, PL_STR("read"), NULL));
    pl_ext_registered_release(r);
}

static void a_tool_that_was_changed_is_withheld(void **state)
{
    (void)state;
    const char *payload =
        HEAD ",\"tools\":[{\"name\":\"a\",\"description\":\"x\"},{\"name\":\"b\"}]}";
    struct pl_ext_registered *first = registered(payload, NULL, 0);
    assert_false(first->is_withheld[0] || first->is_withheld[1]);
    struct pl_extension_tool_row pins[] = {
        {.name = PL_STR("b"), .accepted = PL_STR("another")},
        {.name = PL_STR("a"), .accepted = pl_str_of(first->said.tools[0].hash)},
    };
    struct pl_ext_registered *again = registered(payload, pins, 2);
    assert_false(again->is_withheld[0]);
    assert_true(again->is_withheld[1]);
    pl_ext_registered_release(again);
    pl_ext_registered_release(first);
}

/* Each member with a value of each type: it is read, or refused with a message. */
static void wrong_types_are_refused_or_harmless(void **state)
{
    static const char *const keys[] = {
        "name",  "version",        "api_version", "capabilities",
        "tools", "slash_commands", "event_hooks", "capability_manifest"};
    static const char *const values[] = {
        "null",
        "true",
        "-1",
        "1e999",
        "\"\"",
        "\"\\u0000\"",
        "[]",
        "{}",
        "[null]",
        "[[]]",
        "[{}]",
        "[\"x\",5]",
        "[{\"name\":1}]",
        "[{\"name\":\"a\",\"parameters\":[]}]",
        "[{\"name\":\"a\",\"parameters\":{\"type\":7}}]",
        "{\"schema\":1}",
        "{\"schema\":\"pi.ext.cap.v1\",\"capabilities\":[{\"capability\":[]}]}",
    };
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            char payload[400];
            struct pl_ext_registered *r = NULL;
            struct pl_error err = {0};
            snprintf(payload, sizeof payload,
                     "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\",\"%s\":%s}",
                     keys[k], values[v]);
            enum pl_status status =
                pl_ext_registered_create(pl_str_of(payload), PL_STR(""), NULL, 0, &r, &err);
            assert_true(status == PL_OK ? r != NULL : err.message[0] != 0);
            if (status != PL_OK)
                continue;
            for (unsigned hook = 0; hook < PL_EXT_HOOK_COUNT; hook++)
                (void)pl_ext_registered_wants(r, (enum pl_ext_hook)hook, PL_STR("t"), NULL);
            pl_ext_registered_release(r);
        }
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        struct pl_ext_registered *r = NULL;
        struct pl_error err = {0};
        assert_int_not_equal(
            pl_ext_registered_create(pl_str_of(values[v]), PL_STR(""), NULL, 0, &r, &err), PL_OK);
        assert_true(err.message[0]);
    }
}

static void arguments_are_held_to_the_schema_of_their_tool(void **state)
{
    static const struct {
        const char *schema, *input;
        enum pl_status status;
        bool is_wrong;
    } cases[] = {
        {"{\"type\":\"object\"}", "{}", PL_OK, false},
        {"{\"type\":\"object\"}", "[]", PL_OK, true},
        {"{\"required\":[\"a\"]}", "{}", PL_OK, true},
        {"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}}}",
         "{\"a\":1,\"b\":2}", PL_OK, true},
        {"true", "null", PL_OK, false},
        {"{\"type\":7}", "{}", PL_INVALID, false},
        {"7", "{}", PL_INVALID, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        struct pl_json_doc doc;
        struct pl_error err = {0};
        char says[80] = "";
        pl_arena_init(&arena, 0);
        assert_int_equal(pl_json_parse(&arena, pl_str_of(cases[i].input), NULL, &doc, NULL), PL_OK);
        enum pl_status status = pl_ext_input_check(&arena, pl_str_of(cases[i].schema), &doc,
                                                   doc.root, says, sizeof says, &err);
        assert_int_equal(status == PL_OK, cases[i].status == PL_OK);
        assert_int_equal(says[0] != 0, cases[i].is_wrong);
        assert_true(status == PL_OK || err.message[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_with_content_need_the_capability_session),
        cmocka_unit_test(a_tool_that_was_changed_is_withheld),
        cmocka_unit_test(wrong_types_are_refused_or_harmless),
        cmocka_unit_test(arguments_are_held_to_the_schema_of_their_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Hooks: subscriptions, and the verdicts of answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/hook.h"

#include "json/text.h"

static struct pl_arena arena;

static void a_subscription_names_a_hook_a_tool_and_its_strictness(void **state)
{
    struct pl_ext_subscription s;
    (void)state;
    assert_true(pl_ext_subscription_read(PL_STR("tool_call:ba*"), &s));
    assert_true(s.hook == PL_EXT_HOOK_TOOL_CALL && s.is_closed);
    assert_true(pl_ext_subscription_wants(&s, PL_EXT_HOOK_TOOL_CALL, PL_STR("bash")));
    assert_false(pl_ext_subscription_wants(&s, PL_EXT_HOOK_TOOL_CALL, PL_STR("read")));
    assert_false(pl_ext_subscription_wants(&s, PL_EXT_HOOK_TOOL_RESULT, PL_STR("bash")));
    assert_true(pl_ext_subscription_read(PL_STR("context"), &s));
    assert_int_equal(pl_ext_answer_missing(&s), PL_EXT_VERDICT_GO);
    assert_true(pl_ext_subscription_wants(&s, PL_EXT_HOOK_CONTEXT, PL_STR("")));
    assert_true(pl_ext_subscription_read(PL_STR("context!"), &s));
    assert_int_equal(pl_ext_answer_missing(&s), PL_EXT_VERDICT_BLOCK);
    assert_true(pl_ext_subscription_read(PL_STR("tool_result!:read"), &s));
    assert_true(s.is_closed && pl_str_eq(s.glob, PL_STR("read")));
    assert_true(pl_ext_subscription_read(PL_STR("bus:news"), &s));
    assert_true(s.hook == PL_EXT_HOOK_COUNT && pl_str_eq(s.glob, PL_STR("news")));
}

static void what_is_no_subscription_is_told_as_unknown(void **state)
{
    static const char *const texts[] = {
        "",    "Tool_call", "tool_call:", "agent_start:x", "agent_start!", "bus:", "bus!:x",
        "bus", "!",         ":x",         "context:x"};
    struct pl_ext_subscription s;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(pl_ext_subscription_read(pl_str_of(texts[i]), &s));
}

static enum pl_status answer(enum pl_ext_hook hook, const char *data, struct pl_ext_answer *ret,
                             struct pl_error *err)
{
    struct pl_json_doc doc;
    pl_arena_reset(&arena);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(data), NULL, &doc, NULL), PL_OK);
    return pl_ext_answer_read(hook, &doc, doc.root, ret, err);
}

static void an_answer_allows_asks_blocks_or_changes(void **state)
{
    struct pl_ext_answer a;
    (void)state;
    assert_int_equal(answer(PL_EXT_HOOK_TOOL_CALL, "{}", &a, NULL), PL_OK);
    assert_true(a.verdict == PL_EXT_VERDICT_GO && !a.changed);
    assert_int_equal(
        answer(PL_EXT_HOOK_TOOL_CALL, "{\"block\":true,\"ask\":true,\"reason\":\"no\"}", &a, NULL),
        PL_OK);
    assert_true(a.verdict == PL_EXT_VERDICT_BLOCK && a.reason);
    assert_int_equal(answer(PL_EXT_HOOK_TOOL_CALL, "{\"ask\":true,\"block\":false}", &a, NULL),
                     PL_OK);
    assert_int_equal(a.verdict, PL_EXT_VERDICT_ASK);
    assert_int_equal(answer(PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &a, NULL), PL_OK);
    assert_non_null(a.changed);
    assert_int_equal(answer(PL_EXT_HOOK_SESSION_BEFORE_COMPACT, "{\"cancel\":true}", &a, NULL),
                     PL_OK);
    assert_int_equal(a.verdict, PL_EXT_VERDICT_BLOCK);
    assert_int_equal(answer(PL_EXT_HOOK_TOOL_RESULT, "{\"is_error\":true,\"details\":5}", &a, NULL),
                     PL_OK);
    assert_true(a.changed && a.verdict == PL_EXT_VERDICT_GO);
    assert_int_equal(pl_ext_answer_read(PL_EXT_HOOK_INPUT, NULL, NULL, &a, NULL), PL_OK);
    assert_int_equal(pl_ext_verdict_join(PL_EXT_VERDICT_ASK, PL_EXT_VERDICT_GO),
                     PL_EXT_VERDICT_ASK);
}

static void input_is_passed_on_changed_or_handled(void **state)
{
    struct pl_ext_answer a;
    (void)state;
    assert_int_equal(answer(PL_EXT_HOOK_INPUT, "{\"action\":\"continue\"}", &a, NULL), PL_OK);
    assert_true(!a.is_handled && !a.changed);
    assert_int_equal(answer(PL_EXT_HOOK_INPUT, "{\"action\":\"handled\"}", &a, NULL), PL_OK);
    assert_true(a.is_handled);
    assert_int_equal(
        answer(PL_EXT_HOOK_INPUT, "{\"text\":\"x\",\"action\":\"transform\"}", &a, NULL), PL_OK);
    assert_non_null(a.changed);
}

static void an_answer_that_says_something_else_is_refused_with_its_place(void **state)
{
    static const struct {
        enum pl_ext_hook hook;
        const char *data, *pointer;
    } cases[] = {
        {PL_EXT_HOOK_TOOL_CALL, "{\"block\":1}", "/block"},
        {PL_EXT_HOOK_TOOL_CALL, "{\"blok\":true}", "/blok"},
        {PL_EXT_HOOK_TOOL_CALL, "{\"blok\":true,\"block\":1}", "/blok"},
        {PL_EXT_HOOK_TOOL_CALL, "{\"input\":\"x\"}", "/input"},
        {PL_EXT_HOOK_TOOL_CALL_FINAL, "{\"input\":{}}", "/input"},
        {PL_EXT_HOOK_TURN_END, "{\"block\":true}", "/block"},
        {PL_EXT_HOOK_INPUT, "{\"action\":\"stop\"}", "/action"},
        {PL_EXT_HOOK_INPUT, "{\"action\":\"transform\"}", "/text"},
        {PL_EXT_HOOK_INPUT, "{\"text\":\"x\"}", "/text"},
        {PL_EXT_HOOK_CONTEXT, "{\"messages\":{}}", "/messages"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_ext_answer a;
        struct pl_error err = {0};
        assert_int_equal(answer(cases[i].hook, cases[i].data, &a, &err), PL_INVALID);
        assert_string_equal(err.pointer, cases[i].pointer);
        assert_true(err.message[0]);
    }
}

static void each_hook_is_found_by_its_name(void **state)
{
    (void)state;
    for (unsigned hook = 0; hook < PL_EXT_HOOK_COUNT; hook++) {
        const char *text = pl_ext_hook_text((enum pl_ext_hook)hook);
        assert_int_equal(pl_ext_hook_find(pl_str_of(text)), hook);
    }
    assert_true(pl_ext_hook_flags(PL_EXT_HOOK_INPUT) & PL_EXT_HOOK_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subscription_names_a_hook_a_tool_and_its_strictness),
        cmocka_unit_test(what_is_no_subscription_is_told_as_unknown),
        cmocka_unit_test(an_answer_allows_asks_blocks_or_changes),
        cmocka_unit_test(input_is_passed_on_changed_or_handled),
        cmocka_unit_test(an_answer_that_says_something_else_is_refused_with_its_place),
        cmocka_unit_test(each_hook_is_found_by_its_name),
    };
    pl_arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return failed;
}

/* Hooks one after another, answered by extensions that the test simulates: changes, blocks, answers
 * of wrong types, missing extensions, and chains that nobody waits for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "unit/ext/run/ext_world.h"

#define HOOKS                                                                                      \
    "\"event_hooks\":[\"input\",\"tool_call\",\"tool_result\",\"before_agent_start\",\"context!"   \
    "\"]}"
#define HEAD "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\","
static const char *const payloads[] = {HEAD "\"capabilities\":[\"session\",\"events\"]," HOOKS,
                                       HEAD "\"capabilities\":[\"session\",\"events\"]," HOOKS};
static const char *const mute[] = {HEAD "\"capabilities\":[\"session\"]," HOOKS};

struct ruled {
    unsigned n;
    enum pl_ext_verdict verdict;
    bool is_handled, is_changed;
    char by[8], why[256], data[512];
};

static void on_ruling(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct ruled *ruled = ctx;
    ruled->n++;
    ruled->verdict = ruling->verdict;
    ruled->is_handled = ruling->is_handled;
    ruled->is_changed = ruling->is_changed;
    snprintf(ruled->by, sizeof ruled->by, "%.*s", PL_STR_ARG(ruling->by));
    snprintf(ruled->why, sizeof ruled->why, "%.*s", PL_STR_ARG(ruling->why));
    snprintf(ruled->data, sizeof ruled->data, "%.*s", PL_STR_ARG(ruling->data));
}

static struct ext_world *open_world(const char *const *of, size_t n)
{
    struct ext_world *world = ext_world_open("permissive", of, n);
    assert_non_null(world);
    for (size_t i = 0; i < n; i++)
        (void)ext_world_hear(world, i);
    return world;
}

static struct pl_ext_chain *start(struct ext_world *world, enum pl_ext_hook hook, const char *data,
                                  struct ruled *ret_ruled)
{
    struct pl_ext_chain_query query = {
        .user_id = PL_STR("user_1"),
        .session_id = PL_STR("sess_1"),
        .hook = hook,
        .tool_name = PL_STR("bash"),
        .data = pl_str_of(data),
    };
    *ret_ruled = (struct ruled){0};
    struct pl_ext_chain *chain = pl_ext_chain_start(&world->shard, &query, on_ruling, ret_ruled);
    assert_non_null(chain);
    assert_int_equal(ret_ruled->n, 0);
    return chain;
}

/* The extension answers with this data; the request is in `heard`. */
static void answer(struct ext_world *world, size_t which, enum pl_ext_hook hook, const char *data)
{
    char id[64], line[1024];
    (void)ext_world_hear(world, which);
    ext_world_id(world, which, id, sizeof id);
    snprintf(line, sizeof line,
             "{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
             "\"%s\",\"data\":%s}}",
             id, pl_ext_hook_text(hook), data);
    ext_world_say(world, which, line);
}

static bool has(const char *text, const char *part)
{
    bool is = strstr(text, part);
    if (!is)
        print_message("%s is not in %s\n", part, text);
    return is;
}

static void each_sees_what_the_one_before_changed(void **state)
{
    struct ext_world *world = open_world(payloads, 2);
    struct ruled ruled;
    (void)state;
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"tool_name\":\"bash\",\"input\":{\"a\":1}}", &ruled);
    answer(world, 0, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{\"a\":2}}");
    answer(world, 1, PL_EXT_HOOK_TOOL_CALL, "{}");
    assert_true(has(world->ones[1].heard, "\"input\":{\"a\":2}"));
    assert_true(ruled.n == 1 && ruled.verdict == PL_EXT_VERDICT_GO && ruled.is_changed);
    assert_true(has(ruled.data, "\"input\":{\"a\":2}") &&
                has(ruled.data, "\"tool_name\":\"bash\""));
    ext_world_close(world);
}

static void a_block_ends_it_and_beats_a_question(void **state)
{
    struct ext_world *world = open_world(payloads, 2);
    struct ruled ruled;
    (void)state;
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    answer(world, 0, PL_EXT_HOOK_TOOL_CALL, "{\"block\":true,\"reason\":\"no\"}");
    assert_string_equal(ext_world_hear(world, 1), "");
    assert_true(ruled.n == 1 && ruled.verdict == PL_EXT_VERDICT_BLOCK);
    assert_string_equal(ruled.by, "a");
    assert_string_equal(ruled.why, "no");
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    answer(world, 0, PL_EXT_HOOK_TOOL_CALL, "{\"ask\":true,\"reason\":\"sure?\"}");
    answer(world, 1, PL_EXT_HOOK_TOOL_CALL, "{\"block\":true,\"reason\":\"never\"}");
    assert_true(ruled.verdict == PL_EXT_VERDICT_BLOCK);
    assert_string_equal(ruled.by, "b");
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    answer(world, 0, PL_EXT_HOOK_TOOL_CALL, "{\"ask\":true,\"reason\":\"sure?\"}");
    answer(world, 1, PL_EXT_HOOK_TOOL_CALL, "{}");
    assert_true(ruled.verdict == PL_EXT_VERDICT_ASK);
    assert_string_equal(ruled.why, "sure?");
    ext_world_close(world);
}

static void wrong_types_block_where_the_hook_is_closed(void **state)
{
    static const struct {
        enum pl_ext_hook hook;
        const char *data;
        enum pl_ext_verdict verdict;
    } wrong[] = {
        {PL_EXT_HOOK_TOOL_CALL, "{\"block\":\"yes\"}", PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_TOOL_CALL, "{\"block\":1}", PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_TOOL_CALL, "{\"block\":true,\"reason\":7}", PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_TOOL_CALL, "{\"input\":\"x\"}", PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_TOOL_CALL, "{\"inputs\":{}}", PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_INPUT, "{\"action\":\"perhaps\"}", PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_INPUT, "{\"action\":\"transform\",\"text\":1}", PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_TOOL_RESULT, "{\"content\":\"x\"}", PL_EXT_VERDICT_GO},
        {PL_EXT_HOOK_TOOL_RESULT, "{\"is_error\":\"x\"}", PL_EXT_VERDICT_GO},
        {PL_EXT_HOOK_CONTEXT, "{\"messages\":{}}", PL_EXT_VERDICT_BLOCK}, /* by its "!" */
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ext_world *world = open_world(payloads, 1);
        struct ruled ruled;
        start(world, wrong[i].hook, "{\"input\":{},\"text\":\"t\"}", &ruled);
        answer(world, 0, wrong[i].hook, wrong[i].data);
        assert_int_equal(ruled.n, 1);
        if (ruled.verdict != wrong[i].verdict)
            fail_msg("%s: %d", wrong[i].data, (int)ruled.verdict);
        assert_false(ruled.is_changed);
        assert_string_equal(ruled.data, "{\"input\":{},\"text\":\"t\"}");
        ext_world_close(world);
    }
}

static void a_change_needs_the_capability_events(void **state)
{
    struct ext_world *world = open_world(mute, 1);
    struct ruled ruled;
    (void)state;
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    answer(world, 0, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{\"a\":1}}");
    assert_true(ruled.verdict == PL_EXT_VERDICT_BLOCK && !ruled.is_changed);
    assert_true(has(ruled.why, "needs the capability events"));
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    answer(world, 0, PL_EXT_HOOK_TOOL_CALL, "{}");
    assert_int_equal(ruled.verdict, PL_EXT_VERDICT_GO);
    ext_world_close(world);
}

static void input_that_is_handled_goes_no_further(void **state)
{
    struct ext_world *world = open_world(payloads, 2);
    struct ruled ruled;
    (void)state;
    start(world, PL_EXT_HOOK_INPUT, "{\"text\":\"t\"}", &ruled);
    answer(world, 0, PL_EXT_HOOK_INPUT, "{\"action\":\"handled\"}");
    assert_true(ruled.n == 1 && ruled.is_handled && ruled.verdict == PL_EXT_VERDICT_GO);
    assert_string_equal(ruled.by, "a");
    assert_string_equal(ext_world_hear(world, 1), "");
    ext_world_close(world);
}

static void messages_before_an_agent_starts_are_collected(void **state)
{
    struct ext_world *world = open_world(payloads, 2);
    struct ruled ruled;
    (void)state;
    start(world, PL_EXT_HOOK_BEFORE_AGENT_START, "{\"prompt\":\"p\"}", &ruled);
    answer(world, 0, PL_EXT_HOOK_BEFORE_AGENT_START, "{\"message\":{\"content\":\"one\"}}");
    answer(world, 1, PL_EXT_HOOK_BEFORE_AGENT_START, "{\"message\":{\"content\":\"two\"}}");
    assert_true(has(ruled.data, "\"messages\":[{\"content\":\"one\"},{\"content\":\"two\"}]"));
    ext_world_close(world);
}

static void one_that_is_away_blocks_where_the_hook_is_closed(void **state)
{
    static struct pl_extension_quarantine_row row;
    struct ext_world *world = open_world(payloads, 1);
    struct ruled ruled;
    (void)state;
    /* It ends during the call. */
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    assert_true(has(ext_world_hear(world, 0), "tool_call"));
    pl_ext_instance_end(ext_world_instance(world, 0), PL_EXT_LIFE_KILLED, "it was killed");
    ext_world_settle(world);
    assert_true(ruled.n == 1 && ruled.verdict == PL_EXT_VERDICT_BLOCK);
    assert_true(has(ruled.why, "it was killed"));
    /* It is quarantined for this user. */
    row = (struct pl_extension_quarantine_row){.user_id = PL_STR("user_1")};
    world->ext.set->items[0]->quarantines = &row;
    world->ext.set->items[0]->n_quarantines = 1;
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    ext_world_settle(world);
    assert_true(ruled.n == 1 && ruled.verdict == PL_EXT_VERDICT_BLOCK);
    assert_string_equal(ruled.why, "it is quarantined");
    start(world, PL_EXT_HOOK_TOOL_RESULT, "{\"content\":[]}", &ruled);
    ext_world_settle(world);
    assert_true(ruled.n == 1 && ruled.verdict == PL_EXT_VERDICT_GO);
    row.user_id = PL_STR("user_2"); /* another user's quarantine does not affect this one */
    world->ext.set->items[0]->package.state = PL_EXT_STATE_DISABLED;
    start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    ext_world_settle(world);
    assert_true(ruled.n == 1 && ruled.verdict == PL_EXT_VERDICT_GO);
    ext_world_close(world);
}

static void nobody_hears_of_one_that_was_cancelled(void **state)
{
    struct ext_world *world = open_world(payloads, 1);
    struct ruled ruled;
    (void)state;
    pl_ext_chain_cancel(start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled));
    assert_string_equal(ext_world_hear(world, 0), "");
    struct pl_ext_chain *chain = start(world, PL_EXT_HOOK_TOOL_CALL, "{\"input\":{}}", &ruled);
    assert_true(has(ext_world_hear(world, 0), "tool_call"));
    pl_ext_chain_cancel(chain);
    assert_true(has(ext_world_hear(world, 0), "\"event\":\"cancel\""));
    assert_int_equal(ruled.n, 0);
    pl_ext_chain_cancel(NULL);
    ext_world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sees_what_the_one_before_changed),
        cmocka_unit_test(a_block_ends_it_and_beats_a_question),
        cmocka_unit_test(wrong_types_block_where_the_hook_is_closed),
        cmocka_unit_test(a_change_needs_the_capability_events),
        cmocka_unit_test(input_that_is_handled_goes_no_further),
        cmocka_unit_test(messages_before_an_agent_starts_are_collected),
        cmocka_unit_test(one_that_is_away_blocks_where_the_hook_is_closed),
        cmocka_unit_test(nobody_hears_of_one_that_was_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

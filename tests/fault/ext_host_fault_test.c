/* Asks, chains of hooks and host calls with every allocation refused in turn, without child
 * processes. In every case each ask and each chain ends once, a host call has at most one answer, a
 * denied call does not run, and the output of a chain is JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fault/fault.h"
#include "unit/ext/run/ext_world.h"

enum { MOST = 60 }; /* places of each part: see fault.h */

#define PAYLOAD                                                                                    \
    "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\",\"capability_manifest\":{"          \
    "\"schema\":\"pi.ext.cap.v1\",\"capabilities\":["                                              \
    "{\"capability\":\"read\",\"scope\":{\"paths\":[\"docs/**\"]}},{\"capability\":\"session\"},"  \
    "{\"capability\":\"events\"},{\"capability\":\"log\"},"                                        \
    "{\"capability\":\"http\",\"scope\":{\"hosts\":[\"api.example.com\"]}},"                       \
    "{\"capability\":\"env\",\"scope\":{\"env\":[\"PLAIN\"]}}]},"                                  \
    "\"event_hooks\":[\"tool_call\",\"tool_result\"]}"
static const char *const payloads[] = {PAYLOAD, PAYLOAD};

/* --- asks ------------------------------------------------------------------------------------- */

struct asked {
    unsigned n_done;
    bool is_failed;
};

static void on_done(struct pl_ext_ask *ask)
{
    struct asked *asked = ask->ctx;
    asked->n_done++;
    asked->is_failed = ask->is_failed;
    if (!ask->is_failed)
        assert_true(pl_str_eq(pl_buf_str(&ask->reply), PL_STR("{\"text\":\"x\"}")));
    else
        assert_true(ask->message[0]);
}

/* `ctx`: the type of the answer, which determines the kind. */
static enum pl_status asks(void *ctx)
{
    bool is_tool = strcmp(ctx, "tool_result") == 0;
    struct ext_world *world = ext_world_open("permissive", payloads, 1);
    struct asked asked = {0};
    char id[64], line[512];
    if (!world)
        return PL_NOMEM;
    pl_fault_is_prepared();
    (void)ext_world_hear(world, 0);
    struct pl_ext_ask *ask =
        pl_ext_ask_create(&world->shard, is_tool ? PL_EXT_ASK_TOOL : PL_EXT_ASK_COMMAND);
    if (ask) {
        ask->extension_id = PL_STR("a");
        ask->user_id = PL_STR("user_1");
        ask->name = PL_STR("t");
        ask->input = pl_ext_ask_keep(ask, PL_STR("{\"n\":1}"));
        ask->done = on_done;
        ask->ctx = &asked;
        pl_ext_ask_send(ask);
        (void)ext_world_hear(world, 0);
        if (*ext_world_id(world, 0, id, sizeof id)) {
            snprintf(line, sizeof line,
                     "{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"%s\",\"payload\":{%s%s%s"
                     "\"output\":{\"text\":\"x\"},\"is_error\":false}}",
                     id, (const char *)ctx, is_tool ? "\"call_id\":\"" : "", is_tool ? id : "",
                     is_tool ? "\"," : "");
            ext_world_say(world, 0, line);
        }
    }
    ext_world_close(world); /* tells all that still wait */
    if (ask)
        assert_int_equal(asked.n_done, 1);
    return !ask || asked.is_failed ? PL_NOMEM : PL_OK;
}

static void a_tool_call_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_some_tolerant(asks, "tool_result", PL_OK, MOST) > 20);
}

static void a_command_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_some_tolerant(asks, "slash_result", PL_OK, MOST) > 20);
}

/* --- chains ----------------------------------------------------------------------------------- */

struct ruled {
    unsigned n;
    enum pl_ext_verdict verdict;
    bool is_changed;
};

static const char before[] = "{\"tool_name\":\"bash\",\"input\":{\"a\":1},\"content\":[]}";

static void on_ruling(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct ruled *ruled = ctx;
    ruled->n++;
    ruled->verdict = ruling->verdict;
    ruled->is_changed = ruling->is_changed;
    assert_true(ruling->data.len && ruling->data.ptr[0] == '{' &&
                ruling->data.ptr[ruling->data.len - 1] == '}');
    if (!ruling->is_changed)
        assert_true(pl_str_eq(ruling->data, PL_STR(before)));
    if (ruling->verdict != PL_EXT_VERDICT_GO)
        assert_true(ruling->by.len);
}

static void answer(struct ext_world *world, size_t which, enum pl_ext_hook hook, const char *data)
{
    char id[64], line[512];
    (void)ext_world_hear(world, which);
    if (!*ext_world_id(world, which, id, sizeof id))
        return;
    snprintf(line, sizeof line,
             "{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
             "\"%s\",\"data\":%s}}",
             id, pl_ext_hook_text(hook), data);
    ext_world_say(world, which, line);
}

struct chained {
    enum pl_ext_hook hook;
    const char *first, *second;
    enum pl_ext_verdict verdict; /* if no memory is missing */
};

static enum pl_status chains(void *ctx)
{
    const struct chained *how = ctx;
    struct ext_world *world = ext_world_open("permissive", payloads, 2);
    struct ruled ruled = {0};
    if (!world)
        return PL_NOMEM;
    pl_fault_is_prepared();
    for (size_t i = 0; i < 2; i++)
        (void)ext_world_hear(world, i);
    struct pl_ext_chain_query query = {.user_id = PL_STR("user_1"),
                                       .session_id = PL_STR("sess_1"),
                                       .hook = how->hook,
                                       .tool_name = PL_STR("bash"),
                                       .data = PL_STR(before)};
    struct pl_ext_chain *chain = pl_ext_chain_start(&world->shard, &query, on_ruling, &ruled);
    if (chain) {
        answer(world, 0, how->hook, how->first);
        answer(world, 1, how->hook, how->second);
    }
    ext_world_close(world);
    if (!chain)
        return PL_NOMEM;
    assert_int_equal(ruled.n, 1);
    /* A hook that fails closed never becomes permissive for lack of memory. */
    if (pl_ext_hook_flags(how->hook) & PL_EXT_HOOK_CLOSED)
        assert_true(ruled.verdict >= how->verdict);
    return ruled.verdict == how->verdict && ruled.is_changed ? PL_OK : PL_NOMEM;
}

static void hooks_without_memory(void **state)
{
    struct chained ones[] = {
        {PL_EXT_HOOK_TOOL_CALL, "{\"input\":{\"a\":2}}", "{\"ask\":true,\"reason\":\"sure?\"}",
         PL_EXT_VERDICT_ASK},
        {PL_EXT_HOOK_TOOL_CALL, "{\"input\":{\"a\":2}}", "{\"block\":true,\"reason\":\"no\"}",
         PL_EXT_VERDICT_BLOCK},
        {PL_EXT_HOOK_TOOL_RESULT, "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}", "{}",
         PL_EXT_VERDICT_GO},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        assert_true(pl_fault_some_tolerant(chains, &ones[i], PL_OK, MOST) > 20);
}

/* --- host calls ------------------------------------------------------------------------------- */

struct called {
    const char *capability, *method, *params, *says;
};

static enum pl_status calls(void *ctx)
{
    const struct called *how = ctx;
    struct ext_world *world = ext_world_open("permissive", payloads, 1);
    char line[1024];
    if (!world)
        return PL_NOMEM;
    pl_fault_is_prepared();
    (void)ext_world_hear(world, 0);
    snprintf(line, sizeof line,
             "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":"
             "\"c1\",\"capability\":\"%s\",\"method\":\"%s\",\"params\":%s}}",
             how->capability, how->method, how->params);
    ext_world_say(world, 0, line);
    const char *heard = ext_world_hear(world, 0);
    const char *end = strchr(heard, '\n');
    bool is_said = strstr(heard, how->says);
    bool is_denial = strstr(how->says, "reason");
    assert_true(!*heard || !end[1]); /* one answer, or the instance has ended */
    if (!*heard)
        assert_null(ext_world_instance(world, 0));
    if (is_denial)
        assert_null(strstr(heard, "\"is_error\":false"));
    ext_world_close(world);
    return is_said ? PL_OK : PL_NOMEM;
}

static void host_calls_without_memory(void **state)
{
    struct called ones[] = {
        {"env", "env", "{\"name\":\"PLAIN\"}", "\"PLAIN\":\"value\""},
        {"env", "env", "{\"name\":\"OTHER\"}", "\"reason\":\"scope\""},
        {"log", "log", "{\"message\":\"m\"}", "\"output\":{}"},
        {"read", "fs", "{\"op\":\"read\",\"path\":\"src/a\"}", "\"reason\":\"scope\""},
        {"read", "fs", "{\"op\":\"stat\",\"path\":\"docs/../../etc\"}",
         "\"reason\":\"path_escape\""},
        {"http", "http", "{\"url\":\"https://example.com/\"}", "\"reason\":\"scope\""},
        {"exec", "exec", "{\"cmd\":\"ls\",\"args\":[]}", "\"reason\":\"not_declared\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        assert_true(pl_fault_some_tolerant(calls, &ones[i], PL_OK, MOST) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_call_without_memory),
        cmocka_unit_test(a_command_without_memory),
        cmocka_unit_test(hooks_without_memory),
        cmocka_unit_test(host_calls_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

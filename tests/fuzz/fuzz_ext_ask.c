/* Any JSON as the answer of an extension: the data of every deciding hook, and the output of a
 * tool. A chain ends once, with JSON and a verdict that an extension gave; a tool call has one
 * answer. Anything that is not a frame is reported and has no other effect. */
#include "unit/ext/run/ext_world.h"

#include <stdio.h>
#include <stdlib.h>

#define PAYLOAD                                                                                    \
    "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\","                                   \
    "\"capabilities\":[\"session\",\"events\"],\"event_hooks\":[\"input\",\"before_agent_start\"," \
    "\"context\",\"before_provider_request\",\"tool_call\",\"tool_call_final\",\"tool_result\","   \
    "\"session_before_compact\",\"session_before_fork\",\"session_before_switch\"]}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static unsigned n_ruled, n_done;
static enum pl_ext_verdict verdict;

static void on_ruling(void *ctx, const struct pl_ext_ruling *ruling)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    (void)ctx;
    pl_arena_init(&arena, 0);
    n_ruled++;
    verdict = ruling->verdict;
    must(pl_json_parse(&arena, ruling->data, NULL, &doc, NULL) == PL_OK);
    must(pl_json_is(doc.root, PL_JSON_OBJECT));
    must(ruling->verdict == PL_EXT_VERDICT_GO || ruling->by.len);
}

static void on_done(struct pl_ext_ask *ask)
{
    (void)ask;
    n_done++;
}

/* Answers the last frame of the extension that is asked. */
static void answer(struct ext_world *world, const char *type, const char *head, struct pl_str json)
{
    PL_CLEANUP_BUF struct pl_buf line;
    char id[64];
    (void)ext_world_hear(world, 0);
    must(*ext_world_id(world, 0, id, sizeof id));
    pl_buf_init(&line, 0);
    pl_buf_addf(&line, "{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"%s\",\"payload\":{", id,
                type);
    if (strcmp(type, "tool_result") == 0)
        pl_buf_addf(&line, "\"call_id\":\"%s\",", id);
    pl_buf_adds(&line, head);
    pl_buf_add(&line, json);
    pl_buf_adds(&line, "}}");
    must(line.status == PL_OK);
    pl_ext_hear_line(ext_world_instance(world, 0), pl_buf_str(&line));
    ext_world_settle(world);
}

static void end_instance(struct ext_world *world)
{
    if (ext_world_instance(world, 0))
        pl_ext_instance_end(ext_world_instance(world, 0), PL_EXT_LIFE_KILLED, "it is over");
    ext_world_settle(world);
}

static void try_hook(enum pl_ext_hook hook, struct pl_str json)
{
    static const char *const payloads[] = {PAYLOAD};
    struct ext_world *world = ext_world_open("permissive", payloads, 1);
    char head[100];
    struct pl_ext_chain_query query = {
        .user_id = PL_STR("user_1"),
        .hook = hook,
        .tool_name = PL_STR("bash"),
        .data = PL_STR("{\"text\":\"t\",\"input\":{},\"messages\":[]}"),
    };
    must(world);
    (void)ext_world_hear(world, 0);
    n_ruled = 0;
    must(pl_ext_chain_start(&world->shard, &query, on_ruling, NULL));
    snprintf(head, sizeof head, "\"event\":\"%s\",\"data\":", pl_ext_hook_text(hook));
    answer(world, "event_hook", head, json);
    bool is_open = !n_ruled; /* it was not an answer: the extension may still give one */
    end_instance(world);
    must(n_ruled == 1);
    must(!is_open || verdict == PL_EXT_VERDICT_BLOCK ||
         !(pl_ext_hook_flags(hook) & PL_EXT_HOOK_CLOSED));
    ext_world_close(world);
}

static void try_tool(struct pl_str json)
{
    static const char *const payloads[] = {PAYLOAD};
    struct ext_world *world = ext_world_open("permissive", payloads, 1);
    must(world);
    (void)ext_world_hear(world, 0);
    struct pl_ext_ask *ask = pl_ext_ask_create(&world->shard, PL_EXT_ASK_TOOL);
    must(ask);
    ask->extension_id = PL_STR("a");
    ask->user_id = PL_STR("user_1");
    ask->name = PL_STR("t");
    ask->done = on_done;
    ask->ctx = world;
    n_done = 0;
    pl_ext_ask_send(ask);
    answer(world, "tool_result", "\"is_error\":false,\"output\":", json);
    end_instance(world);
    must(n_done == 1);
    ext_world_close(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_str text = {(const char *)data, size};
    pl_arena_init(&arena, 0);
    if (size > 16 << 10 || (size && memchr(data, '\n', size)) ||
        pl_json_parse(&arena, text, NULL, &doc, NULL) != PL_OK)
        return 0;
    for (unsigned hook = 0; hook < PL_EXT_HOOK_COUNT; hook++)
        if (pl_ext_hook_flags((enum pl_ext_hook)hook) & PL_EXT_HOOK_DECIDES)
            try_hook((enum pl_ext_hook)hook, text);
    try_tool(text);
    return 0;
}

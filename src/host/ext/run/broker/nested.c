/* A call of the method tool passes the same hooks as the model's own calls: tool_call and
 * tool_call_final before the decision whether it may run, tool_result before the extension gets its
 * output.
 *
 * A changed input is a new call: what it touches is determined and judged again. A tool that passes
 * on its own call, with the same name and input, has passed the hooks already, once. */
#include "ext/run/broker/broker.h"

#include "base/sha/sha256.h"
#include "json/text.h"

#include <stdio.h>

/* Whether it passes on the call for which the extension was called: `read` of workspace becomes
 * `read` of the host. */
static bool is_handed_on(struct pl_ext_hostcall *call)
{
    struct pl_ext_ask *parent = call->parent;
    char hash[PL_EXT_HASH_SIZE];
    const struct pl_json_node *input =
        pl_json_member(&call->doc, call->params, "input", PL_JSON_OBJECT);
    if (!parent || parent->kind != PL_EXT_ASK_TOOL || parent->is_handed_on || !input ||
        pl_ext_params_hash(call->tool_name, &call->doc, input, hash) != PL_OK)
        return false;
    parent->is_handed_on = strcmp(hash, parent->hash) == 0;
    return parent->is_handed_on;
}

bool pl_nested_is(const struct pl_ext_hostcall *call)
{
    return pl_str_eq(call->method_name, PL_STR("tool")) && call->tool_name.len;
}

static bool wants(const struct pl_ext_hostcall *call, enum pl_ext_hook hook)
{
    return pl_ext_wants(call->exts->host, call->user_id, hook, call->tool_name);
}

static void put(struct pl_json_out *out, const char *key, struct pl_str text)
{
    if (!text.len)
        return;
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static struct pl_str input_of(const struct pl_ext_hostcall *call)
{
    const struct pl_json_node *input =
        pl_json_member(&call->doc, call->params, "input", PL_JSON_OBJECT);
    return input ? pl_json_span(&call->doc, input) : PL_STR("{}");
}

static struct pl_json_out begin_data(const struct pl_ext_hostcall *call, struct pl_buf *data)
{
    pl_buf_init(data, 0);
    struct pl_json_out out = pl_json_out(data);
    pl_json_out_open(&out, '{');
    put(&out, "tool_name", call->tool_name);
    put(&out, "tool_call_id", call->call_id);
    put(&out, "parent_tool_call_id",
        call->parent ? call->parent->tool_call_id : (struct pl_str){0});
    put(&out, "extension_id", call->extension_id);
    put(&out, "session_id", call->session_id);
    pl_json_out_key(&out, "input");
    pl_json_out_raw(&out, input_of(call));
    return out;
}

static void tell(struct pl_ext_hostcall *call, enum pl_ext_hook hook)
{
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    if (!wants(call, hook))
        return;
    struct pl_json_out out = begin_data(call, &data);
    if (hook == PL_EXT_HOOK_TOOL_EXECUTION_END) {
        pl_json_out_key(&out, "is_error");
        pl_json_out_bool(&out, call->error);
    }
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_ext_tell(call->exts->shard, call->user_id, call->session_id, hook, call->tool_name,
                    pl_buf_str(&data));
}

/* False: out of memory, and the call has failed. */
static bool start(struct pl_ext_hostcall *call, enum pl_ext_hook hook, struct pl_buf *data,
                  void (*done)(void *ctx, const struct pl_ext_ruling *ruling))
{
    struct pl_ext_chain_query query = {
        .user_id = call->user_id,
        .session_id = call->session_id,
        .turn_id = call->turn_id,
        .tool_call_id = call->parent ? call->parent->tool_call_id : (struct pl_str){0},
        .tool_name = call->tool_name,
        .hook = hook,
        .data = pl_buf_str(data),
        .has_person = call->has_person,
    };
    if (data->status == PL_OK)
        call->chain = pl_ext_chain_start(call->exts->shard, &query, done, call);
    return call->chain;
}

static void fail_memory(struct pl_ext_hostcall *call)
{
    pl_hostcall_fail(call, "internal", NULL, "out of memory");
}

static void block(struct pl_ext_hostcall *call, struct pl_str by, struct pl_str why)
{
    pl_hostcall_fail(call, "denied", "blocked", "Blocked by %.*s: %.*s", PL_STR_ARG(by),
                     (int)(why.len < 200 ? why.len : 200),
                     why.len ? why.ptr : "no reason was given");
}

/* --- before it runs --------------------------------------------------------------------------- */

static void on_final(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_ext_hostcall *call = ctx;
    call->chain = NULL;
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK)
        block(call, ruling->by, ruling->why);
    else
        call->hooked(call);
}

static void look_at_final(struct pl_ext_hostcall *call)
{
    PL_CLEANUP_BUF struct pl_buf data;
    char hash[PL_SHA256_HEX + 1];
    pl_buf_init(&data, 0);
    if (!wants(call, PL_EXT_HOOK_TOOL_CALL_FINAL)) {
        call->hooked(call);
        return;
    }
    pl_sha256_hex(input_of(call), hash);
    struct pl_json_out out = begin_data(call, &data);
    put(&out, "arguments_hash", pl_str_of(hash));
    pl_json_out_close(&out, '}');
    if (!start(call, PL_EXT_HOOK_TOOL_CALL_FINAL, &data, on_final))
        fail_memory(call);
}

static void on_person(struct pl_ext_hostcall *call, struct pl_str answer)
{
    struct pl_json_doc doc;
    struct pl_str text = pl_arena_dup(&call->arena, answer);
    bool is_yes = false;
    if (text.len && pl_json_parse(&call->arena, text, &pl_json_own, &doc, NULL) == PL_OK)
        is_yes = pl_json_is(pl_json_get(&doc, doc.root, PL_STR("approve")), PL_JSON_TRUE);
    if (!is_yes) {
        pl_hostcall_fail(call, "denied", "prompt_user_deny", "the person said no");
        return;
    }
    look_at_final(call);
}

/* A person must confirm exactly this input. */
static void ask_first(struct pl_ext_hostcall *call, const struct pl_ext_ruling *ruling)
{
    PL_CLEANUP_BUF struct pl_buf questions, words;
    pl_buf_init(&questions, 0);
    pl_buf_init(&words, 0);
    if (!call->session_id.len || !call->has_person) {
        block(call, ruling->by, PL_STR("it wants a person to be asked, and nobody is there"));
        return;
    }
    pl_buf_addf(&words,
                "The extension %.*s asks whether the tool %.*s, called by %.*s, may run%s%.*s",
                PL_STR_ARG(ruling->by), PL_STR_ARG(call->tool_name), PL_STR_ARG(call->extension_id),
                ruling->why.len ? ": " : "?", PL_STR_ARG(ruling->why));
    struct pl_json_out out = pl_json_out(&questions);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "questions");
    pl_json_out_open(&out, '[');
    pl_json_out_open(&out, '{');
    put(&out, "question", pl_buf_str(&words));
    put(&out, "header", ruling->by);
    put(&out, "extension_id", ruling->by);
    put(&out, "capability", PL_STR("tool"));
    put(&out, "target", call->tool_name);
    pl_json_out_key(&out, "options");
    pl_json_out_raw(&out, PL_STR("[{\"label\":\"approve\"},{\"label\":\"deny\"}]"));
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    if (questions.status != PL_OK || words.status != PL_OK)
        fail_memory(call);
    else
        pl_question_ask_person(call, "capability", pl_buf_str(&questions), on_person);
}

/* Puts the input of a hook into the params; the hash in the audit is that of the executed input. */
static bool take_input(struct pl_ext_hostcall *call, const struct pl_ext_ruling *ruling)
{
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_json_doc doc;
    struct pl_str data = pl_arena_dup(&call->arena, ruling->data);
    pl_buf_init(&text, 0);
    if (!data.ptr || pl_json_parse(&call->arena, data, &pl_json_own, &doc, NULL) != PL_OK)
        return false;
    const struct pl_json_node *input = pl_json_member(&doc, doc.root, "input", PL_JSON_OBJECT);
    if (!input)
        return true;
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    put(&out, "name", call->tool_name);
    pl_json_out_key(&out, "input");
    pl_json_out_raw(&out, pl_json_span(&doc, input));
    pl_json_out_close(&out, '}');
    struct pl_str params = pl_arena_dup(&call->arena, pl_buf_str(&text));
    if (text.status != PL_OK || !params.ptr ||
        pl_json_parse(&call->arena, params, NULL, &call->doc, NULL) != PL_OK)
        return false;
    call->params = call->doc.root;
    return pl_ext_params_hash(call->method_name, &call->doc, call->params, call->hash) == PL_OK;
}

static void on_call(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_ext_hostcall *call = ctx;
    call->chain = NULL;
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK)
        block(call, ruling->by, ruling->why);
    else if (ruling->is_changed && !take_input(call, ruling))
        fail_memory(call);
    else if (ruling->verdict == PL_EXT_VERDICT_ASK)
        ask_first(call, ruling);
    else
        look_at_final(call);
}

void pl_nested_hook(struct pl_ext_hostcall *call, void (*hooked)(struct pl_ext_hostcall *call))
{
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    call->hooked = hooked;
    pl_hostcall_become(call, PL_HOSTCALL_HOOKING);
    if (is_handed_on(call)) {
        call->tool_name = (struct pl_str){0}; /* nobody is notified of it twice */
        hooked(call);
        return;
    }
    if (!wants(call, PL_EXT_HOOK_TOOL_CALL)) {
        look_at_final(call);
        return;
    }
    struct pl_json_out out = begin_data(call, &data);
    pl_json_out_close(&out, '}');
    if (!start(call, PL_EXT_HOOK_TOOL_CALL, &data, on_call))
        fail_memory(call);
}

void pl_nested_tell_start(struct pl_ext_hostcall *call)
{
    tell(call, PL_EXT_HOOK_TOOL_EXECUTION_START);
}

/* --- results ---------------------------------------------------------------------------------- */

/* Writes the blocks of an output; without blocks, its text; for an error, its message. */
static void put_content(struct pl_ext_hostcall *call, struct pl_json_out *out, struct pl_str output)
{
    struct pl_json_doc doc;
    const struct pl_json_node *content = NULL;
    if (!call->error && pl_json_parse(&call->arena, output, &pl_json_own, &doc, NULL) == PL_OK)
        content = pl_json_member(&doc, doc.root, "content", PL_JSON_ARRAY);
    pl_json_out_key(out, "content");
    if (content) {
        pl_json_out_raw(out, pl_json_span(&doc, content));
        return;
    }
    pl_json_out_open(out, '[');
    pl_json_out_open(out, '{');
    put(out, "type", PL_STR("text"));
    put(out, "text", call->error ? pl_str_of(call->message) : output);
    pl_json_out_close(out, '}');
    pl_json_out_close(out, ']');
}

/* Changed details are the whole output; otherwise the content is, or without it the details. */
static bool take_output(struct pl_ext_hostcall *call, const struct pl_ext_ruling *ruling,
                        struct pl_str before)
{
    struct pl_json_doc doc;
    struct pl_str data = pl_arena_dup(&call->arena, ruling->data);
    if (!data.ptr || pl_json_parse(&call->arena, data, &pl_json_own, &doc, NULL) != PL_OK)
        return false;
    const struct pl_json_node *flag = pl_json_get(&doc, doc.root, PL_STR("is_error"));
    const struct pl_json_node *content = pl_json_member(&doc, doc.root, "content", PL_JSON_ARRAY);
    const struct pl_json_node *details = pl_json_member(&doc, doc.root, "details", PL_JSON_OBJECT);
    if (pl_json_is(flag, PL_JSON_TRUE) && !call->error)
        pl_hostcall_set_error(call, "io", "tool_error", "a hook made an error of the result");
    if (pl_json_is(flag, PL_JSON_FALSE))
        call->error = call->error_reason = NULL;
    if (call->error)
        return true;
    bool has_details = details && !pl_str_eq(pl_json_span(&doc, details), before);
    call->output.len = 0;
    struct pl_json_out out = pl_json_out(&call->output);
    if (has_details || !content) {
        pl_json_out_raw(&out, details ? pl_json_span(&doc, details) : PL_STR("{}"));
        return true;
    }
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "content");
    pl_json_out_raw(&out, pl_json_span(&doc, content));
    pl_json_out_close(&out, '}');
    return true;
}

static void on_result(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_ext_hostcall *call = ctx;
    struct pl_str before = pl_arena_dup(&call->arena, pl_buf_str(&call->output));
    call->chain = NULL;
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK) { /* tool_result!: it could not be inspected */
        call->has_details = false;
        block(call, ruling->by, ruling->why);
        return;
    }
    if (ruling->is_changed && !take_output(call, ruling, before))
        pl_hostcall_set_error(call, "internal", NULL, "out of memory");
    pl_hostcall_finish(call);
}

bool pl_nested_result(struct pl_ext_hostcall *call)
{
    PL_CLEANUP_BUF struct pl_buf data;
    if (!pl_nested_is(call) || call->has_result || call->state != PL_HOSTCALL_RUNNING)
        return false;
    call->has_result = true;
    tell(call, PL_EXT_HOOK_TOOL_EXECUTION_END);
    if (!wants(call, PL_EXT_HOOK_TOOL_RESULT) || call->output.status != PL_OK)
        return false;
    pl_timer_stop(call->exts->loop, &call->timer); /* each hook has its own */
    struct pl_json_out out = begin_data(call, &data);
    put_content(call, &out, pl_buf_str(&call->output));
    pl_json_out_key(&out, "details");
    pl_json_out_raw(&out, call->output.len ? pl_buf_str(&call->output) : PL_STR("{}"));
    pl_json_out_key(&out, "is_error");
    pl_json_out_bool(&out, call->error);
    pl_json_out_close(&out, '}');
    return start(call, PL_EXT_HOOK_TOOL_RESULT, &data, on_result);
}

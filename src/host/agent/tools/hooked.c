/* Every call of every tool passes the hooks of extensions: tool_call may block it, ask for a
 * person's confirmation or change its input; tool_call_final sees the final input; tool_result may
 * change the result. A blocked call is an error that the model reads: "Blocked by ID: reason". */
#include "agent/tools/ext_tool.h"
#include "agent/tools/tool_int.h"
#include "agent/tools/tools.h"
#include "agent/hooks/hooks.h"
#include "base/sha/sha256.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

static bool wants(const struct pl_activity *activity, enum pl_ext_hook hook)
{
    return pl_ext_server_has_any(activity->server->ext) &&
           pl_ext_wants(activity->server->ext, activity->user_id, hook, activity->effect.tool_name);
}

/* --- data ------------------------------------------------------------------------------------- */

static void put_call(const struct pl_activity *activity, struct pl_json_out *out)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "tool_name");
    pl_json_out_text(out, activity->effect.tool_name);
    pl_json_out_key(out, "tool_call_id");
    pl_json_out_text(out, activity->effect.tool_call_id);
    pl_json_out_key(out, "session_id");
    pl_json_out_text(out, activity->session_id);
    pl_json_out_key(out, "loop_id");
    pl_json_out_text(out, activity->effect.loop_id);
    pl_json_out_key(out, "input");
    pl_json_out_raw(out,
                    activity->effect.arguments.len ? activity->effect.arguments : PL_STR("{}"));
}

static void fail_memory(struct pl_activity *activity)
{
    pl_activity_fail_tool(activity, PL_TOOL_ERROR_MEMORY, "Out of memory.");
}

static void block(struct pl_activity *activity, const struct pl_ext_ruling *ruling)
{
    char text[600];
    snprintf(text, sizeof text, "Blocked by %.*s: %.*s", PL_STR_ARG(ruling->by),
             (int)(ruling->why.len < 500 ? ruling->why.len : 500),
             ruling->why.len ? ruling->why.ptr : "no reason was given");
    pl_activity_fail_tool(activity, PL_TOOL_ERROR_DENIED, text);
}

/* --- before it runs --------------------------------------------------------------------------- */

/* A person must confirm exactly these arguments. */
static void ask_first(struct pl_activity *activity, const struct pl_ext_ruling *ruling)
{
    PL_CLEANUP_BUF struct pl_buf questions, words;
    pl_buf_init(&questions, 0);
    pl_buf_init(&words, 0);
    pl_buf_addf(&words, "The extension %.*s asks whether the tool %.*s may run%s%.*s",
                PL_STR_ARG(ruling->by), PL_STR_ARG(activity->effect.tool_name),
                ruling->why.len ? ": " : "?", PL_STR_ARG(ruling->why));
    struct pl_json_out out = pl_json_out(&questions);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "questions");
    pl_json_out_open(&out, '[');
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "question");
    pl_json_out_text(&out, pl_buf_str(&words));
    pl_json_out_key(&out, "header");
    pl_json_out_text(&out, activity->effect.tool_name);
    pl_json_out_key(&out, "risk"); /* an extension that checked it has objected */
    pl_json_out_text(&out, PL_STR("high"));
    pl_json_out_key(&out, "options");
    pl_json_out_raw(&out, PL_STR("[{\"label\":\"approve\"},{\"label\":\"deny\"}]"));
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    if (questions.status != PL_OK || words.status != PL_OK) {
        fail_memory(activity);
        return;
    }
    struct pl_session_event event = {.kind = PL_SE_TOOL_ASKS};
    event.tool.tool_call_id = activity->effect.tool_call_id;
    event.tool.question_kind = PL_STR("confirm");
    event.tool.questions = pl_buf_str(&questions);
    pl_activity_bring_last(activity, &event);
}

static void tell(struct pl_activity *activity, enum pl_ext_hook hook, bool is_error,
                 struct pl_str content)
{
    PL_CLEANUP_BUF struct pl_buf data;
    if (!wants(activity, hook))
        return;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    put_call(activity, &out);
    if (hook == PL_EXT_HOOK_TOOL_EXECUTION_END) {
        pl_json_out_key(&out, "is_error");
        pl_json_out_bool(&out, is_error);
    }
    if (content.len) {
        pl_json_out_key(&out, "content");
        pl_json_out_raw(&out, content);
    }
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_ext_tell(activity->shard, activity->user_id, activity->session_id, hook,
                    activity->effect.tool_name, pl_buf_str(&data));
}

void pl_tool_tell_end(struct pl_activity *activity, bool is_error)
{
    tell(activity, PL_EXT_HOOK_TOOL_EXECUTION_END, is_error, (struct pl_str){0});
}

void pl_tool_tell_update(struct pl_activity *activity, struct pl_str content)
{
    tell(activity, PL_EXT_HOOK_TOOL_EXECUTION_UPDATE, false, content);
}

/* The session runs its own tools; any other tool runs here. */
static void run(struct pl_activity *activity)
{
    tell(activity, PL_EXT_HOOK_TOOL_EXECUTION_START, false, (struct pl_str){0});
    if (!pl_tools_is_sessions(activity->effect.tool_name)) {
        pl_tool_run(activity);
        return;
    }
    struct pl_session_event event = {.kind = PL_SE_TOOL_GO};
    event.tool.tool_call_id = activity->effect.tool_call_id;
    event.tool.result =
        activity->is_input_changed ? activity->effect.arguments : (struct pl_str){0};
    pl_activity_bring_last(activity, &event);
}

static void on_final(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_activity *activity = ctx;
    activity->chain = NULL;
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK)
        block(activity, ruling);
    else
        run(activity);
}

static void look_at_final(struct pl_activity *activity)
{
    PL_CLEANUP_BUF struct pl_buf data;
    char hash[PL_SHA256_HEX + 1];
    if (!wants(activity, PL_EXT_HOOK_TOOL_CALL_FINAL)) {
        run(activity);
        return;
    }
    pl_buf_init(&data, 0);
    pl_sha256_hex(activity->effect.arguments, hash);
    struct pl_json_out out = pl_json_out(&data);
    put_call(activity, &out);
    pl_json_out_key(&out, "arguments_hash");
    pl_json_out_text(&out, pl_str_of(hash));
    pl_json_out_close(&out, '}');
    if (!pl_hook_start(activity, PL_EXT_HOOK_TOOL_CALL_FINAL, &data, on_final))
        fail_memory(activity);
}

/* The tool gets the changed input, which is validated like any other. */
static bool take_input(struct pl_activity *activity, const struct pl_ext_ruling *ruling)
{
    struct pl_json_doc doc;
    struct pl_str data = pl_arena_dup(&activity->arena, ruling->data);
    if (!data.ptr || pl_json_parse(&activity->arena, data, &pl_json_own, &doc, NULL) != PL_OK)
        return false;
    const struct pl_json_node *input = pl_json_get(&doc, doc.root, PL_STR("input"));
    if (input) {
        activity->effect.arguments = pl_json_span(&doc, input);
        activity->is_input_changed = true;
    }
    return true;
}

static void on_call(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_activity *activity = ctx;
    activity->chain = NULL;
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK)
        block(activity, ruling);
    else if (ruling->verdict == PL_EXT_VERDICT_ASK && !activity->effect.is_confirmed)
        ask_first(activity, ruling);
    else if (ruling->is_changed && !take_input(activity, ruling))
        fail_memory(activity);
    else
        look_at_final(activity);
}

void pl_tool_begin(struct pl_activity *activity)
{
    PL_CLEANUP_BUF struct pl_buf data;
    if (!wants(activity, PL_EXT_HOOK_TOOL_CALL)) {
        look_at_final(activity);
        return;
    }
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    put_call(activity, &out);
    pl_json_out_close(&out, '}');
    if (!pl_hook_start(activity, PL_EXT_HOOK_TOOL_CALL, &data, on_call))
        fail_memory(activity);
}

/* --- results ---------------------------------------------------------------------------------- */

/* The result as a block of text; the result itself is `details`. */
static void put_content(struct pl_activity *activity, struct pl_json_out *out, struct pl_str result)
{
    struct pl_json_doc doc;
    struct pl_str text = result;
    if (pl_json_parse(&activity->arena, result, &pl_json_own, &doc, NULL) == PL_OK &&
        pl_json_is(doc.root, PL_JSON_STRING))
        (void)pl_json_text(&activity->arena, &doc, doc.root, &text);
    pl_json_out_key(out, "content");
    pl_json_out_open(out, '[');
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "type");
    pl_json_out_text(out, PL_STR("text"));
    pl_json_out_key(out, "text");
    pl_json_out_text(out, text);
    pl_json_out_close(out, '}');
    pl_json_out_close(out, ']');
}

/* Changed details are the result; otherwise the texts of the content. */
static struct pl_str changed_result(struct pl_activity *activity, const struct pl_json_doc *doc,
                                    struct pl_str before)
{
    PL_CLEANUP_BUF struct pl_buf words, quoted;
    const struct pl_json_node *content = pl_json_member(doc, doc->root, "content", PL_JSON_ARRAY);
    const struct pl_json_node *details = pl_json_get(doc, doc->root, PL_STR("details"));
    pl_buf_init(&words, 0);
    pl_buf_init(&quoted, 0);
    if (details && !pl_str_eq(pl_json_span(doc, details), before))
        return pl_json_span(doc, details);
    for (const struct pl_json_node *n = content ? pl_json_first(content) : NULL;
         n && n < pl_json_end(content); n = pl_json_next(n)) {
        const struct pl_json_node *text = pl_json_member(doc, n, "text", PL_JSON_STRING);
        struct pl_str one = {0};
        if (text && pl_json_text(&activity->arena, doc, text, &one) != PL_OK)
            return before;
        pl_buf_addf(&words, "%s%.*s", words.len ? "\n" : "", PL_STR_ARG(one));
    }
    pl_json_quote(&quoted, pl_buf_str(&words));
    struct pl_str result = pl_arena_dup(&activity->arena, pl_buf_str(&quoted));
    return result.ptr ? result : before;
}

static void on_result(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_activity *activity = ctx;
    struct pl_json_doc doc;
    struct pl_str result = activity->tool_result;
    bool is_error = activity->is_tool_error;
    activity->chain = NULL;
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK) { /* tool_result!: no extension could check it */
        block(activity, ruling);
        return;
    }
    struct pl_str data =
        ruling->is_changed ? pl_arena_dup(&activity->arena, ruling->data) : (struct pl_str){0};
    if (data.ptr && pl_json_parse(&activity->arena, data, &pl_json_own, &doc, NULL) == PL_OK) {
        const struct pl_json_node *flag = pl_json_get(&doc, doc.root, PL_STR("is_error"));
        is_error = flag ? pl_json_is(flag, PL_JSON_TRUE) : is_error;
        result = changed_result(activity, &doc, result);
    }
    pl_activity_give_result(activity, result, is_error);
}

bool pl_tool_result_hook(struct pl_activity *activity, struct pl_str result, bool is_error)
{
    PL_CLEANUP_BUF struct pl_buf data;
    if (activity->has_result || !wants(activity, PL_EXT_HOOK_TOOL_RESULT))
        return false;
    activity->has_result = true;
    pl_buf_init(&data, 0);
    activity->tool_result = pl_arena_dup(&activity->arena, result);
    activity->is_tool_error = is_error;
    struct pl_json_out out = pl_json_out(&data);
    put_call(activity, &out);
    put_content(activity, &out, activity->tool_result);
    pl_json_out_key(&out, "details");
    pl_json_out_raw(&out, activity->tool_result);
    pl_json_out_key(&out, "is_error");
    pl_json_out_bool(&out, is_error);
    pl_json_out_close(&out, '}');
    return activity->tool_result.ptr &&
           pl_hook_start(activity, PL_EXT_HOOK_TOOL_RESULT, &data, on_result);
}

/* Tools of extensions: their definitions for models, their calls, and the conversion of their
 * output.
 *
 *     output.content  ->  its texts, as one text; with images or audio: a list of texts and media
 *     output.text     ->  that text
 *     anything else   ->  the whole object
 *
 * `_meta` is for the page and never reaches the model (core/session/turn/shown.c). */
#include "agent/tools/ext_tool.h"

#include "agent/tools/tool_int.h"
#include "agent/background/unattended.h"
#include "ext/run/ext.h"
#include "json/text.h"
#include "json/write.h"
#include "live/hub.h"

#include <stdio.h>

/* --- output ----------------------------------------------------------------------------------- */

static bool is_type(const struct pl_json_doc *doc, const struct pl_json_node *block,
                    const char *type)
{
    const struct pl_json_node *n = pl_json_member(doc, block, "type", PL_JSON_STRING);
    return n && pl_json_text_is(doc, n, pl_str_of(type));
}

static bool has_media(const struct pl_json_doc *doc, const struct pl_json_node *content)
{
    for (const struct pl_json_node *n = pl_json_first(content); n < pl_json_end(content);
         n = pl_json_next(n))
        if (is_type(doc, n, "image") || is_type(doc, n, "audio"))
            return true;
    return false;
}

/* The text of a block, or of a resource: its text, or its URI. */
static enum pl_status add_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *block, struct pl_buf *to)
{
    const struct pl_json_node *resource = pl_json_member(doc, block, "resource", PL_JSON_OBJECT);
    const struct pl_json_node *from = resource ? resource : block;
    const struct pl_json_node *n = pl_json_member(doc, from, "text", PL_JSON_STRING);
    struct pl_str text = {0};
    if (!n)
        n = pl_json_member(doc, from, "uri", PL_JSON_STRING);
    enum pl_status status = n ? pl_json_text(arena, doc, n, &text) : PL_OK;
    pl_buf_add(to, n ? text : pl_json_span(doc, block));
    return status;
}

static enum pl_status write_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                                  const struct pl_json_node *content, struct pl_buf *to)
{
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = pl_json_first(content);
         n < pl_json_end(content) && status == PL_OK; n = pl_json_next(n)) {
        if (to->len)
            pl_buf_addc(to, '\n');
        status = add_words(arena, doc, n, to);
    }
    return status;
}

static void put_media(struct pl_json_out *out, const struct pl_json_doc *doc,
                      const struct pl_json_node *block, const char *kind)
{
    const struct pl_json_node *data = pl_json_member(doc, block, "data", PL_JSON_STRING);
    const struct pl_json_node *mime = pl_json_member(doc, block, "mimeType", PL_JSON_STRING);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "type");
    pl_json_out_text(out, PL_STR("media"));
    pl_json_out_key(out, "content");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "kind");
    pl_json_out_text(out, pl_str_of(kind));
    pl_json_out_key(out, "data");
    pl_json_out_raw(out, data ? pl_json_span(doc, data) : PL_STR("\"\""));
    if (mime) {
        pl_json_out_key(out, "mime");
        pl_json_out_raw(out, pl_json_span(doc, mime));
    }
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
}

/* Writes a list of texts and media; the bytes of media become blobs of the user. */
static enum pl_status write_list(struct pl_activity *activity, const struct pl_json_doc *doc,
                                 const struct pl_json_node *content)
{
    PL_CLEANUP_BUF struct pl_buf list, words;
    pl_buf_init(&list, 0);
    pl_buf_init(&words, 0);
    struct pl_json_out out = pl_json_out(&list);
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *n = pl_json_first(content); n < pl_json_end(content);
         n = pl_json_next(n)) {
        if (is_type(doc, n, "image") || is_type(doc, n, "audio")) {
            put_media(&out, doc, n, is_type(doc, n, "image") ? "image" : "audio");
            continue;
        }
        pl_buf_clear(&words);
        if (add_words(&activity->arena, doc, n, &words) != PL_OK)
            return PL_NOMEM;
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "type");
        pl_json_out_text(&out, PL_STR("text"));
        pl_json_out_key(&out, "content");
        pl_json_out_text(&out, pl_buf_str(&words));
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    struct pl_str document = pl_arena_dup(&activity->arena, pl_buf_str(&list)), kept;
    if (list.status != PL_OK || !document.ptr)
        return PL_NOMEM;
    enum pl_status status = pl_ext_keep_media(activity->server, &activity->arena, activity->user_id,
                                              document, &kept, &activity->err);
    if (status == PL_OK)
        pl_buf_add(&activity->said, kept);
    return status;
}

/* On a worker: converts the output in activity->text to the result in activity->said. */
static void shape(struct pl_job *job)
{
    struct pl_activity *activity = PL_CONTAINER_OF(job, struct pl_activity, job);
    PL_CLEANUP_BUF struct pl_buf words;
    struct pl_json_doc doc;
    pl_buf_init(&words, 0);
    activity->status = pl_json_parse(&activity->arena, pl_buf_str(&activity->text), &pl_json_own,
                                     &doc, &activity->err);
    if (activity->status != PL_OK)
        return;
    const struct pl_json_node *content = pl_json_member(&doc, doc.root, "content", PL_JSON_ARRAY);
    const struct pl_json_node *text = pl_json_member(&doc, doc.root, "text", PL_JSON_STRING);
    const struct pl_json_node *meta = pl_json_member(&doc, doc.root, "_meta", PL_JSON_OBJECT);
    if (content && has_media(&doc, content)) {
        activity->status = write_list(activity, &doc, content);
        return;
    }
    if (content)
        activity->status = write_words(&activity->arena, &doc, content, &words);
    struct pl_json_out out = pl_json_out(&activity->said);
    if (!content && (!text || meta)) {
        pl_json_out_raw(&out, pl_buf_str(&activity->text));
    } else if (!content) {
        pl_json_out_raw(&out, pl_json_span(&doc, text));
    } else if (!meta) {
        pl_json_out_text(&out, pl_buf_str(&words));
    } else {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "text");
        pl_json_out_text(&out, pl_buf_str(&words));
        pl_json_out_key(&out, "_meta");
        pl_json_out_raw(&out, pl_json_span(&doc, meta));
        pl_json_out_close(&out, '}');
    }
    if (activity->status == PL_OK)
        activity->status = words.status != PL_OK ? words.status : activity->said.status;
}

static void shaped(struct pl_activity *activity)
{
    if (activity->status == PL_OK)
        pl_activity_finish_tool(activity, pl_buf_str(&activity->said), activity->is_tool_error);
    else
        pl_tool_fail(activity, activity->status);
}

static void on_answer(struct pl_ext_ask *ask)
{
    struct pl_activity *activity = ask->ctx;
    if (!activity)
        return;
    activity->ask = NULL;
    if (ask->is_failed) {
        pl_activity_fail_tool(activity, ask->error, ask->message);
        return;
    }
    activity->is_tool_error = ask->is_error;
    pl_buf_clear(&activity->text);
    pl_buf_add(&activity->text, pl_buf_str(&ask->reply));
    if (activity->text.status != PL_OK)
        pl_activity_fail_tool(activity, PL_TOOL_ERROR_MEMORY, "Out of memory.");
    else
        pl_activity_work(activity, shape, shaped);
}

/* Sends it to the user's clients and to extensions; each update replaces the last. */
static void on_update(struct pl_ext_ask *ask, struct pl_str content)
{
    struct pl_activity *activity = ask->ctx;
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, activity->session_id);
    pl_json_out_key(&out, "tool_call_id");
    pl_json_out_text(&out, activity->effect.tool_call_id);
    pl_json_out_key(&out, "content");
    pl_json_out_raw(&out, content);
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_hub_tell_user(activity->server, activity->user_id, "tool:progress", pl_buf_str(&data));
    pl_tool_tell_update(activity, content);
}

/* --- calling ---------------------------------------------------------------------------------- */

static bool check(struct pl_activity *activity, const struct pl_ext_offered *tool)
{
    struct pl_json_doc doc;
    char says[1000] = "";
    if (pl_json_parse(&activity->arena, activity->effect.arguments, NULL, &doc, &activity->err) !=
        PL_OK)
        snprintf(says, sizeof says, "The arguments are not JSON: %s", activity->err.message);
    else if (pl_tool_check(activity, tool->schema, &doc, says, sizeof says) != PL_OK)
        snprintf(says, sizeof says, "The arguments could not be checked: %s",
                 activity->err.message[0] ? activity->err.message : "out of memory");
    if (says[0])
        pl_activity_fail_tool(activity, PL_TOOL_ERROR_ARGUMENTS, says);
    return !says[0];
}

bool pl_ext_tool_run(struct pl_activity *activity)
{
    struct pl_ext_offered tool;
    if (!pl_ext_server_has_any(activity->server->ext))
        return false;
    enum pl_status status = pl_ext_tool_find(activity->server->ext, &activity->arena,
                                             activity->user_id, activity->effect.tool_name, &tool);
    if (status == PL_NOT_FOUND)
        return false;
    if (status == PL_OK && !check(activity, &tool))
        return true;
    struct pl_ext_ask *ask =
        status == PL_OK ? pl_ext_ask_create(activity->shard, PL_EXT_ASK_TOOL) : NULL;
    if (!ask) {
        pl_activity_fail_tool(activity, PL_TOOL_ERROR_MEMORY, "Out of memory.");
        return true;
    }
    const struct pl_session_effect *effect = &activity->effect;
    ask->extension_id = pl_ext_ask_keep(ask, tool.extension_id);
    ask->user_id = pl_ext_ask_keep(ask, activity->user_id);
    ask->session_id = pl_ext_ask_keep(ask, activity->session_id);
    ask->turn_id = pl_ext_ask_keep(ask, effect->turn_id);
    ask->loop_id = pl_ext_ask_keep(ask, effect->loop_id);
    ask->tool_call_id = pl_ext_ask_keep(ask, effect->tool_call_id);
    ask->name = pl_ext_ask_keep(ask, effect->tool_name);
    ask->input = pl_ext_ask_keep(ask, effect->arguments);
    ask->timeout_ms = tool.timeout_ms;
    ask->is_sequential = tool.is_sequential;
    ask->has_person = !pl_unattended_has(activity->server->unattended, activity->session_id);
    ask->done = on_answer;
    ask->update = on_update;
    ask->ctx = activity;
    activity->ask = ask;
    pl_ext_ask_send(ask);
    return true;
}

/* --- offering --------------------------------------------------------------------------------- */

void pl_ext_tool_define(struct pl_json_out *out, const struct pl_ext_offered *tool)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "name");
    pl_json_out_text(out, tool->name);
    pl_json_out_key(out, "description");
    pl_json_out_text(out, tool->description);
    pl_json_out_key(out, "input_schema");
    pl_json_out_raw(out, tool->schema);
    pl_json_out_close(out, '}');
}

struct pl_str pl_ext_tool_label(struct pl_activity *activity, struct pl_str name)
{
    struct pl_ext_offered tool;
    if (!pl_ext_server_has_any(activity->server->ext) ||
        pl_ext_tool_find(activity->server->ext, &activity->arena, activity->user_id, name, &tool) !=
            PL_OK ||
        !tool.label.len)
        return name;
    return tool.label;
}

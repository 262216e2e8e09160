/* Hooks of extensions for a model request, in the order in which they run:
 *
 *     before_agent_start       once per answered message: adds messages, changes the system prompt
 *     context                  each request: its turns
 *     before_provider_request  each request: the vendor's body, without its headers and key
 *
 * The additions of before_agent_start apply to all requests of that answer, so the driver keeps
 * them. All three fail open. With NAME! they fail closed: then the model is not called. */
#include "agent/activity_int.h"
#include "agent/hooks/hooks.h"
#include "agent/background/unattended.h"
#include "ext/run/ext.h"
#include "format/format.h"
#include "json/text.h"
#include "json/write.h"

static bool wants(const struct pl_activity *activity, enum pl_ext_hook hook)
{
    struct pl_ext_server *ext = activity->server->ext;
    return activity->status == PL_OK && pl_ext_server_has_any(ext) &&
           !pl_model_replayed(activity->effect.model).len &&
           pl_ext_wants(ext, activity->user_id, hook, (struct pl_str){0});
}

static struct pl_json_out begin_data(const struct pl_activity *activity, struct pl_buf *data)
{
    pl_buf_init(data, 0);
    struct pl_json_out out = pl_json_out(data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, activity->session_id);
    pl_json_out_key(&out, "turn_id");
    pl_json_out_text(&out, activity->effect.turn_id);
    pl_json_out_key(&out, "loop_id");
    pl_json_out_text(&out, activity->effect.loop_id);
    pl_json_out_key(&out, "model");
    pl_json_out_text(&out, activity->effect.model);
    return out;
}

static void fail_memory(struct pl_activity *activity)
{
    activity->status = pl_fail(&activity->err, PL_NOMEM, "Out of memory.");
    activity->hooked(activity);
}

bool pl_hook_start(struct pl_activity *activity, enum pl_ext_hook hook, const struct pl_buf *data,
                   void (*done)(void *ctx, const struct pl_ext_ruling *ruling))
{
    struct pl_ext_chain_query query = {
        .user_id = activity->user_id,
        .session_id = activity->session_id,
        .turn_id = activity->effect.turn_id,
        .loop_id = activity->effect.loop_id,
        .tool_call_id = activity->effect.tool_call_id,
        .tool_name = activity->effect.tool_name,
        .hook = hook,
        .data = pl_buf_str(data),
        .has_person = !pl_unattended_has(activity->server->unattended, activity->session_id),
    };
    if (data->status == PL_OK)
        activity->chain = pl_ext_chain_start(activity->shard, &query, done, activity);
    return activity->chain;
}

/* `data` is complete. */
static void start(struct pl_activity *activity, enum pl_ext_hook hook, const struct pl_buf *data,
                  void (*done)(void *ctx, const struct pl_ext_ruling *ruling))
{
    if (!pl_hook_start(activity, hook, data, done))
        fail_memory(activity);
}

/* True: the model is not called, and `hooked` was called. */
static bool is_blocked(struct pl_activity *activity, const struct pl_ext_ruling *ruling)
{
    activity->chain = NULL;
    if (ruling->verdict != PL_EXT_VERDICT_BLOCK)
        return false;
    pl_model_prepared_destroy(PL_TAKE(activity->prepared));
    /* A summary has a fallback without a model. */
    if (activity->effect.kind == PL_EFFECT_CALL_MODEL)
        activity->status =
            pl_fail(&activity->err, PL_INVALID, "Blocked by %.*s: %.*s", PL_STR_ARG(ruling->by),
                    (int)(ruling->why.len < 300 ? ruling->why.len : 300),
                    ruling->why.len ? ruling->why.ptr : "no reason was given");
    activity->hooked(activity);
    return true;
}

/* A member that the hooks have changed; NULL: unchanged. */
static const struct pl_json_node *changed(struct pl_activity *activity,
                                          const struct pl_ext_ruling *ruling, const char *key,
                                          enum pl_json_kind kind, struct pl_json_doc *ret_doc)
{
    if (!ruling->is_changed)
        return NULL;
    struct pl_str data = pl_arena_dup(&activity->arena, ruling->data);
    if (!data.ptr || pl_json_parse(&activity->arena, data, &pl_json_own, ret_doc, NULL) != PL_OK) {
        activity->status = pl_fail(&activity->err, PL_NOMEM, "Out of memory.");
        return NULL;
    }
    return pl_json_member(ret_doc, ret_doc->root, key, kind);
}

/* --- before_provider_request ------------------------------------------------------------------ */

static void ask_about_payload(struct pl_activity *activity);

/* A model without a vendor's body uses the request itself. */
static void take_document(struct pl_activity *activity, const struct pl_json_doc *doc,
                          const struct pl_json_node *payload)
{
    const struct pl_json_node *turns = pl_json_member(doc, payload, "turns", PL_JSON_ARRAY);
    const struct pl_json_node *tools = pl_json_member(doc, payload, "tools", PL_JSON_ARRAY);
    if (turns)
        activity->request.turns = pl_json_span(doc, turns);
    if (tools)
        activity->request.tools = pl_json_span(doc, tools);
}

static void on_payload(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_activity *activity = ctx;
    struct pl_json_doc doc;
    if (is_blocked(activity, ruling))
        return;
    const struct pl_json_node *payload = changed(activity, ruling, "payload", PL_JSON_OBJECT, &doc);
    if (payload && activity->prepared &&
        pl_model_prepared_replace(activity->prepared, activity->at_payload,
                                  pl_json_span(&doc, payload)) != PL_OK)
        activity->status = pl_fail(&activity->err, PL_NOMEM, "Out of memory.");
    else if (payload && !activity->prepared)
        take_document(activity, &doc, payload);
    activity->at_payload++;
    ask_about_payload(activity);
}

/* Each model of a chain has its own request, and any of them may be called. */
static void ask_about_payload(struct pl_activity *activity)
{
    PL_CLEANUP_BUF struct pl_buf data;
    size_t n = activity->prepared ? pl_model_prepared_n(activity->prepared) : 1;
    if (activity->status != PL_OK || activity->at_payload >= n) {
        activity->hooked(activity);
        return;
    }
    struct pl_json_out out = begin_data(activity, &data);
    if (activity->prepared) {
        struct pl_str format;
        struct pl_str body =
            pl_model_prepared_at(activity->prepared, activity->at_payload, &format);
        pl_json_out_key(&out, "format");
        pl_json_out_text(&out, format);
        pl_json_out_key(&out, "payload");
        pl_json_out_raw(&out, body);
    } else {
        PL_CLEANUP_BUF struct pl_buf document;
        pl_buf_init(&document, 0);
        if (pl_request_write(&activity->request, &document) != PL_OK)
            data.status = PL_NOMEM;
        pl_json_out_key(&out, "format");
        pl_json_out_text(&out, PL_STR("turns"));
        pl_json_out_key(&out, "payload");
        pl_json_out_raw(&out, pl_buf_str(&document));
    }
    pl_json_out_close(&out, '}');
    start(activity, PL_EXT_HOOK_BEFORE_PROVIDER_REQUEST, &data, on_payload);
}

void pl_hook_provider_request(struct pl_activity *activity,
                              void (*hooked)(struct pl_activity *activity))
{
    activity->hooked = hooked;
    activity->at_payload = 0;
    if (wants(activity, PL_EXT_HOOK_BEFORE_PROVIDER_REQUEST))
        ask_about_payload(activity);
    else
        hooked(activity);
}

static void go_on(struct pl_activity *activity)
{
    pl_hook_provider_request(activity, activity->hooked);
}

/* --- context ---------------------------------------------------------------------------------- */

/* On a worker: prepares the request that extensions have changed. */
static void prepare_again(struct pl_job *job)
{
    pl_activity_prepare(PL_CONTAINER_OF(job, struct pl_activity, job));
}

static void on_context(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_activity *activity = ctx;
    struct pl_json_doc doc;
    if (is_blocked(activity, ruling))
        return;
    const struct pl_json_node *messages =
        changed(activity, ruling, "messages", PL_JSON_ARRAY, &doc);
    if (!messages) {
        go_on(activity);
        return;
    }
    activity->request.turns = pl_json_span(&doc, messages);
    pl_activity_work(activity, prepare_again, go_on);
}

static void ask_about_context(struct pl_activity *activity)
{
    PL_CLEANUP_BUF struct pl_buf data;
    if (!wants(activity, PL_EXT_HOOK_CONTEXT)) {
        go_on(activity);
        return;
    }
    struct pl_json_out out = begin_data(activity, &data);
    pl_json_out_key(&out, "messages");
    pl_json_out_raw(&out, activity->request.turns);
    pl_json_out_close(&out, '}');
    start(activity, PL_EXT_HOOK_CONTEXT, &data, on_context);
}

/* --- before_agent_start ----------------------------------------------------------------------- */

/* On a worker: reads the request with the additions of the hooks. */
static void read_again(struct pl_job *job)
{
    struct pl_activity *activity = PL_CONTAINER_OF(job, struct pl_activity, job);
    activity->status =
        pl_activity_read_request(activity, true, (struct pl_str){0}, &activity->request);
    if (activity->status == PL_OK)
        pl_activity_prepare(activity);
}

static void on_agent_start(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct pl_activity *activity = ctx;
    struct pl_driver *driver = activity->driver;
    if (is_blocked(activity, ruling))
        return;
    driver->is_agent_started = true;
    if (!ruling->is_changed) {
        ask_about_context(activity);
        return;
    }
    pl_buf_clear(&driver->agent_start);
    pl_buf_add(&driver->agent_start, ruling->data);
    activity->agent_start = pl_arena_dup(&activity->arena, ruling->data);
    if (driver->agent_start.status != PL_OK || !activity->agent_start.ptr) {
        pl_hook_agent_over(driver);
        fail_memory(activity);
        return;
    }
    pl_activity_work(activity, read_again, ask_about_context);
}

void pl_hook_agent_over(struct pl_driver *driver)
{
    driver->is_agent_started = false;
    pl_buf_deinit(&driver->agent_start);
    pl_buf_init(&driver->agent_start, 0);
}

bool pl_hook_agent_recall(struct pl_activity *activity)
{
    const struct pl_buf *kept = &activity->driver->agent_start;
    if (!kept->len || !pl_str_eq(activity->effect.loop_id, PL_STR("root")))
        return true;
    activity->agent_start = pl_arena_dup(&activity->arena, pl_buf_str(kept));
    return activity->agent_start.ptr;
}

void pl_hook_request(struct pl_activity *activity, void (*hooked)(struct pl_activity *activity))
{
    PL_CLEANUP_BUF struct pl_buf data;
    activity->hooked = hooked;
    pl_buf_init(&data, 0);
    if (activity->driver->is_agent_started ||
        !pl_str_eq(activity->effect.loop_id, PL_STR("root")) ||
        !wants(activity, PL_EXT_HOOK_BEFORE_AGENT_START)) {
        ask_about_context(activity);
        return;
    }
    struct pl_json_out out = begin_data(activity, &data);
    pl_json_out_key(&out, "prompt");
    pl_json_out_text(&out, activity->request.asked);
    pl_json_out_key(&out, "prompt_turn_id");
    pl_json_out_text(&out, activity->request.asked_turn_id);
    pl_json_out_key(&out, "system_prompt");
    pl_json_out_text(&out, activity->request.system_prompt);
    pl_json_out_close(&out, '}');
    start(activity, PL_EXT_HOOK_BEFORE_AGENT_START, &data, on_agent_start);
}

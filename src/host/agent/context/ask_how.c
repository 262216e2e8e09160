/* System prompt, settings and tools of a model call: the session's, changed by those of the
 * chat. */
#include "agent/context/ask_how.h"

#include "agent/tools/offer.h"
#include "http/routes/request_schema.h"
#include "json/merge.h"
#include "json/text.h"

/* Settings for programs that read the answer: a sub-agent does not get them. */
static const char of_the_root[] = "{\"response_format\":null,\"stop\":null}";

static enum pl_status merge(struct pl_arena *arena, struct pl_str old, struct pl_str change,
                            struct pl_str *ret_merged, struct pl_error *err)
{
    struct pl_json_doc doc, patch;
    struct pl_buf text PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    enum pl_status status = pl_json_parse(arena, old, &pl_json_own, &doc, err);
    if (status == PL_OK)
        status = pl_json_parse(arena, change, &pl_json_own, &patch, err);
    if (status == PL_OK)
        status = pl_json_merge_write(arena, &text, &doc, doc.root, &patch, patch.root);
    if (status != PL_OK)
        return status;
    *ret_merged = pl_arena_dup(arena, pl_buf_str(&text));
    return ret_merged->ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status read_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const char *key, struct pl_str *ret_text)
{
    const struct pl_json_node *node = pl_json_get(doc, doc->root, pl_str_of(key));
    if (!node)
        return PL_OK;
    *ret_text = (struct pl_str){0}; /* null: none */
    return pl_json_kind(node) == PL_JSON_STRING ? pl_json_text(arena, doc, node, ret_text) : PL_OK;
}

static enum pl_status read_override(struct pl_arena *arena, struct pl_str override,
                                    struct pl_ask_how *how, struct pl_error *err)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, override, &pl_json_own, &doc, err);
    if (status == PL_OK)
        status = read_text(arena, &doc, "system_prompt", &how->system_prompt);
    if (status == PL_OK)
        status = read_text(arena, &doc, "prefill", &how->prefill);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *settings = pl_json_get(&doc, doc.root, PL_STR("settings"));
    const struct pl_json_node *tools = pl_json_get(&doc, doc.root, PL_STR("tools"));
    if (tools)
        how->tools =
            pl_json_kind(tools) == PL_JSON_NULL ? (struct pl_str){0} : pl_json_span(&doc, tools);
    if (settings && pl_json_kind(settings) == PL_JSON_NULL)
        how->settings = (struct pl_str){0};
    else if (settings)
        status = merge(arena, how->settings.len ? how->settings : PL_STR("{}"),
                       pl_json_span(&doc, settings), &how->settings, err);
    return status;
}

enum pl_status pl_ask_how_read(struct pl_arena *arena, const struct pl_session_record *record,
                               struct pl_str loop_id, struct pl_ask_how *ret_how,
                               struct pl_error *err)
{
    struct pl_ask_how how = {
        .system_prompt = record->system_prompt,
        .settings = record->settings,
        .tools = record->tools,
    };
    enum pl_status status = PL_OK;
    if (record->chat_override.len)
        status = read_override(arena, record->chat_override, &how, err);
    if (status == PL_OK && !pl_str_eq(loop_id, PL_STR("root"))) {
        how.prefill = (struct pl_str){0};
        if (how.settings.len)
            status = merge(arena, how.settings, PL_STR(of_the_root), &how.settings, err);
    }
    if (status == PL_OK)
        *ret_how = how;
    return status;
}

/* --- checking -------------------------------------------------------------------------------- */

enum pl_status pl_ask_how_check(struct pl_arena *arena, struct pl_str text,
                                struct pl_ext_server *ext, struct pl_str user_id,
                                struct pl_error *err)
{
    const struct pl_schema *schema;
    struct pl_schema_run *run = NULL;
    struct pl_schema_report report = {.is_valid = true};
    struct pl_json_doc doc;
    enum pl_status status = pl_request_schema_get("SessionCreate", &schema, err);
    if (status == PL_OK)
        status = pl_json_parse(arena, text, &pl_json_own, &doc, err);
    if (status == PL_OK)
        status = pl_schema_run_create(schema, &run);
    if (status == PL_OK)
        status = pl_schema_explain(run, arena, &doc, doc.root, PL_SCHEMA_EN, &report);
    pl_schema_run_destroy(run);
    if (status != PL_OK)
        return status;
    if (!report.is_valid && report.n_units) {
        status =
            pl_fail(err, PL_INVALID, "This is invalid: %.*s", PL_STR_ARG(report.units[0].message));
        pl_error_point(err, "%.*s", PL_STR_ARG(report.units[0].instance_location));
        return status;
    }
    return pl_offer_check(arena, &doc, pl_json_get(&doc, doc.root, PL_STR("tools")), "/tools", ext,
                          user_id, err);
}

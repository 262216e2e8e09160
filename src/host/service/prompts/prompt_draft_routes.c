/* Drafts: text that is not a version yet. A prompt has at most one draft, its owner's. It has
 * its own revision, so that two tabs do not overwrite each other. A draft may be an incomplete
 * prompt: it is checked when it becomes a version or is run. */
#include "http/exchange.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "json/number.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/routes.h"
#include "service/request_options.h"
#include "store/page.h"
#include "transaction/change.h"

enum { MAX_EXTRA = 64 << 10 };

static void write_draft(struct pl_exchange *x, const struct pl_draft_row *draft)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    struct pl_prompt_text text = {pl_str_eq(draft->type, pl_prompt_type_text(true)),
                                  draft->content};
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "prompt_id", x->args[0]);
    pl_put_int(&out, "revision", draft->revision);
    pl_put_int(&out, "based_on", draft->based_on);
    pl_put_time(&out, "updated_at", draft->updated_ms);
    pl_put_text(&out, "type", draft->type);
    pl_json_out_key(&out, "content");
    pl_prompt_content_write(&out, &text);
    pl_json_out_key(&out, "extra");
    pl_json_out_raw(&out, draft->extra.len ? draft->extra : PL_STR("{}"));
    pl_json_out_close(&out, '}');
}

/* Revision 0: there is no draft. False after making a problem. */
static bool find_draft(struct pl_exchange *x, struct pl_draft_row *ret_draft)
{
    struct pl_error err = {0};
    *ret_draft = (struct pl_draft_row){0};
    enum pl_status status = pl_store_draft_get(x->shard->server->store, &x->arena,
                                               x->caller.user_id, x->args[0], ret_draft, &err);
    if (status == PL_OK || status == PL_NOT_FOUND)
        return true;
    pl_exchange_fail(x, status, &err);
    return false;
}

/* Writes the newest version as a draft that is not stored yet. */
static void write_latest(struct pl_exchange *x, const struct pl_prompt_row *prompt)
{
    struct pl_prompt_version_row version;
    if (!pl_prompt_find_version(x, prompt, (struct pl_str){0}, &version))
        return;
    write_draft(x, &(struct pl_draft_row){
                       .based_on = version.version,
                       .updated_ms = version.created_ms,
                       .type = version.type,
                       .content = version.content,
                   });
}

static void get_work(struct pl_exchange *x)
{
    struct pl_prompt_row prompt;
    struct pl_draft_row draft;
    if (!pl_prompt_find(x, &prompt) || !find_draft(x, &draft))
        return;
    bool or_latest = pl_str_eq(pl_target_param(&x->target, "or"), PL_STR("latest"));
    if (!draft.revision && or_latest)
        write_latest(x, &prompt);
    else if (!draft.revision)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "This prompt has no draft.");
    else if (pl_exchange_etag(x, draft.revision))
        write_draft(x, &draft);
}

static void draft_get(struct pl_exchange *x)
{
    pl_exchange_work(x, get_work, NULL);
}

/* Reads the content without a check; its structure is checked later. */
static bool read_content(struct pl_exchange *x, struct pl_draft_row *draft)
{
    struct pl_str type = pl_body_text(x, "type"), text = pl_body_text(x, "content");
    draft->type = pl_prompt_type_text(!text.ptr);
    draft->content = text.ptr ? text : pl_body_raw(x, "content");
    draft->extra = pl_body_raw(x, "extra");
    if (type.ptr && !pl_str_eq(type, draft->type))
        pl_option_refuse(x,
                         "The content of a text prompt must be a string, and that of a structured "
                         "prompt an object.",
                         "/content");
    else if (draft->content.len > PL_PROMPT_MAX_CONTENT)
        pl_exchange_problem(x, PL_PROBLEM_PAYLOAD_TOO_LARGE, NULL,
                            "The content must have at most %u bytes, but has %zu.",
                            PL_PROMPT_MAX_CONTENT, draft->content.len);
    else if (draft->extra.len > MAX_EXTRA)
        pl_exchange_problem(x, PL_PROBLEM_PAYLOAD_TOO_LARGE, NULL,
                            "The member extra must have at most %d bytes, but has %zu.", MAX_EXTRA,
                            draft->extra.len);
    return !x->is_problem;
}

/* With If-None-Match: * it must be the first draft. */
static bool may_replace(struct pl_exchange *x, const struct pl_draft_row *draft)
{
    struct pl_str none = pl_http_header_get(x->head, "if-none-match");
    if (!draft->revision && pl_http_header_get(x->head, "if-match").len) {
        pl_exchange_problem(x, PL_PROBLEM_PRECONDITION_FAILED, NULL,
                            "There is no draft any more; read the prompt again.");
        return false;
    }
    if (draft->revision && pl_str_eq(none, PL_STR("*"))) {
        pl_exchange_header(x, "ETag", "\"%lld\"", (long long)draft->revision);
        pl_exchange_problem(x, PL_PROBLEM_PRECONDITION_FAILED, NULL,
                            "There is a draft already, with the revision %lld; read it first.",
                            (long long)draft->revision);
        return false;
    }
    return !draft->revision || pl_exchange_if_match(x, draft->revision);
}

static void plan_put(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row prompt;
    struct pl_draft_row draft;
    int64_t based_on = 0;
    if (!pl_prompt_find(x, &prompt) || !find_draft(x, &draft) || !may_replace(x, &draft) ||
        !read_content(x, &draft))
        return;
    if (!pl_body_has(x, "based_on"))
        based_on = draft.revision ? draft.based_on : prompt.latest_version;
    else if (!pl_json_number_int64(pl_body_raw(x, "based_on"), &based_on) ||
             based_on > prompt.latest_version) {
        pl_option_refuse(x, "The prompt has no such version.", "/based_on");
        return;
    }
    draft.based_on = based_on;
    draft.updated_ms = pl_clock_unix_ms();
    pl_batch_put_draft(batch, x->caller.user_id, x->args[0], &draft);
    draft.revision++;
    write_draft(x, &draft);
    (void)pl_exchange_etag(x, draft.revision);
}

static void draft_put(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_put, NULL, NULL);
}

static void plan_delete(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row prompt;
    struct pl_draft_row draft;
    if (!pl_prompt_find(x, &prompt) || !find_draft(x, &draft))
        return;
    if (draft.revision && !pl_exchange_if_match(x, draft.revision))
        return;
    /* The put checks the revision, so that a concurrent change is not deleted. */
    if (draft.revision && pl_http_header_get(x->head, "if-match").len)
        pl_batch_put_draft(batch, x->caller.user_id, x->args[0], &draft);
    pl_batch_delete_draft(batch, x->caller.user_id, x->args[0]);
    x->status = 204;
}

static void draft_delete(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_delete, NULL, NULL);
}

static const struct pl_route_param get_params[] = {
    {"or", "{\"enum\":[\"latest\"]}",
     "If there is no draft: latest returns the newest version, with revision 0"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_prompt_drafts[] = {
    {PL_METHOD_GET, "/api/prompts/{id}/draft", 0, PL_FOR_READ, draft_get, "prompt_draft_get",
     "Get the draft of a prompt", "prompts", NULL, "StoredDraft", 200, get_params},
    {PL_METHOD_PUT, "/api/prompts/{id}/draft", 0, PL_FOR_ALL, draft_put, "prompt_draft_put",
     "Store the draft of a prompt", "prompts", "StoredDraftPut", "StoredDraft", 200, NULL,
     .tells = "prompt:draft"},
    {PL_METHOD_DELETE, "/api/prompts/{id}/draft", 0, PL_FOR_ALL, draft_delete,
     "prompt_draft_delete", "Delete the draft of a prompt", "prompts", NULL, NULL, 204, NULL,
     .tells = "prompt:draft"},
    {0},
};

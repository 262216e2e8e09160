/* Versions of a prompt and their labels. A version never changes. A change may name the version
 * it is based on (If-Match, or based_on). If another change came first, the answer is 412 with
 * the current version, the sent one, and their difference: no text is lost. */
#include "base/text/decimal.h"
#include "http/exchange.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "json/number.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/prompt_summary.h"
#include "service/prompts/routes.h"
#include "transaction/change.h"

/* A page of versions is read in steps of this size, and ends when it is large enough. */
enum { STEP = 10 };

/* --- looking --------------------------------------------------------------------------------- */

/* Versions are listed newest first: a page begins below a version. */
static bool read_before(struct pl_exchange *x, const struct pl_page_args *args,
                        const struct pl_prompt_row *prompt, int64_t *ret_before)
{
    int64_t before = prompt->latest_version + 1 - args->offset;
    if (args->offset > prompt->latest_version)
        before = 1;
    if (args->cursor.len && (!pl_decimal_read(args->cursor, &before) || before < 1))
        return pl_exchange_refuse_cursor(x);
    *ret_before = before;
    return true;
}

static enum pl_status write_page(struct pl_exchange *x, const struct pl_page_args *args,
                                 struct pl_str prompt_id, int64_t before, struct pl_error *err)
{
    struct pl_prompt_version_page page = {.has_more = true};
    bool is_summary = pl_str_eq(pl_target_param(&x->target, "view"), PL_STR("summary"));
    size_t n = 0;
    enum pl_status status = PL_OK;
    pl_exchange_list_begin(x);
    while (status == PL_OK && page.has_more && n < args->limit &&
           (n == 0 || x->reply.len < PL_PAGE_BYTES)) {
        size_t limit = args->limit - n < STEP ? args->limit - n : STEP;
        status = pl_store_prompt_version_list(x->shard->server->store, &x->arena, x->caller.user_id,
                                              prompt_id, before, limit, &page, err);
        for (size_t i = 0; status == PL_OK && i < page.n_items; i++) {
            if (n++)
                pl_buf_addc(&x->reply, ',');
            before = page.items[i].version;
            status = is_summary
                         ? pl_prompt_summary_write(x, &page.items[i], &x->reply, err)
                         : pl_prompt_version_write(&x->arena, &page.items[i], &x->reply, err);
        }
    }
    if (status != PL_OK)
        return status;
    PL_CLEANUP_BUF struct pl_buf cursor;
    pl_buf_init(&cursor, 0);
    if (page.has_more)
        pl_buf_addf(&cursor, "%lld", (long long)before);
    pl_exchange_list_end(x, args, page.total, pl_buf_str(&cursor));
    return cursor.status;
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_prompt_row prompt;
    struct pl_error err = {0};
    int64_t before = 0;
    if (!pl_exchange_page_args(x, &args) || !pl_prompt_find(x, &prompt) ||
        !read_before(x, &args, &prompt, &before))
        return;
    enum pl_status status = write_page(x, &args, prompt.id, before, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void get_work(struct pl_exchange *x)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    struct pl_error err = {0};
    if (!pl_prompt_find(x, &prompt) || !pl_prompt_find_version(x, &prompt, x->args[1], &version))
        return;
    enum pl_status status = pl_prompt_version_write(&x->arena, &version, &x->reply, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void diff(struct pl_exchange *x, const struct pl_prompt_version_row *from,
                 const struct pl_prompt_text *to)
{
    struct pl_prompt_text before = pl_prompt_text_of(from);
    struct pl_error err = {0};
    enum pl_status status = pl_prompt_diff(&x->arena, &before, to, &x->reply, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void diff_work(struct pl_exchange *x)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row from, to;
    if (!pl_prompt_find(x, &prompt) || !pl_prompt_find_version(x, &prompt, x->args[1], &from) ||
        !pl_prompt_find_version(x, &prompt, x->args[2], &to))
        return;
    struct pl_prompt_text text = pl_prompt_text_of(&to);
    diff(x, &from, &text);
}

static void diff_draft_work(struct pl_exchange *x)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row from;
    struct pl_prompt_text draft;
    if (pl_prompt_find(x, &prompt) && pl_prompt_find_version(x, &prompt, x->args[1], &from) &&
        pl_prompt_draft(x, &draft))
        diff(x, &from, &draft);
}

/* --- writing --------------------------------------------------------------------------------- */

/* Makes a problem with the current version, the sent one, and their difference. */
static void answer_conflict(struct pl_exchange *x, const struct pl_prompt_row *prompt,
                            const struct pl_prompt_text *yours)
{
    struct pl_prompt_version_row current;
    struct pl_error err = {0};
    if (!pl_prompt_find_version(x, prompt, (struct pl_str){0}, &current))
        return;
    PL_CLEANUP_BUF struct pl_buf more;
    pl_buf_init(&more, 0);
    pl_buf_adds(&more, ",\"current\":");
    enum pl_status status = pl_prompt_version_write(&x->arena, &current, &more, &err);
    pl_buf_adds(&more, ",\"yours\":");
    struct pl_json_out out = pl_json_out(&more);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "type", pl_prompt_type_text(yours->is_structured));
    pl_json_out_key(&out, "content");
    pl_prompt_content_write(&out, yours);
    pl_json_out_close(&out, '}');
    pl_buf_adds(&more, ",\"diff\":");
    struct pl_prompt_text before = pl_prompt_text_of(&current);
    if (status == PL_OK)
        status = pl_prompt_diff(&x->arena, &before, yours, &more, &err);
    if (status == PL_OK)
        status = more.status;
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    (void)pl_exchange_etag(x, prompt->revision);
    pl_exchange_problem(x, PL_PROBLEM_PRECONDITION_FAILED, NULL,
                        "Version %lld was saved before yours; this answer contains both. Merge "
                        "them and send the result with based_on %lld.",
                        (long long)current.version, (long long)current.version);
    if (x->reply.status == PL_OK)
        x->reply.len--; /* the closing brace, added again below */
    pl_buf_add(&x->reply, pl_buf_str(&more));
    pl_buf_addc(&x->reply, '}');
}

/* Adds the next version of a prompt to the batch and the answer. */
static void put_next(struct pl_exchange *x, struct pl_batch *batch, struct pl_prompt_row *prompt,
                     const struct pl_prompt_text *text, struct pl_prompt_version_row *version)
{
    struct pl_error err = {0};
    struct pl_str note = pl_body_text(x, "note");
    prompt->type = pl_prompt_type_text(text->is_structured);
    prompt->updated_ms = pl_clock_unix_ms();
    version->prompt_id = prompt->id;
    version->version = ++prompt->latest_version;
    version->type = prompt->type;
    version->content = text->content;
    version->note = note.ptr ? note : PL_STR("");
    version->created_ms = prompt->updated_ms;
    enum pl_status status = pl_prompt_hash(&x->arena, text, &version->hash);
    if (status == PL_OK)
        status = pl_prompt_index(&x->arena, text, prompt);
    if (status == PL_OK)
        status = pl_prompt_version_write(&x->arena, version, &x->reply, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    pl_batch_update_prompt(batch, prompt);
    pl_batch_put_prompt_version(batch, prompt->user_id, version);
    x->status = 201;
    pl_exchange_header(x, "Location", "/api/prompts/%.*s/versions/%lld", PL_STR_ARG(prompt->id),
                       (long long)version->version);
    (void)pl_exchange_etag(x, prompt->revision + 1);
}

static int64_t number_of(struct pl_exchange *x, const char *member)
{
    int64_t value = 0;
    struct pl_str digits = pl_body_raw(x, member);
    return digits.len && pl_json_number_int64(digits, &value) ? value : 0;
}

static void plan_version(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row prompt;
    struct pl_prompt_text draft;
    if (!pl_prompt_find(x, &prompt) || !pl_prompt_draft(x, &draft))
        return;
    int64_t based_on = number_of(x, "based_on"), expected = pl_exchange_if_match_version(x);
    if ((based_on && based_on != prompt.latest_version) ||
        (expected >= 0 && expected != prompt.revision)) {
        answer_conflict(x, &prompt, &draft);
        return;
    }
    struct pl_prompt_version_row version = {.based_on = prompt.latest_version};
    put_next(x, batch, &prompt, &draft, &version);
}

static void version_create(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_version, NULL, NULL);
}

static void plan_rollback(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row old;
    if (!pl_prompt_find(x, &prompt) || !pl_exchange_if_match(x, prompt.revision) ||
        !pl_prompt_find_version(x, &prompt, pl_body_raw(x, "version"), &old))
        return;
    struct pl_prompt_text text = pl_prompt_text_of(&old);
    struct pl_prompt_version_row version = {
        .based_on = prompt.latest_version,
        .restored_from = old.version,
    };
    put_next(x, batch, &prompt, &text, &version);
}

static void rollback(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_rollback, NULL, NULL);
}

/* --- labels ---------------------------------------------------------------------------------- */

/* The version of the label in the path; false after making a problem. */
static bool find_label(struct pl_exchange *x, const struct pl_prompt_row *prompt,
                       int64_t *ret_version)
{
    enum pl_status status = pl_prompt_label_get(&x->arena, prompt, x->args[1], ret_version);
    if (status != PL_OK)
        pl_exchange_fail(x, status, NULL);
    return status == PL_OK;
}

/* Compare and set; false after making a problem. */
static bool is_expected(struct pl_exchange *x, int64_t stands)
{
    int64_t expected = number_of(x, "expected");
    if (!pl_body_has(x, "expected") || expected == stands)
        return true;
    if (stands)
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "The label is at version %lld, not at the expected one.",
                            (long long)stands);
    else
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "The label does not exist, but was expected at version %lld.",
                            (long long)expected);
    return false;
}

/* Writes the label and the prompt's new revision together. */
static void put_label(struct pl_exchange *x, struct pl_batch *batch, struct pl_prompt_row *prompt,
                      int64_t version)
{
    enum pl_status status =
        pl_prompt_labels_with(&x->arena, prompt->labels, x->args[1], version, &prompt->labels);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, NULL);
        return;
    }
    prompt->updated_ms = pl_clock_unix_ms();
    pl_batch_update_prompt(batch, prompt);
    pl_batch_put_prompt_label(batch, prompt->user_id, prompt->id, x->args[1], version);
    prompt->revision++;
    (void)pl_exchange_etag(x, prompt->revision);
}

static void plan_label(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row prompt;
    struct pl_error err = {0};
    int64_t stands, version = number_of(x, "version");
    if (!pl_prompt_label_is(x->args[1])) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "A label has 1 to 60 letters, digits, '.', '_' or '-'; it must not be "
                            "a number or \"latest\".");
        return;
    }
    if (!pl_prompt_find(x, &prompt) || !pl_exchange_if_match(x, prompt.revision) ||
        !find_label(x, &prompt, &stands) || !is_expected(x, stands))
        return;
    if (version > prompt.latest_version) {
        (void)pl_fail(&err, PL_INVALID, "This prompt has no version %lld.", (long long)version);
        pl_error_point(&err, "/version");
        pl_exchange_fail(x, PL_INVALID, &err);
        return;
    }
    put_label(x, batch, &prompt, version);
    enum pl_status status =
        x->is_problem ? PL_OK : pl_prompt_write(&x->arena, &prompt, NULL, &x->reply, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void label_put(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_label, NULL, NULL);
}

static void plan_unlabel(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row prompt;
    int64_t stands;
    if (!pl_prompt_find(x, &prompt) || !pl_exchange_if_match(x, prompt.revision) ||
        !find_label(x, &prompt, &stands))
        return;
    if (stands)
        put_label(x, batch, &prompt, 0);
    else
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "This prompt has no such label.");
    if (!x->is_problem)
        x->status = 204;
}

static void label_delete(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_unlabel, NULL, NULL);
}

#define RUN(name)                                                                                  \
    static void name##_run(struct pl_exchange *x)                                                  \
    {                                                                                              \
        pl_exchange_work(x, name##_work, NULL);                                                    \
    }
RUN(list)
RUN(get)
RUN(diff)
RUN(diff_draft)
#undef RUN

static const struct pl_route_param list_params[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}",
     "The maximum number; 20 by default. A page can be shorter when its items are large"},
    PL_PARAM_OFFSET,
    PL_PARAM_CURSOR,
    {"view", "{\"enum\":[\"all\",\"summary\"]}",
     "summary: without content and variables, with how many words were added and removed"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_prompt_versions[] = {
    {PL_METHOD_GET, "/api/prompts/{id}/versions", 0, PL_FOR_READ, list_run, "prompt_version_list",
     "List the versions of a prompt, newest first", "prompts", NULL, "PromptVersionList", 200,
     list_params},
    {PL_METHOD_POST, "/api/prompts/{id}/versions", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, version_create,
     "prompt_version_create",
     "Write the next version; if another one was saved first, the answer is 412 with both texts",
     "prompts", "PromptVersionCreate", "PromptVersion", 201, NULL, .tells = "prompt:updated"},
    {PL_METHOD_GET, "/api/prompts/{id}/versions/{version}", 0, PL_FOR_READ, get_run,
     "prompt_version_get", "Get a version: a number, a label or \"latest\"", "prompts", NULL,
     "PromptVersion", 200, NULL},
    {PL_METHOD_GET, "/api/prompts/{id}/versions/{version}/diff/{other}", 0, PL_FOR_READ, diff_run,
     "prompt_version_diff", "Compare two versions, by block", "prompts", NULL, "PromptDiff", 200,
     NULL},
    {PL_METHOD_POST, "/api/prompts/{id}/versions/{version}/diff", PL_ROUTE_IDEMPOTENT, PL_FOR_READ,
     diff_draft_run, "prompt_draft_diff", "Compare an unsaved draft, by block", "prompts",
     "PromptDraft", "PromptDiff", 200, NULL},
    {PL_METHOD_POST, "/api/prompts/{id}/rollback", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, rollback,
     "prompt_rollback", "Restore a version, as a new one", "prompts", "PromptRollback",
     "PromptVersion", 201, NULL, .tells = "prompt:updated"},
    {PL_METHOD_PUT, "/api/prompts/{id}/labels/{label}", 0, PL_FOR_ALL, label_put,
     "prompt_label_put", "Create or move a label", "prompts", "PromptLabel", "Prompt", 200, NULL,
     .tells = "prompt:updated"},
    {PL_METHOD_DELETE, "/api/prompts/{id}/labels/{label}", 0, PL_FOR_ALL, label_delete,
     "prompt_label_delete", "Delete a label", "prompts", NULL, NULL, 204, NULL,
     .tells = "prompt:updated"},
    {0},
};

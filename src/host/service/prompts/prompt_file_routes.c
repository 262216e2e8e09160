/* The library as plain files, page by page. Pages are sorted by id, so that a page does not
 * depend on changes around it. If two prompts want the same directory, the older one gets it, so
 * a library that was restored elsewhere gives the same files. */
#include "base/text/uuid.h"
#include "promptfile/promptfile.h"
#include "http/exchange.h"
#include "http/reply/base64url.h"
#include "http/json_members.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/routes.h"

enum { MAX_PAGE_PROMPTS = 100, VERSION_STEP = 100 };

/* A prompt that is being converted to files. */
struct filing {
    struct pl_exchange *x;
    const struct pl_prompt_row *row;
    struct pl_arena scratch;      /* owned */
    struct pl_prompt_files files; /* owned */
    size_t n_asked;               /* directories checked */
    enum pl_status status;        /* of the checks */
    struct pl_error *err;
};

/* If an older prompt has taken the preferred name, the id is appended. No other prompt has that
 * name, unless it is really called so; then the name is its own. */
static bool is_taken(void *ctx, struct pl_str directory)
{
    struct filing *filing = ctx;
    bool is_there = false;
    filing->status = pl_store_prompt_directory(
        filing->x->shard->server->store, filing->x->caller.user_id, directory,
        filing->n_asked++ ? (struct pl_str){0} : filing->row->id, &is_there, filing->err);
    return filing->status == PL_OK && is_there;
}

/* Reads all versions, oldest first. */
static enum pl_status read_versions(struct filing *filing, struct pl_filed_version **ret_versions,
                                    size_t *ret_n)
{
    const struct pl_prompt_row *row = filing->row;
    struct pl_prompt_version_page page = {.has_more = true};
    int64_t before = row->latest_version + 1;
    size_t n_left = (size_t)row->latest_version;
    enum pl_status status = PL_OK;
    struct pl_filed_version *versions = pl_arena_zalloc(&filing->scratch, n_left, sizeof *versions);
    if (!versions)
        return PL_NOMEM;
    while (status == PL_OK && page.has_more && n_left) {
        status = pl_store_prompt_version_list(filing->x->shard->server->store, &filing->scratch,
                                              filing->x->caller.user_id, row->id, before,
                                              VERSION_STEP, &page, filing->err);
        for (size_t i = 0; status == PL_OK && i < page.n_items && n_left; i++) {
            const struct pl_prompt_version_row *from = &page.items[i];
            before = from->version;
            versions[--n_left] = (struct pl_filed_version){
                .version = from->version,
                .is_structured = pl_prompt_text_of(from).is_structured,
                .content = from->content,
                .note = from->note,
                .based_on = from->based_on,
                .restored_from = from->restored_from,
                .created_ms = from->created_ms,
            };
        }
    }
    *ret_versions = versions + n_left;
    *ret_n = (size_t)row->latest_version - n_left;
    return status;
}

static enum pl_status write_files(struct filing *filing)
{
    const struct pl_prompt_row *row = filing->row;
    struct pl_filed_prompt prompt = {
        .id = row->id,
        .name = row->name,
        .description = row->description,
        .folder = row->folder,
        .tags = row->tags,
        .labels = row->labels,
        .is_pinned = row->is_pinned,
        .created_ms = row->created_ms,
    };
    enum pl_status status = read_versions(filing, &prompt.versions, &prompt.n_versions);
    /* A prompt that was deleted a moment ago has no versions and no files. */
    if (status == PL_OK && prompt.n_versions)
        status = pl_prompt_files_write(&filing->scratch, &prompt, is_taken, filing, &filing->files,
                                       filing->err);
    return status == PL_OK ? filing->status : status;
}

static enum pl_status file_prompt(struct pl_exchange *x, const struct pl_prompt_row *row,
                                  struct pl_json_out *out, struct pl_error *err)
{
    struct filing filing = {.x = x, .row = row, .err = err};
    pl_arena_init(&filing.scratch, 0);
    enum pl_status status = write_files(&filing);
    for (size_t i = 0; status == PL_OK && i < filing.files.list.len; i++) {
        pl_json_out_open(out, '{');
        pl_put_text(out, "path", filing.files.list.ptr[i].path);
        pl_put_text(out, "text", filing.files.list.ptr[i].text);
        pl_json_out_close(out, '}');
    }
    pl_arena_deinit(&filing.scratch);
    pl_vec_deinit(&filing.files.list);
    return status;
}

static enum pl_status write_page(struct pl_exchange *x, struct pl_str after, struct pl_error *err)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    struct pl_prompt_page page;
    size_t n = 0;
    enum pl_status status = pl_store_prompt_walk(
        x->shard->server->store, &x->arena, x->caller.user_id, after, MAX_PAGE_PROMPTS, &page, err);
    if (status != PL_OK)
        return status;
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "files");
    pl_json_out_open(&out, '[');
    while (status == PL_OK && n < page.n_items && (n == 0 || x->reply.len < PL_PAGE_BYTES))
        status = file_prompt(x, &page.items[n++], &out, err);
    bool has_more = page.has_more || n < page.n_items;
    pl_exchange_sums_end(x, has_more ? page.items[n - 1].id : (struct pl_str){0});
    return status;
}

static void files_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_error err = {0};
    if (!pl_exchange_page_args(x, &args))
        return;
    if (args.cursor.len && !pl_id_is(args.cursor, "prompt_")) {
        (void)pl_exchange_refuse_cursor(x);
        return;
    }
    enum pl_status status = write_page(x, args.cursor, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void prompt_files(struct pl_exchange *x)
{
    pl_exchange_compute(x, files_work, NULL);
}

static const struct pl_route_param files_params[] = {
    PL_PARAM_CURSOR,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_prompt_files[] = {
    {PL_METHOD_GET, "/api/prompts/files", 0, PL_FOR_READ, prompt_files, "prompt_files",
     "Get your library as plain files, page by page", "prompts", NULL, "PromptFiles", 200,
     files_params},
    {0},
};

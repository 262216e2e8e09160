/* The library as plain files, page by page. Pages go by id, so that a page is the same whatever
 * changes around it, and of two prompts that want one directory the older has it: a library that
 * was restored elsewhere gives the same files. */
#include "base/map.h"
#include "base/sort.h"
#include "format/prompt_file.h"
#include "server/exchange_int.h"
#include "server/prompt_json.h"
#include "server/url64.h"

enum { MAX_PAGE_BYTES = 4 << 20, MAX_PAGE_PROMPTS = 100, VERSION_STEP = 100 };

static int order_ids(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    return pl_str_cmp(((const struct pl_prompt_row *)a)->id, ((const struct pl_prompt_row *)b)->id);
}

/* All prompts of the caller, the oldest first. */
static enum pl_status load_all(struct pl_exchange *x, const void ***ret_rows, size_t *ret_n,
                               struct pl_error *err)
{
    struct pl_prompt_query query = {.user_id = x->caller.user_id, .limit = PL_PROMPT_ALL};
    struct pl_prompt_page page;
    enum pl_status status =
        pl_store_prompt_list(x->shard->server->store, &x->arena, &query, &page, err);
    if (status != PL_OK)
        return status;
    const void **rows = pl_arena_alloc(&x->arena, 2 * page.n_items + 1, sizeof *rows);
    if (!rows)
        return PL_NOMEM;
    for (size_t i = 0; i < page.n_items; i++)
        rows[i] = &page.items[i];
    pl_sort(rows, rows + page.n_items, page.n_items, order_ids, NULL);
    *ret_rows = rows;
    *ret_n = page.n_items;
    return PL_OK;
}

struct filing {
    struct pl_exchange *x;
    struct pl_arena scratch;      /* owned; of one prompt */
    struct pl_arena names;        /* owned; directories */
    struct pl_map taken;          /* owned; directories that older prompts have */
    struct pl_prompt_files files; /* owned; of one prompt */
    bool has_failed;
};

static void filing_init(struct filing *filing, struct pl_exchange *x)
{
    *filing = (struct filing){.x = x};
    pl_arena_init(&filing->scratch, 0);
    pl_arena_init(&filing->names, 0);
}

static void filing_deinit(struct filing *filing)
{
    pl_arena_deinit(&filing->scratch);
    pl_arena_deinit(&filing->names);
    pl_map_deinit(&filing->taken);
    pl_vec_deinit(&filing->files.list);
}

/* Asked with one directory after the other until one is free; that one is taken from then on. */
static bool is_taken(void *ctx, struct pl_str directory)
{
    struct filing *filing = ctx;
    bool is_new = false;
    if (pl_map_get(&filing->taken, directory))
        return true;
    struct pl_str kept = pl_arena_dup(&filing->names, directory);
    filing->has_failed |= !kept.ptr || !pl_map_put(&filing->taken, kept, &is_new);
    return false;
}

static enum pl_status write_files(struct filing *filing, struct pl_arena *arena,
                                  const struct pl_prompt_row *row,
                                  struct pl_filed_version *versions, size_t n_versions,
                                  struct pl_error *err)
{
    struct pl_filed_prompt prompt = {
        .id = row->id,
        .name = row->name,
        .description = row->description,
        .folder = row->folder,
        .tags = row->tags,
        .labels = row->labels,
        .is_pinned = row->is_pinned,
        .created_ms = row->created_ms,
        .versions = versions,
        .n_versions = n_versions,
    };
    filing->files.list.len = 0;
    enum pl_status status =
        pl_prompt_files_write(arena, &prompt, is_taken, filing, &filing->files, err);
    return status == PL_OK && filing->has_failed ? PL_NOMEM : status;
}

/* Only its directory is of interest: who comes later must not have it. Without room to write in,
 * the writing ends as soon as that is found, and that is a tenth of the work. */
static enum pl_status pass_over(struct filing *filing, const struct pl_prompt_row *row,
                                struct pl_error *err)
{
    struct pl_filed_version nothing = {.version = 1, .content = PL_STR(""), .note = PL_STR("")};
    uint32_t n_taken = filing->taken.n_entries;
    struct pl_arena no_room;
    pl_arena_init(&no_room, 1);
    enum pl_status status = write_files(filing, &no_room, row, &nothing, 1, err);
    pl_arena_deinit(&no_room);
    if (filing->taken.n_entries > n_taken)
        return PL_OK;
    if (status == PL_NOMEM)
        status = write_files(filing, &filing->scratch, row, &nothing, 1, err);
    pl_arena_reset(&filing->scratch);
    return status;
}

/* All versions, oldest first. */
static enum pl_status read_versions(struct filing *filing, const struct pl_prompt_row *row,
                                    struct pl_filed_version **ret_versions, size_t *ret_n,
                                    struct pl_error *err)
{
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
                                              VERSION_STEP, &page, err);
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

/* A prompt that was deleted a moment ago has no versions, and no files. */
static enum pl_status file_prompt(struct filing *filing, const struct pl_prompt_row *row,
                                  struct pl_json_out *out, struct pl_error *err)
{
    struct pl_filed_version *versions = NULL;
    size_t n = 0;
    enum pl_status status = read_versions(filing, row, &versions, &n, err);
    filing->files.list.len = 0;
    if (status == PL_OK && n)
        status = write_files(filing, &filing->scratch, row, versions, n, err);
    for (size_t i = 0; status == PL_OK && i < filing->files.list.len; i++) {
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "path");
        pl_json_out_text(out, filing->files.list.ptr[i].path);
        pl_json_out_key(out, "text");
        pl_json_out_text(out, filing->files.list.ptr[i].text);
        pl_json_out_close(out, '}');
    }
    pl_arena_reset(&filing->scratch);
    return status;
}

static enum pl_status write_page(struct filing *filing, struct pl_str after, struct pl_error *err)
{
    struct pl_exchange *x = filing->x;
    struct pl_json_out out = pl_json_out(&x->reply);
    const void **rows = NULL;
    size_t n_rows = 0, i = 0, n = 0;
    enum pl_status status = load_all(x, &rows, &n_rows, err);
    const struct pl_prompt_row *row = NULL;
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "files");
    pl_json_out_open(&out, '[');
    for (; status == PL_OK && i < n_rows; i++) {
        const struct pl_prompt_row *next = rows[i];
        bool is_full = n == MAX_PAGE_PROMPTS || x->reply.len > MAX_PAGE_BYTES;
        if (pl_str_cmp(next->id, after) <= 0) {
            status = pass_over(filing, next, err);
            continue;
        }
        if (is_full)
            break;
        row = next;
        n++;
        status = file_prompt(filing, row, &out, err);
    }
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "next_cursor");
    if (status == PL_OK && row && i < n_rows) {
        pl_buf_addc(&x->reply, '"');
        pl_url64_encode(&x->reply, row->id);
        pl_buf_adds(&x->reply, "\"}");
    } else {
        pl_buf_adds(&x->reply, "null}");
    }
    return status;
}

static void files_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct filing filing;
    struct pl_error err = {0};
    if (!pl_exchange_page_args(x, &args))
        return;
    filing_init(&filing, x);
    enum pl_status status = write_page(&filing, args.cursor, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    filing_deinit(&filing);
}

static void prompt_files(struct pl_exchange *x)
{
    pl_exchange_work(x, files_work, NULL);
}

static const struct pl_route_param files_params[] = {
    {"cursor", "{\"type\":\"string\"}", "next_cursor of the page before"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_prompt_files[] = {
    {PL_METHOD_GET, "/api/prompts/files", 0, prompt_files, "prompt_files",
     "Your library as plain files, page by page", "prompts", NULL, "PromptFiles", 200,
     files_params},
    {0},
};

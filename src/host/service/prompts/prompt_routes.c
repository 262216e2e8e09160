/* The library of prompts: create, list, read, change, delete; folders and tags. Versions and labels
 * are in prompt_version_routes.c, uses of a prompt in prompt_use_routes.c and prompt_run_routes.c,
 * files in prompt_file_routes.c. */
#include "base/text/decimal.h"
#include "base/text/terms.h"
#include "base/text/uuid.h"
#include "http/exchange.h"
#include "http/json_members.h"
#include "http/reply/page_cursor.h"
#include "io/clock.h"
#include "service/burying.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/routes.h"
#include "service/request_options.h"
#include "transaction/change.h"

static struct pl_store *store_of(struct pl_exchange *x)
{
    return x->shard->server->store;
}

/* --- making ---------------------------------------------------------------------------------- */

/* Reads name, description, folder, tags and pin from the body; missing members stay unchanged. */
static bool read_details(struct pl_exchange *x, struct pl_prompt_row *row)
{
    struct pl_error err = {0};
    if (pl_body_has(x, "name"))
        row->name = pl_body_text(x, "name");
    if (pl_body_has(x, "description"))
        row->description = pl_body_text(x, "description");
    if (!pl_prompt_body_folder(x, &row->folder))
        return false;
    row->is_pinned = pl_body_bool(x, "is_pinned", row->is_pinned);
    enum pl_status status = PL_OK;
    if (pl_body_has(x, "tags"))
        status = pl_prompt_tags(&x->arena, pl_body_raw(x, "tags"), &row->tags, &err);
    if (status == PL_OK)
        return true;
    pl_exchange_fail(x, status, &err);
    return false;
}

static bool new_row(struct pl_exchange *x, struct pl_id_seed *seed, struct pl_prompt_row *row)
{
    struct pl_id id = pl_id_take(seed, "prompt_");
    *row = (struct pl_prompt_row){
        .id = pl_arena_dup(&x->arena, pl_str_of(id.text)),
        .user_id = x->caller.user_id,
        .description = PL_STR(""),
        .folder = PL_STR(""),
        .tags = PL_STR("[]"),
        .labels = PL_STR("{}"),
        .latest_version = 1,
        .revision = 1,
        .created_ms = seed->unix_ms,
        .updated_ms = seed->unix_ms,
    };
    if (row->id.ptr)
        return true;
    pl_exchange_fail(x, PL_NOMEM, NULL);
    return false;
}

static void plan_create(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_prompt_row row;
    struct pl_prompt_text text;
    struct pl_error err = {0};
    if (!new_row(x, ctx, &row) || !read_details(x, &row) || !pl_prompt_draft(x, &text))
        return;
    struct pl_str note = pl_body_text(x, "note");
    row.type = pl_prompt_type_text(text.is_structured);
    struct pl_prompt_version_row version = {
        .prompt_id = row.id,
        .version = 1,
        .type = row.type,
        .content = text.content,
        .note = note.ptr ? note : PL_STR(""),
        .created_ms = row.created_ms,
    };
    enum pl_status status = pl_prompt_hash(&x->arena, &text, &version.hash);
    if (status == PL_OK)
        status = pl_prompt_index(&x->arena, &text, &row);
    if (status == PL_OK)
        status = pl_prompt_write(&x->arena, &row, &version, &x->reply, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    pl_batch_create_prompt(batch, &row);
    pl_batch_put_prompt_version(batch, row.user_id, &version);
    x->status = 201;
    pl_exchange_header(x, "Location", "/api/prompts/%.*s", PL_STR_ARG(row.id));
    (void)pl_exchange_etag(x, row.revision);
}

static void prompt_create(struct pl_exchange *x)
{
    struct pl_id_seed *seed = pl_exchange_room(x, sizeof *seed);
    if (!seed)
        return;
    *seed = pl_shard_seed(x->shard);
    pl_exchange_change(x, plan_create, NULL, seed);
}

/* --- listing --------------------------------------------------------------------------------- */

/* In the order of a search, the cursor is "+N": the number of items before it. */
static bool read_cursor(struct pl_str cursor, struct pl_prompt_query *query)
{
    struct pl_page_cursor place = {0};
    if (query->terms.len)
        return cursor.ptr[0] == '+' &&
               pl_decimal_read(pl_str_slice(cursor, 1, cursor.len), &query->offset);
    query->has_cursor = pl_page_cursor_read(cursor, "prompt_", &place);
    query->cursor_is_pinned = place.is_pinned;
    query->cursor_updated_ms = place.updated_ms;
    query->cursor_id = place.id;
    return query->has_cursor;
}

static bool read_query(struct pl_exchange *x, const struct pl_page_args *args,
                       struct pl_prompt_query *query)
{
    struct pl_str folder = pl_target_param(&x->target, "folder");
    struct pl_str pinned = pl_target_param(&x->target, "pinned");
    query->user_id = x->caller.user_id;
    query->tag = pl_target_param(&x->target, "tag");
    query->label = pl_target_param(&x->target, "label");
    query->has_folder = folder.ptr != NULL;
    query->has_pinned = pinned.ptr != NULL;
    query->is_pinned = pl_str_eq(pinned, PL_STR("true"));
    query->limit = args->limit;
    query->max_bytes = PL_PAGE_BYTES;
    query->offset = args->offset;
    if (folder.ptr && !pl_prompt_folder(folder, &query->folder))
        pl_option_refuse(x, "There is no such folder.", "/folder");
    else if (args->cursor.len && !read_cursor(args->cursor, query))
        return pl_exchange_refuse_cursor(x);
    return !x->is_problem;
}

static void write_cursor(struct pl_buf *to, const struct pl_prompt_query *query,
                         const struct pl_prompt_page *page, const struct pl_list_walk *walk)
{
    if (!walk->has_more)
        return;
    const struct pl_prompt_row *last = &page->items[walk->n - 1];
    if (query->terms.len)
        pl_buf_addf(to, "+%lld", (long long)query->offset + (long long)walk->n);
    else
        pl_page_cursor_write(to,
                             &(struct pl_page_cursor){last->is_pinned, last->updated_ms, last->id});
}

static enum pl_status list(struct pl_exchange *x, const struct pl_page_args *args,
                           const struct pl_prompt_query *query, struct pl_error *err)
{
    struct pl_prompt_page page;
    enum pl_status status = pl_store_prompt_list(store_of(x), &x->arena, query, &page, err);
    if (status != PL_OK)
        return status;
    PL_CLEANUP_BUF struct pl_buf cursor;
    pl_buf_init(&cursor, 0);
    pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (status == PL_OK && pl_list_walk_next(&walk, x)) {
        if (walk.n > 1)
            pl_buf_addc(&x->reply, ',');
        status = pl_prompt_write(&x->arena, &page.items[walk.n - 1], NULL, &x->reply, err);
    }
    write_cursor(&cursor, query, &page, &walk);
    pl_exchange_list_end(x, args, page.total, pl_buf_str(&cursor));
    return status == PL_OK ? cursor.status : status;
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_prompt_query query = {0};
    struct pl_error err = {0};
    struct pl_str words = pl_target_param(&x->target, "q");
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_query(words, PL_TERMS_TYPING, &terms);
    query.terms = pl_buf_str(&terms);
    if (!pl_exchange_page_args(x, &args) || !read_query(x, &args, &query))
        return;
    enum pl_status status = terms.status;
    if (status == PL_OK && words.len && !terms.len) {
        /* A query of punctuation only finds nothing. */
        pl_exchange_list_begin(x);
        pl_exchange_list_end(x, &args, 0, (struct pl_str){0});
    } else if (status == PL_OK) {
        status = list(x, &args, &query, &err);
    }
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void prompt_list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

typedef enum pl_status count_fn(struct pl_store *store, struct pl_arena *arena,
                                const struct pl_count_query *query, struct pl_count_page *ret_page,
                                struct pl_error *err);

/* Precedes the name in a cursor, because the root's name is empty. */
#define NAME_MARK "/"

static enum pl_status write_counts(struct pl_exchange *x, const struct pl_count_page *page)
{
    PL_CLEANUP_BUF struct pl_buf cursor;
    pl_buf_init(&cursor, 0);
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page->n_items, page->has_more, 0};
    while (pl_list_walk_next(&walk, x)) {
        pl_json_out_open(&out, '{');
        pl_put_text(&out, "name", page->items[walk.n - 1].name);
        pl_put_int(&out, "count", page->items[walk.n - 1].n);
        pl_json_out_close(&out, '}');
    }
    if (walk.has_more) {
        pl_buf_adds(&cursor, NAME_MARK);
        pl_buf_add(&cursor, page->items[walk.n - 1].name);
    }
    pl_exchange_sums_end(x, pl_buf_str(&cursor));
    return cursor.status;
}

static void count_work(struct pl_exchange *x, count_fn *count)
{
    struct pl_page_args args;
    struct pl_count_query query = {.user_id = x->caller.user_id};
    struct pl_count_page page;
    struct pl_error err = {0};
    if (!pl_exchange_sums_args(x, &args) ||
        (args.cursor.len && !pl_exchange_cursor_text(x, &args, NAME_MARK, &query.after)))
        return;
    query.limit = args.limit;
    enum pl_status status = count(store_of(x), &x->arena, &query, &page, &err);
    if (status == PL_OK)
        status = write_counts(x, &page);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void folders_work(struct pl_exchange *x)
{
    count_work(x, pl_store_prompt_folders);
}

static void tags_work(struct pl_exchange *x)
{
    count_work(x, pl_store_prompt_tags);
}

static void prompt_folders(struct pl_exchange *x)
{
    pl_exchange_work(x, folders_work, NULL);
}

static void prompt_tags(struct pl_exchange *x)
{
    pl_exchange_work(x, tags_work, NULL);
}

/* --- one ------------------------------------------------------------------------------------- */

static void get_work(struct pl_exchange *x)
{
    struct pl_prompt_row row;
    struct pl_prompt_version_row latest;
    struct pl_error err = {0};
    if (!pl_prompt_find(x, &row) || !pl_exchange_etag(x, row.revision) ||
        !pl_prompt_find_version(x, &row, (struct pl_str){0}, &latest))
        return;
    enum pl_status status = pl_prompt_write(&x->arena, &row, &latest, &x->reply, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void prompt_get(struct pl_exchange *x)
{
    pl_exchange_work(x, get_work, NULL);
}

static void plan_update(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row row;
    struct pl_prompt_version_row latest;
    struct pl_error err = {0};
    if (!pl_prompt_find(x, &row) || !pl_exchange_if_match(x, row.revision) ||
        !read_details(x, &row) || !pl_prompt_find_version(x, &row, (struct pl_str){0}, &latest))
        return;
    struct pl_prompt_text text = pl_prompt_text_of(&latest);
    enum pl_status status = pl_prompt_index(&x->arena, &text, &row);
    row.updated_ms = pl_clock_unix_ms();
    pl_batch_update_prompt(batch, &row);
    row.revision++;
    if (status == PL_OK)
        status = pl_prompt_write(&x->arena, &row, NULL, &x->reply, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else
        (void)pl_exchange_etag(x, row.revision);
}

static void prompt_update(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_update, NULL, NULL);
}

static void plan_delete(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    struct pl_prompt_row row;
    if (!pl_prompt_find(x, &row) || !pl_exchange_if_match(x, row.revision))
        return;
    /* The update checks the revision, so that a concurrent change is not deleted. */
    if (pl_http_header_get(x->head, "if-match").len)
        pl_batch_update_prompt(batch, &row);
    if (!pl_exchange_bury(x, batch, PL_DELETED_PROMPT, row.id))
        pl_batch_delete_prompt(batch, x->caller.user_id, row.id);
    x->status = 204;
}

static void prompt_delete(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_delete, NULL, NULL);
}

static const struct pl_route_param list_params[] = {
    PL_PARAMS_OF_PAGE,
    {"q", "{\"type\":\"string\"}", "Words of name, description, tags or text; best match first"},
    {"folder", "{\"type\":\"string\"}", "Only prompts in this folder and below"},
    {"tag", "{\"type\":\"string\"}", "Only prompts with this tag"},
    {"label", "{\"type\":\"string\"}", "Only prompts with this label"},
    {"pinned", "{\"type\":\"boolean\"}", "Only pinned prompts, or only others"},
    {NULL, NULL, NULL},
};

static const struct pl_route_param count_params[] = {
    PL_PARAMS_OF_SUMS,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_prompts[] = {
    {PL_METHOD_POST, "/api/prompts", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, prompt_create,
     "prompt_create", "Create a prompt with its first version", "prompts", "PromptCreate", "Prompt",
     201, NULL, .tells = "prompt:updated"},
    {PL_METHOD_GET, "/api/prompts", 0, PL_FOR_READ, prompt_list, "prompt_list",
     "List or search your prompts: pinned first, then by the last change", "prompts", NULL,
     "PromptList", 200, list_params},
    {PL_METHOD_GET, "/api/prompts/folders", 0, PL_FOR_READ, prompt_folders, "prompt_folders",
     "List the folders of your prompts", "prompts", NULL, "NamedCounts", 200, count_params},
    {PL_METHOD_GET, "/api/prompts/tags", 0, PL_FOR_READ, prompt_tags, "prompt_tags",
     "List the tags of your prompts", "prompts", NULL, "NamedCounts", 200, count_params},
    {PL_METHOD_GET, "/api/prompts/{id}", 0, PL_FOR_READ, prompt_get, "prompt_get",
     "Get a prompt and its latest version", "prompts", NULL, "Prompt", 200, NULL},
    {PL_METHOD_PATCH, "/api/prompts/{id}", 0, PL_FOR_ALL, prompt_update, "prompt_update",
     "Change name, description, folder, tags or pin", "prompts", "PromptUpdate", "Prompt", 200,
     NULL, .tells = "prompt:updated"},
    {PL_METHOD_DELETE, "/api/prompts/{id}", 0, PL_FOR_ALL, prompt_delete, "prompt_delete",
     "Delete a prompt with all its versions", "prompts", NULL, NULL, 204, NULL,
     .tells = "prompt:deleted"},
    {0},
};

/* The library of prompts: the record, its list and search, versions and labels. */
#include "store/library.h"
#include "store/store_int.h"

/* --- writing --------------------------------------------------------------------------------- */

static void add_named(struct pl_params *params, const struct pl_prompt_row *prompt)
{
    pl_params_id(params, prompt->id, "prompt_");
    pl_params_id(params, prompt->user_id, "user_");
    pl_params_text(params, prompt->name);
    pl_params_text(params, prompt->description.ptr ? prompt->description : PL_STR(""));
    pl_params_text(params, prompt->folder.ptr ? prompt->folder : PL_STR(""));
    pl_params_text(params, prompt->tags.ptr ? prompt->tags : PL_STR("[]"));
}

static void write_of(struct pl_batch *batch, enum pl_sql sql, const struct pl_prompt_row *prompt)
{
    pl_batch_write_of(batch, sql, prompt->id, "prompt_", prompt->user_id);
}

static void put_tags(struct pl_batch *batch, const struct pl_prompt_row *prompt)
{
    if (prompt->tags.len <= 2) /* [] */
        return;
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, prompt->id, "prompt_");
    pl_params_id(&params, prompt->user_id, "user_");
    pl_params_text(&params, prompt->tags);
    pl_batch_write(batch, PL_SQL_PROMPT_TAG, &params);
}

void pl_batch_create_prompt(struct pl_batch *batch, const struct pl_prompt_row *prompt)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    struct pl_params params = {.err = &batch->err};
    add_named(&params, prompt);
    pl_params_text(&params, prompt->directory.ptr ? prompt->directory : PL_STR(""));
    pl_params_terms(&params, prompt->terms.ptr ? prompt->terms : PL_STR(""), &terms);
    pl_params_int(&params, prompt->is_pinned);
    pl_params_int(&params, prompt->latest_version);
    pl_params_int(&params, prompt->created_ms);
    pl_params_int(&params, prompt->updated_ms);
    /* A new prompt with the id of a deleted one replaces it. */
    write_of(batch, PL_SQL_PROMPT_DROP, prompt);
    pl_batch_write(batch, PL_SQL_PROMPT_CREATE, &params);
    write_of(batch, PL_SQL_PROMPT_INDEX, prompt);
    put_tags(batch, prompt);
}

void pl_batch_update_prompt(struct pl_batch *batch, const struct pl_prompt_row *row)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    struct pl_params params = {.err = &batch->err};
    add_named(&params, row);
    pl_params_text(&params, row->directory);
    pl_params_terms(&params, row->terms, &terms);
    pl_params_int(&params, row->is_pinned);
    pl_params_int(&params, row->latest_version);
    pl_params_int(&params, row->updated_ms);
    pl_params_int(&params, row->revision);
    write_of(batch, PL_SQL_PROMPT_EXPECT, row);
    if (row->terms.ptr)
        write_of(batch, PL_SQL_PROMPT_UNINDEX, row);
    pl_batch_write(batch, PL_SQL_PROMPT_UPDATE, &params);
    if (row->terms.ptr)
        write_of(batch, PL_SQL_PROMPT_INDEX, row);
    write_of(batch, PL_SQL_PROMPT_UNTAG, row);
    put_tags(batch, row);
}

void pl_batch_put_prompt_version(struct pl_batch *batch, struct pl_str user_id,
                                 const struct pl_prompt_version_row *version)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, version->prompt_id, "prompt_");
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, version->version);
    pl_params_text(&params, version->type);
    pl_params_text(&params, version->content.ptr ? version->content : PL_STR(""));
    pl_params_text(&params, version->note.ptr ? version->note : PL_STR(""));
    pl_params_bytes(&params, version->hash);
    pl_params_int(&params, version->based_on);
    pl_params_int(&params, version->restored_from);
    pl_params_int(&params, version->created_ms);
    pl_batch_write(batch, PL_SQL_PROMPT_VERSION_PUT, &params);
    pl_blobs_use(batch, PL_BLOB_OF_PROMPT, version->prompt_id, version->content);
}

void pl_batch_put_prompt_label(struct pl_batch *batch, struct pl_str user_id,
                               struct pl_str prompt_id, struct pl_str label, int64_t version)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, prompt_id, "prompt_");
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, label);
    if (version)
        pl_params_int(&params, version);
    pl_batch_write(batch, version ? PL_SQL_PROMPT_LABEL_PUT : PL_SQL_PROMPT_LABEL_DELETE, &params);
}

void pl_batch_delete_prompt(struct pl_batch *batch, struct pl_str user_id, struct pl_str id)
{
    pl_batch_write_of(batch, PL_SQL_PROMPT_UNINDEX, id, "prompt_", user_id);
    pl_blobs_release(batch, PL_BLOB_OF_PROMPT, id, user_id);
    pl_batch_write_of(batch, PL_SQL_PROMPT_DELETE, id, "prompt_", user_id);
}

/* --- reading --------------------------------------------------------------------------------- */

/* SQL_PROMPT_COLUMNS */
static void read_prompt(struct pl_read *read, struct pl_prompt_row *ret_prompt)
{
    *ret_prompt = (struct pl_prompt_row){
        .id = pl_read_id(read, 0, "prompt_"),
        .user_id = pl_read_id(read, 1, "user_"),
        .name = pl_read_text(read, 2),
        .description = pl_read_text(read, 3),
        .folder = pl_read_text(read, 4),
        .tags = pl_read_text(read, 5),
        .labels = pl_read_text(read, 6),
        .type = pl_read_text(read, 7),
        .is_pinned = pl_read_int(read, 8),
        .latest_version = pl_read_int(read, 9),
        .revision = pl_read_int(read, 10),
        .created_ms = pl_read_int(read, 11),
        .updated_ms = pl_read_int(read, 12),
    };
}

enum pl_status pl_store_prompt_get(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str user_id, struct pl_str id,
                                   struct pl_prompt_row *ret_prompt, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, id, "prompt_");
    pl_params_id(&params, user_id, "user_");
    struct pl_prompt_row prompt = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_PROMPT_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_prompt(&read, &prompt);
    enum pl_status status = pl_read_end_one(&read, was_found, "prompt");
    if (status == PL_OK)
        *ret_prompt = prompt;
    return status;
}

enum pl_status pl_store_prompt_is_others(struct pl_store *store, struct pl_str user_id,
                                         struct pl_str id, bool *ret_is, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, id, "prompt_");
    pl_params_id(&params, user_id, "user_");
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_read read = pl_read_begin(store, &arena, err);
    int64_t n = pl_read_number(&read, PL_SQL_PROMPT_OF_OTHERS, &params);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_is = n > 0;
    return status;
}

/* SQL_PROMPT_FILTER */
static void filter(struct pl_params *params, const struct pl_prompt_query *query)
{
    pl_params_id(params, query->user_id, "user_");
    pl_params_text(params, query->has_folder && query->folder.ptr ? query->folder : PL_STR(""));
    pl_params_text(params, query->tag.ptr ? query->tag : PL_STR(""));
    pl_params_text(params, query->label.ptr ? query->label : PL_STR(""));
    pl_params_int(params, query->has_pinned ? query->is_pinned : -1);
}

/* SQL_PROMPT_PAGE. Pinned is 0 or 1; without a cursor the page begins at 2. */
static void page(struct pl_params *params, const struct pl_prompt_query *query)
{
    pl_params_int(params, query->has_cursor ? query->cursor_is_pinned : 2);
    pl_params_int(params, query->cursor_updated_ms);
    if (query->has_cursor)
        pl_params_id(params, query->cursor_id, "prompt_");
    else
        pl_params_bytes(params, PL_STR(""));
}

static void read_page(struct pl_read *read, enum pl_sql sql, const struct pl_params *params,
                      size_t limit, struct pl_prompt_page *ret_page)
{
    struct pl_list list = {.size = sizeof(struct pl_prompt_row)};
    pl_read_query(read, sql, params);
    while (pl_read_next_of(read, list.n, limit, &ret_page->has_more)) {
        struct pl_prompt_row *prompt = pl_read_add(read, &list);
        if (prompt)
            read_prompt(read, prompt);
    }
    ret_page->items = list.items;
    ret_page->n_items = list.n;
}

static void read_list(struct pl_read *read, const struct pl_prompt_query *query,
                      struct pl_prompt_page *ret_page)
{
    struct pl_params some = {.err = read->err}, all = {.err = read->err};
    filter(&some, query);
    page(&some, query);
    pl_params_int(&some, (int64_t)query->limit + 1);
    pl_params_int(&some, query->offset);
    filter(&all, query);
    read->max_bytes = query->max_bytes;
    read_page(read, PL_SQL_PROMPT_LIST, &some, query->limit, ret_page);
    ret_page->total = pl_read_number(read, PL_SQL_PROMPT_COUNT, &all);
}

/* --- search ---------------------------------------------------------------------------------- */

/* The number of rows before the page, limited so that sums do not overflow. */
static size_t skipped(const struct pl_prompt_query *query)
{
    int64_t offset = query->offset > 0 ? query->offset : 0;
    return (size_t)(offset < INT32_MAX ? offset : INT32_MAX);
}

/* Adds the rows that a statement finds by these terms, without duplicates. For rows before the page
 * only the id is kept. */
static void add_found(struct pl_read *read, enum pl_sql sql, const struct pl_prompt_query *query,
                      struct pl_str terms, size_t wanted, struct pl_list *list)
{
    const size_t from = skipped(query);
    struct pl_params params = {.err = read->err};
    filter(&params, query);
    pl_params_text(&params, terms);
    pl_params_int(&params, (int64_t)wanted);
    pl_read_query(read, sql, &params);
    const size_t n_before = list->n;
    while (list->n < wanted && pl_read_next(read)) {
        struct pl_prompt_row prompt = {.id = pl_read_id(read, 0, "prompt_")};
        const struct pl_prompt_row *all = list->items;
        bool is_there = false;
        for (size_t i = 0; i < n_before && !is_there; i++)
            is_there = pl_str_eq(all[i].id, prompt.id);
        struct pl_prompt_row *room = is_there ? NULL : pl_read_add(read, list);
        if (!room)
            continue;
        *room = prompt;
        if (list->n > from)
            read_prompt(read, room);
    }
}

/* The terms of the query are already normalised. */
static void search(struct pl_read *read, const struct pl_prompt_query *query,
                   struct pl_prompt_page *ret_page)
{
    PL_CLEANUP_BUF struct pl_buf rare;
    pl_buf_init(&rare, 0);
    struct pl_list list = {.size = sizeof(struct pl_prompt_row)};
    size_t from = skipped(query), wanted = from + query->limit + 1;
    size_t n_left =
        pl_read_rare_terms(read, PL_SQL_PROMPT_TERMS, query->user_id, query->terms, &rare);
    if (rare.len)
        add_found(read, PL_SQL_PROMPT_SEARCH, query, pl_buf_str(&rare), wanted, &list);
    if (n_left)
        add_found(read, PL_SQL_PROMPT_NEWEST, query, query->terms, wanted, &list);
    from = from < list.n ? from : list.n;
    ret_page->items = list.n ? (struct pl_prompt_row *)list.items + from : NULL;
    ret_page->n_items = list.n - from < query->limit ? list.n - from : query->limit;
    ret_page->has_more = list.n == wanted;
    ret_page->total = (int64_t)list.n;
    if (list.n < wanted)
        return;
    struct pl_params params = {.err = read->err};
    filter(&params, query);
    pl_params_text(&params, query->terms);
    pl_params_int(&params, (int64_t)(PL_FOUND_MAX > wanted ? PL_FOUND_MAX : wanted));
    ret_page->total = pl_read_number(read, PL_SQL_PROMPT_COUNT_FOUND, &params);
}

enum pl_status pl_store_prompt_list(struct pl_store *store, struct pl_arena *arena,
                                    const struct pl_prompt_query *query,
                                    struct pl_prompt_page *ret_page, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    struct pl_params checked = {.err = err};
    filter(&checked, query);
    pl_params_terms(&checked, query->terms, &terms);
    if (query->has_cursor)
        pl_params_id(&checked, query->cursor_id, "prompt_");
    if (checked.status != PL_OK)
        return checked.status;
    struct pl_prompt_page result = {0};
    struct pl_prompt_query clean = *query;
    clean.terms = pl_buf_str(&terms);
    struct pl_read read = pl_read_begin(store, arena, err);
    if (!query->terms.len)
        read_list(&read, query, &result);
    else if (clean.terms.len)
        search(&read, &clean, &result);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

enum pl_status pl_store_prompt_walk(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str user_id, struct pl_str after_id, size_t limit,
                                    struct pl_prompt_page *ret_page, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_prompt_page result = {0};
    pl_params_id(&params, user_id, "user_");
    if (after_id.len)
        pl_params_id(&params, after_id, "prompt_");
    else
        pl_params_bytes(&params, PL_STR(""));
    pl_params_int(&params, (int64_t)limit + 1);
    struct pl_read read = pl_read_begin(store, arena, err);
    read_page(&read, PL_SQL_PROMPT_WALK, &params, limit, &result);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

enum pl_status pl_store_prompt_directory(struct pl_store *store, struct pl_str user_id,
                                         struct pl_str directory, struct pl_str before_id,
                                         bool *ret_is_there, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, directory);
    pl_params_id_bound(&params, before_id, "prompt_");
    struct pl_read read = pl_read_begin(store, NULL, err);
    bool is_there = pl_read_number(&read, PL_SQL_PROMPT_DIRECTORY, &params) > 0;
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_is_there = is_there;
    return status;
}

static enum pl_status read_counts(struct pl_store *store, struct pl_arena *arena, enum pl_sql sql,
                                  const struct pl_count_query *query,
                                  struct pl_count_page *ret_page, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_count_page result = {0};
    pl_params_id(&params, query->user_id, "user_");
    pl_params_int(&params, query->after.ptr != NULL);
    pl_params_text(&params, query->after.ptr ? query->after : PL_STR(""));
    pl_params_int(&params, (int64_t)query->limit + 1);
    struct pl_list list = {.size = sizeof(struct pl_named_count)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, sql, &params);
    while (pl_read_next_of(&read, list.n, query->limit, &result.has_more)) {
        struct pl_named_count *count = pl_read_add(&read, &list);
        if (count)
            *count = (struct pl_named_count){pl_read_text(&read, 0), pl_read_int(&read, 1)};
    }
    result.items = list.items;
    result.n_items = list.n;
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

enum pl_status pl_store_prompt_folders(struct pl_store *store, struct pl_arena *arena,
                                       const struct pl_count_query *query,
                                       struct pl_count_page *ret_page, struct pl_error *err)
{
    return read_counts(store, arena, PL_SQL_PROMPT_FOLDERS, query, ret_page, err);
}

enum pl_status pl_store_prompt_tags(struct pl_store *store, struct pl_arena *arena,
                                    const struct pl_count_query *query,
                                    struct pl_count_page *ret_page, struct pl_error *err)
{
    return read_counts(store, arena, PL_SQL_PROMPT_TAGS, query, ret_page, err);
}

/* --- versions -------------------------------------------------------------------------------- */

/* SQL_VERSION_COLUMNS */
static void read_version(struct pl_read *read, struct pl_str prompt_id,
                         struct pl_prompt_version_row *ret_version)
{
    *ret_version = (struct pl_prompt_version_row){
        .prompt_id = prompt_id,
        .version = pl_read_int(read, 0),
        .type = pl_read_text(read, 1),
        .content = pl_read_text(read, 2),
        .note = pl_read_text(read, 3),
        .hash = pl_read_text(read, 4),
        .based_on = pl_read_int(read, 5),
        .restored_from = pl_read_int(read, 6),
        .created_ms = pl_read_int(read, 7),
    };
}

enum pl_status pl_store_prompt_version_get(struct pl_store *store, struct pl_arena *arena,
                                           struct pl_str user_id, struct pl_str prompt_id,
                                           int64_t version,
                                           struct pl_prompt_version_row *ret_version,
                                           struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, prompt_id, "prompt_");
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, version);
    struct pl_prompt_version_row row = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_PROMPT_VERSION_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_version(&read, pl_read_keep(&read, prompt_id), &row);
    enum pl_status status = pl_read_end_one(&read, was_found, "version of a prompt");
    if (status == PL_OK)
        *ret_version = row;
    return status;
}

/* A version may be long: one read is limited, and callers ask again for the rest. */
enum { VERSION_PAGE_BYTES = 1 << 20 };

enum pl_status pl_store_prompt_version_list(struct pl_store *store, struct pl_arena *arena,
                                            struct pl_str user_id, struct pl_str prompt_id,
                                            int64_t before, size_t limit,
                                            struct pl_prompt_version_page *ret_page,
                                            struct pl_error *err)
{
    struct pl_params some = {0}, all = {0};
    pl_params_id(&some, prompt_id, "prompt_");
    pl_params_id(&some, user_id, "user_");
    pl_params_int(&some, before);
    pl_params_int(&some, (int64_t)limit + 1);
    pl_params_id(&all, prompt_id, "prompt_");
    pl_params_id(&all, user_id, "user_");
    struct pl_prompt_version_page result = {0};
    struct pl_list list = {.size = sizeof(struct pl_prompt_version_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    struct pl_str id = pl_read_keep(&read, prompt_id);
    read.max_bytes = VERSION_PAGE_BYTES;
    pl_read_query(&read, PL_SQL_PROMPT_VERSION_LIST, &some);
    while (pl_read_next_of(&read, list.n, limit, &result.has_more)) {
        struct pl_prompt_version_row *version = pl_read_add(&read, &list);
        if (version)
            read_version(&read, id, version);
    }
    result.items = list.items;
    result.n_items = list.n;
    result.total = pl_read_number(&read, PL_SQL_PROMPT_VERSION_COUNT, &all);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

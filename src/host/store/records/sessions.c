/* Sessions: the record, its list, and the sessions that a crash left unsettled. */
#include "store/store_int.h"

/* The columns of a change, in the order of both statements. */
static void add_changing(struct pl_params *params, const struct pl_session_record *session,
                         bool is_new)
{
    pl_params_text(params, session->intent.ptr ? session->intent : PL_STR(""));
    pl_params_text(params, session->solution_id);
    pl_params_text(params, session->biz_role_id);
    pl_params_text(params, session->model);
    pl_params_text(params, pl_str_of(pl_session_status_text(session->status)));
    if (is_new)
        pl_params_int(params, session->created_ms);
    pl_params_int(params, session->updated_ms);
    pl_params_int(params, session->shared);
    pl_params_int(params, session->is_pinned);
    pl_params_int(params, session->memory_enabled);
    pl_params_int(params, session->is_persistent);
    pl_params_text(params, session->replay_state);
    pl_params_int(params, session->version);
    pl_params_int(params, session->epoch);
    pl_params_int(params, session->next_event);
    pl_params_int(params, session->next_entry);
    pl_params_int(params, session->is_planning);
}

/* The model settings of the session. */
static void add_settings(struct pl_params *params, const struct pl_session_record *session)
{
    pl_params_text(params, session->system_prompt);
    pl_params_text(params, session->settings);
    pl_params_text(params, session->tools);
    pl_params_text(params, session->handoff);
    pl_params_text(params, session->chat_override);
}

static void use_blobs(struct pl_batch *batch, const struct pl_session_record *session)
{
    const struct pl_str texts[] = {session->system_prompt, session->settings, session->tools,
                                   session->handoff, session->chat_override};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pl_blobs_use(batch, PL_BLOB_OF_SESSION, session->id, texts[i]);
}

static void create_session(struct pl_batch *batch, const struct pl_session_record *session)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, session->id, "sess_");
    pl_params_id(&params, session->user_id, "user_");
    add_changing(&params, session, true);
    add_settings(&params, session);
    pl_params_text(&params, session->source.len ? session->source : PL_STR("chat"));
    pl_params_text(&params, session->allowed);
    pl_batch_write(batch, PL_SQL_SESSION_CREATE, &params);
    use_blobs(batch, session);
}

/* If the session has been deleted in the meantime, the batch fails. */
static void expect_session(struct pl_batch *batch, const struct pl_session_record *session)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, session->id, "sess_");
    pl_batch_write(batch, PL_SQL_SESSION_EXPECT, &params);
}

static void update_session(struct pl_batch *batch, const struct pl_session_record *session)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, session->id, "sess_");
    add_changing(&params, session, false);
    pl_params_text(&params, session->source);
    pl_batch_write(batch, PL_SQL_SESSION_UPDATE, &params);
    expect_session(batch, session);
}

static void update_settings(struct pl_batch *batch, const struct pl_session_record *session)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, session->id, "sess_");
    add_settings(&params, session);
    pl_params_text(&params, session->allowed);
    pl_batch_write(batch, PL_SQL_SESSION_SETTINGS, &params);
    expect_session(batch, session);
    use_blobs(batch, session);
}

/* SQL_SESSION_COLUMNS */
static void read_session(struct pl_read *read, struct pl_session_record *ret_session)
{
    *ret_session = (struct pl_session_record){
        .id = pl_read_id(read, 0, "sess_"),
        .user_id = pl_read_id(read, 1, "user_"),
        .intent = pl_read_text(read, 2),
        .solution_id = pl_read_text(read, 3),
        .biz_role_id = pl_read_text(read, 4),
        .model = pl_read_text(read, 5),
        .status = pl_session_status_of(read->db->ops->column(read->db, 6).bytes),
        .created_ms = pl_read_int(read, 7),
        .updated_ms = pl_read_int(read, 8),
        .shared = pl_read_int(read, 9),
        .is_pinned = pl_read_int(read, 10),
        .memory_enabled = pl_read_int(read, 11),
        .is_persistent = pl_read_int(read, 12),
        .replay_state = pl_read_text(read, 13),
        .version = pl_read_int(read, 14),
        .epoch = pl_read_int(read, 15),
        .next_event = pl_read_int(read, 16),
        .next_entry = pl_read_int(read, 17),
        .is_planning = pl_read_int(read, 18),
        .system_prompt = pl_read_text(read, 19),
        .settings = pl_read_text(read, 20),
        .tools = pl_read_text(read, 21),
        .handoff = pl_read_text(read, 22),
        .chat_override = pl_read_text(read, 23),
        .source = pl_read_text(read, 24),
        .allowed = pl_read_text(read, 25),
    };
}

void pl_batch_put_row(struct pl_batch *batch, const struct pl_session_row *row)
{
    switch (row->kind) {
    case PL_ROW_NEW_SESSION:
        create_session(batch, &row->session);
        break;
    case PL_ROW_SESSION:
        update_session(batch, &row->session);
        break;
    case PL_ROW_SETTINGS:
        update_settings(batch, &row->session);
        break;
    case PL_ROW_TURN:
        pl_turn_put(batch, &row->turn);
        break;
    case PL_ROW_QUESTION:
        pl_question_put(batch, &row->question);
        break;
    case PL_ROW_QUEUED:
        pl_queued_put(batch, &row->queued);
        break;
    case PL_ROW_UNQUEUED:
        pl_queued_delete(batch, &row->queued);
        break;
    }
}

void pl_batch_delete_session(struct pl_batch *batch, struct pl_str user_id, struct pl_str id)
{
    pl_blobs_release(batch, PL_BLOB_OF_SESSION, id, user_id);
    pl_batch_write_of(batch, PL_SQL_SESSION_DELETE, id, "sess_", user_id);
}

enum pl_status pl_store_session_get(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str user_id, struct pl_str id,
                                    struct pl_session_record *ret_session, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, id, "sess_");
    pl_params_id(&params, user_id, "user_");
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_SESSION_GET, &params);
    struct pl_session_record session = {0};
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_session(&read, &session);
    enum pl_status status = pl_read_end_one(&read, was_found, "session");
    if (status == PL_OK)
        *ret_session = session;
    return status;
}

/* Reads at most `limit` records; one more row sets has_more. */
static void read_page(struct pl_read *read, size_t limit, struct pl_session_page *page)
{
    struct pl_list list = {.size = sizeof(struct pl_session_record)};
    while (pl_read_next_of(read, list.n, limit, &page->has_more)) {
        struct pl_session_record *session = pl_read_add(read, &list);
        if (session)
            read_session(read, session);
    }
    page->items = list.items;
    page->n_items = list.n;
}

/* SQL_SESSION_FILTER */
static void filter(struct pl_params *params, const struct pl_session_query *query,
                   const struct pl_buf *pattern)
{
    bool has_status = query->status != PL_SESSION_STATUS_COUNT;
    pl_params_text(params,
                   has_status ? pl_str_of(pl_session_status_text(query->status)) : PL_STR(""));
    pl_params_int(params, query->has_pinned ? query->is_pinned : -1);
    pl_params_text(params, pattern->len ? pl_buf_str(pattern) : PL_STR(""));
    pl_params_text(params, query->solution_id.len ? query->solution_id : PL_STR(""));
    pl_params_text(params, query->biz_role_id.len ? query->biz_role_id : PL_STR(""));
}

/* SQL_SESSION_PAGE. Pinned is 0 or 1; without a cursor the page begins at 2. */
static void page(struct pl_params *params, const struct pl_session_query *query)
{
    pl_params_int(params, query->has_cursor ? query->cursor_is_pinned : 2);
    pl_params_int(params, query->cursor_updated_ms);
    if (query->has_cursor)
        pl_params_id(params, query->cursor_id, "sess_");
    else
        pl_params_bytes(params, PL_STR(""));
    pl_params_int(params, (int64_t)query->limit + 1);
    pl_params_int(params, query->offset);
}

enum pl_status pl_store_session_list(struct pl_store *store, struct pl_arena *arena,
                                     const struct pl_session_query *query,
                                     struct pl_session_page *ret_page, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf pattern;
    pl_buf_init(&pattern, 0);
    pl_pattern_write(query->text, &pattern);
    if (pattern.status != PL_OK)
        return pl_fail(err, pattern.status, "out of memory while reading the list of sessions");
    bool has_user = query->user_id.ptr;
    struct pl_params some = {.err = err}, all = {.err = err};
    filter(&some, query, &pattern);
    page(&some, query);
    filter(&all, query, &pattern);
    if (has_user) {
        pl_params_id(&some, query->user_id, "user_");
        pl_params_id(&all, query->user_id, "user_");
    }
    if (some.status != PL_OK)
        return some.status;
    struct pl_session_page result = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    read.max_bytes = query->max_bytes;
    pl_read_query(&read, has_user ? PL_SQL_SESSION_LIST : PL_SQL_SESSION_LIST_ALL, &some);
    read_page(&read, query->limit, &result);
    result.total =
        pl_read_number(&read, has_user ? PL_SQL_SESSION_COUNT : PL_SQL_SESSION_COUNT_ALL, &all);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

/* An id begins with its creation time (RFC 9562, version 7), and nothing changes before it is
 * created. So sessions created after before_ms need not be read. */
enum pl_status pl_store_session_expired(struct pl_store *store, struct pl_arena *arena,
                                        struct pl_str after, int64_t before_ms, size_t limit,
                                        struct pl_session_page *ret_page, struct pl_error *err)
{
    struct pl_params params = {.err = err};
    char bound[16] = {0};
    for (size_t i = 0; i < 6; i++)
        bound[i] = (char)((uint64_t)before_ms >> (40 - 8 * i));
    if (after.len)
        pl_params_id(&params, after, "sess_");
    else
        pl_params_bytes(&params, PL_STR(""));
    pl_params_bytes(&params, (struct pl_str){bound, sizeof bound});
    pl_params_int(&params, before_ms);
    pl_params_int(&params, (int64_t)limit + 1);
    if (params.status != PL_OK)
        return params.status;
    struct pl_session_page result = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_SESSION_EXPIRED, &params);
    read_page(&read, limit, &result);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

static enum pl_status read_behind(struct pl_store *store, struct pl_arena *arena,
                                  enum pl_sql list_sql, enum pl_sql count_sql, struct pl_str after,
                                  size_t limit, struct pl_session_page *ret_page,
                                  struct pl_error *err)
{
    struct pl_params params = {.err = err};
    if (after.len)
        pl_params_id(&params, after, "sess_");
    else
        pl_params_bytes(&params, PL_STR(""));
    pl_params_int(&params, (int64_t)limit + 1);
    if (params.status != PL_OK)
        return params.status;
    struct pl_session_page result = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, list_sql, &params);
    read_page(&read, limit, &result);
    result.total = pl_read_number(&read, count_sql, &(struct pl_params){0});
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}

enum pl_status pl_store_session_unsettled(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str after, size_t limit,
                                          struct pl_session_page *ret_page, struct pl_error *err)
{
    return read_behind(store, arena, PL_SQL_SESSION_UNSETTLED, PL_SQL_SESSION_COUNT_UNSETTLED,
                       after, limit, ret_page, err);
}

enum pl_status pl_store_session_queued(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_str after, size_t limit,
                                       struct pl_session_page *ret_page, struct pl_error *err)
{
    return read_behind(store, arena, PL_SQL_SESSION_QUEUED, PL_SQL_SESSION_COUNT_QUEUED, after,
                       limit, ret_page, err);
}

/* Turns, and the questions and queue of an unfinished one. */
#include "store/store_int.h"

static struct pl_str null_if_empty(struct pl_str text)
{
    return text.len ? text : (struct pl_str){NULL, 0};
}

void pl_turn_put(struct pl_batch *batch, const struct pl_turn_row *turn)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, turn->session_id, "sess_");
    pl_params_int(&params, turn->sequence);
    pl_params_id(&params, turn->turn_id, "turn_");
    pl_params_loop(&params, turn->loop_id);
    pl_params_text(&params, pl_str_of(pl_turn_status_text(turn->status)));
    pl_params_int(&params, turn->is_compaction);
    pl_params_int(&params, turn->last_event);
    pl_params_text(&params, null_if_empty(turn->client_message_id));
    pl_params_int(&params, turn->created_ms);
    pl_params_text(&params, turn->body);
    pl_batch_write(batch, PL_SQL_TURN_PUT, &params);
    pl_blobs_use(batch, PL_BLOB_OF_SESSION, turn->session_id, turn->body);
}

/* SQL_TURN_COLUMNS */
static void read_turn(struct pl_read *read, struct pl_str session_id, struct pl_turn_row *ret_turn)
{
    *ret_turn = (struct pl_turn_row){
        .session_id = session_id,
        .sequence = pl_read_int(read, 0),
        .turn_id = pl_read_id(read, 1, "turn_"),
        .loop_id = pl_read_loop(read, 2),
        .status = pl_turn_status_of(read->db->ops->column(read->db, 3).bytes),
        .is_compaction = pl_read_int(read, 4),
        .last_event = pl_read_int(read, 5),
        .client_message_id = pl_read_text(read, 6),
        .created_ms = pl_read_int(read, 7),
        .body = pl_read_text(read, 8),
    };
}

static void reverse(struct pl_turn_row *turns, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct pl_turn_row turn = turns[i];
        turns[i] = turns[n - 1 - i];
        turns[n - 1 - i] = turn;
    }
}

/* [newest first][only changed ones][of one loop] */
static const enum pl_sql listings[2][2][2] = {
    {{PL_SQL_TURN_OLDEST, PL_SQL_TURN_OLDEST_OF_LOOP},
     {PL_SQL_TURN_OLDEST_CHANGED, PL_SQL_TURN_OLDEST_CHANGED_OF_LOOP}},
    {{PL_SQL_TURN_NEWEST, PL_SQL_TURN_NEWEST_OF_LOOP},
     {PL_SQL_TURN_NEWEST_CHANGED, PL_SQL_TURN_NEWEST_CHANGED_OF_LOOP}},
};

enum pl_status pl_store_turn_list(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_turn_query *query, struct pl_turn_page *ret_page,
                                  struct pl_error *err)
{
    bool is_changed = query->changed_after >= 0, is_loop = query->loop_id.len;
    struct pl_params params = {0};
    pl_params_id(&params, query->session_id, "sess_");
    pl_params_int(&params, query->after);
    pl_params_int(&params, query->before);
    pl_params_int(&params, query->is_terminal_only);
    pl_params_int(&params, (int64_t)query->limit + 1);
    if (is_changed)
        pl_params_int(&params, query->changed_after);
    if (is_loop)
        pl_params_loop(&params, query->loop_id);
    struct pl_turn_page page = {0};
    struct pl_list list = {.size = sizeof(struct pl_turn_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    struct pl_str session_id = pl_read_keep(&read, query->session_id);
    read.max_bytes = query->max_bytes;
    pl_read_query(&read, listings[query->is_newest_first][is_changed][is_loop], &params);
    while (pl_read_next_of(&read, list.n, query->limit, &page.has_more)) {
        struct pl_turn_row *turn = pl_read_add(&read, &list);
        if (turn)
            read_turn(&read, session_id, turn);
    }
    page.items = list.items;
    page.n_items = list.n;
    if (query->is_newest_first)
        reverse(page.items, page.n_items);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = page;
    return status;
}

static enum pl_status get_turn(struct pl_store *store, struct pl_arena *arena, enum pl_sql sql,
                               const struct pl_params *params, struct pl_str session_id,
                               struct pl_turn_row *ret_turn, struct pl_error *err)
{
    struct pl_turn_row turn = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, sql, params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_turn(&read, pl_read_keep(&read, session_id), &turn);
    enum pl_status status = pl_read_end_one(&read, was_found, "turn");
    if (status == PL_OK)
        *ret_turn = turn;
    return status;
}

enum pl_status pl_store_turn_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str session_id, struct pl_str turn_id,
                                 struct pl_turn_row *ret_turn, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, session_id, "sess_");
    pl_params_id(&params, turn_id, "turn_");
    return get_turn(store, arena, PL_SQL_TURN_GET, &params, session_id, ret_turn, err);
}

enum pl_status pl_store_turn_last_compaction(struct pl_store *store, struct pl_arena *arena,
                                             struct pl_str session_id, struct pl_str loop_id,
                                             struct pl_turn_row *ret_turn, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, session_id, "sess_");
    pl_params_loop(&params, loop_id);
    return get_turn(store, arena, PL_SQL_TURN_LAST_COMPACTION, &params, session_id, ret_turn, err);
}

enum pl_status pl_store_client_message_find(struct pl_store *store, struct pl_arena *arena,
                                            struct pl_str session_id,
                                            struct pl_str client_message_id,
                                            struct pl_str *ret_turn_id, struct pl_str *ret_body,
                                            struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, session_id, "sess_");
    pl_params_text(&params, null_if_empty(client_message_id));
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_CLIENT_MESSAGE_FIND, &params);
    struct pl_str turn_id = {NULL, 0}, body = {NULL, 0};
    bool was_found = pl_read_next(&read);
    if (was_found) {
        turn_id = pl_read_id(&read, 0, "turn_");
        body = pl_read_text(&read, 1);
    }
    enum pl_status status = pl_read_end_one(&read, was_found, "message");
    if (status == PL_OK) {
        *ret_turn_id = turn_id;
        *ret_body = body;
    }
    return status;
}

void pl_question_put(struct pl_batch *batch, const struct pl_question_row *question)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, question->session_id, "sess_");
    pl_params_text(&params, question->tool_call_id);
    pl_params_id(&params, question->turn_id, "turn_");
    pl_params_loop(&params, question->loop_id);
    pl_params_text(&params, question->kind);
    pl_params_text(&params, question->questions);
    pl_params_text(&params, question->state);
    pl_params_text(&params, question->answer);
    pl_params_int(&params, question->asked_ms);
    pl_params_int(&params, question->settled_ms);
    pl_batch_write(batch, PL_SQL_QUESTION_PUT, &params);
    pl_blobs_use(batch, PL_BLOB_OF_SESSION, question->session_id, question->questions);
    pl_blobs_use(batch, PL_BLOB_OF_SESSION, question->session_id, question->answer);
}

/* SQL_QUESTION */
static void read_question(struct pl_read *read, struct pl_str session_id,
                          struct pl_question_row *ret_question)
{
    *ret_question = (struct pl_question_row){
        .session_id = session_id,
        .tool_call_id = pl_read_text(read, 0),
        .turn_id = pl_read_id(read, 1, "turn_"),
        .loop_id = pl_read_loop(read, 2),
        .kind = pl_read_text(read, 3),
        .questions = pl_read_text(read, 4),
        .state = pl_read_text(read, 5),
        .answer = pl_read_text(read, 6),
        .asked_ms = pl_read_int(read, 7),
        .settled_ms = pl_read_int(read, 8),
    };
}

enum pl_status pl_store_question_get(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str session_id, struct pl_str tool_call_id,
                                     struct pl_question_row *ret_question, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, session_id, "sess_");
    pl_params_text(&params, tool_call_id);
    struct pl_question_row question = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_QUESTION_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_question(&read, pl_read_keep(&read, session_id), &question);
    enum pl_status status = pl_read_end_one(&read, was_found, "question");
    if (status == PL_OK)
        *ret_question = question;
    return status;
}

void pl_queued_put(struct pl_batch *batch, const struct pl_queued_row *queued)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, queued->session_id, "sess_");
    pl_params_int(&params, queued->position);
    pl_params_text(&params, null_if_empty(queued->client_message_id));
    pl_params_text(&params, queued->body);
    pl_batch_write(batch, PL_SQL_QUEUED_CREATE, &params);
    pl_blobs_use(batch, PL_BLOB_OF_SESSION, queued->session_id, queued->body);
}

void pl_queued_delete(struct pl_batch *batch, const struct pl_queued_row *queued)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, queued->session_id, "sess_");
    pl_params_int(&params, queued->position);
    pl_batch_write(batch, PL_SQL_QUEUED_DELETE, &params);
}

static void read_open_turns(struct pl_read *read, const struct pl_params *params,
                            struct pl_str session_id, struct pl_open_rows *rows)
{
    struct pl_list list = {.size = sizeof *rows->turns};
    pl_read_query(read, PL_SQL_TURN_OPEN, params);
    while (pl_read_next(read)) {
        struct pl_turn_row *turn = pl_read_add(read, &list);
        if (turn)
            read_turn(read, session_id, turn);
    }
    rows->turns = list.items;
    rows->n_turns = list.n;
}

static void read_pending(struct pl_read *read, const struct pl_params *params,
                         struct pl_str session_id, struct pl_open_rows *rows)
{
    struct pl_list list = {.size = sizeof *rows->questions};
    pl_read_query(read, PL_SQL_QUESTION_PENDING, params);
    while (pl_read_next(read)) {
        struct pl_question_row *question = pl_read_add(read, &list);
        if (question)
            read_question(read, session_id, question);
    }
    rows->questions = list.items;
    rows->n_questions = list.n;
}

static void read_queue(struct pl_read *read, const struct pl_params *params,
                       struct pl_str session_id, struct pl_open_rows *rows)
{
    struct pl_list list = {.size = sizeof *rows->queued};
    pl_read_query(read, PL_SQL_QUEUED_LIST, params);
    while (pl_read_next(read)) {
        struct pl_queued_row *queued = pl_read_add(read, &list);
        if (queued)
            *queued = (struct pl_queued_row){
                .session_id = session_id,
                .position = pl_read_int(read, 0),
                .client_message_id = pl_read_text(read, 1),
                .body = pl_read_text(read, 2),
            };
    }
    rows->queued = list.items;
    rows->n_queued = list.n;
}

enum pl_status pl_store_open_rows(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str session_id, struct pl_open_rows *ret_rows,
                                  struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, session_id, "sess_");
    struct pl_open_rows rows = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    struct pl_str id = pl_read_keep(&read, session_id);
    read_open_turns(&read, &params, id, &rows);
    read_pending(&read, &params, id, &rows);
    read_queue(&read, &params, id, &rows);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_rows = rows;
    return status;
}

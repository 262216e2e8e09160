#include "server/copying.h"

enum pl_status pl_turn_walk(struct pl_turn_walk *walk, struct pl_store *store, struct pl_error *err)
{
    walk->query.max_bytes = PL_PAGE_BYTES; /* at once: turns may be long */
    for (;;) {
        struct pl_arena arena PL_CLEANUP_ARENA;
        pl_arena_init(&arena, 0);
        struct pl_turn_page page = {0};
        enum pl_status status = pl_store_turn_list(store, &arena, &walk->query, &page, err);
        for (size_t i = 0; i < page.n_items && status == PL_OK && !walk->is_over; i++) {
            walk->query.after = page.items[i].sequence;
            status = walk->each(walk, &page.items[i]);
        }
        if (status != PL_OK || walk->is_over || !page.has_more)
            return status;
    }
}

/* First, since its turns belong to it; and at the end, when all of it is known. */
static void put_session(struct pl_copying *copying, enum pl_row_kind kind)
{
    struct pl_session_row row = {.kind = kind, .session = copying->record};
    pl_batch_put_row(copying->batch, &row);
}

enum pl_status pl_copying_begin(struct pl_copying *copying, struct pl_exchange *x)
{
    *copying = (struct pl_copying){.seed = pl_seed_draw()};
    copying->batch = pl_batch_create();
    copying->id = pl_id_take(&copying->seed, "sess_");
    struct pl_str id = pl_arena_dup(&x->arena, pl_str_of(copying->id.text));
    if (!copying->batch || !id.ptr) {
        pl_batch_destroy(copying->batch);
        copying->batch = NULL;
        return PL_NOMEM;
    }
    copying->record = (struct pl_session_record){
        .id = id,
        .user_id = x->caller.user_id,
        .intent = PL_STR(""),
        .status = PL_SESSION_COMPLETED,
        .created_ms = copying->seed.unix_ms,
        .updated_ms = copying->seed.unix_ms,
        .memory_enabled = true,
        .version = 1,
        .epoch = 1,
        .next_event = 1,
    };
    put_session(copying, PL_ROW_NEW_SESSION);
    return PL_OK;
}

void pl_copying_add(struct pl_copying *copying, const struct pl_turn_row *turn)
{
    struct pl_id turn_id = pl_id_take(&copying->seed, "turn_");
    struct pl_session_row row = {.kind = PL_ROW_TURN, .turn = *turn};
    row.turn.session_id = copying->record.id;
    row.turn.sequence = copying->record.next_entry++;
    row.turn.turn_id = pl_str_of(turn_id.text);
    row.turn.last_event = 0;
    pl_batch_put_row(copying->batch, &row);
}

enum pl_status pl_copying_add_document(struct pl_copying *copying, struct pl_arena *arena,
                                       struct pl_str turns, struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_json_opts opts = pl_json_own;
    opts.refuses_nul = true;
    enum pl_status status = pl_json_parse(arena, turns, &opts, &doc, err);
    if (status != PL_OK)
        return status;
    for (const struct pl_json_node *turn = pl_json_first(doc.root);
         turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn)) {
        struct pl_turn_row row;
        status = pl_turn_row_read(arena, &doc, turn, copying->record.created_ms, &row, err);
        if (status == PL_OK)
            pl_copying_add(copying, &row);
    }
    return status;
}

struct pl_batch *pl_copying_take(struct pl_copying *copying)
{
    struct pl_batch *batch = copying->batch;
    put_session(copying, PL_ROW_SESSION);
    copying->batch = NULL;
    return batch;
}

void pl_copying_finish(struct pl_copying *copying, struct pl_exchange *x)
{
    put_session(copying, PL_ROW_SESSION);
    x->status = 201;
    pl_exchange_header(x, "Location", "/api/sessions/%s", copying->id.text);
    (void)pl_exchange_etag(x, copying->record.version);
    pl_session_record_write(&copying->record, &x->reply);
    pl_exchange_commit(x, copying->batch, NULL);
}

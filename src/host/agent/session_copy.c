/* Makes a session's row and its turns from existing turns: new ids, the same bodies. One batch has
 * all of it. */
#include "agent/session_copy.h"

#include "base/map.h"
#include "json/text.h"

enum pl_status pl_turn_walk(struct pl_turn_walk *walk, struct pl_store *store, struct pl_error *err)
{
    walk->query.max_bytes = PL_PAGE_BYTES; /* per page: turns may be long */
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

/* Put first, since its turns belong to it; and at the end, when all of it is known. */
static void put_session(struct pl_session_copy *copying, enum pl_row_kind kind)
{
    struct pl_session_row row = {.kind = kind, .session = copying->record};
    pl_batch_put_row(copying->batch, &row);
}

enum pl_status pl_session_copy_begin(struct pl_session_copy *copying, struct pl_exchange *x)
{
    *copying = (struct pl_session_copy){.seed = pl_seed_draw()};
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

void pl_session_copy_add(struct pl_session_copy *copying, const struct pl_turn_row *turn)
{
    struct pl_id turn_id = pl_id_take(&copying->seed, "turn_");
    struct pl_session_row row = {.kind = PL_ROW_TURN, .turn = *turn};
    row.turn.session_id = copying->record.id;
    row.turn.sequence = copying->record.next_entry++;
    row.turn.turn_id = pl_str_of(turn_id.text);
    row.turn.last_event = 0;
    pl_batch_put_row(copying->batch, &row);
}

/* The title: from its first message that has a text. */
static enum pl_status read_title(struct pl_session_copy *copying, struct pl_arena *arena,
                                 const struct pl_json_doc *doc, const struct pl_json_node *turn)
{
    const struct pl_json_node *role = pl_json_get(doc, turn, PL_STR("role"));
    const struct pl_json_node *blocks = pl_json_get(doc, turn, PL_STR("blocks"));
    if (copying->title.len || !blocks || !pl_json_is(role, PL_JSON_STRING) ||
        !pl_json_text_is(doc, role, PL_STR("user")))
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf title;
    pl_buf_init(&title, 0);
    enum pl_status status = pl_message_title(doc, blocks, &title);
    if (status != PL_OK || !title.len)
        return status;
    copying->title = pl_arena_dup(arena, pl_buf_str(&title));
    return copying->title.ptr ? PL_OK : PL_NOMEM;
}

/* A session finds a call by its id, so no two calls of a turn may have the same one. */
static enum pl_status refuse_same_ids(struct pl_arena *arena, const struct pl_json_doc *doc,
                                      const struct pl_json_node *turn, size_t at,
                                      struct pl_error *err)
{
    const struct pl_json_node *calls = pl_json_member(doc, turn, "tool_calls", PL_JSON_ARRAY);
    struct pl_map seen = {0};
    enum pl_status status = PL_OK;
    size_t n = 0;
    for (const struct pl_json_node *call = calls ? pl_json_first(calls) : NULL;
         call && call < pl_json_end(calls) && status == PL_OK; call = pl_json_next(call), n++) {
        const struct pl_json_node *node = pl_json_member(doc, call, "id", PL_JSON_STRING);
        struct pl_str id = {0};
        bool is_new = true;
        if (node)
            status = pl_json_text(arena, doc, node, &id);
        if (status == PL_OK && node && !pl_map_put(&seen, id, &is_new))
            status = PL_NOMEM;
        if (is_new)
            continue;
        status = pl_fail(err, PL_INVALID,
                         "another call of this turn has the id \"%.*s\"; give each its own",
                         (int)(id.len < 100 ? id.len : 100), id.ptr);
        pl_error_point(err, "/%zu/tool_calls/%zu/id", at, n);
    }
    pl_map_deinit(&seen);
    return status;
}

enum pl_status pl_session_copy_add_document(struct pl_session_copy *copying, struct pl_arena *arena,
                                            struct pl_str turns, struct pl_error *err)
{
    size_t at = 0;
    struct pl_json_doc doc;
    struct pl_json_opts opts = pl_json_own;
    struct pl_turn_origin origin = {copying->record.created_ms, copying->context_window};
    opts.refuses_nul = true;
    enum pl_status status = pl_json_parse(arena, turns, &opts, &doc, err);
    if (status == PL_OK && !pl_json_is(doc.root, PL_JSON_ARRAY))
        status = pl_fail(err, PL_INVALID, "the document must be an array of turns");
    if (status != PL_OK)
        return status;
    for (const struct pl_json_node *turn = pl_json_first(doc.root);
         turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn), at++) {
        struct pl_turn_row row;
        status = pl_turn_row_read(arena, &doc, turn, &origin, &row, err);
        if (status == PL_OK)
            status = refuse_same_ids(arena, &doc, turn, at, err);
        if (status == PL_OK)
            status = read_title(copying, arena, &doc, turn);
        if (status == PL_OK)
            pl_session_copy_add(copying, &row);
    }
    return status;
}

struct pl_batch *pl_session_copy_take(struct pl_session_copy *copying)
{
    struct pl_batch *batch = copying->batch;
    put_session(copying, PL_ROW_SESSION);
    const struct pl_session_record *record = &copying->record;
    if (record->system_prompt.ptr || record->settings.ptr || record->tools.ptr ||
        record->handoff.ptr)
        put_session(copying, PL_ROW_SETTINGS);
    copying->batch = NULL;
    return batch;
}

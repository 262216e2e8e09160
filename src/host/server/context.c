#include "server/context.h"

#define MAX_TURNS 1000

enum pl_status pl_context_write(struct pl_store *store, struct pl_arena *arena,
                                struct pl_str session_id, struct pl_str loop_id, struct pl_buf *to,
                                size_t *ret_n_turns, struct pl_error *err)
{
    struct pl_turn_row compaction;
    enum pl_status status =
        pl_store_turn_last_compaction(store, arena, session_id, loop_id, &compaction, err);
    if (status != PL_OK && status != PL_NOT_FOUND)
        return status;
    bool is_compacted = status == PL_OK;
    struct pl_turn_query query = {
        .session_id = session_id,
        .loop_id = loop_id,
        .before = INT64_MAX,
        .after = is_compacted ? compaction.sequence : -1,
        .changed_after = -1,
        .limit = MAX_TURNS,
        .is_newest_first = true,
        .is_terminal_only = true,
    };
    struct pl_turn_page page;
    status = pl_store_turn_list(store, arena, &query, &page, err);
    if (status != PL_OK)
        return status;
    pl_buf_addc(to, '[');
    if (is_compacted)
        status = pl_turn_row_write(&compaction, to);
    for (size_t i = 0; i < page.n_items && status == PL_OK; i++) {
        if (i || is_compacted)
            pl_buf_addc(to, ',');
        status = pl_turn_row_write(&page.items[i], to);
    }
    pl_buf_addc(to, ']');
    *ret_n_turns = page.n_items;
    return status == PL_OK ? to->status : status;
}

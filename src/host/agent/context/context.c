/* The newest compaction of a loop and at most MAX_TURNS finished turns after it are the input of
 * its next model call. */
#include "agent/context/context.h"

#include "base/text/utc.h"
#include "json/text.h"

#define MAX_TURNS 1000
#define PAGE      50

enum pl_status pl_context_read(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str session_id, struct pl_str loop_id,
                               struct pl_context *ret_context, struct pl_error *err)
{
    struct pl_context context = {0};
    enum pl_status status =
        pl_store_turn_last_compaction(store, arena, session_id, loop_id, &context.compaction, err);
    if (status != PL_OK && status != PL_NOT_FOUND)
        return status;
    context.is_compacted = status == PL_OK;
    if (err && !context.is_compacted) /* not a failure: a later failure sets its own message */
        *err = (struct pl_error){0};
    struct pl_turn_query query = {
        .session_id = session_id,
        .loop_id = loop_id,
        .before = INT64_MAX,
        .after = context.is_compacted ? context.compaction.sequence : -1,
        .changed_after = -1,
        .limit = MAX_TURNS,
        .is_newest_first = true,
        .is_terminal_only = true,
    };
    struct pl_turn_page page;
    status = pl_store_turn_list(store, arena, &query, &page, err);
    if (status != PL_OK)
        return status;
    context.turns = page.items;
    context.n_turns = page.n_items;
    *ret_context = context;
    return PL_OK;
}

static const struct pl_turn_row *newest_user(const struct pl_turn_row *turns, size_t n)
{
    while (n && !pl_turn_row_is_user(&turns[n - 1]))
        n--;
    return n ? &turns[n - 1] : NULL;
}

const struct pl_turn_row *pl_context_newest_user(const struct pl_context *context)
{
    const struct pl_turn_row *newest = newest_user(context->turns, context->n_turns);
    return newest ? newest : context->has_asked ? &context->asked : NULL;
}

enum pl_status pl_context_find_asked(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str session_id, struct pl_str loop_id,
                                     struct pl_context *context, struct pl_error *err)
{
    if (!context->is_compacted || newest_user(context->turns, context->n_turns))
        return PL_OK;
    struct pl_turn_page page = {.has_more = true};
    struct pl_turn_query query = {
        .session_id = session_id,
        .loop_id = loop_id,
        .before = context->compaction.sequence,
        .after = -1,
        .changed_after = -1,
        .limit = PAGE,
        .is_newest_first = true,
        .is_terminal_only = true,
    };
    while (page.has_more) {
        enum pl_status status = pl_store_turn_list(store, arena, &query, &page, err);
        if (status != PL_OK || !page.n_items)
            return status;
        const struct pl_turn_row *asked = newest_user(page.items, page.n_items);
        if (asked) {
            context->asked = *asked;
            context->has_asked = true;
            return PL_OK;
        }
        query.before = page.items[0].sequence;
    }
    return PL_OK;
}

static void write_front(const struct pl_front *front, size_t number, int64_t unix_ms,
                        struct pl_buf *to)
{
    char at[PL_UTC_SIZE];
    pl_utc_write(at, unix_ms);
    pl_buf_addf(to,
                "{\"id\":\"entry_front_%zu\",\"turn_id\":\"turn_front_%zu\",\"role\":\"system\","
                "\"started_at\":\"%.*s\",\"blocks\":[{\"type\":\"text\",\"content\":",
                number, number, PL_UTC_SIZE, at);
    pl_json_quote(to, front->text);
    if (front->segment.len) {
        pl_buf_adds(to, ",\"segment\":");
        pl_buf_add(to, front->segment);
    }
    pl_buf_adds(to, "}]}");
}

static enum pl_status write_row(const struct pl_context *context, const struct pl_turn_row *row,
                                struct pl_buf *to)
{
    enum pl_status status = pl_turn_row_write_shown(row, to);
    if (context->added.len && pl_str_eq(row->turn_id, context->added_after)) {
        pl_buf_addc(to, ',');
        pl_buf_add(to, context->added);
    }
    return status;
}

enum pl_status pl_context_write(const struct pl_context *context, const struct pl_front *fronts,
                                size_t n_fronts, int64_t unix_ms, struct pl_buf *to)
{
    const struct pl_turn_row *first[] = {context->is_compacted ? &context->compaction : NULL,
                                         context->has_asked ? &context->asked : NULL};
    enum pl_status status = PL_OK;
    bool has_any = false;
    pl_buf_addc(to, '[');
    for (size_t i = 0; i < n_fronts; i++) {
        if (!fronts[i].text.len)
            continue;
        pl_buf_adds(to, has_any ? "," : "");
        write_front(&fronts[i], i + 1, unix_ms, to);
        has_any = true;
    }
    for (size_t i = 0; i < sizeof first / sizeof *first && status == PL_OK; i++) {
        if (!first[i])
            continue;
        pl_buf_adds(to, has_any ? "," : "");
        status = write_row(context, first[i], to);
        has_any = true;
    }
    for (size_t i = 0; i < context->n_turns && status == PL_OK; i++) {
        pl_buf_adds(to, has_any ? "," : "");
        status = write_row(context, &context->turns[i], to);
        has_any = true;
    }
    pl_buf_addc(to, ']');
    return status == PL_OK ? to->status : status;
}

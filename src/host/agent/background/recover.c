/* After a crash, before listening: settles running sessions by the session's own rules, one page of
 * sessions per transaction. */
#include "agent/driver_int.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "store/node/owners.h"
#include "store/work.h"

#include <stdio.h>

#define PAGE 500

static enum pl_status recover_one(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_session_record *record,
                                  struct pl_session_out *out, struct pl_batch *batch,
                                  struct pl_error *err)
{
    /* A session that waited for an answer has only durable output. */
    if (record->status != PL_SESSION_RUNNING)
        return PL_OK;
    struct pl_open_rows rows;
    struct pl_session *session = NULL;
    enum pl_status status = pl_store_open_rows(store, arena, record->id, &rows, err);
    if (status == PL_OK)
        status = pl_session_load(record, rows.turns, rows.n_turns, rows.questions, rows.n_questions,
                                 rows.queued, rows.n_queued, &session, err);
    if (status != PL_OK)
        return status;
    struct pl_id_seed seed = {.unix_ms = pl_clock_unix_s() * 1000};
    if (!pl_entropy_fill(seed.random, sizeof seed.random))
        status = pl_fail(err, PL_IO, "The system provides no random bytes.");
    struct pl_session_event event = {.kind = PL_SE_RECOVER, .seed = &seed};
    if (status == PL_OK)
        status = pl_session_apply(session, &event, out, err);
    for (size_t i = 0; i < out->rows.len && status == PL_OK; i++)
        pl_batch_put_row(batch, &out->rows.ptr[i]);
    pl_session_destroy(session);
    return status;
}

/* With nodes: settles a session only if nobody or this node owns it, and releases it afterwards. A
 * driver, here or elsewhere, may have settled it after it was read, and continued: then the epoch
 * differs. */
static void own(struct pl_batch *batch, const struct pl_session_record *record,
                const struct pl_node_id *me)
{
    if (!me)
        return;
    pl_batch_claim_session(batch, record->id, me);
    pl_batch_expect_epoch(batch, record->id, me, record->epoch);
}

static void disown(struct pl_batch *batch, struct pl_str session_id, const struct pl_node_id *me)
{
    if (me)
        pl_batch_release_session(batch, session_id, me);
}

static enum pl_status recover_some(struct pl_store *store, struct pl_arena *arena,
                                   const struct pl_session_record *records, size_t n,
                                   const struct pl_node_id *me, struct pl_error *err)
{
    struct pl_session_out out;
    pl_session_out_init(&out);
    struct pl_batch *batch = pl_batch_create();
    enum pl_status status = batch ? PL_OK : pl_fail(err, PL_NOMEM, "out of memory");
    for (size_t i = 0; i < n && status == PL_OK; i++) {
        if (me && records[i].status != PL_SESSION_RUNNING)
            continue;
        own(batch, &records[i], me);
        status = recover_one(store, arena, &records[i], &out, batch, err);
        disown(batch, records[i].id, me);
    }
    pl_session_out_deinit(&out);
    if (status == PL_OK)
        return pl_store_commit(store, batch, err);
    pl_batch_destroy(batch);
    return status;
}

/* Another node may have claimed or deleted one of them meanwhile. Then each is tried alone, and
 * those are skipped. */
static enum pl_status recover_page(struct pl_store *store, struct pl_arena *arena,
                                   const struct pl_session_page *page, const struct pl_node_id *me,
                                   struct pl_error *err)
{
    enum pl_status status = recover_some(store, arena, page->items, page->n_items, me, err);
    if (!me || (status != PL_CONFLICT && status != PL_NOT_FOUND))
        return status;
    status = PL_OK;
    for (size_t i = 0; i < page->n_items && status == PL_OK; i++) {
        status = recover_some(store, arena, &page->items[i], 1, me, err);
        if (status == PL_CONFLICT || status == PL_NOT_FOUND)
            status = PL_OK;
    }
    return status;
}

/* A driver here may have been faster: its session has another epoch, and is skipped. */
enum pl_status pl_drivers_recover_these(struct pl_store *store, const struct pl_left_session *left,
                                        size_t n, const struct pl_node_id *me, struct pl_error *err)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_session_page page = {.items = pl_arena_zalloc(&arena, n, sizeof *page.items)};
    if (!page.items && n)
        return pl_fail(err, PL_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        struct pl_session_record *record = &page.items[page.n_items];
        enum pl_status status =
            pl_store_session_get(store, &arena, (struct pl_str){0}, left[i].id, record, err);
        if (status != PL_OK && status != PL_NOT_FOUND)
            return status;
        page.n_items += status == PL_OK && record->epoch == left[i].epoch;
    }
    return recover_page(store, &arena, &page, me, err);
}

/* Settles runs of tasks whose session is settled. A run that waits for an answer continues to
 * wait. */
static enum pl_status recover_runs(struct pl_store *store, struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_batch_settle_runs(batch, PL_STR("The server ended during the run."), pl_clock_unix_ms());
    return pl_store_commit(store, batch, err);
}

enum pl_status pl_drivers_recover(struct pl_store *store, const struct pl_node_id *me,
                                  size_t *ret_n, struct pl_error *err)
{
    size_t n = 0;
    char after[PL_ID_MAX] = "";
    for (;;) {
        struct pl_arena arena PL_CLEANUP_ARENA;
        pl_arena_init(&arena, 0);
        struct pl_session_page page;
        enum pl_status status =
            pl_store_session_unsettled(store, &arena, pl_str_of(after), PAGE, &page, err);
        if (status == PL_OK && page.n_items)
            status = recover_page(store, &arena, &page, me, err);
        if (status != PL_OK)
            return status;
        if (!page.n_items)
            break;
        n += page.n_items;
        struct pl_str last = page.items[page.n_items - 1].id;
        snprintf(after, sizeof after, "%.*s", PL_STR_ARG(last));
    }
    *ret_n = n;
    return recover_runs(store, err);
}

#include "server/handing.h"

#include "base/utc.h"
#include "format/source.h"
#include "io/clock.h"
#include "server/copying.h"

enum { PAGE = 1000 };

static enum pl_status add_turn(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct pl_buf *to = walk->ctx;
    if (to->len && to->ptr[to->len - 1] != '[')
        pl_buf_addc(to, ',');
    return pl_turn_row_write(row, to);
}

enum pl_status pl_turns_write_all(struct pl_store *store, struct pl_str session_id,
                                  struct pl_buf *to, struct pl_error *err)
{
    struct pl_turn_walk walk = {
        .query =
            {
                .session_id = session_id,
                .before = INT64_MAX,
                .after = -1,
                .changed_after = -1,
                .limit = PAGE,
                .is_terminal_only = true,
            },
        .each = add_turn,
        .ctx = to,
    };
    pl_buf_addc(to, '[');
    enum pl_status status = pl_turn_walk(&walk, store, err);
    pl_buf_addc(to, ']');
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_handoff_write(struct pl_store *store, struct pl_str session_id,
                                struct pl_handoff_opts wish, struct pl_buf *to,
                                struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf turns;
    char now[PL_UTC_SIZE];
    pl_buf_init(&turns, 0);
    pl_utc_write(now, pl_clock_unix_s() * 1000);
    wish.source = PL_STR("parley");
    wish.timestamp = (struct pl_str){now, sizeof now};
    wish.id = session_id;
    enum pl_status status = pl_turns_write_all(store, session_id, &turns, err);
    if (status != PL_OK)
        return status;
    PL_CLEANUP_SOURCE struct pl_source source;
    status = pl_source_open(&source, pl_buf_str(&turns), pl_format_find(PL_STR("turns")), 0, err);
    return status == PL_OK ? pl_handoff_make(to, &source.conv, &wish, err) : status;
}

/* One guarded connection: admit, look up, check, dial. IPv4 is tried first, since a machine without
 * IPv6 notices that only by waiting.
 *
 *     machine reach
 *
 *     ADMIT -> LOOKUP -> END
 *     ADMIT -> END */
#include "io/fetch/reach.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/fetch/fetch_int.h"
#include "io/move.h"

enum state { REACH_ADMIT, REACH_LOOKUP, REACH_END };

#define TO(name) PL_TO(REACH_##name)
static const struct pl_state states[] = {
    [REACH_ADMIT] = {"admit", TO(LOOKUP) | TO(END), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                     .why = "a timer of no time calls back at the next turn"},
    [REACH_LOOKUP] = {"lookup", TO(END), PL_WAIT_SET, PL_CANCEL_ENDS,
                      .why = "the look-up has the time of a fetch"},
    [REACH_END] = {"end", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("reach", states);

struct pl_reach {
    struct pl_fetch_from from;
    const struct pl_fetch_rules *rules; /* borrowed */
    struct pl_arena arena;
    struct pl_fetch_place place;
    struct pl_lookup *lookup; /* in LOOKUP */
    struct pl_timer timer;    /* in ADMIT */
    enum state state;
    enum pl_status status; /* of the admission */
    struct pl_error err;
    pl_reach_fn *done;
    void *ctx;
};

static void become(struct pl_reach *reach, enum state to)
{
    reach->state = (enum state)pl_move(&machine, reach, reach->state, to);
}

static void destroy(struct pl_reach *reach)
{
    pl_timer_stop(reach->from.loop, &reach->timer);
    become(reach, REACH_END);
    pl_arena_deinit(&reach->arena);
    pl_mem_free(reach);
}

static void finish(struct pl_reach *reach, enum pl_status status, struct pl_conn *conn)
{
    pl_reach_fn *done = reach->done;
    void *ctx = reach->ctx;
    struct pl_error err = reach->err;
    destroy(reach);
    done(ctx, status, conn, &err);
}

static void dial(struct pl_reach *reach)
{
    const struct pl_addresses *addresses = &reach->place.addresses;
    struct pl_conn *conn = NULL;
    enum pl_status status = PL_NOT_FOUND;
    for (int is_v6 = 0; is_v6 < 2 && !conn; is_v6++)
        for (size_t i = 0; i < addresses->n && !conn && status != PL_NOMEM; i++)
            if (addresses->list[i].is_v6 == (is_v6 == 1))
                status = pl_conn_open(reach->from.loop, &addresses->list[i],
                                      (uint16_t)reach->place.port, &conn);
    if (!conn)
        status =
            pl_fail(&reach->err, status == PL_NOMEM ? PL_NOMEM : PL_NOT_FOUND,
                    "%.*s cannot be reached", PL_STR_ARG(pl_str_slice(reach->place.host, 0, 200)));
    finish(reach, conn ? PL_OK : status, conn);
}

static void on_found(void *ctx, enum pl_status status, const struct pl_addresses *addresses,
                     const struct pl_error *err)
{
    struct pl_reach *reach = ctx;
    reach->lookup = NULL;
    if (status == PL_OK)
        reach->place.addresses = *addresses;
    else
        reach->err = *err;
    status = pl_fetch_check_name(&reach->place, status, &reach->err);
    if (status == PL_OK)
        dial(reach);
    else
        finish(reach, status, NULL);
}

static void on_admitted(struct pl_timer *timer)
{
    struct pl_reach *reach = PL_CONTAINER_OF(timer, struct pl_reach, timer);
    if (reach->status != PL_OK) {
        finish(reach, reach->status, NULL);
        return;
    }
    if (reach->place.addresses.n) { /* the host is a literal address, already checked */
        dial(reach);
        return;
    }
    become(reach, REACH_LOOKUP);
    reach->lookup = pl_lookup_start(&reach->from, reach->place.host, reach->rules, on_found, reach);
    if (!reach->lookup)
        finish(reach, pl_fail(&reach->err, PL_NOMEM, "out of memory"), NULL);
}

struct pl_reach *pl_reach_start(const struct pl_fetch_from *from, struct pl_str host, uint16_t port,
                                const struct pl_fetch_rules *rules, pl_reach_fn *done, void *ctx)
{
    struct pl_reach *reach = pl_mem_alloc(1, sizeof *reach);
    PL_CLEANUP_BUF struct pl_buf url;
    pl_buf_init(&url, 0);
    pl_buf_addf(&url, "https://%.*s:%u/", PL_STR_ARG(host), port);
    if (!reach || url.status != PL_OK) {
        pl_mem_free(reach);
        return NULL;
    }
    *reach = (struct pl_reach){.from = *from, .rules = rules, .done = done, .ctx = ctx};
    pl_arena_init(&reach->arena, 0);
    struct pl_str text = pl_arena_dup(&reach->arena, pl_buf_str(&url));
    reach->status =
        text.ptr ? pl_fetch_admit(&reach->arena, text, NULL, rules, &reach->place, &reach->err)
                 : pl_fail(&reach->err, PL_NOMEM, "out of memory");
    pl_timer_start(from->loop, &reach->timer, 0, on_admitted);
    return reach;
}

void pl_reach_cancel(struct pl_reach *reach)
{
    if (!reach)
        return;
    pl_lookup_leave(reach->lookup);
    destroy(reach);
}

/* The state of a node's own lease.
 *
 *     edges lease
 *
 *     ENTERING -> HELD                      the first renewal came
 *     HELD -> LAPSED                        the last good one was sent over a TTL ago
 *     LAPSED -> HELD                        one came again
 *     ENTERING, HELD, LAPSED -> FENCED      the row says gone
 *     FENCED -> ENTERING                    as a new writer
 *     ENTERING, HELD, LAPSED, FENCED -> LEFT      the process ends */
#include "cluster/lease.h"

#include <assert.h>

#define TO(name) (1U << PL_LEASE_##name)
static const unsigned edges[] = {
    [PL_LEASE_ENTERING] = TO(HELD) | TO(FENCED) | TO(LEFT),
    [PL_LEASE_HELD] = TO(LAPSED) | TO(FENCED) | TO(LEFT),
    [PL_LEASE_LAPSED] = TO(HELD) | TO(FENCED) | TO(LEFT),
    [PL_LEASE_FENCED] = TO(ENTERING) | TO(LEFT),
    [PL_LEASE_LEFT] = 0,
};
#undef TO

bool pl_lease_may(enum pl_lease_state from, enum pl_lease_state to)
{
    return from <= PL_LEASE_LEFT && to <= PL_LEASE_LEFT && (edges[from] >> to & 1);
}

static void become(struct pl_lease *lease, enum pl_lease_state to)
{
    assert(pl_lease_may(lease->state, to));
    lease->state = to;
}

void pl_lease_init(struct pl_lease *lease)
{
    *lease = (struct pl_lease){.state = PL_LEASE_ENTERING};
}

/* --- renewing -------------------------------------------------------------------------------- */

static bool is_over(const struct pl_lease *lease)
{
    return lease->state == PL_LEASE_FENCED || lease->state == PL_LEASE_LEFT;
}

bool pl_lease_is_time(const struct pl_lease *lease, int64_t now_ms)
{
    if (is_over(lease) || lease->is_asking)
        return false;
    return !lease->has_asked || now_ms - lease->asked_ms >= PL_LEASE_EVERY_MS;
}

void pl_lease_ask(struct pl_lease *lease, int64_t now_ms)
{
    assert(!lease->is_asking && !is_over(lease));
    lease->has_asked = lease->is_asking = true;
    lease->asked_ms = now_ms;
}

static bool is_within(int64_t since_ms, int64_t now_ms, int64_t limit_ms)
{
    return now_ms - since_ms <= limit_ms;
}

/* An answer that took longer than the lease renews nothing, because the lease counts from when the
 * renewal was sent. */
void pl_lease_renewed(struct pl_lease *lease, int64_t now_ms)
{
    if (!lease->is_asking)
        return;
    lease->is_asking = false;
    if (is_over(lease))
        return;
    bool goes_on = lease->is_steady && is_within(lease->came_ms, now_ms, PL_LEASE_STEADY_MS);
    if (!goes_on)
        lease->steady_since_ms = now_ms;
    lease->is_steady = true;
    lease->good_ms = lease->asked_ms;
    lease->came_ms = now_ms;
    bool is_held = is_within(lease->good_ms, now_ms, PL_LEASE_TTL_MS);
    if (is_held && lease->state != PL_LEASE_HELD)
        become(lease, PL_LEASE_HELD);
}

void pl_lease_failed(struct pl_lease *lease)
{
    lease->is_asking = false;
    lease->is_steady = false;
}

void pl_lease_fence(struct pl_lease *lease)
{
    pl_lease_failed(lease);
    if (!is_over(lease))
        become(lease, PL_LEASE_FENCED);
}

void pl_lease_leave(struct pl_lease *lease)
{
    pl_lease_failed(lease);
    if (lease->state != PL_LEASE_LEFT)
        become(lease, PL_LEASE_LEFT);
}

void pl_lease_enter_again(struct pl_lease *lease)
{
    become(lease, PL_LEASE_ENTERING);
    pl_lease_init(lease);
}

/* --- what it allows -------------------------------------------------------------------------- */

int64_t pl_lease_left_ms(const struct pl_lease *lease, int64_t now_ms)
{
    if (lease->state != PL_LEASE_HELD || !is_within(lease->good_ms, now_ms, PL_LEASE_TTL_MS))
        return 0;
    return lease->good_ms + PL_LEASE_TTL_MS - now_ms;
}

bool pl_lease_holds(struct pl_lease *lease, int64_t now_ms)
{
    if (lease->state == PL_LEASE_HELD && !is_within(lease->good_ms, now_ms, PL_LEASE_TTL_MS))
        become(lease, PL_LEASE_LAPSED);
    return lease->state == PL_LEASE_HELD;
}

bool pl_lease_may_take_over(const struct pl_lease *lease, int64_t now_ms)
{
    return lease->state == PL_LEASE_HELD && lease->is_steady &&
           is_within(lease->came_ms, now_ms, PL_LEASE_STEADY_MS) &&
           now_ms - lease->steady_since_ms >= PL_LEASE_TTL_MS;
}

bool pl_lease_writer_is_stuck(int64_t waits_since_ms, int64_t now_ms)
{
    return now_ms - waits_since_ms >= PL_LEASE_WRITER_SILENT_MS;
}

/* --- the others' ----------------------------------------------------------------------------- */

bool pl_lease_is_due(const struct pl_lease_row *row, int64_t base_ms, bool is_unheard)
{
    if (row->state == PL_NODE_STATE_GONE)
        return false;
    return base_ms > row->until_ms ||
           (is_unheard && base_ms - row->renewed_ms >= PL_LEASE_UNHEARD_MS);
}

/* Waiting messages of a session count as memory of its user, like bodies of requests: paused
 * sessions must not fill the memory of the server. */
#include "agent/driver_int.h"
#include "http/limits/body_memory.h"

static struct pl_body_owner owner_of(const struct pl_driver *driver)
{
    return pl_body_owner(pl_session_record(driver->session)->user_id, NULL);
}

void pl_queued_memory_follow(struct pl_driver *driver)
{
    struct pl_shard *shard = driver->drivers->shard;
    size_t n = driver->session ? pl_session_queued_bytes(driver->session) : 0;
    size_t n_held = (size_t)driver->queued.n;
    if (n < n_held)
        pl_body_memory_give(shard, &driver->queued, n_held - n);
    else if (n > n_held) {
        /* It was accepted and is durable. When out of memory it is just not counted. */
        struct pl_body_owner owner = owner_of(driver);
        (void)pl_body_memory_keep(shard, &driver->queued, &owner, n - n_held, n, true);
    }
}

bool pl_queued_memory_has_room(struct pl_driver *driver, const struct pl_session_event *event)
{
    struct pl_shard *shard = driver->drivers->shard;
    enum pl_session_status status = pl_session_record(driver->session)->status;
    size_t n = event->kind == PL_SE_CHAT ? event->chat.message.len : 0;
    if (n <= PL_BODY_SMALL_BYTES || (status != PL_SESSION_RUNNING && status != PL_SESSION_WAITING))
        return true;
    struct pl_body_owner owner = owner_of(driver);
    struct pl_hold hold = {0};
    bool has_room = pl_body_memory_keep(shard, &hold, &owner, n, n, false) == PL_TAKING_DONE;
    if (has_room)
        pl_body_memory_give(shard, &hold, n);
    return has_room;
}

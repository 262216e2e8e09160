/* Drivers if several nodes share the store: only the owner of a session drives it.
 * live/session_home.h decides which node owns a session. A driver checks this when it loads, names
 * the generation in every transaction, and leaves when it is told to. */
#include "agent/driver_int.h"
#include "store/node/owners.h"

enum pl_status pl_driver_look_at_owner(struct pl_store *store, struct pl_str session_id,
                                       struct pl_driver_claim *claim, struct pl_error *err)
{
    struct pl_session_held held;
    if (pl_node_id_is_zero(&claim->node))
        return PL_OK;
    enum pl_status status = pl_store_session_held(store, session_id, &held, err);
    if (status != PL_OK)
        return status;
    if (!held.row.has_owner || !pl_node_id_eq(&held.row.owner, &claim->node))
        return pl_fail(err, PL_CONFLICT, "the session is not this node's");
    claim->generation = held.generation;
    return PL_OK;
}

bool pl_driver_is_still_me(const struct pl_driver *driver, const struct pl_driver_claim *claim)
{
    struct pl_shard *shard = driver->drivers->shard;
    const struct pl_session_home *home = pl_drivers_home(driver->drivers);
    if (!home)
        return true;
    struct pl_node_id me = home->me(shard->server);
    return pl_node_id_eq(&claim->node, &me);
}

void pl_driver_hand_over(struct pl_driver *driver)
{
    const struct pl_session_home *home = pl_drivers_home(driver->drivers);
    struct pl_session_command *lists[] = {driver->commands, driver->resters};
    driver->commands = driver->resters = NULL;
    driver->is_unsettled = false;
    pl_driver_become(driver, PL_DRIVER_BROKEN);
    pl_driver_settle(driver);
    for (size_t i = 0; i < 2; i++)
        for (struct pl_session_command *command = lists[i], *next; command; command = next) {
            next = command->next;
            home->moved(command);
        }
}

bool pl_driver_let_go(struct pl_shard *shard, struct pl_str session_id)
{
    struct pl_driver *driver = pl_driver_find(shard->drivers, session_id);
    return !driver || pl_driver_leave(driver);
}

void pl_driver_node_left(struct pl_shard *shard, struct pl_str session_id,
                         const struct pl_node_id *node, int64_t ask)
{
    struct pl_driver *driver = pl_driver_find(shard->drivers, session_id);
    if (driver && pl_feed_leave_node(&driver->feed, node, ask))
        pl_driver_settle(driver);
}

/* The state of a driver is now older than the store. Commands that only read find the new owner;
 * changes are refused, and a retry finds it too. */
void pl_driver_drop_all(struct pl_shard *shard)
{
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_IO, "this node was taken over by another one; try again");
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&shard->drivers->by_id, link));) {
        struct pl_driver *driver = PL_CONTAINER_OF(link, struct pl_driver, link);
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, &err);
        driver->is_unsettled = false;
        pl_driver_settle(driver);
    }
}

void pl_driver_hush(struct pl_shard *shard)
{
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&shard->drivers->by_id, link));) {
        struct pl_driver *driver = PL_CONTAINER_OF(link, struct pl_driver, link);
        if (!driver->feed.n_listeners)
            continue;
        pl_feed_resync(&driver->feed, false);
        pl_driver_settle(driver);
    }
}
